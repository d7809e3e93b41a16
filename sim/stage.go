package sim

import (
	"fmt"

	"routesim/models"
	"routesim/sim/engine"
	"routesim/sim/rng"
	"routesim/sim/router"
	"routesim/sim/router/policy"
)

// stage is a pool of workers and the routers that choose among them: one at each
// frontend, each with a state of its own. Where prefill and decode have workers
// of their own, each of the two has a stage.
type stage struct {
	fleet
	pool    Pool
	groups  []Group
	sampler func(rank int, p engine.Pass)
	extra   []workerTotals   // by rank
	router  *router.Router   // of the first frontend
	fronts  []*router.Router // of all frontends
	force   []int32          // by row: the worker that is given, nil = none is
	divert  *Diversion       // of one request to another worker, nil = none is
	// released is told what a router decided about a request that leaves its
	// queue.
	released func(q *router.Request, c router.Choice)

	listen    bool // some worker publishes KV events that some router wants
	reports   bool // routers want to know the workers' KV usage
	delivered int  // workers up to this one have delivered what ends at now
	replicas  replicas
	active    []int64  // by rank: requests of all frontends, nil where there is one
	herding   *Herding // of the run
}

// addWorkers fills a stage with its workers.
func (s *simulation) addWorkers(g *stage, pool Pool, groups []Group, role engine.Role, sampler func(int, engine.Pass)) {
	g.pool, g.sampler, g.end = pool, sampler, s.end
	for i := range groups {
		own := groups[i]
		own.Engine.Role = role
		g.groups = append(g.groups, own)
		for range own.Count {
			ranks := make([]*engine.Worker, own.Ranks())
			for k := range ranks {
				ranks[k] = s.newWorker(&own, len(g.workers)+k, sampler)
				g.extra = append(g.extra, workerTotals{group: i})
			}
			g.add(ranks...)
		}
	}
	g.added()
}

// addRouters gives a stage a router for each frontend, and the routers the KV
// events that they want.
func (s *simulation) addRouters(g *stage, p router.Params, seed uint64) {
	c, targets := s.cfg, g.targets()
	for i := range max(1, c.Frontends) {
		// Frontends draw independently of each other.
		r := router.New(p, targets, int32(s.prompts.block), s.prompts.shift, seed+uint64(i)*0x9E3779B97F4A7C15)
		r.Generated = func(q *router.Request) int32 { return s.generated(g, q) }
		r.Tell = s.teller(g.pool, i)
		r.Look = func(target int32, q *router.Request) policy.Facts { return s.look(g, target, q) }
		if c.Restarted != nil && !(g.pool == PrefillPool && c.PrefillRouter != nil) {
			after := c.Restarted.Router
			if p.Stage != router.Whole {
				after = after.For(p.Stage)
			}
			r.SwitchAtRestart(after)
		}
		g.fronts = append(g.fronts, r)
	}
	g.router = g.fronts[0]
	for i, w := range g.workers {
		own := &g.groups[g.extra[i].group]
		w.Events.On = g.router.WantsEvents() && !own.Silent
		w.Events.Lag = p.KVEventLagMS + own.EventDelayMS
		w.Publish(s.now, p.Live != nil) // Dynamo's replay tells nobody of disks
		g.listen = g.listen || w.Events.On
		if c.EventLoss > 0 {
			w.Events.Lost = func(batch int64) bool {
				return rng.Unit(rng.Draw(seed+uint64(batch), i, rng.Loss)) < c.EventLoss
			}
		}
	}
	g.replicas.on = c.ReplicaSync && len(g.fronts) > 1
	g.replicas.delay = c.ReplicaSyncDelayMS
	if len(g.fronts) > 1 {
		g.active, g.herding = make([]int64, len(g.workers)), &s.res.Herding
	}
	g.reports = g.router.WantsReports()
	if v := c.Divert; v != nil && (v.Pool == PrefillPool) == (g.pool == PrefillPool) {
		g.divert = v
	}
	s.stages = append(s.stages, g)
}

