package metrics

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"routesim/sim/fmath"
)

// direct is the sketch written from its definition, with no table.
type direct struct {
	n     int
	count map[int32]int
	zeros int
}

func (d *direct) add(v float64) {
	d.n++
	if v == 0 {
		d.zeros++
		return
	}
	d.count[int32(math.Ceil(fmath.Log(v)*invGamma))]++
}

func (d *direct) percentile(p float64) float64 {
	last := float64(d.n - 1)
	r := math.Round(last * p / 100)
	q := 1.0
	if r < last {
		q = (r + 0.5) / last
	}
	rank := int(math.Floor(q * last))
	if rank < d.zeros {
		return 0
	}
	rank -= d.zeros
	var keys []int32
	for k := range d.count {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		if rank < d.count[k] {
			return fmath.Exp(float64(k)*(1/invGamma)) * centre
		}
		rank -= d.count[k]
	}
	panic("rank beyond the last value")
}

func relative(a, b float64) float64 {
	if a == b {
		return 0
	}
	return math.Abs(a-b) / math.Max(math.Abs(a), math.Abs(b))
}

func checkSketch(t interface{ Fatalf(string, ...any) }, vs []float64) {
	var d Dist
	want := direct{count: map[int32]int{}}
	for _, v := range vs {
		d.Add(v)
		want.add(v)
	}
	got := map[int32]int{}
	zeros := 0
	for _, b := range d.buckets() {
		if b.key == valueZero {
			zeros += int(b.count)
		} else {
			got[b.key] += int(b.count)
		}
	}
	if zeros != want.zeros || len(got) != len(want.count) {
		t.Fatalf("found %d zeros and %d buckets, expected %d and %d", zeros, len(got), want.zeros, len(want.count))
	}
	for k, n := range want.count {
		if got[k] != n {
			t.Fatalf("bucket %d: found %d values, expected %d", k, got[k], n)
		}
	}
	if want.n > 1 {
		for _, p := range []float64{0, 1, 25, 50, 75, 90, 95, 99, 99.9, 100} {
			if g, w := d.Percentile(p), want.percentile(p); g != w {
				t.Fatalf("p%v: found %v, expected %v", p, g, w)
			}
		}
	}
}

func TestSketchEqualsFormula(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	t.Run("spread", func(t *testing.T) {
		vs := make([]float64, 300_000)
		for i := range vs {
			vs[i] = math.Exp(rng.NormFloat64() * 6)
		}
		checkSketch(t, vs)
	})
	t.Run("around every bound", func(t *testing.T) {
		var vs []float64
		for k := -12000; k <= 12000; k++ {
			b := math.Exp(float64(k) * logGamma)
			for _, ulps := range []int64{-5000, -513, -512, -511, -40, -3, -2, -1, 0, 1, 2, 3, 40, 511, 512, 513, 5000} {
				vs = append(vs, math.Float64frombits(uint64(int64(math.Float64bits(b))+ulps)))
			}
		}
		rng.Shuffle(len(vs), func(i, j int) { vs[i], vs[j] = vs[j], vs[i] })
		checkSketch(t, vs)
	})
	t.Run("cell edges", func(t *testing.T) {
		var vs []float64
		for c := uint64(exponent0-5) << mantissaBits; c < uint64(exponent0+5)<<mantissaBits; c++ {
			v := math.Float64frombits(c << cellShift)
			vs = append(vs, v, math.Nextafter(v, 0))
		}
		checkSketch(t, vs)
	})
	t.Run("far outside the table", func(t *testing.T) {
		checkSketch(t, []float64{0, 1, math.SmallestNonzeroFloat64, math.MaxFloat64, 1e-300, 1e300, math.Ldexp(1, firstOctave), math.Ldexp(1, lastOctave), math.Nextafter(math.Ldexp(1, lastOctave), 0), 0, 7})
	})
	t.Run("any", rapid.MakeCheck(func(t *rapid.T) {
		checkSketch(t, rapid.SliceOf(rapid.Float64Range(0, 1e6)).Draw(t, "values"))
	}))
}

// TestConstants checks the constants against the formulas, rounded step by step.
func TestConstants(t *testing.T) {
	a := alpha
	r := 2 * a / (1 - a)
	g := 1 + r
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"logGamma", logGamma, math.Log1p(r)},
		{"invGamma", invGamma, 1 / math.Log1p(r)},
		{"centre", centre, 2 / (1 + g)},
	} {
		if c.got != c.want {
			t.Errorf("%s: found %x, expected %x", c.name, c.got, c.want)
		}
	}
}

