package router

import (
	"fmt"

	"routesim/sim/router/policy"
	"routesim/sim/router/program"
)

// liveState is what only a live router keeps.
type liveState struct {
	active   []*Request // booked, for what is counted of answers
	chooser  *policy.Chooser
	rows     []policy.Candidate
	sessions map[int32]*binding
	latched  []bool             // by target: marked by its active blocks, until both signals are below
	reported []int64            // by target: KV blocks in use as last reported
	mirrors  map[int32]*booking // of other routers' requests, by row
	devices  []map[uint64]bool
	ticked   float64 // ms, the last call of Tick

	programs *program.Classifier // nil: requests are not classified
	heldBack map[int32]*Request  // by the classifier, by tag
}

// LimitError ends a replay in which a queue limit was exceeded.
type LimitError struct {
	Class string
	Row   int32
}

// Error implements error.
func (e *LimitError) Error() string {
	return fmt.Sprintf("policy class %s: found its queue limit reached at request %d, expected room (Dynamo's replay ends here too; router-semantics live rejects the request instead)", e.Class, e.Row)
}

func (r *Router) goLive() {
	r.sharedWeight = r.Live.sharedMultiplier()
	n := len(r.targets)
	r.live = &liveState{
		sessions: map[int32]*binding{}, latched: make([]bool, n), reported: make([]int64, n),
		devices: make([]map[uint64]bool, n), mirrors: map[int32]*booking{},
	}
	r.outputs = nil
	if p := r.Live.Policy; p != nil && p.Weights == nil {
		r.live.chooser = &policy.Chooser{Policy: *p}
	}
	r.live.programs, r.live.heldBack = r.newClassifier(), map[int32]*Request{}
	if r.Live.TrackOutputBlocks {
		r.outputs = newOutputs(n)
	}
	// A frontend that serves whole requests labels them as decode like one of the
	// decode stage, so that without prefill tokens the credit comes off the decode
	// term.
	r.minus = r.Stage != PrefillStage && !r.TrackPrefillTokens && r.OverlapScoreCredit > 0
}

// arriveLive enters a request into its class, which the caller drains at once,
// or turns it away.
func (r *Router) arriveLive(q *Request) {
	c, best, must := r.classify(q)
	if c.turnsAway(len(r.targets), must) {
		q.Refusal = QueueFull
		r.Counters.Refused++
		r.drop(q)
		if r.classified(q) {
			r.live.programs.Ended(r.now, q.Session, q.Tag, 0)
		}
		return
	}
	if must {
		r.Counters.Waited++
	}
	r.enqueue(c, q, best, r.now)
}

// classify returns a request's class, the most of its prompt tokens that a target
// that may serve it is believed to hold, and whether it has to wait.
func (r *Router) classify(q *Request) (c *class, best int64, must bool) {
	best = r.bestCached(q)
	if pin := r.pin(q); pin >= 0 {
		best = min(r.cachedOf(q, int(pin)), int64(q.ISL))
	}
	c = r.classes.classOf(q.Class, int64(q.ISL)-best)
	return c, best, c.holds() && (c.waits() || r.allBusy(&c.Class, q))
}

// pin returns the target that a request is bound to beforehand, -1 for none.
func (r *Router) pin(q *Request) int32 {
	if q.Worker < 0 || r.live == nil {
		return -1
	}
	for i := range r.targets {
		if t := &r.targets[i]; t.Worker == q.Worker && (t.Rank == q.Rank || q.Rank < 0) {
			return int32(i)
		}
	}
	return -1
}

// confine works out who may serve a request: whom it names, the worker that its
// session is bound to, and nobody who is gone or overloaded.
func (r *Router) confine(q *Request) {
	r.markOverload()
	r.only, r.required = anyone, q.Required
	r.limited = len(q.Required) > 0
	for w := range r.targets {
		r.limited = r.limited || r.absent[w] || r.over[w]
	}
	if q.Worker >= 0 {
		r.only, r.limited = only{q.Worker, q.Rank}, true
		return
	}
	if b := r.bound(q); b != nil && r.servable(q, b.worker) {
		// To a policy of another kind a soft binding is a hint.
		if !r.Live.AffinitySoft || r.live.chooser == nil {
			r.only, r.limited = only{b.worker, -1}, true
		}
	}
}

// may reports whether a target may serve the request being decided.
func (r *Router) may(w int) bool { return !r.over[w] && r.eligible(w) }

// May reports whether a target might have been chosen in the last decision.
func (r *Router) May(w int) bool { return !r.limited || r.may(w) }

// eligible reports whether a target may serve the request being decided, were
// it not overloaded.
func (r *Router) eligible(w int) bool {
	t := &r.targets[w]
	return !r.absent[w] && (r.only.worker < 0 || t.Worker == r.only.worker) &&
		(r.only.rank < 0 || t.Rank == r.only.rank) && t.lacks(r.required) == ""
}

// servable reports whether some rank of a worker may serve a request.
func (r *Router) servable(q *Request, worker int32) bool {
	for w := range r.targets {
		if t := &r.targets[w]; t.Worker == worker && !r.absent[w] && !r.over[w] && t.lacks(q.Required) == "" {
			return true
		}
	}
	return false
}

