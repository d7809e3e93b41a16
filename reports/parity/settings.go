package parity

import (
	"errors"
	"fmt"
	"slices"

	"routesim/models"
	"routesim/sim"
	"routesim/sim/engine"
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
	if c.prefill != nil || c.decode != nil || o.object("prefill_engine_args") != nil || o.object("decode_engine_args") != nil {
		return s, unsupported("disaggregated serving (prefill_engine_args, decode_engine_args)")
	}
	s.readTraceFormat(o)
	group, queuePolicy, err := readEngine(engineArgs, c.tables)
	o.pass(err)
	params, err := readRouter(routerArgs, mode, queuePolicy)
	o.pass(err)
	group.Count = int(o.integer("num_workers", 1))
	params.KVEventLagMS = o.float("kv_event_lag_ms", 0)
	s.config = sim.Config{
		Fleet:          []sim.Group{group},
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
	o.only("num_prefill_workers", 1.0, "disaggregated serving")
	o.only("num_decode_workers", 1.0, "disaggregated serving")
	o.only("trace_shared_prefix_ratio", 0.0, "prefix groups of applied_compute traces")
	o.only("trace_num_prefix_groups", 0.0, "prefix groups of applied_compute traces")
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

// readEngine reads the dictionary that describes a worker. It also returns the
// router queue order that the dictionary may name.
func readEngine(args, tables map[string]any) (sim.Group, string, error) {
	var g sim.Group
	d := newDict("extra_engine_args", args)
	e := newDict("extra_engine_args.engine", d.object("engine"))
	p := engine.DefaultsOf(readBackend(e))
	p.NumGPUBlocks = e.integer("num_gpu_blocks", p.NumGPUBlocks)
	p.BlockSize = e.integer("block_size", p.BlockSize)
	p.MaxModelLen = e.integer("max_model_len", p.MaxModelLen)
	p.MaxNumSeqs = e.limit("max_num_seqs", p.MaxNumSeqs, engine.Unlimited)
	p.MaxNumBatchedTokens = e.limit("max_num_batched_tokens", p.MaxNumBatchedTokens, engine.Unlimited)
	p.EnablePrefixCaching = e.boolean("enable_prefix_caching", p.EnablePrefixCaching)
	p.EnableChunkedPrefill = e.boolean("enable_chunked_prefill", p.EnableChunkedPrefill)
	switch mode := e.text("preemption_mode", "lifo"); mode {
	case "lifo":
		p.Preemption = engine.LIFO
	case "fifo":
		p.Preemption = engine.FIFO
	default:
		e.bad("preemption_mode", mode, "lifo or fifo")
	}
	readSGLang(e, &p)
	o := models.TimingOptions{
		CapacityTokens:     int64(p.NumGPUBlocks) * int64(p.BlockSize),
		SpeedupRatio:       e.float("speedup_ratio", 1),
		DecodeSpeedupRatio: e.float("decode_speedup_ratio", 1),
	}
	timing := e.object("timing_model")
	refuseEngine(e)
	d.pass(e.done())
	queuePolicy := readRuntime(d)
	p.DPSize = d.integer("dp_size", 1)
	g.GPUs = d.integer("tensor_parallel_size", 1)
	d.only("gpu_memory_utilization", nil, "KV capacity from memory")
	d.only("mem_fraction_static", nil, "KV capacity from memory")
	d.only("free_gpu_memory_fraction", nil, "KV capacity from memory")
	d.only("cuda_graph_reserved_bytes", nil, "KV capacity from memory")
	// Start-up only delays workers that a planner adds.
	d.inert("startup_time", "num_gpu_blocks_is_explicit")
	if err := d.done(); err != nil {
		return g, "", err
	}
	g.Engine = p
	var err error
	g.Timing, err = readTiming(timing, tables, o)
	return g, queuePolicy, err
}

// readBackend reads the kind of engine.
func readBackend(e *dict) engine.Backend {
	switch name := e.text("backend", engine.VLLM.String()); name {
	case engine.VLLM.String():
	case engine.TRTLLM.String():
		return engine.TRTLLM
	case engine.SGLang.String():
		return engine.SGLang
	default:
		e.refuse("backend %q", name)
	}
	return engine.VLLM
}

// readSGLang reads the settings of SGLang's scheduler.
func readSGLang(e *dict, p *engine.Params) {
	if p.Backend != engine.SGLang {
		e.only("sglang", nil, "SGLang settings")
		return
	}
	d := newDict("extra_engine_args.engine.sglang", e.object("sglang"))
	s := &p.SGLang
	switch policy := d.text("schedule_policy", "fifo"); policy {
	case "fifo", "fcfs":
	case "lpm":
		s.LPM = true
	default:
		d.bad("schedule_policy", policy, "fifo or lpm")
	}
	s.MaxPrefillTokens = d.integer("max_prefill_tokens", s.MaxPrefillTokens)
	s.ChunkedPrefillSize = d.integer("chunked_prefill_size", s.ChunkedPrefillSize)
	s.ClipMaxNewTokens = d.integer("clip_max_new_tokens", s.ClipMaxNewTokens)
	s.ScheduleConservativeness = d.float("schedule_conservativeness", s.ScheduleConservativeness)
	e.pass(d.done())
}

// refuseEngine goes through the engine settings that are not modelled.
func refuseEngine(e *dict) {
	e.only("worker_type", "aggregated", "disaggregated serving")
	e.only("aic_nextn", nil, "speculative decoding")
	e.only("aic_nextn_accept_rates", nil, "speculative decoding")
	e.only("aic_mtp_seed", 42.0, "speculative decoding")
	e.only("kv_transfer_bandwidth", nil, "KV transfer")
	e.only("kv_transfer_timing_mode", "full_prompt", "KV transfer")
	e.only("prefill_schedule_interval", 1.0, "prefill intervals of data-parallel ranks")
	e.only("prefill_decode_interval", 0.0, "SGLang scheduling")
	trt := newDict("extra_engine_args.engine.trtllm", e.object("trtllm"))
	trt.only("capacity_scheduler_policy", "guaranteed_no_evict", "TensorRT-LLM scheduling")
	e.pass(trt.done())
	e.only("native_host_offload", nil, "host offload")
	e.only("g3_offload", nil, "disk offload")
	e.only("state_cache", nil, "recurrent-state caches")
	e.only("prefix_match_unit", nil, "cache groups")
	e.only("kv_cache_groups", nil, "cache groups")
	e.only("kv_cache_capacity_bytes", nil, "KV capacity from memory")
	// Sizes only count for transfers and offload, events only live.
	e.inert("kv_bytes_per_token", "kv_transfer_bytes_per_token", "kv_cache_bytes_per_token",
		"emit_kv_events", "emit_kv_token_ids")
}

// readRuntime reads what belongs to Dynamo rather than to the engine. In a
// replay only the order of the router queue counts, and it goes before the
// router's own setting.
func readRuntime(d *dict) string {
	r := newDict("extra_engine_args.dynamo", d.object("dynamo"))
	policy := r.text("router_queue_policy", "")
	r.only("response_replay_trace_path", nil, "replayed responses")
	r.inert("enable_local_indexer", "bootstrap_port", "handoff_session_timeout_ms", "reasoning",
		"zmq_kv_events_port", "zmq_replay_port")
	d.pass(r.done())
	return policy
}

// readTiming returns the step model of a timing dictionary. A profile table is
// taken from the recording itself where it holds the arrays.
func readTiming(dict, tables map[string]any, o models.TimingOptions) (models.StepModel, error) {
	if dict["type"] == "external" {
		if p := dict["provider"]; p != "dynamo_profile" {
			return nil, unsupported(fmt.Sprintf("timing by provider %s", show(p)))
		}
		if tables != nil {
			return tableModel(tables, o)
		}
	}
	return models.TimingFromOracle(dict, o)
}

// tableModel builds a profile from arrays listed in the recording.
func tableModel(arrays map[string]any, o models.TimingOptions) (models.StepModel, error) {
	d := newDict("npz_arrays", arrays)
	list := func(key string) []float64 {
		v, _ := d.get(key)
		return d.floats(key, v)
	}
	data := models.TableData{
		PrefillISL:    list("prefill_isl"),
		PrefillTTFT:   list("prefill_ttft_ms"),
		DecodeKV:      list("decode_active_kv_tokens"),
		DecodeContext: list("decode_context_length"),
	}
	grid, _ := d.get("decode_itl")
	rows, _ := grid.([]any)
	for _, r := range rows {
		values := d.floats("decode_itl", r)
		if len(values) != len(data.DecodeContext) {
			d.bad("decode_itl", r, "a value per decode_context_length")
		}
		data.DecodeITL = append(data.DecodeITL, values...)
	}
	if err := d.done(); err != nil {
		return nil, err
	}
	m, err := models.NewTable("npz_arrays", data, o)
	if err != nil {
		return nil, err
	}
	return m, nil
}

// floats converts a list of numbers.
func (d *dict) floats(key string, v any) []float64 {
	list, ok := v.([]any)
	out := make([]float64, len(list))
	for i, x := range list {
		var isNumber bool
		out[i], isNumber = number(x)
		ok = ok && isNumber
	}
	if !ok {
		d.bad(key, v, "a list of numbers")
	}
	return out
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
