package profile

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Engines that profiles exist for.
const (
	VLLM   = "vllm"
	SGLang = "sglang"
	TRTLLM = "trtllm"
)

const (
	gib = 1 << 30

	// Of vLLM: bytes of the sampler's warm-up per sequence and vocabulary
	// entry in units of one fp32, from the log of Llama-3.1-8B on vLLM 0.11.
	samplerCopies = 9.73
	// GiB that a vLLM worker on one GPU and on several keeps for itself, from
	// the same logs.
	vllmAloneGiB, vllmGroupGiB = 0.13, 0.55
	// GiB per GPU that the other engines are taken to keep for themselves.
	sglangGiB, trtllmGiB = 1.5, 2.5

	// Pools are whole blocks of this many tokens, the smallest default block.
	poolGranularity = 16
)

// CapacityBasis is what a profile's KV capacity was computed from. The
// settings after the first two are the engine's own defaults; each engine has
// its names for them.
type CapacityBasis struct {
	GPUMemoryGiB     float64 `json:"gpu_memory_gib" yaml:"gpu_memory_gib"`           // GiB that the driver shows
	WeightsGiBPerGPU float64 `json:"weights_gib_per_gpu" yaml:"weights_gib_per_gpu"` // GiB

	GPUMemoryUtilization float64 `json:"gpu_memory_utilization,omitempty" yaml:"gpu_memory_utilization,omitempty"` // vLLM
	MaxNumSeqs           int64   `json:"max_num_seqs,omitempty" yaml:"max_num_seqs,omitempty"`                     // vLLM
	MaxNumBatchedTokens  int64   `json:"max_num_batched_tokens,omitempty" yaml:"max_num_batched_tokens,omitempty"` // vLLM

	MemFractionStatic  float64 `json:"mem_fraction_static,omitempty" yaml:"mem_fraction_static,omitempty"`   // SGLang
	ChunkedPrefillSize int64   `json:"chunked_prefill_size,omitempty" yaml:"chunked_prefill_size,omitempty"` // SGLang, tokens

	FreeGPUMemoryFraction float64 `json:"free_gpu_memory_fraction,omitempty" yaml:"free_gpu_memory_fraction,omitempty"` // TensorRT-LLM
	MaxNumTokens          int64   `json:"max_num_tokens,omitempty" yaml:"max_num_tokens,omitempty"`                     // TensorRT-LLM
}

// Memory is what the KV capacity of a worker follows from.
type Memory struct {
	Engine        string
	GPUs          int     // of the worker
	GPUMemoryGiB  float64 // GiB, each
	WeightsGiB    float64 // GiB per GPU
	KVBytesPerGPU int64   // bytes per token and GPU
	Vocabulary    int64   // of the model, entries
	Hidden        int64   // of the model
	Intermediate  int64   // of the model
	Utilization   float64 // share of the memory for the engine; of what is left for KV with TensorRT-LLM
	Sequences     int64   // max_num_seqs
	BatchedTokens int64   // max_num_batched_tokens, tokens
}

// OverheadGiB is what the engine keeps for itself, in GiB per GPU.
//
// Of vLLM it is the larger of the sampler's warm-up, a few copies of the
// logits of as many sequences as may run, and of the activations: six tensors
// as wide as the hidden state and three as wide as the feed-forward layer's
// part of a GPU, two bytes an element.
func (m *Memory) OverheadGiB() float64 {
	switch m.Engine {
	case SGLang:
		return sglangGiB
	case TRTLLM:
		return trtllmGiB
	}
	sampler := samplerCopies * 4 * float64(min(m.Sequences, m.BatchedTokens)) * float64(m.Vocabulary)
	width := float64(6*m.Hidden) + float64(3*m.Intermediate)/float64(m.GPUs)
	activations := 2 * float64(m.BatchedTokens) * width
	own := vllmAloneGiB
	if m.GPUs > 1 {
		own = vllmGroupGiB
	}
	return float64(max(sampler, activations)/gib) + own
}

// Tokens is the KV capacity in tokens; 0 if the rest does not fit.
func (m *Memory) Tokens() int64 {
	free := float64(m.Utilization*m.GPUMemoryGiB) - m.WeightsGiB - m.OverheadGiB()
	if m.Engine == TRTLLM {
		free = m.Utilization * (m.GPUMemoryGiB - m.WeightsGiB - m.OverheadGiB())
	}
	blocks := math.Floor(free * gib / float64(m.KVBytesPerGPU) / poolGranularity)
	return int64(max(blocks, 0)) * poolGranularity
}

