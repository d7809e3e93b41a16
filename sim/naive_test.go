package sim

import (
	"math"
	"slices"

	"routesim/sim/engine"
	"routesim/sim/internal/reference"
	"routesim/sim/router"
)

// naive replays a scenario by the rules as they are written down: whole token
// lists, one event per pass, every load counted again at every decision.
type naive struct {
	s       *scenario
	rows    []*naiveRequest
	workers []*naiveWorker
	router  naiveRouter
	ids     map[string]int
	texts   [][]uint64 // by session: the tokens of a delta session so far
	pending []naiveReady
	starts  []int // closed loop: rows that start sessions not yet begun
	seen    map[int]bool
	now     float64
	turn    int
	res     Result
	stuck   *naiveStuck // the first worker that could not go on

	admitVictims int // preemptions by an admission
}

type naiveRequest struct {
	engine          *reference.Request
	row             int
	session, turn   int
	prev, next      int      // rows, -1 for none
	hashes          []uint64 // renumbered
	tokens          []uint64 // prompt and requested answer
	isl, osl        int      // tokens
	prompt          []int    // identities of the complete prompt blocks
	overlap         []int    // by worker, at arrival
	worker, prefill int      // booking
	private         bool     // booked blocks are nobody else's
	tracked         bool     // blocks are booked at all
	seq             int      // order in the router's queue
	score           float64  // place in it
}

type naiveWorker struct {
	*reference.Engine
	id     int
	end    float64
	pass   reference.Pass
	busy   float64
	area   float64 // active blocks times ms
	since  float64
	level  int
	stats  Worker
	events []naiveEvent
	view   map[int]bool
	hung   bool // no pass had an effect since the last request came
}

// naiveStuck is what a worker that cannot go on must report.
type naiveStuck struct {
	at       float64 // ms
	worker   int
	inFlight int
	row      int // of the head of its queue, -1 for none
}

type naiveEvent struct {
	visible float64
	e       reference.Event
}

type naiveReady struct {
	at                 float64
	session, turn, row int
}

func newNaive(s *scenario) *naive {
	n := &naive{s: s, ids: map[string]int{}, seen: map[int]bool{}}
	n.res.Requests = make([]Request, len(s.rows))
	n.res.TokenTimes = make([][]float64, len(s.rows))
	n.res.AdmissionLog = make([][]Admission, len(s.rows))
	for _, g := range s.cfg.Fleet {
		for range g.Count {
			n.workers = append(n.workers, &naiveWorker{
				Engine: reference.NewEngine(g.Engine, g.Timing), id: len(n.workers), end: math.Inf(1), view: map[int]bool{},
			})
		}
	}
	n.router = naiveRouter{cfg: &s.cfg, workers: n.workers}
	n.link()
	n.schedule()
	return n
}

// schedule makes the first turns ready.
func (n *naive) schedule() {
	base := math.Inf(1)
	for i, q := range n.rows {
		if q.prev < 0 {
			base = min(base, n.s.rows[i].Timestamp)
		}
	}
	for i, q := range n.rows {
		switch {
		case q.prev >= 0:
		case n.s.cfg.Concurrency > 0:
			n.starts = append(n.starts, i)
		default:
			at := (n.s.rows[i].Timestamp - base) / n.s.cfg.ArrivalSpeedup
			n.pending = append(n.pending, naiveReady{at, q.session, 0, i})
		}
	}
	for range n.s.cfg.Concurrency {
		n.startSession(0)
	}
}

func (n *naive) startSession(at float64) {
	if len(n.starts) == 0 {
		return
	}
	row := n.starts[0]
	n.starts = n.starts[1:]
	n.pending = append(n.pending, naiveReady{at, n.rows[row].session, 0, row})
}

// nextReady takes the first turn that is ready by now.
func (n *naive) nextReady() (naiveReady, bool) {
	if len(n.pending) == 0 {
		return naiveReady{}, false
	}
	i := 0
	for k, r := range n.pending {
		f := n.pending[i]
		if r.at < f.at || r.at == f.at && (r.session < f.session || r.session == f.session && r.turn < f.turn) {
			i = k
		}
	}
	r := n.pending[i]
	if r.at > n.now {
		return naiveReady{}, false
	}
	n.pending = slices.Delete(n.pending, i, i+1)
	return r, true
}

