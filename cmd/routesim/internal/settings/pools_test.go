package settings

import (
	"strings"
	"testing"

	"routesim/sim"
	"routesim/sim/engine"
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
		"not modelled":  {[]string{`--decode-engine-args={"engine": {"g3_offload": {"x": 1}}}`}, "does not model"},
		"no workers":    {[]string{"--decode-workers=0"}, "decode-workers"},
		"broken object": {[]string{"--decode-engine-args={"}, "--decode-engine-args"},
	} {
		_, err := resolveWith(t, Input{}, append([]string{"--timing=dynamo-polynomial"}, c.args...)...)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, expected one with %q", name, err, c.want)
		}
	}
}

// TestPoolsBehindLiveRouters: the error names the setting that makes the router
// a live one, and where it and the pools come from.
func TestPoolsBehindLiveRouters(t *testing.T) {
	for name, c := range map[string]struct {
		in   Input
		args []string
		want []string
	}{
		"events":     {Input{}, []string{"--prefill-workers=2", "--no-router-kv-events"}, []string{"by prefill-workers (flag --prefill-workers)", "router-kv-events (flag --no-router-kv-events)"}},
		"mode":       {Input{}, []string{"--decode-workers=2", "--router-mode=random"}, []string{"by decode-workers (flag --decode-workers)", "router-mode (flag --router-mode)"}},
		"asked":      {Input{}, []string{"--prefill-workers=2", "--router-semantics=live"}, []string{"router-semantics live (flag --router-semantics)"}},
		"frontends":  {Input{}, []string{"--prefill-workers=2", "--frontends=2"}, []string{"frontends", "flag --frontends"}},
		"faults":     {Input{}, []string{"--prefill-workers=2", "--faults=drain:0@1-2"}, []string{"faults (flag --faults)"}},
		"dictionary": {Input{}, []string{`--prefill-engine-args={"engine": {"worker_type": "prefill"}}`, "--kv-event-loss=0.1"}, []string{"by prefill-engine-args (flag --prefill-engine-args)", "kv-event-loss (flag --kv-event-loss)"}},
	} {
		_, err := resolveWith(t, c.in, append([]string{"--timing=dynamo-polynomial"}, c.args...)...)
		if err == nil {
			t.Errorf("%s: no error", name)
			continue
		}
		for _, want := range append(c.want, "replay semantics only, with router-mode kv or round-robin") {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: error %v, expected %q in it", name, err, want)
			}
		}
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
