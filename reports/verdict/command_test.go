package verdict

import (
	"strings"
	"testing"

	"routesim/models/profile"
	"routesim/reports"
	"routesim/reports/sweepdata"
)

// TestMoreSeeds: the command that adds seeds has all that a sweep needs, and
// survives a shell.
func TestMoreSeeds(t *testing.T) {
	few := winner(map[string]float64{"8": 0.8})
	few.seeds = 3
	for want, command := range map[string][]string{
		"routesim sweep trace.jsonl -o DIR --seeds 8":        {"routesim", "sweep", "trace.jsonl", "--seeds", "3"},
		"'--vary=workers=6xA,2xB;8xA' -o DIR --seeds 8":      {"routesim", "sweep", "t.jsonl", "--vary=workers=6xA,2xB;8xA", "--seeds=3"},
		"routesim sweep trace.jsonl -o out --seeds 8":        {"routesim", "sweep", "trace.jsonl", "--seeds=3", "-o", "out"},
		"routesim sweep trace.jsonl --output=out --seeds 8":  {"routesim", "sweep", "trace.jsonl", "--output=out"},
		"routesim sweep 'it'\\''s a trace' -o DIR --seeds 8": {"routesim", "sweep", "it's a trace"},
	} {
		s := few.sweep(t)
		s.Command = command
		v := mustJudge(t, s)
		if !strings.HasSuffix(v.MoreSeeds, want) || !strings.Contains(v.Evidence, AddSeeds+v.MoreSeeds+" ") {
			t.Errorf("found %q, expected %q in %q", v.MoreSeeds, want, v.Evidence)
		}
		if v.Label != ToTry {
			t.Errorf("found label %q", v.Label)
		}
	}
	if v := mustJudge(t, winner(nil).sweep(t)); v.MoreSeeds != "" || v.Label != "" {
		t.Errorf("found %q and %q where the seeds are enough", v.MoreSeeds, v.Label)
	}
}

// TestHeldOutRuns: runs of a cross-validation are none that were held out.
func TestHeldOutRuns(t *testing.T) {
	list, err := profile.Calibrations()
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[bool]int{}
	for id, c := range list {
		if c.HeldOut == nil {
			continue
		}
		crossed := strings.Contains(c.Note, "cross-validation")
		kinds[crossed]++
		got := HeldOutRuns(&reports.ProfileFacts{Calibration: id, HeldOut: c.HeldOut})
		if crossed != strings.HasSuffix(got, " runs, two-fold cross-validation") || crossed == strings.Contains(got, "held-out") {
			t.Errorf("%s: found %q", id, got)
		}
		if got := HeldOutRuns(&reports.ProfileFacts{Calibration: id, HeldOut: c.HeldOut, Runs: "m fp8"}); !strings.Contains(got, "of m fp8") {
			t.Errorf("%s: %q does not say of what the runs were", id, got)
		}
	}
	if kinds[true] == 0 || kinds[false] == 0 {
		t.Errorf("found %v, expected calibrations of both kinds", kinds)
	}
}

// TestAdviceHasItsPrice: the advice on the credit says which half failed and
// what the other latency pays, and too few seeds show nothing.
func TestAdviceHasItsPrice(t *testing.T) {
	advice := func(itl, ttft, imbalance float64, seeds int) *Sentence {
		l := lab{axes: []sweepdata.Axis{axis(credit, "1", "0.5", "1")}, seeds: seeds, of: func(v []string) effect {
			e := effect{noise: 0.002}
			if v[0] == "0.5" {
				e.itl, e.ttft, e.metric = itl, ttft, map[string]float64{"imbalance_busy": imbalance}
			}
			return e
		}}
		s := l.sweep(t)
		for i := range s.Points {
			for k := range s.Points[i].Runs { // an interval needs some spread
				s.Points[i].Runs[k].Metrics[sweepdata.MetricIndex("imbalance_busy")] += 0.001 * float64(k%3)
			}
		}
		return &mustJudge(t, s).Sentences[1]
	}
	for _, c := range []struct {
		itl, ttft, imbalance float64
		held                 Held
		want, not            string
	}{
		{0.8, 1.2, 1.05, Holds, "; but TTFT p90 +2", "half"},
		{0.8, 1, 1.05, Holds, "ITL p90 −", "but"},
		{0.8, 1, 1.4, HoldsNot, "ITL was lowered, but load was not spread.", "half"},
		{1.2, 1.2, 1.05, HoldsNot, "; but TTFT p90 +2", "Both"},
		{1.2, 1, 1.05, HoldsNot, "The half on ITL failed", "but"},
		{1.2, 1, 1.4, HoldsNot, "Both halves failed.", "but"},
	} {
		s := advice(c.itl, c.ttft, c.imbalance, 8)
		if s.Held != c.held || !strings.Contains(s.Evidence, c.want) || strings.Contains(s.Evidence, c.not) {
			t.Errorf("%+v: found %s %q", c, s.Held, s.Evidence)
		}
	}
	if s := advice(0.8, 1, 1.05, 3); s.Held != NotShown {
		t.Errorf("3 seeds: found %s %q", s.Held, s.Evidence)
	}
}
