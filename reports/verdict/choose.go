package verdict

import (
	"cmp"
	"math"
	"slices"
)

const level = 0.05 // of all tests together

// candidates are the points that the default is compared with.
func (j *judge) candidates() (list []int) {
	for p := range j.v.Points {
		if j.v.Points[p].Status == Valid && p != j.s.Default {
			list = append(list, p)
		}
	}
	return list
}

// sure reports whether there are enough replicates, and enough traffic if the
// objective can be had over traffic.
func (j *judge) sure() bool {
	return len(j.d.seeds) >= minGroups && (j.slot[j.v.Objective] >= 0 || !j.tooShort())
}

// tooShort reports whether the trace has too few blocks for a metric that could
// be had over traffic otherwise.
func (j *judge) tooShort() bool {
	return j.blocks.why != "" && j.v.NoTraffic[j.v.Objective] == j.blocks.why
}

// correct finds the p-values of the candidates, the greater one of those over
// seeds and over traffic, and corrects them for their number.
func (j *judge) correct() {
	if !j.sure() {
		return
	}
	list := j.candidates()
	raw := make([]float64, len(list))
	for i, p := range list {
		raw[i] = j.chance(&j.v.Points[p].Diff[j.v.Objective], j.errors[p])
	}
	for i, adjusted := range holm(raw) {
		q := &j.v.Points[list[i]]
		q.Adjusted = adjusted
		if d := &q.Diff[j.v.Objective]; adjusted < level && d.Shown {
			q.Shown = d.Better
		}
	}
}

func (j *judge) chance(d *Diff, e stdErrors) float64 {
	if !d.OK || math.IsNaN(e.seeds) {
		return 1
	}
	p := twoSided(d.Mean, e.seeds, len(j.d.seeds)-1)
	if !math.IsNaN(e.traffic) {
		p = math.Max(p, twoSided(d.Mean, e.traffic, j.blocks.n-1))
	}
	return p
}

// ahead orders points by the objective, the better one first.
func (j *judge) ahead(a, b int) int {
	x, y := j.v.Points[a].Mean[j.v.Objective], j.v.Points[b].Mean[j.v.Objective]
	if j.metrics[j.v.Objective].Better > 0 {
		x, y = y, x
	}
	switch {
	case math.IsNaN(x) && math.IsNaN(y):
		return a - b
	case math.IsNaN(x):
		return 1
	case math.IsNaN(y):
		return -1
	}
	return cmp.Or(cmp.Compare(x, y), cmp.Compare(j.v.Points[a].Changes, j.v.Points[b].Changes), a-b)
}

// choose finds the best point, those that cannot be told apart from it, and the
// one of them to use.
func (j *judge) choose() {
	v := j.v
	for p := range v.Points {
		if v.Points[p].Status == Valid && !math.IsNaN(v.Points[p].Mean[v.Objective]) {
			v.Order = append(v.Order, p)
		}
	}
	slices.SortFunc(v.Order, j.ahead)
	v.Chosen = v.Default
	if len(v.Order) == 0 {
		return
	}
	v.Best, v.Worst = v.Order[0], v.Order[len(v.Order)-1]
	if !j.sure() {
		if d := &v.Points[v.Best].Diff[v.Objective]; d.OK && j.enough(d) {
			v.Chosen = v.Best
		}
		return
	}
	v.Tied = j.ties()
	// A default that some point is shown to be better than is none of the best.
	better := j.winners(v.Order)
	if len(better) > 0 {
		v.Tied = slices.DeleteFunc(v.Tied, func(p int) bool { return p == v.Default })
	}
	for _, p := range v.Tied {
		v.Points[p].Tied = true
	}
	if list := j.winners(v.Tied); len(list) > 0 {
		v.Chosen = slices.MinFunc(list, j.simpler)
	}
}

