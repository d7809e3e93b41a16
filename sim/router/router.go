package router

import (
	"math"

	"routesim/sim/router/policy"
	"routesim/workloads"
)

// Request is what the router knows of a request while it is alive.
type Request struct {
	Row            int32
	Tag            int32    // the caller's own name for it
	ISL            int32    // prompt tokens
	Blocks         []uint32 // complete prompt blocks
	Priority       int32    // seconds
	StrictPriority uint32
	Class          string // of the queue, "" for none

	// What only some modes and settings of a live router read.
	Whole    []uint32 // complete blocks of prompt and answer
	Expected *int32   // output tokens the request says it will have, nil = it does not say
	Session  int32    // number of its session, -1 for none
	Group    int32    // number of the sub-agents it is one of, from 1, 0 for none
	Final    bool     // it says that it is its session's last
	Named    bool     // the session has a name: a client said which it is
	Worker   int32    // the worker it names, -1 for none
	Rank     int32    // and the rank, -1 for any
	Device   []uint64 // keys that the serving worker should hold on its device
	// Taints that the worker must carry, and those it had better.
	Required  []string
	Preferred []workloads.PreferredTaint

	Refusal Refusal // why it was turned away

	overlap []int32       // by target, as of the arrival
	lower   *lowerOverlap // what lower tiers add to it; nil where there are none
	booking booking
}

// query is the part of a request that the cost function reads.
type query struct {
	isl int32
	req *Request // only where there are lower tiers
}

// Choice is a routing decision and what it was made from.
type Choice struct {
	Worker      int32   // the target's number, -1 where the request was turned away
	Terms       Terms   // of the chosen worker
	MinCost     float64 // least cost of any worker
	Tied        int32   // workers of least cost
	Overlap     float64 // blocks the router believed cached on the chosen worker, those of lower tiers weighted
	BestOverlap float64 // the most on any worker
}

// Router chooses workers by cost. It sees KV events and the first tokens and
// ends of the requests it placed, and nothing else.
type Router struct {
	Params
	Counters Counters
	// Generated returns the tokens a request has by now, for what a live router
	// counts of answers.
	Generated func(q *Request) int32
	// Look returns the real state of a target, for policies that ask for it.
	Look func(target int32, q *Request) policy.Facts
	// Tell is told of every decision, before it is booked; nil = nobody asks.
	Tell func(*Account)

	targets    []Target
	blockSize  int32
	shift      uint8
	seed       uint64
	now        float64   // ms
	batchLimit []float64 // by target: what thresholds are fractions of
	belief     belief
	loads      *loads
	hostWeight float64 // of blocks in lower tiers, in what counts as cached
	diskWeight float64
	// sharedWeight is the credit of a block in the shared cache.
	sharedWeight float64
	decay        *decay   // nil: prefill loads do not fade
	outputs      *outputs // nil: answers are not counted
	classes      classes
	turn         uint64    // of round robin
	byWorker     *turns    // nil where targets take turns alike
	minus        bool      // the decode branch: credit comes off the decode term
	absent       []bool    // by target: takes no requests
	over         []bool    // by target: its worker is marked as overloaded
	spare        [][]int32 // overlap slices to reuse
	err          error
	live         *liveState // nil in a replay
	after        *Params    // to run with after a restart, nil = the same
	dump         *belief    // what KV events said, where only those settings listen to them

	// Of the decision being made.
	costs        []Terms
	weights      []float64
	weightless   bool     // the request is not to count as load
	limited      bool     // some targets may not serve
	required     []string // taints without which none may
	only         only     // the ones that may
	leastPrefill int64    // of those that may
	lo, hi       float64
	tied         int32
}

// only restricts a decision to one worker, or one rank of it.
type only struct{ worker, rank int32 }

// anyone is the absence of a restriction.
var anyone = only{-1, -1}

// New returns a router over a fleet, for blocks of which 1<<shift form a prefix
// node.
func New(p Params, targets []Target, blockSize int32, shift uint8, seed uint64) *Router {
	n := len(targets)
	hostWeight, diskWeight := p.HostCacheHitWeight, p.DiskCacheHitWeight
	p = p.ready()
	r := &Router{
		hostWeight: hostWeight, diskWeight: diskWeight,
		Params: p, targets: targets, blockSize: blockSize, shift: shift, seed: seed,
		loads: newLoads(n), classes: newClasses(&p), costs: make([]Terms, n),
		batchLimit: make([]float64, n), absent: make([]bool, n), over: make([]bool, n), only: anyone,
	}
	for i := range targets {
		r.batchLimit[i] = targets[i].batchLimit()
	}
	r.byWorker = newTurns(&p, targets)
	if p.PrefillLoadModel {
		r.decay = newDecay(n)
	}
	if p.Live != nil {
		r.goLive()
	}
	r.belief = newBelief(&p, targets, shift, 0)
	return r
}