// Settings are the engine's settings that the KV capacity depends on. Zero
// stands for the engine's default.
type Settings struct {
	Utilization         float64 // share of GPU memory: gpu_memory_utilization, mem_fraction_static or free_gpu_memory_fraction
	MaxNumSeqs          int64   // sequences
	MaxNumBatchedTokens int64   // tokens
	MaxModelLen         int64   // tokens; 0: the model's context, or the pool if that is smaller
}

// Defaults returns the settings that the engine takes when told nothing;
// MaxModelLen stays 0.
func (p *Profile) Defaults() Settings {
	b := &p.Basis
	var s Settings
	switch p.Engine {
	case SGLang:
		// SGLang admits at least 2,048 requests and has no token budget but
		// the chunk.
		s.Utilization, s.MaxNumSeqs, s.MaxNumBatchedTokens = b.MemFractionStatic, 2048, b.ChunkedPrefillSize
	case TRTLLM:
		// The engine's default max_batch_size is 2,048.
		s.Utilization, s.MaxNumSeqs, s.MaxNumBatchedTokens = b.FreeGPUMemoryFraction, 2048, b.MaxNumTokens
	default:
		s.Utilization, s.MaxNumSeqs, s.MaxNumBatchedTokens = b.GPUMemoryUtilization, b.MaxNumSeqs, b.MaxNumBatchedTokens
	}
	return s
}

// Capacity is the KV pool of a worker under given settings.
type Capacity struct {
	Tokens      int64    // KV pool, tokens
	Settings    Settings // what it was computed for, defaults filled in
	Recomputed  bool     // the settings differ from those of the stored value
	ContextCut  bool     // MaxModelLen is the pool, which is smaller than the model's context
	Memory      Memory
	OverheadGiB float64 // GiB per GPU
}

// KVCapacity returns the KV pool under given settings. A pool that cannot
// hold one sequence of MaxModelLen, if that is given, is an error that says
// what would fit.
func (p *Profile) KVCapacity(s Settings) (*Capacity, error) {
	asked := s.MaxModelLen
	d := p.Defaults()
	s = s.or(d)
	if err := s.check(p); err != nil {
		return nil, err
	}
	c, err := p.capacity(s)
	if err != nil {
		return nil, err
	}
	need := max(asked, poolGranularity)
	if c.Tokens < need {
		return nil, p.noRoom(c, asked)
	}
	if asked == 0 {
		c.Settings.MaxModelLen = min(p.ContextTokens, c.Tokens)
		c.ContextCut = c.Tokens < p.ContextTokens
	}
	return c, nil
}

// or fills in what is not given.
func (s Settings) or(d Settings) Settings {
	if s.Utilization == 0 {
		s.Utilization = d.Utilization
	}
	if s.MaxNumSeqs == 0 {
		s.MaxNumSeqs = d.MaxNumSeqs
	}
	if s.MaxNumBatchedTokens == 0 {
		s.MaxNumBatchedTokens = d.MaxNumBatchedTokens
	}
	return s
}

func (s Settings) check(p *Profile) error {
	if !(s.Utilization > 0 && s.Utilization <= 1) && s.Utilization != 0 {
		return fmt.Errorf("profile %s: gpu_memory_utilization: found %v, expected a share above 0 and up to 1", p.ID, s.Utilization)
	}
	for _, v := range [...]struct {
		name  string
		value int64
	}{
		{"max_num_seqs", s.MaxNumSeqs}, {"max_num_batched_tokens", s.MaxNumBatchedTokens}, {"max_model_len", s.MaxModelLen},
	} {
		if v.value < 0 {
			return fmt.Errorf("profile %s: %s: found %d, expected 1 or more", p.ID, v.name, v.value)
		}
	}
	if p.ContextTokens > 0 && s.MaxModelLen > p.ContextTokens {
		return fmt.Errorf("profile %s: max_model_len: found %d tokens, expected at most %d, the context length of %s (%s)",
			p.ID, s.MaxModelLen, p.ContextTokens, p.Model, p.ContextSource)
	}
	return nil
}

// capacity computes the pool, or takes the stored one where the settings that
// matter are those that it was computed for.
func (p *Profile) capacity(s Settings) (*Capacity, error) {
	d := p.Defaults()
	c := &Capacity{Tokens: p.KVCapacityTokens, Settings: s}
	c.Recomputed = s.Utilization != d.Utilization ||
		p.Engine == VLLM && (s.MaxNumSeqs != d.MaxNumSeqs || s.MaxNumBatchedTokens != d.MaxNumBatchedTokens)
	m, err := p.memory(s)
	if err != nil {
		if c.Recomputed {
			return nil, err
		}
		return c, nil
	}
	c.Memory, c.OverheadGiB = m, m.OverheadGiB()
	if c.Recomputed {
		c.Tokens = m.Tokens()
	}
	return c, nil
}

