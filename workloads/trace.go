// Package workloads holds request traces: what arrives, when, with which
// prompt and how long an answer.
//
// A Trace is a set of columns with one entry per request, in file order. It is
// immutable once built, so one trace can be shared by any number of
// simulations. Prompts are stored as trace blocks: a request refers to a run of
// 32-bit node ids in one slab, and a node stands for "this block after exactly
// these predecessors", so two requests share a prefix if and only if they share
// leading nodes.
package workloads

import (
	"math"
	"strconv"
)

// NoTime marks an absent time (an arrival in a closed-loop trace, a think time
// that was not recorded).
var NoTime = math.NaN()

// NoWorker marks an absent worker id: recorded ids use the whole 64-bit range.
const NoWorker = ^uint64(0)

// NoRow marks an absent row: no previous or next turn.
const NoRow = int32(-1)

// Trace is an immutable, columnar request trace. Rows are numbered from 0 in
// file order; skipped rows have no number.
type Trace struct {
	format    string
	blockSize int32
	delta     bool

	line    []int32   // 1-based line in its file
	arrival []float64 // ms as recorded, NoTime where absent
	isl     []int32   // prompt tokens of this row (delta: the new ones only)
	osl     []int32   // requested output tokens

	nodeOff []int64  // len = rows+1
	nodes   []uint32 // prefix-interned trace blocks; delta: interned block ids
	ids     []uint32 // interned block ids, only kept where nodes do not suffice
	// nodeBlock is the interned block id by node.
	nodeBlock []uint32
	numNode   uint32
	numID     uint32

	sessions     *sessionColumns // nil: no row names a session
	queue        *queueColumns   // nil: no row names a priority or a class
	route        *routeColumns   // nil: no row names a worker or device keys
	prefillRoute *placeColumns   // nil: no row names a prefill worker
	taints       *taintColumns   // nil: no row says anything about taints
	parents      *parentColumn   // nil: no row names a parent session
	outputs      *outputColumns  // nil: no row names its generated tokens
	recorded     *Recorded       // nil: the format records no outcomes
	reqID        *textColumn     // nil: no row names itself
	files        []string        // the files that were read
	file         []int32         // by row, index into files; nil: all rows are of one file
	skipped      []Problem       // rows left out under SkipRow
}

// sessionColumns link the turns of multi-turn sessions.
type sessionColumns struct {
	names   nameTable // session ids as written
	byName  []int32   // session number by name number
	nameOf  []int32   // name number by session number, NoRow where no row named it
	session []int32   // by row; sessions are numbered by first appearance
	turn    []int32   // by row, from 0
	prev    []int32   // by row, NoRow on a first turn
	next    []int32   // by row, NoRow on a last turn
	delay   []float64 // by row, ms after the previous turn's completion, 0 on a first turn
	multi   bool      // some session has more than one turn
}

// queueColumns carry what only the router's queue reads.
type queueColumns struct {
	priority []int32
	strict   []uint32
	class    []int32  // index into names
	names    []string // names[0] is "", no class
}

// outputColumns hold explicitly recorded generated tokens.
type outputColumns struct {
	off    []int64 // len = rows+1; an empty run means "not recorded"
	tokens []uint32
}

// Recorded holds what a production system measured for each request of a
// Dynamo request trace, by row. Missing values are NaN, or -1 for integers.
type Recorded struct {
	DecodeWorker  []uint64  // worker id as recorded, NoWorker where absent
	DecodeRank    []int32   // data-parallel rank
	PrefillWorker []uint64  // worker id as recorded, NoWorker in aggregated serving
	PrefillRank   []int32   // data-parallel rank
	CachedTokens  []int64   // prompt tokens served from the cache
	TTFTMS        []float64 // ms
	AvgITLMS      []float64 // ms
	TotalMS       []float64 // ms, receipt to last token
}

// Len returns the number of requests.
func (t *Trace) Len() int { return len(t.isl) }

// Format names the format the trace was read as, e.g. "mooncake".
func (t *Trace) Format() string { return t.format }

// BlockSize returns the number of tokens a trace block stands for.
func (t *Trace) BlockSize() int32 { return t.blockSize }

// Delta reports whether a later turn's row holds only its new tokens.
func (t *Trace) Delta() bool { return t.delta }

// Line returns the 1-based line of row i in its file.
func (t *Trace) Line(i int) int32 { return t.line[i] }

// File returns the name of the file that row i is from, as the user gave it.
func (t *Trace) File(i int) string {
	switch {
	case t.file != nil:
		return t.files[t.file[i]]
	case len(t.files) > 0:
		return t.files[0]
	}
	return ""
}

// Arrival returns the recorded arrival of row i in ms, NoTime where absent.
func (t *Trace) Arrival(i int) float64 { return t.arrival[i] }

