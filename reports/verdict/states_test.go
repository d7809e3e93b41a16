package verdict

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"routesim/reports/sweepdata"
)

const (
	credit = "router-kv-overlap-score-credit"
	scale  = "router-prefill-load-scale"
)

// winner is a system in which the scale matters and the credit does not.
func winner(factors map[string]float64) lab {
	return lab{
		axes: []sweepdata.Axis{axis(credit, "1", "0.6", "1"), axis(scale, "1", "0.5", "1", "8", "16")},
		of: func(v []string) effect {
			return effect{ttft: factors[v[1]], noise: 0.005}
		},
	}
}

// apart gives a sweep two pools of workers.
func apart(s *sweepdata.Sweep) {
	s.Base["prefill-workers"], s.Base["decode-workers"] = int64(2), int64(3)
}

func TestStates(t *testing.T) {
	gain := map[string]float64{"0.5": 1.05, "1": 1, "8": 0.8, "16": 0.9}
	inert := axis(credit, "1", "0", "0.5", "1")
	inert.Inert, inert.Remedy = "no prompt fills one 64-token block.", "use smaller blocks"
	for _, c := range []struct {
		name  string
		lab   lab
		edit  func(*sweepdata.Sweep)
		state State
		want  []string // in headline, evidence, costs, certainty, added or notices
	}{
		{"win", winner(gain), nil, Win, []string{
			"Set router-prefill-load-scale 8; leave router-kv-overlap-score-credit at 1.",
			"TTFT p90 falls from 1.70 s to 1.36 s (−20.0 %; 95 % interval −20.4 % to −19.6 %)", "8 of 8 seeds agree.", "nothing this sweep measured got worse",
			"1 other point cannot be told apart from it (0.6/8); it changes the fewest flags.", "4 of 4 quarters"}},
		{"win at a cost", lab{axes: []sweepdata.Axis{axis(scale, "1", "1", "8")}, of: func(v []string) effect {
			e := effect{noise: 0.005}
			if v[0] == "8" {
				e.ttft, e.metric = 0.8, map[string]float64{"reuse_share": 27}
			}
			return e
		}}, nil, Win, []string{"Costs: prefix reuse −3.0 pp", "The best value of router-prefill-load-scale is the last one tried (8): widen the range."}},
		{"trade", lab{axes: []sweepdata.Axis{axis(scale, "1", "1", "8")}, sla: sweepdata.SLA{TTFT: 2000, ITL: 40}, of: func(v []string) effect {
			e := effect{noise: 0.005}
			if v[0] == "8" {
				e.ttft, e.itl = 0.7, 1.1
			}
			return e
		}}, nil, Trade, []string{"Choose: router-prefill-load-scale 8 for TTFT or the defaults for ITL.", "Each second of TTFT p90 gained costs ", "more requests within it"}},
		{"tie", winner(map[string]float64{}), nil, Tie, []string{"Keep the defaults.", "7 of 7 settings cannot be told apart", "includes 0", "or more would have been seen"}},
		{"too small", winner(map[string]float64{"8": 0.99, "16": 0.99, "0.5": 0.99}), func(s *sweepdata.Sweep) {}, Tie, []string{"smaller than 2 %"}},
		{"keep", winner(map[string]float64{"0.5": 1.3, "1": 1, "8": 1.2, "16": 1.4}), nil, Keep, []string{
			"Keep the defaults: they are best here.", "6 settings are worse; the worst, ", "router-prefill-load-scale 16, by 4", "1 other cannot be told apart from them."}},
		{"few seeds", func() lab { l := winner(gain); l.seeds = 3; return l }(), nil, FewSeeds, []string{
			"Probably router-kv-overlap-score-credit 0.6 and router-prefill-load-scale 8; not enough seeds to be sure.", "3 of 3 seeds point the same way", "Add seeds: routesim sweep trace.jsonl -o DIR --seeds 8 (only the new ones run)."}},
		{"one seed", func() lab { l := winner(gain); l.seeds = 1; return l }(), nil, FewSeeds, []string{"One run each: differences cannot be told from chance."}},
		{"short trace", func() lab { l := winner(gain); l.seconds = 200; return l }(), nil, FewSeeds, []string{"not enough traffic to be sure"}},
		{"inert", lab{axes: []sweepdata.Axis{inert}}, nil, Inert, []string{
			"router-kv-overlap-score-credit changed nothing: 3 values, the same 600 decisions.", "Cause: no prompt fills one 64-token block. This says nothing about its strength on other traffic. To test it: use smaller blocks."}},
		{"no result", lab{axes: []sweepdata.Axis{axis(scale, "1", "1", "8")}, of: func(v []string) effect { return effect{fail: "disk full"} }}, nil, NoResult, []string{
			"No point finished.", "2 points failed, most often: “disk full”. Nothing below can be compared."}},
		{"default failed", lab{axes: []sweepdata.Axis{axis(scale, "1", "1", "8")}, of: func(v []string) effect {
			if v[0] == "1" {
				return effect{fail: "disk full"}
			}
			return effect{}
		}}, nil, NoResult, []string{"The default did not finish"}},
		{"overload", lab{axes: []sweepdata.Axis{axis(scale, "1", "1", "8")}, of: func(v []string) effect { return effect{saturated: true} }}, nil, Overload, []string{
			"This fleet cannot carry this load: no router setting helps.", "All 2 points end with a growing queue (best: 120 in the system at the last arrival, +4.00/min)",
			"Add workers (about 14 for 0.167 req/s) or lower the rate to 0.6×."}},
		{"overload of pools", lab{axes: []sweepdata.Axis{axis(scale, "1", "1", "8")}, of: func(v []string) effect { return effect{saturated: true} }}, apart, Overload, []string{
			"Add workers or lower the rate to 0.6×."}},
		{"slo", lab{axes: []sweepdata.Axis{axis(scale, "1", "1", "8")}, sla: sweepdata.SLA{TTFT: 500, ITL: 40, Target: 0.95}, of: func(v []string) effect {
			return effect{ttft: map[string]float64{"8": 0.9}[v[0]]}
		}}, nil, SLOMiss, []string{"No setting meets TTFT 500 ms, ITL 40 ms. Closest: router-prefill-load-scale 8, ", "Needed 95 %. TTFT is the limit: TTFT alone "}},
		{"single", lab{axes: []sweepdata.Axis{axis(scale, "1", "1")}}, nil, Single, []string{"One setting was run; nothing to compare."}},
		{"other loads", lab{axes: []sweepdata.Axis{axis("workers", "8", "4", "8"), axis(scale, "1", "1", "8")}}, func(s *sweepdata.Sweep) {
			s.Points = slices.DeleteFunc(s.Points, func(p sweepdata.Point) bool { return p.Values[0] == "8" && p.Values[1] == "8" })
		}, Single, []string{"One setting was run at the default's load; nothing to compare there."}},
		{"no axes", lab{}, nil, Single, []string{"One setting was run"}},
		{"alone", lab{axes: []sweepdata.Axis{axis(scale, "1", "1", "8")}, of: func(v []string) effect { return effect{saturated: v[0] == "8"} }}, nil, Tie, []string{"No other setting did the same work: 1 saturated."}},
		{"less work", lab{axes: []sweepdata.Axis{axis(scale, "1", "1", "4", "8")}, of: func(v []string) effect {
			e := effect{noise: 0.005}
			if v[0] == "8" {
				e.ttft, e.missing = 0.5, 40
			}
			return e
		}}, nil, Tie, []string{"1 point completes fewer requests than the default."}},
		{"fleet", lab{axes: []sweepdata.Axis{axis("workers", "8", "4", "6", "8", "12")}, sla: sweepdata.SLA{TTFT: 2000, Target: 0.9}, of: func(v []string) effect {
			f := map[string]float64{"4": 4, "6": 1, "8": 0.8, "12": 0.6}
			return effect{ttft: f[v[0]], saturated: v[0] == "4"}
		}}, nil, Capacity, []string{"Smallest fleet that serves 90 % of requests within TTFT 2 s: 6 workers.", "4 workers: the queue grows to the end."}},
		{"rate", lab{axes: []sweepdata.Axis{axis("arrival-speedup-ratio", "1", "1", "1.5", "2")}, of: func(v []string) effect {
			return effect{saturated: v[0] == "2"}
		}}, nil, Capacity, []string{"8 workers keep up with up to 1.5× the rate."}},
		{"rate of pools", lab{axes: []sweepdata.Axis{axis("arrival-speedup-ratio", "1", "1", "1.5", "2")}, of: func(v []string) effect {
			return effect{saturated: v[0] == "2"}
		}}, apart, Capacity, []string{"2 prefill and 3 decode workers keep up with up to 1.5× the rate."}},
		{"beyond", lab{axes: []sweepdata.Axis{axis(credit, "1", "0.5", "1", "1.5", "2")}, of: func(v []string) effect {
			return effect{ttft: map[string]float64{"1.5": 0.8, "2": 0.9}[v[0]], noise: 0.005}
		}}, func(s *sweepdata.Sweep) { s.Axes[0].Documented = 1 }, Win, []string{"router-kv-overlap-score-credit above 1 is accepted by Dynamo but not documented."}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := c.lab.sweep(t)
			if c.edit != nil {
				c.edit(s)
			}
			v := mustJudge(t, s)
			text := everything(v)
			if v.State != c.state || v.Headline == "" || v.Shape == "" || v.Chip == "" {
				t.Errorf("found state %s %s %q, expected %s\n%s", v.State, v.Shape, v.Chip, c.state, text)
			}
			for _, want := range c.want {
				if !strings.Contains(text, want) {
					head, _, _ := strings.Cut(text, "\n[")
					t.Errorf("not found: %q in\n%s", want, head)
				}
			}
			checkWords(t, v, text)
		})
	}
}

