package settings

import "math"

// Why a setting of Dynamo's changes nothing here.
const (
	replayIgnores = "Dynamo's replay ignores this setting and routesim's replay does not model it"
	replayRefuses = "Dynamo's replay refuses it and routesim does not model it"
	notModelled   = "routesim does not model it"
	goneIn161     = "Dynamo 1.6.1 has no such setting any more"
	onlyDefault   = "Dynamo's replay accepts the built-in policy only"
)

// ignoredRows are the settings of Dynamo's router that its own replay passes
// over or refuses. They are known so that none of them is accepted silently.
func ignoredRows() []Setting {
	rows := []Setting{
		{Name: "shared-cache-multiplier", Env: []string{"DYN_SHARED_CACHE_MULTIPLIER"}, Default: None, Kind: fraction.optional()},
		{Name: "shared-cache-type", Router: true, Env: []string{"DYN_SHARED_CACHE_TYPE"}, Default: None,
			Kind: Choice{Words: []string{None, "hicache"}}},
		{Name: "router-track-output-blocks", Aliases: []string{"track-output-blocks"}, Router: true,
			Env: []string{"DYN_ROUTER_TRACK_OUTPUT_BLOCKS"}, Default: "false", Kind: Bool{}},
		{Name: "router-replica-sync", Router: true, Env: []string{"DYN_ROUTER_REPLICA_SYNC"}, Default: "false", Kind: Bool{}},
		{Name: "router-kv-events", Aliases: []string{"kv-events"}, Field: "use_kv_events", Router: true,
			Env: []string{"DYN_ROUTER_USE_KV_EVENTS", "DYN_USE_KV_EVENTS"}, Default: "true", Kind: Bool{}},
		{Name: "router-ttl-secs", Router: true, Env: []string{"DYN_ROUTER_TTL_SECS"}, Default: "120", Kind: nonNegative},
		{Name: "router-approximate-cache-policy", Router: true, Env: []string{"DYN_ROUTER_APPROXIMATE_CACHE_POLICY"}, Default: "ttl",
			Kind: Choice{Words: []string{"ttl", "lru"}}},
		{Name: "router-predicted-ttl-secs", Router: true, Env: []string{"DYN_ROUTER_PREDICTED_TTL_SECS"}, Default: None, Kind: nonNegative.optional()},
		{Name: "router-event-threads", Router: true, Env: []string{"DYN_ROUTER_EVENT_THREADS"}, Default: "4", Kind: tokens},
		{Name: "use-remote-indexer", Router: true, Env: []string{"DYN_USE_REMOTE_INDEXER"}, Default: "false", Kind: Bool{}},
		{Name: "serve-indexer", Router: true, Env: []string{"DYN_SERVE_INDEXER"}, Default: "false", Kind: Bool{}},
		{Name: "enable-session-prefix-index", Router: true, Env: []string{"DYN_ENABLE_SESSION_PREFIX_INDEX"}, Default: "false", Kind: Bool{}},
		{Name: "router-min-initial-workers", Field: "min_initial_workers", Env: []string{"DYN_ROUTER_MIN_INITIAL_WORKERS"}, Default: "0",
			Kind: Int{Max: math.MaxInt32}},
		{Name: "router-session-affinity-ttl-secs", Field: "session_affinity_ttl_secs", Env: []string{"DYN_ROUTER_SESSION_AFFINITY_TTL_SECS"},
			Default: None, Kind: Int{Min: 1, Max: 31_536_000}.orNone(0)},
		{Name: "router-session-affinity-mode", Field: "session_affinity_mode", Env: []string{"DYN_ROUTER_SESSION_AFFINITY_MODE"}, Default: "hard",
			Kind: Choice{Words: []string{"hard", "soft"}}},
		{Name: "active-decode-blocks-threshold", Env: []string{"DYN_ACTIVE_DECODE_BLOCKS_THRESHOLD"}, Default: None, Kind: fraction.optional()},
		{Name: "active-prefill-tokens-threshold", Env: []string{"DYN_ACTIVE_PREFILL_TOKENS_THRESHOLD"}, Default: None,
			Kind: Int{Max: math.MaxInt64}.orNone(-1)},
		{Name: "active-prefill-tokens-threshold-frac", Env: []string{"DYN_ACTIVE_PREFILL_TOKENS_THRESHOLD_FRAC"}, Default: None, Kind: nonNegative.optional()},
		{Name: "router-conditional-disagg", Field: "conditional_disagg_enabled", Env: []string{"DYN_ROUTER_CONDITIONAL_DISAGG"}, Default: "false", Kind: Bool{}},
		{Name: "router-conditional-disagg-config", Env: []string{"DYN_ROUTER_CONDITIONAL_DISAGG_CONFIG"}, Default: None,
			Kind: Word{What: "a JSON object", Hint: "JSON", Optional: true}},
		{Name: "enforce-disagg", Env: []string{"DYN_ENFORCE_DISAGG"}, Default: "false", Kind: Bool{}},
		{Name: "admission-control", Env: []string{"DYN_ADMISSION_CONTROL"}, Default: None,
			Kind: Choice{Words: []string{None, "token-capacity"}}},
	}
	rows = append(rows, ignoredVariables()...)
	for i := range rows {
		rows[i].Support, rows[i].Why = Ignored, replayIgnores
	}
	return append(rows, refusedRows()...)
}

