package parity

import (
	"errors"
	"fmt"
	"slices"

	"routesim/sim"
	"routesim/sim/router"
)

// call is one call of the oracle's replay as a recording holds it.
type call struct {
	mode    string         // router mode; "" when options name it
	options map[string]any // keyword arguments
	engine  map[string]any // engine dictionary of all workers
	prefill map[string]any // engine dictionaries of disaggregated serving
	decode  map[string]any
	router  map[string]any // arguments of KvRouterConfig
	tables  map[string]any // arrays of the profile the timing model names
}

// settings are what a call means to the simulator.
type settings struct {
	config         sim.Config
	traceFormat    string // "mooncake", "mooncake-delta" or "dynamo"
	traceBlockSize int32  // 0: the trace says
	// Of applied_compute_agentic traces: the share of first prompts that sessions
	// of a group have in common, and the number of groups.
	sharedPrefix float64
	prefixGroups int
}

// readCall turns a call of the oracle into settings. The error is unsupported
// where the oracle could do it and the simulator cannot.
func readCall(c call) (settings, error) {
	var s settings
	o := newDict("options", c.options)
	engineArgs, mode := c.engine, c.mode
	if engineArgs == nil {
		engineArgs = o.object("extra_engine_args")
	}
	routerArgs := c.router
	if routerArgs == nil {
		routerArgs = o.object("router_config")
	}
	if mode == "" {
		mode = o.text("router_mode", "round_robin")
	}
	s.readTraceFormat(o)
	fleet, prefill, queuePolicy := readPools(o, c, engineArgs)
	params, err := readRouter(routerArgs, mode, queuePolicy)
	o.pass(err)
	params.KVEventLagMS = o.float("kv_event_lag_ms", 0)
	s.config = sim.Config{
		Fleet:          fleet,
		Prefill:        prefill,
		Router:         params,
		SLA:            sim.SLA{TTFT: o.maybeFloat("sla_ttft_ms"), ITL: o.maybeFloat("sla_itl_ms"), E2E: o.maybeFloat("sla_e2e_ms")},
		ArrivalSpeedup: o.float("arrival_speedup_ratio", 1),
		Concurrency:    int(o.integer("replay_concurrency", 0)),
		MaxSimTimeMS:   o.maybeFloat("max_sim_time_ms"),
	}
	if _, closed := o.get("replay_concurrency"); closed && s.config.Concurrency < 1 {
		o.bad("replay_concurrency", c.options["replay_concurrency"], "at least 1")
	}
	refuseOptions(o)
	if err := o.done(); err != nil {
		return s, err
	}
	return s, s.config.Validate()
}

// formatApplied is a format that only a recording holds.
const formatApplied = "applied_compute_agentic"

// readTraceFormat reads which format the trace has and how long its blocks are.
func (s *settings) readTraceFormat(o *dict) {
	const blockSize = 512 // of the oracle, for formats that do not say
	switch format := o.text("trace_format", "mooncake"); format {
	case "mooncake", "mooncake-delta":
		s.traceFormat, s.traceBlockSize = format, blockSize
	case "mooncake_delta":
		s.traceFormat, s.traceBlockSize = "mooncake-delta", blockSize
	case "dynamo":
		s.traceFormat = format
	case formatApplied:
		s.traceFormat, s.traceBlockSize = format, blockSize
		s.sharedPrefix = o.float("trace_shared_prefix_ratio", 0)
		s.prefixGroups = int(o.integer("trace_num_prefix_groups", 0))
	default:
		o.refuse("trace format %q", format)
	}
	s.traceBlockSize = o.integer("trace_block_size", s.traceBlockSize)
	if s.traceFormat == "dynamo" {
		s.traceBlockSize = 0
	}
}

// refuseOptions goes through the rest of the replay's arguments.
func refuseOptions(o *dict) {
	o.only("replay_mode", "offline", "online replay")
	if o.values["trace_format"] != formatApplied {
		o.only("trace_shared_prefix_ratio", 0.0, "prefix groups of applied_compute traces")
		o.only("trace_num_prefix_groups", 0.0, "prefix groups of applied_compute traces")
	}
	o.only("agentic_lanes", nil, "agentic traces")
	o.only("execution_model", nil, "agentic traces")
	o.only("weka_nested_timestamp_basis", nil, "weka traces")
	o.only("ais_perf_config", nil, "timing by the configurator")
	o.only("planner_config", nil, "scaling by a planner")
	o.only("performance_model_metadata", nil, "timing by the configurator")
	o.only("model_name", nil, "policy profiles by model")
	// What is recorded beside the results does not change them.
	o.inert("capture_per_request", "capture_planner_details", "benchmark_granularity",
		"report_jsonl_path", "telemetry_options")
}