// enough reports whether a difference is for the better and as large as the
// smallest worth a change. The bound is a relative one: for shares it is in
// percentage points, and where the default has 0 any gain will do.
func (j *judge) enough(d *Diff) bool {
	gain := d.Mean * float64(j.metrics[j.v.Objective].Better)
	return gain > 0 && (d.Kind == Plain || gain >= j.v.Smallest)
}

// winners are the points of a list that are shown to be better than the default
// by enough.
func (j *judge) winners(list []int) (out []int) {
	for _, p := range list {
		if p != j.v.Default && j.v.Points[p].Shown > 0 && j.enough(&j.v.Points[p].Diff[j.v.Objective]) {
			out = append(out, p)
		}
	}
	return out
}

// simpler orders tied points: fewest settings changed, then none beyond what
// Dynamo documents, then nearest the default, then lowest ITL p90.
func (j *judge) simpler(a, b int) int {
	p, q := &j.v.Points[a], &j.v.Points[b]
	itl := j.d.byName["p90_itl_ms"]
	return cmp.Or(
		cmp.Compare(p.Changes, q.Changes),
		cmp.Compare(rank(j.s.Points[a].Beyond), rank(j.s.Points[b].Beyond)),
		cmp.Compare(j.d.distance(a), j.d.distance(b)),
		cmp.Compare(p.Mean[itl], q.Mean[itl]),
		j.ahead(a, b),
	)
}

func rank(last bool) int {
	if last {
		return 1
	}
	return 0
}

// ties are the valid points whose difference from the best includes 0, in an
// interval for all of them together: the best was picked from many. The
// resamples tell how many independent comparisons the points are worth, and
// Student's t what that means for as few seeds.
func (j *judge) ties() (list []int) {
	m, best := j.v.Objective, j.v.Best
	k := kindOf(&j.metrics[m], j.v.Points[best].Mean[m])
	n := len(j.v.Order)
	means, seedErr, blockErr := make([]float64, n), make([]float64, n), make([]float64, n)
	var seedMax, blockMax []float64
	var scratch []float64
	for i, p := range j.v.Order {
		mean, each := paired(k, j.x[p][m], j.x[best][m])
		means[i], seedErr[i] = mean, errorOf(each)
		scratch = resampled(each, &j.seeds, scratch)
		seedMax = raise(seedMax, scratch)
		if slot := j.slot[m]; slot >= 0 && j.clouds[p] != nil && j.clouds[best] != nil {
			scratch = deviations(k, j.clouds[p][slot], j.clouds[best][slot], k.diff(j.v.Points[p].Mean[m], j.v.Points[best].Mean[m]), scratch)
			if len(scratch) > 0 {
				blockErr[i] = rms(scratch) * math.Sqrt(float64(j.blocks.n)/float64(j.blocks.n-1))
				blockMax = raise(blockMax, scratch)
			}
		}
	}
	seedBound := bound(seedMax, len(j.d.seeds)-1)
	blockBound := bound(blockMax, j.blocks.n-1)
	for i, p := range j.v.Order {
		gap := math.Abs(means[i])
		if p == best || gap <= float64(seedBound*seedErr[i]) || gap <= float64(blockBound*blockErr[i]) {
			list = append(list, p)
		}
	}
	return list
}

// raise keeps the largest deviation of any point for each resample, in standard
// errors of that point.
func raise(most, deviations []float64) []float64 {
	if most == nil {
		most = make([]float64, len(deviations))
	}
	if scale := rms(deviations); scale > 0 {
		for r, v := range deviations {
			most[r] = math.Max(most[r], math.Abs(v)/scale)
		}
	}
	return most
}

// bound is the number of standard errors that the largest of all deviations
// keeps within in 95 % of cases, for n-1 degrees of freedom.
func bound(most []float64, df int) float64 {
	if len(most) == 0 || df < 1 {
		return 0
	}
	z := math.Max(quantile(slices.Clone(most), 1-level), normal(1-level/2))
	return student(df, 1-oneSided(z))
}

// oneSided is the probability of a normal value above z.
func oneSided(z float64) float64 { return math.Erfc(z/math.Sqrt2) / 2 }
