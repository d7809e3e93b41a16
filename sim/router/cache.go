package router

import (
	"routesim/sim/engine"
	"routesim/sim/prefix"
)

// belief is what the router takes to be cached where. A replay always has the
// index of KV events; a live router has none where nothing it decides by needs
// one, the index of its own decisions in approximate mode, or one of each.
type belief struct {
	events *prefix.Index // of KV events
	lower  *lowerTiers   // of KV events of lower tiers; nil where no target has any
	routed *prefix.TTL   // of decisions, in approximate mode or beside the events
	pools  *prefix.LRU   // of decisions, in approximate mode by last use
}

// newBelief returns an empty belief as of now (ms).
func newBelief(p *Params, targets []Target, shift uint8, now float64) (b belief) {
	n := len(targets)
	l, needed := p.Live, p.seesCache()
	switch {
	case p.Mode != KV:
	case !p.hearsEvents() && (l == nil || l.KVEvents):
	case l == nil || needed && l.KVEvents:
		b.events = prefix.NewIndex(n, shift)
		b.lower = newLowerTiers(p, targets, shift)
		if l != nil && l.PredictedTTLSecs != nil {
			b.routed = prefix.NewTTL(n, shift, *l.PredictedTTLSecs*1000, now)
		}
	case !needed:
	case l.ApproximateLRU:
		capacities := make([]int32, n)
		for i := range targets {
			capacities[i] = targets[i].KVBlocks
		}
		b.pools = prefix.NewLRU(capacities)
	default:
		b.routed = prefix.NewTTL(n, shift, l.TTLSecs*1000, now)
	}
	return b
}

// WantsEvents reports whether the router listens to KV events, or will.
func (r *Router) WantsEvents() bool { return r.belief.events != nil || r.dump != nil }

// Apply updates the router's view of one target's cache.
func (r *Router) Apply(target int32, events []engine.Event) {
	b := &r.belief
	if b.events == nil {
		if b = r.dump; b == nil {
			return
		}
	} else {
		r.Counters.Events += int64(len(events))
	}
	for i := range events {
		if e := &events[i]; e.Tier != engine.OnDevice {
			b.lower.apply(target, e)
		} else if e.Stored {
			if t := b.lower; t != nil && t.shared != nil {
				t.shared.Store(e.Block, e.Count)
			}
			b.events.Set(target, e.Block, e.Count)
		} else {
			b.events.Clear(target, e.Block, e.Count)
		}
	}
}

// lookup writes to q.overlap how many leading blocks of the prompt each target
// is believed to hold.
func (r *Router) lookup(q *Request) {
	b := &r.belief
	switch {
	case b.events != nil:
		b.events.Match(q.Blocks, q.overlap)
		if b.lower != nil {
			q.lower = b.lower.lookup(q.Blocks, q.overlap)
		}
	case b.pools != nil:
		r.growPools()
		b.pools.Match(q.Blocks, q.overlap)
	default:
		clear(q.overlap)
	}
	if b.routed != nil {
		b.routed.Raise(q.Blocks, r.now, q.overlap)
	}
}

// remember writes a decision into the indexes that learn from decisions.
func (r *Router) remember(q *Request, w int32) {
	b := &r.belief
	if b.routed != nil {
		b.routed.Store(w, q.Blocks, r.now)
	}
	if b.pools != nil {
		r.growPools()
		q.booking.lease = b.pools.Acquire(w, q.Blocks, q.ISL%r.blockSize != 0)
	}
}

// growPools brings the modelled pools up to date with what was generated. A
// block that an answer fills counts once a token lies beyond it.
func (r *Router) growPools() {
	for _, q := range r.live.active {
		l := q.booking.lease
		g := r.Generated(q)
		if l == nil || g == 0 || g == q.booking.leased {
			continue
		}
		q.booking.leased = g
		tokens := int64(q.ISL) + int64(g)
		full := min((tokens-1)/int64(r.blockSize), int64(len(q.Whole)))
		r.belief.pools.Grow(l, q.Whole[:max(full, int64(len(q.Blocks)))], tokens > full*int64(r.blockSize))
	}
}

// release ends what a request holds of a modelled pool.
func (r *Router) release(b *booking) {
	if b.lease != nil && r.belief.pools != nil {
		r.growPools()
		r.belief.pools.Release(b.lease)
	}
	b.lease = nil
}

// purge forgets what a target was believed to hold. What its running requests
// hold of a modelled pool goes with them.
func (b *belief) purge(target int32) {
	if b.events != nil {
		b.events.Purge(target)
	}
	if b.lower != nil {
		b.lower.purge(target)
	}
	if b.routed != nil {
		b.routed.Purge(target)
	}
	if b.pools != nil {
		b.pools.Purge(target)
	}
}
