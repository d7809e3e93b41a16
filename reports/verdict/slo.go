package verdict

import (
	"fmt"
	"math"
	"strings"

	"routesim/reports/sweepdata"
)

// sloMiss names the point with most requests within the SLO, and the bound that
// keeps it from more.
func (j *judge) sloMiss() {
	v := j.v
	share := j.d.byName["goodput_share"]
	closest := -1
	for _, p := range v.Order {
		if mean := v.Points[p].Mean[share]; !math.IsNaN(mean) && (closest < 0 || mean > v.Points[closest].Mean[share]) {
			closest = p
		}
	}
	v.State, v.Chosen = SLOMiss, closest
	v.Label = "closest, not sufficient"
	v.Headline = fmt.Sprintf("No setting meets %s. Closest: %s, %s %% within it.", j.slo(), v.Points[closest].Knobs, fixed(v.Points[closest].Mean[share], 1))
	v.Evidence = fmt.Sprintf("Needed %s %%.", given(100*j.s.SLA.Target))
	if limit := j.limit(closest); limit != "" {
		v.Evidence += " " + limit
	}
	if rate := j.slower(); rate != "" {
		v.Evidence += " " + rate
	}
	v.Deltas = j.strip(j.of(closest))
}

// limit says how many requests keep each bound alone, over all seeds. It says
// nothing where the latencies cannot be had, which has been reported before.
func (j *judge) limit(p int) string {
	if j.s.Load == nil {
		return ""
	}
	bounds := []struct {
		name string
		only sweepdata.SLA
	}{
		{"TTFT", sweepdata.SLA{TTFT: j.s.SLA.TTFT}}, {"ITL", sweepdata.SLA{ITL: j.s.SLA.ITL}}, {"E2E", sweepdata.SLA{E2E: j.s.SLA.E2E}},
	}
	kept, total := make([]int, len(bounds)), 0
	for _, seed := range j.d.seeds {
		l, err := j.s.Load(p, seed)
		if err != nil || wellFormed(l, len(j.s.Requests.InputTokens)) != nil {
			return ""
		}
		for i := range l.E2E {
			total++
			for k := range bounds {
				if l.E2E[i] == l.E2E[i] && meets(&bounds[k].only, l.TTFT[i], l.ITL[i], l.E2E[i]) {
					kept[k]++
				}
			}
		}
	}
	worst, parts := -1, []string(nil)
	for k, b := range bounds {
		if b.only == (sweepdata.SLA{}) || total == 0 {
			continue
		}
		parts = append(parts, fmt.Sprintf("%s alone %s %%", b.name, fixed(100*float64(kept[k])/float64(total), 1)))
		if worst < 0 || kept[k] < kept[worst] {
			worst = k
		}
	}
	if worst < 0 {
		return ""
	}
	return fmt.Sprintf("%s is the limit: %s.", bounds[worst].name, strings.Join(parts, ", "))
}

// slower names the highest rate below the default's at which some point meets
// the SLO with the default's fleet.
func (j *judge) slower() string {
	r := j.v.Capacity
	if r == nil || r.Fastest < 0 {
		return ""
	}
	l := &r.Loads[r.Fastest]
	if l.Best < 0 || !l.Holds {
		return ""
	}
	return fmt.Sprintf("At %s× the rate %s reaches %s %%.", given(l.Rate), j.v.Points[l.Best].Knobs, fixed(l.Within, 1))
}
