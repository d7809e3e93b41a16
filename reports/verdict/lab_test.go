package verdict

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"routesim/reports/sweepdata"
	"routesim/sim/metrics"
)

// effect is what a point does to the latencies of the default, as factors, and
// to other metrics, by name.
type effect struct {
	ttft, itl float64
	noise     float64 // of a seed, standard deviation as a share
	metric    map[string]float64
	saturated bool
	fail      string
	none      bool // not run
	missing   int  // requests that do not complete
}

// lab makes sweeps of an invented system: every request has latencies of its
// own, which a point stretches, and a seed moves at random.
type lab struct {
	axes    []sweepdata.Axis
	of      func(values []string) effect
	rows    int
	seconds float64 // of arrivals
	seeds   int
	sla     sweepdata.SLA
}

func axis(name, base string, values ...string) sweepdata.Axis {
	a := sweepdata.Axis{Name: name, Base: base, Values: values, Documented: math.NaN()}
	for _, v := range values {
		a.Numbers = append(a.Numbers, numberOf(v))
	}
	if slices.ContainsFunc(a.Numbers, math.IsNaN) {
		a.Numbers = nil
	}
	return a
}

func (l lab) defaults() lab {
	if l.rows == 0 {
		l.rows = 600
	}
	if l.seconds == 0 {
		l.seconds = 3600
	}
	if l.seeds == 0 {
		l.seeds = 8
	}
	if l.of == nil {
		l.of = func([]string) effect { return effect{} }
	}
	return l
}

func gauss(s *stream) float64 {
	u, v := (float64(s.next()>>11)+0.5)*0x1p-53, float64(s.next()>>11)*0x1p-53
	return math.Sqrt(-2*math.Log(u)) * math.Cos(2*math.Pi*v)
}

// sweep is the grid of the axes, with the default added where it is not in it.
func (l lab) sweep(t testing.TB) *sweepdata.Sweep {
	t.Helper()
	l = l.defaults()
	s := &sweepdata.Sweep{
		Version: "test", Command: []string{"routesim", "sweep", "trace.jsonl", "--seeds", fmt.Sprint(l.seeds)},
		Base: map[string]any{"workers": int64(8), "arrival-speedup-ratio": 1.0}, SLA: l.sla, Objective: "p90_ttft_ms",
		Axes: l.axes, Default: -1, Reference: -1,
	}
	r := stream(7)
	for i := range l.rows {
		s.Requests.ArrivalMS = append(s.Requests.ArrivalMS, 1000*l.seconds*float64(i)/float64(l.rows-1))
		s.Requests.InputTokens = append(s.Requests.InputTokens, int32(100+r.below(4000)))
		s.Requests.OutputTokens = append(s.Requests.OutputTokens, int32(2+r.below(400)))
	}
	for k := range l.seeds {
		s.Seeds = append(s.Seeds, uint64(k+1))
	}
	grid := [][]string{{}}
	base := []string{}
	for _, a := range l.axes {
		var next [][]string
		for _, g := range grid {
			for _, v := range a.Values {
				next = append(next, append(slices.Clone(g), v))
			}
		}
		grid = next
		base = append(base, a.Base)
	}
	if !slices.ContainsFunc(grid, func(g []string) bool { return slices.Equal(g, base) }) {
		grid = append(grid, base)
	}
	for i, g := range grid {
		p := sweepdata.Point{ID: fmt.Sprintf("%08x", i), Values: g}
		if slices.Equal(g, base) {
			s.Default = i
		}
		for a, axis := range l.axes {
			if g[a] != axis.Base && !sweepdata.Loads(axis.Name) {
				p.Flags = append(p.Flags, sweepdata.Flag{Name: "--" + axis.Name, Value: g[a]})
			}
			p.Beyond = p.Beyond || axis.Numbers != nil && numberOf(g[a]) > axis.Documented
		}
		s.Points = append(s.Points, p)
	}
	s.Load = func(point int, seed uint64) (*sweepdata.Latencies, error) { return l.run(s, point, seed), nil }
	for i := range s.Points {
		l.fill(s, i, s.Seeds)
	}
	return s
}

