package sidebyside

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"routesim/reports"
	"routesim/sim/metrics"
)

func stats(mean, p50, p90, p99 float64) metrics.Stats {
	return metrics.Stats{N: 10, Mean: mean, Median: p50, P90: p90, P99: p99}
}

// base is a run whose TTFT is told in seconds; its E2E stays below one.
func base() *reports.Summary {
	return &reports.Summary{
		Requests: 12031, Completed: 12031, DurationMS: 3_600_000, OutputRate: 1163.4,
		TTFT: stats(321, 184, 702, 2050), ITL: stats(7.59, 6.56, 8.91, 13.4), E2E: stats(400, 300, 600, 999),
		Routesim: reports.Details{
			Loop: "open", Workers: 8, Timing: []string{"dynamo-polynomial"}, Preemptions: 4,
			Waterfall: reports.Waterfall{Ceiling: 0.374, Best: 0.259, Delivered: 0.0825},
			Regret:    reports.Regret{TiedShare: reports.Number(math.NaN())},
			Imbalance: reports.Imbalance{BusyMaxOverMean: 1.03},
			Warnings:  []reports.Warning{{Code: "x", Text: "Something is odd."}},
		},
	}
}

func other() *reports.Summary {
	s := base()
	s.Completed, s.OutputRate = 12030, 1163.4
	s.TTFT = stats(276, 169, 554, 1690)
	s.Routesim.Rejected = 1
	s.Routesim.Waterfall.Delivered = 0.2034
	s.Routesim.Regret.TiedShare = 0.296
	s.Routesim.Imbalance.BusyMaxOverMean = 1
	s.Routesim.Warnings = nil
	return s
}

const table = `12,031 requests over 1h00m (open loop) -> 8 workers, timing dynamo-polynomial, seed 0

                                  round-robin           kv         change
TTFT mean                s              0.321        0.276        -14.0 %
TTFT p50                 s              0.184        0.169         -8.2 %
TTFT p90                 s              0.702        0.554        -21.1 %
TTFT p99                 s               2.05         1.69        -17.6 %
ITL mean                 ms              7.59         7.59          0.0 %
ITL p50                  ms              6.56         6.56          0.0 %
ITL p90                  ms              8.91         8.91          0.0 %
ITL p99                  ms              13.4         13.4          0.0 %
E2E mean                 ms               400          400          0.0 %
E2E p50                  ms               300          300          0.0 %
E2E p90                  ms               600          600          0.0 %
E2E p99                  ms               999          999          0.0 %

completed                              12,031       12,030          0.0 %
rejected                                    0            1              -
unfinished                                  0            0
preemptions                                 4            4
output                   tok/s          1,163        1,163          0.0 %

prompt tokens from cache %                8.2         20.3       +12.1 pp
  held by some worker    %               25.9         25.9         0.0 pp
busiest worker / mean    x               1.03         1.00         -2.9 %
decisions that were ties %                  -         29.6              -

One endless cache would serve 37.4 % of the prompt tokens.
warning (round-robin): Something is odd.
`

func written(t *testing.T, b, o *reports.Summary) string {
	t.Helper()
	var text strings.Builder
	if err := Write(&text, Run{"round-robin", b}, Run{"kv", o}); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

func TestTable(t *testing.T) {
	got := written(t, base(), other())
	if diff := cmp.Diff(table, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestGoodputIsShownWithAnSLA(t *testing.T) {
	b, o := base(), other()
	b.Goodput, o.Goodput = &reports.Goodput{Completed: 6000}, &reports.Goodput{Completed: 9000}
	const want = "within the SLA           %               49.9         74.8       +24.9 pp\n"
	if got := written(t, b, o); !strings.Contains(got, want) {
		t.Errorf("got\n%s\nwithout %q", got, want)
	}
}

func TestNothingRun(t *testing.T) {
	empty := func() *reports.Summary {
		nan := math.NaN()
		s := base()
		s.Requests, s.Completed, s.DurationMS, s.OutputRate = 0, 0, nan, nan
		s.TTFT, s.ITL, s.E2E = stats(nan, nan, nan, nan), stats(nan, nan, nan, nan), stats(nan, nan, nan, nan)
		s.Goodput = &reports.Goodput{}
		return s
	}
	got := written(t, empty(), empty())
	if strings.Contains(got, "NaN") || !strings.Contains(got, "TTFT mean                ms                 -            -              -\n") {
		t.Errorf("got\n%s", got)
	}
}

func TestJSON(t *testing.T) {
	var text strings.Builder
	if err := WriteJSON(&text, Run{"round-robin", base()}, Run{"kv", other()}); err != nil {
		t.Fatal(err)
	}
	var got map[string]struct {
		Completed int `json:"completed_requests"`
	}
	if err := json.Unmarshal([]byte(text.String()), &got); err != nil {
		t.Fatal(err)
	}
	if len(got) != 2 || got["round-robin"].Completed != 12031 || got["kv"].Completed != 12030 {
		t.Errorf("got %v", got)
	}
}
