package settings

import (
	"strings"
	"testing"

	"routesim/sim"
	"routesim/sim/engine"
	"routesim/sim/router"
	"routesim/sim/router/policy"
)

// pools resolves flags and works out both pools.
func pools(t *testing.T, args ...string) (fleet, prefill []Modelled) {
	t.Helper()
	r := mustResolve(t, Input{}, args...)
	var err error
	if fleet, err = r.Run.Fleet(); err != nil {
		t.Fatal(err)
	}
	if prefill, err = r.Run.PrefillFleet(); err != nil {
		t.Fatal(err)
	}
	return fleet, prefill
}

func TestEngineTypeDecidesTheBlockSize(t *testing.T) {
	for name, want := range map[string]int32{"vllm": 64, "trtllm": 32, "sglang": 1} {
		fleet, _ := pools(t, "--timing=dynamo-polynomial", "--engine-type="+name)
		if e := fleet[0].Engine; e.Backend.String() != name || e.BlockSize != want {
			t.Errorf("%s: %+v, expected blocks of %d tokens", name, e, want)
		}
	}
	fleet, _ := pools(t, "--timing=dynamo-polynomial", "--backend=sglang", "--block-size=16", "--schedule-policy=lpm", "--dp-size=2")
	if e := fleet[0].Engine; e.BlockSize != 16 || !e.SGLang.LPM || e.DPSize != 2 {
		t.Errorf("%+v", e)
	}
	fleet, _ = pools(t, "--profile=h100/sglang/llama-3.1-70b/tp4", "--engine-type=sglang")
	if e := fleet[0].Engine; fleet[0].Profile == nil || e.Backend != engine.SGLang || e.NumGPUBlocks < 100_000 {
		t.Errorf("a pool of %d pages of one token", e.NumGPUBlocks)
	}
}

func TestPoolsHaveSettingsOfTheirOwn(t *testing.T) {
	fleet, prefill := pools(t, "--timing=dynamo-polynomial", "--max-num-seqs=9",
		"--prefill-workers=2@kv_transfer_bandwidth=25,1@num_gpu_blocks=77", "--decode-workers=3@max_num_seqs=5",
		"--kv-transfer-bandwidth=50", "--kv-transfer-bytes-per-token=1024",
		`--decode-engine-args={"engine": {"worker_type": "decode", "block_size": 16, "num_gpu_blocks": 99, "timing_model": {"type": "fixed", "prefill_ms": 1, "decode_ms": 2}}}`)
	if len(fleet) != 1 || fleet[0].Count != 3 || fleet[0].Engine.MaxNumSeqs != 5 || fleet[0].Engine.NumGPUBlocks != 99 || fleet[0].Engine.BlockSize != 16 {
		t.Errorf("decode pool %+v", fleet)
	}
	if len(prefill) != 2 || prefill[0].Count != 2 || prefill[1].Engine.NumGPUBlocks != 77 || prefill[0].Engine.MaxNumSeqs != 9 || prefill[0].Engine.BlockSize != 16 {
		t.Errorf("prefill pool %+v", prefill)
	}
	if a, b := prefill[0].Transfer, prefill[1].Transfer; a != (sim.Transfer{GBPerSecond: 25, BytesPerToken: 1024}) || b != (sim.Transfer{GBPerSecond: 50, BytesPerToken: 1024}) {
		t.Errorf("transfers %+v and %+v", a, b)
	}
	// In the spellings of Dynamo's replay.
	fleet, prefill = pools(t, "--timing=dynamo-polynomial", "--num-prefill-workers=4", `--prefill-engine-args={"engine": {"worker_type": "prefill"}}`, `--decode-engine-args={"engine": {"worker_type": "decode"}}`)
	if fleet[0].Count != 1 || prefill[0].Count != 4 {
		t.Errorf("%d decode and %d prefill workers, expected 1 and 4", fleet[0].Count, prefill[0].Count)
	}
}

