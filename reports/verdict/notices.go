package verdict

import (
	"fmt"
	"slices"
	"strings"

	"routesim/reports"
	"routesim/reports/sweepdata"
)

// notices are the facts to know before reading on.
func (j *judge) notices() (list []Notice) {
	add := func(code, fact, consequence string, points []int) {
		list = append(list, Notice{code, fact, consequence, points})
	}
	j.unfinished(add)
	if sat := j.points(func(p int) bool { return j.d.sat[p] }); len(sat) > 0 {
		add("saturated", fmt.Sprintf("%s saturated: the queue grows to the end of the trace.", plural(len(sat), "point")),
			"Latencies there depend on the length of the trace: no candidates.", sat)
	}
	j.overloaded(add)
	if less := j.points(func(p int) bool { return j.v.Points[p].Status == Incomplete }); len(less) > 0 {
		add("less-work", fmt.Sprintf("%s fewer requests than the default.", verb(len(less), "1 point completes", count(len(less))+" points complete")),
			"Latencies of fewer requests are not of the same work: no candidates.", less)
	}
	for _, a := range j.d.inert {
		axis := &j.s.Axes[a]
		consequence := "It is an untested setting, not a weak one; its values are folded into one."
		if axis.Remedy != "" {
			consequence += " To test it: " + strings.TrimRight(axis.Remedy, ".") + "."
		}
		add("inert", fmt.Sprintf("%s changed no decision: %s.", axis.Name, strings.TrimRight(axis.Inert, ".")), consequence, nil)
	}
	if other := j.points(func(p int) bool { return j.v.Points[p].Status == OtherLoad }); len(other) > 0 {
		what := j.loadNoun()
		add("other-load", fmt.Sprintf("%s another %s than the default.", verb(len(other), "1 point has", count(len(other))+" points have"), what),
			fmt.Sprintf("Settings are compared at the same %s only: no candidates.", strings.ReplaceAll(what, " or ", " and ")), other)
	}
	if past := j.points(func(p int) bool { return j.s.Points[p].Beyond }); len(past) > 0 {
		add("beyond", fmt.Sprintf("%s beyond what Dynamo documents.", verb(len(past), "1 point lies", count(len(past))+" points lie")),
			"Dynamo accepts such values; test them before relying on them.", past)
	}
	if j.blocks.why != "" {
		add("short-trace", capitalFirst(j.blocks.why)+".", "There are no intervals over traffic.", nil)
	}
	if text := j.s.Semantics; text != "" {
		add("semantics", "Router semantics: "+text+".", "", nil)
	}
	if text := j.s.Unchecked; text != "" {
		add("unchecked", text, "", nil)
	}
	for _, n := range j.s.Notes {
		add("note", n, "", nil)
	}
	return list
}

// overloaded warns of a default or chosen point whose fleet cannot carry its load
// by the rule of single runs.
func (j *judge) overloaded(add func(code, fact, consequence string, points []int)) {
	counter, arrived := sweepdata.CounterIndex("waiting_at_last_arrival"), len(j.s.Requests.ArrivalMS)
	for _, p := range slices.Compact([]int{j.v.Default, j.v.Chosen}) {
		if p < 0 || j.v.State == Overload {
			continue
		}
		name := "The default"
		if p != j.v.Default {
			name = "Point " + j.v.Points[p].Name
		}
		for _, r := range j.d.runs[p] {
			if counter >= len(r.Counters) {
				break
			}
			if n := r.Counters[counter]; reports.Overloaded(n, int64(len(r.Workers)), int64(arrived)) {
				add("overload", fmt.Sprintf("%s: %s of %s were still waiting for a worker when the last one arrived (seed %d).", name, count(int(n)), plural(arrived, "request"), r.Seed),
					"This fleet cannot carry this load, and latencies depend on the length of the trace.", []int{p})
				break
			}
		}
	}
}

