package verdict

import (
	"cmp"
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
	r.Smallest = j.holding(r, workersAxis, fewest, func(l *Load) bool { return j.plain(l, workersAxis) })
	r.Fastest = j.holding(r, rateAxis, func(l *Load) float64 { return l.Rate }, func(l *Load) bool { return j.plain(l, rateAxis) })
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
	l := Load{Values: j.loadOf(p), GPUs: j.s.GPUs(p), Workers: baseNumber(j.s, workersAxis), Rate: baseNumber(j.s, rateAxis), Base: -1, Best: -1, Saturated: true, Within: math.NaN(), TTFT: math.NaN(), ITL: math.NaN()}
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

// fewest orders fleets from large to small.
func fewest(l *Load) float64 { return -l.Workers }

// plain reports whether a load leaves all axes of load at the default but those
// named.
func (j *judge) plain(l *Load, but ...string) bool {
	for k, a := range j.d.load {
		if axis := &j.s.Axes[a]; !slices.Contains(but, axis.Name) && !same(l.Values[k], axis.Base) {
			return false
		}
	}
	return true
}

// loadAxis reports whether an axis of load was varied.
func (j *judge) loadAxis(name string) bool {
	return slices.ContainsFunc(j.d.load, func(a int) bool { return j.s.Axes[a].Name == name })
}

// holding returns, of the loads that are asked for, the one that goes furthest
// along an axis with every easier one held too; -1 for none.
func (j *judge) holding(r *Reading, axis string, hard func(*Load) float64, asked func(*Load) bool) int {
	if !j.loadAxis(axis) {
		return -1
	}
	var line []int
	for i := range r.Loads {
		if l := &r.Loads[i]; asked(l) && !math.IsNaN(hard(l)) {
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

// held reports whether any load holds.
func (r *Reading) held() bool {
	return r != nil && slices.ContainsFunc(r.Loads, func(l Load) bool { return l.Holds })
}
