package sim

import (
	"math"

	"routesim/sim/engine"
	"routesim/sim/router"
)

// nextFault returns when the next fault begins or ends, +Inf for never.
func (s *simulation) nextFault() float64 {
	if len(s.faults) == 0 {
		return math.Inf(1)
	}
	return s.faults[0].at
}

// strike lets the faults that are due begin and end, and the clients leave
// whose time has come.
func (s *simulation) strike() {
	due := false
	for len(s.faults) > 0 && s.faults[0].at <= s.now {
		e := s.faults[0]
		s.faults = s.faults[1:]
		due = true
		s.hear(s.now)
		if e.fault.Kind == Cancel {
			s.cancelNamed(e.fault)
			continue
		}
		for i := range s.workers {
			if s.workerOf(i) == e.fault.Worker {
				s.strikeRank(i, &e)
			}
		}
	}
	if due = s.hangUpDue() || due; due {
		s.drainAll()
	}
}

// strikeRank lets a fault of a rank's worker begin or end.
func (s *simulation) strikeRank(i int, e *faultEvent) {
	if e.fault.Kind == Slow {
		s.pace(i)
		return
	}
	if e.back {
		s.extra[i].away--
	} else {
		s.extra[i].away++
	}
	for _, r := range s.fronts {
		r.SetAbsent(int32(i), s.extra[i].away > 0)
	}
	if e.fault.Kind == Crash && !e.back {
		s.crash(i)
	}
}

// pace sets how long the passes of a rank take from now on.
func (s *simulation) pace(i int) {
	w := s.workers[i]
	w.SetPace(s.cfg.slowness(s.workerOf(i), s.now))
	s.cut(i)
}

// cut ends a rank's plan with the pass that is under way. Passes that start now
// have not started yet.
func (s *simulation) cut(i int) {
	if s.idle(i) {
		return
	}
	if end, moved := s.workers[i].Cut(s.now); moved {
		s.ends[i] = end
	}
}

// workerOf returns the worker that a rank belongs to.
func (s *simulation) workerOf(rank int) int32 {
	if s.ranks == nil {
		return int32(rank)
	}
	return s.ranks[rank].worker
}

// crash fails every request of a rank and puts an empty engine in its place.
func (s *simulation) crash(i int) {
	old := s.workers[i]
	old.Halt(s.now)
	var lost []*request
	old.Each(func(q *engine.Seq) { lost = append(lost, s.live[q.Tag]) })
	if !s.idle(i) {
		// The pass under way has let go of what it would have finished.
		for _, sig := range old.Signals() {
			if sig.Kind != engine.FirstToken {
				lost = append(lost, s.live[sig.Seq.Tag])
			}
		}
	}
	s.res.Crashed.Blocks += old.Resident()
	for _, q := range lost {
		waste := &s.res.Crashed
		if q.gone {
			waste = &s.res.Cancelled.Waste
		}
		waste.add(old.Work(&q.seq))
		q.seq.Generated = old.GeneratedBy(&q.seq, s.now, true)
	}
	old.Idle(s.now)
	s.retire(i, old)
	s.ends[i] = math.Inf(1)
	s.ready[i>>6] &^= 1 << (i & 63)
	w := s.newWorker(&s.groups[s.extra[i].group], i, s.sampler)
	w.Events = old.Events.Renew(w.Events)
	w.SetPace(s.cfg.slowness(s.workerOf(i), s.now))
	s.workers[i] = w
	s.extra[i].leaving = s.extra[i].leaving[:0]
	for _, r := range s.fronts {
		r.Purge(int32(i))
	}
	for _, q := range lost {
		if q.gone {
			s.spare = append(s.spare, q.seq.Tag)
			continue
		}
		s.fail(q)
	}
}

// fail ends a request whose worker crashed.
func (s *simulation) fail(q *request) {
	r := &s.res.Requests[q.seq.Row]
	r.Status, r.Refusal = Rejected, router.WorkerLost
	s.breakOff(q, q.seq.Generated)
	s.leave(q, false)
}

// breakOff notes the end of a request that its worker did not finish, and that
// received so many tokens, and clears its load in the routers.
func (s *simulation) breakOff(q *request, tokens int32) {
	s.noteAdmissions(&q.seq)
	r := &s.res.Requests[q.seq.Row]
	r.Terminal, r.OutputTokens = s.now, tokens
	s.res.Finished = append(s.res.Finished, q.seq.Row)
	q.router.Free(&q.req)
	s.tell(s.now, q.router, &q.req, router.SyncFree)
}

// retire keeps the totals of an engine that is gone.
func (s *simulation) retire(i int, w *engine.Worker) {
	if s.gone == nil {
		s.gone = make([][]*engine.Worker, len(s.workers))
	}
	s.gone[i] = append(s.gone[i], w)
}

// addGone adds the totals of a rank's earlier engines to those of its last.
func (s *simulation) addGone(i int, st engine.Stats) engine.Stats {
	if s.gone == nil {
		return st
	}
	for _, w := range s.gone[i] {
		o := w.Stats(s.now)
		st.OutputTokens += o.OutputTokens
		st.PrefillTokens += o.PrefillTokens
		st.Committed += o.Committed
		st.Passes += o.Passes
		st.OutOfRange += o.OutOfRange
		st.Preemptions += o.Preemptions
		st.Evictions += o.Evictions
		st.BusyMS += o.BusyMS
		st.BlockMS += o.BlockMS
		st.PeakBlocks = max(st.PeakBlocks, o.PeakBlocks)
		st.PeakRunning = max(st.PeakRunning, o.PeakRunning)
		st.PeakWaiting = max(st.PeakWaiting, o.PeakWaiting)
	}
	return st
}
