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
	for _, g := range s.stages {
		for i, w := range g.workers {
			if g.idle(i) {
				at = min(at, w.NextTransfer())
			}
		}
	}
	return at
}

// transferred does what follows from the transfers that have ended on idle
// workers, until nothing more does. One that lets go of memory is an occasion to
// reserve it for a prompt.
func (s *simulation) transferred() (any bool) {
	for again := true; again; {
		again = false
		for _, g := range s.stages {
			for i, w := range g.workers {
				if g.idle(i) && w.Transferred(s.now) {
					again, any = true, true
					if s.pd != nil && g == &s.stage {
						s.pd.tryReserve(i)
					}
					if w.HasWork() {
						g.wake(i)
					}
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

// sharesHost returns the first group whose workers share a host tier, -1 for none.
func (c *Config) sharesHost() int {
	return slices.IndexFunc(c.Fleet, func(g Group) bool { return g.Engine.Host.Blocks > 0 && g.Engine.Host.Shared })
}

// sharesDisk is sharesHost for disks.
func (c *Config) sharesDisk() int {
	return slices.IndexFunc(c.Fleet, func(g Group) bool { return g.Engine.Disk.Blocks > 0 && g.Engine.Disk.Shared })
}

// checkTiers reports where workers cannot have one tier together. Only links of
// their own to a host may differ.
func (c *Config) checkTiers() error {
	host, disk := c.sharesHost(), c.sharesDisk()
	for i := range c.Fleet {
		e := &c.Fleet[i].Engine
		if e.Host.Blocks > 0 && e.Host.Shared {
			first := &c.Fleet[host].Engine.Host
			if own := e.Host; own.Blocks != first.Blocks || own.BytesPerToken != first.BytesPerToken ||
				own.SharedD2HGBPerSecond != first.SharedD2HGBPerSecond || own.SharedH2DGBPerSecond != first.SharedH2DGBPerSecond {
				return notTogether("host-offload-scope", i, host)
			}
		}
		if e.Disk.Blocks > 0 && e.Disk.Shared {
			if first := &c.Fleet[disk].Engine; e.Disk != first.Disk || e.Host.BytesPerToken != first.Host.BytesPerToken {
				return notTogether("disk-offload-scope", i, disk)
			}
		}
	}
	return nil
}

func notTogether(setting string, group, first int) error {
	return fmt.Errorf("%s: found cluster_shared with another size, other rates of all together or other bytes of KV per token in worker group %d than in group %d, expected the same: they have one tier together", setting, group+1, first+1)
}
