package router

import (
	"math"

	"routesim/sim/engine"
	"routesim/sim/prefix"
)

// lowerTiers is what a router believes of the levels of storage below the
// devices.
type lowerTiers struct{ host, disk *prefix.Tier }

// lowerOverlap are the blocks of a prompt that continue, tier by tier, what a
// target's device holds of it. All slices are by target.
type lowerOverlap struct {
	host, disk []int32
	from       []int32 // scratch: where the next tier continues
}

// newLowerTiers returns nil where no target has a lower tier.
func newLowerTiers(targets []Target, shift uint8) *lowerTiers {
	for i := range targets {
		if targets[i].LowerTiers {
			return &lowerTiers{host: prefix.NewTier(len(targets), shift), disk: prefix.NewTier(len(targets), shift)}
		}
	}
	return nil
}

// apply takes an event of a lower tier into account.
func (t *lowerTiers) apply(target int32, e *engine.Event) {
	x := t.host
	if e.Tier == engine.OnDisk {
		x = t.disk
	}
	if e.Stored {
		x.Set(target, e.Block, e.Count)
	} else {
		x.Clear(target, e.Block, e.Count)
	}
}

// lookup continues the overlaps of a prompt on the devices.
func (t *lowerTiers) lookup(blocks []uint32, device []int32) *lowerOverlap {
	n := len(device)
	all := make([]int32, 3*n)
	l := &lowerOverlap{host: all[:n], disk: all[n : 2*n], from: all[2*n:]}
	t.host.Continue(blocks, device, l.host)
	for w := range l.from {
		l.from[w] = device[w] + l.host[w]
	}
	t.disk.Continue(blocks, l.from, l.disk)
	return l
}

// any reports whether some target holds something in a lower tier.
func (l *lowerOverlap) any() bool {
	for w := range l.host {
		if l.host[w] > 0 || l.disk[w] > 0 {
			return true
		}
	}
	return false
}

func (t *lowerTiers) purge(target int32) {
	t.host.Purge(target)
	t.disk.Purge(target)
}

// overlapOf returns the blocks of the prompt that a target is believed to hold,
// those of lower tiers weighted. The weights are the router's own also where
// parameters of the default policy replace them in the cost.
func (r *Router) overlapOf(q *Request, w int) float64 {
	blocks := float64(q.overlap[w])
	if l := q.lower; l != nil {
		blocks = (blocks + float64(r.hostWeight*float64(l.host[w]))) + float64(r.diskWeight*float64(l.disk[w]))
	}
	return blocks
}

// bestOverlap returns the most of overlapOf.
func (r *Router) bestOverlap(q *Request) float64 {
	if q.lower == nil {
		best := int32(0)
		for _, o := range q.overlap {
			best = max(best, o)
		}
		return float64(best)
	}
	best := 0.0
	for w := range q.overlap {
		best = max(best, r.overlapOf(q, w))
	}
	return best
}

// cachedOf returns the tokens of the prompt that a target is believed to hold.
func (r *Router) cachedOf(q *Request, w int) int64 {
	if q.lower == nil {
		return int64(q.overlap[w]) * int64(r.blockSize)
	}
	return int64(math.Round(float64(r.overlapOf(q, w) * float64(r.blockSize))))
}

// creditLower adds to a credit what a target's lower tiers hold. A policy that
// does not see the cache does not see them either; the decay is the device's.
func (r *Router) creditLower(l *lowerOverlap, w int32, credit float64) float64 {
	return (credit + float64(r.HostCacheHitWeight*float64(l.host[w]))) + float64(r.DiskCacheHitWeight*float64(l.disk[w]))
}
