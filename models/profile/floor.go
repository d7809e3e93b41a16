package profile

import (
	"fmt"
	"math"

	"routesim/models"
)

// Floor is the least time that the hardware needs for a step: the larger of
// the arithmetic at the GPU's peak rate and of the bytes at its bandwidth.
// Whatever could make a real step faster counts as done: communication and
// host work are free, activations are never stored, all tokens of a step
// choose the same experts, and 8-bit KV caches are read by 8-bit arithmetic.
type Floor struct {
	gpus          float64
	matrixRate    float64 // operations per second and GPU, for the weights
	attentionRate float64 // operations per second and GPU
	logitsRate    float64 // operations per second and GPU
	bandwidth     float64 // bytes per second and GPU

	matrices    float64 // weights that a token is multiplied with
	embedding   float64 // weights of the output projection
	pairOps     float64 // operations per query-key pair
	weightBytes float64 // bytes per weight
	kvBytes     float64 // bytes per context token and GPU
	logitsBytes float64 // bytes of the output projection
}

// Floor returns the hardware's bound for steps of this profile.
func (p *Profile) Floor() (*Floor, error) {
	gpus, err := GPUFacts()
	if err != nil {
		return nil, err
	}
	facts, err := ModelFacts()
	if err != nil {
		return nil, err
	}
	gpu, ok := gpus[p.GPU]
	if !ok {
		return nil, fmt.Errorf("profile %s: found no facts about the GPU %s, expected peak rate and bandwidth", p.ID, p.GPU)
	}
	m, ok := facts[p.Model]
	if !ok {
		return nil, fmt.Errorf("profile %s: found no facts about the model %s, expected its shape", p.ID, p.Model)
	}
	if p.WeightDType == "fp8" && gpu.FP8 == 0 {
		return nil, fmt.Errorf("profile %s: found 8-bit weights on %s, expected a GPU with 8-bit arithmetic", p.ID, gpu.Name)
	}
	f := &Floor{
		gpus: float64(p.TP), bandwidth: gpu.Bandwidth,
		matrixRate: gpu.BF16, attentionRate: gpu.BF16, logitsRate: gpu.BF16,
		matrices: float64(m.matrices(false)), embedding: float64(m.embedding()), pairOps: m.pairOperations(),
		weightBytes: 2, logitsBytes: 2 * float64(m.embedding()), kvBytes: float64(p.KVBytesPerTokenPerGPU),
	}
	if p.WeightDType == "fp8" {
		f.matrixRate, f.weightBytes = gpu.FP8, 1
	}
	if p.KVDType == "fp8" && gpu.FP8 > 0 {
		f.attentionRate = gpu.FP8
	}
	return f, nil
}

// pairOperations is the number of operations of one query-key pair over all
// layers: a multiplication and an addition per element of key and of value.
func (m *Model) pairOperations() float64 {
	if a := m.MLA; a != nil {
		return float64(2 * m.Layers * m.Heads * (a.NopeDim + a.RopeDim + a.ValueDim))
	}
	return float64(4 * m.Layers * m.Heads * m.HeadDim)
}

// MS returns the bound for one step in ms.
func (f *Floor) MS(b *models.Batch) float64 {
	fresh := float64(b.PrefillContext - b.PrefillPrefix)
	tokens := fresh + float64(b.DecodeSeqs)
	if tokens <= 0 {
		return 0
	}
	seqs := float64(b.PrefillSeqs + b.DecodeSeqs)
	pairs := float64(b.PrefillPairs) + float64(b.DecodeContext+b.DecodeSeqs)
	arithmetic := (2*f.matrices*tokens/f.matrixRate + 2*f.embedding*seqs/f.logitsRate + f.pairOps*pairs/f.attentionRate) / f.gpus
	weights := (float64(f.matrices*f.weightBytes) + f.logitsBytes) / f.gpus
	bytes := weights + float64(f.kvBytes*float64(b.DecodeContext+b.PrefillPrefix))
	return 1000 * max(arithmetic, bytes/f.bandwidth)
}

// FloorGrid returns the steps on which profiles are held to the floor:
// prefills of 1 to 32,768 new tokens on prefixes of none to 65,536, decodes of
// 1 to 1,024 sequences of 128 to 32,768 tokens, and mixtures of them.
func FloorGrid() []models.Batch {
	var prefills, decodes, grid []models.Batch
	for _, fresh := range [...]int64{1, 16, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768} {
		for _, prefix := range [...]int64{0, 1024, 8192, 65536} {
			prefills = append(prefills, models.Batch{
				PrefillSeqs: 1, PrefillContext: prefix + fresh, PrefillPrefix: prefix,
				PrefillPairs: fresh*prefix + fresh*(fresh+1)/2, ScheduledTokens: fresh,
			})
		}
	}
	for _, seqs := range [...]int64{1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024} {
		for _, context := range [...]int64{128, 1024, 4096, 32768} {
			if seqs*context <= 4<<20 {
				decodes = append(decodes, models.Batch{DecodeSeqs: seqs, DecodeContext: seqs * context, ScheduledTokens: seqs})
			}
		}
	}
	grid = append(append(grid, prefills...), decodes...)
	for i, p := range prefills {
		for j, d := range decodes {
			if (i+j)%4 == 0 && p.ScheduledTokens+d.ScheduledTokens <= 32768 {
				p.DecodeSeqs, p.DecodeContext, p.ScheduledTokens = d.DecodeSeqs, d.DecodeContext, p.ScheduledTokens+d.DecodeSeqs
				grid = append(grid, p)
				p = prefills[i]
			}
		}
	}
	return grid
}

// FloorFlag is the flag of a profile that is faster than its hardware can be
// on a share of FloorGrid, which is 0 to 1. Such a profile has grade C.
func FloorFlag(share float64) string {
	return fmt.Sprintf("beats_hardware_floor:%.1f%%", 100*share)
}

// BelowFloor returns the share of FloorGrid on which the profile's steps are
// faster than the hardware can be, and by how much at worst: the largest
// floor over the step's time.
func (p *Profile) BelowFloor() (share, worst float64, err error) {
	f, err := p.Floor()
	if err != nil {
		return 0, 0, err
	}
	h, err := p.StepModel(1)
	if err != nil {
		return 0, 0, err
	}
	grid := FloorGrid()
	below := 0
	for i := range grid {
		least := f.MS(&grid[i])
		if ms, _ := h.Step(&grid[i]); ms < least {
			below++
			worst = math.Max(worst, least/ms)
		}
	}
	return float64(below) / float64(len(grid)), worst, nil
}

// PairMS is the arithmetic of one query-key pair in ms.
func (f *Floor) PairMS() float64 { return 1000 * f.pairOps / f.attentionRate / f.gpus }
