package router

import "routesim/sim/prefix"

// loads is the router's own account of what it sent where: per worker the
// uncached prompt tokens not yet computed (A), the distinct blocks of active
// requests (B) and the number of active requests (N). It is booked at
// admission and cleared by the request's first token and end, and knows
// nothing of the workers' real state.
type loads struct {
	prefillTokens []int64
	requests      []int64
	private       []int64     // blocks counted for one request alone
	active        []activeSet // prompts whose equal prefixes count once
}

func newLoads(workers int) *loads {
	return &loads{
		prefillTokens: make([]int64, workers), requests: make([]int64, workers),
		private: make([]int64, workers), active: make([]activeSet, workers),
	}
}

// activeBlocks returns B of a worker.
func (l *loads) activeBlocks(w int32) int64 { return l.active[w].blocks + l.private[w] }

// booking is what one active request holds in the account.
type booking struct {
	worker  int32
	row     int32
	prefill int32    // tokens booked as prefill load, 0 once the first token is out
	blocks  []uint32 // prompt blocks shared with other requests
	private int32    // prompt blocks counted for this request alone

	// Live only.
	booked        bool // is in the account of this life of the router
	place         int32
	scanned       int32 // tokens generated at the last scan for expiry
	fresh         bool  // not scanned yet
	answer        grown
	privateWeight weight
	weightless    bool // does not count as an active request
	lease         *prefix.Lease
	leased        int32 // tokens generated when the lease last grew
}

// book enters a request's load.
func (l *loads) book(b *booking) {
	w := b.worker
	l.requests[w]++
	l.prefillTokens[w] += int64(b.prefill)
	l.private[w] += int64(b.private)
	if len(b.blocks) > 0 {
		l.active[w].add(b.blocks, b.row)
	}
}

// prefillDone clears the prefill load of a request; later calls do nothing.
func (l *loads) prefillDone(b *booking) {
	l.prefillTokens[b.worker] -= int64(b.prefill)
	b.prefill = 0
}

// free clears all that is left of a request.
func (l *loads) free(b *booking) {
	w := b.worker
	l.prefillDone(b)
	l.requests[w]--
	l.private[w] -= int64(b.private)
	if len(b.blocks) > 0 {
		l.active[w].remove(b.blocks, b.row)
	}
}

// idle reports whether nothing is booked anywhere.
func (l *loads) idle() bool {
	for w := range l.requests {
		if l.requests[w] != 0 || l.prefillTokens[w] != 0 || l.activeBlocks(int32(w)) != 0 || len(l.active[w].prompts) != 0 {
			return false
		}
	}
	return true
}
