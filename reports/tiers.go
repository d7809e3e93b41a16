package reports

import (
	"fmt"
	"slices"

	"routesim/sim"
	"routesim/sim/engine"
)

// TierFigures tell what a tier below the workers' devices did for a run.
type TierFigures struct {
	// Served is the share of the prompt tokens of the completed requests that came
	// from the tier at first admission, from a disk behind it too; the waterfall's
	// delivered share has it as well.
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
	if !slices.ContainsFunc(slices.Concat(c.Prefill, c.Fleet), func(g sim.Group) bool { return g.Engine.Host.Blocks > 0 }) {
		return nil
	}
	var t engine.TierStats
	for _, pool := range [][]sim.Worker{r.Prefill, r.Workers} {
		for i := range pool {
			t.Add(pool[i].Host)
		}
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

// DiskFigures tell what the disk tiers behind the host tiers did for a run, by
// the names of Dynamo's replay.
type DiskFigures struct {
	Probes   int64       `json:"lookup_probes"` // of single blocks that the host did not have
	Hits     int64       `json:"lookup_hits"`
	Pending  int64       `json:"lookup_pending"` // for blocks that were being written
	Read     DiskTraffic `json:"read"`
	Write    DiskTraffic `json:"write"`
	Evicted  int64       `json:"evictions"`                // blocks
	Foreign  int64       `json:"cross_worker_read_blocks"` // read by another worker than the one that wrote them
	Resident int64       `json:"resident_blocks"`          // at the end
	Coming   int64       `json:"pending_blocks"`           // still being written at the end
	Bypassed int64       `json:"bypassed_restores"`        // prompts whose blocks drove each other out of the host for ever
}

// DiskTraffic is what went to the disks, or came from there.
type DiskTraffic struct {
	Begun  int64  `json:"submitted_jobs"`
	Ended  int64  `json:"completed_jobs"`
	Bytes  Number `json:"completed_bytes"`
	TimeMS Number `json:"transfer_ms"` // of each, added up
}

// diskTier sums up the disk tiers, nil where there are none.
func diskTier(c *sim.Config, r *sim.Result) *DiskFigures {
	if !slices.ContainsFunc(c.Fleet, func(g sim.Group) bool { return g.Engine.Disk.Blocks > 0 }) {
		return nil
	}
	var t engine.DiskStats
	for w := range r.Workers {
		t.Add(r.Workers[w].Disk)
	}
	traffic := func(d engine.DiskTraffic) DiskTraffic {
		return DiskTraffic{d.Begun, d.Ended, Number(d.Bytes), Number(d.TimeMS)}
	}
	return &DiskFigures{
		Probes: t.Probes, Hits: t.Hits, Pending: t.Pending, Read: traffic(t.Read), Write: traffic(t.Write),
		Evicted: t.Evictions, Foreign: t.ForeignBlocks, Bypassed: t.Bypassed,
		Resident: r.Disk.Resident, Coming: r.Disk.Coming,
	}
}

// values adds the figures to those of a summary, each with its path as its name.
func (d *DiskFigures) values(out map[string]any) {
	const path = "g3_offload."
	out[path+"lookup_probes"], out[path+"lookup_hits"], out[path+"lookup_pending"] = d.Probes, d.Hits, d.Pending
	for name, t := range map[string]DiskTraffic{"read.": d.Read, "write.": d.Write} {
		out[path+name+"submitted_jobs"], out[path+name+"completed_jobs"] = t.Begun, t.Ended
		out[path+name+"completed_bytes"], out[path+name+"transfer_ms"] = float64(t.Bytes), float64(t.TimeMS)
		out[path+name+"cancelled_jobs"] = int64(0) // nothing cancels them
	}
	out[path+"evictions"], out[path+"cross_worker_read_blocks"] = d.Evicted, d.Foreign
	out[path+"resident_blocks"], out[path+"pending_blocks"], out[path+"bypassed_restores"] = d.Resident, d.Coming, d.Bypassed
}

// HostFigures tell what a host tier holds that all workers share, by the names of
// Dynamo's replay.
type HostFigures struct {
	Capacity int64 `json:"capacity_blocks"`
	Resident int64 `json:"resident_blocks"` // at the end
	Used     int64 `json:"used_blocks"`     // those that are still being written too
}

// sharedHosts lists the host tiers that workers share: one, or none.
func sharedHosts(r *sim.Result) []HostFigures {
	if r.HostPool.Capacity == 0 {
		return nil
	}
	return []HostFigures{HostFigures(r.HostPool)}
}

// values adds the figures to those of a summary, each with its path as its name.
func (h *HostFigures) values(i int, out map[string]any) {
	path := fmt.Sprintf("g2_domains.%d.", i)
	out[path+"capacity_blocks"], out[path+"resident_blocks"], out[path+"used_blocks"] = h.Capacity, h.Resident, h.Used
}