// chooseLive picks among those that may serve; -1 where nobody may.
func (r *Router) chooseLive(q *Request) int32 {
	if r.tied == 0 {
		r.refuse(q)
		return -1
	}
	if r.live.chooser != nil {
		return r.ask(q)
	}
	if q.Worker >= 0 { // a named worker is taken whatever the temperature
		return r.nthTied(0)
	}
	return r.pick(q.Row)
}

// refuse says why nobody may serve a request.
func (r *Router) refuse(q *Request) {
	q.Refusal = NoEndpoint
	for w := range r.targets {
		if r.over[w] && r.eligible(w) {
			q.Refusal = Overloaded
		}
	}
	r.Counters.Refused++
}

// ask lets the policy choose.
func (r *Router) ask(q *Request) int32 {
	l := r.live
	needs := l.chooser.Needs
	l.rows = l.rows[:0]
	for w := range r.targets {
		if !r.May(w) {
			continue
		}
		l.rows = append(l.rows, r.row(q, int32(w), needs))
	}
	out, err := l.chooser.Choose(r.inquiry(q), l.rows)
	if f, ok := err.(*policy.ErrFiltered); ok && f != nil {
		q.Refusal = Filtered
		r.Counters.Refused++
		return -1
	}
	if err != nil {
		r.fail(err)
		q.Refusal = Filtered
		return -1
	}
	r.lo, r.tied = out.Least, out.Tied
	r.costs[out.Target] = Terms{Cost: out.Cost}
	return out.Target
}

// inquiry is a request as a policy sees it.
func (r *Router) inquiry(q *Request) *policy.Request {
	affinity := int32(-1)
	if r.only.worker >= 0 {
		affinity = r.only.worker
	} else if b := r.bound(q); b != nil {
		affinity = b.worker
	}
	return &policy.Request{Row: q.Row, ISL: q.ISL, BlockSize: r.blockSize, Affinity: affinity, Seed: r.seed}
}

// row fills in what a policy asked to see of a target.
func (r *Router) row(q *Request, w int32, needs policy.Need) policy.Candidate {
	t := &r.targets[w]
	c := policy.Candidate{Target: w, Worker: t.Worker, Rank: t.Rank, BatchLimit: t.BatchLimit, KVBlocks: t.KVBlocks}
	if needs&policy.Cache != 0 {
		c.Overlap = q.overlap[w]
		c.CachedTokens = min(r.cachedOf(q, int(w)), int64(q.ISL))
	}
	if needs&policy.Load != 0 {
		c.PrefillTokens, c.ActiveBlocks = r.backlog()[w], r.activeBlocks(w)
		if r.TrackActiveBlocks {
			c.NewBlocks = int64(len(q.Blocks))
			if r.AssumeKVReuse {
				c.NewBlocks -= int64(r.loads.active[w].held(q.Blocks))
			}
		}
	}
	if needs&policy.Occupancy != 0 {
		c.Requests = r.loads.requests[w]
	}
	if needs&policy.Taints != 0 {
		c.Preference = t.preference(q.Preferred)
	}
	if needs&policy.Truth != 0 && r.Look != nil {
		c.Truth = r.Look(w, q)
	}
	return c
}

// knows reports whether a booking is in the account. A live router forgets
// bookings that expire or that a restart loses.
func (r *Router) knows(b *booking) bool { return r.live == nil || b.booked }

// bookLive notes what only a live router keeps of a booking.
func (r *Router) bookLive(q *Request) {
	b := &q.booking
	b.booked, b.fresh = true, true
	b.place = int32(len(r.live.active))
	r.live.active = append(r.live.active, q)
	r.bind(q, r.targets[b.worker].Worker)
	if r.classified(q) {
		r.live.programs.Sent(q.Session, q.Tag, b.worker)
	}
	if r.outputs != nil {
		r.growOutputs()
		r.outputs.book(b)
	}
	r.remember(q, b.worker)
	r.signal(b.worker)
}

// freeLive takes a request that ended out of the account, if it is still there.
func (r *Router) freeLive(q *Request) {
	r.unbind(q)
	if r.classified(q) {
		r.live.programs.Ended(r.now, q.Session, q.Tag, r.context(q))
	}
	if q.booking.booked {
		r.forget(q)
	}
}

// forget takes a booking out of the account.
func (r *Router) forget(q *Request) {
	b := &q.booking
	if r.outputs != nil {
		r.growOutputs()
		r.outputs.free(b)
	}
	r.release(b)
	b.booked = false
	l := r.live
	last := l.active[len(l.active)-1]
	l.active[b.place] = last
	last.booking.place = b.place
	l.active = l.active[:len(l.active)-1]
	if r.Mode != KV {
		r.loads.requests[b.worker] -= one(!b.weightless)
		return
	}
	r.prefillDone(b)
	r.loads.free(b)
	r.signal(b.worker)
}

// growOutputs brings the counted blocks of all answers up to date.
func (r *Router) growOutputs() {
	for _, q := range r.live.active {
		r.outputs.grow(&q.booking, q.ISL, r.blockSize, r.Generated(q), q.Expected)
	}
}
