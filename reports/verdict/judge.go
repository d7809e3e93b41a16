package verdict

import (
	"fmt"
	"math"
	"runtime"
	"sync"

	"routesim/reports/sweepdata"
)

const (
	defaultSmallest  = 2 // %
	defaultResamples = 1000
	maxRerun         = 8 // points to be run on fresh seeds
	defaultObjective = "p90_ttft_ms"
)

// judge is a sweep in the course of being judged.
type judge struct {
	s       *sweepdata.Sweep
	o       Options
	v       *Verdict
	d       *design
	metrics []sweepdata.Metric
	u       units
	x       [][][]float64 // by point, metric and seed; nil for points without runs

	measures []measure
	slot     []int // by metric: place in measures, -1 for none
	blocks   *blocks
	seeds    draws
	traffic  draws

	clouds []cloud // by point
	errors []stdErrors
	// quarters holds the objective by point and quarter of the trace, known where
	// the objective can be had over traffic.
	quarters [][4]float64
	// only restricts the other point of a trade, nil for no restriction.
	only func(point int) bool
}

// cloud holds a point's resamples over traffic by measure, scaled to the means
// of the runs; nil where there are none or they are no longer needed.
type cloud [][]float32

// stdErrors are the standard errors of the objective's difference, NaN where not
// known.
type stdErrors struct{ seeds, traffic float64 }

// Judge says what a sweep found out.
func Judge(s *sweepdata.Sweep, o Options) (*Verdict, error) {
	j, err := newJudge(s, o)
	if err != nil {
		return nil, err
	}
	if err := j.measureAll(); err != nil {
		return nil, err
	}
	j.correct()
	j.choose()
	j.conclude()
	return j.v, nil
}

func newJudge(s *sweepdata.Sweep, o Options) (*judge, error) {
	if o.Smallest == 0 {
		o.Smallest = defaultSmallest
	}
	if o.Resamples == 0 {
		o.Resamples = defaultResamples
	}
	if o.Parallel == 0 {
		o.Parallel = runtime.GOMAXPROCS(0)
	}
	if !(o.Smallest > 0) || o.Resamples < 100 || o.Parallel < 1 {
		return nil, fmt.Errorf("verdict: found a smallest effect of %g %%, %d resamples and %d goroutines, expected more than 0, at least 100 and at least 1", o.Smallest, o.Resamples, o.Parallel)
	}
	metrics := sweepdata.Metrics()
	name := s.Objective
	if name == "" {
		name = defaultObjective
	}
	objective := metricOf(metrics, name)
	if objective < 0 || metrics[objective].Better == 0 {
		return nil, fmt.Errorf("objective: found %s, expected the name of a metric of which more or less is better, such as %s", name, defaultObjective)
	}
	j := &judge{s: s, o: o, metrics: metrics, d: newDesign(s, metrics)}
	if err := j.check(); err != nil {
		return nil, err
	}
	j.v = &Verdict{
		Objective: objective, Smallest: o.Smallest, Default: s.Default, Reference: s.Reference,
		Chosen: -1, Alternative: -1, Best: -1, Worst: -1, First: -1,
		trial: &trial{judge: j},
	}
	j.setBlocks()
	j.setPoints()
	return j, nil
}

// check looks for what no sweep may have.
func (j *judge) check() error {
	s := j.s
	if s.Default >= len(s.Points) || s.Reference >= len(s.Points) {
		return fmt.Errorf("sweep: found default point %d and reference %d, expected less than %d points", s.Default, s.Reference, len(s.Points))
	}
	for i := range s.Points {
		if n := len(s.Points[i].Values); n != len(s.Axes) {
			return fmt.Errorf("point %s: found %d values, expected one for each of %d axes", s.Points[i].ID, n, len(s.Axes))
		}
		for k := range s.Points[i].Runs {
			if n := len(s.Points[i].Runs[k].Metrics); n != len(j.metrics) {
				return fmt.Errorf("point %s: found %d metrics, expected %d", s.Points[i].ID, n, len(j.metrics))
			}
		}
	}
	return nil
}

