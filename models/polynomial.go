package models

import (
	"fmt"
	"math"
)

// Coefficients of Dynamo's built-in timing polynomials (ai-dynamo 1.6.1):
// prefill in new tokens of the pass, decode in the share of the KV pool that
// the decoding sequences' contexts fill. Results are in ms.
const (
	polyPrefill2 = 4.209989e-07
	polyPrefill1 = 1.518344e-02
	polyPrefill0 = 1.650142e+01
	polyDecode2  = -25.74
	polyDecode1  = 54.01
	polyDecode0  = 5.74
	decodeFloor  = 1.0 // ms; also of the table model
)

// Polynomial is Dynamo's built-in timing model: one curve for all hardware.
type Polynomial struct {
	capacity      float64 // KV pool, tokens
	prefillRatio  float64
	decodeRatio   float64
	saturated     float64 // duration in ms of a decode pass with a full pool
	decodeUnscale bool    // decodeRatio leaves durations as they are
}

// NewPolynomial returns the model for a pool of o.CapacityTokens.
func NewPolynomial(o TimingOptions) (*Polynomial, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	if o.CapacityTokens <= 0 {
		return nil, fmt.Errorf("timing dynamo-polynomial: found a KV pool of %d tokens, expected at least 1", o.CapacityTokens)
	}
	p := &Polynomial{
		capacity:     float64(o.CapacityTokens),
		prefillRatio: o.SpeedupRatio,
		decodeRatio:  o.decodeRatio(),
	}
	p.decodeUnscale = p.decodeRatio == 0 || p.decodeRatio == 1
	p.saturated = Quantise(polyDecodeMS(1), p.decodeRatio)
	return p, nil
}

// Describe implements Describer.
func (p *Polynomial) Describe() string { return "dynamo-polynomial" }

// Step implements StepModel.
func (p *Polynomial) Step(b *Batch) (prefill, decode float64) {
	if t := newTokens(b); t > 0 {
		prefill = Quantise(polyPrefillMS(float64(t)), p.prefillRatio)
	}
	if b.DecodeSeqs > 0 {
		u := math.Min(float64(b.DecodeContext)/p.capacity, 1)
		decode = Quantise(polyDecodeMS(u), p.decodeRatio)
	}
	return prefill, decode
}

// polyPrefillMS is the raw prefill time in ms of t new tokens.
func polyPrefillMS(t float64) float64 {
	return float64(polyPrefill2*float64(t*t)) + float64(polyPrefill1*t) + polyPrefill0
}

// polyDecodeMS is the raw decode time in ms at pool utilisation u in [0, 1].
// The curve rises on that range from 5.74 ms, so the oracle's floor of 1 ms
// never acts.
func polyDecodeMS(u float64) float64 {
	return float64(polyDecode2*float64(u*u)) + float64(polyDecode1*u) + polyDecode0
}

// DecodeRun implements StepModel. The passes' durations do not depend on each
// other, so their divisions overlap; only the sum of the ends is a chain.
func (p *Polynomial) DecodeRun(start float64, seqs, context int64, ends []float64) {
	if seqs <= 0 {
		fillIdle(start, ends)
		return
	}
	t, n := start, 0
	if p.decodeUnscale {
		t, n = p.runUnscaled(start, seqs, context, ends)
	} else {
		for c, k := float64(context), float64(seqs); n < len(ends) && c < p.capacity; n++ {
			t += Quantise(polyDecodeMS(c/p.capacity), p.decodeRatio)
			ends[n] = t
			c += k
		}
	}
	for d := p.saturated; n < len(ends); n++ {
		t += d
		ends[n] = t
	}
}

// runUnscaled fills ends until the pool is full, and returns the last end and
// how many it filled. Every duration is 5.74 to 34.01 ms, a fraction of a
// second, so Quantise comes down to one rounding. Token sums are exact in
// binary64.
func (p *Polynomial) runUnscaled(t float64, seqs, context int64, ends []float64) (float64, int) {
	c, k, capacity := float64(context), float64(seqs), p.capacity
	for i := range ends {
		if c >= capacity {
			return t, i
		}
		s := polyDecodeMS(c/capacity) / 1000
		t += float64(roundNanos(s) / nanosPerSecond * 1000)
		ends[i] = t
		c += k
	}
	return t, len(ends)
}
