package table

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"routesim/reports"
	"routesim/reports/sweepdata"
	judgement "routesim/reports/verdict"
)

// figuresOf are a run's metrics by name; what is not named is not known.
func figuresOf(values map[string]float64) []float64 {
	out := make([]float64, len(sweepdata.Metrics()))
	for i, m := range sweepdata.Metrics() {
		v, ok := values[m.Name]
		if !ok {
			v = math.NaN()
		}
		out[i] = v
	}
	return out
}

// grid is a sweep over credit and scale on which the scale gains; the point
// 1.4/8 is saturated, and round robin was run to compare with.
func grid(t testing.TB, seeds int) *sweepdata.Sweep {
	t.Helper()
	s := &sweepdata.Sweep{
		Trace: reports.TraceFacts{Name: "conversation_trace.jsonl"}, Reference: -1, Objective: "p90_ttft_ms", SLA: sweepdata.SLA{TTFT: 2000, ITL: 40},
		Axes: []sweepdata.Axis{
			{Name: "router-kv-overlap-score-credit", Base: "1", Values: []string{"0.6", "1", "1.4"}, Numbers: []float64{0.6, 1, 1.4}, Documented: 1},
			{Name: "router-prefill-load-scale", Base: "1", Values: []string{"0.5", "1", "8"}, Numbers: []float64{0.5, 1, 8}, Documented: math.NaN()},
			{Name: "router-host-cache-hit-weight", Base: "0.5", Values: []string{"0.5"}, Numbers: []float64{0.5}, Documented: math.NaN(),
				Inert: "no host cache configured", Remedy: "configure a host cache"},
		},
	}
	for k := range seeds {
		s.Seeds = append(s.Seeds, uint64(k+1))
	}
	add := func(credit, scale string, ttft float64) *sweepdata.Point {
		p := sweepdata.Point{ID: fmt.Sprintf("%08d", len(s.Points)), Values: []string{credit, scale, "0.5"}}
		if credit != "1" {
			p.Flags = append(p.Flags, sweepdata.Flag{Name: "--router-kv-overlap-score-credit", Value: credit})
		}
		if scale != "1" {
			p.Flags = append(p.Flags, sweepdata.Flag{Name: "--router-prefill-load-scale", Value: scale})
		}
		for k, seed := range s.Seeds {
			luck := 1 + 0.004*math.Sin(float64(7*k+len(s.Points)))
			p.Runs = append(p.Runs, sweepdata.Run{Seed: seed, Metrics: figuresOf(map[string]float64{
				"p90_ttft_ms": 1890 * ttft * luck, "p50_ttft_ms": 680 * ttft, "p99_ttft_ms": 4070 * ttft, "p90_itl_ms": 28.5 * (0.3 + 0.7*ttft) * luck, "p90_e2e_ms": 16200 * ttft * luck, "p99_e2e_ms": 31100,
				"reuse_share": 28.4 + (ttft-1)*luck, "imbalance_busy": 1.12, "goodput_share": 86.7 + 20*(1-ttft), "completed_share": 99.975, "completed": 12028, "rejected": 3, "unfinished": 0, "preemptions": 61, "output_rate_tps": 1166,
			})})
		}
		s.Points = append(s.Points, p)
		return &s.Points[len(s.Points)-1]
	}
	for _, credit := range s.Axes[0].Values {
		for i, scale := range s.Axes[1].Values {
			p := add(credit, scale, []float64{1.05, 1, 0.81}[i])
			if credit == "1.4" && scale == "8" {
				for k := range p.Runs {
					p.Runs[k].Saturated = true
				}
			}
		}
	}
	s.Default = 4
	add("1", "1", 1.31).Added = true
	s.Reference = len(s.Points) - 1
	const rows = 240
	for i := range rows {
		s.Requests.ArrivalMS = append(s.Requests.ArrivalMS, 15_000*float64(i))
		s.Requests.InputTokens, s.Requests.OutputTokens = append(s.Requests.InputTokens, 1000), append(s.Requests.OutputTokens, 100)
	}
	ttft := sweepdata.MetricIndex("p90_ttft_ms")
	s.Load = func(point int, seed uint64) (*sweepdata.Latencies, error) {
		l := &sweepdata.Latencies{}
		for i := range rows {
			v := float32(s.Points[point].Runs[seed-1].Metrics[ttft] * (0.5 + 0.5*float64(i*7919%rows)/rows*1.1))
			l.TTFT, l.E2E, l.ITL, l.Reused = append(l.TTFT, v), append(l.E2E, 8*v), append(l.ITL, v/70), append(l.Reused, 3)
		}
		return l, nil
	}
	return s
}

