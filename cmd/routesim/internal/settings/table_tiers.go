package settings

import "routesim/sim/engine"

// tierRows are the settings of the tiers of KV storage below a worker's device,
// which a group of workers may have of its own.
func tierRows() []Setting {
	return []Setting{
		{
			Name: "num-host-blocks", Group: Fleet, Default: None, Unit: "blocks", Dict: "engine.native_host_offload.num_host_blocks", Kind: tokens.orNone(0),
			Help: "Native KV offload of vllm to host memory: KV blocks that each data-parallel rank keeps there, or that all share. Complete blocks of prompts are copied there when they are computed, and brought back for prompts that go on where the device's cache ends. none: no host tier.",
			Ref:  func(r *Run) any { return &r.Engine.Host.Blocks },
		}, {
			Name: "host-offload-d2h-bandwidth-gbps", Group: Fleet, Default: "32", Unit: "GB/s", Dict: "engine.native_host_offload.d2h_bandwidth_gbps", Kind: nonNegative,
			Help: "Rate (10^9 bytes per second) from a rank's device to its host tier; 0: in no time.",
			Ref:  func(r *Run) any { return &r.Engine.Host.D2HGBPerSecond },
		}, {
			Name: "host-offload-h2d-bandwidth-gbps", Group: Fleet, Default: "32", Unit: "GB/s", Dict: "engine.native_host_offload.h2d_bandwidth_gbps", Kind: nonNegative,
			Help: "Rate from the host tier back to the device; 0: in no time.",
			Ref:  func(r *Run) any { return &r.Engine.Host.H2DGBPerSecond },
		}, {
			Name: "host-offload-latency-ms", Group: Fleet, Default: "0", Unit: "ms", Dict: "engine.native_host_offload.latency_to_first_byte_ms", Kind: duration,
			Help: "Time from the start of a transfer to its first byte.",
			Ref:  func(r *Run) any { return &r.Engine.Host.LatencyMS },
		}, {
			Name: "host-offload-scope", Group: Fleet, Default: "dp_rank_local", Dict: "engine.native_host_offload.scope", Kind: Choice{Words: []string{"dp_rank_local", "cluster_shared"}},
			Help: "Whether each rank has a host tier of its own, with transfers one after the other, or all have one together, from which each can load what others stored; transfers of one direction have equal parts then.",
			Ref:  func(r *Run) any { return &r.Engine.Host.Shared },
		}, {
			Name: "host-offload-shared-d2h-bandwidth-gbps", Group: Fleet, Default: "80", Unit: "GB/s", Dict: "engine.native_host_offload.shared_d2h_bandwidth_gbps", Kind: nonNegative,
			Help: "Rate from all devices together to a shared host tier; 0: no limit.",
			Ref:  func(r *Run) any { return &r.Engine.Host.SharedD2HGBPerSecond },
		}, {
			Name: "host-offload-shared-h2d-bandwidth-gbps", Group: Fleet, Default: "80", Unit: "GB/s", Dict: "engine.native_host_offload.shared_h2d_bandwidth_gbps", Kind: nonNegative,
			Help: "Rate from a shared host tier to all devices together; 0: no limit.",
			Ref:  func(r *Run) any { return &r.Engine.Host.SharedH2DGBPerSecond },
		}, {
			Name: "kv-cache-bytes-per-token", Group: Fleet, Default: None, Unit: "bytes", Dict: "engine.kv_cache_bytes_per_token", Kind: kvBytes.optional(),
			Help: "Bytes of KV per token that a host tier moves; needs --num-host-blocks. none: those of the worker's profile, over all its GPUs.",
			Ref:  func(r *Run) any { return &r.CacheBytesPerToken },
		},
	}
}

