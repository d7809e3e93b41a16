package verdict

import (
	"fmt"
	"math"

	"routesim/reports/sweepdata"
)

// worker compares points, one after another.
type worker struct {
	j       *judge
	t       *tally
	scratch []float64
}

func newWorker(j *judge) *worker {
	return &worker{j: j, scratch: make([]float64, 0, j.o.Resamples)}
}

// resample measures a point on every resample of the traffic.
func (w *worker) resample(p int) error {
	j := w.j
	if j.measures == nil {
		return nil
	}
	if w.t == nil {
		w.t = newTally(j.blocks)
	}
	for k, seed := range j.d.seeds {
		l, err := j.s.Load(p, seed)
		if err != nil {
			return fmt.Errorf("point %s, seed %d: %w", j.s.Points[p].ID, seed, err)
		}
		if err := wellFormed(l, len(j.blocks.cell)); err != nil {
			return fmt.Errorf("point %s, seed %d: %w", j.s.Points[p].ID, seed, err)
		}
		if k == 0 {
			w.t.start(l)
		}
		w.t.add(l, &j.s.Requests, &j.s.SLA)
	}
	w.t.close()
	j.clouds[p] = w.cloud(p)
	if slot := j.slot[j.v.Objective]; slot >= 0 {
		for q := range 4 {
			j.quarters[p][q] = j.measures[slot].of(w.t, j.blocks.quarter(q))
		}
	}
	return nil
}

func wellFormed(l *sweepdata.Latencies, rows int) error {
	for _, n := range []int{len(l.TTFT), len(l.ITL), len(l.E2E), len(l.Reused)} {
		if n != rows {
			return fmt.Errorf("found latencies of %d requests, expected %d", n, rows)
		}
	}
	return nil
}

// cloud holds each measure over all resamples, scaled so that the whole trace
// gives the mean of the runs.
func (w *worker) cloud(p int) cloud {
	j := w.j
	c := make(cloud, len(j.measures))
	whole := j.blocks.whole()
	for k := range j.measures {
		m := &j.measures[k]
		mean, at := j.v.Points[p].Mean[m.metric], m.of(w.t, whole)
		if math.IsNaN(mean) || math.IsNaN(at) {
			continue
		}
		scale := 1.0
		if at != 0 {
			scale = mean / at
		}
		c[k] = make([]float32, j.traffic.len())
		for r := range c[k] {
			c[k][r] = float32(m.of(w.t, j.traffic.at(r)) * scale)
		}
	}
	return c
}

// compareAll compares a point with its base in every metric.
func (w *worker) compareAll(p int) {
	q := &w.j.v.Points[p]
	if q.Base < 0 {
		return
	}
	for m := range w.j.metrics {
		d, e := w.compare(m, p, q.Base)
		q.Diff[m] = d
		if m == w.j.v.Objective {
			w.j.errors[p] = e
		}
	}
}

// kindOf says how a metric's differences from a base are measured.
func kindOf(m *sweepdata.Metric, base float64) Kind {
	switch {
	case m.Unit == "%":
		return Share
	case base == 0:
		return Plain
	}
	return Relative
}

func (k Kind) diff(value, base float64) float64 {
	if k == Relative {
		return 100 * (value - base) / base
	}
	return value - base
}

// paired returns the difference of two means, and the seeds' own differences
// about it. A relative difference is that of the means, and a seed's share in
// it is what the seed would move it by.
func paired(k Kind, values, bases []float64) (mean float64, each []float64) {
	mv, mb := meanOf(values), meanOf(bases)
	mean = k.diff(mv, mb)
	each = make([]float64, len(values))
	for i := range values {
		if k == Relative {
			each[i] = mean + 100*(values[i]-float64(mv/mb*bases[i]))/mb
		} else {
			each[i] = values[i] - bases[i]
		}
	}
	if identical(values, bases) { // exactly none
		clear(each)
		mean = 0
	}
	return mean, each
}