func (l lab) fill(s *sweepdata.Sweep, i int, seeds []uint64) {
	e := l.of(s.Points[i].Values)
	s.Points[i].Error = e.fail
	if e.none || e.fail != "" {
		return
	}
	for _, seed := range seeds {
		s.Points[i].Runs = append(s.Points[i].Runs, l.measured(s, i, seed))
	}
}

// measured is a run with the figures of its latencies.
func (l lab) measured(s *sweepdata.Sweep, i int, seed uint64) sweepdata.Run {
	e := l.of(s.Points[i].Values)
	run := sweepdata.Run{Seed: seed, Saturated: e.saturated, Metrics: make([]float64, len(sweepdata.Metrics()))}
	lat := l.run(s, i, seed)
	set := func(name string, v float64) { run.Metrics[sweepdata.MetricIndex(name)] = v }
	for m := range run.Metrics {
		run.Metrics[m] = math.NaN()
	}
	for name, values := range map[string][]float32{"ttft": lat.TTFT, "itl": lat.ITL, "tpot": lat.ITL, "e2e": lat.E2E} {
		var list []float64
		for _, v := range values {
			if v == v {
				list = append(list, float64(v))
			}
		}
		x := metrics.Exact(list)
		for stat, v := range map[string]float64{"mean": x.Mean, "p50": x.Median, "p90": x.P90, "p95": x.P95, "p99": x.P99, "max": x.Max} {
			set(stat+"_"+name+"_ms", v)
		}
	}
	done, good := 0, 0
	for k := range lat.E2E {
		if lat.E2E[k] == lat.E2E[k] {
			done++
			if meets(&s.SLA, lat.TTFT[k], lat.ITL[k], lat.E2E[k]) {
				good++
			}
		}
	}
	if s.SLA != (sweepdata.SLA{}) {
		set("goodput_share", 100*float64(good)/float64(len(lat.E2E)))
	}
	set("completed", float64(done))
	set("completed_share", 100*float64(done)/float64(len(lat.E2E)))
	set("reuse_share", 30)
	set("output_rate_tps", 1166)
	set("imbalance_busy", 1.1)
	set("rejected", 0)
	set("unfinished", float64(e.missing))
	set("preemptions", 0)
	for name, v := range e.metric {
		set(name, v)
	}
	run.Workers = []sweepdata.Worker{{Requests: int64(l.rows)}}
	run.Queue = sweepdata.Queue{AtEnd: 120, PerMinute: 4}
	run.Counters = make([]int64, len(sweepdata.Counters()))
	run.Counters[sweepdata.CounterIndex("peak_waiting")] = 12
	return run
}

func (l lab) run(s *sweepdata.Sweep, point int, seed uint64) *sweepdata.Latencies {
	e := l.of(s.Points[point].Values)
	one := func(v float64) float64 {
		if v == 0 {
			return 1
		}
		return v
	}
	requests, luck := stream(99), stream(seed*1000003+uint64(point))
	lat := &sweepdata.Latencies{}
	shift := 1 + e.noise*gauss(&luck)
	for i := range l.rows {
		ttft := 800 * math.Exp(0.6*gauss(&requests)) * one(e.ttft) * shift
		itl := 22 * math.Exp(0.2*gauss(&requests)) * one(e.itl) * (1 + e.noise/4*gauss(&luck))
		e2e := ttft + itl*float64(s.Requests.OutputTokens[i]-1)
		if i < e.missing {
			ttft, itl, e2e = math.NaN(), math.NaN(), math.NaN()
		}
		lat.TTFT = append(lat.TTFT, float32(ttft))
		lat.ITL = append(lat.ITL, float32(itl))
		lat.E2E = append(lat.E2E, float32(e2e))
		lat.Reused = append(lat.Reused, 3)
		lat.Predicted = append(lat.Predicted, 3)
		lat.Worker = append(lat.Worker, 0)
	}
	return lat
}

func mustJudge(t testing.TB, s *sweepdata.Sweep) *Verdict {
	t.Helper()
	v, err := Judge(s, Options{Resamples: 400})
	if err != nil {
		t.Fatal(err)
	}
	return v
}
