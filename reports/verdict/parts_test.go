package verdict

import (
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"routesim/reports/format"
	"routesim/reports/sweepdata"
)

// TestQuantile compares with a sort.
func TestQuantile(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.OneOf(rapid.Float64Range(-5, 5), rapid.SampledFrom([]float64{0, 1, 1, 2})), 1, 60).Draw(t, "values")
		p := rapid.Float64Range(0, 1).Draw(t, "p")
		sorted := slices.Sorted(slices.Values(values))
		h := p * float64(len(values)-1)
		k := int(h)
		want := sorted[k]
		if k+1 < len(sorted) {
			want += (sorted[k+1] - want) * (h - float64(k))
		}
		if got := quantile(slices.Clone(values), p); math.Abs(got-want) > 1e-12 {
			t.Fatalf("found %g, expected %g at %g of %v", got, want, p, sorted)
		}
	})
}

// TestHolm compares with the definition: reject step by step, the smallest first.
func TestHolm(t *testing.T) {
	if got, want := holm([]float64{0.01, 0.04, 0.03, 0.005}), []float64{0.03, 0.06, 0.06, 0.02}; !near(got, want) {
		t.Errorf("found %v, expected %v", got, want)
	}
	rapid.Check(t, func(t *rapid.T) {
		p := rapid.SliceOfN(rapid.Float64Range(0, 1), 0, 12).Draw(t, "p")
		got := holm(p)
		order := slices.Sorted(slices.Values(p))
		passed := len(order)
		for i, v := range order {
			if v*float64(len(order)-i) >= level {
				passed = i
				break
			}
		}
		for i, v := range p {
			if want := slices.Index(order, v) < passed; (got[i] < level) != want {
				t.Fatalf("p = %g of %v: found %g, expected rejected = %v", v, order, got[i], want)
			}
		}
	})
}

func near(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(x, y float64) bool { return math.Abs(x-y) < 1e-12 })
}

// TestTally compares sums and percentiles of blocks with those of the values
// themselves.
func TestTally(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := rapid.IntRange(100, 250).Draw(t, "rows")
		seconds := rapid.Float64Range(400, 900).Draw(t, "seconds")
		s := stream(rapid.Uint64().Draw(t, "seed"))
		var r sweepdata.Requests
		var runs [2]*sweepdata.Latencies
		for k := range runs {
			runs[k] = &sweepdata.Latencies{}
			for range rows {
				v := float32(100 * math.Exp(gauss(&s)))
				if s.below(10) == 0 {
					v = float32(math.NaN())
				}
				runs[k].TTFT, runs[k].ITL, runs[k].E2E, runs[k].Reused = append(runs[k].TTFT, v), append(runs[k].ITL, v/10), append(runs[k].E2E, 9*v), append(runs[k].Reused, 2)
			}
		}
		for i := range rows {
			at := seconds * 1000 * float64(i) / float64(rows-1)
			r.ArrivalMS, r.InputTokens, r.OutputTokens = append(r.ArrivalMS, at), append(r.InputTokens, 100), append(r.OutputTokens, int32(2+s.below(9)))
		}
		b := newBlocks(&r)
		tl := newTally(b)
		for range 2 { // the second time with everything left over from the first
			tl.start(runs[0])
			tl.add(runs[0], &r, &sweepdata.SLA{})
			tl.add(runs[1], &r, &sweepdata.SLA{})
			tl.close()
		}
		starts := []int32{int32(s.below(b.cells)), int32(s.below(b.cells)), int32(s.below(b.cells))}
		var ttft, gaps []float64
		weights := 0.0
		for _, start := range starts {
			for k := range perBlock {
				cell := int32((int(start) + k) % b.cells)
				for i, c := range b.cell {
					if c != cell {
						continue
					}
					for _, run := range runs {
						if v := float64(run.TTFT[i]); v == v {
							ttft = append(ttft, v)
							n := float64(r.OutputTokens[i] - 1)
							gaps = append(gaps, float64(run.ITL[i])*n)
							weights += n
						}
					}
				}
			}
		}
		sum := 0.0
		for _, g := range gaps {
			sum += g
		}
		q := measure{family: -1, num: colGap, den: colGaps}
		if got, want := q.of(tl, starts), sum/weights; math.Abs(got-want) > 1e-6*want {
			t.Fatalf("mean gap: found %g, expected %g", got, want)
		}
		slices.Sort(ttft)
		for _, p := range []float64{0.5, 0.9, 0.99} {
			q := measure{family: famTTFT, p: p}
			got := q.of(tl, starts)
			// A bin holds a hundredth of all values in the body; the blocks are
			// a part of all, with as many values again to either side of a rank.
			k := int(p * float64(len(ttft)-1))
			lo, hi := ttft[max(k-len(ttft)/25-1, 0)], ttft[min(k+len(ttft)/25+1, len(ttft)-1)]
			hi = next(runs[0].TTFT, hi) // where the bin of hi ends
			if got < lo*0.97 || got > hi*1.03 {
				t.Fatalf("%g: found %g, expected %g to %g", p, got, lo, hi)
			}
		}
	})
}

