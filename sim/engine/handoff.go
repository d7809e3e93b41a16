package engine

// Role is a worker's part in serving.
type Role uint8

// The roles. A prefill worker computes prompts and keeps their blocks until they
// are released; a decode worker takes prompts over and generates.
const (
	Aggregated Role = iota
	Prefill
	Decode
)

// A request whose prompt is computed elsewhere comes to a decode worker in steps.
// It is expected, and waits in a
// line of its own; it gets a reservation of the blocks of its prompt, in that
// order; and once the prompt's KV has arrived it is activated, and then runs
// without being computed.

// Fits reports whether a decode worker could ever hold the request's prompt. It
// cuts the request's output to what the worker allows.
func (w *Worker) Fits(s *Seq) bool {
	w.clampOutput(s)
	if w.MaxModelLen > 0 && s.Prompt >= w.MaxModelLen {
		return false
	}
	if w.Backend == TRTLLM {
		return w.wholeBlocks(s) <= w.NumGPUBlocks
	}
	return ceilDiv(s.Prompt, w.BlockSize) <= w.NumGPUBlocks
}

// Expect puts a request in line for a reservation.
func (w *Worker) Expect(s *Seq) {
	w.submitted++
	s.order = w.submitted
	s.tried = -1
	w.expected = append(w.expected, s)
}

// Reserve tries to reserve blocks for the request that is first in line, and
// returns it on success. A request that was tried before is left alone while no
// capacity was given back.
func (w *Worker) Reserve(now float64) *Seq {
	if len(w.expected) == 0 {
		return nil
	}
	s := w.expected[0]
	if s.tried == w.generation {
		return nil
	}
	s.tried = w.generation
	if !w.reserve(s, now) {
		return nil
	}
	w.expected = w.expected[1:]
	w.reserved = append(w.reserved, s)
	w.level(w.active(), now)
	return s
}

func (w *Worker) reserve(s *Seq, now float64) bool {
	blocks := ceilDiv(s.Prompt, w.BlockSize)
	if w.sg != nil {
		return w.takePages(s, s.Prompt/w.BlockSize, s.Prompt)
	}
	if len(w.running) >= int(w.MaxNumSeqs) {
		return false
	}
	if w.Backend == TRTLLM {
		return w.wholeBlocks(s) <= w.unreserved() && w.pool.reserve(s, nil, blocks)
	}
	w.hits = w.hits[:0]
	found := int32(0)
	if w.EnablePrefixCaching {
		w.hits, found, _ = w.pool.lookup(s.Blocks[:s.Prompt/w.BlockSize], w.hits)
	}
	if !w.pool.reserve(s, w.hits, blocks-found) {
		return false
	}
	if w.offload != nil && w.pool.memory.until > now {
		// A copy to the host still reads memory that it took: it is given back. What
		// was evicted for it stays so.
		w.pool.release(s)
		return false
	}
	return true
}

// Missing returns the blocks that were reserved and not found in the cache.
func (s *Seq) Missing() int32 { return s.private }

// Activate hands a request with a reservation to the scheduler: its prompt's KV
// is here.
func (w *Worker) Activate(s *Seq, now float64) {
	w.forget(s)
	s.computed = s.Prompt
	s.arrived = true
	before := w.active()
	if w.sg != nil {
		s.allocated = w.pageUp(s.Prompt)
		w.addCopies(s, s.sealed, s.Prompt/w.BlockSize)
		w.insertRunning(s)
		w.sg.prebuilt = append(w.sg.prebuilt, s)
	} else {
		w.sealBlocks(s)
		w.waiting.insertBefore(s, func(other *Seq) bool { return other.order > s.order })
		w.stats.PeakWaiting = max(w.stats.PeakWaiting, int32(w.waiting.n))
	}
	if w.active() < before {
		w.generation++
	}
	w.level(w.active(), now)
}

// Cancel takes back a request that is in line or has a reservation.
func (w *Worker) Cancel(s *Seq, now float64) {
	for i, e := range w.expected {
		if e == s {
			w.expected = append(w.expected[:i:i], w.expected[i+1:]...)
			w.generation++
			return
		}
	}
	w.forget(s)
	w.Release(s, now)
}

