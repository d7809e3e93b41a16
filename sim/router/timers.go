package router

import "math"

// Periods of the queue's own timer in ms: it only matters where loads fall
// without anybody telling, as with a prefill load model.
const (
	drainMS      = 60_000
	drainDecayMS = 100
)

// NextTimer returns the time in ms at which Tick must be called, +Inf for
// never. Timers count from 0. With alone nothing but timers is left to happen:
// then the queue is only looked at again while that can help.
func (r *Router) NextTimer(alone bool) float64 {
	if r.live == nil {
		return math.Inf(1)
	}
	at := r.nextScan()
	if !alone || r.fades() {
		at = min(at, r.nextDrain())
	}
	if p := r.live.programs; p != nil && (!alone || p.Waiting() > 0) {
		at = min(at, p.NextTick(r.now))
	}
	return at
}

// fades reports whether some target's prefill load falls by itself.
func (r *Router) fades() bool {
	if r.decay == nil {
		return false
	}
	for w := range r.decay.queues {
		if r.decay.falls(int32(w), r.loads.prefillTokens[w], r.nanos()) {
			return true
		}
	}
	return false
}

// nextDrain is when the queue is looked at again.
func (r *Router) nextDrain() float64 {
	if r.classes.waiting == 0 {
		return math.Inf(1)
	}
	period := float64(drainMS)
	if r.decay != nil {
		period = drainDecayMS
	}
	return r.multiple(period)
}

// nextScan is when bookings are scanned for requests that are taken for dead.
func (r *Router) nextScan() float64 {
	if r.Live.ExpirySecs == 0 || r.Mode != KV || len(r.live.active) == 0 {
		return math.Inf(1)
	}
	return r.multiple(r.Live.ExpirySecs * 1000)
}

// multiple returns the first multiple of period that is not before now and at
// which Tick has not been called yet.
func (r *Router) multiple(period float64) float64 {
	at := math.Ceil(r.now/period) * period
	if at <= r.live.ticked {
		at = (math.Floor(r.live.ticked/period) + 1) * period
	}
	return at
}

// Tick does what is due now and reports whether the queue is to be drained.
func (r *Router) Tick() (drain bool) {
	drain = r.nextDrain() <= r.now
	if r.nextScan() <= r.now {
		drain = r.scanExpired() || drain
	}
	if p := r.live.programs; p != nil && p.NextTick(r.now) <= r.now {
		p.Tick(r.now)
		drain = true
	}
	r.live.ticked = r.now
	return drain
}

// scanExpired frees the bookings that got no token since the scan before: a
// second chance for everything that is new or alive.
func (r *Router) scanExpired() (freed bool) {
	l := r.live
	for i := 0; i < len(l.active); {
		q := l.active[i]
		b := &q.booking
		if n := r.Generated(q); b.fresh || n != b.scanned {
			b.fresh, b.scanned = false, n
			i++
			continue
		}
		r.Counters.Expired++
		r.forget(q)
		freed = true
	}
	return freed
}
