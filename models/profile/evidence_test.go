package profile

import (
	"slices"
	"strings"
	"testing"
)

func TestEvidenceSaysWhatTheRunsWere(t *testing.T) {
	const h100Llama = "llama-3.1-70b fp8 tp2/4/8"
	for name, want := range map[string]struct {
		runs   string
		unlike []string
	}{
		"h100/llama-3.1-70b/tp4":                {h100Llama + ", none in bf16, prompts up to 8,192 tokens, at most 64 in flight", []string{"weight_dtype"}},
		"h100/llama-3.1-70b/tp4/fp8":            {h100Llama + ", prompts up to 8,192 tokens, at most 64 in flight", nil},
		"h100/llama-3.1-70b/tp4/fp8/kv-fp8":     {h100Llama + ", none with a KV cache in fp8, prompts up to 8,192 tokens, at most 64 in flight", []string{"kv_dtype"}},
		"h100/qwen3-32b/tp1":                    {"qwen3-32b bf16 tp2/4/8, none at tp1, prompts up to 4,096 tokens, at most 128 in flight", []string{"tp"}},
		"h200/qwen3-32b/tp2":                    {"another model, llama-3.1-70b fp8 tp1/2/4/8", []string{"model"}},
		"h100/qwen3-8b/tp1":                     {"other models, qwen3-32b bf16 tp2/4/8 and llama-3.1-70b fp8 tp2/4/8", []string{"model"}},
		"h100/trtllm/llama-3.1-8b/tp1/fp8":      {"llama-3.1-8b bf16 and qwen3-32b fp8, none of this model in fp8", []string{"weight_dtype"}},
		"h200/sglang/deepseek-v3-ep8/tp8/fp8":   {"deepseek-v3 fp8 tp8, none as deepseek-v3-ep8", []string{"layout"}},
		"l40s/llama-3.1-8b/tp1":                 {"other models, qwen3-32b bf16 tp2/4/8 and llama-3.1-70b fp8 tp2/4/8", []string{"gpu", "model"}},
		"a100/llama-3.1-70b/tp4":                {"", nil},
		"h100/llama-3.1-70b/tp2/fp8/kv-bf16":    {h100Llama + ", prompts up to 8,192 tokens, at most 64 in flight", nil},
		"h200/llama-3.1-70b/tp2/bf16/kv-bf16":   {"llama-3.1-70b fp8 tp1/2/4/8, none in bf16", []string{"weight_dtype"}},
		"h100/sglang/qwen3-32b/tp1/fp8/kv-bf16": {"qwen3-32b bf16 tp2/4/8, none in fp8 or at tp1", []string{"weight_dtype", "tp"}},
	} {
		p := lookup(t, name)
		got := p.Evidence()
		if got.Runs != want.runs || !slices.Equal(got.Unlike, want.unlike) {
			t.Errorf("%s (%s): got %q %v, want %q %v", name, p.ID, got.Runs, got.Unlike, want.runs, want.unlike)
		}
		if borrowed := slices.Contains(want.unlike, "gpu") || slices.Contains(want.unlike, "model"); got.Borrowed() != borrowed {
			t.Errorf("%s: borrowed %v", name, got.Borrowed())
		}
	}
}

// TestRunsBehindEveryError: no calibration states an error without its runs,
// and its basis in words names the same models, arithmetic and GPUs; grade A is
// of runs on the profile's own GPU and engine.
func TestRunsBehindEveryError(t *testing.T) {
	all, err := Calibrations()
	if err != nil {
		t.Fatal(err)
	}
	for id, c := range all {
		if (c.HeldOut != nil) != (len(c.Runs) > 0) {
			t.Errorf("%s: error %v over runs %v", id, c.HeldOut, c.Runs)
		}
		basis := strings.ReplaceAll(strings.ToLower(c.Basis), "deepseek-r1", "deepseek-v3")
		for _, g := range c.Runs {
			if text := strings.ToLower(g.text()); !strings.Contains(basis, text) {
				t.Errorf("%s: runs of %q, basis %q", id, text, c.Basis)
			}
		}
	}
	for _, p := range shipped(t) {
		if p.Grade == "A" && (p.OtherGPU() || p.Calibration.HeldOut == nil) {
			t.Errorf("%s: grade A without runs of its GPU and engine", p.ID)
		}
	}
}
