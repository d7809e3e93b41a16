package sim

import (
	"routesim/sim/engine"
	"routesim/sim/router"
)

// arrive hands a request to the router.
func (s *simulation) arrive(row int32, at float64) {
	q := s.newRequest(row)
	r := &s.res.Requests[row]
	r.Arrival = at
	r.InputTokens = q.seq.Prompt
	s.res.Released++
	s.latest = row
	r.Decision.CeilingHeld = min(s.seen.add(q, s.prompts), s.reusable(q))

	s.hear(s.now)
	s.deliverSync(s.now)
	q.router = s.fronts[s.frontend()]
	if s.leaving {
		s.expectHangups(q)
	}
	c, ok := q.router.Arrive(&q.req, s.now, s.forced(row))
	switch {
	case ok:
		s.place(q, c)
	case q.req.Refusal != router.Accepted:
		s.turnAway(q)
	case s.timed:
		s.drain(&s.stage, q.router)
	}
	s.broken(q.router)
	s.res.QueuePeak = max(s.res.QueuePeak, s.waiting())
}

// letGo places a request that leaves the router's queue, or ends it where nobody
// may serve it.
func (s *simulation) letGo(r *router.Request, c router.Choice) {
	if q := s.live[r.Tag]; c.Worker < 0 {
		s.turnAway(q)
	} else {
		s.place(q, c)
	}
}

// place notes a decision and sends the request to its worker.
func (s *simulation) place(q *request, c router.Choice) {
	row := q.seq.Row
	r := &s.res.Requests[row]
	s.tell(s.now, q.router, &q.req, router.SyncAdd)
	r.Dispatched = s.now
	r.Worker = c.Worker
	r.Order = s.order
	s.order++
	s.res.Routed = append(s.res.Routed, row)

	d := &r.Decision
	d.note(c)
	d.Forced = s.forced(row) >= 0
	if s.cfg.Decided != nil && s.cfg.Router.Mode == router.KV {
		s.cfg.Decided(row, c.Worker, q.router.Costs())
	}
	s.noteHeld(q, d, int(c.Worker))

	w := int(c.Worker)
	if m := s.workers[w].MaxModelLen; m > 0 && int64(q.seq.Prompt)+int64(q.seq.Output) > int64(m) {
		s.res.OverLength++
	}
	s.extra[w].requests++
	s.extra[w].input += int64(q.seq.Prompt)
	end, moved := s.workers[w].Enqueue(&q.seq, s.now, s.begun > w)
	switch {
	case s.idle(w):
		s.wake(w)
	case moved && end == s.now:
		s.passEnded(w)
	case moved:
		s.ends[w] = end
	}
}

// note keeps a router's choice.
func (d *Decision) note(c router.Choice) {
	d.Cost, d.MinCost = c.Terms.Cost, c.MinCost
	d.PrefillTerm, d.Credit, d.DecodeTerm, d.RequestTerm = c.Terms.Prefill, c.Terms.Credit, c.Terms.Decode, c.Terms.Request
	d.Overlap, d.BestOverlap, d.Tied = c.Overlap, c.BestOverlap, c.Tied
}

// noteHeld records what the engines hold of the prompt at this moment: the
// truth beside the router's belief. No engine holds more than one endless cache
// that all requests passed so far, so that the search ends with the first that
// holds as much.
func (s *simulation) noteHeld(q *request, d *Decision, chosen int) {
	blocks := q.req.Blocks[:s.reusable(q)]
	most := int32(len(blocks))
	if s.latest == q.seq.Row {
		most = d.CeilingHeld // nobody has passed since it was measured
	}
	d.ChosenHeld = s.held(chosen, blocks)
	d.BestHeld = d.ChosenHeld
	for i := 0; i < len(s.workers) && d.BestHeld < most; i++ {
		if q.router.May(i) {
			d.BestHeld = max(d.BestHeld, s.held(i, blocks))
		}
	}
}

// held returns how many leading ones of the blocks a worker's engine holds now,
// on its device or behind those on its host and its disk.
func (s *simulation) held(worker int, blocks []uint32) int32 {
	w := s.workers[worker]
	w.Commit(s.now, s.begun > worker)
	return heldBy(w, blocks)
}

// heldBy returns how many leading ones of the blocks an engine holds, on its
// device or behind those on its host and its disk.
func heldBy(w *engine.Worker, blocks []uint32) int32 {
	n := w.Held(blocks)
	return n + w.HeldBelow(blocks, n)
}

// reusable returns how many complete prompt blocks can be served from a cache:
// all, except that the last token must be computed for the first output token
// unless the engine can do without.
func (s *simulation) reusable(q *request) int32 {
	isl := int64(q.seq.Prompt)
	if q.seq.Output > 0 && s.cfg.Fleet[0].Engine.Backend != engine.TRTLLM {
		isl--
	}
	return int32(isl / s.prompts.block)
}

// endless is one endless cache that every request passes in arrival order.
type endless struct {
	blocks []uint32 // by node: leading blocks seen
}

// add returns the leading prompt blocks seen before, and marks the request's
// blocks as seen. In a static trace only prompts can recur; where answers can
// recur too they are marked with the prompt.
func (e *endless) add(q *request, p *prompts) int32 {
	blocks := q.req.Blocks
	if p.dynamic != nil {
		blocks = q.seq.Blocks
	}
	hits, unbroken := int32(0), true
	mask := uint32(1)<<p.shift - 1
	for i, b := range blocks {
		node := int(b >> p.shift)
		if node >= len(e.blocks) {
			e.grow(node, p)
		}
		if e.blocks[node] > b&mask {
			if unbroken && i < len(q.req.Blocks) {
				hits++
			}
			continue
		}
		unbroken = false
		e.blocks[node] = b&mask + 1
	}
	return hits
}

func (e *endless) grow(node int, p *prompts) {
	n := max(node+1, 2*len(e.blocks))
	if p.dynamic == nil {
		n = int(p.trace.NumNodes())
	}
	e.blocks = append(e.blocks, make([]uint32, n-len(e.blocks))...)
}
