package profile

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// Worker describes a worker whose times are not known yet. Zero values are
// worked out from what is known of the model and the GPU.
type Worker struct {
	GPU, Engine, Model   string
	TP                   int    // GPUs
	WeightDType, KVDType string // bf16 or fp8
	KVBytesPerToken      int64  // bytes, whole worker
	KVCapacityTokens     int64  // tokens
	MaxModelLen          int64  // tokens
}

// Blank returns a profile of the worker without times.
func Blank(w Worker) (*Profile, error) {
	facts, err := ModelFacts()
	if err != nil {
		return nil, err
	}
	gpus, err := GPUFacts()
	if err != nil {
		return nil, err
	}
	w.complete(gpuNames(), modelNames(facts))
	p := &Profile{
		GPU: w.GPU, Engine: w.Engine, Model: w.Model, TP: w.TP, WeightDType: w.WeightDType, KVDType: w.KVDType, Grade: "C",
		KVBytesPerToken: w.KVBytesPerToken, KVCapacityTokens: w.KVCapacityTokens, ContextTokens: w.MaxModelLen, ContextSource: "given",
	}
	p.ID = p.fullName()
	if err := p.checkName(); err != nil {
		return nil, err
	}
	m, known := facts[w.Model]
	if err := p.fillKV(&m, known); err != nil {
		return nil, err
	}
	if gpu, ok := gpus[w.GPU]; ok && known && p.Engine == VLLM {
		p.fillBasis(&gpu, &m)
	}
	if p.KVCapacityTokens == 0 {
		if err := p.fillCapacity(slices.Sorted(maps.Keys(gpus))); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// complete fills in the usual words and full names.
func (w *Worker) complete(gpus, models map[string]string) {
	usual := func(word *string, value string) {
		if *word = strings.ToLower(strings.TrimSpace(*word)); *word == "" {
			*word = value
		}
	}
	usual(&w.Engine, VLLM)
	usual(&w.WeightDType, "bf16")
	usual(&w.KVDType, "bf16")
	usual(&w.GPU, "")
	usual(&w.Model, "")
	if name, ok := engines()[w.Engine]; ok {
		w.Engine = name
	}
	if name, ok := gpus[w.GPU]; ok {
		w.GPU = name
	}
	if name, ok := models[w.Model]; ok {
		w.Model = name
	}
	w.TP = max(w.TP, 1)
}

// fillKV works out the KV bytes and the context length.
func (p *Profile) fillKV(m *Model, known bool) error {
	if p.KVBytesPerToken == 0 || p.ContextTokens == 0 {
		if !known {
			return fmt.Errorf("model %q: found no facts about it, expected --kv-bytes-per-token and --max-model-len beside it", p.Model)
		}
	}
	perGPU := (p.KVBytesPerToken + int64(p.TP) - 1) / int64(p.TP)
	if p.KVBytesPerToken == 0 {
		p.KVBytesPerToken, perGPU = m.kvBytes(p.KVDType, int64(p.TP))
	}
	p.KVBytesPerTokenPerGPU = perGPU
	if p.ContextTokens == 0 {
		p.ContextTokens, p.ContextSource = m.ContextTokens, m.Source
	}
	return nil
}

// kvBytes is the size of the keys and values of one token in bytes: of the
// worker, and of each of its GPUs. Latent attention keeps one vector, which
// every GPU holds, and a GPU has at least one head.
func (m *Model) kvBytes(dtype string, gpus int64) (all, each int64) {
	size := int64(2)
	if dtype == "fp8" {
		size = 1
	}
	if a := m.MLA; a != nil {
		bytes := m.Layers * (a.KVRank + a.RopeDim) * size
		return bytes, bytes
	}
	head := 2 * m.Layers * m.HeadDim * size
	return m.KVHeads * head, max(m.KVHeads/gpus, 1) * head
}

// fillBasis names what the KV capacity of a vLLM worker follows from, with the
// engine's own defaults: large for GPUs of 70 GiB and more but the A100.
func (p *Profile) fillBasis(gpu *GPU, m *Model) {
	p.Basis = CapacityBasis{
		GPUMemoryGiB: gpu.MemoryGiB, WeightsGiBPerGPU: math.Round(1e4*m.weightBytes(p.WeightDType)/float64(p.TP)/gib) / 1e4,
		GPUMemoryUtilization: 0.9, MaxNumSeqs: 256, MaxNumBatchedTokens: 2048,
	}
	if gpu.MemoryGiB >= 70 && p.GPU != "a100_sxm" {
		p.Basis.MaxNumSeqs, p.Basis.MaxNumBatchedTokens = 1024, 8192
	}
}

// fillCapacity works out the KV capacity from the basis.
func (p *Profile) fillCapacity(gpus []string) error {
	if p.Basis == (CapacityBasis{}) {
		return fmt.Errorf("worker %s: found no way to its KV capacity, expected --kv-capacity-tokens (it can be worked out for vllm on %s and a known model)",
			p.ID, strings.Join(gpus, ", "))
	}
	m, err := p.memory(p.Defaults())
	if err != nil {
		return err
	}
	if p.KVCapacityTokens = m.Tokens(); p.KVCapacityTokens < poolGranularity {
		return p.noRoom(&Capacity{Tokens: p.KVCapacityTokens, Settings: p.Defaults(), Memory: m, OverheadGiB: m.OverheadGiB()}, 0)
	}
	return nil
}