// TestBucketError states what the sketch promises.
func TestBucketError(t *testing.T) {
	for v := 1e-6; v < 1e7; v *= 1.00037 {
		if got := (keyCount{bucket(v), 1}).reported(); relative(got, v) > alpha*1.001 {
			t.Fatalf("%v is reported as %v", v, got)
		}
	}
}

func welford(vs []float64) (mean, std float64) {
	var n, m2 float64
	for _, v := range vs {
		n++
		d := v - mean
		mean += d / n
		m2 += float64(d * (v - mean))
	}
	return mean, math.Sqrt(m2 / n)
}

// checkGaps compares both distributions with Welford's update over all gaps.
func checkGaps(t *testing.T, g *Gaps, gaps []float64, tolerance float64) {
	t.Helper()
	var rates []float64
	for _, v := range gaps {
		if v > 0 {
			rates = append(rates, 1000/v)
		}
	}
	for _, c := range []struct {
		name string
		d    *Dist
		all  []float64
	}{{"ITL", &g.ITL, gaps}, {"rate", &g.Rate, rates}} {
		mean, std := welford(c.all)
		if relative(c.d.Mean(), mean) > tolerance || relative(c.d.Std(), std) > tolerance {
			t.Errorf("%s: found %v +- %v, expected %v +- %v", c.name, c.d.Mean(), c.d.Std(), mean, std)
		}
		if c.d.Min() != slices.Min(c.all) || c.d.Max() != slices.Max(c.all) || c.d.Count() != int64(len(c.all)) {
			t.Errorf("%s: found %v to %v, %d values, expected %v to %v, %d", c.name,
				c.d.Min(), c.d.Max(), c.d.Count(), slices.Min(c.all), slices.Max(c.all), len(c.all))
		}
		want := direct{count: map[int32]int{}}
		for _, v := range c.all {
			want.add(v)
		}
		for _, p := range []float64{0, 50, 75, 90, 95, 99, 100} {
			if got := c.d.Percentile(p); got != want.percentile(p) {
				t.Errorf("%s p%v: found %v, expected %v", c.name, p, got, want.percentile(p))
			}
		}
	}
}

func TestGapsEqualWelfordAndFormula(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, c := range []struct {
		name string
		draw func() float64
	}{
		{"decode steps with prefill peaks", func() float64 {
			if rng.IntN(50) == 0 {
				return 20 + 200*rng.Float64()
			}
			return 6 + rng.Float64()
		}},
		{"narrow", func() float64 { return 30 + 0.01*rng.NormFloat64() }},
		{"wide", func() float64 { return math.Exp(3 * rng.NormFloat64()) }},
		{"with zeros", func() float64 { return max(0, rng.NormFloat64()) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			var g Gaps
			var all []float64
			for range 3000 {
				times := []float64{100 * rng.Float64()}
				for range rng.IntN(200) {
					times = append(times, times[len(times)-1]+c.draw())
					all = append(all, times[len(times)-1]-times[len(times)-2])
				}
				g.AddTimes(times)
			}
			if len(all) < 3*literalValues {
				t.Fatal("the test is too small to leave the literal update")
			}
			checkGaps(t, &g, all, 1e-12)
		})
	}
}

// TestGapsAfterADifferentStart makes the later gaps unlike those from whose
// mean the differences are taken.
func TestGapsAfterADifferentStart(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	var g Gaps
	var all []float64
	for i := range 8000 {
		times := []float64{0}
		for range 100 {
			gap := 6 + 0.001*rng.Float64()
			if i > 700 {
				gap *= 50
			}
			times = append(times, times[len(times)-1]+gap)
			all = append(all, times[len(times)-1]-times[len(times)-2])
		}
		g.AddTimes(times)
	}
	checkGaps(t, &g, all, 1e-12)
}

func TestMomentsOfFewValuesAreLiteral(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		vs := rapid.SliceOfN(rapid.Float64Range(5, 5.0001), 1, 40).Draw(t, "values")
		var d Dist
		for _, v := range vs {
			d.Add(v)
		}
		mean, std := welford(vs)
		if d.Mean() != mean || d.Std() != std {
			t.Fatalf("found %v +- %v, expected %v +- %v", d.Mean(), d.Std(), mean, std)
		}
	})
}