func TestPoolErrors(t *testing.T) {
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"with workers":  {[]string{"--workers=4", "--prefill-workers=2"}, "workers: found together with workers or engine arguments"},
		"other role":    {[]string{`--prefill-engine-args={"engine": {"worker_type": "decode"}}`}, "--prefill-engine-args: engine.worker_type: found decode, expected prefill"},
		"other blocks":  {[]string{"--block-size=32", `--decode-engine-args={"engine": {"block_size": 16}}`}, "expected 32 as the flag --block-size says: both pools share it"},
		"two engines":   {[]string{`--prefill-engine-args={"engine": {"backend": "sglang"}}`, `--decode-engine-args={"engine": {"backend": "trtllm"}}`}, "both pools share it"},
		"unknown key":   {[]string{`--decode-engine-args={"engine": {"max_num_sequences": 16}}`}, "did you mean engine.max_num_seqs?"},
		"not a number":  {[]string{`--decode-engine-args={"engine": {"max_num_seqs": "many"}}`}, "engine.max_num_seqs: found many, expected"},
		"not modelled":  {[]string{`--decode-engine-args={"engine": {"state_cache": {"x": 1}}}`}, "does not model"},
		"no workers":    {[]string{"--decode-workers=0"}, "decode-workers"},
		"broken object": {[]string{"--decode-engine-args={"}, "--decode-engine-args"},
	} {
		_, err := resolveWith(t, Input{}, append([]string{"--timing=dynamo-polynomial"}, c.args...)...)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, expected one with %q", name, err, c.want)
		}
	}
}

// TestPoliciesOfStages: each stage takes its own flag, else the override, else
// what the file selects for it, and nothing from another stage.
func TestPoliciesOfStages(t *testing.T) {
	file := writeFile(t, "p.yaml", `
worker_selection:
  aggregated: a
  prefill: p
  instances:
    - {name: a, type: multiplicative}
    - {name: p, type: prefix-affinity}
    - {name: d, type: dynamo-two-tier-cost-fn}
`)
	name := func(p *policy.Policy) string {
		if p == nil {
			return policy.Default
		}
		return p.Name
	}
	for _, c := range []struct {
		args                        []string
		aggregated, prefill, decode string
	}{
		{nil, "multiplicative", "default", "default"},
		{[]string{"--prefill-workers=2"}, "default", "prefix-affinity", "default"},
		{[]string{"--prefill-workers=2", "--router-decode-policy=d"}, "default", "prefix-affinity", "dynamo-two-tier-cost-fn"},
		{[]string{"--prefill-workers=2", "--worker-selection-policy=d"}, "default", "dynamo-two-tier-cost-fn", "dynamo-two-tier-cost-fn"},
		{[]string{"--prefill-workers=2", "--worker-selection-policy=d", "--router-prefill-policy=default"}, "default", "default", "dynamo-two-tier-cost-fn"},
		{[]string{"--decode-workers=2", "--worker-selection-policy=default"}, "default", "default", "default"},
	} {
		r := mustResolve(t, Input{}, append([]string{"--timing=dynamo-polynomial", "--router-policy-config=" + file}, c.args...)...)
		l := &r.Run.Live
		if name(l.Policy) != c.aggregated || name(l.PrefillPolicy) != c.prefill || name(l.DecodePolicy) != c.decode {
			t.Errorf("%v: found %s, %s and %s, expected %s, %s and %s", c.args, name(l.Policy), name(l.PrefillPolicy), name(l.DecodePolicy), c.aggregated, c.prefill, c.decode)
		}
		if live := l.Policy != nil || l.PrefillPolicy != nil || l.DecodePolicy != nil; live != (r.Run.Router.Live != nil) {
			t.Errorf("%v: the router is live: %v", c.args, !live)
		}
	}
	_, err := resolveWith(t, Input{}, "--prefill-workers=2", "--router-policy-config="+file, "--router-prefill-policy=x")
	if err == nil || !strings.Contains(err.Error(), "found x, expected one of the configured instances default, a, p, d") {
		t.Errorf("found %v", err)
	}
	wantWarning(t, mustResolve(t, Input{}, "--prefill-workers=2", "--router-policy-config="+file, "--router-decode-policy=p"), "policy prefix-affinity of the decode stage sees no cached blocks")
}

// TestSelectionOfOtherStages: what a policy file selects for stages that the run
// has not is named, unless it selects for one of the run's too.
func TestSelectionOfOtherStages(t *testing.T) {
	const aggregated, pools = "--workers=2", "--prefill-workers=2"
	for _, c := range []struct{ stages, fleet, want string }{
		{"prefill: a", aggregated, "p.yaml:3 has no effect: there is no prefill stage in aggregated serving"},
		{"encode: a", aggregated, "worker_selection.encode of "},
		{"aggregated: a", pools, "with prefill-workers there is no aggregated stage"},
		{"encode: a", pools, "with prefill-workers there is no encode stage"},
		{"prefill: a\n  aggregated: a", aggregated, ""},
		{"prefill: a\n  aggregated: a", pools, ""},
	} {
		file := writeFile(t, "p.yaml", "\nworker_selection:\n  "+c.stages+"\n  instances: [{name: a, type: multiplicative}]\n")
		r := mustResolve(t, Input{}, "--timing=dynamo-polynomial", "--router-policy-config="+file, c.fleet)
		if c.want != "" {
			wantWarning(t, r, c.want)
		} else if len(r.Warnings) > 0 {
			t.Errorf("%s with %s: warnings %q, expected none", c.stages, c.fleet, r.Warnings)
		}
	}
}