// ignoredVariables have no flag in Dynamo.
func ignoredVariables() []Setting {
	rows := []Setting{
		{Name: "active-request-expiry-secs", Env: []string{"DYN_ROUTER_ACTIVE_REQUEST_EXPIRY_SECS"}, Default: "300", Kind: nonNegative},
		{Name: "overlap-refresh-after-secs", Env: []string{"DYN_ROUTER_OVERLAP_REFRESH_AFTER_SECS"}, Default: "10", Kind: nonNegative},
		{Name: "positional-search-mode", Env: []string{"DYN_ROUTER_POSITIONAL_SEARCH_MODE"}, Default: "strided",
			Kind: Choice{Words: []string{"strided", "binary"}}},
		{Name: "encoder-cuda-to-cpu-ratio", Env: []string{"DYN_ENCODER_CUDA_TO_CPU_RATIO"}, Default: "8", Kind: tokens},
		{Name: "conditional-disagg-policy", Env: []string{"DYN_ROUTER_CONDITIONAL_DISAGG_POLICY"}, Default: "isl_bounding",
			Kind: Choice{Words: []string{"isl_bounding", "prefill_load", "isl_or_load"}}},
		{Name: "conditional-disagg-eff-isl-threshold", Env: []string{"DYN_ROUTER_CONDITIONAL_DISAGG_EFF_ISL_THRESHOLD"}, Default: "2048", Kind: Int{Max: math.MaxInt64}},
		{Name: "conditional-disagg-eff-isl-ratio-threshold", Env: []string{"DYN_ROUTER_CONDITIONAL_DISAGG_EFF_ISL_RATIO_THRESHOLD"}, Default: "0.7", Kind: fraction},
		{Name: "conditional-disagg-prefill-busy-threshold", Env: []string{"DYN_ROUTER_CONDITIONAL_DISAGG_PREFILL_BUSY_THRESHOLD"}, Default: None, Kind: nonNegative.optional()},
		{Name: "conditional-disagg-decode-busy-threshold", Env: []string{"DYN_ROUTER_CONDITIONAL_DISAGG_DECODE_BUSY_THRESHOLD"}, Default: None, Kind: nonNegative.optional()},
	}
	for i := range rows {
		rows[i].NoFlag = true
	}
	return rows
}

// refusedRows are settings whose absence would change the meaning of a run, so
// that a warning is not enough.
func refusedRows() []Setting {
	policy := Word{What: "default", Hint: "NAME", Optional: true}
	text := func(hint string) Kind { return Word{What: None, Hint: hint, Optional: true} }
	rows := []Setting{
		{Name: "router-prefill-policy", Env: []string{"DYN_ROUTER_PREFILL_POLICY"}, Default: "default", Kind: policy, Why: onlyDefault},
		{Name: "router-decode-policy", Env: []string{"DYN_ROUTER_DECODE_POLICY"}, Default: "default", Kind: policy, Why: onlyDefault},
		{Name: "worker-selection-policy", NoFlag: true, Env: []string{"DYN_ROUTER_WORKER_SELECTION_POLICY"}, Default: "default", Kind: policy, Why: onlyDefault},
		{Name: "prefill-engine-args", Default: None, Kind: text("JSON"), Why: "disaggregated serving is not modelled"},
		{Name: "decode-engine-args", Default: None, Kind: text("JSON"), Why: "disaggregated serving is not modelled"},
		{Name: "num-prefill-workers", Default: "1", Kind: tokens, Why: "disaggregated serving is not modelled"},
		{Name: "num-decode-workers", Default: "1", Kind: tokens, Why: "disaggregated serving is not modelled"},
		{Name: "agentic-lanes", Default: None, Kind: tokens.orNone(0), Why: "agentic graphs are not modelled"},
		{Name: "execution-model", Default: None, Kind: text("NAME"), Why: "agentic graphs are not modelled"},
		{Name: "weka-nested-timestamp-basis", Default: None, Kind: text("BASIS"), Why: "agentic graphs are not modelled"},
		{Name: "trace-shared-prefix-ratio", Default: "0", Kind: fraction, Why: "only the applied_compute_agentic format has it, which is not modelled"},
		{Name: "trace-num-prefix-groups", Default: "0", Kind: Int{Max: math.MaxInt32}, Why: "only the applied_compute_agentic format has it, which is not modelled"},
		{Name: "model-name", Default: None, Kind: text("NAME"), Why: "it chooses a profile of the policy file's models section, which is not modelled"},
		{Name: "router-reset-states", Default: "false", Kind: Bool{}, Why: goneIn161},
		{Name: "router-snapshot-threshold", Default: None, Kind: nonNegative.optional(), Why: goneIn161},
		{Name: "agentic", Default: "false", Kind: Bool{}, Why: goneIn161},
		{Name: "router-prefill-continue", Default: "false", Kind: Bool{}, Why: goneIn161},
	}
	for i := range rows {
		rows[i].Support = Refused
	}
	return rows
}

