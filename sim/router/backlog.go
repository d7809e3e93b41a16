package router

import (
	"math"
	"math/bits"
)

// backlog returns every target's active prefill tokens (A) as of now: what is
// booked, or, with a prefill load model, what the model leaves of it.
func (r *Router) backlog() []int64 {
	if r.decay == nil {
		return r.loads.prefillTokens
	}
	for w := range r.decay.queues {
		r.decay.tokens[w] = r.decay.at(int32(w), r.loads.prefillTokens[w], r.nanos())
	}
	return r.decay.tokens
}

// nanos returns the time in whole nanoseconds.
func (r *Router) nanos() int64 { return int64(math.Round(r.now * 1e6)) }

// decay lets prefill load fade. Each target's loads stand in the order of their
// admission; the first one, the anchor, is taken to be computed at a constant
// rate over its predicted duration.
type decay struct {
	queues []decayQueue // by target
	tokens []int64      // of the last call of backlog
}

type decayQueue struct {
	loads []prefillLoad
	start int64 // ns, when the anchor began
	bare  int   // loads without a predicted duration
}

// prefillLoad is one request's load.
type prefillLoad struct {
	row      int32
	tokens   int64
	duration int64 // ns, -1 = unknown
}

func newDecay(targets int) *decay {
	return &decay{queues: make([]decayQueue, targets), tokens: make([]int64, targets)}
}

// at returns what is left of a target's sum of loads:
//
//	all durations known: max(0, sum - floor(anchor * elapsed / duration))
//	else:                sum - anchor + ceil(anchor * clamp(1 - elapsed/duration, 0, 1))
//
// In the first form time beyond the anchor's duration goes on eating the loads
// behind it.
func (d *decay) at(w int32, sum, now int64) int64 {
	q := &d.queues[w]
	if len(q.loads) == 0 {
		return 0
	}
	anchor, elapsed := q.loads[0], now-q.start
	switch {
	case q.bare == 0 && anchor.duration == 0:
		return max(0, sum-anchor.tokens)
	case q.bare == 0:
		hi, lo := bits.Mul64(uint64(anchor.tokens), uint64(elapsed))
		if hi >= uint64(anchor.duration) {
			return 0 // the quotient has more than 64 bits
		}
		gone, _ := bits.Div64(hi, lo, uint64(anchor.duration))
		if gone >= uint64(sum) {
			return 0
		}
		return sum - int64(gone)
	case anchor.duration < 0:
		return sum
	case anchor.duration == 0:
		return sum - anchor.tokens
	}
	left := min(max(1-float64(elapsed)/float64(anchor.duration), 0), 1)
	return sum - anchor.tokens + int64(math.Ceil(float64(anchor.tokens)*left))
}

// falls reports whether a target's sum of loads gets less from now on without
// anything added or removed.
func (d *decay) falls(w int32, sum, now int64) bool {
	q := &d.queues[w]
	if len(q.loads) == 0 || q.loads[0].duration <= 0 {
		return false
	}
	if q.bare == 0 {
		return d.at(w, sum, now) > 0
	}
	return now-q.start < q.loads[0].duration
}

// add enters a load.
func (d *decay) add(w int32, l prefillLoad, now int64) {
	q := &d.queues[w]
	if len(q.loads) == 0 {
		q.start = now
	}
	if l.duration < 0 {
		q.bare++
	}
	q.loads = append(q.loads, l)
}

// remove takes out a load. The one behind a removed anchor starts now; where
// another one leaves, the anchor starts later by its duration, at most now.
func (d *decay) remove(w, row int32, now int64) {
	q := &d.queues[w]
	for i := range q.loads {
		l := q.loads[i]
		if l.row != row {
			continue
		}
		q.loads = append(q.loads[:i], q.loads[i+1:]...)
		switch {
		case l.duration < 0:
			q.bare--
		case i > 0:
			q.start = min(q.start+l.duration, now)
		}
		if i == 0 {
			q.start = now
		}
		return
	}
}

// predict returns the duration of a prefill in ns as the target's timing model
// has it, -1 where it has none.
func (t *Target) predict(tokens, prefix int64) int64 {
	if t.PrefillMS == nil {
		return -1
	}
	ms := t.PrefillMS(tokens, prefix)
	if !(ms >= 0 && ms < 1e12) {
		return -1
	}
	return int64(math.Round(ms * 1e6))
}