// run replays everything. It reports false where a worker cannot go on.
func (n *naive) run() bool {
	limit := math.Inf(1)
	if m := n.s.cfg.MaxSimTimeMS; m != nil {
		limit = *m
	}
	for at := 0.0; ; {
		if at > limit {
			n.res.Stopped = true
			break
		}
		n.now = at
		n.drain()
		at = math.Inf(1)
		for _, r := range n.pending {
			at = min(at, r.at)
		}
		for _, w := range n.workers {
			at = min(at, w.end)
		}
		if math.IsInf(at, 1) {
			if n.stuck != nil {
				return false
			}
			break
		}
	}
	n.finish()
	return true
}

// drain does everything that happens at one instant.
func (n *naive) drain() {
	for again := true; again; {
		again = false
		for _, w := range n.workers {
			if w.end == n.now {
				n.complete(w)
				again = true
			}
		}
		for r, ok := n.nextReady(); ok; r, ok = n.nextReady() {
			n.arrive(r)
			again = true
		}
		for i := 0; i < len(n.workers); i++ {
			w := n.workers[i]
			if !math.IsInf(w.end, 1) || w.InFlight() == 0 || w.hung {
				continue
			}
			again = true
			if n.start(w); w.end == n.now {
				n.complete(w)
				i = -1 // from the lowest worker again
			}
		}
	}
}

func (n *naive) start(w *naiveWorker) {
	w.settle(n.now)
	p := w.Pass(n.now)
	if w.hung = p.Stuck; p.Stuck {
		if n.stuck == nil {
			n.stuck = &naiveStuck{at: n.now, worker: w.id, inFlight: w.InFlight(), row: -1}
			if len(w.Waiting) > 0 {
				n.stuck.row = w.Waiting[0].Row
			}
		}
		w.level = p.Active
		return
	}
	w.pass, w.end, w.level = p, p.End, p.Active
	w.busy += p.End - n.now
	for _, e := range p.Events {
		w.events = append(w.events, naiveEvent{p.End + n.s.cfg.Router.KVEventLagMS, e})
	}
	st := &w.stats
	st.Passes++
	st.Preemptions += int64(p.Victims)
	n.admitVictims += p.AdmitVictims
	st.PrefillTokens += p.Batch.PrefillContext - p.Batch.PrefillPrefix
	st.PeakBlocks = max(st.PeakBlocks, int32(p.Active))
	st.PeakRunning = max(st.PeakRunning, int32(p.Running))
}

// settle counts the blocks held since the level last moved.
func (w *naiveWorker) settle(now float64) {
	w.area += float64(w.level) * (now - w.since)
	w.since = now
}

func (n *naive) complete(w *naiveWorker) {
	n.res.CommittedPrefillTokens += int64(w.pass.Committed)
	w.end = math.Inf(1)
	if w.InFlight() == 0 {
		w.settle(n.now)
		w.level = 0
	}
	for _, sig := range w.pass.Signals {
		q := n.rows[sig.Request.Row]
		if sig.Kind == engine.FirstToken {
			n.res.Requests[q.row].FirstToken = n.now
			n.router.prefillDone(q)
		} else {
			n.ended(q, sig.Kind)
		}
		n.dispatchWaiting()
		if sig.Kind != engine.FirstToken {
			n.follow(q)
		}
	}
}

// ended records the end of a request.
func (n *naive) ended(q *naiveRequest, kind engine.SignalKind) {
	r := &n.res.Requests[q.row]
	r.Terminal = n.now
	r.Status = Completed
	if kind == engine.Refused {
		r.Status = Rejected
	} else {
		n.res.DurationMS = max(n.res.DurationMS, n.now)
	}
	n.note(q)
	t := q.engine.Times
	n.res.TokenTimes[q.row] = t
	if len(t) > 0 {
		r.FirstToken, r.LastToken = t[0], t[len(t)-1]
	}
	if len(t) > 1 {
		r.SecondToken = t[1]
	}
	n.res.Finished = append(n.res.Finished, int32(q.row))
	n.router.free(q)
	if n.s.opts.Delta {
		text := q.tokens[:q.isl]
		if kind != engine.Refused {
			text = q.tokens[:q.isl+q.engine.Generated]
		}
		n.texts[q.session] = slices.Clone(text)
	}
}

func (n *naive) note(q *naiveRequest) {
	r := &n.res.Requests[q.row]
	r.OutputTokens = int32(q.engine.Generated)
	r.Admissions = int32(len(q.engine.Admissions))
	for i, a := range q.engine.Admissions {
		if i == 0 {
			r.FirstAdmit, r.FirstReused = a.At, a.Reused
		}
		r.MaxReused = max(r.MaxReused, a.Reused)
	}
}