// next is the least value above v, or an eighth of an octave more.
func next(values []float32, v float64) float64 {
	least := v * math.Pow(2, 1./8)
	found := false
	for _, x := range values {
		if float64(x) > v && (!found || float64(x) < least) {
			least, found = float64(x), true
		}
	}
	return least
}

func TestBlocks(t *testing.T) {
	nan := math.NaN()
	many := func(n int, at func(i int) float64) *sweepdata.Requests {
		r := &sweepdata.Requests{}
		for i := range n {
			r.ArrivalMS, r.InputTokens = append(r.ArrivalMS, at(i)), append(r.InputTokens, 1)
		}
		return r
	}
	for _, c := range []struct {
		name string
		r    *sweepdata.Requests
		n    int
		why  string
	}{
		{"an hour", many(100, func(i int) float64 { return 36_370 * float64(i) }), 60, ""},
		{"a day", many(2000, func(i int) float64 { return 43_200 * float64(i) }), maxBlocks, ""},
		{"five minutes", many(100, func(i int) float64 { return 3000 * float64(i) }), 4, "the arrivals span 4m57s, less than 6 blocks of 60 s"},
		{"no times", many(400, func(int) float64 { return nan }), 20, ""},
		{"at once", many(400, func(int) float64 { return 5 }), 20, ""},
		{"few, no times", many(30, func(int) float64 { return nan }), 1, "the trace has 30 requests and no arrival times, too few for 6 blocks"},
		{"turns", many(1000, func(i int) float64 {
			if i%2 == 1 {
				return nan
			}
			return 1000 * float64(i)
		}), 16, ""},
	} {
		b := newBlocks(c.r)
		if b.n != c.n || b.why != c.why {
			t.Errorf("%s: found %d blocks, %q, expected %d, %q", c.name, b.n, b.why, c.n, c.why)
		}
		if c.why != "" {
			continue
		}
		counts := make([]int, b.cells)
		for i, cell := range b.cell {
			counts[cell]++
			if i > 0 && cell < b.cell[i-1] {
				t.Errorf("%s: row %d is in cell %d, the one before in %d", c.name, i, cell, b.cell[i-1])
			}
		}
		if len(b.whole()) != b.n || len(slices.Concat(b.quarter(0), b.quarter(1), b.quarter(2), b.quarter(3))) != b.n {
			t.Errorf("%s: the quarters are not the whole", c.name)
		}
	}
}

