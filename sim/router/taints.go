package router

import (
	"slices"

	"routesim/sim/fmath"
	"routesim/workloads"
)

// lacks returns the first of the taints that a target does not carry, "" where
// it carries all.
func (t *Target) lacks(required []string) string {
	for _, name := range required {
		if !slices.Contains(t.Taints, name) {
			return name
		}
	}
	return ""
}

// preference is the sum of the weights of those preferred taints that a target
// carries.
func (t *Target) preference(preferred []workloads.PreferredTaint) float64 {
	sum := 0.0
	for i := range preferred {
		if slices.Contains(t.Taints, preferred[i].Name) {
			sum += preferred[i].Weight
		}
	}
	return sum
}

// favour returns the factor of a target's cost for what a request prefers:
//
//	exp(-tanh(sum of the weights of the preferred taints it carries))
//
// It is 1 for a request that names its worker.
func (t *Target) favour(q *Request) float64 {
	if len(q.Preferred) == 0 || q.Worker >= 0 {
		return 1
	}
	return fmath.Exp(-fmath.Tanh(t.preference(q.Preferred)))
}

// prefer multiplies every target's cost with its factor.
func (r *Router) prefer(q *Request) {
	for w := range r.costs {
		r.costs[w].Cost *= r.targets[w].favour(q)
	}
}
