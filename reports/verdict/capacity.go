package verdict

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"routesim/reports/format"
)

const (
	workersAxis = "workers"
	rateAxis    = "arrival-speedup-ratio"
)

// reading tells which loads the fleet holds, nil where the load was not varied.
// A load holds if some point keeps up with it, completes as many requests as any
// point does, and meets the SLO where a share of requests has to.
func (j *judge) reading() *Reading {
	if len(j.d.load) == 0 {
		return nil
	}
	r := &Reading{Axes: j.d.load, Smallest: -1, Fastest: -1}
	most := math.Inf(-1)
	completed := j.d.byName["completed_share"]
	for p := range j.v.Points {
		if mean := j.v.Points[p].Mean[completed]; mean > most {
			most = mean
		}
	}
	for p := range j.v.Points {
		if j.x[p] == nil || j.d.reference(p) {
			continue
		}
		known := slices.ContainsFunc(r.Loads, func(l Load) bool { return slices.Equal(l.Values, j.loadOf(p)) })
		if !known {
			r.Loads = append(r.Loads, j.load(p, most))
		}
	}
	slices.SortStableFunc(r.Loads, func(a, b Load) int {
		return cmp.Or(cmp.Compare(a.Workers, b.Workers), cmp.Compare(a.Rate, b.Rate))
	})
	r.Smallest = j.holding(r, workersAxis, func(l *Load) float64 { return -l.Workers })
	r.Fastest = j.holding(r, rateAxis, func(l *Load) float64 { return l.Rate })
	j.describe(r)
	return r
}

// loadOf lists a point's values on the axes of load.
func (j *judge) loadOf(p int) (values []string) {
	for _, a := range j.d.load {
		values = append(values, j.s.Points[p].Values[a])
	}
	return values
}

// load sums up all points with p's load.
func (j *judge) load(p int, most float64) Load {
	l := Load{Values: j.loadOf(p), Workers: baseNumber(j.s, workersAxis), Rate: baseNumber(j.s, rateAxis), Base: -1, Best: -1, Saturated: true, Within: math.NaN(), TTFT: math.NaN(), ITL: math.NaN()}
	if !(l.Rate > 0) {
		l.Rate = 1
	}
	var names []string
	for i, a := range j.d.load {
		switch j.s.Axes[a].Name {
		case workersAxis:
			l.Workers = numberOf(l.Values[i])
			if math.IsNaN(l.Workers) {
				names = append(names, l.Values[i])
			} else {
				names = append(names, format.Plural(int64(l.Workers), "worker"))
			}
		case rateAxis:
			l.Rate = numberOf(l.Values[i])
			names = append(names, l.Values[i]+"× the rate")
		default:
			names = append(names, j.s.Axes[a].Name+" "+l.Values[i])
		}
	}
	l.Name = strings.Join(names, ", ")
	share := j.d.byName["goodput_share"]
	for q := range j.v.Points {
		if j.x[q] == nil || j.d.reference(q) || !j.d.agree(p, q, j.d.load) {
			continue
		}
		if within := j.v.Points[q].Mean[share]; !(within <= l.Within) && !math.IsNaN(within) {
			l.Within = within
		}
		holds := j.holds(q, most)
		if j.d.changes(q) == 0 && (l.Base < 0 || q == j.v.Points[q].Same) {
			l.Base, l.BaseHolds = q, holds
		}
		l.Holds = l.Holds || holds
		l.Saturated = l.Saturated && j.d.sat[q]
		if !j.d.sat[q] && (l.Best < 0 || j.ahead(q, l.Best) < 0) {
			l.Best = q
		}
	}
	if l.Best >= 0 {
		l.TTFT = j.v.Points[l.Best].Mean[j.d.byName["p90_ttft_ms"]]
		l.ITL = j.v.Points[l.Best].Mean[j.d.byName["p90_itl_ms"]]
	}
	return l
}

// holds reports whether a point carries its load.
func (j *judge) holds(p int, most float64) bool {
	mean := j.v.Points[p].Mean
	if j.d.sat[p] || mean[j.d.byName["completed_share"]] < most-completionTolerance {
		return false
	}
	goal := j.s.SLA.Target
	return goal == 0 || mean[j.d.byName["goodput_share"]] >= 100*goal
}

