package router

import (
	"math"

	"routesim/sim/fmath"
	"routesim/sim/rng"
)

// pick returns the chosen worker from the costs in r.costs: the least one,
// uniformly at random among exact equals; or, at a temperature above 0, one
// drawn by a softmax over costs normalised by their range.
func (r *Router) pick(row int32) int32 {
	if r.Params.Temperature > 0 {
		return r.softmax(rng.Unit(rng.Draw(r.seed, int(row), rng.Softmax)))
	}
	if r.tied == 1 {
		return r.nthTied(0)
	}
	return r.nthTied(rng.Below(rng.Draw(r.seed, int(row), rng.Tie), int(r.tied)))
}

// scan finds the least and the highest cost and counts the equals of the
// least.
func (r *Router) scan() {
	lo, hi, tied := math.Inf(1), math.Inf(-1), int32(0)
	for i := range r.costs {
		if !r.May(i) {
			continue
		}
		c := r.costs[i].Cost
		switch {
		case c < lo:
			lo, tied = c, 1
		case c == lo:
			tied++
		}
		hi = max(hi, c)
	}
	r.lo, r.hi, r.tied = lo, hi, tied
}

func (r *Router) nthTied(n int) int32 {
	for i := range r.costs {
		if r.costs[i].Cost == r.lo && r.May(i) {
			if n == 0 {
				return int32(i)
			}
			n--
		}
	}
	panic("router: no worker of least cost")
}

// softmax takes the first worker whose running share reaches u.
func (r *Router) softmax(u float64) int32 {
	sum := r.weigh()
	run, last := 0.0, int32(0)
	for i, w := range r.weights {
		if !r.May(i) {
			continue
		}
		if run += w / sum; run >= u {
			return int32(i)
		}
		last = int32(i)
	}
	return last
}

// weigh puts each worker's weight into r.weights, 0 for those that may not
// serve, and returns their sum.
func (r *Router) weigh() (sum float64) {
	r.weights, sum = appendWeights(r.weights[:0], r.costs, r.lo, r.hi, r.Params.Temperature)
	if r.limited {
		sum = 0
		for i := range r.weights {
			if !r.may(i) {
				r.weights[i] = 0
			}
			sum += r.weights[i]
		}
	}
	return sum
}

// appendWeights appends each worker's weight, exp(-(cost-min)/((max-min)*temperature)),
// and returns their sum. lo and hi are the least and the highest cost.
func appendWeights(weights []float64, costs []Terms, lo, hi, temperature float64) ([]float64, float64) {
	span, scale := hi-lo, 1.0
	if math.IsInf(span, 1) {
		scale = max(math.Abs(lo), math.Abs(hi))
		span = hi/scale - lo/scale
	}
	sum := 0.0
	for i := range costs {
		w := 1.0
		if span > 0 {
			w = fmath.Exp(-((costs[i].Cost/scale - lo/scale) / float64(span*temperature)))
		}
		weights = append(weights, w)
		sum += w
	}
	return weights, sum
}

// chances returns how likely each target is to be chosen by its cost, before
// the draw.
func (r *Router) chances() []float64 {
	out := make([]float64, len(r.costs))
	if r.Params.Temperature > 0 {
		sum := r.weigh()
		for i := range out {
			out[i] = r.weights[i] / sum
		}
		return out
	}
	for i := range out {
		if r.costs[i].Cost == r.lo && r.May(i) {
			out[i] = 1 / float64(r.tied)
		}
	}
	return out
}