// forget takes a request off the list of reservations.
func (w *Worker) forget(s *Seq) {
	for i, r := range w.reserved {
		if r == s {
			w.reserved = append(w.reserved[:i], w.reserved[i+1:]...)
			return
		}
	}
}

// Release gives back the blocks of a request that is done with them: a prompt
// that a prefill worker kept, or a reservation.
func (w *Worker) Release(s *Seq, now float64) {
	if w.sg != nil {
		w.finish(s)
	} else {
		w.giveUp(s)
	}
	w.generation++
	w.level(w.active(), now)
}

// nextToAdmit returns the place in the queue of the request to be admitted next,
// -1 for none: the first. Where requests wait for a reservation, or the first one
// is to be computed here, a request whose KV has come from a prefill worker goes
// before it, and the first that does not stand behind a reservation after it.
//
// While reservations are pending that is the rule of Dynamo's replay. It knows no
// prompts that a decode worker computes itself; for these it is that of vLLM's
// scheduler, which looks at requests that waited for remote KV before its queue
// (vllm/v1/core/sched/scheduler.py, skipped_waiting_requests). Anything else can
// go wrong for ever: such a request holds blocks, and a prompt in front of it may
// wait for just these.
func (w *Worker) nextToAdmit() int {
	if len(w.expected) == 0 && !w.waiting.at(0).local {
		return 0
	}
	if at := w.firstArrived(); at >= 0 {
		return at
	}
	for i := range w.waiting.n {
		if !w.behind(w.waiting.at(i)) {
			return i
		}
	}
	return -1
}

// firstArrived returns the place in the queue of the first request whose KV has
// come from a prefill worker, -1 for none.
func (w *Worker) firstArrived() int {
	for i := range w.waiting.n {
		if w.waiting.at(i).arrived {
			return i
		}
	}
	return -1
}

// GiveWay puts a request at the head of the queue whose KV has come from a prefill
// worker and that stands behind one which was preempted, lacks blocks and keeps it
// from running. It reports whether there is one.
func (w *Worker) GiveWay() bool {
	if w.Role != Decode || len(w.running) > 0 || w.waiting.n == 0 {
		return false
	}
	at := w.firstArrived()
	if at <= 0 {
		return false
	}
	s := w.waiting.at(at)
	w.waiting.remove(at)
	w.waiting.pushFront(s)
	return true
}

// run lets a request run whose prompt came from another worker. There is
// nothing to compute.
func (w *Worker) run(s *Seq, now float64) {
	s.arrived = false
	s.pass, s.tokens, s.part = w.passNo, 0, prefillPart{}
	w.running = append(w.running, s)
	w.noteAdmission(s, now, 0)
}

// behind reports whether a request whose prompt is computed on a decode worker
// stands behind those that wait for a reservation: where it came after the first
// of them, or was preempted. One in the middle of its prompt goes on: it has blocks.
func (w *Worker) behind(s *Seq) bool {
	switch {
	case len(w.expected) == 0:
		return false
	case s.local && s.computed > 0:
		return false
	}
	return !s.local || s.preempted || s.order > w.expected[0].order
}

// canAdmit reports whether a pass has anything to do.
func (w *Worker) canAdmit() bool {
	if w.sg != nil {
		return len(w.sg.prebuilt) > 0 || w.waiting.n > 0 && !w.behind(w.waiting.at(0))
	}
	return w.waiting.n > 0 && w.nextToAdmit() >= 0
}

// PassedOver reports whether a decode worker has requests in its queue and may
// run none of them while others wait for a reservation.
func (w *Worker) PassedOver() bool {
	return len(w.expected) > 0 && w.waiting.n > 0 && !w.HasWork()
}

// leave lets a request go that a pass has finished: its blocks with it, unless
// it is a prompt that another worker is to take over.
func (w *Worker) leave(s *Seq) {
	w.generation++
	switch {
	case w.Role == Prefill:
	case w.sg != nil:
		w.finish(s)
	default:
		w.giveUp(s)
	}
}
