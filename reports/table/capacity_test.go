package table

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"

	"routesim/reports/sweepdata"
	judgement "routesim/reports/verdict"
	"routesim/sim/sweep"
)

// loads is a sweep over fleets and rates; the default is the first point.
func loads(t testing.TB, fleets, rates []string, within func(i, k int) float64) *sweepdata.Sweep {
	t.Helper()
	s := grid(t, 2)
	s.SLA.Target, s.Reference, s.Load, s.Default = 0.95, -1, nil, 0
	s.Base = map[string]any{"workers": fleets[0], "arrival-speedup-ratio": rates[0]}
	s.Axes = []sweepdata.Axis{
		{Name: "workers", Base: fleets[0], Values: fleets, Numbers: sweep.Numbers(fleets), Documented: math.NaN()},
		{Name: "arrival-speedup-ratio", Base: rates[0], Values: rates, Numbers: sweep.Numbers(rates), Documented: math.NaN()},
	}
	s.Points = nil
	for i, f := range fleets {
		for k, r := range rates {
			p := sweepdata.Point{ID: fmt.Sprintf("%08d", len(s.Points)), Values: []string{f, r}}
			for _, seed := range s.Seeds {
				p.Runs = append(p.Runs, sweepdata.Run{Seed: seed, Saturated: within(i, k) < 0, Metrics: figuresOf(map[string]float64{
					"p90_ttft_ms": 900, "p99_ttft_ms": 1800, "p90_itl_ms": 20, "goodput_share": within(i, k), "completed_share": 100, "completed": 240,
				})})
			}
			s.Points = append(s.Points, p)
		}
	}
	return s
}

// TestSweepShowsLoads: a field for each fleet and rate, which says whether the
// load is carried.
func TestSweepShowsLoads(t *testing.T) {
	s := loads(t, []string{"8", "2", "4"}, []string{"1", "2"}, func(i, k int) float64 {
		return [][]float64{{99, 97}, {95.2, -1}, {98, 94.7}}[i][k]
	})
	got := shown(t, s, SweepOptions{})
	golden(t, "sweep-loads.txt", got)
	checkSweep(t, got, SweepOptions{})
	if want := "2 workers at 1x the rate (the smallest tried); 8 workers at 2x."; !strings.Contains(strings.Join(strings.Fields(got), " "), want) {
		t.Errorf("not found: %q in\n%s", want, got)
	}
	// Any number of fleets and rates fits, and what is left out is counted.
	for _, n := range []int{1, 7, 30} {
		var fleets, rates []string
		for i := range n {
			fleets, rates = append(fleets, fmt.Sprint(i+1)), append(rates, fmt.Sprint(1+i))
		}
		for _, width := range []int{0, 40, 57} {
			o := SweepOptions{Width: width, Options: Options{UTF8: n == 7}}
			text := shown(t, loads(t, fleets, rates, func(i, k int) float64 { return float64(100 - i%3) }), o)
			checkSweep(t, text, o)
			if n == 30 && !strings.Contains(strings.Join(strings.Fields(text), " "), " more in the report") {
				t.Errorf("nothing is said of what is left out in\n%s", text)
			}
		}
	}
}

// TestMoreSeedsCanBePasted: the lines of the command join to one that names the
// folder.
func TestMoreSeedsCanBePasted(t *testing.T) {
	s := grid(t, 3)
	s.Command = []string{"routesim", "sweep", "a trace.jsonl", "--vary=workers=6xh100_sxm/llama-3.1-70b/tp4,2xA;8xA", "--router-prefill-load-scale=2", "--seeds=3"}
	for folder, want := range map[string]string{"": "-o DIR --seeds 8", "/a b/out": "-o '/a b/out' --seeds 8", "out": "-o out --seeds 8"} {
		v, err := judgement.Judge(s, judgement.Options{Resamples: 100})
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := Sweep(&b, s, v, SweepOptions{Folder: folder}); err != nil {
			t.Fatal(err)
		}
		_, command, found := strings.Cut(b.String(), " add seeds ")
		lines := strings.Split(command, "\n")
		text := ""
		for i, line := range lines {
			before, more := strings.CutSuffix(line, " \\")
			text += strings.TrimPrefix(before, strings.Repeat(" ", min(i, 1)*sweepGutter)) + " "
			if !more {
				break
			}
		}
		want = "routesim sweep 'a trace.jsonl' '--vary=workers=6xh100_sxm/llama-3.1-70b/tp4,2xA;8xA' --router-prefill-load-scale=2 " + want + " "
		if !found || text != want {
			t.Errorf("found %q, expected %q in\n%s", text, want, b.String())
		}
		if strings.Contains(b.String(), " paste ") || !strings.Contains(b.String(), " to try ") {
			t.Errorf("expected flags to try in\n%s", b.String())
		}
	}
}
