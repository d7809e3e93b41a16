package models

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
)

// HybridKnotCount is the number of token counts at which a Hybrid model knows
// the part of a step that depends on nothing else.
const HybridKnotCount = 56

// HybridKnots returns those token counts: 1, 2, 3, then four to an octave up
// to 28,672, and 32,768.
func HybridKnots() [HybridKnotCount]int64 {
	knots := [HybridKnotCount]int64{1, 2, 3}
	for i := 3; i < HybridKnotCount; i++ {
		octave, quarter := (i-3)/4, int64((i-3)%4)
		knots[i] = (4 + quarter) << octave
	}
	return knots
}

// HybridCoefficients price the GPU's part of a step. All are 0 or more.
type HybridCoefficients struct {
	TokensMS            []float64  // ms at each of HybridKnots, never falling
	TailMSPerToken      float64    // ms for each token beyond the last knot
	LogitsMS            [2]float64 // ms, ms/sequence: output projection
	PrefillMS           [4]float64 // ms, ms/token, ms/pair, ms/chunk: prefill attention
	ReadFloorMSPerToken float64    // ms/token: least time to read the KV of a chunk
	DecodeMS            [4]float64 // ms, ms/sequence, ms/token up to and beyond the knee: decode attention
	DecodeKneeTokens    int64      // tokens: sum of the decoding contexts at which its slope changes
}

// EngineOverheads turn the GPU's time into the engine's: host work, kernels
// that the operators' sum misses or counts twice, and the front end.
type EngineOverheads struct {
	GPUTimeScale  float64 // factor on the GPU's time
	StepMS        float64 // ms per step
	PerSeqMS      float64 // ms per sequence of a step
	PrefillStepMS float64 // ms per step that computes prompt tokens
	RequestMS     float64 // ms, once per request, before its first token; not part of any step
}

// HybridRange bounds the steps that a model was fitted to.
type HybridRange struct {
	StepTokens          int64 // most new tokens of a step
	DecodeContextTokens int64 // largest sum of the decoding contexts
}

// Ranger is implemented by step models that know where they hold.
type Ranger interface {
	// InRange reports whether a step lies within what the model was fitted to.
	InRange(b *Batch) bool
}

// segment is one piece of the piecewise linear part: ms(T) = ms + slope*(T-from).
type segment struct{ from, ms, slope float64 }

// Hybrid prices a step of one modelled GPU worker by a piecewise linear curve
// of its tokens and linear terms of its attention:
//
//	gpu  = N(T) + l0 + l1*S
//	     + [P>0] * max(p0 + p1*P + p2*A + p3*C, floor*R)
//	     + [D>0] * (d0 + d1*D + d2*min(K, knee) + d3*max(K-knee, 0))
//	step = scale*gpu + step_ms + per_seq_ms*S + [P>0]*prefill_step_ms
//
// with P new prompt tokens in C chunks, D decoding sequences, T = P+D,
// S = C+D, A query-key pairs, R prompt tokens read and K tokens of decoding
// contexts. A step never gets faster when work is added. The whole step is
// returned as the prefill part.
type Hybrid struct {
	name  string
	ratio float64
	held  HybridRange

	// All of the following include the scale and the overheads.
	pieces       [HybridKnotCount + 1]segment // by segmentOf
	base, seq    float64                      // ms, ms/sequence
	prefill      [4]float64
	prefillStep  float64
	readFloor    float64
	decode       [4]float64
	knee, kneeMS float64 // tokens, ms of the contexts up to the knee
}

// NewHybrid checks the numbers and returns their model. Its durations are
// divided by speedup (0 and 1 leave them as they are); name is what reports
// call it.
func NewHybrid(name string, c HybridCoefficients, o EngineOverheads, held HybridRange, speedup float64) (*Hybrid, error) {
	if err := (TimingOptions{SpeedupRatio: speedup}).check(); err != nil {
		return nil, err
	}
	if err := c.Check(); err != nil {
		return nil, err
	}
	if err := o.Check(); err != nil {
		return nil, err
	}
	s := o.GPUTimeScale
	h := &Hybrid{
		name: name, ratio: speedup, held: held,
		base:        float64(s*c.LogitsMS[0]) + o.StepMS,
		seq:         float64(s*c.LogitsMS[1]) + o.PerSeqMS,
		prefillStep: o.PrefillStepMS,
		readFloor:   s * c.ReadFloorMSPerToken,
		knee:        float64(c.DecodeKneeTokens),
	}
	for i := range c.PrefillMS {
		h.prefill[i] = s * c.PrefillMS[i]
		h.decode[i] = s * c.DecodeMS[i]
	}
	h.kneeMS = float64(h.decode[2] * h.knee)
	knots := HybridKnots()
	for i, ms := range c.TokensMS {
		slope := c.TailMSPerToken
		if i+1 < HybridKnotCount {
			slope = (c.TokensMS[i+1] - ms) / float64(knots[i+1]-knots[i])
		}
		h.pieces[i+1] = segment{from: float64(knots[i]), ms: s * ms, slope: s * slope}
	}
	return h, nil
}

