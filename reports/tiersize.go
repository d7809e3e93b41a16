package reports

import (
	"fmt"
	"slices"
	"strings"

	"routesim/reports/format"
	"routesim/sim"
)

// TierSize is what a tier of a group of workers takes.
type TierSize struct {
	Tier   string `json:"tier"`           // "host" or "disk"
	Pool   string `json:"pool,omitempty"` // "prefill" or "decode" where they are apart
	Group  int    `json:"group"`          // from 0, of the pool
	Blocks int64  `json:"blocks"`         // KV blocks of each rank, or of the one tier of all
	Ranks  int64  `json:"ranks"`          // of a worker
	Shared bool   `json:"shared"`         // all have one together
	Bytes  Number `json:"bytes"`          // of a worker's tier, or of the one of all
}

// TierSizes lists the tiers of the groups of prefill workers, none where every
// worker does both, and of the others.
func TierSizes(prefill, fleet []sim.Group) []TierSize {
	if len(prefill) == 0 {
		return tiersOf("", fleet)
	}
	return append(tiersOf("prefill", prefill), tiersOf("decode", fleet)...)
}

func tiersOf(pool string, groups []sim.Group) (sizes []TierSize) {
	for i := range groups {
		e := &groups[i].Engine
		block := e.Host.BytesPerToken * float64(e.BlockSize)
		add := func(tier string, blocks int32, shared bool) {
			if blocks == 0 {
				return
			}
			s := TierSize{Tier: tier, Pool: pool, Group: i, Blocks: int64(blocks), Ranks: max(int64(e.DPSize), 1), Shared: shared}
			s.Bytes = Number(block * float64(blocks))
			if !shared {
				s.Bytes *= Number(s.Ranks)
			}
			sizes = append(sizes, s)
		}
		add("host", e.Host.Blocks, e.Host.Shared)
		add("disk", e.Disk.Blocks, e.Disk.Shared)
	}
	return sizes
}

// Text says it in words: "20,000 blocks, 419 GB per worker".
func (s *TierSize) Text() string {
	text := format.Plural(s.Blocks, "block")
	if s.Ranks > 1 && !s.Shared {
		text += " a rank"
	}
	text += ", " + format.Sig(float64(s.Bytes)/1e9) + " GB "
	if s.Shared {
		return text + "for all workers"
	}
	text += "per worker"
	if s.Pool != "" {
		text = s.Pool + " " + text
	}
	return text
}

// SizesOf says how large the tiers of one name are, each size once.
func SizesOf(tier string, sizes []TierSize) string {
	var parts []string
	for i := range sizes {
		if text := sizes[i].Text(); sizes[i].Tier == tier && !slices.Contains(parts, text) {
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, "; ")
}

// smallTier names a tier that holds less than the one before it. What is computed
// is copied to the host at once, what the host has stored to the disk, and in each
// the least recently used goes first, so that the smaller one holds little that
// the larger does not. A tier of all workers brings what others computed.
func (f *facts) smallTier() string {
	for _, g := range slices.Concat(f.config.Prefill, f.config.Fleet) {
		e := &g.Engine
		tier, blocks, before, least := "", int32(0), "", int32(0)
		switch h, d := &e.Host, &e.Disk; {
		case h.Blocks == 0 || h.Shared:
		case h.Blocks < e.NumGPUBlocks:
			tier, blocks, before, least = "host", h.Blocks, "KV pool of its device", e.NumGPUBlocks
		case d.Blocks > 0 && !d.Shared && d.Blocks < h.Blocks:
			tier, blocks, before, least = "disk", d.Blocks, "host tier", h.Blocks
		}
		if tier != "" {
			return fmt.Sprintf("A %s tier of %s is smaller than the %s, %s: it keeps little but what is there too, and can hardly help.",
				tier, format.Plural(int64(blocks), "block"), before, format.Count(int64(least)))
		}
	}
	return ""
}
