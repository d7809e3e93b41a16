package router

import (
	"math"
	"slices"

	"routesim/sim/engine"
	"routesim/sim/prefix"
)

// lowerTiers is what a router believes of the levels of storage below the
// devices: those of each worker, and a cache that all share.
type lowerTiers struct {
	host, disk *prefix.Tier
	shared     *prefix.Shared // nil without
}

// lowerOverlap are the blocks of a prompt that continue, tier by tier, what a
// target's device holds of it, and those of the shared cache beyond the device's.
// All slices are by target.
type lowerOverlap struct {
	host, disk []int32
	from       []int32 // scratch: where the next tier continues
	shared     []int32
}

// defaultSharedMultiplier is the credit of a block in a shared cache where none
// is given.
const defaultSharedMultiplier = 0.5

// newLowerTiers returns nil where no target has a lower tier and nothing is
// shared.
func newLowerTiers(p *Params, targets []Target, shift uint8) *lowerTiers {
	var t lowerTiers
	if l := p.Live; l != nil && l.SharedCache {
		t.shared = prefix.NewShared(int(l.SharedBlocks))
	}
	if t.shared == nil && !slices.ContainsFunc(targets, func(t Target) bool { return t.LowerTiers }) {
		return nil
	}
	t.host, t.disk = prefix.NewTier(len(targets), shift), prefix.NewTier(len(targets), shift)
	return &t
}

// sharedMultiplier returns the credit of a block in the shared cache.
func (l *Live) sharedMultiplier() float64 {
	m := defaultSharedMultiplier
	if l.SharedMultiplier != nil {
		m = *l.SharedMultiplier
	}
	if l.Policy != nil && l.Policy.Weights != nil && l.Policy.Weights.SharedCacheMultiplier != nil {
		m = *l.Policy.Weights.SharedCacheMultiplier
	}
	return m
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
	all := make([]int32, 4*n)
	l := &lowerOverlap{host: all[:n], disk: all[n : 2*n], from: all[2*n : 3*n], shared: all[3*n:]}
	t.host.Continue(blocks, device, l.host)
	for w := range l.from {
		l.from[w] = device[w] + l.host[w]
	}
	t.disk.Continue(blocks, l.from, l.disk)
	if t.shared != nil {
		beyond := make([]int32, len(blocks)+1)
		t.shared.Beyond(blocks, beyond)
		for w := range l.shared {
			l.shared[w] = beyond[device[w]]
		}
	}
	return l
}

// recover takes over what was known before a restart. The shared cache outlives
// routers.
func (t *lowerTiers) recover(known *lowerTiers, reset bool) {
	if t == nil || known == nil {
		return
	}
	if !reset {
		t.host, t.disk = known.host, known.disk
	}
	if t.shared != nil && known.shared != nil {
		t.shared = known.shared
	}
}

// any reports whether some target holds something in a lower tier.
func (l *lowerOverlap) any() bool {
	for w := range l.host {
		if l.host[w] > 0 || l.disk[w] > 0 || l.shared[w] > 0 {
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

// creditLower adds to a credit what a target's lower tiers hold, and what the
// shared cache holds beyond its device. A policy that
// does not see the cache does not see them either; the decay is the device's.
func (r *Router) creditLower(l *lowerOverlap, w int32, credit float64) float64 {
	credit = (credit + float64(r.HostCacheHitWeight*float64(l.host[w]))) + float64(r.DiskCacheHitWeight*float64(l.disk[w]))
	return credit + float64(r.sharedWeight*float64(l.shared[w]))
}