func shown(t testing.TB, s *sweepdata.Sweep, o SweepOptions) string {
	t.Helper()
	v, err := judgement.Judge(s, judgement.Options{Resamples: 300})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := Sweep(&b, s, v, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestSweep(t *testing.T) {
	paths := SweepOptions{Points: "out/points.csv", Report: "out/report.html", Plots: "out/plots/ (14 PNG, 14 SVG)"}
	wide, narrow := paths, paths
	wide.UTF8 = true
	narrow.Width = 60
	failed := grid(t, 8)
	for i := range failed.Points {
		failed.Points[i].Runs, failed.Points[i].Error = nil, "trace.jsonl:7: found }, expected a row"
	}
	few := paths
	few.Next = "routesim sweep trace.jsonl --seeds 8"
	for _, c := range []struct {
		name string
		s    *sweepdata.Sweep
		o    SweepOptions
	}{
		{"sweep", grid(t, 8), paths}, {"sweep-utf8", grid(t, 8), wide}, {"sweep-narrow", grid(t, 8), narrow},
		{"sweep-few", grid(t, 3), few}, {"sweep-failed", failed, SweepOptions{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := shown(t, c.s, c.o)
			golden(t, c.name+".txt", got)
			checkSweep(t, got, c.o)
		})
	}
}

// golden compares with a file of testdata, or writes it where UPDATE is set.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("found\n%s\nexpected\n%s", got, want)
	}
}

// fataler is a test of either kind.
type fataler interface {
	Helper()
	Errorf(format string, args ...any)
}

func checkSweep(t fataler, page string, o SweepOptions) {
	t.Helper()
	most := 80
	if o.Width > 0 {
		most = min(max(o.Width, leastWidth), 80)
	}
	for _, line := range strings.Split(page, "\n") {
		if n := utf8.RuneCountInString(line); n > most {
			t.Errorf("%d columns, expected at most %d: %q", n, most, line)
		}
		if strings.TrimRight(line, " ") != line {
			t.Errorf("blanks at the end: %q", line)
		}
		for _, r := range line {
			if r >= 0x80 && !o.UTF8 || r < 0x20 {
				t.Errorf("found %q in %q", r, line)
			}
		}
	}
	for _, bad := range []string{"NaN", "Inf", "%!"} {
		if strings.Contains(page, bad) {
			t.Errorf("found %s in\n%s", bad, page)
		}
	}
}

// TestSweepFits holds for any width, names and figures.
func TestSweepFits(t *testing.T) {
	base := grid(t, 6)
	// What checkSweep takes for a mistake must not be what was asked for.
	text := rapid.String().Filter(func(s string) bool {
		return !strings.Contains(s, "%!") && !strings.Contains(s, "NaN") && !strings.Contains(s, "Inf")
	})
	rapid.Check(t, func(t *rapid.T) {
		s := *base
		s.Points = append([]sweepdata.Point(nil), base.Points...)
		s.Objective = rapid.SampledFrom([]string{"p90_ttft_ms", "p90_itl_ms", "goodput_share", "output_rate_tps", "imbalance_busy"}).Draw(t, "objective")
		s.Trace.Name = rapid.StringMatching(`[a-z/é\x00<>]{0,90}`).Draw(t, "trace")
		s.Notes = []string{text.Draw(t, "note")}
		for i := range s.Points {
			if rapid.IntRange(0, 5).Draw(t, "fail") == 0 {
				s.Points[i].Error = text.Draw(t, "error")
			}
			if rapid.IntRange(0, 5).Draw(t, "missing") == 0 {
				s.Points[i].Runs = nil
			}
		}
		s.Load = nil
		if rapid.Bool().Draw(t, "no reference") {
			s.Reference = -1
		}
		v, err := judgement.Judge(&s, judgement.Options{Resamples: 100})
		if err != nil {
			t.Fatal(err)
		}
		o := SweepOptions{Options: Options{UTF8: rapid.Bool().Draw(t, "utf8")}, Width: rapid.IntRange(0, 120).Draw(t, "width"), Points: rapid.StringMatching(`[a-z/]{0,90}`).Draw(t, "path")}
		var b bytes.Buffer
		if err := Sweep(&b, &s, v, o); err != nil {
			t.Fatal(err)
		}
		checkSweep(t, b.String(), o)
	})
}

// TestSweepDropsColumns: a narrow terminal loses columns from the right, and
// never the share of completed requests.
func TestSweepDropsColumns(t *testing.T) {
	s := grid(t, 8)
	order := []string{"in SLO", "imbal", "reuse", "E2E p90", "ITL p90"}
	gone := -1
	for width := 80; width >= leastWidth; width-- {
		page := shown(t, s, SweepOptions{Width: width})
		head := ""
		for _, line := range strings.Split(page, "\n") {
			if strings.Contains(line, "credit/scale") {
				head = line
			}
		}
		if !strings.HasSuffix(head, " done") || !strings.Contains(head, "TTFT p90") {
			t.Fatalf("%d columns: found %q", width, head)
		}
		for i, name := range order {
			if strings.Contains(head, name) && i <= gone {
				t.Errorf("%d columns: %s is back: %q", width, name, head)
			}
			if !strings.Contains(head, name) {
				if i > gone+1 {
					t.Errorf("%d columns: %s went before %s: %q", width, name, order[i-1], head)
				}
				gone = max(gone, i)
			}
		}
	}
	if gone < 2 {
		t.Errorf("only %d columns went", gone+1)
	}
}

func TestSweepWriteError(t *testing.T) {
	s := grid(t, 1)
	v, err := judgement.Judge(s, judgement.Options{Resamples: 100})
	if err != nil {
		t.Fatal(err)
	}
	if Sweep(failing{}, s, v, SweepOptions{}) == nil {
		t.Error("found no error")
	}
}
