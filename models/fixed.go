package models

import (
	"fmt"
	"math"
	"strconv"
)

// Fixed is a timing model of two constants.
type Fixed struct {
	prefillMS, decodeMS float64 // as given, for Describe
	prefill, decode     float64 // scaled and quantised, ms
}

// NewFixed returns a model whose passes take prefillMS when they compute new
// prompt tokens, plus decodeMS when they decode, both in ms.
func NewFixed(prefillMS, decodeMS float64, o TimingOptions) (*Fixed, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	for _, v := range [...]struct {
		name string
		ms   float64
	}{{"prefill_ms", prefillMS}, {"decode_ms", decodeMS}} {
		if !(v.ms >= 0) || math.IsInf(v.ms, 0) {
			return nil, fmt.Errorf("timing fixed: %s: found %v, expected a finite number of ms, 0 or more", v.name, v.ms)
		}
	}
	return &Fixed{
		prefillMS: prefillMS, decodeMS: decodeMS,
		prefill: Quantise(prefillMS, o.SpeedupRatio),
		decode:  Quantise(decodeMS, o.decodeRatio()),
	}, nil
}

// Describe implements Describer.
func (f *Fixed) Describe() string {
	g := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	return "fixed:" + g(f.prefillMS) + "," + g(f.decodeMS)
}

// Step implements StepModel.
func (f *Fixed) Step(b *Batch) (prefill, decode float64) {
	if newTokens(b) > 0 {
		prefill = f.prefill
	}
	if b.DecodeSeqs > 0 {
		decode = f.decode
	}
	return prefill, decode
}

// DecodeRun implements StepModel.
func (f *Fixed) DecodeRun(start float64, seqs, context int64, ends []float64) {
	if seqs <= 0 {
		fillIdle(start, ends)
		return
	}
	t, d := start, f.decode
	for i := range ends {
		t += d
		ends[i] = t
	}
}