// SetNow moves the router's clock (ms). The caller does so before it calls
// anything else at a new time.
func (r *Router) SetNow(now float64) { r.now = now }

// Err returns the first error that ends the run: a policy that does not keep
// its contract, or a queue limit that Dynamo's replay does not survive.
func (r *Router) Err() error { return r.err }

// fail keeps the first error.
func (r *Router) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

// Arrive looks up a request's overlaps and either chooses a worker or, where
// the queue holds it back, keeps the request and reports false. It also reports
// false where it turns the request away, which q.Refusal tells. forced is the
// worker to use regardless of cost, or -1.
func (r *Router) Arrive(q *Request, now float64, forced int32) (Choice, bool) {
	r.now = now
	if r.Mode != KV {
		return r.route(q, forced)
	}
	if r.live != nil && r.held(q) {
		return Choice{}, false
	}
	q.overlap = r.overlapBuffer()
	r.lookup(q)
	if r.live != nil && r.queued() {
		r.arriveLive(q)
		return Choice{}, false
	}
	if r.holdsBack(q) {
		return Choice{}, false
	}
	c := r.admit(q, forced)
	return c, c.Worker >= 0
}

// holdsBack enqueues a request of a replay whose class is backed up: it already
// has waiters, or every worker is busy.
func (r *Router) holdsBack(q *Request) bool {
	if !r.queued() {
		return false
	}
	best := r.bestCached(q)
	c := r.classes.classOf(q.Class, int64(q.ISL)-best)
	if !c.holds() || !c.waits() && !r.allBusy(&c.Class, q) {
		return false
	}
	if c.overLimit(len(r.targets)) {
		r.fail(&LimitError{c.Name, q.Row})
		return true
	}
	r.Counters.Waited++
	r.enqueue(c, q, best, r.now)
	return true
}

// queued reports whether the queue can hold anybody back.
func (r *Router) queued() bool { return r.QueueThreshold != nil || r.Params.Classes != nil }

// bestCached returns the most prompt tokens that any target that may serve the
// request is believed to hold, at most the prompt.
func (r *Router) bestCached(q *Request) int64 {
	best := int64(0)
	for w := range q.overlap {
		if !r.absent[w] && !(r.live != nil && (r.over[w] || r.targets[w].lacks(q.Required) != "")) {
			best = max(best, r.cachedOf(q, w))
		}
	}
	return min(best, int64(q.ISL))
}

// Waiting returns the number of requests held in the queue.
func (r *Router) Waiting() int {
	n := int(r.classes.waiting)
	if r.live != nil && r.live.programs != nil {
		n += r.live.programs.Waiting()
	}
	return n
}

// Next takes the next request off the queue if a worker may take it; nil
// otherwise. Admit must follow.
func (r *Router) Next() *Request {
	if r.live != nil && r.live.programs != nil {
		if q := r.letGo(); q != nil {
			return q
		}
	}
	if r.classes.waiting == 0 {
		r.classes.carry = -1
		return nil
	}
	w, ok := r.next()
	if !ok {
		return nil
	}
	if l := r.live; l != nil && r.Live.OverlapRefreshSecs > 0 && r.now-w.since >= r.Live.OverlapRefreshSecs*1000 {
		r.lookup(w.req)
	}
	return w.req
}

// Admit chooses a worker for a request that waited, from its overlaps at
// arrival and the loads of this moment.
func (r *Router) Admit(q *Request, forced int32) Choice {
	if q.Refusal != Accepted {
		return Choice{Worker: -1}
	}
	return r.admit(q, forced)
}

// admit scores every worker, picks one and books the request there.
func (r *Router) admit(q *Request, forced int32) Choice {
	if r.live != nil {
		r.confine(q)
		r.loosen(q)
	}
	r.evaluate(q)
	w := forced
	switch {
	case w >= 0:
	case r.live != nil:
		w = r.chooseLive(q)
	default:
		w = r.pick(q.Row)
	}
	if r.Tell != nil {
		r.account(q, w)
	}
	if w < 0 {
		r.drop(q)
		if r.classified(q) {
			r.live.programs.Ended(r.now, q.Session, q.Tag, 0)
		}
		return Choice{Worker: -1}
	}
	c := Choice{
		Worker: w, Terms: r.costs[w], MinCost: r.lo, Tied: r.tied,
		Overlap: r.overlapOf(q, int(w)), BestOverlap: r.bestOverlap(q),
	}
	r.book(q, w)
	r.drop(q)
	return c
}

// drop gives a request's overlaps back.
func (r *Router) drop(q *Request) {
	if q.overlap != nil {
		r.spare = append(r.spare, q.overlap)
		q.overlap, q.lower = nil, nil
	}
}

