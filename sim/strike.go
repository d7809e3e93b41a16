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
		s.hearAll()
		if e.fault.Kind == Cancel {
			s.cancelNamed(e.fault)
			continue
		}
		for _, g := range s.stages {
			if g.pool == e.fault.Pool {
				s.strikeWorker(g, &e)
			}
		}
	}
	if due = s.hangUpDue() || due; due {
		s.drainAll()
	}
}

// strikeWorker lets a fault of a worker begin or end, on all its ranks.
func (s *simulation) strikeWorker(g *stage, e *faultEvent) {
	for i := range g.workers {
		if g.workerOf(i) != e.fault.Worker {
			continue
		}
		if e.fault.Kind == Slow {
			g.workers[i].SetPace(s.slowness(g, i))
			s.cut(g, i)
			continue
		}
		if e.back {
			g.extra[i].away--
		} else {
			g.extra[i].away++
		}
		for _, r := range g.fronts {
			r.SetAbsent(int32(i), g.extra[i].away > 0)
		}
		switch {
		case e.fault.Kind != Crash || e.back:
		case s.pd != nil:
			s.pd.crash(g, i)
		default:
			s.crash(i)
		}
	}
}

// slowness returns how many times as long the passes of a rank take that start
// now.
func (s *simulation) slowness(g *stage, i int) float64 {
	return s.cfg.slowness(g.pool, g.workerOf(i), s.now)
}

// cut ends a rank's plan with the pass that is under way. Passes that start now
// have not started yet.
func (s *simulation) cut(g *stage, i int) {
	if g.idle(i) {
		return
	}
	if end, moved := g.workers[i].Cut(s.now); moved {
		g.ends[i] = end
	}
}

// workerOf returns the worker that a rank belongs to.
func (f *fleet) workerOf(rank int) int32 {
	if f.ranks == nil {
		return int32(rank)
	}
	return f.ranks[rank].worker
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
	s.replace(&s.stage, i)
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

// replace puts an empty engine in the place of a rank's, whose totals are kept.
func (s *simulation) replace(g *stage, i int) {
	old, x := g.workers[i], &g.extra[i]
	old.Idle(s.now)
	x.gone = append(x.gone, old)
	x.leaving = x.leaving[:0]
	g.ends[i] = math.Inf(1)
	g.ready[i>>6] &^= 1 << (i & 63)
	old.Quit()
	w := s.newWorker(&g.groups[x.group], i, g.sampler)
	w.Events = old.Events.Renew(w.Events)
	w.Publish(s.now, s.timed)
	w.SetPace(s.slowness(g, i))
	g.workers[i] = w
	for _, r := range g.fronts {
		r.Purge(int32(i))
	}
}

// addGone adds the totals of a rank's earlier engines to those of its last.
func (x *workerTotals) addGone(st engine.Stats, now float64) engine.Stats {
	for _, w := range x.gone {
		o := w.Stats(now)
		st.OutputTokens += o.OutputTokens
		st.PrefillTokens += o.PrefillTokens
		st.Committed += o.Committed
		st.Passes += o.Passes
		st.OutOfRange += o.OutOfRange
		st.Preemptions += o.Preemptions
		st.Evictions += o.Evictions
		st.BusyMS += o.BusyMS
		st.BlockMS += o.BlockMS
		st.Host.Add(o.Host)
		st.Disk.Add(o.Disk)
		st.PeakBlocks = max(st.PeakBlocks, o.PeakBlocks)
		st.PeakRunning = max(st.PeakRunning, o.PeakRunning)
		st.PeakWaiting = max(st.PeakWaiting, o.PeakWaiting)
	}
	return st
}
