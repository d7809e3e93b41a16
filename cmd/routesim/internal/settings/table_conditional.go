package settings

import (
	"math"

	"routesim/sim/router"
)

// conditionalRows let requests bypass the prefill stage of disaggregated
// serving.
func conditionalRows() []Setting {
	const env = "DYN_ROUTER_CONDITIONAL_DISAGG"
	rows := []Setting{
		{
			Name: "router-conditional-disagg", Field: "conditional_disagg_enabled", LiveOnly: true, Env: []string{env}, Default: "false", Kind: Bool{},
			Help: "Let the requests that --conditional-disagg-policy names bypass the prefill workers: a decode worker computes their prompts too. Needs router-mode kv and KV events. Modelled by Dynamo's rules, not checked against it.",
			Ref:  func(r *Run) any { return &r.Conditional },
		}, {
			Name: "router-conditional-disagg-config", Env: []string{env + "_CONFIG"}, Default: None,
			Kind: Word{What: "a JSON object", Hint: "JSON", Optional: true, Check: validObject},
			Help: "The five settings below as one object, with the keys policy, eff_isl_threshold, eff_isl_ratio_threshold, prefill_busy_threshold and decode_busy_threshold.",
			Ref:  func(r *Run) any { return &r.ConditionalConfig },
		}, {
			Name: "conditional-disagg-policy", EnvOnly: true, Env: []string{env + "_POLICY"}, Default: "isl_bounding", Kind: Choice{Words: router.BypassRules()},
			Help: "Which requests bypass the prefill workers: those with few uncached tokens, those whose prefill worker is busy, or both.",
			Ref:  func(r *Run) any { return &r.Bypass.Rule },
		}, {
			Name: "conditional-disagg-eff-isl-threshold", EnvOnly: true, Env: []string{env + "_EFF_ISL_THRESHOLD"}, Default: "2048", Unit: "tokens", Kind: Int{Max: math.MaxInt64},
			Help: "isl_bounding: fewer prompt tokens than this are not cached on the decode worker.",
			Ref:  func(r *Run) any { return &r.Bypass.ISLThreshold },
		}, {
			Name: "conditional-disagg-eff-isl-ratio-threshold", EnvOnly: true, Env: []string{env + "_EFF_ISL_RATIO_THRESHOLD"}, Default: "0.7", Kind: fraction,
			Help: "isl_bounding: and they are less than this share of the prompt.",
			Ref:  func(r *Run) any { return &r.Bypass.ISLRatioThreshold },
		}, {
			Name: "conditional-disagg-prefill-busy-threshold", EnvOnly: true, Env: []string{env + "_PREFILL_BUSY_THRESHOLD"}, Default: None, Kind: nonNegative.optional(),
			Help: "prefill_load: a prefill worker is busy above this fraction of --max-num-batched-tokens. none: that of --router-queue-threshold.",
			Ref:  func(r *Run) any { return &r.Bypass.PrefillBusyThreshold },
		}, {
			Name: "conditional-disagg-decode-busy-threshold", EnvOnly: true, Env: []string{env + "_DECODE_BUSY_THRESHOLD"}, Default: None, Kind: nonNegative.optional(),
			Help: "A decode worker takes no request that bypasses if its active blocks would exceed this fraction of its pool. none: it always may.",
			Ref:  func(r *Run) any { return &r.Bypass.DecodeBusyThreshold },
		},
	}
	for i := range rows {
		rows[i].Group = Pools
	}
	return rows
}
