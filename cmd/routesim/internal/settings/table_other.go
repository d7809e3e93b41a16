package settings

import "math"

// Why a setting of Dynamo's changes nothing here.
const (
	replayRefuses = "Dynamo's replay refuses it and routesim does not model it"
	notModelled   = "routesim does not model it"
	goneIn161     = "Dynamo 1.6.1 has no such setting any more"
)

// otherRows are the settings of Dynamo that change nothing here, or that would
// change the meaning of a run and are not modelled. They are known so that none
// of them is accepted silently.
func otherRows() []Setting { return append(inertRows(), refusedRows()...) }

// inertRows are settings of Dynamo's router that no decision can depend on
// here, and why.
func inertRows() []Setting {
	const (
		sameAnswers = "the indexes behind it give the same overlaps"
		noService   = "where the index is kept changes no overlap"
	)
	rows := []Setting{
		{Name: "router-event-threads", Router: true, Env: []string{"DYN_ROUTER_EVENT_THREADS"}, Default: "4", Kind: tokens, Why: sameAnswers},
		{Name: "positional-search-mode", Env: []string{"DYN_ROUTER_POSITIONAL_SEARCH_MODE"}, Default: "strided",
			Kind: Choice{Words: []string{"strided", "binary"}}, Why: sameAnswers},
		{Name: "use-remote-indexer", Router: true, Env: []string{"DYN_USE_REMOTE_INDEXER"}, Default: "false", Kind: Bool{}, Why: noService},
		{Name: "serve-indexer", Router: true, Env: []string{"DYN_SERVE_INDEXER"}, Default: "false", Kind: Bool{}, Why: noService},
		{Name: "enable-session-prefix-index", Router: true, Env: []string{"DYN_ENABLE_SESSION_PREFIX_INDEX"}, Default: "false", Kind: Bool{},
			Why: "what it keeps enters no cost"},
		{Name: "router-min-initial-workers", Field: "min_initial_workers", Env: []string{"DYN_ROUTER_MIN_INITIAL_WORKERS"}, Default: "0",
			Kind: Int{Max: math.MaxInt32}, Why: "workers are there from the start"},
		{Name: "enforce-disagg", Env: []string{"DYN_ENFORCE_DISAGG"}, Default: "false", Kind: Bool{}, Why: "deprecated by Dynamo, it enters no cost"},
		{Name: "admission-control", Env: []string{"DYN_ADMISSION_CONTROL"}, Default: None,
			Kind: Choice{Words: []string{None, "token-capacity"}}, Why: "Dynamo 1.6.1 removed it and ignores it too"},
	}
	for i := range rows {
		rows[i].Support = Inert
	}
	return rows
}

// refusedRows are settings whose absence would change the meaning of a run, so
// that a warning is not enough.
func refusedRows() []Setting {
	text := func(hint string) Kind { return Word{What: None, Hint: hint, Optional: true} }
	rows := []Setting{
		{Name: "agentic-lanes", Default: None, Kind: tokens.orNone(0), Why: "agentic graphs are not modelled"},
		{Name: "execution-model", Default: None, Kind: text("NAME"), Why: "agentic graphs are not modelled"},
		{Name: "weka-nested-timestamp-basis", Default: None, Kind: text("BASIS"), Why: "agentic graphs are not modelled"},
		{Name: "trace-shared-prefix-ratio", Default: "0", Kind: fraction, Why: "only the applied_compute_agentic format has it, which is not modelled"},
		{Name: "trace-num-prefix-groups", Default: "0", Kind: Int{Max: math.MaxInt32}, Why: "only the applied_compute_agentic format has it, which is not modelled"},
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
		{Dict: "engine.worker_type", Default: "aggregated", Kind: Choice{Words: []string{"aggregated", "prefill", "decode"}}, Support: Refused,
			Why: "describe pools with --prefill-engine-args and --decode-engine-args"},
		{Dict: "startup_time", Default: None, Kind: nonNegative.optional(), Support: Inert, Why: "workers are there from the start"},
		{Dict: "num_gpu_blocks_is_explicit", Default: None, Kind: anything, Support: Inert},
		{Dict: "engine.emit_kv_events", Default: "false", Kind: Bool{}, Support: Inert},
		{Dict: "engine.emit_kv_token_ids", Default: "false", Kind: Bool{}, Support: Inert},
		{Dict: "engine.prefill_schedule_interval", Default: "1", Kind: tokens, Support: Refused, Why: notModelled},
		{Dict: "engine.prefill_decode_interval", Default: "0", Kind: Int{Max: math.MaxInt32}, Support: Refused, Why: notModelled},
		{Dict: "engine.trtllm.capacity_scheduler_policy", Default: "guaranteed_no_evict", Kind: Choice{Words: []string{"guaranteed_no_evict"}}, Support: Inert},
	}
	for _, key := range []string{"state_cache", "kv_cache_groups", "kv_cache_capacity_bytes", "prefix_match_unit"} {
		rows = append(rows, Setting{Dict: "engine." + key, Default: None, Kind: anything, Support: Refused, Why: notModelled})
	}
	for _, key := range []string{"mem_fraction_static", "free_gpu_memory_fraction", "cuda_graph_reserved_bytes"} {
		rows = append(rows, Setting{Dict: key, Default: None, Kind: anything, Support: Refused, Why: "give num_gpu_blocks instead"})
	}
	for _, key := range []string{"enable_local_indexer", "bootstrap_port", "handoff_session_timeout_ms", "reasoning", "response_replay_trace_path", "zmq_kv_events_port", "zmq_replay_port"} {
		rows = append(rows, Setting{Dict: "dynamo." + key, Default: None, Kind: anything, Support: Inert})
	}
	rows = append(rows, tierDictRows()...)
	for i := range rows {
		rows[i].NoFlag = true
		rows[i].Name = rows[i].Dict
	}
	return rows
}
