package verdict

import (
	"fmt"
	"math"
	"slices"

	"routesim/reports/sweepdata"
)

// Confirm quotes the gain of a verdict on fresh seeds. fresh holds the runs of
// all points of v.Rerun, each with the same seeds, at least 6 and none of the
// sweep's. Where they contradict the choice, another tied point that holds on
// them takes its place, or else the default. The traffic is the same as before,
// and so is how far the differences move with it. v stays as it is.
func Confirm(s *sweepdata.Sweep, v *Verdict, fresh map[int][]sweepdata.Run) (*Verdict, error) {
	if v.trial == nil || v.trial.judge == nil {
		return nil, fmt.Errorf("confirm: found a verdict that Judge did not make")
	}
	next := *v
	if len(v.Rerun) == 0 {
		return &next, nil
	}
	j := *v.trial.judge
	j.v, j.s = &next, s
	r, err := newRetrial(&j, fresh)
	if err != nil {
		return nil, err
	}
	r.decide()
	next.Shape, next.Chip = next.State.mark()
	next.Outcome = j.outcomes()
	next.Trust = j.trust()
	j.added()
	return &next, nil
}

// retrial compares points on fresh seeds.
type retrial struct {
	j     *judge
	seeds draws
	n     int
	x     map[int][][]float64 // by point, metric and seed
	sat   map[int]bool
}

func newRetrial(j *judge, fresh map[int][]sweepdata.Run) (*retrial, error) {
	r := &retrial{j: j, x: map[int][][]float64{}, sat: map[int]bool{}}
	first := fresh[j.v.Default]
	r.n = len(first)
	if r.n < minGroups {
		return nil, fmt.Errorf("confirm: found %d fresh seeds, expected at least %d", r.n, minGroups)
	}
	for _, run := range first {
		if slices.Contains(j.s.Seeds, run.Seed) || slices.Contains(j.d.seeds, run.Seed) {
			return nil, fmt.Errorf("confirm: found seed %d among the fresh ones, expected one that the sweep has not run", run.Seed)
		}
	}
	for _, p := range j.v.Rerun {
		runs := fresh[p]
		if len(runs) != r.n {
			return nil, fmt.Errorf("confirm: point %s: found %d runs, expected %d as for the default", j.s.Points[p].ID, len(runs), r.n)
		}
		x := make([][]float64, len(j.metrics))
		for k := range runs {
			if runs[k].Seed != first[k].Seed || len(runs[k].Metrics) != len(j.metrics) {
				return nil, fmt.Errorf("confirm: point %s: found seed %d with %d metrics, expected seed %d with %d", j.s.Points[p].ID, runs[k].Seed, len(runs[k].Metrics), first[k].Seed, len(j.metrics))
			}
			for m, value := range runs[k].Metrics {
				x[m] = append(x[m], value)
			}
			r.sat[p] = r.sat[p] || runs[k].Saturated
		}
		r.x[p] = x
	}
	r.seeds = newDraws(seedStream, j.o.Resamples, r.n, r.n)
	j.only = func(p int) bool { return r.x[p] != nil }
	return r, nil
}

// figures of a point on the fresh seeds. The interval over traffic keeps its
// width.
func (r *retrial) figures(p int) *figures {
	j := r.j
	f := &figures{
		point: p, knobs: j.v.Points[p].Knobs,
		base: make([]float64, len(j.metrics)), value: make([]float64, len(j.metrics)), diff: make([]Diff, len(j.metrics)),
	}
	scratch := make([]float64, 0, r.seeds.len())
	for m := range j.metrics {
		values, bases := r.x[p][m], r.x[j.v.Default][m]
		f.base[m], f.value[m] = meanOf(bases), meanOf(values)
		d, seeds, _ := seedsDiff(kindOf(&j.metrics[m], f.base[m]), values, bases, &r.seeds, &scratch)
		if !d.OK {
			continue
		}
		old, traffic := &j.v.Points[p].Diff[m], spread{}
		if old.OK && old.Traffic.OK && old.Kind == d.Kind {
			traffic = spread{old.Mean - old.Traffic.Lo, old.Traffic.Hi - old.Mean, true}
		}
		d.settle(seeds, traffic, j.metrics[m].Better)
		f.diff[m] = d
	}
	return f
}

// holds reports whether a point is better than the default on fresh seeds too,
// with a correction for being one of some.
func (r *retrial) holds(f *figures, of int) bool {
	d := &f.diff[r.j.v.Objective]
	if r.sat[f.point] || d.Better <= 0 || !r.j.enough(d) {
		return false
	}
	if of == 1 {
		return true
	}
	_, each := paired(d.Kind, r.x[f.point][r.j.v.Objective], r.x[r.j.v.Default][r.j.v.Objective])
	e := stdErrors{errorOf(each), r.j.errors[f.point].traffic}
	p := twoSided(d.Mean, e.seeds, r.n-1)
	if !math.IsNaN(e.traffic) {
		p = math.Max(p, twoSided(d.Mean, e.traffic, r.j.blocks.n-1))
	}
	return p*float64(of) < level
}

func (r *retrial) decide() {
	j, v := r.j, r.j.v
	v.Confirmed, v.Withdrawn, v.First = true, false, v.Chosen
	chosen := r.figures(v.Chosen)
	if r.holds(chosen, 1) {
		j.better(chosen, r.of)
		return
	}
	v.Withdrawn = true
	gone := fmt.Sprintf("On %s the gain of %s did not show again: %s %s.", plural(r.n, "fresh seed"), chosen.knobs,
		j.metrics[v.Objective].Title, chosen.diff[v.Objective].quoted(j.metrics[v.Objective].Unit))
	others := slices.DeleteFunc(slices.Clone(v.Tied), func(p int) bool {
		return p == v.Chosen || p == v.Default || !slices.Contains(v.Rerun, p)
	})
	slices.SortFunc(others, j.simpler)
	for _, p := range others {
		if f := r.figures(p); r.holds(f, len(others)) {
			j.better(f, r.of)
			v.Evidence = gone + " " + v.Evidence
			return
		}
	}
	v.State, v.Chosen, v.Alternative = Tie, v.Default, -1
	v.Headline = "Keep the defaults."
	v.Evidence, v.Costs = gone, ""
	if len(others) > 0 {
		v.Evidence += fmt.Sprintf(" Nor did that of %s tied with it.", plural(len(others), "point"))
	}
	v.Certainty, v.Quarters = j.reach(), Quarters{}
	v.Deltas = j.strip(r.figures(v.Default))
}

// of returns fresh figures where there are any. The other point of a trade is
// always run again.
func (r *retrial) of(p int) *figures {
	if r.x[p] == nil {
		return r.j.of(p)
	}
	return r.figures(p)
}