// TestConditionalObject: the object's keys count as settings given where the
// object is; a setting of its own wins from a stronger source.
func TestConditionalObject(t *testing.T) {
	const on = "--router-conditional-disagg"
	r := mustResolve(t, Input{Environ: []string{"DYN_ROUTER_CONDITIONAL_DISAGG_EFF_ISL_THRESHOLD=5", "DYN_ROUTER_CONDITIONAL_DISAGG_DECODE_BUSY_THRESHOLD=0.5"}},
		"--prefill-workers=2", on, `--router-conditional-disagg-config={"policy": "isl_or_load", "eff_isl_threshold": 9, "prefill_busy_threshold": 0.25}`)
	c := r.Run.Router.Live.Conditional
	if c == nil || c.Rule != router.ISLOrLoad || c.ISLThreshold != 9 || c.ISLRatioThreshold != 0.7 || *c.PrefillBusyThreshold != 0.25 || *c.DecodeBusyThreshold != 0.5 {
		t.Errorf("found %+v", c)
	}
	wantWarning(t, r, "conditional-disagg-eff-isl-threshold: 5 of the environment DYN_ROUTER_CONDITIONAL_DISAGG_EFF_ISL_THRESHOLD has no effect")
	r = mustResolve(t, Input{Environ: []string{"DYN_ROUTER_CONDITIONAL_DISAGG=1", `DYN_ROUTER_CONDITIONAL_DISAGG_CONFIG={"eff_isl_threshold": 9, "decode_busy_threshold": null}`}},
		"--decode-workers=2", "--conditional-disagg-eff-isl-threshold=7")
	if c := r.Run.Router.Live.Conditional; c == nil || c.ISLThreshold != 7 || c.DecodeBusyThreshold != nil {
		t.Errorf("found %+v", c)
	}
	wantWarning(t, r, "conditional-disagg-eff-isl-threshold: 9 of the environment DYN_ROUTER_CONDITIONAL_DISAGG_CONFIG eff_isl_threshold has no effect")
	for object, want := range map[string]string{
		`{"eff_isl_treshold": 1}`:                          "found the unknown key eff_isl_treshold (did you mean eff_isl_threshold?)",
		`{"eff_isl_threshold": "1"}`:                       `found "1" of eff_isl_threshold, expected a whole number from 0`,
		`{"eff_isl_threshold": 1.5}`:                       "found 1.5 of eff_isl_threshold",
		`{"eff_isl_ratio_threshold": 1.1}`:                 "found 1.1 of eff_isl_ratio_threshold, expected a number from 0 to 1",
		`{"policy": "never"}`:                              "expected isl_bounding, prefill_load or isl_or_load",
		`{"policy": 1}`:                                    "found 1 of policy",
		`{"eff_isl_threshold": 1, "eff_isl_threshold": 2}`: "found the key eff_isl_threshold again, expected each key once",
		`{"prefill_busy_threshold": true}`:                 "found true of prefill_busy_threshold",
		`[1]`:                                              "expected a JSON object",
	} {
		_, err := resolveWith(t, Input{}, "--prefill-workers=2", on, "--router-conditional-disagg-config="+object)
		if err == nil || !strings.HasPrefix(err.Error(), "--router-conditional-disagg-config: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: found %v, expected %s", object, err, want)
		}
	}
	_, err := resolveWith(t, Input{}, "--prefill-workers=2", "--router-conditional-disagg-config={}")
	if err == nil || !strings.Contains(err.Error(), "expected it only together with --router-conditional-disagg") {
		t.Errorf("found %v", err)
	}
}

