package figures

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"routesim/models/profile"
	"routesim/reports"
	"routesim/reports/sweepdata"
	"routesim/reports/verdict"
	"routesim/sim/sweep"
)

// axis makes an axis of values as typed.
func axis(name, base string, values ...string) sweepdata.Axis {
	return sweepdata.Axis{Name: name, Values: values, Numbers: sweep.Numbers(values), Base: base, Documented: math.NaN()}
}

// made returns a sweep over all combinations of the axes' values, whose metrics
// follow from the values: the higher the number, or the later the word, the
// lower the latencies.
func made(seeds int, axes ...sweepdata.Axis) *sweepdata.Sweep {
	s := &sweepdata.Sweep{
		Version: "1.2.3", Trace: reports.TraceFacts{Name: "trace.jsonl", Rows: 40}, Objective: "p90_ttft_ms", Design: "grid",
		Axes: axes, Default: -1, Reference: -1, SLA: sweepdata.SLA{TTFT: 2000, ITL: 40, Target: 0.9},
	}
	for i := range seeds {
		s.Seeds = append(s.Seeds, uint64(i))
	}
	total := 1
	for i := range axes {
		total *= len(axes[i].Values)
	}
	for n := range total {
		p := sweepdata.Point{ID: fmt.Sprintf("%08x", n)}
		level, isDefault := 0.0, true
		for k, rest := len(axes)-1, n; k >= 0; k-- {
			a := &axes[k]
			i := rest % len(a.Values)
			rest /= len(a.Values)
			p.Values = append([]string{a.Values[i]}, p.Values...)
			isDefault = isDefault && a.Values[i] == a.Base
			if a.Inert == "" {
				level += float64(i)
			}
		}
		if isDefault {
			s.Default = n
		}
		for _, seed := range s.Seeds {
			p.Runs = append(p.Runs, madeRun(seed, level))
		}
		s.Points = append(s.Points, p)
	}
	s.Reference = len(s.Points)
	rr := sweepdata.Point{ID: "rr000000", Added: true, Runs: []sweepdata.Run{madeRun(0, -3)}}
	for i := range axes {
		rr.Values = append(rr.Values, axes[i].Base)
	}
	s.Points = append(s.Points, rr)
	s.Load = func(point int, seed uint64) (*sweepdata.Latencies, error) {
		l := &sweepdata.Latencies{}
		for i := range s.Trace.Rows {
			v := float32(100 + 7*i + int(seed))
			l.TTFT, l.ITL, l.E2E = append(l.TTFT, v), append(l.ITL, v/50), append(l.E2E, 20*v)
			l.Predicted, l.Reused = append(l.Predicted, float32(i%9)), append(l.Reused, float32(i%7))
		}
		return l, nil
	}
	return s
}

func madeRun(seed uint64, level float64) sweepdata.Run {
	r := sweepdata.Run{Seed: seed, Workers: make([]sweepdata.Worker, 4)}
	noise := 1 + 0.001*math.Sin(float64(seed)+level)
	for i, m := range sweepdata.Metrics() {
		v := (800 + float64(i)) * (1 - 0.05*level) * noise
		switch {
		case m.Unit == "%":
			v = math.Max(0, math.Min(100, 60+4*level+noise))
		case m.Better > 0:
			v = (10 + level) * noise
		case strings.HasPrefix(m.Name, "imbalance"):
			v = 1.3 - 0.02*level
		case m.Family == "itl":
			v = 20 + level // raising the settings costs ITL
		}
		r.Metrics = append(r.Metrics, v)
	}
	return r
}

func credit() sweepdata.Axis {
	return axis("router-kv-overlap-score-credit", "1", "0", "0.5", "1", "1.5")
}
func scale() sweepdata.Axis {
	return axis("router-prefill-load-scale", "1", "0.5", "1", "2", "4", "8")
}
func mode() sweepdata.Axis { return axis("router-mode", "kv", "random", "kv", "least-loaded") }