// readRouter reads the mode and the arguments of KvRouterConfig.
// engineQueuePolicy goes before the router's own order of the queue.
func readRouter(args map[string]any, mode, engineQueuePolicy string) (router.Params, error) {
	p := router.DefaultParams()
	d := newDict("router", args)
	switch mode {
	case "kv_router", "kv":
		p.Mode = router.KV
	case "round_robin", "round-robin":
		p.Mode = router.RoundRobin
	default:
		return p, unsupported(fmt.Sprintf("router mode %q", mode))
	}
	p.OverlapScoreCredit = d.float("overlap_score_credit", p.OverlapScoreCredit)
	p.OverlapScoreCreditDecay = d.float("overlap_score_credit_decay", p.OverlapScoreCreditDecay)
	p.PrefillLoadScale = d.float("prefill_load_scale", p.PrefillLoadScale)
	// The deprecated weight stands for the scale; 0 turns the credit off too.
	if w := d.maybeFloat("overlap_score_weight"); w != nil {
		p.PrefillLoadScale = *w
		if *w == 0 {
			p.OverlapScoreCredit = 0
		}
	}
	p.DecodeActiveRequestWeight = d.float("decode_active_request_weight", p.DecodeActiveRequestWeight)
	p.HostCacheHitWeight = d.float("host_cache_hit_weight", p.HostCacheHitWeight)
	p.DiskCacheHitWeight = d.float("disk_cache_hit_weight", p.DiskCacheHitWeight)
	p.Temperature = d.float("router_temperature", p.Temperature)
	p.TrackActiveBlocks = d.boolean("router_track_active_blocks", p.TrackActiveBlocks)
	p.AssumeKVReuse = d.boolean("router_assume_kv_reuse", p.AssumeKVReuse)
	p.TrackPrefillTokens = d.boolean("router_track_prefill_tokens", p.TrackPrefillTokens)
	p.QueueThreshold = d.maybeFloat("router_queue_threshold")
	policy := d.text("router_queue_policy", "fcfs")
	if engineQueuePolicy != "" {
		policy = engineQueuePolicy
	}
	names := []string{router.FCFS.String(), router.LCFS.String(), router.WSPT.String()}
	if i := slices.Index(names, policy); i >= 0 {
		p.QueuePolicy = router.QueuePolicy(i)
	} else {
		d.bad("router_queue_policy", policy, "fcfs, lcfs or wspt")
	}
	refuseRouter(d)
	return p, d.done()
}

// refuseRouter goes through the router settings that are not modelled, and
// those that the oracle's replay accepts and does not honour.
func refuseRouter(d *dict) {
	d.only("router_prefill_load_model", "none", "prefill load model")
	d.only("router_policy_config", nil, "policy file")
	d.only("router_prefill_policy", nil, "selection policies")
	d.only("router_decode_policy", nil, "selection policies")
	d.only("router_tracking_hash", "public-xxh3-v1", "keyed tracking hashes")
	d.only("router_tracking_key_file", nil, "keyed tracking hashes")
	d.only("router_tracking_key_id", nil, "keyed tracking hashes")
	d.only("conditional_disagg_enabled", false, "disaggregated serving")
	d.inert("conditional_disagg_policy", "conditional_disagg_eff_isl_threshold",
		"conditional_disagg_eff_isl_ratio_threshold", "conditional_disagg_prefill_busy_threshold",
		"conditional_disagg_decode_busy_threshold")
	d.inert("use_kv_events", "router_replica_sync", "router_track_output_blocks", "router_ttl_secs",
		"router_approximate_cache_policy", "router_predicted_ttl_secs", "router_event_threads",
		"use_remote_indexer", "serve_indexer", "enable_session_prefix_index",
		"shared_cache_multiplier", "shared_cache_type")
}

// asUnsupported returns the reason when err says that something is not
// modelled.
func asUnsupported(err error) (string, bool) {
	var u unsupported
	if errors.As(err, &u) {
		return string(u), true
	}
	return "", false
}
