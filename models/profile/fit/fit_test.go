package fit

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"routesim/models"
	"routesim/models/profile"
	"routesim/models/profile/measured"
)

// The least-squares solution over x >= 0 is the one where the gradient is 0
// for every x above 0 and points outwards for every x at 0.
func TestNNLSIsOptimal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 6).Draw(t, "unknowns")
		m := n + rapid.IntRange(0, 20).Draw(t, "more rows")
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		a, b := mat.NewDense(m, n, nil), make([]float64, m)
		for i := range m {
			for j := range n {
				a.Set(i, j, rng.NormFloat64())
			}
			b[i] = rng.NormFloat64()
		}
		if rapid.Bool().Draw(t, "dependent") && n > 1 {
			for i := range m {
				a.Set(i, 1, 2*a.At(i, 0))
			}
		}
		x, err := nnls(a, b)
		if err != nil {
			t.Fatal(err)
		}
		for j := range n {
			g := 0.0
			for i := range m {
				g += a.At(i, j) * (floats.Dot(a.RawRowView(i), x) - b[i])
			}
			switch {
			case x[j] < 0:
				t.Fatalf("x[%d] = %v", j, x[j])
			case x[j] > 0 && math.Abs(g) > 1e-6:
				t.Fatalf("x[%d] = %v with gradient %v", j, x[j], g)
			case x[j] == 0 && g < -1e-6:
				t.Fatalf("x[%d] = 0 with gradient %v: raising it would help", j, g)
			}
		}
	})
}

func TestRobustSolveIgnoresOneBadRow(t *testing.T) {
	s := &system{names: []string{"a", "b"}}
	for i := range 20 {
		x := float64(i + 1)
		y := 3 + 0.5*x
		if i == 7 {
			y *= 3
		}
		s.add(1, 1, []float64{1 / y, x / y})
	}
	x, err := s.solve()
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(x[0]-3) > 0.03 || math.Abs(x[1]-0.5) > 0.005 {
		t.Errorf("found %v, expected 3 and 0.5", x)
	}
}

func TestDetermined(t *testing.T) {
	s := &system{names: []string{"constant", "x", "twice x", "nothing"}}
	for i := range 10 {
		x := float64(i)
		s.add(1, 1, []float64{1, x, 2 * x, 0})
	}
	if got, want := s.determined([]int{3, 2, 1, 0}), []bool{true, true, false, false}; !slices.Equal(got, want) {
		t.Errorf("found %v, expected %v", got, want)
	}
}

