package models

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"

	"routesim/models/npz"
)

// TableData is a profiled worker: the arrays of Dynamo's profile format.
// Axes are strictly rising and have at least two points.
type TableData struct {
	PrefillISL    []float64 // new prompt tokens of a pass
	PrefillTTFT   []float64 // ms, one per PrefillISL
	DecodeKV      []float64 // tokens: sum of the decoding contexts
	DecodeContext []float64 // tokens: mean of the decoding contexts
	DecodeITL     []float64 // ms, row-major: a row per DecodeKV, a column per DecodeContext
}

// Table interpolates a profiled worker: prefill linearly in the new tokens of
// a pass (at least 0), decode bilinearly in the sum and the truncated mean of
// the contexts (at least 1 ms). Outside the grid the outermost cell goes on.
type Table struct {
	data         TableData
	name         string
	prefillRatio float64
	decodeRatio  float64
}

// NewTable checks the arrays and returns their model; name is what reports
// call it.
func NewTable(name string, d TableData, o TimingOptions) (*Table, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	if err := d.check(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return &Table{data: d, name: name, prefillRatio: o.SpeedupRatio, decodeRatio: o.decodeRatio()}, nil
}

// LoadTable reads the model from a .npz file with the arrays prefill_isl,
// prefill_ttft_ms, decode_active_kv_tokens, decode_context_length and
// decode_itl.
func LoadTable(path string, o TimingOptions) (*Table, error) {
	f, err := npz.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var d TableData
	for _, a := range [...]struct {
		name string
		to   *[]float64
	}{
		{"prefill_isl", &d.PrefillISL},
		{"prefill_ttft_ms", &d.PrefillTTFT},
		{"decode_active_kv_tokens", &d.DecodeKV},
		{"decode_context_length", &d.DecodeContext},
	} {
		array, err := f.Array(a.name)
		if err != nil {
			return nil, err
		}
		if len(array.Shape) != 1 {
			return nil, fmt.Errorf("%s: %s: found %d dimensions, expected 1", path, a.name, len(array.Shape))
		}
		*a.to = array.Data
	}
	itl, err := f.Array("decode_itl")
	if err != nil {
		return nil, err
	}
	if s := itl.Shape; len(s) != 2 || s[0] != len(d.DecodeKV) || s[1] != len(d.DecodeContext) {
		return nil, fmt.Errorf("%s: decode_itl: found shape %v, expected [%d %d]: a row per decode_active_kv_tokens, a column per decode_context_length",
			path, s, len(d.DecodeKV), len(d.DecodeContext))
	}
	d.DecodeITL = itl.Data
	t, err := NewTable(path, d, o)
	if err != nil {
		return nil, err
	}
	t.name = strings.TrimSuffix(filepath.Base(path), ".npz")
	return t, nil
}

func (d *TableData) check() error {
	for _, axis := range [...]struct {
		name string
		v    []float64
	}{
		{"prefill_isl", d.PrefillISL},
		{"decode_active_kv_tokens", d.DecodeKV},
		{"decode_context_length", d.DecodeContext},
	} {
		if len(axis.v) < 2 {
			return fmt.Errorf("%s: found %d points, expected at least 2", axis.name, len(axis.v))
		}
		for i := 1; i < len(axis.v); i++ {
			if !(axis.v[i-1] < axis.v[i]) {
				return fmt.Errorf("%s: found %v after %v (element %d), expected strictly rising values", axis.name, axis.v[i], axis.v[i-1], i)
			}
		}
	}
	if n := len(d.PrefillISL); len(d.PrefillTTFT) != n {
		return fmt.Errorf("prefill_ttft_ms: found %d values, expected %d, one per prefill_isl", len(d.PrefillTTFT), n)
	}
	if n := len(d.DecodeKV) * len(d.DecodeContext); len(d.DecodeITL) != n {
		return fmt.Errorf("decode_itl: found %d values, expected %d", len(d.DecodeITL), n)
	}
	for _, a := range [...]struct {
		name string
		v    []float64
	}{
		{"prefill_isl", d.PrefillISL}, {"prefill_ttft_ms", d.PrefillTTFT},
		{"decode_active_kv_tokens", d.DecodeKV}, {"decode_context_length", d.DecodeContext},
		{"decode_itl", d.DecodeITL},
	} {
		for i, v := range a.v {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("%s: found %v (element %d), expected a finite number", a.name, v, i)
			}
		}
	}
	return nil
}

// Describe implements Describer.
func (t *Table) Describe() string { return "table:" + t.name }

// Step implements StepModel.
func (t *Table) Step(b *Batch) (prefill, decode float64) {
	if n := newTokens(b); n > 0 {
		prefill = Quantise(t.prefillMS(float64(n)), t.prefillRatio)
	}
	if k := b.DecodeSeqs; k > 0 {
		ms := t.decodeMS(float64(b.DecodeContext), float64(b.DecodeContext/k))
		decode = Quantise(ms, t.decodeRatio)
	}
	return prefill, decode
}

// DecodeRun implements StepModel. Every pass lengthens the mean context by one
// token exactly, so its truncation moves in step with it.
func (t *Table) DecodeRun(start float64, seqs, context int64, ends []float64) {
	if seqs <= 0 {
		fillIdle(start, ends)
		return
	}
	end := start
	sum, mean := float64(context), float64(context/seqs)
	for i := range ends {
		end += Quantise(t.decodeMS(sum, mean), t.decodeRatio)
		ends[i] = end
		sum += float64(seqs)
		mean++
	}
}

func (t *Table) prefillMS(tokens float64) float64 {
	x, y := t.data.PrefillISL, t.data.PrefillTTFT
	i := cell(x, tokens)
	return math.Max(line(x[i], y[i], x[i+1], y[i+1], tokens), 0)
}

func (t *Table) decodeMS(sum, mean float64) float64 {
	xs, ys := t.data.DecodeKV, t.data.DecodeContext
	i, j := cell(xs, sum), cell(ys, mean)
	z := t.data.DecodeITL[i*len(ys)+j:]
	low := line(xs[i], z[0], xs[i+1], z[len(ys)], sum)
	high := line(xs[i], z[1], xs[i+1], z[len(ys)+1], sum)
	return math.Max(line(ys[j], low, ys[j+1], high, mean), decodeFloor)
}

// line evaluates at x the line through (x1, y1) and (x2, y2).
func line(x1, y1, x2, y2, x float64) float64 {
	slope := (y2 - y1) / (x2 - x1)
	return float64(slope*(x-x1)) + y1
}

// cell returns the index of the interval of a rising axis that serves x: the
// one that x lies in or begins, else the outermost one on its side.
func cell(axis []float64, x float64) int {
	lo, hi := 0, len(axis)-1
	for lo+1 < hi {
		if mid := int(uint(lo+hi) / 2); axis[mid] <= x {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}