// holding returns the load that goes furthest along one axis, all others at the
// default, with every easier one held too; -1 for none.
func (j *judge) holding(r *Reading, axis string, hard func(*Load) float64) int {
	if !slices.ContainsFunc(j.d.load, func(a int) bool { return j.s.Axes[a].Name == axis }) {
		return -1
	}
	var line []int
	for i := range r.Loads {
		others := false
		for k, a := range j.d.load {
			others = others || j.s.Axes[a].Name != axis && !same(r.Loads[i].Values[k], j.s.Axes[a].Base)
		}
		if !others && !math.IsNaN(hard(&r.Loads[i])) {
			line = append(line, i)
		}
	}
	slices.SortStableFunc(line, func(a, b int) int { return cmp.Compare(hard(&r.Loads[a]), hard(&r.Loads[b])) })
	last := -1
	for _, i := range line {
		if !r.Loads[i].Holds {
			break
		}
		last = i
	}
	return last
}

// describe puts the reading into words.
func (j *judge) describe(r *Reading) {
	what := "keeps up with this load"
	if j.s.SLA.Target > 0 {
		what = fmt.Sprintf("serves %s %% of requests within %s", given(100*j.s.SLA.Target), j.slo())
	}
	varied := func(axis string) bool {
		return slices.ContainsFunc(j.d.load, func(a int) bool { return j.s.Axes[a].Name == axis })
	}
	var heads []string
	if varied(workersAxis) {
		if r.Smallest < 0 {
			heads = append(heads, "No fleet tried "+what+".")
		} else {
			l := &r.Loads[r.Smallest]
			text := fmt.Sprintf("Smallest fleet that %s: %s", what, plural(int(l.Workers), "worker"))
			if !slices.ContainsFunc(r.Loads, func(o Load) bool { return o.Workers < l.Workers }) {
				text += " (the smallest tried)"
			}
			heads = append(heads, text+".")
		}
	}
	if varied(rateAxis) {
		rest := strings.Replace(what, "keeps up with this load", "is kept up with", 1)
		if r.Fastest < 0 {
			heads = append(heads, "At no rate tried does this fleet hold: none "+rest+".")
		} else {
			l := &r.Loads[r.Fastest]
			text := fmt.Sprintf("This fleet holds up to %s× the rate", given(l.Rate))
			if !slices.ContainsFunc(r.Loads, func(o Load) bool { return o.Rate > l.Rate }) {
				text += " (the highest tried)"
			}
			heads = append(heads, text+".")
		}
	}
	if len(heads) == 0 {
		heads = append(heads, "Only the load or the machines were varied: compare the readings.")
	}
	r.Headline = strings.Join(heads, " ")
	const most = 12
	for i := range r.Loads {
		if i == most {
			r.Text = append(r.Text, fmt.Sprintf("%s in the table of points.", capital("the rest")))
			break
		}
		r.Text = append(r.Text, j.loadText(&r.Loads[i]))
	}
}

// loadText is one load in a sentence.
func (j *judge) loadText(l *Load) string {
	text := l.Name + ": "
	if l.Saturated {
		return text + "the queue grows to the end."
	}
	var parts []string
	if !math.IsNaN(l.TTFT) {
		parts = append(parts, "TTFT p90 "+j.u.value(j.d.byName["p90_ttft_ms"], l.TTFT))
	}
	if !math.IsNaN(l.ITL) {
		parts = append(parts, "ITL p90 "+j.u.value(j.d.byName["p90_itl_ms"], l.ITL))
	}
	if !math.IsNaN(l.Within) {
		parts = append(parts, fixed(l.Within, 1)+" % within the SLO")
	}
	if l.Best >= 0 && j.v.Points[l.Best].Changes > 0 {
		q := &j.v.Points[l.Best]
		if d := &q.Diff[j.v.Objective]; d.OK && d.Better > 0 {
			parts = append(parts, fmt.Sprintf("best with %s (%s against the defaults at this load)", q.Knobs, d.Text(j.metrics[j.v.Objective].Unit)))
		}
	}
	return text + strings.Join(parts, ", ") + "."
}

func capitalFirst(text string) string {
	if text == "" {
		return text
	}
	return strings.ToUpper(text[:1]) + text[1:]
}
