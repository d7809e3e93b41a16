package sim

import (
	"fmt"
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
// workers, until nothing more does.
func (s *simulation) transferred() (any bool) {
	for again := true; again; {
		again = false
		for i, w := range s.workers {
			if s.idle(i) && w.Transferred(s.now) {
				again, any = true, true
				if w.HasWork() {
					s.wake(i)
				}
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

// checkDisks reports where workers cannot have one disk together.
func (c *Config) checkDisks() error {
	first := -1
	for i := range c.Fleet {
		e := &c.Fleet[i].Engine
		switch {
		case e.Disk.Blocks == 0 || !e.Disk.Shared:
		case first < 0:
			first = i
		case e.Disk != c.Fleet[first].Engine.Disk:
			return fmt.Errorf("disk-offload-scope: found cluster_shared with other settings of the disk in worker group %d than in group %d, expected the same: they have one disk together", i+1, first+1)
		case e.Host.BytesPerToken != c.Fleet[first].Engine.Host.BytesPerToken:
			return fmt.Errorf("disk-offload-scope: found cluster_shared with %v bytes of KV per token in worker group %d and %v in group %d, expected the same: they share blocks",
				e.Host.BytesPerToken, i+1, c.Fleet[first].Engine.Host.BytesPerToken, first+1)
		}
	}
	return nil
}
