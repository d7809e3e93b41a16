package parity

import (
	"fmt"

	"routesim/models"
	"routesim/sim"
	"routesim/sim/engine"
)

// readPools reads the engines of the workers: of one pool whose workers do
// everything, or of the two pools of disaggregated serving. It also returns the
// router queue order that an engine dictionary may name.
func readPools(o *dict, c call, engineArgs map[string]any) (fleet, prefill []sim.Group, queuePolicy string) {
	prefillArgs, decodeArgs := c.prefill, c.decode
	if prefillArgs == nil {
		prefillArgs = o.object("prefill_engine_args")
	}
	if decodeArgs == nil {
		decodeArgs = o.object("decode_engine_args")
	}
	if prefillArgs == nil && decodeArgs == nil {
		g, policy, err := readEngine(engineArgs, c.tables, "aggregated")
		o.pass(err)
		o.only("num_prefill_workers", 1.0, "a prefill pool without prefill_engine_args")
		o.only("num_decode_workers", 1.0, "a decode pool without decode_engine_args")
		g.Count = int(o.integer("num_workers", 1))
		return []sim.Group{g}, nil, policy
	}
	o.inert("num_workers")
	p, policy, err := readEngine(prefillArgs, c.tables, "prefill")
	o.pass(err)
	d, _, err := readEngine(decodeArgs, c.tables, "decode")
	o.pass(err)
	p.Count, d.Count = int(o.integer("num_prefill_workers", 1)), int(o.integer("num_decode_workers", 1))
	return []sim.Group{d}, []sim.Group{p}, policy
}

// readDraft reads the settings of speculative decoding.
func readDraft(e *dict, d *engine.Draft) {
	d.Tokens = e.integer("aic_nextn", 0)
	d.Seed = uint64(e.integer("aic_mtp_seed", int32(d.Seed)))
	if text := e.text("aic_nextn_accept_rates", ""); text != "" {
		rates, err := engine.ParseAcceptRates(text)
		if err != nil {
			e.bad("aic_nextn_accept_rates", text, "up to 5 numbers from 0 to 1, separated by commas")
		}
		d.Accept = rates
	}
}

// readHost reads the host tier. Bytes only count with one.
func readHost(e *dict, h *engine.HostOffload) {
	bytes := e.float("kv_cache_bytes_per_token", 0)
	o := newDict("extra_engine_args.engine.native_host_offload", e.object("native_host_offload"))
	shared := o.scope("dp_rank_local")
	if n := o.integer("num_host_blocks", 0); n > 0 {
		*h = engine.HostOffload{
			Blocks: n, Shared: shared, BytesPerToken: bytes, LatencyMS: o.float("latency_to_first_byte_ms", 0),
			D2HGBPerSecond: o.float("d2h_bandwidth_gbps", 32), H2DGBPerSecond: o.float("h2d_bandwidth_gbps", 32),
			SharedD2HGBPerSecond: o.float("shared_d2h_bandwidth_gbps", 80), SharedH2DGBPerSecond: o.float("shared_h2d_bandwidth_gbps", 80),
		}
	}
	o.inert("kv_layout_id")
	e.pass(o.done())
}

// scope reads whether all workers have a tier together, or, as it is called, each
// has its own.
func (d *dict) scope(own string) (shared bool) {
	const all = "cluster_shared"
	scope := d.text("scope", own)
	if scope != own && scope != all {
		d.bad("scope", scope, own+" or "+all)
	}
	return scope == all
}

// readDisk reads the disk tier.
func readDisk(e *dict, d *engine.DiskOffload) {
	o := newDict("extra_engine_args.engine.g3_offload", e.object("g3_offload"))
	shared := o.scope("worker_local")
	if n := o.integer("num_g3_blocks", 0); n > 0 {
		*d = engine.DiskOffload{
			Blocks: n, Shared: shared, LatencyMS: o.float("latency_to_first_byte_ms", 0.1),
			ReadGBPerSecond: o.float("read_bandwidth_gbps", 10), WriteGBPerSecond: o.float("write_bandwidth_gbps", 10),
			SharedReadGBPerSecond: o.float("shared_read_bandwidth_gbps", 80), SharedWriteGBPerSecond: o.float("shared_write_bandwidth_gbps", 80),
		}
	}
	e.pass(o.done())
}

// readTransfer reads how a worker sends KV.
func readTransfer(e *dict) (t sim.Transfer) {
	t.GBPerSecond = e.float("kv_transfer_bandwidth", 0)
	t.BytesPerToken = e.float("kv_transfer_bytes_per_token", e.float("kv_bytes_per_token", 0))
	switch mode := e.text("kv_transfer_timing_mode", "full_prompt"); mode {
	case "full_prompt":
	case "destination_missing":
		t.MissingOnly = true
	default:
		e.bad("kv_transfer_timing_mode", mode, "full_prompt or destination_missing")
	}
	return t
}

// readEngine reads the dictionary that describes a worker. It also returns the
// router queue order that the dictionary may name.
func readEngine(args, tables map[string]any, role string) (sim.Group, string, error) {
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
	readDraft(e, &p.Draft)
	readHost(e, &p.Host)
	readDisk(e, &p.Disk)
	o := models.TimingOptions{
		CapacityTokens:     int64(p.NumGPUBlocks) * int64(p.BlockSize),
		SpeedupRatio:       e.float("speedup_ratio", 1),
		DecodeSpeedupRatio: e.float("decode_speedup_ratio", 1),
	}
	if r := e.text("worker_type", role); r != role {
		e.bad("worker_type", r, role)
	}
	g.Transfer = readTransfer(e)
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
	e.only("prefill_schedule_interval", 1.0, "prefill intervals of data-parallel ranks")
	e.only("prefill_decode_interval", 0.0, "SGLang scheduling")
	trt := newDict("extra_engine_args.engine.trtllm", e.object("trtllm"))
	trt.only("capacity_scheduler_policy", "guaranteed_no_evict", "TensorRT-LLM scheduling")
	e.pass(trt.done())
	e.only("state_cache", nil, "recurrent-state caches")
	e.only("prefix_match_unit", nil, "cache groups")
	e.only("kv_cache_groups", nil, "cache groups")
	e.only("kv_cache_capacity_bytes", nil, "KV capacity from memory")
	// Events only count live.
	e.inert("emit_kv_events", "emit_kv_token_ids")
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