// InputTokens returns the prompt length of row i in tokens; in a delta trace
// only the tokens this turn adds.
func (t *Trace) InputTokens(i int) int32 { return t.isl[i] }

// OutputTokens returns the requested output length of row i in tokens.
func (t *Trace) OutputTokens(i int) int32 { return t.osl[i] }

// Nodes returns the prefix-interned trace blocks of row i, exactly
// ceil(InputTokens/BlockSize) of them. In a delta trace they identify the
// row's own blocks as a chain of their own. Callers must not write to it.
func (t *Trace) Nodes(i int) []uint32 {
	a, b := t.nodeOff[i], t.nodeOff[i+1]
	return t.nodes[a:b:b]
}

// BlockIDs returns the hash ids of row i's blocks, renumbered in order of
// first appearance in the file. They are only kept for delta traces and for
// traces with recorded output tokens; otherwise it returns nil.
func (t *Trace) BlockIDs(i int) []uint32 {
	if t.ids == nil {
		return nil
	}
	a, b := t.nodeOff[i], t.nodeOff[i+1]
	return t.ids[a:b:b]
}

// NodeBlock returns the hash id of a node's block, renumbered in order of first
// appearance in the file.
func (t *Trace) NodeBlock(node uint32) uint32 { return t.nodeBlock[node] }

// NumNodes returns the number of distinct prefix nodes; node ids are below it.
func (t *Trace) NumNodes() uint32 { return t.numNode }

// NumBlockIDs returns the number of distinct hash ids that the prompts use.
func (t *Trace) NumBlockIDs() uint32 { return t.numID }

// MultiTurn reports whether any session has more than one turn.
func (t *Trace) MultiTurn() bool { return t.sessions != nil && t.sessions.multi }

// Session returns the session number of row i, numbered by first appearance.
func (t *Trace) Session(i int) int32 {
	if t.sessions == nil {
		return int32(i)
	}
	return t.sessions.session[i]
}

// NamesSession reports whether row i says which session it belongs to.
func (t *Trace) NamesSession(i int) bool {
	return t.sessions != nil && t.sessions.nameOf[t.sessions.session[i]] >= 0
}

// SessionName returns the name of row i's session: its session_id, or
// request_<line> where the row names none (in a Dynamo trace, whose shards are
// merged and sorted, request_<row from 1>).
func (t *Trace) SessionName(i int) string {
	if t.sessions != nil {
		if n := t.sessions.nameOf[t.sessions.session[i]]; n >= 0 {
			return t.sessions.names.names.at(int(n))
		}
	}
	n := int(t.line[i])
	if t.format == FormatDynamo {
		n = i + 1 // rows have no order of their own before they are sorted
	}
	return "request_" + strconv.Itoa(n)
}

// Turn returns the turn number of row i in its session, from 0.
func (t *Trace) Turn(i int) int32 {
	if t.sessions == nil {
		return 0
	}
	return t.sessions.turn[i]
}

// Prev returns the row of the previous turn, NoRow on a first turn.
func (t *Trace) Prev(i int) int32 {
	if t.sessions == nil {
		return NoRow
	}
	return t.sessions.prev[i]
}

// Next returns the row of the next turn, NoRow on a last turn.
func (t *Trace) Next(i int) int32 {
	if t.sessions == nil {
		return NoRow
	}
	return t.sessions.next[i]
}

// Delay returns the ms that row i waits after its previous turn completed:
// the recorded delay, else the difference of the recorded arrivals, else 0.
func (t *Trace) Delay(i int) float64 {
	if t.sessions == nil {
		return 0
	}
	return t.sessions.delay[i]
}

// Priority returns the priority jump (seconds) and the strict tier of row i.
func (t *Trace) Priority(i int) (jump int32, strict uint32) {
	if t.queue == nil {
		return 0, 0
	}
	return t.queue.priority[i], t.queue.strict[i]
}

// PolicyClass returns the queue class that row i names, "" for none.
func (t *Trace) PolicyClass(i int) string {
	if t.queue == nil {
		return ""
	}
	return t.queue.names[t.queue.class[i]]
}

// OutputTokenIDs returns the recorded generated tokens of row i, nil where the
// trace does not name them.
func (t *Trace) OutputTokenIDs(i int) []uint32 {
	if t.outputs == nil {
		return nil
	}
	a, b := t.outputs.off[i], t.outputs.off[i+1]
	if a == b {
		return nil
	}
	return t.outputs.tokens[a:b:b]
}

// RequestID returns the name the trace gives row i, "" for none.
func (t *Trace) RequestID(i int) string {
	if t.reqID == nil {
		return ""
	}
	return t.reqID.at(i)
}

// Recorded returns the recorded outcomes, nil where the format has none.
func (t *Trace) Recorded() *Recorded { return t.recorded }

// Skipped lists the rows that were left out because they could not be read.
func (t *Trace) Skipped() []Problem { return t.skipped }
