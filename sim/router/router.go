package router

import (
	"math"

	"routesim/sim/engine"
	"routesim/sim/prefix"
)

// assumedBatchedTokens is the figure Dynamo assumes for a worker that does not
// publish its max_num_batched_tokens.
const assumedBatchedTokens = 10_000_000

// Request is what the router knows of a request while it is alive.
type Request struct {
	Row            int32
	Tag            int32    // the caller's own name for it
	ISL            int32    // prompt tokens
	Blocks         []uint32 // complete prompt blocks
	Priority       int32    // seconds
	StrictPriority uint32

	overlap []int32 // by worker, as of the arrival
	booking booking
}

// query is the part of a request that the cost function reads.
type query struct{ isl int32 }

// Choice is a routing decision and what it was made from.
type Choice struct {
	Worker      int32
	Terms       Terms   // of the chosen worker
	MinCost     float64 // least cost of any worker
	Tied        int32   // workers of least cost
	Overlap     int32   // blocks the router believed cached on the chosen worker
	BestOverlap int32   // the most on any worker
}

// Router chooses workers by cost. It sees KV events and the first tokens and
// ends of the requests it placed, and nothing else.
type Router struct {
	Params
	Counters   Counters
	blockSize  int32
	seed       uint64
	index      *prefix.Index
	loads      *loads
	batchLimit []float64 // by worker: max_num_batched_tokens
	queue      queue
	spare      [][]int32 // overlap slices to reuse

	// Of the decision being made.
	costs        []Terms
	weights      []float64
	leastPrefill int64
	lo, hi       float64
	tied         int32
}

// New returns a router over a fleet whose workers' batch limits are given in
// order, for blocks of which 1<<shift form a prefix node.
func New(p Params, batchLimits []int32, blockSize int32, shift uint8, seed uint64) *Router {
	n := len(batchLimits)
	r := &Router{
		Params: p, blockSize: blockSize, seed: seed,
		index: prefix.NewIndex(n, shift), loads: newLoads(n),
		batchLimit: make([]float64, n), costs: make([]Terms, n),
	}
	for i, b := range batchLimits {
		r.batchLimit[i] = float64(b)
		if b == engine.Unlimited {
			r.batchLimit[i] = assumedBatchedTokens
		}
	}
	return r
}

// Apply updates the router's view of one worker's cache.
func (r *Router) Apply(worker int32, events []engine.Event) {
	r.Counters.Events += int64(len(events))
	for i := range events {
		if e := &events[i]; e.Stored {
			r.index.Set(worker, e.Block, e.Count)
		} else {
			r.index.Clear(worker, e.Block, e.Count)
		}
	}
}

// Arrive looks up a request's overlaps and either chooses a worker or, where
// the queue holds it back, keeps the request and reports false. forced is the
// worker to use regardless of cost, or -1.
func (r *Router) Arrive(q *Request, now float64, forced int32) (Choice, bool) {
	q.overlap = r.overlapBuffer()
	r.index.Match(q.Blocks, q.overlap)
	if r.QueueThreshold != nil && (len(r.queue.heap) > 0 || r.allBusy()) {
		best := int32(0)
		for _, o := range q.overlap {
			best = max(best, o)
		}
		r.Counters.Waited++
		r.queue.push(waiter{strict: q.StrictPriority, score: r.score(q, now, best), req: q})
		return Choice{}, false
	}
	return r.admit(q, forced), true
}

// Waiting returns the number of requests held in the queue.
func (r *Router) Waiting() int { return len(r.queue.heap) }

// Next takes the next request off the queue if a worker may take it; nil
// otherwise. Admit must follow.
func (r *Router) Next() *Request {
	if len(r.queue.heap) == 0 || r.allBusy() {
		return nil
	}
	return r.queue.pop()
}

// Admit chooses a worker for a request that waited, from its overlaps at
// arrival and the loads of this moment.
func (r *Router) Admit(q *Request, forced int32) Choice { return r.admit(q, forced) }

// admit scores every worker, picks one and books the request there.
func (r *Router) admit(q *Request, forced int32) Choice {
	r.evaluate(q)
	w := forced
	if w < 0 {
		w = r.pick(q.Row)
	}
	best := int32(0)
	for _, o := range q.overlap {
		best = max(best, o)
	}
	c := Choice{
		Worker: w, Terms: r.costs[w], MinCost: r.lo, Tied: r.tied,
		Overlap: q.overlap[w], BestOverlap: best,
	}
	r.book(q, w)
	r.spare = append(r.spare, q.overlap)
	q.overlap = nil
	return c
}

// Costs returns the terms of every worker's cost as of the last decision. They
// are valid until the next one.
func (r *Router) Costs() []Terms { return r.costs }

// evaluate computes every worker's cost.
func (r *Router) evaluate(q *Request) {
	shared := r.TrackActiveBlocks && r.AssumeKVReuse
	r.leastPrefill = math.MaxInt64
	for _, a := range r.loads.prefillTokens {
		r.leastPrefill = min(r.leastPrefill, a)
	}
	in := query{isl: q.ISL}
	var seen contrast
	for w := range r.costs {
		c := candidate{
			prefillTokens: r.loads.prefillTokens[w],
			activeBlocks:  r.loads.activeBlocks(int32(w)),
			requests:      r.loads.requests[w],
			overlap:       q.overlap[w],
		}
		if r.TrackActiveBlocks {
			c.newBlocks = int64(len(q.Blocks))
			if shared {
				held := r.loads.active[w].held(q.Blocks)
				c.newBlocks -= int64(held)
				seen.shared = seen.shared || held > 0
			}
		}
		r.costs[w] = r.cost(&in, c)
		seen.note(w, &c, &r.costs[w])
	}
	r.scan()
	r.Counters.count(&seen, r.tied)
}

// book enters the request on its worker: the prompt tokens that are not cached
// there by the router's belief at arrival, and the prompt's blocks.
func (r *Router) book(q *Request, w int32) {
	b := booking{worker: w, row: q.Row}
	if r.TrackPrefillTokens {
		cached := int64(q.overlap[w]) * int64(r.blockSize)
		b.prefill = q.ISL - int32(min(cached, int64(q.ISL)))
	}
	switch {
	case !r.TrackActiveBlocks:
	case r.AssumeKVReuse:
		b.blocks = q.Blocks
	default:
		b.private = int32(len(q.Blocks))
	}
	r.loads.book(&b)
	q.booking = b
}

// PrefillDone tells the router of a request's first token.
func (r *Router) PrefillDone(q *Request) { r.loads.prefillDone(&q.booking) }

// Free tells the router that a request ended.
func (r *Router) Free(q *Request) { r.loads.free(&q.booking) }

// Idle reports whether no load is booked anywhere, as must be once every
// request has ended.
func (r *Router) Idle() bool { return r.loads.idle() }

func (r *Router) overlapBuffer() []int32 {
	if n := len(r.spare); n > 0 {
		b := r.spare[n-1]
		r.spare = r.spare[:n-1]
		return b
	}
	return make([]int32, len(r.costs))
}
