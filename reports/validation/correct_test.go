package validation

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"routesim/reports"
)

// workers answer after fixed waits plus steps that a speedup ratio divides. The
// recorded ones take slow times as long for a step.
type workers struct {
	waits, steps []float64
	slow, noise  float64
}

func (f *workers) run(ratio float64) (*Comparison, error) {
	c := &Comparison{Requests: len(f.steps), Completed: len(f.steps)}
	for i, step := range f.steps {
		wobble := 1 + float64(f.noise*float64(i%3-1))
		c.Rows = append(c.Rows, Row{
			TTFT: (f.waits[i] + float64(step*f.slow)) * wobble, SimTTFT: f.waits[i] + step/ratio,
			ITL: float64(step*f.slow) / 10 * wobble, SimITL: step / ratio / 10,
			Cached: math.NaN(), SimCached: math.NaN(),
		})
	}
	c.TTFT = errorOf(c.Rows, func(r *Row) (float64, float64) { return r.TTFT, r.SimTTFT })
	c.ITL = errorOf(c.Rows, func(r *Row) (float64, float64) { return r.ITL, r.SimITL })
	c.Cached = errorOf(c.Rows, func(r *Row) (float64, float64) { return r.Cached, r.SimCached })
	return c, nil
}

func TestCorrectFindsTheFactor(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := &workers{slow: math.Exp(rapid.Float64Range(-1.9, 1.9).Draw(t, "log slow")), noise: rapid.SampledFrom([]float64{0, 0.05}).Draw(t, "noise")}
		for range 3 * rapid.IntRange(1, 20).Draw(t, "requests") {
			f.waits = append(f.waits, rapid.Float64Range(0, 50).Draw(t, "wait"))
			f.steps = append(f.steps, rapid.Float64Range(1, 400).Draw(t, "step"))
		}
		c, err := Correct(f.run)
		if err != nil || c == nil {
			t.Fatalf("got %v, %v", c, err)
		}
		if off := math.Abs(math.Log(c.Factor / f.slow)); off > 0.004+2*f.noise {
			t.Errorf("factor %g, want %g", c.Factor, f.slow)
		}
		if c.After > c.Before || f.noise == 0 && c.After > 0.003 || c.AtBound || math.Abs(float64(c.Factor*c.Ratio)-1) > 1e-12 {
			t.Errorf("got %+v", c)
		}
		again, err := Correct(f.run)
		if err != nil || again.Factor != c.Factor || again.Runs != c.Runs {
			t.Errorf("a second search differs: %+v, %v", again, err)
		}
	})
}

func TestCorrectAtItsLimits(t *testing.T) {
	far := &workers{waits: []float64{0, 0}, steps: []float64{10, 20}, slow: 40}
	c, err := Correct(far.run)
	if err != nil || !c.AtBound || c.Factor < 7.9 || c.Factor > 8.1 {
		t.Errorf("out of range: got %+v, %v", c, err)
	}
	if !strings.Contains(c.sentence(), "slower") || !strings.Contains(c.sentence(), "end of the range") {
		t.Errorf("got %s", c.sentence())
	}
	equal := &workers{waits: []float64{3, 9}, steps: []float64{10, 20}, slow: 1}
	if c, err = Correct(equal.run); err != nil || c.Factor != 1 || c.After != 0 || !strings.HasPrefix(c.sentence(), "No common factor") {
		t.Errorf("equal: got %+v, %v", c, err)
	}
	if c, err = Correct((&workers{}).run); c != nil || err != nil {
		t.Errorf("nothing to compare: got %+v, %v", c, err)
	}
	broken := errors.New("broken")
	n := 0
	if _, err = Correct(func(ratio float64) (*Comparison, error) {
		if n++; n > 20 {
			return nil, broken
		}
		return far.run(ratio)
	}); !errors.Is(err, broken) {
		t.Errorf("a failing run: got %v", err)
	}
}

// Every form of the outcome names the profile and what is left.
func TestCorrectionIsWritten(t *testing.T) {
	f := &workers{waits: []float64{0, 5, 9}, steps: []float64{10, 20, 40}, slow: 1.5}
	c, err := f.run(1)
	if err != nil {
		t.Fatal(err)
	}
	if c.Correction, err = Correct(f.run); err != nil {
		t.Fatal(err)
	}
	c.Profiles = []reports.ProfileFacts{{ID: "gpu/vllm/model/tp1/bf16/kv-bf16", Grade: "C", Line: "gpu/vllm/model/tp1/bf16/kv-bf16 (" + strings.Repeat("grade C; ", 20) + ")"}}
	var text, doc bytes.Buffer
	if err := errors.Join(c.WriteText(&text), c.WriteJSON(&doc)); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"1.5 times as long\n(slower", "What is left:", "model   gpu/vllm/model/tp1", "warning Profile gpu/vllm/model/tp1/bf16/kv-bf16 has grade C"} {
		if !strings.Contains(text.String(), part) {
			t.Errorf("no %q in\n%s", part, text.String())
		}
	}
	for line := range strings.Lines(text.String()) {
		if len(strings.TrimRight(line, "\n")) > 80 {
			t.Errorf("too wide: %s", line)
		}
	}
	for _, part := range []string{`"step_time_factor": 1.499`, `"errors_left"`, `"id": "gpu/vllm/model/tp1/bf16/kv-bf16"`, `"profile_grade_c"`} {
		if !strings.Contains(doc.String(), part) {
			t.Errorf("no %q in\n%s", part, doc.String())
		}
	}
}
