package fit

import (
	"context"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"routesim/models"
	"routesim/models/profile"
	"routesim/models/profile/measured"
)

// Prediction is what a profile says of a serving run: TTFT and TPOT in ms, in
// the statistics of the measurement, and output tokens/s.
type Prediction struct{ TTFT, TPOT, Throughput float64 }

// Predict simulates a serving run on one worker of a profile.
type Predict func(ctx context.Context, p *profile.Profile, r *measured.Run) (Prediction, error)

// space is a set of non-negative numbers that make a profile. A step's time is
// linear in all of them.
type space struct {
	names  []string
	start  []float64 // where the search begins, and what stays where the data say nothing
	delta  []float64 // changes that are large enough to measure slopes with
	spread []float64 // how far from start each number may lie before the data have to say so; nil: anywhere
	// lettingGo orders the numbers by how readily they are left at start.
	lettingGo []int
	request   int // the number that is added to each TTFT and is no part of any step

	row   func(b *models.Batch) []float64 // of a step: its time by each number
	build func(x []float64) (*profile.Profile, error)
}

// Weights of the relative errors of a run. TTFT depends on the moment of every
// arrival and is reproduced two to three times less exactly than TPOT.
const (
	ttftWeight = 0.4
	tpotWeight = 1.0
	stepWeight = 1.0
)

// observation is one measured figure of a run.
type observation struct {
	run      int
	kind     Kind
	measured float64
	weight   float64
}

// observe lists the figures of the runs that a fit uses. The output rate
// follows from the latencies and counts only where there is no TPOT.
func observe(runs []measured.Run) []observation {
	var list []observation
	for i := range runs {
		r := &runs[i]
		if !math.IsNaN(r.TTFT) {
			list = append(list, observation{i, TTFT, r.TTFT, ttftWeight})
		}
		switch {
		case !math.IsNaN(r.TPOT) && r.OSL > 1:
			list = append(list, observation{i, TPOT, r.TPOT, tpotWeight})
		case !math.IsNaN(r.Throughput):
			list = append(list, observation{i, Throughput, r.Throughput, tpotWeight})
		}
	}
	return list
}

func (p *Prediction) of(k Kind) float64 {
	switch k {
	case TTFT:
		return p.TTFT
	case Throughput:
		return p.Throughput
	}
	return p.TPOT
}

// search is one search in a space.
type search struct {
	*space
	data    *measured.Data
	predict Predict
	from    []float64 // where the search begins
	rounds  int
	seen    []observation
	fixed   []bool // numbers that stay at start; nil: those that the data do not tell
}

// solution is a point of a space and how well it does.
type solution struct {
	x           []float64
	cost        float64 // sum of the weighted relative errors
	predictions []Prediction
}

// mostRounds bounds the rounds of a search over runs.
const mostRounds = 6

// solve finds the numbers with the least sum of weighted relative errors.
// Steps are linear in them. A run is too as long as its schedule stays the
// same, which under a fixed concurrency it nearly does: requests then follow
// each other, not the clock. So the search measures the slopes, solves the
// linear problem and repeats that from where it gets to.
func (s *search) solve(ctx context.Context) (*solution, error) {
	s.seen = observe(s.data.Runs)
	at, err := s.evaluate(ctx, s.from)
	if err != nil {
		return nil, err
	}
	for range s.rounds {
		next, err := s.round(ctx, at)
		if err != nil {
			return nil, err
		}
		better := next.cost < 0.999*at.cost
		if next.cost < at.cost {
			at = next
		}
		if !better || len(s.data.Runs) == 0 {
			break
		}
	}
	return at, nil
}

// round solves the problem linearised at one point. If that does not get
// better because the schedules change on the way, it goes a part of the way.
func (s *search) round(ctx context.Context, at *solution) (*solution, error) {
	sys, err := s.linearise(ctx, at)
	if err != nil {
		return nil, err
	}
	if s.fixed == nil {
		s.fixed = s.undetermined(sys)
	}
	x, err := s.solveFree(sys)
	if err != nil {
		return nil, err
	}
	var best *solution
	for range 4 {
		next, err := s.evaluate(ctx, x)
		if err != nil {
			return nil, err
		}
		if best == nil || next.cost < best.cost {
			best = next
		}
		if next.cost < at.cost {
			break
		}
		for j := range x {
			x[j] = (x[j] + at.x[j]) / 2
		}
	}
	return best, nil
}

// undetermined reports the numbers that the data do not tell.
func (s *search) undetermined(sys *system) []bool {
	fixed := make([]bool, len(s.names))
	for j, keep := range sys.determined(s.lettingGo) {
		fixed[j] = !keep
	}
	return fixed
}