// dictRows are the keys of the oracle's engine dictionary that have no flag.
func dictRows() []Setting {
	anything := Word{What: None, Hint: "JSON", Optional: true}
	rows := []Setting{
		{Dict: "engine.backend", Default: "vllm", Kind: Choice{Words: []string{"vllm", "sglang", "trtllm"}}, Support: Refused, Why: notModelled},
		{Dict: "engine.worker_type", Default: "aggregated", Kind: Choice{Words: []string{"aggregated", "prefill", "decode"}}, Support: Refused, Why: "disaggregated serving is not modelled"},
		{Dict: "dp_size", Default: "1", Kind: tokens, Support: Refused, Why: "data-parallel ranks are not modelled"},
		{Dict: "startup_time", Default: None, Kind: nonNegative.optional(), Support: Inert, Why: "workers are there from the start"},
		{Dict: "num_gpu_blocks_is_explicit", Default: None, Kind: anything, Support: Inert},
		{Dict: "engine.emit_kv_events", Default: "false", Kind: Bool{}, Support: Inert},
		{Dict: "engine.emit_kv_token_ids", Default: "false", Kind: Bool{}, Support: Inert},
		{Dict: "engine.prefill_schedule_interval", Default: "1", Kind: tokens, Support: Inert},
		{Dict: "engine.prefill_decode_interval", Default: "0", Kind: Int{Max: math.MaxInt32}, Support: Refused, Why: "only the sglang scheduler has it, which is not modelled"},
		{Dict: "engine.aic_mtp_seed", Default: "42", Kind: Int{Max: math.MaxInt64}, Support: Inert},
		{Dict: "engine.kv_transfer_bandwidth", Default: None, Kind: nonNegative.optional(), Support: Inert},
		{Dict: "engine.kv_transfer_bytes_per_token", Default: None, Kind: nonNegative.optional(), Support: Inert},
		{Dict: "engine.kv_bytes_per_token", Default: None, Kind: nonNegative.optional(), Support: Inert},
		{Dict: "engine.kv_cache_bytes_per_token", Default: None, Kind: nonNegative.optional(), Support: Inert},
		{Dict: "engine.kv_transfer_timing_mode", Default: "full_prompt", Kind: Choice{Words: []string{"full_prompt", "destination_missing"}}, Support: Inert},
		{Dict: "engine.sglang", Default: None, Kind: anything, Support: Inert},
		{Dict: "engine.trtllm", Default: None, Kind: anything, Support: Inert},
		{Dict: "engine.aic_nextn", Default: None, Kind: tokens.orNone(0), Support: Refused, Why: "speculative decoding is not modelled"},
		{Dict: "engine.aic_nextn_accept_rates", Default: None, Kind: anything, Support: Inert},
	}
	for _, key := range []string{"native_host_offload", "g3_offload", "state_cache", "kv_cache_groups", "kv_cache_capacity_bytes", "prefix_match_unit"} {
		rows = append(rows, Setting{Dict: "engine." + key, Default: None, Kind: anything, Support: Refused, Why: notModelled})
	}
	for _, key := range []string{"mem_fraction_static", "free_gpu_memory_fraction", "cuda_graph_reserved_bytes"} {
		rows = append(rows, Setting{Dict: key, Default: None, Kind: anything, Support: Refused, Why: "give num_gpu_blocks instead"})
	}
	for _, key := range []string{"enable_local_indexer", "bootstrap_port", "handoff_session_timeout_ms", "reasoning", "response_replay_trace_path", "zmq_kv_events_port", "zmq_replay_port"} {
		rows = append(rows, Setting{Dict: "dynamo." + key, Default: None, Kind: anything, Support: Inert})
	}
	for i := range rows {
		rows[i].NoFlag = true
		rows[i].Name = rows[i].Dict
	}
	return rows
}
