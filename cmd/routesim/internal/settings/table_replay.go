package settings

import (
	"math"
	"strings"

	"routesim/models"
	"routesim/sim/engine"
	"routesim/sim/router"
	"routesim/workloads"
)

// The ranges that several settings share.
var (
	nonNegative = Real{Max: math.MaxFloat64}
	positive    = Real{Max: math.MaxFloat64, Above: true}
	fraction    = Real{Max: 1}
	duration    = Real{Max: workloads.EndOfTimeMS} // in ms: no run lasts longer
	seconds     = Real{Max: router.MostSecs}       // the same in s
	kvBytes     = Real{Max: 1e9, Above: true}      // of KV per token
	tokens      = Int{Min: 1, Max: math.MaxInt32}
)

// above returns the same range without its least number.
func (k Real) above() Real { k.Above = true; return k }

// optional returns the same range with none added.
func (k Real) optional() Real { k.Optional = true; return k }

// orNone returns the same range with none added, stored as the given number.
func (k Int) orNone(is int64) Int { k.Optional, k.NoneIs = true, is; return k }

// orAuto returns the same range with auto added.
func (k Int) orAuto() Int { k.Auto = true; return k }

// traceRows are the settings of the trace.
func traceRows() []Setting {
	return []Setting{
		{
			Name: "trace-format", Group: Trace, Default: AutoFormat,
			Kind: Choice{
				Words: []string{AutoFormat, "mooncake", "mooncake-delta", "dynamo"},
				Also:  map[string]string{"mooncake_delta": "mooncake-delta"},
				Unknown: map[string]string{
					"agentic_mooncake": "agentic graphs are not modelled", "agentic-mooncake": "agentic graphs are not modelled",
					"weka": "agentic graphs are not modelled", "applied_compute_agentic": "agentic graphs are not modelled",
				},
			},
			Help: "Format of the trace. auto tells Dynamo request traces by their schema and takes everything else as mooncake; a delta trace (rows that hold only a turn's new tokens) has to be named.",
			Ref:  func(r *Run) any { return &r.TraceFormat },
		}, {
			Name: "trace-block-size", Group: Trace, Default: "512", Unit: "tokens", Kind: tokens,
			Help: "Tokens that one hash id of a Mooncake trace stands for.",
			Ref:  func(r *Run) any { return &r.TraceBlockSize },
		}, {
			Name: "arrival-spread", Group: Trace, Default: "false", Kind: Bool{},
			Help: "Spread requests that share a coarse timestamp evenly over the step to the next one.",
			Ref:  func(r *Run) any { return &r.ArrivalSpread },
		}, {
			Name: "on-error", Group: Trace, Default: "fail", Kind: Choice{Words: []string{"fail", SkipRows}},
			Help: "What to do with a malformed row: fail, or skip it and count it.",
			Ref:  func(r *Run) any { return &r.OnError },
		},
	}
}

// loadRows are the settings of the load that the trace puts on the fleet.
func loadRows() []Setting {
	return []Setting{
		{
			Name: "arrival-speedup-ratio", Group: Load, Default: "1", Kind: positive,
			Help: "Divides recorded arrivals and think times: 2 doubles the load.",
			Ref:  func(r *Run) any { return &r.ArrivalSpeedup },
		}, {
			Name: "replay-concurrency", Group: Load, Default: None, Unit: "sessions", Kind: tokens.orNone(0),
			Help: "Closed loop: keep this many sessions in flight and ignore recorded arrivals. none is the open loop.",
			Ref:  func(r *Run) any { return &r.Concurrency },
		}, {
			Name: "max-sim-time-ms", Group: Load, Default: None, Unit: "ms", Kind: nonNegative.optional(),
			Help: "Stop before the first event after this simulated time.",
			Ref:  func(r *Run) any { return &r.MaxSimTimeMS },
		}, {
			Name: "sla-ttft-ms", Group: Load, Default: None, Unit: "ms", Kind: positive.optional(),
			Help: "Goodput: the longest time to first token that counts as good.",
			Ref:  func(r *Run) any { return &r.SLATTFTMS },
		}, {
			Name: "sla-itl-ms", Group: Load, Default: None, Unit: "ms", Kind: positive.optional(),
			Help: "Goodput: the longest mean inter-token latency of a request that counts as good.",
			Ref:  func(r *Run) any { return &r.SLAITLMS },
		}, {
			Name: "sla-e2e-ms", Group: Load, Default: None, Unit: "ms", Kind: positive.optional(),
			Help: "Goodput: the longest end-to-end latency that counts as good. Excludes the other two bounds.",
			Ref:  func(r *Run) any { return &r.SLAE2EMS },
		},
	}
}

