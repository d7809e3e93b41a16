package settings

import (
	"math"
	"slices"

	"routesim/sim/engine"
)

// rankRows are the settings of data-parallel ranks, which a group of workers may
// have of its own.
func rankRows() []Setting {
	return []Setting{{
		Name: "data-parallel-size", Aliases: []string{"dp-size"}, Group: Fleet, Default: "1", Unit: "ranks", Dict: "dp_size",
		Kind: Int{Min: 1, Max: 65535},
		Help: "Data-parallel ranks of a worker. Each has a scheduler, a KV pool and GPUs of its own, of the size that the other settings say, and is a target of the router's; the ranks of a worker make their passes together.",
		Ref:  func(r *Run) any { return &r.Engine.DPSize },
	}}
}

// sglangRows are the settings that only SGLang's scheduler has.
func sglangRows() []Setting {
	return []Setting{
		{
			Name: "schedule-policy", Group: Fleet, Default: "fifo", Dict: "engine.sglang.schedule_policy",
			Kind: Choice{Words: []string{"fifo", "lpm"}, Also: map[string]string{"fcfs": "fifo"}},
			Help: "SGLang: order of the queue, first come or longest prefix match.",
			Ref:  func(r *Run) any { return &r.Engine.SGLang.LPM },
		}, {
			Name: "max-prefill-tokens", Group: Fleet, Default: "16384", Unit: "tokens", Dict: "engine.sglang.max_prefill_tokens", Kind: tokens,
			Help: "SGLang: new tokens of one prefill pass.",
			Ref:  func(r *Run) any { return &r.Engine.SGLang.MaxPrefillTokens },
		}, {
			Name: "chunked-prefill-size", Group: Fleet, Default: "8192", Unit: "tokens", Dict: "engine.sglang.chunked_prefill_size", Kind: tokens,
			Help: "SGLang: tokens of one prefill pass, a multiple of the block size; longer prompts are cut. The ranks of a worker share it.",
			Ref:  func(r *Run) any { return &r.Engine.SGLang.ChunkedPrefillSize },
		}, {
			Name: "clip-max-new-tokens", Group: Fleet, Default: "4096", Unit: "tokens", Dict: "engine.sglang.clip_max_new_tokens", Kind: tokens,
			Help: "SGLang: tokens of an output that admission sets aside at most.",
			Ref:  func(r *Run) any { return &r.Engine.SGLang.ClipMaxNewTokens },
		}, {
			Name: "schedule-conservativeness", Group: Fleet, Default: "1", Dict: "engine.sglang.schedule_conservativeness", Kind: nonNegative,
			Help: "SGLang: scales the share of running requests' outputs that admission sets aside.",
			Ref:  func(r *Run) any { return &r.Engine.SGLang.ScheduleConservativeness },
		},
	}
}

// draftRows are the settings of speculative decoding.
func draftRows() []Setting {
	return []Setting{
		{
			Name: "aic-nextn", Group: Fleet, Default: None, Unit: "tokens", Dict: "engine.aic_nextn", Kind: tokens.orNone(0),
			Help: "Speculative decoding (vllm): tokens, at most 5, that a request drafts ahead in every pass.",
			Ref:  func(r *Run) any { return &r.Engine.Draft.Tokens },
		}, {
			Name: "aic-nextn-accept-rates", Group: Fleet, Default: "0.85,0.3", Dict: "engine.aic_nextn_accept_rates",
			Kind: Word{What: "up to 5 numbers from 0 to 1, separated by commas", Hint: "X,X,...", Check: validRates},
			Help: "Chances that the first, the second and so on of the drafts is accepted, given the ones before; 0 for those that are not named.",
			Ref:  func(r *Run) any { return &r.AcceptRates },
		}, {
			Name: "aic-mtp-seed", Group: Fleet, Default: "42", Dict: "engine.aic_mtp_seed", Kind: Int{Max: math.MaxInt64},
			Help: "Seed of the draws that decide which drafts are accepted.",
			Ref:  func(r *Run) any { return &r.Engine.Draft.Seed },
		},
	}
}

// warnEngine names settings of workers that were given for them, or by a group of
// them, and that the engine of none has a use for.
func (r *resolution) warnEngine() {
	if r.Run.Engine.Backend != engine.SGLang {
		for _, s := range sglangRows() {
			if r.typed(s.Name) {
				r.Warn("%s has no effect without engine-type sglang: no other scheduler has it", s.Name)
			}
		}
	}
	drafts := func(own *Run) bool { return own.Engine.Draft.Tokens > 0 }
	if rows := draftRows(); !slices.ContainsFunc(r.Run.perGroup(), drafts) {
		for _, s := range rows[1:] {
			if r.typed(s.Name) {
				r.Warn("%s has no effect without %s: no worker drafts", s.Name, rows[0].Name)
			}
		}
	}
}

// typed reports whether a setting of workers was given on the command line or by
// a group of them.
func (r *resolution) typed(name string) bool {
	return r.OnCommandLine(name) || slices.ContainsFunc(r.Run.allGroups(), func(g WorkerGroup) bool { return g.sets(name) })
}

func validRates(text string) error {
	_, err := engine.ParseAcceptRates(text)
	return err
}