// TestIdleConditionalSettings names what cannot change a run.
func TestIdleConditionalSettings(t *testing.T) {
	const on = "--router-conditional-disagg"
	pools := []string{"--prefill-workers=2", on}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{on}, "router-conditional-disagg has no effect: there is no prefill stage"},
		{append(pools, "--router-mode=random"), "it needs router-mode kv and router-kv-events"},
		{append(pools, "--no-router-kv-events"), "it needs router-mode kv and router-kv-events"},
		{[]string{"--prefill-workers=2", "--conditional-disagg-eff-isl-threshold=5"}, "conditional-disagg-eff-isl-threshold has no effect: it needs router-conditional-disagg"},
		{append(pools, "--conditional-disagg-prefill-busy-threshold=0.5"), "isl_bounding does not look at load"},
		{append(pools, "--conditional-disagg-policy=prefill_load", "--router-queue-threshold=1", "--conditional-disagg-eff-isl-threshold=5"), "prefill_load does not look at lengths"},
		{[]string{"--prefill-workers=2", on, "--decode-workers=1,2@worker_kv_events=false"}, "2 of 3 decode workers publish no KV events"},
	} {
		wantWarning(t, mustResolve(t, Input{}, append([]string{"--timing=dynamo-polynomial"}, c.args...)...), c.want)
	}
	if r := mustResolve(t, Input{}, append(pools, "--timing=dynamo-polynomial")...); len(r.Warnings) > 0 {
		t.Errorf("warnings %q, expected none", r.Warnings)
	}
}

// TestHalfARateIsNamed: a transfer takes time where bandwidth and bytes per token
// are both known for the group of prefill workers; either alone is named.
func TestHalfARateIsNamed(t *testing.T) {
	const rate, size = "kv-transfer-bandwidth has no effect", "kv-transfer-bytes-per-token has no effect"
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--prefill-workers=2", "--kv-transfer-bandwidth=25"}, rate},
		{[]string{"--prefill-workers=2", "--kv-transfer-bytes-per-token=1024"}, size},
		{[]string{"--prefill-workers=1,1@kv_transfer_bandwidth=25"}, rate},
		{[]string{`--prefill-engine-args={"engine": {"kv_bytes_per_token": 1024}}`}, size},
		{[]string{"--prefill-workers=2", "--kv-transfer-bandwidth=25", "--kv-transfer-bytes-per-token=1024"}, ""},
		{[]string{"--prefill-workers=2@kv_transfer_bandwidth=25", "--kv-transfer-bytes-per-token=1024"}, ""},
		{[]string{"--prefill-workers=2"}, ""},
		{[]string{"--prefill-workers=1@kv_transfer_bandwidth=0.01,1", "--kv-transfer-bytes-per-token=20000"}, ""},
		{[]string{"--prefill-workers=1@kv_transfer_bytes_per_token=20000,1", "--kv-transfer-bandwidth=25"}, ""},
		{[]string{"--prefill-workers=1@kv_transfer_bytes_per_token=20000@kv_transfer_bandwidth=25,1@kv_transfer_bytes_per_token=7"}, size},
		{[]string{"--prefill-workers=1@kv_transfer_bytes_per_token=20000@kv_transfer_bandwidth=25,1@kv_transfer_bandwidth=7"}, rate},
	} {
		r := mustResolve(t, Input{}, append([]string{"--timing=dynamo-polynomial"}, c.args...)...)
		text := strings.Join(r.Warnings, "\n")
		for _, w := range []string{rate, size} {
			if strings.Contains(text, w) != (w == c.want) {
				t.Errorf("%v: warnings %q, expected %q", c.args, text, c.want)
			}
		}
	}
}

// TestTransfersOfProfiles: a worker with a profile sends the profile's bytes per
// token unless others are given.
func TestTransfersOfProfiles(t *testing.T) {
	const p = "--profile=h100/vllm/llama-3.1-70b/tp4"
	_, prefill := pools(t, p, "--prefill-workers=2", "--kv-transfer-bandwidth=25")
	want := float64(prefill[0].Profile.KVBytesPerToken)
	if got := prefill[0].Transfer; want < 1000 || got.BytesPerToken != want || got.GBPerSecond != 25 {
		t.Errorf("found %+v, expected 25 GB/s and %v bytes per token", got, want)
	}
	if r := mustResolve(t, Input{}, p, "--prefill-workers=2", "--kv-transfer-bandwidth=25"); strings.Contains(strings.Join(r.Warnings, "\n"), "kv-transfer") {
		t.Errorf("warnings %q, expected none of transfers", r.Warnings)
	}
	_, prefill = pools(t, p, "--prefill-workers=2", "--kv-transfer-bandwidth=25", "--kv-transfer-bytes-per-token=7")
	if got := prefill[0].Transfer.BytesPerToken; got != 7 {
		t.Errorf("found %v bytes per token, expected 7", got)
	}
	_, prefill = pools(t, p, "--prefill-workers=2")
	if got := prefill[0].Transfer; got != (sim.Transfer{}) {
		t.Errorf("found %+v, expected no transfer", got)
	}
}