// workerRows are the settings of the fleet. Dict is the path in the oracle's
// engine dictionary.
func workerRows() []Setting {
	return []Setting{
		engineTypeRow(),
		{
			Name: "workers", Aliases: []string{"num-workers"}, Group: Fleet, Default: "8", Kind: FleetKind{},
			Help: "Number of workers, or a fleet of groups separated by commas: N, or NxPROFILE, each with settings of its engine after an @, as in 6xh100/llama-3.1-70b/tp4,2xa100/llama-3.1-70b/tp4@max_num_seqs=64. Several settings follow each other, each with its own @. Worker ids count in the order written. A group without a profile takes --profile or --timing.",
			Ref:  func(r *Run) any { return &r.Workers },
		}, {
			Name: "profile", Group: Fleet, Default: DefaultProfile,
			Kind: Word{What: "the name of a GPU profile or the path of a file FILE.yaml", Hint: "NAME|FILE.yaml", Optional: true},
			Help: "GPU profile of the workers: durations of steps, KV capacity, engine defaults (routesim profile list shows all). Excludes --timing.",
			Ref:  func(r *Run) any { return &r.Profile },
		}, {
			Name: "timing", Group: Fleet, Default: None, Dict: "engine.timing_model",
			Kind: Word{What: models.TimingForms, Hint: "MODEL", Optional: true, Check: validTiming},
			Help: "How long a forward pass takes, in place of a profile: " + models.TimingForms + ".",
			Ref:  func(r *Run) any { return &r.Timing },
		}, {
			Name: "block-size", Group: Fleet, Default: "64", Unit: "tokens", Dict: "engine.block_size",
			Kind: tokens,
			Help: "Tokens per KV block, of the engine and of the router. The default is that of vLLM; see --engine-type.",
			Ref:  func(r *Run) any { return &r.Engine.BlockSize },
		}, {
			Name: "router-block-size", Env: []string{"DYN_ROUTER_BLOCK_SIZE"}, Group: Fleet, Default: None, Unit: "tokens",
			Kind: tokens.orNone(0),
			Help: "Must equal --block-size if given: a router that hashes other blocks than the engine finds no overlap.",
			Ref:  func(r *Run) any { return &r.RouterBlockSize },
		},
	}
}

// poolRows are the settings of the workers' KV pools.
func poolRows() []Setting {
	return []Setting{
		{
			Name: "num-gpu-blocks", Group: Fleet, Default: Auto, Unit: "blocks", Dict: "engine.num_gpu_blocks", Kind: tokens.orAuto(),
			Help: "KV blocks in a worker's pool. auto: the profile's KV capacity over the block size, or 16384 with --timing.",
			Ref:  func(r *Run) any { return &r.Engine.NumGPUBlocks },
		}, {
			Name: "gpu-memory-utilization", Group: Fleet, Default: None, Dict: "gpu_memory_utilization",
			Kind: Real{Max: 1, Above: true, Optional: true},
			Help: "Share of a GPU's memory that the engine may use; the KV capacity is computed anew. none: the engine's default.",
			Ref:  func(r *Run) any { return &r.Utilization },
		},
	}
}