// targets describes the workers as they register with the routers.
func (g *stage) targets() []router.Target {
	var list []router.Target
	worker := int32(0)
	for i := range g.groups {
		own := &g.groups[i]
		for range own.Count {
			for rank := range own.Ranks() {
				list = append(list, router.Target{
					Worker: worker, Rank: int32(rank),
					BatchLimit: own.Engine.MaxNumBatchedTokens, KVBlocks: own.Engine.NumGPUBlocks,
					CPU: own.CPU, Taints: own.Taints, LowerTiers: own.Engine.Host.Blocks > 0, PrefillMS: prefillMS(own.Timing),
				})
			}
			worker++
		}
	}
	return list
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

// forced returns the worker that a request is sent to whatever its router would
// choose, -1 for none.
func (g *stage) forced(row int32) int32 {
	if v := g.divert; v != nil && v.Row == row {
		return v.Worker
	}
	if g.force == nil {
		return -1
	}
	return g.force[row]
}

// teller returns what a router tells its decisions to, nil where nobody asks.
func (s *simulation) teller(pool Pool, frontend int) func(*router.Account) {
	if s.cfg.Account == nil {
		return nil
	}
	return func(a *router.Account) { s.cfg.Account(pool, frontend, a) }
}

// hear tells the routers of the KV events that are visible at now.
func (g *stage) hear(now float64) {
	if !g.listen {
		return
	}
	for i, w := range g.workers {
		w.Commit(now, g.begun > i)
		events := w.Events.Take(now)
		for _, r := range g.fronts {
			r.Apply(int32(i), events)
		}
	}
}

// reported tells the routers what the passes of n ranks left in use.
func (g *stage) reported(first, n int) {
	if !g.reports {
		return
	}
	for i := first; i < first+n; i++ {
		for _, r := range g.fronts {
			r.Report(int32(i), g.workers[i].Used())
		}
	}
}

// waiting returns the number of requests that wait in the routers.
func (g *stage) waiting() (n int) {
	for _, r := range g.fronts {
		n += r.Waiting()
	}
	return n
}

// drain places the requests that a router's queue lets go.
func (s *simulation) drain(g *stage, r *router.Router) {
	if r.Waiting() > 0 && s.timed {
		g.hear(s.now) // overlaps of requests that waited long are looked up anew
	}
	for q := r.Next(); q != nil; q = r.Next() {
		g.released(q, r.Admit(q, g.forced(q.Row)))
	}
	s.broken(r)
}

// end ends the run with the first error.
func (s *simulation) end(err error) {
	if s.failed == nil {
		s.failed = err
	}
}

// broken ends the run with an error of a router.
func (s *simulation) broken(r *router.Router) {
	if err := r.Err(); err != nil {
		s.end(fmt.Errorf("router: %w", err))
	}
}

// seqOf returns the request on a worker of a stage, and the worker's rank, -1
// before it was sent to one.
func (s *simulation) seqOf(g *stage, r *router.Request) (q *engine.Seq, rank int32) {
	x := s.live[r.Tag]
	if g != &s.stage {
		return &x.hand.pre, x.hand.source
	}
	return &x.seq, s.res.Requests[r.Row].Worker
}

// generated returns the tokens that a request has by now.
func (s *simulation) generated(g *stage, r *router.Request) int32 {
	q, w := s.seqOf(g, r)
	if w < 0 {
		return 0 // chosen, but not sent yet
	}
	return g.workers[w].GeneratedBy(q, s.now, int(w) <= g.delivered)
}

// look returns the real state of a worker.
func (s *simulation) look(g *stage, target int32, r *router.Request) policy.Facts {
	w := g.workers[target]
	q, _ := s.seqOf(g, r)
	w.Commit(s.now, g.begun > int(target))
	b := w.Backlog(s.now)
	return policy.Facts{
		Held:          heldBy(w, q.Blocks[:s.reusable(s.live[r.Tag])]),
		PrefillTokens: b.PrefillTokens, DecodeTokens: b.DecodeTokens,
		Running: b.Running, Waiting: b.Waiting, UsedBlocks: b.UsedBlocks, Output: q.Output,
	}
}