// watched returns workers over time.
func watched(workers int) *sweepdata.WorkerSeries {
	s := &sweepdata.WorkerSeries{Width: 1000}
	for w := range workers {
		var strip sweepdata.Strip
		for b := range sweepdata.SeriesBuckets {
			strip.KV = append(strip.KV, float32(w+1)/float32(2*workers))
			strip.Running = append(strip.Running, int32(b%(w+2)))
			strip.Waiting = append(strip.Waiting, int32(b/100*w))
		}
		s.Workers = append(s.Workers, strip)
	}
	return s
}

// drawn writes a figure as SVG.
func drawn(t interface{ Fatalf(string, ...any) }, n *Named) string {
	var b bytes.Buffer
	if err := n.WriteSVG(&b); err != nil {
		t.Fatalf("%s: %v", n.Name, err)
	}
	return b.String()
}

func names(list []Named) (out []string) {
	for i := range list {
		out = append(out, list[i].Name)
	}
	return out
}

func TestAllDrawsEveryKind(t *testing.T) {
	s := made(3, credit(), scale())
	list, err := All(s, &verdict.Verdict{Chosen: 14, Default: s.Default}, Series{s.Default: watched(4), 14: watched(4)})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"knob_ttft_router-kv-overlap-score-credit", "knob_itl_router-kv-overlap-score-credit",
		"knob_ttft_router-prefill-load-scale", "knob_itl_router-prefill-load-scale",
		"heatmap_p90_ttft_ms_change", "heatmap_p90_ttft_ms_value", "heatmap_p90_itl_ms_change", "heatmap_goodput_share_change",
		"heatmap_reuse_share_change", "heatmap_imbalance_busy_change",
		"pareto_p90_ttft_p90_itl", "cdf_ttft", "cdf_tpot", "cdf_e2e", "balance", "overlap", "workers_chosen", "workers_default",
		"goodput_router-kv-overlap-score-credit",
	}
	if got := names(list); !slices.Equal(got, want) {
		t.Errorf("found %v\nexpected %v", got, want)
	}
	again, err := All(s, &verdict.Verdict{Chosen: 14, Default: s.Default}, Series{s.Default: watched(4), 14: watched(4)})
	if err != nil {
		t.Fatal(err)
	}
	for i := range list {
		if drawn(t, &list[i]) != drawn(t, &again[i]) {
			t.Errorf("%s: the second SVG differs", list[i].Name)
		}
		if list[i].Title == "" || !strings.HasSuffix(list[i].Alt, ".") || !strings.Contains(list[i].Subtitle, "trace.jsonl, 40 requests, 4 workers, 3 seeds, routesim 1.2.3") {
			t.Errorf("%s: found the caption %q", list[i].Name, list[i].Caption)
		}
	}
}

