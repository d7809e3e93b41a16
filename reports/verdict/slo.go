package verdict

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"routesim/reports/format"
	"routesim/reports/sweepdata"
)

// sloMiss names the point with most requests within the SLO, and the bound that
// keeps it from more. Where the load was varied and none of them holds, that is
// the closest point of all; the flags are those of the default's load.
func (j *judge) sloMiss() {
	v := j.v
	share := j.d.byName["goodput_share"]
	here := j.closest(v.Order)
	v.State, v.Chosen = SLOMiss, here
	v.Label = "closest, not sufficient"
	within := func(p int) string { return kept(v.Points[p].Mean[share]) + " %" }
	best, others := here, ""
	switch {
	case v.Capacity == nil:
		v.Headline = fmt.Sprintf("No setting meets %s. Closest: %s, %s within it.", j.slo(), v.Points[here].Knobs, within(here))
	case v.Capacity.held():
		v.Headline = fmt.Sprintf("No setting meets %s at %s. Closest: %s, %s within it.", j.slo(), j.loadName(here), v.Points[here].Knobs, within(here))
	default:
		best = j.closest(j.points(func(p int) bool { return j.x[p] != nil && !j.d.reference(p) && !j.d.sat[p] }))
		v.Headline = fmt.Sprintf("No point meets %s. Closest: %s (%s), %s within it.", j.slo(), j.loadName(best), j.besides(best), within(best))
		if len(j.d.live) == 0 { // there is no setting to choose: the fleet and the load are
			v.Chosen = best
		} else {
			v.Label = fmt.Sprintf("closest at %s, not sufficient", j.loadName(here))
		}
		if best != here {
			others = fmt.Sprintf("At %s: %s, %s.", j.loadName(here), j.knobsAt(here), within(here))
		}
	}
	v.Evidence = fmt.Sprintf("Needed %s %%.", given(100*j.s.SLA.Target))
	for _, text := range []string{j.limit(best), others, j.slower()} {
		if text != "" {
			v.Evidence += " " + text
		}
	}
	if v.Chosen == here {
		v.Deltas = j.strip(j.of(here))
	}
}

// kept is a share of requests in %, rounded down: what misses 95 % is not 95.0 %.
func kept(share float64) string { return format.Typeset(format.Success(share)) }

// closest is the point of a list with most requests within the SLO, -1 for none.
func (j *judge) closest(list []int) int {
	share, best := j.d.byName["goodput_share"], -1
	for _, p := range list {
		if mean := j.v.Points[p].Mean[share]; !math.IsNaN(mean) && (best < 0 || mean > j.v.Points[best].Mean[share]) {
			best = p
		}
	}
	return best
}

// loadName is a point's load in words.
func (j *judge) loadName(p int) string {
	for i := range j.v.Capacity.Loads {
		if l := &j.v.Capacity.Loads[i]; slices.Equal(l.Values, j.loadOf(p)) {
			return l.Name
		}
	}
	return "this load"
}

// knobsAt is what a point changes besides its load.
func (j *judge) knobsAt(p int) string {
	var parts []string
	for _, a := range j.d.live {
		if !j.d.atBase(p, a) {
			parts = append(parts, j.s.Axes[a].Name+" "+j.s.Points[p].Values[a])
		}
	}
	if len(parts) == 0 {
		return "the defaults"
	}
	return list(parts)
}

// besides is what a point changes besides its load, where that stands beside it.
func (j *judge) besides(p int) string {
	if slices.ContainsFunc(j.d.live, func(a int) bool { return !j.d.atBase(p, a) }) {
		return j.knobsAt(p)
	}
	return "nothing else changed"
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
	met, total := make([]int, len(bounds)), 0
	for _, seed := range j.d.seeds {
		l, err := j.s.Load(p, seed)
		if err != nil || wellFormed(l, len(j.s.Requests.InputTokens)) != nil {
			return ""
		}
		total += j.arrived(p, seed, len(l.E2E))
		for i := range l.E2E {
			for k := range bounds {
				if l.E2E[i] == l.E2E[i] && meets(&bounds[k].only, l.TTFT[i], l.ITL[i], l.E2E[i]) {
					met[k]++
				}
			}
		}
	}
	worst, parts := -1, []string(nil)
	for k, b := range bounds {
		if b.only == (sweepdata.SLA{}) || total == 0 {
			continue
		}
		parts = append(parts, fmt.Sprintf("%s alone %s %%", b.name, kept(100*float64(met[k])/float64(total))))
		if worst < 0 || met[k] < met[worst] {
			worst = k
		}
	}
	if worst < 0 {
		return ""
	}
	return fmt.Sprintf("%s is the limit: %s.", bounds[worst].name, strings.Join(parts, ", "))
}

// arrived is the number of requests of a run that reached the router, of so many
// rows of the trace: a run may stop before the last one.
func (j *judge) arrived(p int, seed uint64, rows int) int {
	sum := 0.0
	for i := range j.s.Points[p].Runs {
		run := &j.s.Points[p].Runs[i]
		if run.Seed != seed {
			continue
		}
		for _, name := range []string{"completed", "rejected", "lost", "cancelled", "unfinished"} {
			if n := run.Metrics[j.d.byName[name]]; n > 0 {
				sum += n
			}
		}
	}
	if sum == 0 {
		return rows
	}
	return int(sum)
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
	return fmt.Sprintf("At %s× the rate %s reaches %s %%.", given(l.Rate), j.v.Points[l.Best].Knobs, kept(l.Within))
}
