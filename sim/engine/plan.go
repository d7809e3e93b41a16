package engine

import (
	"math"
	"sort"

	"routesim/models"
)

// plan is the fast path. While every running request decodes, the queue is
// shut or empty and no request is about to finish, a pass changes three
// numbers: every request grows by a token, the sum of contexts by one per
// request, and the clock moves. The worker computes the end times of such
// passes in one go and catches up with their effects when somebody looks:
//
//   - blocks are taken from the pool when a planned pass that starts a block
//     has begun (Commit),
//   - the requests' lengths move when the plan ends (finishPlan),
//   - an arrival cuts the plan after the pass that is under way (cutPlan).
//
// A plan never outruns what the pool can supply, so that no planned pass can
// preempt. The plain loop gives the same token times.
type plan struct {
	first int64   // number of the first planned pass
	n     int64   // planned passes, 0 = no plan
	start float64 // start of the first planned pass
	alloc int64   // the next planned pass that starts a block
}

// maxPlan bounds the passes planned at once.
const maxPlan = 2048

// startPlan plans as many quiet passes as it can, and returns the end of the
// last one.
func (w *Worker) startPlan(now float64) (end float64, ok bool) {
	if w.sg != nil {
		return w.startPlanSGLang(now)
	}
	k := int32(len(w.running))
	if k == 0 || k > w.MaxNumBatchedTokens || (w.waiting.n > 0 && !w.closed) {
		return 0, false
	}
	n, sum := int64(maxPlan), int64(0)
	for _, s := range w.running {
		rem := s.remaining(w.MaxModelLen)
		if s.computed < s.Prompt || s.computed != s.length()-1 || rem < 2 {
			return 0, false
		}
		n = min(n, int64(rem)-1)
		sum += int64(s.length())
	}
	for n > 0 && w.plannedBlocks(n) > int64(w.pool.free)+int64(w.pool.idle) {
		n /= 2
	}
	if n == 0 || !w.layPlan(now, n, sum) {
		return 0, false
	}
	w.planAllocations()
	if w.plan.alloc != w.plan.first {
		w.level(w.pool.active(), now)
	}
	return w.log[len(w.log)-1], true
}

// startPlanSGLang is startPlan for SGLang's scheduler: no planned pass completes
// a page or needs one, so that the cache stays as it is.
func (w *Worker) startPlanSGLang(now float64) (end float64, ok bool) {
	n, sum := int64(maxPlan), int64(0)
	if len(w.running) == 0 || w.waiting.n > 0 {
		return 0, false
	}
	for _, s := range w.running {
		if s.Generated == 0 {
			return 0, false
		}
		n = min(n, int64(s.remaining(w.MaxModelLen))-1, int64(s.allocated-s.length())-1)
		sum += int64(s.length())
	}
	if n < 1 || !w.layPlan(now, n, sum) {
		return 0, false
	}
	w.planAllocations()
	w.plan.alloc = math.MaxInt64
	w.level(w.sg.active(&w.Params), now)
	return w.log[len(w.log)-1], true
}

// layPlan computes the ends of up to n passes that decode contexts of sum tokens
// together, and makes them the plan.
func (w *Worker) layPlan(now float64, n, sum int64) bool {
	w.trimLog()
	from := len(w.log)
	w.log = append(w.log, make([]float64, n)...)
	ends := w.log[from:]
	w.opt.Timing.DecodeRun(now, int64(len(w.running)), sum, ends)
	n = leadingPositive(now, ends)
	w.log = w.log[:from+int(n)]
	if n > 0 {
		w.plan = plan{first: w.passNo + 1, n: n, start: now}
	}
	return n > 0
}

// leadingPositive counts the leading passes of positive length.
func leadingPositive(start float64, ends []float64) int64 {
	for i, e := range ends {
		if !(e > start) {
			return int64(i)
		}
		start = e
	}
	return int64(len(ends))
}

// plannedBlocks returns the blocks that n quiet passes start.
func (w *Worker) plannedBlocks(n int64) int64 {
	bs, total := int64(w.BlockSize), int64(0)
	for _, s := range w.running {
		room := int64(s.blocks())*bs - int64(s.computed) // tokens until a block is due
		if n > room {
			total += (n-room-1)/bs + 1
		}
	}
	return total
}

