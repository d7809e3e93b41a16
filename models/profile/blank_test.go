package profile

import (
	"math"
	"strings"
	"testing"
)

// A blank worker has the KV cache of the shipped profile of the same name.
func TestBlankAgreesWithShippedProfiles(t *testing.T) {
	all, err := All()
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, want := range all {
		if want.Engine != VLLM {
			continue
		}
		p, err := Blank(Worker{GPU: want.GPU, Engine: want.Engine, Model: want.Model, TP: want.TP, WeightDType: want.WeightDType, KVDType: want.KVDType})
		if err != nil {
			t.Errorf("%s: %v", want.ID, err)
			continue
		}
		compared++
		if p.ID != want.ID || p.KVBytesPerToken != want.KVBytesPerToken || p.KVBytesPerTokenPerGPU != want.KVBytesPerTokenPerGPU || p.ContextTokens != want.ContextTokens {
			t.Errorf("%s: found %s with %d and %d bytes, %d tokens; expected %d, %d, %d", want.ID, p.ID, p.KVBytesPerToken, p.KVBytesPerTokenPerGPU, p.ContextTokens,
				want.KVBytesPerToken, want.KVBytesPerTokenPerGPU, want.ContextTokens)
		}
		// What the tensor-parallel ranks of a mixture of experts hold twice is
		// not part of the formula.
		bound := 0.002
		if strings.HasPrefix(want.Model, "deepseek") {
			bound = 0.01
		}
		if d := math.Abs(float64(p.KVCapacityTokens)/float64(want.KVCapacityTokens) - 1); d > bound {
			t.Errorf("%s: found %d KV tokens, expected %d", want.ID, p.KVCapacityTokens, want.KVCapacityTokens)
		}
	}
	if compared < 200 {
		t.Errorf("compared %d profiles", compared)
	}
}

func TestBlankNeedsWhatItDoesNotKnow(t *testing.T) {
	for _, c := range []struct {
		w    Worker
		want string
	}{
		{Worker{GPU: "h100", Model: "my-model"}, "found no facts about it, expected --kv-bytes-per-token and --max-model-len"},
		{Worker{GPU: "mi300x", Model: "qwen3-8b"}, "expected --kv-capacity-tokens"},
		{Worker{GPU: "h100", Engine: "sglang", Model: "qwen3-8b"}, "expected --kv-capacity-tokens"},
		{Worker{GPU: "h100", Model: "llama-3.1-70b"}, "found room for 0 KV tokens"},
		{Worker{Model: "qwen3-8b"}, "gpu: found \"\""},
		{Worker{GPU: "h100", Engine: "tgi", Model: "qwen3-8b"}, "engine: found \"tgi\""},
	} {
		if _, err := Blank(c.w); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: found %v, expected %q in it", c.w, err, c.want)
		}
	}
	p, err := Blank(Worker{GPU: "mi300x", Model: "my-model", TP: 2, KVBytesPerToken: 1001, KVCapacityTokens: 5000, MaxModelLen: 4096})
	if err != nil || p.ID != "mi300x/vllm/my-model/tp2/bf16/kv-bf16" || p.KVBytesPerTokenPerGPU != 501 || p.ContextTokens != 4096 {
		t.Errorf("found %+v, %v", p, err)
	}
}