// Costs returns the terms of every worker's cost as of the last decision. They
// are valid until the next one.
func (r *Router) Costs() []Terms { return r.costs }

// evaluate computes every worker's cost.
func (r *Router) evaluate(q *Request) {
	shared := r.TrackActiveBlocks && r.AssumeKVReuse
	backlog := r.backlog()
	r.leastPrefill = math.MaxInt64
	for w, a := range backlog {
		if r.May(w) {
			r.leastPrefill = min(r.leastPrefill, a)
		}
	}
	in := query{isl: q.ISL}
	if q.lower != nil {
		in.req = q
	}
	var seen contrast
	for w := range r.costs {
		c := candidate{
			prefillTokens: backlog[w],
			activeBlocks:  r.activeBlocks(int32(w)),
			requests:      r.loads.requests[w],
			overlap:       q.overlap[w],
			target:        int32(w),
		}
		if r.TrackActiveBlocks {
			c.newBlocks = int64(len(q.Blocks))
			if shared {
				held := r.loads.active[w].held(q.Blocks)
				c.newBlocks -= int64(held)
				seen.shared = seen.shared || held > 0
			}
		}
		r.cost(&in, &c, &r.costs[w])
		seen.note(w, &c, &r.costs[w])
	}
	if len(q.Preferred) > 0 {
		r.prefer(q)
	}
	r.scan()
	r.Counters.count(&seen, r.tied)
	if q.lower != nil {
		r.Counters.LowerTiers += one(q.lower.any())
	}
}

// activeBlocks returns B of a target.
func (r *Router) activeBlocks(w int32) int64 {
	if r.outputs != nil {
		return r.outputs.activeBlocks(w)
	}
	return r.loads.activeBlocks(w)
}

// book enters the request on its worker: the prompt tokens that are not cached
// there by the router's belief at arrival, and the prompt's blocks.
func (r *Router) book(q *Request, w int32) {
	b := booking{worker: w, row: q.Row}
	if r.TrackPrefillTokens {
		b.prefill = q.ISL - int32(min(r.cachedOf(q, int(w)), int64(q.ISL)))
	}
	switch {
	case !r.TrackActiveBlocks:
	case r.AssumeKVReuse:
		b.blocks = q.Blocks
	default:
		b.private = int32(len(q.Blocks))
	}
	r.loads.book(&b)
	q.booking = b
	r.bookDecay(&b, int64(q.ISL))
	if r.live != nil {
		r.bookLive(q)
	}
}

// bookDecay enters a booking's prefill load with its predicted duration.
func (r *Router) bookDecay(b *booking, isl int64) {
	if r.decay == nil || b.prefill == 0 {
		return
	}
	n := int64(b.prefill)
	r.decay.add(b.worker, prefillLoad{b.row, n, r.targets[b.worker].predict(n, isl-n)}, r.nanos())
}

// PrefillDone tells the router of a request's first token.
func (r *Router) PrefillDone(q *Request) {
	if !r.knows(&q.booking) {
		return
	}
	r.prefillDone(&q.booking)
}

func (r *Router) prefillDone(b *booking) {
	if r.decay != nil && b.prefill > 0 {
		r.decay.remove(b.worker, b.row, r.nanos())
	}
	r.loads.prefillDone(b)
}

// Free tells the router that a request ended.
func (r *Router) Free(q *Request) {
	if r.live != nil {
		r.freeLive(q)
		return
	}
	if r.Mode != KV {
		r.loads.requests[q.booking.worker] -= one(!q.booking.weightless)
		return
	}
	r.prefillDone(&q.booking)
	r.loads.free(&q.booking)
}

// Target returns where a request was placed last.
func (q *Request) Target() int32 { return q.booking.worker }

// Active returns the requests that the router counts on a target: its own, and
// what it heard of others'.
func (r *Router) Active(target int32) int64 { return r.loads.requests[target] }

// Idle reports whether no load is booked anywhere, as must be once every
// request has ended.
func (r *Router) Idle() bool { return r.loads.idle() }

func (r *Router) overlapBuffer() []int32 {
	if n := len(r.spare); n > 0 {
		b := r.spare[n-1]
		r.spare = r.spare[:n-1]
		return b
	}
	return make([]int32, len(r.costs))
}

// seesCache reports whether what chooses workers looks at cached blocks: the
// default policy does unless its credit is 0.
func (p *Params) seesCache() bool {
	if p.Mode != KV {
		return false
	}
	if l := p.Live; l != nil && l.Policy != nil && l.Policy.Weights == nil {
		return l.Policy.Needs&policy.Cache != 0
	}
	return p.OverlapScoreCredit != 0
}
