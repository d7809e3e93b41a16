package sim

import (
	"encoding/binary"
	"fmt"
	"slices"

	"routesim/sim/internal/reference"
	"routesim/workloads"
)

// link numbers hash ids and sessions by first appearance and joins turns.
func (n *naive) link() {
	number := map[uint64]uint64{}
	session, last := map[string]int{}, map[int]int{}
	for i, r := range n.s.rows {
		q := &naiveRequest{row: i, prev: -1, next: -1, worker: -1}
		for _, h := range r.HashIDs {
			if _, ok := number[h]; !ok {
				number[h] = uint64(len(number))
			}
			q.hashes = append(q.hashes, number[h])
		}
		name := r.SessionID
		if name == "" {
			name = fmt.Sprintf("row %d", i)
		}
		if _, ok := session[name]; !ok {
			session[name] = len(session)
		}
		q.session = session[name]
		if p, ok := last[q.session]; ok {
			q.prev, q.turn, n.rows[p].next = p, n.rows[p].turn+1, i
		}
		last[q.session] = i
		n.rows = append(n.rows, q)
		n.res.Requests[i] = Request{
			Arrival: NaN, Dispatched: NaN, FirstAdmit: NaN, FirstToken: NaN, SecondToken: NaN, LastToken: NaN,
			Terminal: NaN, InputTokens: int32(n.ownTokens(i)), Worker: -1, Order: -1,
		}
	}
	n.texts = make([][]uint64, len(session))
}

// ownTokens is the length of the row's own part of the prompt.
func (n *naive) ownTokens(row int) int {
	r := n.s.rows[row]
	if r.InputLength > 0 {
		return int(r.InputLength)
	}
	return len(r.HashIDs) * n.blockTokens()
}

func (n *naive) blockTokens() int {
	if n.s.opts.BlockSize > 0 {
		return int(n.s.opts.BlockSize)
	}
	return int(workloads.DefaultBlockSize)
}

// answerMark lies above all prompt and recorded tokens.
const answerMark = uint64(1) << 40

// compose writes out the request's tokens and names its complete blocks.
func (n *naive) compose(q *naiveRequest) {
	row := n.s.rows[q.row]
	if n.s.opts.Delta {
		q.tokens = slices.Clone(n.texts[q.session])
	}
	own := n.ownTokens(q.row)
	for p := range own {
		q.tokens = append(q.tokens, q.hashes[p/n.blockTokens()])
	}
	q.isl, q.osl = len(q.tokens), int(row.OutputLength)
	for g := range q.osl {
		t := answerMark + uint64(q.row)<<20 + uint64(g)
		if row.OutputTokenIDs != nil {
			t = uint64(row.OutputTokenIDs[g])
		}
		q.tokens = append(q.tokens, t)
	}
	bs := int(n.s.cfg.Fleet[0].Engine.BlockSize)
	var ids []int
	parent := -1
	for b := range len(q.tokens) / bs {
		key := binary.LittleEndian.AppendUint64(nil, uint64(parent))
		for _, t := range q.tokens[b*bs : (b+1)*bs] {
			key = binary.LittleEndian.AppendUint64(key, t)
		}
		id, ok := n.ids[string(key)]
		if !ok {
			id = len(n.ids)
			n.ids[string(key)] = id
		}
		ids, parent = append(ids, id), id
	}
	q.prompt = ids[:q.isl/bs]
	q.engine = &reference.Request{Row: q.row, Prompt: q.isl, Output: q.osl, IDs: ids}
}

// reusable is the number of prompt blocks a cache can serve.
func (n *naive) reusable(q *naiveRequest) int {
	tokens := q.isl
	if q.osl > 0 {
		tokens--
	}
	return tokens / int(n.s.cfg.Fleet[0].Engine.BlockSize)
}

// ceiling passes the request through one endless cache.
func (n *naive) ceiling(q *naiveRequest) {
	held := 0
	for held < len(q.prompt) && n.seen[q.prompt[held]] {
		held++
	}
	n.res.Requests[q.row].Decision.CeilingHeld = int32(min(held, n.reusable(q)))
	marked := q.prompt
	if n.s.dynamic() {
		marked = q.engine.IDs
	}
	for _, id := range marked {
		n.seen[id] = true
	}
}