// planAllocations notes which planned pass starts each request's next block.
func (w *Worker) planAllocations() {
	w.plan.alloc = math.MaxInt64
	for _, s := range w.running {
		if s.lastPass != w.passNo {
			w.keepTimes(s)
			s.segStart = w.plan.first
		}
		s.allocPass = w.plan.first + int64(s.blocks())*int64(w.BlockSize) - int64(s.computed)
		w.plan.alloc = min(w.plan.alloc, s.allocPass)
	}
}

// passStart returns when planned pass p starts.
func (w *Worker) passStart(p int64) float64 {
	if p == w.plan.first {
		return w.plan.start
	}
	return w.log[p-1-w.logBase-1]
}

// Commit makes the pool show every pass that started before now, and with
// begun also one that starts at now.
func (w *Worker) Commit(now float64, begun bool) {
	for w.plan.n > 0 && w.plan.alloc < w.plan.first+w.plan.n {
		if at := w.passStart(w.plan.alloc); at > now || at == now && !begun {
			return
		}
		w.startBlocks(w.plan.alloc)
	}
}

// startBlocks takes the blocks that planned pass p starts.
func (w *Worker) startBlocks(p int64) {
	next := int64(math.MaxInt64)
	for _, s := range w.running {
		if s.allocPass == p {
			w.pool.reserve(s, nil, 1)
			s.allocPass += int64(w.BlockSize)
		}
		next = min(next, s.allocPass)
	}
	w.plan.alloc = next
	w.level(w.pool.active(), w.passStart(p))
	w.Events.seal(w.log[p-w.logBase-1])
}

// cutPlan ends the plan with the pass that is under way at now and returns its
// end. At the boundary of two passes that is the one that ends, unless the one
// that starts has begun.
func (w *Worker) cutPlan(now float64, begun bool) float64 {
	planned := w.log[w.plan.first-w.logBase-1:]
	i := sort.Search(len(planned), func(i int) bool {
		return planned[i] > now || planned[i] == now && !begun
	})
	if i >= len(planned) {
		i = len(planned) - 1
	}
	w.plan.n = int64(i) + 1
	w.log = w.log[:len(w.log)-len(planned)+i+1]
	return planned[i]
}

// StopAt ends a plan after the passes that have started by limit, and returns
// the last pass end that is not later than limit.
func (w *Worker) StopAt(limit float64) (last float64) {
	if w.plan.n > 0 {
		planned := w.log[w.plan.first-w.logBase-1:]
		n := sort.Search(len(planned), func(i int) bool { return w.passStart(w.plan.first+int64(i)) > limit })
		w.plan.n = int64(max(n, 1))
		w.log = w.log[:len(w.log)-len(planned)+int(w.plan.n)]
		w.finishPlan()
	}
	for i := len(w.log) - 1; i >= 0; i-- {
		if w.log[i] <= limit {
			return w.log[i]
		}
	}
	return 0
}

// finishPlan applies a plan whose last pass has ended.
func (w *Worker) finishPlan() {
	if w.plan.n == 0 {
		return
	}
	w.Commit(math.Inf(1), true)
	w.countOutOfRange()
	n := int32(w.plan.n)
	last := w.plan.first + w.plan.n - 1
	for _, s := range w.running {
		s.Generated += n
		s.computed += n
		s.lastPass = last
	}
	if w.sg != nil {
		w.sg.relax(w.plan.n)
	}
	w.passNo = last
	w.stats.Passes += w.plan.n
	w.stats.OutputTokens += w.plan.n * int64(len(w.running))
	w.plan.n = 0
}

// countOutOfRange counts the planned passes outside the timing model's range.
// Contexts only grow, so they are the last ones.
func (w *Worker) countOutOfRange() {
	if w.ranger == nil {
		return
	}
	k, sum := int64(len(w.running)), int64(0)
	for _, s := range w.running {
		sum += int64(s.length())
	}
	inside := sort.Search(int(w.plan.n), func(i int) bool {
		b := models.Batch{DecodeSeqs: k, DecodeContext: sum + int64(i)*k, ScheduledTokens: k}
		return !w.ranger.InRange(&b)
	})
	w.stats.OutOfRange += w.plan.n - int64(inside)
}
