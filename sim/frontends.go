package sim

import (
	"fmt"
	"math"

	"routesim/models"
	"routesim/sim/engine"
	"routesim/sim/rng"
	"routesim/sim/router"
	"routesim/sim/router/policy"
)

// newRouters builds the routers of the run's frontends, each with a state of
// its own over the same workers.
func (s *simulation) newRouters(block int32) {
	n := max(1, s.cfg.Frontends)
	targets := s.targets()
	p := s.cfg.Router
	pool := Aggregated
	if s.cfg.Disaggregated() {
		p, pool = decodeRouter(p), DecodePool
	}
	for i := range n {
		// Frontends draw independently of each other.
		r := router.New(p, targets, block, s.prompts.shift, s.cfg.Seed+uint64(i)*0x9E3779B97F4A7C15)
		r.Generated = s.generated
		r.Look = s.look
		r.Tell = s.teller(pool, i)
		s.fronts = append(s.fronts, r)
	}
	s.router = s.fronts[0]
	for i, w := range s.workers {
		g := &s.cfg.Fleet[s.extra[i].group]
		w.Events.On = s.router.WantsEvents() && !g.Silent
		w.Events.Lag = s.cfg.Router.KVEventLagMS + g.EventDelayMS
		s.listen = s.listen || w.Events.On
		if s.cfg.EventLoss > 0 {
			w.Events.Lost = func(batch int64) bool {
				return rng.Unit(rng.Draw(s.cfg.Seed+uint64(batch), i, rng.Loss)) < s.cfg.EventLoss
			}
		}
	}
	s.timed = s.cfg.Router.Live != nil
	s.faults = s.cfg.faultEvents()
	s.restart = math.Inf(1)
	if at := s.cfg.RestartAtMS; at != nil {
		s.restart = *at
	}
	s.replicas.on = s.cfg.ReplicaSync && n > 1
	s.replicas.delay = s.cfg.ReplicaSyncDelayMS
	s.reports = s.router.WantsReports()
}

// teller returns what a router tells its decisions to, nil where nobody asks.
func (s *simulation) teller(pool Pool, frontend int) func(*router.Account) {
	if s.cfg.Account == nil {
		return nil
	}
	return func(a *router.Account) { s.cfg.Account(pool, frontend, a) }
}

// targets describes the workers as they register with the routers.
func (s *simulation) targets() []router.Target {
	var list []router.Target
	worker := int32(0)
	for i := range s.cfg.Fleet {
		g := &s.cfg.Fleet[i]
		for range g.Count {
			for rank := range g.Ranks() {
				list = append(list, targetOf(g, worker, rank))
			}
			worker++
		}
	}
	return list
}

// targetOf describes a rank of a worker.
func targetOf(g *Group, worker int32, rank int) router.Target {
	return router.Target{
		Worker: worker, Rank: int32(rank),
		BatchLimit: g.Engine.MaxNumBatchedTokens, KVBlocks: g.Engine.NumGPUBlocks,
		CPU: g.CPU, PrefillMS: prefillMS(g.Timing),
	}
}

// prefillMS predicts a prefill by the timing model: one pass with one prompt.
func prefillMS(m models.StepModel) func(tokens, prefix int64) float64 {
	return func(tokens, prefix int64) float64 {
		p, d := m.Step(&models.Batch{
			PrefillSeqs: 1, PrefillContext: prefix + tokens, PrefillPrefix: prefix,
			PrefillPairs: tokens*prefix + tokens*(tokens+1)/2, ScheduledTokens: tokens,
		})
		return p + d
	}
}

// front returns the router that a request arrives at: the frontends in turn.
func (s *simulation) front() *router.Router {
	r := s.fronts[s.nextFront]
	s.nextFront = (s.nextFront + 1) % len(s.fronts)
	return r
}

// hear tells the routers of the KV events that are visible now.
func (s *simulation) hear() {
	if !s.listen {
		return
	}
	for i, w := range s.workers {
		w.Commit(s.now, s.begun > i)
		events := w.Events.Take(s.now)
		for _, r := range s.fronts {
			r.Apply(int32(i), events)
		}
	}
}

// generated returns the tokens that a placed request has by now.
func (s *simulation) generated(q *router.Request) int32 {
	w := s.res.Requests[q.Row].Worker
	if w < 0 {
		return 0 // chosen, but not sent yet
	}
	return s.workers[w].GeneratedBy(&s.live[q.Tag].seq, s.now, int(w) <= s.delivered)
}

// look returns the real state of a worker.
func (s *simulation) look(target int32, r *router.Request) policy.Facts {
	w, q := s.workers[target], s.live[r.Tag]
	w.Commit(s.now, s.begun > int(target))
	b := w.Backlog(s.now)
	return policy.Facts{
		Held:          w.Held(q.req.Blocks[:s.reusable(q)]),
		PrefillTokens: b.PrefillTokens, DecodeTokens: b.DecodeTokens,
		Running: b.Running, Waiting: b.Waiting, UsedBlocks: b.UsedBlocks, Output: q.seq.Output,
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

// nextTimer returns when a router has to be looked at though nothing happens.
func (s *simulation) nextTimer() float64 {
	at := min(s.restart, s.nextFault())
	if s.replicas.on && s.waiting() > 0 {
		at = min(at, s.replicas.next())
	}
	for _, r := range s.fronts {
		at = min(at, r.NextTimer())
	}
	return at
}

// restartRouters makes every router begin anew.
func (s *simulation) restartRouters() {
	s.restart = math.Inf(1)
	s.hear()
	s.res.RestartedMS = s.now
	for _, r := range s.fronts {
		s.res.LostBookings += r.Restart(s.cfg.ResetStates)
	}
	s.drainAll()
}

// drainAll looks at the queue of every router.
func (s *simulation) drainAll() {
	for _, r := range s.fronts {
		s.drainQueue(r)
	}
}

// fireTimers does what routers do by the clock.
func (s *simulation) fireTimers() {
	if s.now >= s.restart {
		s.restartRouters()
	}
	s.strike()
	s.deliverSync()
	for _, r := range s.fronts {
		if r.NextTimer() > s.now {
			continue
		}
		s.hear()
		if r.Tick() {
			s.drainQueue(r)
		}
	}
}

// broken keeps the first error of a router, which ends the run.
func (s *simulation) broken(r *router.Router) {
	if err := r.Err(); err != nil && s.failed == nil {
		s.failed = fmt.Errorf("router: %w", err)
	}
}

// reported tells the routers what a worker's pass left in use.
func (s *simulation) reported(w int, e *engine.Worker) {
	if !s.reports {
		return
	}
	for _, r := range s.fronts {
		r.Report(int32(w), e.Used())
	}
}

// liveRequest fills in what only a live router reads of a request.
func (s *simulation) liveRequest(q *request, row int32) {
	q.req.Whole = q.seq.Blocks
	q.req.Session = s.trace.Session(int(row))
	route := s.trace.RouteOf(int(row))
	q.req.Worker, q.req.Rank, q.req.Device = route.Worker, route.Rank, route.Keys
	if s.cfg.ExpectedOutput {
		n := s.trace.OutputTokens(int(row))
		q.req.Expected = &n
	}
}