// unfinished tells of points that failed or were not run to the end.
func (j *judge) unfinished(add func(code, fact, consequence string, points []int)) {
	failed := j.points(func(p int) bool { return j.v.Points[p].Status == Failed })
	if len(failed) > 0 {
		add("failed", fmt.Sprintf("%s failed; first: “%s”.", plural(len(failed), "point"), j.s.Points[failed[0]].Error), "What failed takes no part in the verdict.", failed)
	}
	if missing := j.points(func(p int) bool { return j.v.Points[p].Status == NotRun }); len(missing) > 0 {
		done := len(j.s.Points) - len(missing) - len(failed)
		add("incomplete", fmt.Sprintf("%s of %s done.", count(done), plural(len(j.s.Points), "point")), "The verdict may change; the same command resumes the sweep.", missing)
	}
	if n := len(j.s.Seeds); n > len(j.d.seeds) && len(j.d.seeds) > 0 {
		add("incomplete", fmt.Sprintf("The default has run with %d of %s.", len(j.d.seeds), plural(n, "seed")), "Only these are compared; the same command resumes the sweep.", nil)
	}
}

// points lists those that something is true of.
func (j *judge) points(is func(int) bool) (list []int) {
	for p := range j.s.Points {
		if is(p) {
			list = append(list, p)
		}
	}
	return list
}

// definitions explain the terms and methods of this verdict.
func (j *judge) definitions() []Definition {
	n := len(j.d.seeds)
	list := []Definition{
		{"No difference shown", "The 95 % interval of the paired difference includes 0. It does not say that there is none."},
		{"Paired difference", "Draws depend on the seed alone, so a point and the default are compared seed by seed. A relative difference is that of the two means, in percent of the default's; shares differ in percentage points."},
	}
	if n >= minGroups {
		list = append(list, Definition{"Interval over seeds", fmt.Sprintf(
			"Percentile bootstrap of the paired differences over %s, %s resamples, both ends stretched about the mean by sqrt(n/(n-1)) t(n-1)/1.96, here %s: the plain bootstrap is too narrow for few seeds. In simulations with normal differences it covers 94 to 95 %% for 6 to 20 seeds.",
			plural(n, "seed"), count(j.seeds.len()), number(stretch(n)))})
	}
	if j.measures != nil {
		list = append(list, Definition{"Interval over traffic", fmt.Sprintf(
			"Moving-block bootstrap: %s blocks of %s, starting at any quarter of a block, drawn anew %s times; the last is followed by the first. The same blocks are drawn for all points, seeds together, requests paired by number. It is stretched as above, for the number of blocks. %s It tells of other minutes of the same kind of traffic, not of another day's.",
			count(j.blocks.n), j.blocks.name(), count(j.traffic.len()), trafficCoverage)})
	}
	return append(list,
		Definition{"Which interval counts", "The wider one of the two. Figures of a whole run, such as throughput and imbalance, and percentiles of single token gaps have none over traffic."},
		Definition{"Better than the default", fmt.Sprintf("The interval excludes 0, and so does the difference with Holm's correction for the %s it is the best of, by p-values from Student's t, the larger one of seeds and traffic. Effects below %s %% (for shares: pp) are not worth a change.", plural(len(j.candidates()), "setting"), given(j.v.Smallest))},
		Definition{"Cannot be told apart", "The difference from the best point includes 0 in an interval for all points together (the largest deviation of any point in a resample), because the best was picked from many. Of these the one is chosen that changes the fewest settings, then one that Dynamo documents, then the nearest to the default, then the one with the lowest ITL p90."},
		Definition{"Fresh seeds", "The best of many looks better than it is. Chosen, default and tied points (at most 8) are run again on seeds not used before, and those figures are quoted. The traffic stays the same."},
		Definition{"Saturated", "The queue is still growing when the last request arrives."},
	)
}

// trafficCoverage is what the interval over traffic was found to cover in
// simulations with known truth; a test repeats them.
const trafficCoverage = "In simulated traffic of an hour it covers 98 % for p90 and 90 % for a mean where requests change from minute to minute, and 83 % for p90 where bursts last about five minutes."
