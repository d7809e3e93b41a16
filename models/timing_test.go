package models

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func prefillBatch(lengths ...int64) *Batch {
	b := &Batch{}
	for _, n := range lengths {
		b.PrefillSeqs++
		b.PrefillContext += n
		b.PrefillPairs += n * (n + 1) / 2
		b.ScheduledTokens += n
	}
	return b
}

func decodeBatch(contexts ...int64) *Batch {
	b := &Batch{}
	for _, n := range contexts {
		b.DecodeSeqs++
		b.DecodeContext += n
		b.ScheduledTokens++
	}
	return b
}

func polynomial(t testing.TB, capacity int64, speedup, decodeSpeedup float64) *Polynomial {
	t.Helper()
	p, err := NewPolynomial(TimingOptions{capacity, speedup, decodeSpeedup})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Durations in ms that ai-dynamo 1.6.1 gave; 1,048,576 tokens is its default
// pool.
func TestPolynomialWorkedExamples(t *testing.T) {
	for _, c := range [...]struct {
		name            string
		capacity        int64
		speedup, decode float64
		batch           *Batch
		wantP, wantD    float64
	}{
		{"prefill 1", 1048576, 1, 1, prefillBatch(1), 16.516604, 0},
		{"prefill 64", 1048576, 1, 1, prefillBatch(64), 17.474885, 0},
		{"prefill 1000", 1048576, 1, 1, prefillBatch(1000), 32.105859, 0},
		{"prefill 4096", 1048576, 1, 1, prefillBatch(4096), 85.75598, 0},
		{"prefill 8192", 1048576, 1, 1, prefillBatch(8192), 169.136918, 0},
		{"means truncated", 1048576, 1, 1, prefillBatch(100, 101, 103), 21.140653999999998, 0},
		{"chunk after prefix", 1048576, 1, 1, &Batch{PrefillSeqs: 2, PrefillContext: 6758 + 1946, PrefillPrefix: 512}, 169.136918, 0},
		{"nothing new", 1048576, 1, 1, &Batch{PrefillSeqs: 2, PrefillContext: 101, PrefillPrefix: 100}, 0, 0},
		{"decode 2", 1048576, 1, 1, decodeBatch(2), 0, 5.7401029999999995},
		{"decode 1001", 1048576, 1, 1, decodeBatch(1001), 0, 5.791536},
		{"decode 8193", 1048576, 1, 1, decodeBatch(8193), 0, 6.160433},
		{"decode three", 1048576, 1, 1, decodeBatch(101, 102, 104), 0, 5.755811},
		{"small pool", 64, 1, 1, decodeBatch(61), 0, 33.834849},
		{"over-full pool", 1000, 1, 1, decodeBatch(1003), 0, 34.01},
		{"prefill sped up", 1048576, 3.7, 1, prefillBatch(1000), 8.677259, 0},
		{"decode sped up", 1048576, 3.7, 1.3, decodeBatch(1001), 0, 1.2040620000000002},
		{"ratio 0", 1048576, 0, 5, decodeBatch(1001), 0, 5.791536},
	} {
		p, d := polynomial(t, c.capacity, c.speedup, c.decode).Step(c.batch)
		if p != c.wantP || d != c.wantD {
			t.Errorf("%s: got %v + %v ms, want %v + %v", c.name, p, d, c.wantP, c.wantD)
		}
	}
}

func TestFixed(t *testing.T) {
	f, err := NewFixed(7.5, 0.7, TimingOptions{SpeedupRatio: 2, DecodeSpeedupRatio: 0.5})
	if err != nil {
		t.Fatal(err)
	}
	b := prefillBatch(5)
	b.DecodeSeqs, b.DecodeContext = 1, 9
	if p, d := f.Step(b); p != 3.75 || d != 0.7 {
		t.Errorf("got %v + %v ms, want 3.75 + 0.7", p, d)
	}
	b.PrefillPrefix = b.PrefillContext
	b.DecodeSeqs = 0
	if p, d := f.Step(b); p != 0 || d != 0 {
		t.Errorf("nothing to compute: got %v + %v ms, want 0 + 0", p, d)
	}
	if f.Describe() != "fixed:7.5,0.7" {
		t.Errorf("Describe: %q", f.Describe())
	}
}

// anyModel draws each kind of model of the package.
func anyModel(t *rapid.T) StepModel {
	o := TimingOptions{
		CapacityTokens:     rapid.Int64Range(1, 2_000_000).Draw(t, "capacity"),
		SpeedupRatio:       rapid.SampledFrom([]float64{0, 1, 1, 3.7, 0.01}).Draw(t, "speedup"),
		DecodeSpeedupRatio: rapid.SampledFrom([]float64{1, 1, 1.3}).Draw(t, "decode speedup"),
	}
	var m StepModel
	var err error
	switch rapid.IntRange(0, 2).Draw(t, "model") {
	case 0:
		m, err = NewPolynomial(o)
	case 1:
		m, err = NewFixed(rapid.Float64Range(0, 50).Draw(t, "p"), rapid.Float64Range(0, 2000).Draw(t, "d"), o)
	default:
		m, err = NewTable("drawn", anyTable(t), o)
	}
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func anyAxis(t *rapid.T, name string) []float64 {
	steps := rapid.SliceOfN(rapid.Float64Range(0.5, 5e4), 2, 6).Draw(t, name)
	for i := 1; i < len(steps); i++ {
		steps[i] += steps[i-1]
	}
	return steps
}

func anyTable(t *rapid.T) TableData {
	d := TableData{PrefillISL: anyAxis(t, "isl"), DecodeKV: anyAxis(t, "kv"), DecodeContext: anyAxis(t, "context")}
	values := func(n int, name string) []float64 {
		return rapid.SliceOfN(rapid.Float64Range(-5, 300), n, n).Draw(t, name)
	}
	d.PrefillTTFT = values(len(d.PrefillISL), "ttft")
	d.DecodeITL = values(len(d.DecodeKV)*len(d.DecodeContext), "itl")
	return d
}

func TestDecodeRunEqualsSteps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := anyModel(t)
		seqs := rapid.Int64Range(0, 300).Draw(t, "seqs")
		context := seqs + rapid.Int64Range(0, 2_000_000).Draw(t, "context")
		start := rapid.Float64Range(0, 1e8).Draw(t, "start")
		got := make([]float64, rapid.IntRange(0, 200).Draw(t, "passes"))
		m.DecodeRun(start, seqs, context, got)
		end := start
		for i, g := range got {
			b := &Batch{DecodeSeqs: seqs, DecodeContext: context + int64(i)*seqs, ScheduledTokens: seqs}
			prefill, decode := m.Step(b)
			end = (end + prefill) + decode
			if g != end {
				t.Fatalf("pass %d ends at %v in the run, at %v by steps", i, g, end)
			}
		}
	})
}