// TestHostile feeds what a broken or cut short sweep may hold, and looks for
// sentences about nothing.
func TestHostile(t *testing.T) {
	names := []string{"p90_ttft_ms", "p90_itl_ms", "goodput_share", "output_rate_tps", "regret_blocks", "preemptions"}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 7).Draw(t, "seeds")
		s := &sweepdata.Sweep{Default: -1, Reference: -1, Objective: rapid.SampledFrom(names).Draw(t, "objective"), Base: map[string]any{"workers": "4xa,2xb"}}
		for k := range n {
			s.Seeds = append(s.Seeds, uint64(k))
		}
		values := [][]string{{"0", "1", "2"}, {"0.5", "1", "x"}, {"4", "8"}}
		for i, name := range []string{credit, scale, "workers"} {
			a := axis(name, values[i][1], values[i]...)
			if rapid.IntRange(0, 3).Draw(t, "inert") == 0 && name != "workers" {
				a.Inert = "nothing to see."
			}
			s.Axes = append(s.Axes, a)
		}
		if rapid.Bool().Draw(t, "slo") {
			s.SLA = sweepdata.SLA{TTFT: 2000, ITL: 40, Target: rapid.SampledFrom([]float64{0, 0.9}).Draw(t, "target")}
		}
		chance := stream(rapid.Uint64().Draw(t, "chance"))
		figure := func() float64 {
			return []float64{math.NaN(), 0, math.Inf(1), 7, 100 * float64(chance.below(100)), float64(chance.below(50)) / 7}[chance.below(6)]
		}
		for i := range rapid.IntRange(1, 8).Draw(t, "points") {
			p := sweepdata.Point{ID: "p"}
			for a := range s.Axes {
				p.Values = append(p.Values, values[a][chance.below(len(values[a]))])
			}
			if chance.below(7) == 0 {
				p.Error = "broken"
			} else {
				for k := range n - chance.below(n+1)*chance.below(2) {
					r := sweepdata.Run{Seed: uint64(k), Saturated: chance.below(10) == 0, Queue: sweepdata.Queue{AtEnd: figure(), PerMinute: figure()}}
					v := figure()
					for m := range sweepdata.Metrics() {
						r.Metrics = append(r.Metrics, v+float64(m%3))
					}
					p.Runs = append(p.Runs, r)
				}
			}
			s.Points = append(s.Points, p)
			if i == 0 && rapid.IntRange(0, 9).Draw(t, "default") > 0 {
				s.Default = 0
				copy(s.Points[0].Values, []string{"1", "1", "8"})
			}
		}
		if k := len(s.Points) - 1; k > 0 && rapid.Bool().Draw(t, "reference") {
			s.Reference, s.Points[k].Added = k, true
		}
		v, err := Judge(s, Options{Resamples: 100})
		if err != nil {
			t.Fatal(err)
		}
		text := everything(v)
		for _, bad := range []string{"NaN", "Inf", "%!", "significant"} {
			if strings.Contains(text, bad) {
				t.Fatalf("found %s in\n%s", bad, text)
			}
		}
		if v.State == "" || v.Headline == "" || v.Shape == "" {
			t.Fatalf("found %s %q", v.State, v.Headline)
		}
	})
}

func TestJudgeRefuses(t *testing.T) {
	l := winner(nil)
	for _, c := range []struct {
		edit func(*sweepdata.Sweep)
		o    Options
		want string
	}{
		{func(s *sweepdata.Sweep) { s.Objective = "speed" }, Options{}, "objective: found speed, expected the name of a metric"},
		{func(s *sweepdata.Sweep) { s.Objective = "peak_kv_usage" }, Options{}, "objective: found peak_kv_usage"},
		{func(s *sweepdata.Sweep) { s.Default = 99 }, Options{}, "found default point 99"},
		{func(s *sweepdata.Sweep) { s.Points[1].Values = nil }, Options{}, "point 00000001: found 0 values"},
		{func(s *sweepdata.Sweep) { s.Points[1].Runs[0].Metrics = []float64{1} }, Options{}, "found 1 metrics"},
		{func(s *sweepdata.Sweep) {}, Options{Resamples: 3}, "3 resamples"},
		{func(s *sweepdata.Sweep) {
			s.Load = func(int, uint64) (*sweepdata.Latencies, error) { return &sweepdata.Latencies{}, nil }
		}, Options{}, "found latencies of 0 requests, expected 600"},
	} {
		s := l.sweep(t)
		c.edit(s)
		if _, err := Judge(s, c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("found %v, expected %q", err, c.want)
		}
	}
}

func TestPluralKeepsTheWord(t *testing.T) {
	for n, want := range map[int]string{1: "1 held-out run", 28: "28 held-out runs", 12031: "12" + format.Narrow + "031 held-out runs"} {
		if got := plural(n, "held-out run"); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}

// TestArrived: of a run that stopped early only the requests that arrived count.
func TestArrived(t *testing.T) {
	byName, metrics := map[string]int{}, sweepdata.Metrics()
	values := make([]float64, len(metrics))
	for i, m := range metrics {
		byName[m.Name], values[i] = i, math.NaN()
	}
	values[byName["completed"]], values[byName["lost"]], values[byName["unfinished"]] = 5, 1, 2
	j := &judge{d: &design{byName: byName}, s: &sweepdata.Sweep{Points: []sweepdata.Point{{Runs: []sweepdata.Run{{Seed: 3, Metrics: values}}}}}}
	if got := j.arrived(0, 3, 100); got != 8 {
		t.Errorf("%d requests arrived, expected 8", got)
	}
	if got := j.arrived(0, 4, 100); got != 100 {
		t.Errorf("%d requests of a run that is not there, expected all rows", got)
	}
}