// diskRows are the settings of the disk tier behind the host tier.
func diskRows() []Setting {
	const path = "engine.g3_offload."
	return []Setting{
		{
			Name: "num-disk-blocks", Group: Fleet, Default: None, Unit: "blocks", Dict: path + "num_g3_blocks", Kind: tokens.orNone(0),
			Help: "Disk tier (G3) behind the host tier: KV blocks on each worker's disk, or on the one that all share; needs --num-host-blocks. What the host has stored is written there too, and brought back to the host for prompts that go on there. none: no disk tier.",
			Ref:  func(r *Run) any { return &r.Engine.Disk.Blocks },
		}, {
			Name: "disk-offload-scope", Group: Fleet, Default: "worker_local", Dict: path + "scope", Kind: Choice{Words: []string{"worker_local", "cluster_shared"}},
			Help: "Whether each worker has a disk of its own, or all have one together, from which each can read what others wrote.",
			Ref:  func(r *Run) any { return &r.Engine.Disk.Shared },
		}, {
			Name: "disk-offload-read-bandwidth-gbps", Group: Fleet, Default: "10", Unit: "GB/s", Dict: path + "read_bandwidth_gbps", Kind: nonNegative,
			Help: "Rate (10^9 bytes per second) at which a worker reads from its disk, in equal parts for its transfers; 0: no limit.",
			Ref:  func(r *Run) any { return &r.Engine.Disk.ReadGBPerSecond },
		}, {
			Name: "disk-offload-write-bandwidth-gbps", Group: Fleet, Default: "10", Unit: "GB/s", Dict: path + "write_bandwidth_gbps", Kind: nonNegative,
			Help: "Rate at which a worker writes to its disk; 0: no limit.",
			Ref:  func(r *Run) any { return &r.Engine.Disk.WriteGBPerSecond },
		}, {
			Name: "disk-offload-shared-read-bandwidth-gbps", Group: Fleet, Default: "80", Unit: "GB/s", Dict: path + "shared_read_bandwidth_gbps", Kind: nonNegative,
			Help: "Rate at which all workers together read from a shared disk; 0: no limit.",
			Ref:  func(r *Run) any { return &r.Engine.Disk.SharedReadGBPerSecond },
		}, {
			Name: "disk-offload-shared-write-bandwidth-gbps", Group: Fleet, Default: "80", Unit: "GB/s", Dict: path + "shared_write_bandwidth_gbps", Kind: nonNegative,
			Help: "Rate at which all workers together write to a shared disk; 0: no limit.",
			Ref:  func(r *Run) any { return &r.Engine.Disk.SharedWriteGBPerSecond },
		}, {
			Name: "disk-offload-latency-ms", Group: Fleet, Default: "0.1", Unit: "ms", Dict: path + "latency_to_first_byte_ms", Kind: duration,
			Help: "Time from the start of a transfer to or from a disk to its first byte.",
			Ref:  func(r *Run) any { return &r.Engine.Disk.LatencyMS },
		},
	}
}

// tierDictRows are the keys of the oracle's host tier that have no flag.
func tierDictRows() []Setting {
	anything := Word{What: None, Hint: "JSON", Optional: true}
	return []Setting{
		{Dict: "engine.native_host_offload.kv_layout_id", Default: None, Kind: anything, Support: Inert},
	}
}

// tiers completes a group's host tier with the bytes that a profile knows, and
// forgets the settings of tiers that it does not have.
func (g *Modelled) tiers(own *Run) {
	h, d := &g.Engine.Host, &g.Engine.Disk
	if d.Blocks == 0 {
		*d = engine.DiskOffload{}
	}
	switch {
	case h.Blocks == 0:
		*h = engine.HostOffload{}
	case own.CacheBytesPerToken != nil:
		h.BytesPerToken = *own.CacheBytesPerToken
	case g.Profile != nil:
		h.BytesPerToken = float64(g.Profile.KVBytesPerToken)
	}
}

// warnTiers names settings of tiers that were given without one.
func (r *resolution) warnTiers() {
	host, disk := false, false
	for _, own := range r.Run.perGroup() {
		e := &own.Engine
		host, disk = host || e.Host.Blocks > 0, disk || e.Disk.Blocks > 0
	}
	if !host {
		r.warnTier(tierRows(), "a host tier")
	}
	if !disk {
		r.warnTier(diskRows(), "a disk tier")
	}
}

// warnTier names settings of a tier that no worker has; the first of the rows is
// that of its size.
func (r *resolution) warnTier(rows []Setting, tier string) {
	for _, s := range rows[1:] {
		if o := r.originOf(s.Name); o.Layer == FromFlag || o.Layer == FromDict {
			r.Warn("%s of the %s has no effect without %s: no worker has %s", s.Name, o, rows[0].Name, tier)
		}
	}
}