// TestGapsOfOneRequest pins values that Dynamo 1.6.1 reports for three tokens
// of one request.
func TestGapsOfOneRequest(t *testing.T) {
	var g Gaps
	g.AddTimes([]float64{21.96008, 27.705282, 33.450536})
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"mean_itl_ms", g.ITL.Mean(), 5.745227999999999},
		{"min_itl_ms", g.ITL.Min(), 5.745201999999999},
		{"max_itl_ms", g.ITL.Max(), 5.745253999999999},
		{"median_itl_ms", g.ITL.Percentile(50), 5.748851426827424},
		{"p99_itl_ms", g.ITL.Percentile(99), 5.748851426827424},
		{"std_itl_ms", g.ITL.Std(), 2.6000000000081513e-05},
		{"mean_output_token_throughput_per_user", g.Rate.Mean(), 174.05749606812475},
		{"min_output_token_throughput_per_user", g.Rate.Min(), 174.0567083718144},
		{"median_output_token_throughput_per_user", g.Rate.Percentile(50), 173.99059041324327},
		{"std_output_token_throughput_per_user", g.Rate.Std(), 0.0007876963103470302},
	} {
		if relative(c.got, c.want) > 2e-16 { // the last digit of the exponential is not prescribed
			t.Errorf("%s: found %v, expected %v", c.name, c.got, c.want)
		}
	}
}

// TestGapsOfZero pins Dynamo's numbers for steps that take no time.
func TestGapsOfZero(t *testing.T) {
	var g Gaps
	g.AddTimes([]float64{7.5, 15, 22.5, 22.5, 22.5, 22.5})
	g.AddTimes([]float64{15, 22.5, 22.5, 22.5})
	g.AddTimes([]float64{22.5, 22.5, 22.5})
	i, r := g.ITL.Stats(), g.Rate.Stats()
	if i.N != 10 || i.Mean != 2.25 || i.Min != 0 || i.Max != 7.5 || i.Median != 0 || i.P75 != 7.500728668829087 || i.Std != 3.43693177121688 {
		t.Errorf("found %+v", i)
	}
	if r.N != 3 || r.Mean != 133.33333333333334 || relative(r.Median, 133.35318448572343) > 3e-16 || r.Std != 0 {
		t.Errorf("found %+v", r)
	}
}

func TestGapsInSegments(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		steps := rapid.SliceOfN(rapid.Map(rapid.IntRange(0, 5e7), func(ns int) float64 { return float64(ns) / 1e6 }), 1, 60).Draw(t, "steps")
		times := make([]float64, len(steps)+1)
		for i, s := range steps {
			times[i+1] = times[i] + s
		}
		var whole, parts Gaps
		whole.AddTimes(times)
		for a := 0; a < len(times); {
			b := rapid.IntRange(a+1, len(times)).Draw(t, "segment")
			if a > 0 {
				parts.AddGap(times[a] - times[a-1])
			}
			parts.AddTimes(times[a:b])
			a = b
		}
		if whole.ITL.Stats() != parts.ITL.Stats() {
			t.Fatalf("ITL: found %+v, expected %+v", parts.ITL.Stats(), whole.ITL.Stats())
		}
		if w, p := whole.Rate.Stats(), parts.Rate.Stats(); w != p && w.N > 0 {
			t.Fatalf("rate: found %+v, expected %+v", p, w)
		}
	})
}

func TestGapsNeverNegative(t *testing.T) {
	var g Gaps
	g.AddTimes([]float64{5, 4, 6})
	g.AddGap(-1)
	if g.ITL.Min() != 0 || g.ITL.Max() != 2 || g.ITL.Count() != 3 || g.Rate.Count() != 1 {
		t.Errorf("found %+v", g.ITL.Stats())
	}
}

func TestEmptyAndSingle(t *testing.T) {
	var g Gaps
	g.AddTimes(nil)
	g.AddTimes([]float64{3})
	for _, v := range []float64{g.ITL.Mean(), g.ITL.Std(), g.ITL.Min(), g.ITL.Max(), g.ITL.Percentile(50), g.ITL.Stats().P99} {
		if !math.IsNaN(v) {
			t.Errorf("found %v, expected NaN", v)
		}
	}
	g.AddGap(5.3)
	if s := g.ITL.Stats(); s.Median != 5.3 || s.P99 != 5.3 || s.Mean != 5.3 || s.Std != 0 {
		t.Errorf("found %+v", s)
	}
}

