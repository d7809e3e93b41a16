package sim

import (
	"fmt"
	"math"
	"math/bits"

	"routesim/sim/engine"
	"routesim/workloads"
)

// fleet is a pool of workers and when their passes end. It counts
// data-parallel ranks: each has a scheduler and a cache of its own and is a
// target of the router's. The ranks of one worker stand next to each other and
// run their passes together, which last as long as the slowest of them.
type fleet struct {
	workers []*engine.Worker // by rank
	ends    []float64        // by rank: when its passes end, +Inf while idle
	ready   []uint64         // by rank, a bit: idle with work to do
	blocked []uint64         // likewise: and it can do none before a transfer ends
	waits   bool             // some are blocked
	begun   int              // ranks below this one have started their passes of this instant
	stuck   error            // of the first worker that could not go on
	end     func(error)      // ends the run
	patient bool             // one that lacks blocks may be able to later
	ranks   []rankOf         // nil where every worker has one rank
	size    int32            // workers
}

// rankOf is the worker that a rank belongs to.
type rankOf struct{ worker, first, n int32 }

// add appends a worker with the given ranks.
func (f *fleet) add(ranks ...*engine.Worker) {
	first := int32(len(f.workers))
	for _, w := range ranks {
		f.workers = append(f.workers, w)
		f.ends = append(f.ends, math.Inf(1))
		f.ranks = append(f.ranks, rankOf{f.size, first, int32(len(ranks))})
	}
	f.size++
	f.ready, f.blocked = make([]uint64, (len(f.workers)+63)/64), make([]uint64, (len(f.workers)+63)/64)
}

// added drops what only workers of several ranks need.
func (f *fleet) added() {
	if int(f.size) == len(f.workers) {
		f.ranks = nil
	}
}

// idle reports whether rank w runs no pass.
func (f *fleet) idle(w int) bool { return math.IsInf(f.ends[w], 1) }

// wake notes that an idle rank has work.
func (f *fleet) wake(w int) { f.ready[w>>6] |= 1 << (w & 63) }

// retry makes the workers ready again that could do nothing when they were asked
// last.
func (f *fleet) retry() {
	if !f.waits {
		return
	}
	f.waits = false
	for i, word := range f.blocked {
		f.ready[i] |= word
		f.blocked[i] = 0
	}
}

// nextEnd returns the earliest end of a pass.
func (f *fleet) nextEnd() float64 {
	at := math.Inf(1)
	for _, e := range f.ends {
		at = min(at, e)
	}
	return at
}

// nextReady returns the lowest idle rank with work, -1 for none.
func (f *fleet) nextReady() int {
	for i, word := range f.ready {
		if word != 0 {
			return i<<6 + bits.TrailingZeros64(word)
		}
	}
	return -1
}

// together returns the ranks that run their passes with rank w: itself and the
// others of its worker.
func (f *fleet) together(w int) (first, n int) {
	if f.ranks == nil {
		return w, 1
	}
	return int(f.ranks[w].first), int(f.ranks[w].n)
}

// startPasses starts a pass on every idle worker that has work. A worker that
// cannot go on is left out; the run fails at its end if nobody stops it before.
// ended is called for a pass that has no length.
func (f *fleet) startPasses(now float64, ended func(w int), explain func(w int, err error) error) (started bool) {
	f.retry()
	for w := f.nextReady(); w >= 0; w = f.nextReady() {
		if !f.idle(w) || !f.hasWork(w) {
			f.ready[w>>6] &^= 1 << (w & 63) // what it had to do was taken back
			continue
		}
		f.begun = max(f.begun, w+1)
		end, err := f.startOn(w, now)
		if err == engine.ErrWaits {
			f.blocked[w>>6] |= 1 << (w & 63)
			f.waits = true
			continue
		}
		if err == nil && !(end <= endOfTime) {
			f.end(explain(w, f.tooLate(w, now, end)))
			continue
		}
		if err != nil {
			if _, lacks := err.(*engine.StuckError); f.stuck == nil && !(lacks && f.patient) {
				f.stuck = explain(w, err)
			}
			continue
		}
		started = true
		f.retry()
		if end == now {
			ended(w)
		}
	}
	f.begun = len(f.workers)
	return started
}

// hasWork reports whether rank w, or another that runs with it, has work.
func (f *fleet) hasWork(w int) bool {
	first, n := f.together(w)
	for i := first; i < first+n; i++ {
		if f.workers[i].HasWork() {
			return true
		}
	}
	return false
}

// startOn starts the passes of the worker that rank w belongs to.
func (f *fleet) startOn(w int, now float64) (end float64, err error) {
	if f.ranks == nil {
		f.ready[w>>6] &^= 1 << (w & 63)
		if end, err = f.workers[w].Start(now); err == nil {
			f.ends[w] = end
		}
		return end, err
	}
	first, n := f.together(w)
	f.begun = max(f.begun, first+n)
	for i := first; i < first+n; i++ {
		f.ready[i>>6] &^= 1 << (i & 63)
	}
	if end, err = engine.StartTogether(f.workers[first:first+n], now); err != nil {
		return end, err
	}
	for i := first; i < first+n; i++ {
		f.ends[i] = end
	}
	return end, nil
}

// passDone marks the passes of rank w's worker as ended and returns its ranks.
func (f *fleet) passDone(w int) (first, n int) {
	first, n = f.together(w)
	for i := first; i < first+n; i++ {
		f.ends[i] = math.Inf(1)
	}
	return first, n
}

// settle makes rank w ready for its next pass, or idle.
func (f *fleet) settle(w int, now float64) {
	if f.workers[w].HasWork() {
		f.wake(w)
	} else {
		f.workers[w].Idle(now)
	}
}

// stopAt ends planned passes after limit and returns the last end by then.
func (f *fleet) stopAt(limit float64) (last float64) {
	for _, w := range f.workers {
		last = max(last, w.StopAt(limit))
	}
	return last
}

// explain says which worker of a pool and which request an error is about.
func explain(f *fleet, kind string, t *workloads.Trace, w int, err error) error {
	name := fmt.Sprintf("%s %d", kind, w)
	if f.ranks != nil {
		r := f.ranks[w]
		name = fmt.Sprintf("%s %d (rank %d)", kind, r.worker, int32(w)-r.first)
	}
	if e, ok := err.(*engine.StuckError); ok && e.Row >= 0 {
		return fmt.Errorf("%s, request of line %d: %w", name, t.Line(int(e.Row)), err)
	}
	return fmt.Errorf("%s: %w", name, err)
}
