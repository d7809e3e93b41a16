package sim

import (
	"math"
	"slices"
)

// nextTransfer returns when the next transfer between an idle worker's tiers
// ends, +Inf for none. What a transfer brings about while a pass is under way is
// known at the end of the pass.
func (s *simulation) nextTransfer() float64 {
	at := math.Inf(1)
	for i, w := range s.workers {
		if s.idle(i) {
			at = min(at, w.NextTransfer())
		}
	}
	return at
}

// transferred does what follows from the transfers that have ended on idle
// workers.
func (s *simulation) transferred() (any bool) {
	for i, w := range s.workers {
		if s.idle(i) && w.Transferred(s.now) {
			any = true
			if w.HasWork() {
				s.wake(i)
			}
		}
	}
	return any
}

// offloads reports whether some worker has a tier below its device's pool.
func (c *Config) offloads() bool {
	tier := func(g Group) bool { return g.Engine.Host.Blocks > 0 }
	return slices.ContainsFunc(c.Fleet, tier) || slices.ContainsFunc(c.Prefill, tier)
}