func TestAddTimesDoesNotAllocate(t *testing.T) {
	times := randomTimes(rand.New(rand.NewPCG(5, 6)), 400)
	var g Gaps
	g.AddTimes(times)
	if n := testing.AllocsPerRun(100, func() { g.AddTimes(times); g.AddGap(5.5) }); n != 0 {
		t.Errorf("found %v allocations a call, expected none", n)
	}
}

func TestExact(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   Stats
	}{
		{[]float64{4}, Stats{1, 4, 4, 4, 4, 4, 4, 4, 4, 0}},
		{[]float64{3, 1}, Stats{2, 2, 1, 3, 3, 3, 3, 3, 3, 1}},
		{[]float64{10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0}, Stats{11, 5, 0, 10, 5, 8, 9, 10, 10, math.Sqrt(10)}},
		{[]float64{4, 2, 2, 4}, Stats{4, 3, 2, 4, 4, 4, 4, 4, 4, 1}},
	} {
		if got := Exact(slices.Clone(c.values)); got != c.want {
			t.Errorf("%v: found %+v, expected %+v", c.values, got, c.want)
		}
	}
	if s := Exact(nil); s.N != 0 || !math.IsNaN(s.Mean) || !math.IsNaN(s.P99) || !math.IsNaN(s.Std) {
		t.Errorf("empty: found %+v", s)
	}
}

func TestExactPercentilesAreElements(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		vs := rapid.SliceOfN(rapid.Float64Range(0, 1e5), 1, 200).Draw(t, "values")
		sorted := slices.Clone(vs)
		slices.Sort(sorted)
		s := Exact(slices.Clone(vs))
		m := len(vs) - 1
		for p, got := range map[int]float64{50: s.Median, 75: s.P75, 90: s.P90, 95: s.P95, 99: s.P99} {
			if want := sorted[(2*m*p+100)/200]; got != want { // round half up in integers
				t.Fatalf("p%d of %d: found %v, expected %v", p, len(vs), got, want)
			}
		}
	})
}

func TestSortValues(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	for _, n := range []int{0, 1, 2, fewValues - 1, fewValues, 5000} {
		vs := make([]float64, n)
		for i := range vs {
			if vs[i] = math.Exp(40 * rng.NormFloat64()); rng.IntN(9) == 0 {
				vs[i] = float64(rng.IntN(3))
			}
		}
		want := slices.Clone(vs)
		slices.Sort(want)
		sortValues(vs)
		if !slices.Equal(vs, want) {
			t.Errorf("%d values are not in order", n)
		}
	}
}

// TestFold checks that counts survive their move to the map.
func TestFold(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 14))
	var d, want Dist
	for i := range 20000 {
		v := math.Exp(rng.NormFloat64())
		d.Add(v)
		want.Add(v)
		if i%700 == 0 {
			d.makeRoom(foldAfter)
		}
	}
	if d.Stats() != want.Stats() {
		t.Errorf("found %+v, expected %+v", d.Stats(), want.Stats())
	}
}

func randomTimes(rng *rand.Rand, n int) []float64 {
	times := make([]float64, n)
	for i := 1; i < n; i++ {
		gap := 5.7 + 3*rng.Float64()
		if rng.IntN(60) == 0 {
			gap += 150 * rng.Float64()
		}
		times[i] = times[i-1] + gap
	}
	return times
}

func BenchmarkAddTimes(b *testing.B) {
	rng := rand.New(rand.NewPCG(7, 8))
	requests := make([][]float64, 1000)
	gaps := 0
	for i := range requests {
		requests[i] = randomTimes(rng, 50+rng.IntN(600))
		gaps += len(requests[i]) - 1
	}
	var g Gaps
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		for _, r := range requests {
			g.AddTimes(r)
		}
		n += gaps
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/gap")
}

func BenchmarkExact(b *testing.B) {
	rng := rand.New(rand.NewPCG(9, 10))
	vs := make([]float64, 12031)
	for i := range vs {
		vs[i] = math.Exp(rng.NormFloat64())
	}
	work := make([]float64, len(vs))
	for b.Loop() {
		copy(work, vs)
		Exact(work)
	}
}
