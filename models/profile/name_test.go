package profile

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"routesim/models/spelling"
)

func TestNames(t *testing.T) {
	for name, want := range map[string]string{
		"h100/vllm/llama-3.1-70b/tp4":                "h100_sxm/vllm/llama-3.1-70b/tp4/bf16/kv-bf16",
		"h100/llama-3.1-70b/tp4":                     "h100_sxm/vllm/llama-3.1-70b/tp4/bf16/kv-bf16",
		"h100_sxm/vllm/llama-3.1-70b/tp4/fp8/kv-fp8": "h100_sxm/vllm/llama-3.1-70b/tp4/fp8/kv-fp8",
		"h100/llama-3.1-70b/fp8/tp4":                 "h100_sxm/vllm/llama-3.1-70b/tp4/fp8/kv-bf16",
		"h100/trtllm/llama-3.1-70b/tp8":              "h100_sxm/trtllm/llama-3.1-70b/tp8/bf16/kv-bf16",
		"h100/TensorRT-LLM/llama-3.1-70b/tp8":        "h100_sxm/trtllm/llama-3.1-70b/tp8/bf16/kv-bf16",
		"A100/Llama-3.1-8B-Instruct/TP1":             "a100_sxm/vllm/llama-3.1-8b/tp1/bf16/kv-bf16",
		"h100/llama-3.3-70b/tp4":                     "h100_sxm/vllm/llama-3.1-70b/tp4/bf16/kv-bf16",
		"h100/llama-3.1-70b/tp2":                     "h100_sxm/vllm/llama-3.1-70b/tp2/fp8/kv-bf16", // no bf16 one fits
		"h200/deepseek-r1":                           "h200_sxm/vllm/deepseek-v3/tp8/fp8/kv-bf16",   // the only one
		"h200/deepseek-v3-ep8/sglang":                "h200_sxm/sglang/deepseek-v3-ep8/tp8/fp8/kv-bf16",
		" h20/qwen3-8b/tp1 ":                         "h20/vllm/qwen3-8b/tp1/bf16/kv-bf16",
		"l40s/qwen3-32b/tp8":                         "l40s/vllm/qwen3-32b/tp8/bf16/kv-bf16",
	} {
		p, err := Lookup(name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if p.ID != want {
			t.Errorf("%s: got %s, want %s", name, p.ID, want)
		}
	}
}

func TestWrongNames(t *testing.T) {
	for name, want := range map[string]string{
		"":                            `found the GPU "", expected h100, a100,`,
		"h10/llama-3.1-70b/tp4":       "(did you mean h100?)",
		"b200sxm/qwen3-8b":            "(did you mean b200_sxm?)",
		"h100/lama-3.1-70b/tp4":       "(did you mean llama-3.1-70b?)",
		"h100/qwen3-8b/tp1/fp9":       "(did you mean fp8?)",
		"h100/vlm/qwen3-8b/tp1":       "(did you mean vllm?)",
		"h100/tp4":                    "found no model, expected one of deepseek-v3,",
		"h100/llama-3.1-70b":          "found 2 profiles of that name, expected one of h100_sxm/vllm/llama-3.1-70b/tp4/bf16/kv-bf16, h100_sxm/vllm/llama-3.1-70b/tp8/bf16/kv-bf16",
		"h100/llama-3.1-70b/tp1":      "found 131.4 GiB of bf16 weights per GPU, expected them to fit into 79.2 GiB; would fit: h100_sxm/vllm/llama-3.1-70b/tp2/fp8/kv-bf16",
		"a100/qwen3-8b/tp1/fp8":       "found no such profile, expected one of a100_sxm/vllm/qwen3-8b/tp1/bf16/kv-bf16",
		"h100/qwen3-8b/tp3":           "found no such profile, expected one of h100_sxm/vllm/qwen3-8b/tp1/bf16/kv-bf16",
		"a100/deepseek-v3":            "found no such profile",
		"h100/qwen3-8b/tp1/tp2":       "found two values for the tensor parallelism, tp1 and tp2",
		"h100/qwen3-8b/qwen3-32b/tp1": "found two values for the model",
		"h100/zzzzzzzzzzzzzzzz":       "expected an engine (vllm, sglang, trtllm)",
	} {
		p, err := Lookup(name)
		if err == nil || p != nil {
			t.Errorf("%q: got %v, want an error", name, p)
		} else if !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v\nwant %q in it", name, err, want)
		}
	}
}

func TestEveryIDIsItsOwnName(t *testing.T) {
	ids, err := IDs()
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		id := rapid.SampledFrom(ids).Draw(t, "id")
		p, err := Lookup(id)
		if err != nil || p.ID != id {
			t.Fatalf("%s: got %v, %v", id, p, err)
		}
		// Any order of the parts after the GPU means the same.
		words := strings.Split(id, "/")
		shuffled := append(words[:1:1], rapid.Permutation(words[1:]).Draw(t, "order")...)
		if q, err := Lookup(strings.Join(shuffled, "/")); err != nil || q.ID != id {
			t.Fatalf("%v: got %v, %v", shuffled, q, err)
		}
	})
}

func TestEditDistance(t *testing.T) {
	for pair, want := range map[[2]string]int{
		{"", ""}: 0, {"a", ""}: 1, {"", "abc"}: 3, {"kitten", "sitting"}: 3, {"vlm", "vllm"}: 1, {"tp4", "tp8"}: 1,
	} {
		if got := spelling.Distance(pair[0], pair[1]); got != want {
			t.Errorf("%v: %d, want %d", pair, got, want)
		}
	}
}

// Names must not shadow each other: a word means one thing.
func TestWordsAreUnambiguous(t *testing.T) {
	facts, err := ModelFacts()
	if err != nil {
		t.Fatal(err)
	}
	models := modelNames(facts)
	for word := range engines() {
		if _, ok := models[word]; ok {
			t.Errorf("%s is a model and an engine", word)
		}
	}
	count := map[string]int{}
	for _, name := range slices.Sorted(maps.Keys(facts)) {
		count[name]++
		for _, alias := range facts[name].Aliases {
			count[alias]++
		}
	}
	for word, n := range count {
		if n > 1 {
			t.Errorf("%d models are called %s", n, word)
		}
	}
}