func (j *judge) setBlocks() {
	list, why := measures(j.metrics, &j.s.SLA)
	j.measures, j.v.NoTraffic = list, why
	j.slot = make([]int, len(j.metrics))
	for i := range j.slot {
		j.slot[i] = -1
	}
	for k := range list {
		j.slot[list[k].metric] = k
	}
	j.blocks = newBlocks(&j.s.Requests)
	reason := j.blocks.why
	if reason == "" && j.s.Load == nil {
		reason = "the latencies of single requests were not kept"
	}
	if reason != "" {
		for i := range why {
			if why[i] == "" {
				why[i] = reason
			}
		}
		j.measures = nil
		for i := range j.slot {
			j.slot[i] = -1
		}
	}
	if n := len(j.d.seeds); n > 0 {
		j.seeds = newDraws(seedStream, j.o.Resamples, n, n)
	}
	if j.measures != nil {
		j.traffic = newDraws(trafficStream, j.o.Resamples, j.blocks.n, j.blocks.cells)
	}
}

// setPoints takes the figures of all runs, and tells which points count.
func (j *judge) setPoints() {
	n := len(j.s.Points)
	j.x, j.clouds, j.errors = make([][][]float64, n), make([]cloud, n), make([]stdErrors, n)
	j.quarters = make([][4]float64, n)
	j.v.Points = make([]Judged, n)
	for p := range j.s.Points {
		q := &j.v.Points[p]
		q.Mean = make([]float64, len(j.metrics))
		q.Diff = make([]Diff, len(j.metrics))
		q.Adjusted = 1
		j.errors[p] = stdErrors{math.NaN(), math.NaN()}
		for m := range j.metrics {
			q.Mean[m] = math.NaN()
		}
		if runs := j.d.runs[p]; runs != nil {
			j.x[p] = make([][]float64, len(j.metrics))
			for m := range j.metrics {
				values := make([]float64, len(runs))
				for k, r := range runs {
					values[k] = r.Metrics[m]
				}
				j.x[p][m] = values
				q.Mean[m] = meanOf(values)
			}
		}
	}
	least := math.Inf(-1)
	if b := j.s.Default; b >= 0 && j.d.runs[b] != nil {
		least = j.v.Points[b].Mean[j.d.byName["completed_share"]] - completionTolerance
		j.u = newUnits(j.metrics, j.v.Points[b].Mean)
	} else {
		j.u = newUnits(j.metrics, nil)
	}
	for p := range j.s.Points {
		q := &j.v.Points[p]
		q.Name, q.Knobs, q.Changes = j.d.name(p), j.d.knobs(p), j.d.changes(p)
		if p == j.s.Default {
			q.Knobs = "the defaults"
		}
		q.Same = j.d.keeper(p)
		q.Base = j.d.base(p)
		if q.Base >= 0 && j.d.runs[q.Base] == nil {
			q.Base = -1
		}
		q.Status = j.d.status(p, q.Same, q.Mean, least)
	}
}

// measureAll compares each point with its base.
func (j *judge) measureAll() error {
	bases := make([]bool, len(j.s.Points))
	for p := range j.v.Points {
		if b := j.v.Points[p].Base; b >= 0 && j.x[p] != nil {
			bases[b] = true
		}
	}
	var first, rest []int
	for p := range j.s.Points {
		switch {
		case j.x[p] == nil:
		case bases[p]:
			first = append(first, p)
		default:
			rest = append(rest, p)
		}
	}
	if err := j.each(first, func(w *worker, p int) error { return w.resample(p) }); err != nil {
		return err
	}
	for _, p := range first {
		newWorker(j).compareAll(p)
	}
	if err := j.each(rest, func(w *worker, p int) error {
		if err := w.resample(p); err != nil {
			return err
		}
		w.compareAll(p)
		j.forget(p)
		return nil
	}); err != nil {
		return err
	}
	for _, p := range first {
		j.forget(p)
	}
	return nil
}

// forget drops the resamples that are not needed any more: all but those of the
// objective and of the latencies that tuning rules speak of.
func (j *judge) forget(p int) {
	for k := range j.clouds[p] {
		if m := j.measures[k].metric; m != j.v.Objective && j.metrics[m].Name != ruleTTFT {
			j.clouds[p][k] = nil
		}
	}
}

// each does work for points on several goroutines; the error is that of the
// first point in the list with one.
func (j *judge) each(list []int, work func(*worker, int) error) error {
	failed := make([]error, len(list))
	next := make(chan int)
	var group sync.WaitGroup
	for range min(j.o.Parallel, len(list)) {
		group.Go(func() {
			w := newWorker(j)
			for i := range next {
				failed[i] = work(w, list[i])
			}
		})
	}
	for i := range list {
		next <- i
	}
	close(next)
	group.Wait()
	for _, err := range failed {
		if err != nil {
			return err
		}
	}
	return nil
}
