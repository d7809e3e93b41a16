package verdict

import (
	"strings"
	"testing"

	"routesim/reports"
	"routesim/reports/sweepdata"
)

// fleetLab is a system whose TTFT grows with the load on each of its workers,
// and is not saturated; at a TTFT factor of 1, 94 % of requests keep 2 s.
func fleetLab(workers, rates []string, target float64) lab {
	l := lab{seeds: 2, sla: sweepdata.SLA{TTFT: 2000, Target: target}}
	if workers != nil {
		l.axes = append(l.axes, axis("workers", "8", workers...))
	}
	if rates != nil {
		l.axes = append(l.axes, axis("arrival-speedup-ratio", "1", rates...))
	}
	l.of = func(v []string) effect {
		n, rate := 8.0, 1.0
		for i, a := range l.axes {
			if a.Name == "workers" {
				n = numberOf(v[i])
			} else {
				rate = numberOf(v[i])
			}
		}
		return effect{ttft: 4 * rate / n}
	}
	return l
}

// TestCapacityAnswers: a fleet is named for each rate, and a rate with the fleet
// that holds it.
func TestCapacityAnswers(t *testing.T) {
	fleets := []string{"2", "3", "4", "5", "6", "7", "8"}
	for _, c := range []struct {
		name           string
		workers, rates []string
		target         float64
		want           []string
	}{
		{"two rates", []string{"4", "6", "8"}, []string{"1", "2"}, 0.9,
			[]string{"Smallest fleet that serves 90 % of requests within TTFT 2 s: 4 workers at 1× the rate (the smallest tried); 8 workers at 2×. 8 workers hold up to 2× the rate (the highest tried)."}},
		{"none at the highest", fleets, []string{"1", "2", "4"}, 0.9,
			[]string{"4 workers at 1× the rate; 7 workers at 2×; none tried at 4×. 8 workers hold up to 2× the rate."}},
		{"alike", []string{"6", "8"}, []string{"0.5", "1"}, 0.9,
			[]string{": 6 workers at 0.5× to 1× the rate (the smallest tried). 8 workers hold up to 1× the rate (the highest tried)."}},
		{"fleets only", fleets, nil, 0.9, []string{"within TTFT 2 s: 4 workers."}},
		{"rates only", nil, []string{"1", "2", "4"}, 0.9, []string{"8 workers serve 90 % of requests within TTFT 2 s up to 2× the rate."}},
		{"rates, no target", nil, []string{"1", "2"}, 0, []string{"8 workers keep up with up to 2× the rate (the highest tried)."}},
		{"no target", []string{"6", "8"}, []string{"1", "2"}, 0, []string{"Smallest fleet that keeps up with this load: 6 workers at 1× to 2× the rate (the smallest tried)."}},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := mustJudge(t, fleetLab(c.workers, c.rates, c.target).sweep(t))
			if v.State != Capacity {
				t.Errorf("found state %s", v.State)
			}
			for _, want := range c.want {
				if !strings.Contains(v.Headline, want) {
					t.Errorf("found %q, expected %q", v.Headline, want)
				}
			}
			// The readings stand in the section of capacity, once.
			for _, text := range v.Capacity.Text {
				if strings.Contains(v.Evidence, text) {
					t.Errorf("found %q in %q", text, v.Evidence)
				}
			}
			checkWords(t, v, everything(v))
		})
	}
}

// TestLoadsMissTheSLO: the closest point is that of all loads, and a default
// that misses is no miss where another fleet meets the SLO.
func TestLoadsMissTheSLO(t *testing.T) {
	tight := fleetLab([]string{"4", "8", "12"}, []string{"1", "4"}, 0.999)
	tight.sla.TTFT = 1000
	v := mustJudge(t, tight.sweep(t))
	if want := "No point meets TTFT 1 s. Closest: 12 workers, 1× the rate (nothing else changed), "; v.State != SLOMiss || !strings.Contains(v.Headline, want) {
		t.Errorf("found %s %q, expected %q", v.State, v.Headline, want)
	}
	if want := "At 8 workers, 1× the rate: the defaults, "; !strings.Contains(v.Evidence, want) {
		t.Errorf("found %q, expected %q", v.Evidence, want)
	}
	v = mustJudge(t, fleetLab([]string{"2", "8", "16", "32"}, []string{"1", "4"}, 0.999).sweep(t))
	if want := "none tried at 4×"; v.State != Capacity || !strings.Contains(v.Headline, want) {
		t.Errorf("found %s %q, expected %q", v.State, v.Headline, want)
	}
	// With settings varied too, the headline says at which load none meets it.
	l := fleetLab([]string{"8", "16"}, nil, 0.999)
	l.axes = append(l.axes, axis(scale, "1", "1", "8"))
	v = mustJudge(t, l.sweep(t))
	if want := "No setting meets TTFT 2 s at 8 workers. Closest: "; v.State != SLOMiss || !strings.Contains(v.Headline, want) {
		t.Errorf("found %s %q, expected %q", v.State, v.Headline, want)
	}
}

// TestSharesAreNotFlattered: no share that misses a target reads as if it met it.
func TestSharesAreNotFlattered(t *testing.T) {
	for share, want := range map[float64]string{94.97: "94.9", 95: "95.0", 99.999: "99.9", 100: "100.0", 0: "0.0"} {
		if got := kept(share); got != want {
			t.Errorf("%v: found %s, expected %s", share, got, want)
		}
	}
}