// transferRows are the settings of KV transfers between pools, which a group of
// workers may have of its own.
func transferRows() []Setting {
	return []Setting{
		{
			Name: "kv-transfer-bandwidth", Group: Pools, Default: None, Unit: "GB/s", Dict: "engine.kv_transfer_bandwidth", Kind: positive.optional(),
			Help: "Rate (10^9 bytes per second) at which a prefill worker sends a prompt's KV to a decode worker; needs --kv-transfer-bytes-per-token or a profile. none: in no time.",
			Ref:  func(r *Run) any { return &r.TransferGBPerSecond },
		}, {
			Name: "kv-transfer-bytes-per-token", Aliases: []string{"kv-bytes-per-token"}, Group: Pools, Default: None, Unit: "bytes",
			Dict: "engine.kv_transfer_bytes_per_token", Kind: kvBytes.optional(),
			Help: "Bytes of KV per token that are sent; needs --kv-transfer-bandwidth. none: those of the worker's profile; without one nothing, in no time.",
			Ref:  func(r *Run) any { return &r.TransferBytesPerToken },
		}, {
			Name: "kv-transfer-timing-mode", Group: Pools, Default: "full_prompt", Dict: "engine.kv_transfer_timing_mode",
			Kind: Choice{Words: []string{"full_prompt", "destination_missing"}},
			Help: "What is sent: the whole prompt, or only the blocks that the decode worker lacks.",
			Ref:  func(r *Run) any { return &r.TransferMissing },
		},
	}
}

// domainRows say which decode workers may take over KV, the same for all prefill
// workers.
func domainRows() []Setting {
	return []Setting{
		{
			Name: "kv-transfer-domain", Group: Pools, EnvOnly: true, LiveOnly: true, Env: []string{"DYN_KV_TRANSFER_DOMAIN"}, Default: None,
			Kind: Word{What: "the name of a topology domain, without spaces, =, +, comma and @", Hint: "NAME", Optional: true, Check: validDomain},
			Help: "Topology domain of which prefill and decode worker of a request should have the same value, such as zone. Workers tell theirs by a taint dynamo.topology/NAME=VALUE (--taints). For vllm and trtllm in router mode kv.",
			Ref:  func(r *Run) any { return &r.TransferDomain },
		}, {
			Name: "kv-transfer-enforcement", Group: Pools, EnvOnly: true, Env: []string{"DYN_KV_TRANSFER_ENFORCEMENT"}, Default: "required",
			Kind: Choice{Words: []string{"required", "preferred"}},
			Help: "Whether the decode worker must have the value of --kv-transfer-domain, or had better.",
			Ref:  func(r *Run) any { return &r.TransferPreferred },
		}, {
			Name: "kv-transfer-preferred-weight", Group: Pools, EnvOnly: true, Env: []string{"DYN_KV_TRANSFER_PREFERRED_WEIGHT"}, Default: None, Kind: fraction.optional(),
			Help: "What that is worth to a request, as the weight of a preferred taint; needed with --kv-transfer-enforcement preferred.",
			Ref:  func(r *Run) any { return &r.TransferWeight },
		},
	}
}

// disaggRows are the settings of prefill and decode pools.
func disaggRows() []Setting {
	args := Word{What: "a JSON object or the path of a JSON file", Hint: "JSON", Optional: true}
	return []Setting{
		{
			Name: "prefill-workers", Aliases: []string{"num-prefill-workers"}, Group: Pools, Default: None, Kind: FleetKind{Optional: true},
			Help: "Disaggregated serving: the workers that compute prompts, written as --workers is. Excludes --workers; without --decode-workers there is one of those.",
			Ref:  func(r *Run) any { return &r.PrefillWorkers },
		}, {
			Name: "decode-workers", Aliases: []string{"num-decode-workers"}, Group: Pools, Default: None, Kind: FleetKind{Optional: true},
			Help: "Disaggregated serving: the workers that take computed prompts over and generate. Without --prefill-workers there is one of those.",
			Ref:  func(r *Run) any { return &r.DecodeWorkers },
		}, {
			Name: "prefill-engine-args", Group: Pools, Default: None, Kind: args,
			Help: "Engine dictionary of Dynamo's replay for the prefill workers; settings that a group has of its own win. Makes serving disaggregated.",
			Ref:  func(r *Run) any { return &r.PrefillArgs },
		}, {
			Name: "decode-engine-args", Group: Pools, Default: None, Kind: args,
			Help: "The same for the decode workers.",
			Ref:  func(r *Run) any { return &r.DecodeArgs },
		}, {
			Name: "prefill-router-args", Group: Pools, LiveOnly: true, Default: None,
			Kind: Word{What: "a JSON object of router settings", Hint: "JSON", Optional: true, Check: validObject},
			Help: "Router flags of Dynamo's prefill workers, with the names that they have here, such as {\"router-mode\": \"kv\", \"router-temperature\": 0.5}. They hold for the routers that choose among these workers in the place of the run's, as a whole: what is not named has Dynamo's default.",
			Ref:  func(r *Run) any { return &r.PrefillRouterArgs },
		},
	}
}

// engineTypeRow is the kind of engine, which all workers share.
func engineTypeRow() Setting {
	var words []string
	for _, b := range []engine.Backend{engine.VLLM, engine.TRTLLM, engine.SGLang} {
		words = append(words, b.String())
	}
	return Setting{
		Name: "engine-type", Aliases: []string{"backend"}, Group: Fleet, Default: words[0], Dict: "engine.backend", Kind: Choice{Words: words},
		Help: "Inference engine whose scheduler the workers have. It decides the default of --block-size (vllm 64, trtllm 32, sglang 1) and must be that of the profile.",
		Ref:  func(r *Run) any { return &r.Engine.Backend },
	}
}