func identical(a, b []float64) bool {
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// compare returns the difference of a metric between a point and another one,
// with its standard errors.
func (w *worker) compare(m, p, base int) (Diff, stdErrors) {
	j := w.j
	none := stdErrors{math.NaN(), math.NaN()}
	if j.x[p] == nil || j.x[base] == nil {
		return Diff{}, none
	}
	values, bases := j.x[p][m], j.x[base][m]
	k := kindOf(&j.metrics[m], j.v.Points[base].Mean[m])
	d, seeds, e := seedsDiff(k, values, bases, &j.seeds, &w.scratch)
	if !d.OK {
		return Diff{}, none
	}
	traffic, te := w.trafficSpread(k, m, p, base)
	e.traffic = te
	d.settle(seeds, traffic, j.metrics[m].Better)
	return d, e
}

// seedsDiff compares the values of two points with the same seeds.
func seedsDiff(k Kind, values, bases []float64, draws *draws, scratch *[]float64) (d Diff, seeds spread, e stdErrors) {
	e = stdErrors{math.NaN(), math.NaN()}
	mean, each := paired(k, values, bases)
	if math.IsNaN(mean) || math.IsInf(mean, 0) {
		return d, seeds, e
	}
	d = Diff{Kind: k, OK: true, Mean: mean, N: len(values)}
	for i := range values {
		if diff := values[i] - bases[i]; diff*mean > 0 || diff == 0 && mean == 0 {
			d.Agree++
		}
	}
	e.seeds = errorOf(each)
	if len(values) >= minGroups {
		*scratch = resampled(each, draws, *scratch)
		seeds = spreadOf(*scratch, len(values))
	}
	return d, seeds, e
}

// trafficSpread is how far a difference moves over the resamples of the traffic.
func (w *worker) trafficSpread(k Kind, m, p, base int) (spread, float64) {
	j := w.j
	slot := j.slot[m]
	if slot < 0 || j.clouds[p] == nil || j.clouds[base] == nil || j.clouds[p][slot] == nil || j.clouds[base][slot] == nil {
		return spread{}, math.NaN()
	}
	w.scratch = deviations(k, j.clouds[p][slot], j.clouds[base][slot], k.diff(j.v.Points[p].Mean[m], j.v.Points[base].Mean[m]), w.scratch)
	if len(w.scratch) == 0 {
		return spread{}, math.NaN()
	}
	n := j.blocks.n
	return spreadOf(w.scratch, n), rms(w.scratch) * math.Sqrt(float64(n)/float64(n-1))
}

// deviations are the differences of two clouds less that of their means; none
// where one of them is not a number.
func deviations(k Kind, values, bases []float32, mean float64, into []float64) []float64 {
	into = into[:0]
	for r := range values {
		v := 0.0
		if values[r] != bases[r] || k == Relative {
			v = k.diff(float64(values[r]), float64(bases[r]))
		}
		v -= mean
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return into[:0]
		}
		into = append(into, v)
	}
	return into
}

func rms(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += float64(v * v)
	}
	return math.Sqrt(sum / float64(len(values)))
}

// settle takes the wider interval of the two.
func (d *Diff) settle(seeds, traffic spread, better int) {
	d.Seeds, d.Traffic = seeds.around(d.Mean), traffic.around(d.Mean)
	d.Interval = Interval{}
	if d.Seeds.OK {
		d.Interval = d.Seeds
		if d.Traffic.OK && d.Traffic.width() > d.Seeds.width() {
			d.Interval = d.Traffic
		}
	}
	// The wider one may lie to one side, so that the narrower one decides.
	d.Shown = d.Interval.excludes0() && (!d.Traffic.OK || d.Traffic.excludes0()) && d.Seeds.excludes0()
	d.Better = 0
	if d.Shown && better != 0 {
		d.Better = -1
		if (d.Mean > 0) == (better > 0) {
			d.Better = 1
		}
	}
}
