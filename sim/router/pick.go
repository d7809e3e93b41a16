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
		if r.costs[i].Cost == r.lo {
			if n == 0 {
				return int32(i)
			}
			n--
		}
	}
	panic("router: no worker of least cost")
}

// softmax takes the first worker whose running share of
// exp(-(cost-min)/((max-min)*temperature)) reaches u.
func (r *Router) softmax(u float64) int32 {
	r.weights = r.weights[:0]
	span, scale := r.hi-r.lo, 1.0
	if math.IsInf(span, 1) {
		scale = max(math.Abs(r.lo), math.Abs(r.hi))
		span = r.hi/scale - r.lo/scale
	}
	sum := 0.0
	for i := range r.costs {
		w := 1.0
		if span > 0 {
			w = fmath.Exp(-((r.costs[i].Cost/scale - r.lo/scale) / float64(span*r.Params.Temperature)))
		}
		r.weights = append(r.weights, w)
		sum += w
	}
	run := 0.0
	for i, w := range r.weights {
		if run += w / sum; run >= u {
			return int32(i)
		}
	}
	return int32(len(r.weights) - 1)
}
