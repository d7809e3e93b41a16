package verdict

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"routesim/reports/sweepdata"
)

// freshRuns runs the points of a verdict on other seeds.
func freshRuns(l lab, s *sweepdata.Sweep, v *Verdict, n int) map[int][]sweepdata.Run {
	l = l.defaults()
	out := map[int][]sweepdata.Run{}
	for _, p := range v.Rerun {
		for k := range n {
			out[p] = append(out[p], l.measured(s, p, uint64(1000+k)))
		}
	}
	return out
}

func TestConfirm(t *testing.T) {
	gain := map[string]float64{"0.5": 1.05, "1": 1, "8": 0.8, "16": 0.9}
	l := winner(gain)
	s := l.sweep(t)
	v := mustJudge(t, s)
	if v.Confirmed || v.Rerun[0] != v.Chosen || v.Rerun[1] != v.Default || len(v.Rerun) != 3 || !strings.Contains(v.Certainty, "picked as the best of 8 points") {
		t.Fatalf("found %v, %s", v.Rerun, v.Certainty)
	}
	before := everything(v)
	c, err := Confirm(s, v, freshRuns(l, s, v, 8))
	if err != nil {
		t.Fatal(err)
	}
	if everything(v) != before {
		t.Error("the first verdict changed")
	}
	if c.State != Win || !c.Confirmed || c.Withdrawn || c.Chosen != v.Chosen || !strings.Contains(c.Certainty, "These figures come from 8 fresh seeds") {
		t.Errorf("found %s\n%s", c.State, everything(c))
	}
	if c.Evidence == v.Evidence {
		t.Error("the figures are those of the first seeds")
	}
	i := slices.IndexFunc(c.Deltas, func(d Delta) bool { return d.Metric == c.Objective })
	if d := c.Deltas[i]; !strings.Contains(c.Evidence, d.Text) || !strings.Contains(c.Evidence, d.Range) || !strings.Contains(c.Evidence, d.BaseText) || !strings.Contains(c.Evidence, d.ValueText) {
		t.Errorf("the strip has %s (%s), the evidence: %s", d.Text, d.Range, c.Evidence)
	}
	checkWords(t, c, everything(c))
}

// TestConfirmContradicted takes the gain away on fresh seeds: from the chosen
// point only, then from all.
func TestConfirmContradicted(t *testing.T) {
	l := winner(map[string]float64{"8": 0.8, "16": 0.8})
	s := l.sweep(t)
	v := mustJudge(t, s)
	if v.State != Win || len(v.Tied) < 3 {
		t.Fatalf("found %s", everything(v))
	}
	chosen := s.Points[v.Chosen].Values
	fading := l
	fading.of = func(values []string) effect {
		if slices.Equal(values, chosen) {
			return effect{noise: 0.005}
		}
		return l.of(values)
	}
	c, err := Confirm(s, v, freshRuns(fading, s, v, 8))
	if err != nil {
		t.Fatal(err)
	}
	if c.State != Win || !c.Withdrawn || c.First != v.Chosen || c.Chosen == v.Chosen || !slices.Contains(v.Tied, c.Chosen) || !strings.Contains(c.Evidence, "did not show again") {
		t.Errorf("found %s\n%s", c.State, everything(c))
	}
	fading.of = func([]string) effect { return effect{noise: 0.005} }
	if c, err = Confirm(s, v, freshRuns(fading, s, v, 8)); err != nil {
		t.Fatal(err)
	}
	if c.State != Tie || c.Chosen != s.Default || c.Headline != "Keep the defaults." || !strings.Contains(c.Evidence, "did not show again") {
		t.Errorf("found %s\n%s", c.State, everything(c))
	}
	checkWords(t, c, everything(c))
}

func TestConfirmRefuses(t *testing.T) {
	l := winner(map[string]float64{"8": 0.8})
	s := l.sweep(t)
	v := mustJudge(t, s)
	for _, c := range []struct {
		name string
		edit func(map[int][]sweepdata.Run)
		want string
	}{
		{"few", func(m map[int][]sweepdata.Run) {
			for p := range m {
				m[p] = m[p][:5]
			}
		}, "found 5 fresh seeds, expected at least 6"},
		{"used", func(m map[int][]sweepdata.Run) { m[s.Default][0].Seed = s.Seeds[1] }, "found seed 2 among the fresh ones"},
		{"missing", func(m map[int][]sweepdata.Run) { delete(m, v.Chosen) }, "found 0 runs, expected 6"},
		{"other seeds", func(m map[int][]sweepdata.Run) { m[v.Chosen][2].Seed = 4711 }, "found seed 4711"},
	} {
		fresh := freshRuns(l, s, v, 6)
		c.edit(fresh)
		if _, err := Confirm(s, v, fresh); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: found %v, expected %q", c.name, err, c.want)
		}
	}
	if _, err := Confirm(s, &Verdict{Rerun: []int{0}}, nil); err == nil {
		t.Error("found no error for a verdict from elsewhere")
	}
}

// TestNoGainNoRerun: a verdict that quotes no gain has nothing to confirm.
func TestNoGainNoRerun(t *testing.T) {
	s := winner(nil).sweep(t)
	v := mustJudge(t, s)
	c, err := Confirm(s, v, nil)
	if err != nil || c.State != v.State || len(v.Rerun) != 0 {
		t.Errorf("found %v, %v", v.Rerun, err)
	}
}

// TestRepeats: a verdict depends neither on the number of goroutines nor on
// chance.
func TestRepeats(t *testing.T) {
	l := winner(map[string]float64{"8": 0.8})
	l.sla = sweepdata.SLA{TTFT: 2000}
	var first *Verdict
	for _, n := range []int{1, 2, 5} {
		v, err := Judge(l.sweep(t), Options{Parallel: n, Resamples: 300})
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = v
		}
		if diff := cmp.Diff(first, v, cmpopts.IgnoreUnexported(Verdict{}), cmpopts.EquateNaNs()); diff != "" {
			t.Errorf("%d goroutines: %s", n, diff)
		}
	}
}