// memory puts together what the capacity follows from.
func (p *Profile) memory(s Settings) (Memory, error) {
	b := &p.Basis
	if b.GPUMemoryGiB == 0 {
		return Memory{}, fmt.Errorf("profile %s: found no kv_capacity_basis, expected one to compute the KV capacity for other settings (or give --num-gpu-blocks)", p.ID)
	}
	facts, err := ModelFacts()
	if err != nil {
		return Memory{}, err
	}
	model, ok := facts[p.Model]
	if !ok && p.Engine == VLLM {
		return Memory{}, fmt.Errorf("profile %s: found the model %q, expected one whose shape is known to compute the KV capacity for other settings (or give --num-gpu-blocks)", p.ID, p.Model)
	}
	return Memory{
		Engine: p.Engine, GPUs: p.TP, GPUMemoryGiB: b.GPUMemoryGiB, WeightsGiB: b.WeightsGiBPerGPU,
		KVBytesPerGPU: p.KVBytesPerTokenPerGPU, Vocabulary: model.Vocabulary, Hidden: model.Hidden, Intermediate: model.Intermediate,
		Utilization: s.Utilization, Sequences: s.MaxNumSeqs, BatchedTokens: s.MaxNumBatchedTokens,
	}, nil
}

// noRoom is the error for a pool that is too small, with what would fit.
func (p *Profile) noRoom(c *Capacity, asked int64) error {
	s, m := c.Settings, c.Memory
	what := "for even one block of KV cache"
	if asked > 0 {
		what = fmt.Sprintf("for one sequence of max_model_len %d tokens", asked)
	}
	text := fmt.Sprintf("profile %s: found room for %d KV tokens, expected enough %s: each GPU has %.2f GiB, of which utilization %g, weights %.2f GiB and overhead %.2f GiB (%d sequences, %d batched tokens)",
		p.ID, c.Tokens, what, m.GPUMemoryGiB, s.Utilization, m.WeightsGiB, c.OverheadGiB, s.MaxNumSeqs, s.MaxNumBatchedTokens)
	if fits := p.whatFits(s, max(asked, poolGranularity)); len(fits) > 0 {
		return fmt.Errorf("%s; would fit: %s", text, strings.Join(fits, ", "))
	}
	return fmt.Errorf("%s; nothing close to it fits", text)
}

// whatFits lists changes of one setting, and other shipped profiles of the
// model on this GPU, that hold a number of tokens.
func (p *Profile) whatFits(s Settings, need int64) []string {
	var list []string
	try := func(label string, t Settings) bool {
		c, err := p.capacity(t)
		if err != nil || c.Tokens < need {
			return false
		}
		list = append(list, fmt.Sprintf("%s (%d tokens)", label, c.Tokens))
		return true
	}
	for _, u := range [...]float64{0.9, 0.95, 0.98} {
		t := s
		t.Utilization = u
		if u > s.Utilization && try(fmt.Sprintf("--gpu-memory-utilization %g", u), t) {
			break
		}
	}
	for n := s.MaxNumSeqs / 2; n >= 1 && p.Engine == VLLM; n /= 2 {
		t := s
		t.MaxNumSeqs = n
		if try(fmt.Sprintf("--max-num-seqs %d", n), t) {
			break
		}
	}
	if c, err := p.capacity(s); err == nil && c.Tokens >= poolGranularity && need > c.Tokens {
		list = append(list, fmt.Sprintf("--max-model-len %d", c.Tokens))
	}
	return append(list, p.siblingsThatFit(s, need)...)
}

// siblingsThatFit names the shipped profiles of the same GPU, engine and
// model that hold a number of tokens: the smallest worker first, at most
// three.
func (p *Profile) siblingsThatFit(s Settings, need int64) []string {
	all, err := ofGPU(p.GPU)
	if err != nil {
		return nil
	}
	type sibling struct {
		p      *Profile
		tokens int64
	}
	var fits []sibling
	for _, q := range all {
		if q.Engine != p.Engine || q.Model != p.Model || q.ID == p.ID {
			continue
		}
		if c, err := q.capacity(s); err == nil && c.Tokens >= need {
			fits = append(fits, sibling{q, c.Tokens})
		}
	}
	slices.SortStableFunc(fits, func(a, b sibling) int { return a.p.TP - b.p.TP })
	var names []string
	for _, f := range fits[:min(len(fits), 3)] {
		names = append(names, fmt.Sprintf("%s (%d tokens)", f.p.ID, f.tokens))
	}
	return names
}