// everything is all text of a verdict.
func everything(v *Verdict) string {
	parts := append([]string{v.Headline, v.Evidence, v.Costs, v.Certainty, v.Trust, v.Label}, v.Added...)
	for _, n := range v.Notices {
		parts = append(parts, n.Fact, n.Consequence)
	}
	for _, s := range v.Sentences {
		parts = append(parts, fmt.Sprintf("[%s] %s %s", s.Held, s.Text, s.Evidence))
	}
	for _, d := range v.Definitions {
		parts = append(parts, d.Term+": "+d.Text)
	}
	for _, d := range v.Deltas {
		parts = append(parts, d.Title, d.BaseText, d.ValueText, d.Text, d.Range)
	}
	if v.Capacity != nil {
		parts = append(parts, v.Capacity.Headline)
		parts = append(parts, v.Capacity.Text...)
	}
	return strings.Join(parts, "\n")
}

// checkWords looks for what no verdict says.
func checkWords(t *testing.T, v *Verdict, text string) {
	t.Helper()
	for _, bad := range []string{"NaN", "Inf", "%!", "significant", "  ", "..", " .", "\n.", "%%", "()"} {
		if strings.Contains(text, bad) {
			t.Errorf("found %q in\n%s", bad, text)
		}
	}
	for _, r := range ASCII(text) {
		if r >= 0x80 || r == '?' && !strings.Contains(text, "?") {
			t.Errorf("found %q in plain text", r)
		}
	}
}
