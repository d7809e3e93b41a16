package models

import (
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// The passes of three requests (1000, 700 with 512 cached and 60 tokens) that
// ai-dynamo 1.6.1 timed with this table: inside the grid and beyond each side.
func TestTableAgainstOracle(t *testing.T) {
	m, err := LoadTable("testdata/dynamo_profile.npz", TimingOptions{SpeedupRatio: 1, DecodeSpeedupRatio: 1})
	if err != nil {
		t.Fatal(err)
	}
	untold := math.NaN()
	mixed := &Batch{PrefillSeqs: 1, PrefillContext: 700, PrefillPrefix: 512, DecodeSeqs: 1, DecodeContext: 1001}
	for _, run := range [...]struct {
		start   float64
		batches []*Batch
		ends    []float64
	}{
		{0, []*Batch{
			prefillBatch(1000), mixed, decodeBatch(1002, 701), decodeBatch(1003, 702), decodeBatch(1004),
		}, []float64{50, 69.385564, untold, 80.49683, 85.973591}},
		{200, []*Batch{prefillBatch(60), decodeBatch(61), decodeBatch(62), decodeBatch(63)},
			[]float64{208.222222, 213.063122, untold, 222.74666}},
	} {
		now := run.start
		for i, b := range run.batches {
			p, d := m.Step(b)
			now = (now + p) + d
			if want := run.ends[i]; now != want && !math.IsNaN(want) {
				t.Errorf("pass %d from %v: ends at %v ms, want %v", i, run.start, now, want)
				now = want
			}
		}
	}
}

// Requests of one prompt and two tokens on tables whose durations are so long
// that the last bit of the interpolation shows, at grid points and between.
func TestTableBitsAgainstOracle(t *testing.T) {
	text, err := os.ReadFile("testdata/table_oracle.json")
	if err != nil {
		t.Fatal(err)
	}
	var tables []struct {
		PrefillISL    []float64 `json:"prefill_isl"`
		PrefillTTFT   []float64 `json:"prefill_ttft_ms"`
		DecodeKV      []float64 `json:"decode_active_kv_tokens"`
		DecodeContext []float64 `json:"decode_context_length"`
		DecodeITL     []float64 `json:"decode_itl"`
		Runs          []struct {
			Input  int64   `json:"input_length"`
			First  float64 `json:"first_token_ms"`
			Second float64 `json:"second_token_ms"`
		}
	}
	if err := json.Unmarshal(text, &tables); err != nil {
		t.Fatal(err)
	}
	runs := 0
	for _, c := range tables {
		m, err := NewTable("recorded", TableData{c.PrefillISL, c.PrefillTTFT, c.DecodeKV, c.DecodeContext, c.DecodeITL},
			TimingOptions{SpeedupRatio: 1, DecodeSpeedupRatio: 1})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range c.Runs {
			p, _ := m.Step(prefillBatch(r.Input))
			_, d := m.Step(decodeBatch(r.Input + 1))
			if p != r.First || p+d != r.Second {
				t.Errorf("prompt of %d: got %v and %v ms, want %v and %v", r.Input, p, p+d, r.First, r.Second)
			}
			runs++
		}
	}
	if runs < 50 {
		t.Errorf("only %d runs compared", runs)
	}
}

func TestTableFloors(t *testing.T) {
	m, err := NewTable("floors", TableData{
		PrefillISL: []float64{100, 200}, PrefillTTFT: []float64{1, 5},
		DecodeKV: []float64{1, 2}, DecodeContext: []float64{1, 2}, DecodeITL: []float64{0.1, 0.2, 0.3, 0.4},
	}, TimingOptions{})
	if err != nil {
		t.Fatal(err)
	}
	b := prefillBatch(1)
	b.DecodeSeqs, b.DecodeContext = 1, 1
	if p, d := m.Step(b); p != 0 || d != 1 {
		t.Errorf("got %v + %v ms, want 0 + 1", p, d)
	}
}

// An inner grid point belongs to the cell it begins: there the neighbours
// differ in the last bit.
func TestCellAgainstScan(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		axis := anyAxis(t, "axis")
		x := rapid.OneOf(rapid.SampledFrom(axis), rapid.Float64Range(-10, 3e5)).Draw(t, "x")
		want := 0
		for i := range axis[:len(axis)-1] {
			if axis[i] <= x {
				want = i
			}
		}
		if got := cell(axis, x); got != want {
			t.Fatalf("cell(%v, %v) = %d, want %d", axis, x, got, want)
		}
	})
}

func TestTableMeetsItsGridPoints(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := anyTable(t)
		m := &Table{data: d}
		near := func(got, want float64) bool { return math.Abs(got-want) <= 1e-9*(1+math.Abs(want)) }
		for i, x := range d.PrefillISL {
			if got, want := m.prefillMS(x), max(d.PrefillTTFT[i], 0); !near(got, want) {
				t.Fatalf("prefill at %v: %v, want %v", x, got, want)
			}
		}
		for i, x := range d.DecodeKV {
			for j, y := range d.DecodeContext {
				want := max(d.DecodeITL[i*len(d.DecodeContext)+j], 1)
				if got := m.decodeMS(x, y); !near(got, want) {
					t.Fatalf("decode at (%v, %v): %v, want %v", x, y, got, want)
				}
			}
		}
	})
}

func TestNewTableErrors(t *testing.T) {
	for want, breakIt := range map[string]func(*TableData){
		"prefill_isl: found 1 points":                   func(d *TableData) { d.PrefillISL = d.PrefillISL[:1] },
		"decode_context_length: found 100 after 100":    func(d *TableData) { d.DecodeContext[1] = 100 },
		"decode_active_kv_tokens: found NaN after 1000": func(d *TableData) { d.DecodeKV[1] = math.NaN() },
		"prefill_ttft_ms: found 3 values, expected 2":   func(d *TableData) { d.PrefillTTFT = []float64{1, 2, 3} },
		"decode_itl: found 3 values, expected 4":        func(d *TableData) { d.DecodeITL = d.DecodeITL[:3] },
		"decode_itl: found +Inf (element 2)":            func(d *TableData) { d.DecodeITL[2] = math.Inf(1) },
	} {
		d := TableData{
			PrefillISL: []float64{100, 1000}, PrefillTTFT: []float64{10, 50},
			DecodeKV: []float64{1000, 1e5}, DecodeContext: []float64{100, 2000}, DecodeITL: []float64{5, 6, 20, 40},
		}
		breakIt(&d)
		_, err := NewTable("broken.npz", d, TimingOptions{})
		if err == nil || !strings.HasPrefix(err.Error(), "broken.npz: "+want) {
			t.Errorf("got error %v, want one that starts with %q", err, want)
		}
	}
}