// TestAllCopesWithWhatSweepsAre draws sweeps of all shapes: any number of axes,
// words and numbers, runs that failed, are missing or overloaded, absent values.
func TestAllCopesWithWhatSweepsAre(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		axes := []sweepdata.Axis{}
		for _, a := range []sweepdata.Axis{credit(), scale(), mode(), axis("workers", "2", "1", "2", "4")} {
			if rapid.Bool().Draw(t, a.Name) {
				if rapid.IntRange(0, 3).Draw(t, "inert") == 0 {
					a.Inert = "no prompt fills a block"
				}
				axes = append(axes, a)
			}
		}
		s := made(rapid.IntRange(1, 3).Draw(t, "seeds"), axes...)
		for i := range s.Points {
			p := &s.Points[i]
			switch rapid.IntRange(0, 9).Draw(t, "fate") {
			case 0:
				p.Runs, p.Error = nil, "worker 0: found a prompt that can never fit"
			case 1:
				p.Runs = nil
			case 2:
				p.Runs[0].Saturated = true
			case 3:
				p.Runs[0].Metrics[rapid.IntRange(0, len(p.Runs[0].Metrics)-1).Draw(t, "metric")] = math.NaN()
			}
		}
		if rapid.IntRange(0, 4).Draw(t, "sampled") == 0 {
			s.Design = "lhs:20"
		}
		var v *verdict.Verdict
		if rapid.Bool().Draw(t, "verdict") {
			v = &verdict.Verdict{Default: s.Default, Chosen: rapid.IntRange(-1, len(s.Points)-1).Draw(t, "chosen")}
		}
		series := Series{}
		if p := rapid.IntRange(0, len(s.Points)-1).Draw(t, "watched"); len(s.Points[p].Runs) > 0 {
			series[p] = watched(rapid.SampledFrom([]int{1, 4, 33, 64}).Draw(t, "workers"))
		}
		list, err := All(s, v, series)
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for i := range list {
			if seen[list[i].Name] {
				t.Fatalf("%s is drawn twice", list[i].Name)
			}
			seen[list[i].Name] = true
			if text := drawn(t, &list[i]); strings.Contains(text, "NaN") || strings.Contains(text, "Inf") || strings.Contains(text, "%!") {
				t.Fatalf("%s: not a number in the figure", list[i].Name)
			}
		}
	})
}

func TestFindings(t *testing.T) {
	s := made(6, credit(), scale())
	v := &verdict.Verdict{Default: s.Default, Chosen: 14}
	for _, c := range []struct {
		r    Request
		want string
	}{
		{Request{Kind: Knob, Axis: "router-prefill-load-scale", Metric: "ttft"}, "TTFT p90 is best at scale 8: 561\u00a0ms, \u221217.6\u00a0% against the default"},
		{Request{Kind: Knob, Axis: "router-prefill-load-scale", Metric: "itl"}, "ITL p90 is best at scale 0.5: 22.0\u00a0ms, \u22124.3\u00a0% against the default"},
		{Request{Kind: HeatMap, Metric: "p90_ttft_ms"}, "TTFT p90 is best at credit 1.5, scale 8: 521\u00a0ms, \u221223.5\u00a0% against the default"},
		{Request{Kind: HeatMap, Metric: "reuse_share"}, "Prefix reuse is best at credit 1.5, scale 8: 89.0\u00a0%, +16.0\u00a0pp against the default"},
		{Request{Kind: Pareto}, "1.5 / 8: TTFT p90 521\u00a0ms, ITL p90 27.0\u00a0ms; round robin: 922\u00a0ms, 17.0\u00a0ms"},
		{Request{Kind: Balance}, "Prefix reuse from 61.0\u00a0% (0 / 0.5) to 89.0\u00a0% (1.5 / 8), imbalance 1.16 to 1.30"},
		{Request{Kind: Overlap}, "Prefix overlap as predicted for 17.5\u00a0% of requests"},
		{Request{Kind: Goodput, Axis: "router-prefill-load-scale"}, "No scale keeps 90\u00a0% of requests within the SLA; closest: 8 with 85.0\u00a0%"},
	} {
		list, err := Draw(s, v, nil, c.r)
		if err != nil {
			t.Fatal(err)
		}
		if got := list[0].Title; !strings.HasPrefix(got, c.want) {
			t.Errorf("%v: found %q, expected %q", c.r, got, c.want)
		}
	}
}

// TestNoDifferenceIsNotABest: where all seeds agree that nothing differs, the
// title does not name a best value.
func TestNoDifferenceIsNotABest(t *testing.T) {
	s := made(6, credit())
	m := metric("p90_ttft_ms")
	for i := range s.Points {
		for k := range s.Points[i].Runs {
			s.Points[i].Runs[k].Metrics[m] = 500 + float64((k*7+i*5)%11) // noise
		}
	}
	list, err := Draw(s, nil, nil, Request{Kind: Knob, Metric: "ttft"})
	if err != nil {
		t.Fatal(err)
	}
	if got := list[0].Title; got != "TTFT p90: no difference shown for any credit" {
		t.Errorf("found %q", got)
	}
}

