package sim

import (
	"context"
	"math"

	"routesim/sim/engine"
	"routesim/sim/internal/heap"
	"routesim/sim/router"
	"routesim/workloads"
)

// simulation is the state of one run. Virtual time moves from event to event:
// the next release of a request or the next end of a worker's passes. Inside
// one instant the order is that of Dynamo's replay:
//
//  1. passes that end now, by worker; each with its signals in order, and what
//     the router's queue lets go because of them,
//  2. requests that become ready, in order; each is placed at once,
//  3. passes that start now, the lowest idle worker first; a pass without
//     length ends at once,
//
// and again until nothing changes.
type simulation struct {
	cfg     *Config
	trace   *workloads.Trace
	prompts *prompts
	driver  *driver
	stage            // the workers that generate, and their routers
	stages  []*stage // all: with pools the prefill one comes first

	offloads  bool             // workers move KV to lower tiers and back
	disks     *engine.Disks    // of the workers, nil where nobody has tiers
	hostPool  *engine.HostPool // of all workers together, nil where there is none
	nextFront int              // where the next request arrives
	timed     bool             // routers have timers
	restart   float64          // ms, when the routers restart, +Inf = never
	faults    []faultEvent     // to come, by time
	leaving   bool             // clients may leave
	hangups   heap.Heap[hangup, *hangup]
	failed    error // ends the run

	now float64
	pd  *disagg // the other half where prefill and decode are apart, else nil

	live   []*request // slab of requests in flight
	spare  []int32    // free places in it
	seen   endless
	latest int32 // row that passed it last
	res    *Result
	tokens tokenBook
	order  int32
	done   int
}

// request is a request in flight.
type request struct {
	seq    engine.Seq
	req    router.Request
	router *router.Router // that it arrived at
	hand   *handoff       // nil unless prefill and decode are apart
	gone   bool           // it was cancelled, and its worker has yet to let go of it
}

// workerTotals are what the engine does not know of its worker.
type workerTotals struct {
	group           int // of the fleet
	requests, input int64
	away            int              // faults that keep it from taking requests
	leaving         []*request       // cancelled ones that it has yet to let go of
	gone            []*engine.Worker // engines that crashed
}

// Run replays the trace under the configuration. It returns an error for a
// configuration that cannot run and for a worker that cannot make progress; a
// cancelled context stops the run early, which Result.Stopped tells.
func Run(ctx context.Context, t *workloads.Trace, c *Config) (*Result, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	s, err := newSimulation(t, c)
	if err != nil {
		return nil, err
	}
	if err := s.run(ctx); err != nil {
		s.tokens.close()
		return nil, err
	}
	return s.finish(), nil
}

func newSimulation(t *workloads.Trace, c *Config) (*simulation, error) {
	p, err := newPrompts(t, c.Fleet[0].Engine.BlockSize)
	if err != nil {
		return nil, err
	}
	d, err := newDriver(t, c)
	if err != nil {
		return nil, err
	}
	if c.offloads() {
		p.keepHashes()
	}
	s := &simulation{
		cfg: c, trace: t, prompts: p, driver: d, res: newResult(t, c.Ranks(), c),
		timed: c.Router.Live != nil, restart: math.Inf(1), faults: c.faultEvents(), leaving: c.Clients.Leave(),
		offloads: c.offloads(),
	}
	s.tokens = tokenBook{res: s.res, open: &tokenBatch{}}
	if err := s.checkCancels(); err != nil {
		return nil, err
	}
	if s.offloads && !c.Disaggregated() {
		s.disks = engine.NewDisks(c.Ranks(), p.hash)
		if i := c.sharesHost(); i >= 0 {
			s.hostPool = engine.NewHostPool(&c.Fleet[i].Engine, c.Ranks(), p.hash)
		}
	}
	if c.RestartAtMS != nil {
		s.restart = *c.RestartAtMS
	}
	if c.Router.Mode == router.KV {
		s.force = c.Force
	}
	if c.Disaggregated() {
		s.pd = newDisagg(s)
		return s, nil
	}
	s.stage.released = s.letGo
	s.addWorkers(&s.stage, Aggregated, c.Fleet, engine.Aggregated, c.Sampler)
	s.addRouters(&s.stage, c.Router, c.Seed)
	return s, nil
}

// newWorker returns a rank of a worker of the group, whose passes the sampler is
// told of.
func (s *simulation) newWorker(g *Group, index int, sampler func(int, engine.Pass)) *engine.Worker {
	c, p := s.cfg, s.prompts
	return engine.NewWorker(g.Engine, engine.Options{
		Timing: g.Timing, Shift: p.shift, PromptBlocks: p.sharedLimit(),
		Plain: c.Plain || c.Disaggregated() || g.Ranks() > 1 || c.needsPlain() || p.dynamic != nil || sampler != nil, KeepAdmissions: c.KeepAdmissions,
		Hash: p.hash, HostPool: s.hostPool, Disks: s.disks,
		Observe: observer(sampler, index), Index: index,
	})
}

// observer tells the sampler of one rank's passes.
func observer(sampler func(int, engine.Pass), rank int) func(engine.Pass) {
	if sampler == nil {
		return nil
	}
	return func(p engine.Pass) { sampler(rank, p) }
}