// Check refuses a coefficient that is missing, negative or not finite, and
// knots at which the time falls.
func (c *HybridCoefficients) Check() error {
	if n := len(c.TokensMS); n != HybridKnotCount {
		return fmt.Errorf("T_ms: found %d values, expected %d, one per knot", n, HybridKnotCount)
	}
	knots := HybridKnots()
	for i, ms := range c.TokensMS {
		if !(ms > 0) || math.IsInf(ms, 0) {
			return fmt.Errorf("T_ms: found %v ms at %d tokens, expected a finite number above 0", ms, knots[i])
		}
		if i > 0 && ms < c.TokensMS[i-1] {
			return fmt.Errorf("T_ms: found %v ms at %d tokens after %v ms at %d, expected no fall: more tokens never take less time",
				ms, knots[i], c.TokensMS[i-1], knots[i-1])
		}
	}
	if c.DecodeKneeTokens < 0 {
		return fmt.Errorf("decode_knee_tokens: found %d, expected 0 or more tokens", c.DecodeKneeTokens)
	}
	if err := checkNumbers([]named{{"T_tail_ms_per_token", c.TailMSPerToken}, {"kv_read_floor_ms_per_token", c.ReadFloorMSPerToken}}); err != nil {
		return err
	}
	return cmp.Or(checkList("logits_ms", c.LogitsMS[:]), checkList("prefill_ms", c.PrefillMS[:]), checkList("decode_ms", c.DecodeMS[:]))
}

// Check refuses an overhead that is negative or not finite.
func (o *EngineOverheads) Check() error {
	if !(o.GPUTimeScale > 0) {
		return fmt.Errorf("gpu_time_scale: found %v, expected a number above 0", o.GPUTimeScale)
	}
	return checkNumbers([]named{
		{"gpu_time_scale", o.GPUTimeScale}, {"step_ms", o.StepMS}, {"per_seq_ms", o.PerSeqMS},
		{"prefill_step_ms", o.PrefillStepMS}, {"request_ms", o.RequestMS},
	})
}

type named struct {
	name  string
	value float64
}

func checkList(name string, values []float64) error {
	for i, v := range values {
		if !countable(v) {
			return checkNumbers([]named{{fmt.Sprintf("%s[%d]", name, i), v}})
		}
	}
	return nil
}

func checkNumbers(list []named) error {
	for _, n := range list {
		if !countable(n.value) {
			return fmt.Errorf("%s: found %v, expected a finite number, 0 or more", n.name, n.value)
		}
	}
	return nil
}

// countable reports whether a number is finite and not below 0.
func countable(v float64) bool { return v >= 0 && !math.IsInf(v, 0) }

// Describe implements Describer.
func (h *Hybrid) Describe() string { return h.name }

// InRange implements Ranger.
func (h *Hybrid) InRange(b *Batch) bool {
	return b.PrefillContext-b.PrefillPrefix+b.DecodeSeqs <= h.held.StepTokens && b.DecodeContext <= h.held.DecodeContextTokens
}

// Step implements StepModel.
func (h *Hybrid) Step(b *Batch) (prefill, decode float64) {
	p, d := b.PrefillContext-b.PrefillPrefix, b.DecodeSeqs
	if p+d <= 0 {
		return 0, 0
	}
	ms := h.shared(p+d, b.PrefillSeqs+d)
	if p > 0 {
		attention := h.prefill[0] + float64(h.prefill[1]*float64(p)) +
			float64(h.prefill[2]*float64(b.PrefillPairs)) + float64(h.prefill[3]*float64(b.PrefillSeqs))
		if least := float64(h.readFloor * float64(b.PrefillContext)); least > attention {
			attention = least
		}
		ms += attention + h.prefillStep
	}
	if d > 0 {
		ms = (ms + h.perDecode(d)) + h.contexts(float64(b.DecodeContext))
	}
	return Quantise(ms, h.ratio), 0
}

// shared is the time in ms of what depends on tokens and sequences alone.
func (h *Hybrid) shared(tokens, seqs int64) float64 {
	s := &h.pieces[segmentOf(tokens)]
	curve := s.ms + float64(s.slope*(float64(tokens)-s.from))
	return curve + (h.base + float64(h.seq*float64(seqs)))
}

// segmentOf returns the piece that serves a token count of at least 1: the
// number of knots up to it. Four knots to an octave make it a matter of bits.
func segmentOf(tokens int64) int {
	if tokens < 4 {
		return int(tokens)
	}
	shift := bits.Len64(uint64(tokens)) - 3
	return min(4*shift+int(tokens>>shift), HybridKnotCount)
}

// perDecode is the decode attention's time in ms but for the contexts.
func (h *Hybrid) perDecode(seqs int64) float64 {
	return h.decode[0] + float64(h.decode[1]*float64(seqs))
}

// contexts is the time in ms to read the decoding contexts.
func (h *Hybrid) contexts(tokens float64) float64 {
	if tokens <= h.knee {
		return float64(h.decode[2] * tokens)
	}
	return h.kneeMS + float64(h.decode[3]*(tokens-h.knee))
}

// DecodeRun implements StepModel: of a run of decode steps, only the contexts
// grow.
func (h *Hybrid) DecodeRun(start float64, seqs, context int64, ends []float64) {
	if seqs <= 0 {
		fillIdle(start, ends)
		return
	}
	fixed := h.shared(seqs, seqs) + h.perDecode(seqs)
	t, c, k := start, float64(context), float64(seqs)
	unscaled := h.ratio == 0 || h.ratio == 1
	for i := range ends {
		ms := fixed + h.contexts(c)
		if s := ms / 1000; unscaled && s < 1 {
			t += float64(roundNanos(s) / nanosPerSecond * 1000)
		} else {
			t += Quantise(ms, h.ratio)
		}
		ends[i] = t
		c += k
	}
}