// gpus gives every point of a sweep the GPU time of so many GPUs a worker.
func gpus(s *sweepdata.Sweep, each float64, workers func(*sweepdata.Point) float64) {
	s.Profiles = []reports.ProfileFacts{{ID: "h100_sxm/vllm/llama-3.1-70b/tp4/bf16/kv-bf16", Grade: "A"}}
	for i := range s.Points {
		for k := range s.Points[i].Runs {
			m := s.Points[i].Runs[k].Metrics
			seconds := 3000 + float64(i)
			m[sweepdata.MetricIndex("request_rate_rps")] = m[sweepdata.MetricIndex("completed")] / seconds
			m[sweepdata.MetricIndex("gpu_hours")] = each * workers(&s.Points[i]) * seconds / 3600
		}
	}
}

// TestFleetsAreCountedInGPUs: who asks how many GPUs gets a number of GPUs, those
// of all pools together; and fleets are not called loads.
func TestFleetsAreCountedInGPUs(t *testing.T) {
	s := fleetLab([]string{"2", "3", "4", "5", "8"}, nil, 0.9).sweep(t)
	gpus(s, 4, func(p *sweepdata.Point) float64 { return numberOf(p.Values[0]) })
	v := mustJudge(t, s)
	if want := "within TTFT 2 s: 4 workers × 4 H100 = 16 GPUs."; !strings.HasSuffix(v.Headline, want) {
		t.Errorf("found %q, expected it to end with %q", v.Headline, want)
	}
	if want := "3 of 5 fleets tried hold."; v.Evidence != want {
		t.Errorf("found %q, expected %q", v.Evidence, want)
	}
	if want := "5 workers (20 GPUs): "; !strings.HasPrefix(v.Capacity.Text[3], want) {
		t.Errorf("found %q, expected %q", v.Capacity.Text[3], want)
	}
	if n := noticeOf(v, "other-load"); n == nil || n.Fact != "4 points have another fleet than the default." {
		t.Errorf("found %v", n)
	}
	pools := fleetLab(nil, nil, 0.9)
	pools.axes = []sweepdata.Axis{axis("prefill-workers", "2", "2", "4"), axis("decode-workers", "2", "2", "3")}
	pools.of = func(v []string) effect { return effect{ttft: 2 / numberOf(v[0])} }
	s = pools.sweep(t)
	s.Base["prefill-workers"], s.Base["decode-workers"] = int64(2), int64(2)
	gpus(s, 4, func(p *sweepdata.Point) float64 { return numberOf(p.Values[0]) + numberOf(p.Values[1]) })
	v = mustJudge(t, s)
	if want := "Of the pools tried, the fewest GPUs that serve 90 % of requests within TTFT 2 s: prefill-workers 2, decode-workers 2 (16 GPUs)."; v.Headline != want {
		t.Errorf("found %q, expected %q", v.Headline, want)
	}
}

// TestSweepsWarnOfOverload: the requests of the default and of the fleet that
// answers that wait at the end are told by the rule of single runs, and those of
// the other fleets are not.
func TestSweepsWarnOfOverload(t *testing.T) {
	for _, c := range []struct {
		waiting map[string]int64 // of 600 requests, by fleet
		want    string
	}{
		{map[string]int64{"6": 100}, ""},
		{map[string]int64{"6": 100, "8": 60}, "The default: 60 of 600 requests were still waiting for a worker when the last one arrived (seed 1)."},
		{map[string]int64{"4": 100}, "Point 4: 100 of 600 requests were still waiting for a worker when the last one arrived (seed 1)."},
		{map[string]int64{"4": 30, "8": 30}, ""}, // 5 %
	} {
		s := fleetLab([]string{"4", "6", "8"}, nil, 0).sweep(t)
		for i := range s.Points {
			for k := range s.Points[i].Runs {
				s.Points[i].Runs[k].Counters[sweepdata.CounterIndex("waiting_at_last_arrival")] = c.waiting[s.Points[i].Values[0]]
			}
		}
		n := noticeOf(mustJudge(t, s), "overload")
		if n == nil {
			n = &Notice{}
		} else if n.Consequence != "This fleet cannot carry this load, and latencies depend on the length of the trace." {
			t.Errorf("%v: found %v", c.waiting, n)
		}
		if n.Fact != c.want {
			t.Errorf("%v: found %q, expected %q", c.waiting, n.Fact, c.want)
		}
	}
}

// TestAnswersAreMarked: where fleets and loads alone were varied, the point to
// look at is the fleet that answers or comes closest, not the default.
func TestAnswersAreMarked(t *testing.T) {
	v := mustJudge(t, fleetLab([]string{"2", "4", "8"}, []string{"1", "2"}, 0.9).sweep(t))
	if got := v.Points[v.Chosen].Name; v.State != Capacity || got != "4/1" || v.Part() != "answer" || v.Deltas != nil {
		t.Errorf("found %s %s %s with %d differences", v.State, v.Part(), got, len(v.Deltas))
	}
	tight := fleetLab([]string{"4", "8", "12"}, nil, 0.999)
	tight.sla.TTFT = 500
	v = mustJudge(t, tight.sweep(t))
	if got := v.Points[v.Chosen].Name; v.State != SLOMiss || got != "12" || v.Part() != "closest" || v.Deltas != nil || v.Label != "closest, not sufficient" {
		t.Errorf("found %s %s %s (%s) with %d differences", v.State, v.Part(), got, v.Label, len(v.Deltas))
	}
}

func noticeOf(v *Verdict, code string) *Notice {
	for i := range v.Notices {
		if v.Notices[i].Code == code {
			return &v.Notices[i]
		}
	}
	return nil
}
