package settings

import "routesim/sim/engine"

// tierRows are the settings of the tiers of KV storage below a worker's device,
// which a group of workers may have of its own.
func tierRows() []Setting {
	return []Setting{
		{
			Name: "num-host-blocks", Group: Fleet, Default: None, Unit: "blocks", Dict: "engine.native_host_offload.num_host_blocks", Kind: tokens.orNone(0),
			Help: "Native KV offload of vllm to host memory: KV blocks that each data-parallel rank keeps there. Complete blocks of prompts are copied there when they are computed, and brought back for prompts that go on where the device's cache ends. none: no host tier.",
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
			Name: "kv-cache-bytes-per-token", Group: Fleet, Default: None, Unit: "bytes", Dict: "engine.kv_cache_bytes_per_token", Kind: kvBytes.optional(),
			Help: "Bytes of KV per token that a host tier moves; needs --num-host-blocks. none: those of the worker's profile, over all its GPUs.",
			Ref:  func(r *Run) any { return &r.CacheBytesPerToken },
		},
	}
}

// tierDictRows are the keys of the oracle's host tier that have no flag.
func tierDictRows() []Setting {
	anything := Word{What: None, Hint: "JSON", Optional: true}
	return []Setting{
		{Dict: "engine.native_host_offload.scope", Default: "dp_rank_local", Kind: Choice{Words: []string{"dp_rank_local", "cluster_shared"}}, Support: Refused,
			Why: "a host tier that workers share is not modelled: each data-parallel rank has one of its own"},
		{Dict: "engine.native_host_offload.shared_d2h_bandwidth_gbps", Default: None, Kind: anything, Support: Inert},
		{Dict: "engine.native_host_offload.shared_h2d_bandwidth_gbps", Default: None, Kind: anything, Support: Inert},
		{Dict: "engine.native_host_offload.kv_layout_id", Default: None, Kind: anything, Support: Inert},
	}
}

// hostTier completes a group's host tier with the bytes that a profile knows.
func (g *Modelled) hostTier(own *Run) {
	h := &g.Engine.Host
	switch {
	case h.Blocks == 0:
		*h = engine.HostOffload{}
	case own.CacheBytesPerToken != nil:
		h.BytesPerToken = *own.CacheBytesPerToken
	case g.Profile != nil:
		h.BytesPerToken = float64(g.Profile.KVBytesPerToken)
	}
}

// warnTiers names settings of a host tier that were given without one.
func (r *resolution) warnTiers() {
	for _, g := range r.Run.allGroups() {
		if r.Run.with(&g).Engine.Host.Blocks > 0 {
			return
		}
	}
	for _, name := range []string{"host-offload-d2h-bandwidth-gbps", "host-offload-h2d-bandwidth-gbps", "host-offload-latency-ms", "kv-cache-bytes-per-token"} {
		if o := r.originOf(name); o.Layer == FromFlag || o.Layer == FromDict {
			r.Warn("%s of the %s has no effect without num-host-blocks: no worker has a host tier", name, o)
		}
	}
}