// A run over the whole pool, where every utilisation occurs.
func TestPolynomialRunOverWholePool(t *testing.T) {
	p := polynomial(t, 16384*64, 1, 1)
	const seqs, passes = 37, 30_000
	ends := make([]float64, passes)
	p.DecodeRun(0.125, seqs, 900, ends)
	end := 0.125
	for i, g := range ends {
		u := min(float64(900+i*seqs)/(16384*64), 1)
		end += bigQuantise(polyDecodeMS(u), 1)
		if g != end {
			t.Fatalf("pass %d ends at %v, want %v", i, g, end)
		}
	}
}

func TestParseTiming(t *testing.T) {
	o := TimingOptions{CapacityTokens: 1000, SpeedupRatio: 1, DecodeSpeedupRatio: 1}
	for spec, want := range map[string]string{
		"dynamo-polynomial":                 "dynamo-polynomial",
		"fixed:20,8":                        "fixed:20,8",
		"fixed: 20 , 0.5":                   "fixed:20,0.5",
		"table:testdata/dynamo_profile.npz": "table:dynamo_profile",
	} {
		m, err := ParseTiming(spec, o)
		if err != nil {
			t.Errorf("%s: %v", spec, err)
		} else if got := m.(Describer).Describe(); got != want {
			t.Errorf("%s: described as %q, want %q", spec, got, want)
		}
	}
	for _, spec := range []string{"", "polynomial", "dynamo-polynomial:1", "fixed", "fixed:1", "fixed:a,b", "fixed:1,2,3",
		"fixed:-1,2", "fixed:1,NaN", "fixed:1,Inf", "table", "table:", "table:testdata/none.npz", "table:timing.go"} {
		m, err := ParseTiming(spec, o)
		if err == nil || m != nil {
			t.Errorf("%q: got %v, %v, want only an error", spec, m, err)
		} else if strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: error of more than one line: %v", spec, err)
		}
	}
	for _, bad := range []TimingOptions{{0, 1, 1}, {1, -1, 1}, {1, 1, math.NaN()}, {1, math.Inf(1), 1}} {
		if m, err := ParseTiming("dynamo-polynomial", bad); err == nil || m != nil {
			t.Errorf("%+v: got %v, %v, want only an error", bad, m, err)
		}
	}
}