// follow makes the next turn, or in a closed loop the next session, ready.
func (n *naive) follow(q *naiveRequest) {
	if q.next < 0 {
		if n.s.cfg.Concurrency > 0 {
			n.startSession(n.now)
		}
		return
	}
	r := n.s.rows[q.next]
	delay := 0.0
	switch {
	case r.Delay != nil:
		delay = *r.Delay
	case !math.IsNaN(r.Timestamp) && !math.IsNaN(n.s.rows[q.row].Timestamp):
		delay = r.Timestamp - n.s.rows[q.row].Timestamp
	}
	if n.s.cfg.Concurrency == 0 {
		delay /= n.s.cfg.ArrivalSpeedup
	}
	n.pending = append(n.pending, naiveReady{n.now + delay, q.session, n.rows[q.next].turn, q.next})
}

// arrive composes a request and hands it to the router.
func (n *naive) arrive(ready naiveReady) {
	q := n.rows[ready.row]
	n.compose(q)
	r := &n.res.Requests[q.row]
	r.Arrival, r.InputTokens = ready.at, int32(q.isl)
	n.res.Released++
	n.ceiling(q)
	if n.s.cfg.Router.Mode == router.RoundRobin {
		n.place(q, decision{worker: n.turn, cost: NaN, minCost: NaN})
		n.turn = (n.turn + 1) % len(n.workers)
		return
	}
	for _, w := range n.workers {
		w.look(n.now)
	}
	if d, ok := n.router.arrive(q, n.now, n.s.rows[q.row]); ok {
		n.place(q, d)
	}
	n.res.QueuePeak = max(n.res.QueuePeak, len(n.router.queue))
}

// look applies the events that are visible by now to the router's view.
func (w *naiveWorker) look(now float64) {
	for len(w.events) > 0 && w.events[0].visible <= now {
		w.view[w.events[0].e.ID] = w.events[0].e.Stored
		w.events = w.events[1:]
	}
}

func (n *naive) dispatchWaiting() {
	for q := n.router.next(); q != nil; q = n.router.next() {
		n.place(q, n.router.admit(q))
	}
}

// place sends a request to its worker.
func (n *naive) place(q *naiveRequest, d decision) {
	r := &n.res.Requests[q.row]
	r.Dispatched, r.Worker = n.now, int32(d.worker)
	r.Order = int32(len(n.res.Routed))
	n.res.Routed = append(n.res.Routed, int32(q.row))
	x := &r.Decision
	x.Cost, x.MinCost, x.Tied = d.cost, d.minCost, int32(d.tied)
	x.Forced = n.s.cfg.Router.Mode == router.KV && n.s.cfg.Force != nil && n.s.cfg.Force[q.row] >= 0
	x.PrefillTerm, x.Credit, x.DecodeTerm, x.RequestTerm = d.prefill, d.credit, d.decode, d.request
	if q.overlap != nil {
		x.Overlap, x.BestOverlap = float64(q.overlap[d.worker]), float64(slices.Max(q.overlap))
	}
	for _, w := range n.workers {
		held := int32(w.Pool.Held(q.prompt[:n.reusable(q)]))
		x.BestHeld = max(x.BestHeld, held)
		if w.id == d.worker {
			x.ChosenHeld = held
		}
	}
	q.worker = d.worker
	w := n.workers[d.worker]
	if m := int(w.MaxModelLen); m > 0 && q.isl+q.osl > m {
		n.res.OverLength++
	}
	w.stats.Requests++
	w.stats.InputTokens += int64(q.isl)
	w.Enqueue(q.engine)
	w.hung = false
}

// finish sums up what the run left.
func (n *naive) finish() {
	n.res.EndMS = n.now
	for _, q := range n.rows {
		if r := &n.res.Requests[q.row]; r.Status == Unfinished && q.engine != nil {
			n.note(q)
		}
		if q.engine != nil && q.worker >= 0 {
			for _, a := range q.engine.Admissions {
				n.res.AdmissionLog[q.row] = append(n.res.AdmissionLog[q.row], Admission{At: a.At, Reused: a.Reused})
			}
			n.workers[q.worker].stats.OutputTokens += int64(q.engine.Generated)
		}
	}
	for _, w := range n.workers {
		w.settle(n.now)
		if !math.IsInf(w.end, 1) {
			w.busy -= w.end - n.now
		}
		w.stats.BusyMS, w.stats.PeakWaiting = w.busy, int32(w.PeakWaiting)
		w.stats.Evictions = int64(w.Pool.Evictions)
		if n.now > 0 {
			w.stats.MeanBlocks = w.area / n.now
		}
		n.res.Workers = append(n.res.Workers, w.stats)
	}
	n.res.WorkerSeconds = float64(len(n.workers)) * (n.now / 1000)
}
