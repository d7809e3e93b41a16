package sim

import (
	"fmt"
	"math"

	"routesim/sim/engine"
	"routesim/sim/fmath"
	"routesim/sim/rng"
)

// Clients says when clients leave before their requests have ended. The zero
// value is clients that never do.
type Clients struct {
	// TimeoutMS is how long a client waits for the end of its answer, and
	// FirstTokenTimeoutMS how long for the beginning; nil = for ever.
	TimeoutMS, FirstTokenTimeoutMS *float64
	// CancelRate is the share of clients that leave at a random moment, after
	// CancelAfterMS in the mean, with exponential distribution.
	CancelRate, CancelAfterMS float64
}

// Leave reports whether any client may.
func (c *Clients) Leave() bool {
	return c.TimeoutMS != nil || c.FirstTokenTimeoutMS != nil || c.CancelRate > 0
}

func (c *Clients) validate() error {
	for _, f := range []struct {
		name string
		v    *float64
	}{{"client-timeout-ms", c.TimeoutMS}, {"client-first-token-timeout-ms", c.FirstTokenTimeoutMS}} {
		if f.v != nil && !(*f.v > 0 && *f.v <= endOfTime) {
			return fmt.Errorf("%s: found %v, expected a number of ms above 0 and up to %v, or none", f.name, *f.v, endOfTime)
		}
	}
	switch {
	case !(c.CancelRate >= 0 && c.CancelRate <= 1):
		return fmt.Errorf("cancel-rate: found %v, expected a number from 0 to 1", c.CancelRate)
	case c.CancelRate > 0 && !(c.CancelAfterMS > 0 && c.CancelAfterMS <= endOfTime):
		return fmt.Errorf("cancel-after-ms: found %v, expected a number of ms above 0 and up to %v", c.CancelAfterMS, endOfTime)
	}
	return nil
}

// Phase is how far a request has come.
type Phase uint8

// The phases.
const (
	InRouter  Phase = iota // waits in the router's queue
	InEngine               // waits in its worker's queue, where a preemption may have put it back
	InPrefill              // its prompt is being computed, or waits between two chunks
	InHandoff              // between the pools of disaggregated serving
	InDecode               // it has received a token
	phases
)

// String says where the request is, for people.
func (p Phase) String() string {
	return [...]string{"in the router's queue", "in a worker's queue", "in prefill", "between the pools", "in decode"}[p]
}

// Waste is work for requests that did not complete.
type Waste struct {
	PromptTokens int64 // computed, what came from a cache left out
	OutputTokens int64 // generated, whether they reached the client or not
	Blocks       int64 // KV blocks
}

func (w *Waste) add(x engine.Work) {
	w.PromptTokens += int64(x.PromptTokens)
	w.OutputTokens += int64(x.OutputTokens)
}

// Cancellations counts the requests whose clients left, and the work that was
// lost. Blocks are those that they held; what is cached of them stays.
type Cancellations struct {
	ByPhase [phases]int64
	Late    int64 // named ones that came after the request's end
	Waste
}

// Total returns the number of cancelled requests.
func (c *Cancellations) Total() (n int64) {
	for _, k := range c.ByPhase {
		n += k
	}
	return n
}

// hangup is a moment at which a client may leave.
type hangup struct {
	at        float64
	row, tag  int32
	tokenless bool // only if it has received no token
}

// before orders hangups by time and row.
func (a *hangup) Before(b *hangup) bool { return a.at < b.at || a.at == b.at && a.row < b.row }

// expectHangups notes when the client of a request that arrives now may leave.
func (s *simulation) expectHangups(q *request) {
	c, row := &s.cfg.Clients, q.seq.Row
	note := func(after float64, tokenless bool) {
		s.hangups.Push(hangup{s.now + after, row, q.seq.Tag, tokenless})
	}
	if c.TimeoutMS != nil {
		note(*c.TimeoutMS, false)
	}
	if c.FirstTokenTimeoutMS != nil {
		note(*c.FirstTokenTimeoutMS, true)
	}
	if c.CancelRate > 0 && rng.Unit(rng.Draw(s.cfg.Seed, int(row), rng.Cancel)) < c.CancelRate {
		u := rng.Unit(rng.Draw(s.cfg.Seed, int(row), rng.CancelAfter))
		note(float64(-c.CancelAfterMS*fmath.Log(1-u)), false)
	}
}

// nextHangup returns when the next client may leave, +Inf for never.
func (s *simulation) nextHangup() float64 {
	if len(s.hangups) == 0 {
		return math.Inf(1)
	}
	return s.hangups[0].at
}

// hangUpDue lets the clients leave whose time has come.
func (s *simulation) hangUpDue() (some bool) {
	for s.nextHangup() <= s.now {
		h := s.hangups.Pop()
		r := &s.res.Requests[h.row]
		if r.Status != Unfinished || h.tokenless && !math.IsNaN(r.FirstToken) {
			continue
		}
		if !some {
			s.hearAll()
		}
		some = true
		s.hangUp(s.live[h.tag])
	}
	return some
}

// cancelNamed lets the client of a named request leave.
func (s *simulation) cancelNamed(f *Fault) {
	r := &s.res.Requests[f.Request]
	switch {
	case math.IsNaN(r.Arrival):
		s.end(f.early(math.NaN()))
		return
	case r.Status != Unfinished:
		s.res.Cancelled.Late++
		return
	}
	for _, q := range s.live {
		if q.seq.Row == f.Request && !q.gone {
			s.hangUp(q)
			return
		}
	}
}

// hangUp ends a request whose client leaves. Its router frees its load at once.
// Its worker lets go of it between two passes: what the pass under way computes
// of it is lost.
func (s *simulation) hangUp(q *request) {
	if s.pd != nil {
		s.pd.hangUp(q)
		return
	}
	r := &s.res.Requests[q.seq.Row]
	r.Status = Cancelled
	if r.Worker < 0 {
		s.res.Cancelled.ByPhase[InRouter]++
		r.Terminal = s.now
		s.res.Finished = append(s.res.Finished, q.seq.Row)
		q.router.Withdraw(&q.req)
		s.leave(q, false)
		return
	}
	i := int(r.Worker)
	tokens := s.workers[i].GeneratedBy(&q.seq, s.now, false)
	s.res.Cancelled.ByPhase[phaseOf(&q.seq, tokens)]++
	s.breakOff(q, tokens)
	q.gone = true
	s.leave(q, false)
	s.extra[i].leaving = append(s.extra[i].leaving, q)
	if s.idle(i) {
		s.takeOut(i)
	} else {
		s.cut(&s.stage, i)
	}
}

// phaseOf returns the phase of a request that a worker has and that has received
// so many tokens.
func phaseOf(q *engine.Seq, tokens int32) Phase {
	switch {
	case !q.Resident():
		return InEngine
	case tokens == 0:
		return InPrefill
	}
	return InDecode
}

// takeOut takes the requests off a rank whose clients left, between two passes.
func (s *simulation) takeOut(i int) {
	x := &s.extra[i]
	for _, q := range x.leaving {
		done, blocks := s.workers[i].Abort(&q.seq, s.now)
		s.res.Cancelled.add(done)
		s.res.Cancelled.Blocks += int64(blocks)
		s.spare = append(s.spare, q.seq.Tag)
	}
	clear(x.leaving)
	x.leaving = x.leaving[:0]
}