func TestTimingFromOracle(t *testing.T) {
	o := TimingOptions{CapacityTokens: 1000, SpeedupRatio: 1, DecodeSpeedupRatio: 1}
	for text, want := range map[string]string{
		`{"type":"polynomial"}`: "dynamo-polynomial",
		`null`:                  "dynamo-polynomial",
		`{"type":"fixed","prefill_ms":7.5,"decode_ms":1}`:                                                 "fixed:7.5,1",
		`{"type":"external","provider":"dynamo_profile","config":{"path":"testdata/dynamo_profile.npz"}}`: "table:dynamo_profile",
	} {
		m, err := TimingFromOracleJSON([]byte(text), o)
		if err != nil {
			t.Errorf("%s: %v", text, err)
		} else if got := m.(Describer).Describe(); got != want {
			t.Errorf("%s: described as %q, want %q", text, got, want)
		}
	}
	for _, v := range []any{7.5, 8, int64(8), uint64(8)} {
		if _, err := TimingFromOracle(map[string]any{"type": "fixed", "prefill_ms": v, "decode_ms": v}, o); err != nil {
			t.Errorf("%T: %v", v, err)
		}
	}
	for text, want := range map[string]string{
		`7`:                                    "expected a JSON object",
		`{"type":"poly"}`:                      `timing_model.type: found "poly"`,
		`{}`:                                   "timing_model.type: found nothing",
		`{"type":"polynomial"} x`:              "expected nothing",
		`{"type":"polynomial","prefill_ms":1}`: `found the key "prefill_ms"`,
		`{"type":"fixed","prefill_ms":1}`:      "timing_model.decode_ms: found nothing",
		`{"type":"fixed","prefill_ms":"1","decode_ms":1}`:                  `timing_model.prefill_ms: found "1"`,
		`{"type":"fixed","prefill_ms":-1,"decode_ms":1}`:                   "prefill_ms: found -1",
		`{"type":"external","provider":"aic","config":{}}`:                 `timing_model.provider: found "aic"`,
		`{"type":"external","provider":"dynamo_profile"}`:                  "timing_model.config: found nothing",
		`{"type":"external","provider":"dynamo_profile","config":{}}`:      "timing_model.config.path: found nothing",
		`{"type":"external","provider":"dynamo_profile","config":{"p":1}}`: `timing_model.config: found the key "p"`,
	} {
		_, err := TimingFromOracleJSON([]byte(text), o)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got error %v, want one with %q", text, err, want)
		}
	}
}

func BenchmarkPolynomialDecodeRun(b *testing.B) {
	for _, c := range [...]struct {
		ratio   float64
		context int64
	}{{1, 5000}, {3.7, 5000}, {1, 2_000_000}} {
		b.Run(fmt.Sprintf("ratio=%v/context=%d", c.ratio, c.context), func(b *testing.B) {
			p := polynomial(b, 16384*64, c.ratio, 1)
			ends := make([]float64, 64)
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				p.DecodeRun(1000.5, 16, c.context, ends)
				n += len(ends)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/pass")
		})
	}
}

func BenchmarkPolynomialStep(b *testing.B) {
	p := polynomial(b, 16384*64, 1, 1)
	batch := &Batch{PrefillSeqs: 2, PrefillContext: 3000, PrefillPrefix: 512, DecodeSeqs: 16, DecodeContext: 9000}
	var m StepModel = p
	b.ReportAllocs()
	for b.Loop() {
		batch.DecodeContext++
		m.Step(batch)
	}
}
