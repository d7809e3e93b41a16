package router

import "routesim/sim/prefix"

// loads is the router's own account of what it sent where: per worker the
// uncached prompt tokens not yet computed (A), the distinct blocks of active
// requests (B) and the number of active requests (N). It is booked at
// admission and cleared by the request's first token and end, and knows
// nothing of the workers' real state.
type loads struct {
	prefillTokens []int64
	activeBlocks  []int64
	requests      []int64

	refs   []*prefix.Counts // by worker: references of active requests to blocks
	active *prefix.Index    // blocks with references, all workers
	worker int32            // the worker being booked
	blocks int64            // blocks that came or went in this booking

	enter, leave func(block uint32, n int32) // bound once, so that booking allocates nothing
}

func newLoads(workers int, shift uint8) *loads {
	l := &loads{
		prefillTokens: make([]int64, workers), activeBlocks: make([]int64, workers),
		requests: make([]int64, workers), refs: make([]*prefix.Counts, workers),
		active: prefix.NewIndex(workers, shift),
	}
	for i := range l.refs {
		l.refs[i] = prefix.NewCounts(shift)
	}
	l.enter = func(block uint32, n int32) { l.active.Set(l.worker, block, n); l.blocks += int64(n) }
	l.leave = func(block uint32, n int32) { l.active.Clear(l.worker, block, n); l.blocks += int64(n) }
	return l
}

// Booking is what one active request holds in the router's account.
type Booking struct {
	Worker  int32
	Prefill int32    // tokens booked as prefill load, 0 once the first token is out
	Blocks  []uint32 // prompt blocks shared with other requests
	Private int32    // prompt blocks counted for this request alone
}

// book enters a request's load.
func (l *loads) book(b *Booking) {
	w := b.Worker
	l.requests[w]++
	l.prefillTokens[w] += int64(b.Prefill)
	l.activeBlocks[w] += int64(b.Private)
	if len(b.Blocks) > 0 {
		l.worker, l.blocks = w, 0
		l.refs[w].Add(b.Blocks, l.enter)
		l.activeBlocks[w] += l.blocks
	}
}

// prefillDone clears the prefill load of a request; later calls do nothing.
func (l *loads) prefillDone(b *Booking) {
	l.prefillTokens[b.Worker] -= int64(b.Prefill)
	b.Prefill = 0
}

// free clears all that is left of a request.
func (l *loads) free(b *Booking) {
	w := b.Worker
	l.prefillDone(b)
	l.requests[w]--
	l.activeBlocks[w] -= int64(b.Private)
	if len(b.Blocks) > 0 {
		l.worker, l.blocks = w, 0
		l.refs[w].Remove(b.Blocks, l.leave)
		l.activeBlocks[w] -= l.blocks
	}
}