// run moves from instant to instant until nothing is left to happen.
func (s *simulation) run(ctx context.Context) error {
	limit := float64(endOfTime)
	if s.cfg.MaxSimTimeMS != nil {
		limit = min(limit, *s.cfg.MaxSimTimeMS)
	}
	for at, n := 0.0, 0; ; n++ {
		if n&0xff == 0 && ctx.Err() != nil {
			limit = math.Inf(-1)
		}
		if at > limit {
			if limit == endOfTime {
				return s.beyond(at)
			}
			s.res.Stopped = true
			s.stop(limit)
			return nil
		}
		s.now = at
		if s.pd != nil {
			s.pd.instant()
			at = s.pd.nextEvent()
		} else {
			s.instant()
			at = min(s.driver.next(), s.nextEnd())
			if s.offloads {
				at = min(at, s.nextTransfer())
			}
		}
		if s.failed != nil {
			return s.failed
		}
		if alone := math.IsInf(at, 1); s.timed && (!alone || s.waiting() > 0) {
			at = min(at, s.nextTimer(alone))
		}
		if math.IsInf(at, 1) {
			return s.unfinished()
		}
	}
}

// instant does everything that happens at s.now.
func (s *simulation) instant() {
	s.begun = 0
	s.setNow()
	if s.timed {
		s.fireTimers()
	}
	for again := true; again; {
		again = s.offloads && s.transferred()
		ended := false
		for w, e := range s.ends {
			if e == s.now {
				first, n := s.together(w)
				s.delivered = max(s.delivered, first+n-1)
				s.passEnded(w)
				ended = true
			}
		}
		if ended && s.offloads {
			s.transferred()
		}
		again = again || ended
		s.delivered = len(s.workers)
		for {
			row, at, ok := s.driver.release(s.now)
			if !ok {
				break
			}
			s.arrive(row, at)
			again = true
		}
		if s.replicas.heard {
			s.drainHeard()
		}
		again = s.startPasses(s.now, s.passEnded, s.explain) || again
	}
}

// explain says which worker and request an error is about.
func (s *simulation) explain(w int, err error) error {
	return explain(&s.fleet, "worker", s.trace, w, err)
}

// passEnded delivers what the pass of rank w, and of the ranks it ran with,
// produced.
func (s *simulation) passEnded(w int) {
	first, n := s.passDone(w)
	for i := first; i < first+n; i++ {
		s.workers[i].PassEnded(s.now)
	}
	s.reported(first, n)
	for i := first; i < first+n; i++ {
		s.deliver(i)
	}
	for i := first; i < first+n; i++ {
		if len(s.extra[i].leaving) > 0 {
			s.takeOut(i)
		}
		s.settle(i, s.now)
	}
}

// deliver tells of the signals of rank w's pass.
func (s *simulation) deliver(w int) {
	for _, sig := range s.workers[w].Signals() {
		q := s.live[sig.Seq.Tag]
		if q.gone {
			continue
		}
		if sig.Kind == engine.FirstToken {
			s.res.Requests[sig.Seq.Row].FirstToken = s.now
			q.router.PrefillDone(&q.req)
			s.tell(s.now, q.router, &q.req, router.SyncPrefillDone)
			s.drain(&s.stage, q.router)
			continue
		}
		s.ended(w, q, sig.Kind)
	}
}

// ended records the end of a request and tells the router and the driver.
func (s *simulation) ended(w int, q *request, kind engine.SignalKind) {
	s.record(w, q, kind)
	q.router.Free(&q.req)
	s.tell(s.now, q.router, &q.req, router.SyncFree)
	s.drain(&s.stage, q.router)
	s.leave(q, kind != engine.Refused)
}

// leave takes a request that ended out of flight and tells the driver.
func (s *simulation) leave(q *request, completed bool) {
	row := q.seq.Row
	if s.prompts.dynamic != nil {
		s.prompts.dynamic.end(int(row), completed, q.seq.Generated)
	}
	if s.res.Requests[row].Status == Failed {
		s.driver.failed(s.now)
	} else {
		s.driver.ended(row, s.now)
	}
	if q.hand == nil && !q.gone {
		s.spare = append(s.spare, q.seq.Tag)
	}
	s.done++
	if s.cfg.Progress != nil && s.done&0xff == 0 {
		s.cfg.Progress(s.done, s.trace.Len())
	}
}

// newRequest takes a request into flight.
func (s *simulation) newRequest(row int32) *request {
	var tag int32
	if n := len(s.spare); n > 0 {
		tag = s.spare[n-1]
		s.spare = s.spare[:n-1]
	} else {
		tag = int32(len(s.live))
		s.live = append(s.live, &request{})
	}
	q := s.live[tag]
	q.gone = false
	isl := s.prompts.length(int(row))
	q.seq.Reset(row, isl, s.trace.OutputTokens(int(row)))
	q.seq.Tag = tag
	q.seq.Blocks = s.prompts.appendBlocks(q.seq.Blocks, int(row))
	s.prompts.hashRow(int(row), q.seq.Blocks[:int64(isl)/s.prompts.block])
	jump, strict := s.trace.Priority(int(row))
	q.req = router.Request{
		Row: row, Tag: tag, ISL: isl, Blocks: q.seq.Blocks[:int64(isl)/s.prompts.block],
		Priority: jump, StrictPriority: strict, Class: s.trace.PolicyClass(int(row)),
		Session: -1, Worker: -1, Rank: -1,
	}
	if s.timed {
		s.liveRequest(q, row)
	}
	return q
}

// stop ends the run after everything that happened by limit.
func (s *simulation) stop(limit float64) {
	s.now = max(s.now, s.stopAt(limit))
	if s.pd != nil {
		s.now = max(s.now, s.pd.prefill.stopAt(limit))
	}
}