// TestInertAxesAreFolded: an axis that changed nothing is no axis of a map, and
// its values do not part the points.
func TestInertAxesAreFolded(t *testing.T) {
	dead := axis("router-temperature", "0", "0", "0.5")
	dead.Inert = "temperature draws among equals"
	s := made(2, credit(), dead)
	d := newData(s, nil, nil)
	if len(d.live) != 1 || d.lacks(HeatMap) == "" {
		t.Errorf("found %d axes that matter", len(d.live))
	}
	list, err := All(s, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range names(list) {
		if strings.Contains(n, "temperature") {
			t.Errorf("%s is drawn", n)
		}
	}
	if l := d.lines(0, metric("p95_ttft_ms")); len(l) != 1 || slices.Contains(l[0].points, -1) {
		t.Errorf("found the lines %v", l)
	}
}

// TestBestOverTheOthers: with three axes a cell is the best of those it stands
// for.
func TestBestOverTheOthers(t *testing.T) {
	s := made(1, credit(), scale(), mode())
	d := newData(s, nil, nil)
	m := metric("p90_ttft_ms")
	p := d.cellPoint(0, 1, 2, 3, m)
	if got := strings.Join(s.Points[p].Values, " "); got != "1 4 least-loaded" {
		t.Errorf("found the point %s", got)
	}
}

// TestLoadsAreNotCompared: with fleets and rates, every point is compared under
// its own load, lines stand for fleets, and scatters show the default's load.
func TestLoadsAreNotCompared(t *testing.T) {
	fleet, rate := axis("workers", "2", "1", "2", "4"), axis("arrival-speedup-ratio", "1", "0.5", "1", "2")
	s := made(2, fleet, rate, credit())
	d := newData(s, nil, nil)
	rates := d.lines(1, metric("goodput_share"))
	if len(rates) != 3 || rates[2].name != "workers 4" {
		t.Fatalf("found the lines %v", rates)
	}
	for _, l := range rates {
		for i, p := range l.points {
			if v := s.Points[p].Values; v[1] != rate.Values[i] || v[2] != "1" {
				t.Errorf("%s: found the point %v", l.name, v)
			}
		}
	}
	for _, p := range d.comparable(nil) {
		if v := s.Points[p].Values; v[0] != "2" || v[1] != "1" {
			t.Errorf("found the point %v among those under the default's load", v)
		}
	}
	if p := d.cellPoint(2, 0, 3, 1, metric("p90_ttft_ms")); strings.Join(s.Points[p].Values, " ") != "2 1 1.5" {
		t.Errorf("found the point %v", s.Points[p].Values)
	}
	list, err := Draw(s, nil, nil, Request{Kind: Goodput})
	if err != nil {
		t.Fatal(err)
	}
	if got := list[0]; got.Name != "goodput_arrival-speedup-ratio" || !strings.HasPrefix(got.Title, "Workers 2: ") {
		t.Errorf("found %s: %s", got.Name, got.Title)
	}
	if list, err = Draw(s, nil, nil, Request{Kind: HeatMap}); err != nil {
		t.Fatal(err)
	}
	if got := names(list); !slices.Contains(got, "heatmap_p90_ttft_ms_load") && !slices.Contains(got, "heatmap_p90_ttft_ms_value_load") {
		t.Errorf("found %v", got)
	}
	only := made(2, fleet, rate)
	if list, err = Draw(only, nil, nil, Request{Kind: HeatMap}); err != nil {
		t.Fatal(err)
	}
	for _, n := range names(list) {
		if strings.HasSuffix(n, "change") {
			t.Errorf("%s is drawn, where no two points do the same work", n)
		}
	}
}

// TestUnits: seconds where the default's p99 reaches one.
func TestUnits(t *testing.T) {
	s := made(1, credit())
	d := newData(s, nil, nil)
	if u, per := d.unit(metric("p50_ttft_ms")); u != "ms" || per != 1 {
		t.Errorf("found %s", u)
	}
	for i := range s.Points {
		s.Points[i].Runs[0].Metrics[metric("p99_ttft_ms")] = 1500
		s.Points[i].Runs[0].Metrics[metric("p99_itl_ms")] = 1500
	}
	d = newData(s, nil, nil)
	if u, per := d.unit(metric("p50_ttft_ms")); u != "s" || per != 1000 {
		t.Errorf("found %s", u)
	}
	if u, _ := d.unit(metric("p50_itl_ms")); u != "ms" {
		t.Errorf("ITL in %s", u)
	}
	if got := d.write(metric("p50_ttft_ms"), 554); got != "0.554 s" {
		t.Errorf("found %s", got)
	}
}

func TestGeometric(t *testing.T) {
	for _, c := range []struct {
		values string
		want   bool
	}{
		{"0.25 0.5 1 2 4 8", true}, {"0 0.25 0.5 1 2 4 8", true}, {"1 2 4 8", false}, {"0 0.5 1 1.5 2", false},
		{"1 10 100", true}, {"-1 1 100", false}, {"1 2 3 100", false}, {"1 100", false}, {"8 0.5 2", true},
	} {
		if got := geometric(sweep.Numbers(strings.Fields(c.values))); got != c.want {
			t.Errorf("%s: found %v", c.values, got)
		}
	}
}

// TestPoolsAreNamedApart: a strip is named by its pool, and so are the workers
// that the sentence below names.
func TestPoolsAreNamedApart(t *testing.T) {
	s := watched(5)
	s.Prefill = 2
	if got, want := workersFinding("x", s), "X: KV use from 10.0 % (p0) to 50.0 % (d2) on average; up to 8 requests waiting (d2)"; got != want {
		t.Errorf("found %q, expected %q", got, want)
	}
	if got := workersFinding("x", watched(5)); !strings.Contains(got, "(w0) to 50.0 % (w4)") {
		t.Errorf("one pool: found %q", got)
	}
}

func TestShownWorkers(t *testing.T) {
	if got := shownWorkers(watched(32)); len(got) != 32 || got[31] != 31 {
		t.Errorf("found %v", got)
	}
	want := []int{63, 62, 61, 60, 59, 58, 57, 56, 31, 7, 6, 5, 4, 3, 2, 1, 0}
	if got := shownWorkers(watched(64)); !slices.Equal(got, want) {
		t.Errorf("found %v, expected %v", got, want)
	}
	if got := niceShare(0.13); got != 0.15 {
		t.Errorf("found %v", got)
	}
	if got := niceShare(1); got != 1 {
		t.Errorf("found %v", got)
	}
}

func TestDrawRefuses(t *testing.T) {
	s := made(2, credit())
	for _, c := range []struct {
		r    Request
		want string
	}{
		{Request{Kind: "pie"}, "expected one of"},
		{Request{Kind: HeatMap}, "expected two axes"},
		{Request{Kind: Workers}, "found no workers over time"},
		{Request{Kind: Knob, Axis: "colour"}, `found "colour"`},
		{Request{Kind: Knob, Metric: "beauty"}, `found "beauty"`},
		{Request{Kind: CDF, Metric: "reuse_share"}, "expected ttft, tpot or e2e"},
		{Request{Kind: CDF, Points: []int{0, 1, 2, 3, 4}}, ""},
		{Request{Kind: Pareto, Points: []int{99}}, "found no run of it"},
	} {
		_, err := Draw(s, nil, nil, c.r)
		if c.want == "" {
			if err != nil {
				t.Errorf("%v: %v", c.r, err)
			}
		} else if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: found %v, expected %q", c.r, err, c.want)
		}
	}
	s.SLA = sweepdata.SLA{}
	for i := range s.Points {
		for k := range s.Points[i].Runs {
			s.Points[i].Runs[k].Metrics[metric("goodput_share")] = math.NaN()
		}
	}
	if _, err := Draw(s, nil, nil, Request{Kind: Goodput}); err == nil || !strings.Contains(err.Error(), "--sla-ttft-ms") {
		t.Errorf("no SLA: found %v", err)
	}
}