// solveFree solves a system for the numbers that are not fixed.
func (s *search) solveFree(sys *system) ([]float64, error) {
	var free []int
	for j := range s.names {
		if !s.fixed[j] {
			free = append(free, j)
		}
	}
	reduced := &system{}
	for _, j := range free {
		reduced.names = append(reduced.names, s.names[j])
	}
	for i, row := range sys.rows {
		target, short := sys.target[i], make([]float64, len(free))
		for k, j := range free {
			short[k] = row[j]
		}
		for j, f := range s.fixed {
			if f {
				target -= float64(row[j] * s.start[j])
			}
		}
		reduced.add(target, sys.weight[i], short)
	}
	s.pull(reduced, free)
	x := slices.Clone(s.start)
	if len(free) == 0 {
		return x, nil
	}
	z, err := reduced.solve()
	if err != nil {
		return nil, err
	}
	for k, j := range free {
		x[j] = z[k]
	}
	return x, nil
}

// pullShare is the relative error of a single row that lying one spread away
// from start is worth.
const pullShare = 0.02

// pull adds the weak wish to stay near start.
func (s *search) pull(sys *system, free []int) {
	if s.spread == nil {
		return
	}
	for k, j := range free {
		row := make([]float64, len(free))
		row[k] = pullShare / s.spread[j]
		sys.add(row[k]*s.start[j], 1, row)
	}
}

// linearise writes the problem around a point as a linear system: a row for
// each step and each figure of a run, divided by what was measured.
func (s *search) linearise(ctx context.Context, at *solution) (*system, error) {
	sys := &system{names: s.names}
	for i := range s.data.Steps {
		step := &s.data.Steps[i]
		row := s.row(&step.Batch)
		for j := range row {
			row[j] /= step.MS
		}
		sys.add(1, stepWeight, row)
	}
	if len(s.data.Runs) == 0 {
		return sys, nil
	}
	moved := make([][]Prediction, len(s.names))
	for j := range s.names {
		if j == s.request || s.fixed != nil && s.fixed[j] {
			continue
		}
		x := slices.Clone(at.x)
		x[j] += s.delta[j]
		var err error
		if moved[j], err = s.simulate(ctx, x); err != nil {
			return nil, err
		}
	}
	for _, o := range s.seen {
		here := at.predictions[o.run].of(o.kind)
		row, target := make([]float64, len(s.names)), 1-here/o.measured
		for j := range s.names {
			switch {
			case j == s.request && o.kind == TTFT:
				row[j] = 1 / o.measured
			case moved[j] != nil:
				row[j] = (moved[j][o.run].of(o.kind) - here) / s.delta[j] / o.measured
			}
			target += float64(row[j] * at.x[j])
		}
		sys.add(target, o.weight, row)
	}
	return sys, nil
}

// evaluate computes the cost of a point.
func (s *search) evaluate(ctx context.Context, x []float64) (*solution, error) {
	predictions, err := s.simulate(ctx, x)
	if err != nil {
		return nil, err
	}
	out := &solution{x: x, predictions: predictions}
	for i := range s.data.Steps {
		step := &s.data.Steps[i]
		ms := 0.0
		for j, c := range s.row(&step.Batch) {
			ms += float64(c * x[j])
		}
		out.cost += cost(stepWeight * (ms/step.MS - 1))
	}
	for _, o := range s.seen {
		out.cost += cost(o.weight * (predictions[o.run].of(o.kind)/o.measured - 1))
	}
	return out, nil
}

// cost is nearly the size of an error, and round at 0.
func cost(share float64) float64 { return math.Sqrt(float64(share*share) + roundShare*roundShare) }

// simulate predicts all runs with the profile of a point, several at a time.
func (s *search) simulate(ctx context.Context, x []float64) ([]Prediction, error) {
	if len(s.data.Runs) == 0 {
		return nil, nil
	}
	p, err := s.build(x)
	if err != nil {
		return nil, err
	}
	return predictAll(ctx, s.predict, p, s.data.Runs)
}

func predictAll(ctx context.Context, predict Predict, p *profile.Profile, runs []measured.Run) ([]Prediction, error) {
	out, errs := make([]Prediction, len(runs)), make([]error, len(runs))
	var next atomic.Int64
	var wait sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(runs)) {
		wait.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(runs)); i = next.Add(1) - 1 {
				out[i], errs[i] = predict(ctx, p, &runs[i])
			}
		})
	}
	wait.Wait()
	for i, err := range errs {
		if err != nil {
			return nil, located(&runs[i], err)
		}
	}
	return out, nil
}
