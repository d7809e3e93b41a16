package reports

import (
	"slices"

	"routesim/sim"
	"routesim/sim/engine"
)

// TierFigures tell what a tier below the workers' devices did for a run.
type TierFigures struct {
	// Served is the share of the prompt tokens of the completed requests that came
	// from the tier at first admission; the waterfall's delivered share has it too.
	Served        Number `json:"served_share"`
	Loads         int64  `json:"loads"`
	LoadedBlocks  int64  `json:"loaded_blocks"`
	Stores        int64  `json:"stores"`
	StoredBlocks  int64  `json:"stored_blocks"`
	SkippedBlocks int64  `json:"skipped_blocks"` // for which there was no room
	Evictions     int64  `json:"evicted_blocks"`
	Bytes         Number `json:"moved_bytes"`  // both ways
	WaitMS        Number `json:"pass_wait_ms"` // of passes, for memory that a store still read
}

// hostTier sums up the host tiers, nil where there are none.
func hostTier(c *sim.Config, r *sim.Result, s *Summary) *TierFigures {
	if !slices.ContainsFunc(c.Fleet, func(g sim.Group) bool { return g.Engine.Host.Blocks > 0 }) {
		return nil
	}
	var t engine.TierStats
	for i := range r.Workers {
		t.Add(r.Workers[i].Host)
	}
	reused := int64(0)
	for i := range r.Requests {
		if q := &r.Requests[i]; counted(q) {
			reused += int64(q.HostReused)
		}
	}
	return &TierFigures{
		Served: Number(share(reused, s.InputTokens)),
		Loads:  t.Loads, LoadedBlocks: t.LoadedBlocks, Stores: t.Stores, StoredBlocks: t.StoredBlocks,
		SkippedBlocks: t.SkippedBlocks, Evictions: t.Evictions, Bytes: Number(t.Bytes), WaitMS: Number(t.WaitMS),
	}
}
