package figures

import (
	"strings"
	"testing"

	"routesim/reports/verdict"
)

// TestKnobsAreAboutTheObjective: the percentile that is judged has a panel and
// is the one of the title.
func TestKnobsAreAboutTheObjective(t *testing.T) {
	for objective, want := range map[string]string{
		"p90_ttft_ms": "p90", "goodput_share": "p90", "p95_itl_ms": "p95", "p99_ttft_ms": "p99", "p50_ttft_ms": "p90",
	} {
		s := made(3, credit())
		s.Objective = objective
		list, err := Draw(s, nil, nil, Request{Kind: Knob, Metric: "ttft"})
		if err != nil {
			t.Fatal(err)
		}
		if got := list[0].Title; !strings.HasPrefix(got, "TTFT "+want+" ") {
			t.Errorf("%s: found the title %q", objective, got)
		}
		text := drawn(t, &list[0])
		for _, title := range []string{"TTFT mean", "TTFT p50", "TTFT " + want, "TTFT p99"} {
			if !strings.Contains(text, ">"+title+", ms<") {
				t.Errorf("%s: found no panel of %s", objective, title)
			}
		}
	}
}

// TestTiesAreOfTheObjective: maps of other metrics do not mark as tied what ties
// on the objective.
func TestTiesAreOfTheObjective(t *testing.T) {
	s := made(6, credit(), scale())
	v := &verdict.Verdict{Default: s.Default, Chosen: 14, Tied: []int{14, 19, 18}}
	list, err := Draw(s, v, nil, Request{Kind: HeatMap})
	if err != nil {
		t.Fatal(err)
	}
	for i := range list {
		const legend = "no difference from the best shown"
		marked, objective := strings.Contains(drawn(t, &list[i]), legend), strings.HasPrefix(list[i].Name, "heatmap_"+s.Objective)
		if marked != objective {
			t.Errorf("%s: ties marked: %v, of the objective: %v", list[i].Name, marked, objective)
		}
	}
}

// TestDistributionsOfRequestsAreOfTPOT: what a request has one of is no ITL,
// which is one of each token gap.
func TestDistributionsOfRequestsAreOfTPOT(t *testing.T) {
	list, err := Draw(made(1, credit()), nil, nil, Request{Kind: CDF, Metric: "p90_tpot_ms"})
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != 1 || list[0].Name != "cdf_tpot" || !strings.HasPrefix(list[0].Title, "TPOT p90: ") || strings.Contains(drawn(t, &list[0]), "ITL") {
		t.Errorf("found %v: %q", names(list), list[0].Title)
	}
}

// TestSharesOfSuccessAreRoundedDown: pictures promise no more than the verdict.
func TestSharesOfSuccessAreRoundedDown(t *testing.T) {
	d := newData(made(1, credit()), nil, nil)
	for name, want := range map[string]string{"goodput_share": "85.5 %", "completed_share": "85.5 %", "reuse_share": "85.6 %"} {
		if got := d.write(metric(name), 85.59); got != want {
			t.Errorf("%s: found %s, expected %s", name, got, want)
		}
	}
}

// TestWhatIsNotEnoughIsNotCalledChosen: where the SLO is missed pictures mark the
// closest point as such; and fleets of different sizes are no trade-off.
func TestWhatIsNotEnoughIsNotCalledChosen(t *testing.T) {
	s := made(2, axis("workers", "2", "1", "2", "4"), axis("arrival-speedup-ratio", "1", "0.5", "1", "2"))
	v := &verdict.Verdict{State: verdict.SLOMiss, Default: s.Default, Chosen: 7}
	list, err := All(s, v, Series{s.Default: watched(4), 7: watched(4)})
	if err != nil {
		t.Fatal(err)
	}
	marked := 0
	for i := range list {
		text := strings.ToLower(drawn(t, &list[i]))
		if strings.Contains(text, ">chosen") || strings.Contains(text, "(chosen") || strings.Contains(text, "trade-off") || strings.Contains(text, "pareto front") {
			t.Errorf("%s calls something chosen, or weighs fleets: %q", list[i].Name, list[i].Title)
		}
		if strings.Contains(text, "closest") {
			marked++
		}
	}
	if marked < 5 {
		t.Errorf("%d of %d pictures mark the closest point", marked, len(list))
	}
}