// engineRows are the settings of the workers' schedulers.
func engineRows() []Setting {
	return []Setting{
		{
			Name: "max-model-len", Group: Fleet, Default: Auto, Unit: "tokens", Dict: "engine.max_model_len", Kind: tokens.orNone(0).orAuto(),
			Help: "Context limit: a prompt of this length or longer is rejected. auto: the model's context length, or the KV pool if that is smaller; none with --timing.",
			Ref:  func(r *Run) any { return &r.Engine.MaxModelLen },
		}, {
			Name: "max-num-seqs", Group: Fleet, Default: Auto, Unit: "sequences", Dict: "engine.max_num_seqs",
			Kind: tokens.orNone(int64(engine.Unlimited)).orAuto(),
			Help: "Requests a worker runs at once. auto: the default of the profile's engine, or 256 with --timing.",
			Ref:  func(r *Run) any { return &r.Engine.MaxNumSeqs },
		}, {
			Name: "max-num-batched-tokens", Group: Fleet, Default: Auto, Unit: "tokens", Dict: "engine.max_num_batched_tokens",
			Kind: tokens.orNone(int64(engine.Unlimited)).orAuto(),
			Help: "Tokens a worker computes in one pass. auto: the default of the profile's engine, or 8192 with --timing.",
			Ref:  func(r *Run) any { return &r.Engine.MaxNumBatchedTokens },
		}, {
			Name: "enable-prefix-caching", Group: Fleet, Default: "true", Dict: "engine.enable_prefix_caching", Kind: Bool{},
			Help: "Reuse KV blocks of equal prefixes.",
			Ref:  func(r *Run) any { return &r.Engine.EnablePrefixCaching },
		}, {
			Name: "enable-chunked-prefill", Group: Fleet, Default: "true", Dict: "engine.enable_chunked_prefill", Kind: Bool{},
			Help: "Split prompts that exceed a pass's token budget.",
			Ref:  func(r *Run) any { return &r.Engine.EnableChunkedPrefill },
		}, {
			Name: "preemption-mode", Group: Fleet, Default: "lifo", Dict: "engine.preemption_mode", Kind: Choice{Words: []string{"lifo", "fifo"}},
			Help: "Which running request is preempted when the pool is full: the last (lifo) or the first (fifo).",
			Ref:  func(r *Run) any { return &r.Engine.Preemption },
		}, {
			Name: "speedup-ratio", Group: Fleet, Default: "1", Dict: "engine.speedup_ratio", Kind: nonNegative,
			Help: "Divides pass durations; 0 leaves them as they are.",
			Ref:  func(r *Run) any { return &r.SpeedupRatio },
		}, {
			Name: "decode-speedup-ratio", Group: Fleet, Default: "1", Dict: "engine.decode_speedup_ratio", Kind: nonNegative,
			Help: "Multiplies --speedup-ratio for decode. A profile prices a step as a whole and takes 1 only.",
			Ref:  func(r *Run) any { return &r.DecodeSpeedupRatio },
		}, {
			Name: "tensor-parallel-size", Group: Fleet, Default: Auto, Unit: "GPUs", Dict: "tensor_parallel_size",
			Kind: Int{Min: 1, Max: 65535}.orAuto(),
			Help: "GPUs per worker; only GPU hours depend on it. auto: the profile's, or 1 with --timing. A profile has a tensor parallelism of its own, which another value contradicts.",
			Ref:  func(r *Run) any { return &r.TensorParallel },
		},
	}
}

// validTiming reports whether a timing specification has one of the known
// forms. A table is not opened.
func validTiming(spec string) error {
	if path, ok := strings.CutPrefix(spec, "table:"); ok && path != "" {
		return nil // it is opened where it is needed
	}
	_, err := models.ParseTiming(spec, models.TimingOptions{CapacityTokens: 1, SpeedupRatio: 1, DecodeSpeedupRatio: 1})
	return err
}