func base(t *testing.T) *profile.Profile {
	t.Helper()
	p, err := profile.Lookup("h100/qwen3-8b/tp1")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// randomSteps draws steps of all kinds and times them with a model, with noise
// as a share.
func randomSteps(t testing.TB, m models.StepModel, n int, noise float64) []measured.Step {
	t.Helper()
	rng := rand.New(rand.NewPCG(5, 6))
	var steps []measured.Step
	for i := range n {
		var b models.Batch
		if i%3 != 1 {
			b.DecodeSeqs = 1 << rng.IntN(8)
			b.DecodeContext = b.DecodeSeqs * int64(100+rng.IntN(8000))
		}
		if i%3 != 0 {
			b.PrefillSeqs = int64(1 + rng.IntN(3))
			fresh := b.PrefillSeqs * int64(16+rng.IntN(2000))
			b.PrefillPrefix = b.PrefillSeqs * int64(rng.IntN(2)*rng.IntN(6000))
			b.PrefillContext = b.PrefillPrefix + fresh
			each, before := fresh/b.PrefillSeqs, b.PrefillPrefix/b.PrefillSeqs
			b.PrefillPairs = b.PrefillSeqs * (each*before + each*(each+1)/2)
		}
		b.ScheduledTokens = b.PrefillContext - b.PrefillPrefix + b.DecodeSeqs
		p, d := m.Step(&b)
		steps = append(steps, measured.Step{File: "dir/steps.csv", Line: i + 2, Batch: b, MS: (p + d) * (1 + noise*rng.NormFloat64())})
	}
	return steps
}

func near(a, b, share float64) bool { return math.Abs(a-b) <= share*math.Abs(b)+1e-9 }

func TestOverheadsFromSteps(t *testing.T) {
	truth := *base(t)
	truth.Calibration = profile.Calibration{GPUTimeScale: 1.07, StepMS: 2.5, PerSeqMS: 0.08, PrefillStepMS: 4}
	m, err := truth.StepModel(1)
	if err != nil {
		t.Fatal(err)
	}
	steps := randomSteps(t, m, 300, 0.01)
	steps[17].MS *= 5 // one step that was disturbed
	r, err := Fit(context.Background(), Options{Data: &measured.Data{Steps: steps}, Base: base(t)})
	if err != nil {
		t.Fatal(err)
	}
	got, want := r.Profile.Calibration, truth.Calibration
	if !near(got.GPUTimeScale, want.GPUTimeScale, 0.01) || !near(got.StepMS, want.StepMS, 0.05) || !near(got.PerSeqMS, want.PerSeqMS, 0.05) || !near(got.PrefillStepMS, want.PrefillStepMS, 0.1) {
		t.Errorf("found %+v, expected %+v", got, want)
	}
	if got.RequestMS != base(t).RequestMS() || !r.Numbers[requestPlace].Kept {
		t.Errorf("steps do not tell the front end's time: found %v ms", got.RequestMS)
	}
	if r.Profile.Grade != "B" || !strings.Contains(r.Profile.Provenance.Method, "300 steps") || r.Profile.Provenance.Table != "steps.csv" {
		t.Errorf("found grade %s, %+v", r.Profile.Grade, r.Profile.Provenance)
	}
	if len(r.Residuals) != 300 || len(r.Unseen[DecodeStep]) == 0 {
		t.Errorf("found %d residuals, %d cross-validated", len(r.Residuals), len(r.Unseen))
	}
	for _, s := range r.Summaries() {
		if s.Median > 0.02 {
			t.Errorf("%s: median error %v", s.Kind, s.Median)
		}
	}
	text, err := r.Profile.Format()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := profile.Parse("my.yaml", text); err != nil {
		t.Error(err)
	}
}

// A profile of its own reproduces steps that it has not seen.
func TestProfileFromSteps(t *testing.T) {
	for name, noise := range map[string]float64{"exact": 0, "noisy": 0.02} {
		t.Run(name, func(t *testing.T) {
			truth := base(t)
			m, err := truth.StepModel(1)
			if err != nil {
				t.Fatal(err)
			}
			blank, err := profile.Blank(profile.Worker{GPU: "h100", Model: "qwen3-8b"})
			if err != nil {
				t.Fatal(err)
			}
			all := randomSteps(t, m, 400, noise)
			r, err := Fit(context.Background(), Options{Data: &measured.Data{Steps: all[:300]}, Blank: blank})
			if err != nil {
				t.Fatal(err)
			}
			fitted, err := r.Profile.StepModel(1)
			if err != nil {
				t.Fatal(err)
			}
			var errs []float64
			for _, s := range all[300:] {
				want, _ := m.Step(&s.Batch)
				got, _ := fitted.Step(&s.Batch)
				errs = append(errs, math.Abs(got/want-1))
			}
			slices.Sort(errs)
			if median, p95 := ranked(errs, 0.5), ranked(errs, 0.95); median > 0.05 || p95 > 0.2 {
				t.Errorf("error on unseen steps: median %v, p95 %v", median, p95)
			}
			if p := r.Profile; p.FitError == nil || p.Range.StepTokens < 1000 || p.KVCapacityTokens != blank.KVCapacityTokens {
				t.Errorf("found %+v", p)
			}
		})
	}
}

// aloneTruth is a worker whose runs follow from its steps by a rule simple
// enough for a test: a request waits for half of the prompts in flight, and
// every step decodes all others.
func rule(_ context.Context, p *profile.Profile, r *measured.Run) (Prediction, error) {
	m, err := p.StepModel(1)
	if err != nil {
		return Prediction{}, err
	}
	isl, c := int64(r.ISL), int64(r.Concurrency)
	prefill := models.Batch{PrefillSeqs: 1, PrefillContext: isl, PrefillPairs: isl * (isl + 1) / 2, DecodeSeqs: c - 1, DecodeContext: (c - 1) * isl}
	decode := models.Batch{DecodeSeqs: c, DecodeContext: c * (isl + int64(r.OSL)/2)}
	first, _ := m.Step(&prefill)
	each, _ := m.Step(&decode)
	q := Prediction{TTFT: first*(1+float64(c)/2) + p.RequestMS(), TPOT: each + first*float64(c)/float64(r.OSL)}
	q.Throughput = r.DerivedThroughput(q.TTFT, q.TPOT)
	return q, nil
}

func runsBy(t *testing.T, p *profile.Profile) []measured.Run {
	t.Helper()
	var runs []measured.Run
	for i, c := range []int{1, 2, 4, 8, 16, 32, 64, 4, 16, 64} {
		r := measured.Run{File: "runs.csv", Line: i + 2, Concurrency: c, Requests: 10 * c, ISL: 512 << (i % 3), OSL: 256, TTFT: math.NaN(), TPOT: math.NaN(), Throughput: math.NaN(), ShortestShare: 1}
		q, err := rule(context.Background(), p, &r)
		if err != nil {
			t.Fatal(err)
		}
		r.TTFT, r.TPOT = q.TTFT, q.TPOT
		if i == 3 { // tokens/s instead of TPOT
			r.TPOT, r.Throughput = math.NaN(), q.Throughput
		}
		runs = append(runs, r)
	}
	return runs
}

func TestOverheadsFromRuns(t *testing.T) {
	truth := *base(t)
	truth.Calibration = profile.Calibration{GPUTimeScale: 1.1, StepMS: 1.5, PerSeqMS: 0.06, PrefillStepMS: 3, RequestMS: 25}
	r, err := Fit(context.Background(), Options{Data: &measured.Data{Runs: runsBy(t, &truth)}, Base: base(t), Predict: rule})
	if err != nil {
		t.Fatal(err)
	}
	got, want := r.Profile.Calibration, truth.Calibration
	if !near(got.GPUTimeScale, want.GPUTimeScale, 0.02) || !near(got.StepMS, want.StepMS, 0.1) || !near(got.PerSeqMS, want.PerSeqMS, 0.1) || !near(got.RequestMS, want.RequestMS, 0.1) {
		t.Errorf("found %+v, expected %+v", got, want)
	}
	for _, s := range r.Summaries() {
		if s.Median > 0.005 {
			t.Errorf("%s: median error %v", s.Kind, s.Median)
		}
	}
}

// What the data do not tell stays as it was.
func TestUndeterminedNumbersStay(t *testing.T) {
	truth := *base(t)
	truth.Calibration.GPUTimeScale *= 1.2
	m, err := truth.StepModel(1)
	if err != nil {
		t.Fatal(err)
	}
	var steps []measured.Step
	for i, n := range []int64{1, 2, 4, 8, 16, 32, 64, 128} { // decodes only
		b := models.Batch{DecodeSeqs: n, DecodeContext: n * 2000, ScheduledTokens: n}
		ms, _ := m.Step(&b)
		steps = append(steps, measured.Step{File: "s", Line: i, Batch: b, MS: ms})
	}
	r, err := Fit(context.Background(), Options{Data: &measured.Data{Steps: steps}, Base: base(t)})
	if err != nil {
		t.Fatal(err)
	}
	if n := r.Numbers[prefillStepPlace]; !n.Kept || n.After != round5(base(t).Calibration.PrefillStepMS) {
		t.Errorf("found %+v, expected the base's value", n)
	}
	if got := r.Summaries(); len(got) != 1 || got[0].Median > 0.005 {
		t.Errorf("found %+v", got)
	}
}

func TestTooLittleData(t *testing.T) {
	blank, err := profile.Blank(profile.Worker{GPU: "h100", Model: "qwen3-8b"})
	if err != nil {
		t.Fatal(err)
	}
	m, err := base(t).StepModel(1)
	if err != nil {
		t.Fatal(err)
	}
	runs := runsBy(t, base(t))
	decodes := randomSteps(t, m, 90, 0)
	decodes = slices.DeleteFunc(decodes, func(s measured.Step) bool { return s.Batch.PrefillSeqs > 0 })
	same := slices.Repeat(runs[:1], 5)
	other := *base(t)
	other.Engine = "sglang"
	for name, c := range map[string]struct {
		o    Options
		want string
	}{
		"nothing":      {Options{Data: &measured.Data{}, Base: base(t)}, "found no measurements"},
		"no worker":    {Options{Data: &measured.Data{Runs: runs}}, "found no base profile"},
		"two runs":     {Options{Data: &measured.Data{Runs: runs[:2]}, Base: base(t)}, "runs.csv: too little data: found 4 steps and figures of runs, expected at least 6"},
		"one load":     {Options{Data: &measured.Data{Runs: same}, Base: base(t)}, "expected at least 2 to tell the time per step from the time per sequence"},
		"decodes only": {Options{Data: &measured.Data{Steps: decodes}, Blank: blank}, "found 0 sizes of prefill steps, expected at least 4"},
		"few steps":    {Options{Data: &measured.Data{Steps: decodes[:5]}, Blank: blank}, "found 5 steps, expected at least 20"},
		"few runs":     {Options{Data: &measured.Data{Runs: runs[:5]}, Blank: blank}, "found 10 steps and figures of runs, expected at least 16"},
		"other engine": {Options{Data: &measured.Data{Runs: runs}, Base: &other}, "found a profile of sglang, expected one of vllm"},
	} {
		if _, err := Fit(context.Background(), c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: found %v, expected %q in it", name, err, c.want)
		}
	}
}

func TestProfileFromRuns(t *testing.T) {
	blank, err := profile.Blank(profile.Worker{GPU: "h100", Model: "qwen3-8b"})
	if err != nil {
		t.Fatal(err)
	}
	runs := runsBy(t, base(t))
	r, err := Fit(context.Background(), Options{Data: &measured.Data{Runs: runs}, Blank: blank, Predict: rule})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range r.Summaries() {
		if s.Median > 0.1 {
			t.Errorf("%s: median error %v", s.Kind, s.Median)
		}
	}
	if !r.Numbers[pairPlace].Kept || r.Numbers[pairPlace].After <= 0 {
		t.Errorf("the pairs' time comes from the hardware: found %+v", r.Numbers[pairPlace])
	}
}

// A profile below the hardware's floor is told apart.
func TestFittedBelowFloorIsGradeC(t *testing.T) {
	p := *base(t)
	p.Calibration = profile.Calibration{GPUTimeScale: 0.2}
	m, err := p.StepModel(1)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Fit(context.Background(), Options{Data: &measured.Data{Steps: randomSteps(t, m, 60, 0)}, Base: base(t)})
	if err != nil {
		t.Fatal(err)
	}
	if r.Profile.Grade != "C" || !slices.ContainsFunc(r.Profile.Flags, func(f string) bool { return strings.HasPrefix(f, "beats_hardware_floor") }) {
		t.Errorf("found grade %s, flags %v", r.Profile.Grade, r.Profile.Flags)
	}
}

func TestFitRepeats(t *testing.T) {
	m, err := base(t).StepModel(1)
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Data: &measured.Data{Steps: randomSteps(t, m, 100, 0.03), Runs: runsBy(t, base(t))}, Base: base(t), Predict: rule}
	var first []byte
	for range 2 {
		r, err := Fit(context.Background(), o)
		if err != nil {
			t.Fatal(err)
		}
		text, err := r.Profile.Format()
		if err != nil {
			t.Fatal(err)
		}
		if first != nil && !slices.Equal(first, text) {
			t.Error("the same data gave another profile")
		}
		first = text
	}
}