// TestWordsAreSorted: words stand in the order of what they do.
func TestWordsAreSorted(t *testing.T) {
	s := made(2, mode())
	list, err := Draw(s, nil, nil, Request{Kind: Knob, Metric: "p95_ttft_ms"})
	if err != nil {
		t.Fatal(err)
	}
	text := drawn(t, &list[0])
	last := 0
	for _, word := range []string{">least-loaded<", ">kv<", ">random<"} {
		at := verticalPlace(t, text, word)
		if at <= last {
			t.Errorf("%s stands at %d, above the one before", word, at)
		}
		last = at
	}
}

// verticalPlace returns how far from the top a text stands, in points.
func verticalPlace(t *testing.T, svg, word string) int {
	t.Helper()
	i := strings.Index(svg, word)
	if i < 0 {
		t.Fatalf("%s is missing", word)
	}
	_, rest, _ := strings.Cut(svg[strings.LastIndex(svg[:i], "<text"):], `y="-`)
	number, _, _ := strings.Cut(rest, `"`)
	v, err := strconv.ParseFloat(number, 64)
	if err != nil {
		t.Fatal(err)
	}
	return 1000 - int(v)
}

// TestSubtitlesNameTheWorkerModel checks that a figure pasted alone still says
// what its milliseconds rest on.
func TestSubtitlesNameTheWorkerModel(t *testing.T) {
	facts := reports.ProfileFacts{ID: "h100/x", Grade: "A", HeldOut: &profile.RunError{TTFT: [3]float64{6.9}, TPOT: [3]float64{1.9}}}
	for want, change := range map[string]func(*sweepdata.Sweep){
		"h100/x, grade A, error TTFT 6.9 %, TPOT 1.9 %, 2 seeds": func(s *sweepdata.Sweep) { s.Profiles = []reports.ProfileFacts{facts} },
		"h100/x, grade A, error TTFT 6.9 %, TPOT 1.9 % (runs of other weights, another tp), 2 seeds": func(s *sweepdata.Sweep) {
			s.Profiles = []reports.ProfileFacts{facts}
			s.Profiles[0].Unlike = []string{"weight_dtype", "tp"}
		},
		"h100/x, grade A, 2 seeds": func(s *sweepdata.Sweep) {
			s.Profiles = []reports.ProfileFacts{facts}
			s.Profiles[0].HeldOut = nil
		},
		", 2 profiles, 2 seeds": func(s *sweepdata.Sweep) { s.Profiles = []reports.ProfileFacts{facts, facts} },
		", fixed:20,8, 2 seeds": func(s *sweepdata.Sweep) { s.Base = map[string]any{"timing": "fixed:20,8"} },
		"40 requests, 2 prefill and 3 decode workers, 2 seeds": func(s *sweepdata.Sweep) {
			s.Base = map[string]any{"workers": int64(8), "prefill-workers": int64(2), "decode-workers": int64(3)}
		},
		"40 requests, 2 seeds":       func(s *sweepdata.Sweep) {},
		"trace.jsonl, 40 requests, ": func(s *sweepdata.Sweep) { s.Axes[0].Name = "profile"; s.Profiles = []reports.ProfileFacts{facts} },
	} {
		s := made(2, axis("router-temperature", "0", "0", "1"))
		s.Default = -1
		for i := range s.Points {
			s.Points[i].Runs = nil
		}
		change(s)
		d := &data{s: s}
		if got := d.subtitle(); !strings.Contains(got, want) || strings.Contains(got, "profile") != (want[0] == ',' && strings.Contains(want, "profiles")) {
			t.Errorf("subtitle %q, want %q in it", got, want)
		}
	}
}
