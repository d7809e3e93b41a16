package sim

import (
	"math"

	"routesim/workloads"
)

// frontend returns the number of the frontend that a request arrives at: they
// take turns.
func (s *simulation) frontend() int {
	i := s.nextFront
	s.nextFront = (i + 1) % len(s.fronts)
	return i
}

// waiting returns the number of requests that wait in the routers.
func (s *simulation) waiting() (n int) {
	for _, g := range s.stages {
		n += g.waiting()
	}
	return n
}

// setNow moves the clocks of all routers.
func (s *simulation) setNow() {
	for _, g := range s.stages {
		for _, r := range g.fronts {
			r.SetNow(s.now)
		}
	}
}

// nextTimer returns when a router has to be looked at though nothing happens;
// alone says that nothing else is left to happen.
func (s *simulation) nextTimer(alone bool) float64 {
	at := min(s.restart, s.nextFault(), s.nextHangup())
	for _, g := range s.stages {
		// Loads fade and answers grow: what a message changes depends on when it is heard.
		at = min(at, g.replicas.next())
		for _, r := range g.fronts {
			at = min(at, r.NextTimer(alone))
		}
	}
	return at
}

// restartRouters makes every router begin anew.
func (s *simulation) restartRouters() {
	s.restart = math.Inf(1)
	s.res.RestartedMS = s.now
	for _, g := range s.stages {
		g.hear(s.now)
		for _, r := range g.fronts {
			s.res.LostBookings += r.Restart(s.cfg.ResetStates)
		}
		if after := s.cfg.Restarted; after != nil {
			g.replicas.turn(after.ReplicaSync && len(g.fronts) > 1)
		}
	}
	s.drainAll()
}

// hearAll tells all routers of the KV events that are visible now.
func (s *simulation) hearAll() {
	for _, g := range s.stages {
		g.hear(s.now)
	}
}

// drainAll looks at the queue of every router.
func (s *simulation) drainAll() {
	for _, g := range s.stages {
		for _, r := range g.fronts {
			s.drain(g, r)
		}
	}
}

// drainHeard looks at the queues where routers heard of each other.
func (s *simulation) drainHeard() {
	for _, g := range s.stages {
		if g.replicas.heard {
			g.replicas.heard = false
			for _, r := range g.fronts {
				s.drain(g, r)
			}
		}
	}
}

// fireTimers does what routers do by the clock.
func (s *simulation) fireTimers() {
	for _, g := range s.stages {
		g.delivered = -1
	}
	if s.now >= s.restart {
		s.restartRouters()
	}
	s.strike()
	for _, g := range s.stages {
		g.deliverSync(s.now)
		for _, r := range g.fronts {
			if r.NextTimer(false) > s.now {
				continue
			}
			g.hear(s.now)
			if r.Tick() {
				s.drain(g, r)
			}
		}
	}
}

// turnAway ends a request that its router refused.
func (s *simulation) turnAway(q *request) {
	row := q.seq.Row
	r := &s.res.Requests[row]
	r.Status, r.Refusal, r.Terminal = Rejected, q.req.Refusal, s.now
	s.res.Finished = append(s.res.Finished, row)
	s.leave(q, false)
}

// liveRequest fills in what only a live router reads of a request.
func (s *simulation) liveRequest(q *request, row int32) {
	q.req.Whole = q.seq.Blocks
	q.req.Session = s.trace.Session(int(row))
	q.req.Group = s.trace.Parent(int(row)) + 1
	q.req.Named = s.trace.NamesSession(int(row))
	q.req.Final = s.cfg.SessionFinal && s.trace.Next(int(row)) == workloads.NoRow
	route := s.trace.RouteOf(int(row))
	q.req.Worker, q.req.Rank, q.req.Device = route.Worker, route.Rank, route.Keys
	taints := s.trace.TaintsOf(int(row))
	q.req.Required = taints.Required
	q.req.Preferred = taints.Preferred
	if s.cfg.ExpectedOutput {
		n := s.trace.OutputTokens(int(row))
		q.req.Expected = &n
	}
}
