package router

import (
	"fmt"
	"math"
	"slices"

	"routesim/sim/router/policy"
)

// Account is a decision taken apart, as of the moment before it was booked.
type Account struct {
	Row     int32
	AtMS    float64
	Decider string  // the policy or the mode
	Chosen  int32   // the target's number, -1 where the request was turned away
	Refusal Refusal // why

	// Figures names what was compared, Options holds it by target. Terms are the
	// terms of the default cost function, nil where something else decided.
	Figures []string
	Terms   []Terms
	Options []Option
}

// Option is what one target was to a decision.
type Option struct {
	Barred  string    // why it could not be chosen, "" where it could
	Dropped string    // the policy's filter that left it out, "" for none
	Values  []float64 // by figure, NaN where there is none
	// Chance is how likely the target was to be chosen before anything was drawn;
	// NaN where only the picker of a policy knows.
	Chance float64
}

// account tells of a decision.
func (r *Router) account(q *Request, chosen int32) {
	a := Account{Row: q.Row, AtMS: r.now, Decider: r.decider(), Chosen: chosen, Refusal: q.Refusal, Options: make([]Option, len(r.targets))}
	for w := range a.Options {
		a.Options[w].Barred = r.barred(q, w)
	}
	switch {
	case r.Mode != KV:
		r.accountMode(q, &a)
	case r.live != nil && r.live.chooser != nil:
		r.accountPolicy(q, &a)
	default:
		r.accountCosts(q, &a)
	}
	r.Tell(&a)
}

// decider names what takes the decisions.
func (r *Router) decider() string {
	switch {
	case r.Mode != KV:
		return "mode " + r.Mode.String()
	case r.Live != nil && r.Live.Policy != nil:
		return "policy " + r.Live.Policy.Name
	}
	return "policy " + policy.Default
}

// barred says why a target may not serve the request, "" where it may.
func (r *Router) barred(q *Request, w int) string {
	t := &r.targets[w]
	switch {
	case r.absent[w]:
		return "away"
	case r.only.worker >= 0 && t.Worker != r.only.worker:
		if q.Worker >= 0 {
			return fmt.Sprintf("request names w%d", q.Worker)
		}
		return fmt.Sprintf("session bound to w%d", r.only.worker)
	case r.only.rank >= 0 && t.Rank != r.only.rank:
		return fmt.Sprintf("request names rank %d", r.only.rank)
	case t.lacks(r.required) != "":
		return "lacks taint " + t.lacks(r.required)
	case r.over[w]:
		return "overloaded"
	}
	return ""
}

// accountCosts fills in what the default cost function computed.
func (r *Router) accountCosts(q *Request, a *Account) {
	a.Terms = slices.Clone(r.costs)
	chances := r.chances()
	if q.lower != nil {
		a.Figures = []string{"host blocks", "disk blocks"}
	}
	if len(q.Preferred) > 0 {
		a.Figures = append(a.Figures, "taint factor")
	}
	for w := range a.Options {
		o := &a.Options[w]
		o.Chance = chances[w]
		if q.lower != nil {
			o.Values = []float64{float64(q.lower.host[w]), float64(q.lower.disk[w])}
		}
		if len(q.Preferred) > 0 {
			o.Values = append(o.Values, r.targets[w].favour(q))
		}
	}
}

// accountPolicy fills in what a policy saw and what it made of it.
func (r *Router) accountPolicy(q *Request, a *Account) {
	c := r.live.chooser
	inputs := policy.Inputs(c.Needs)
	for i := range inputs {
		a.Figures = append(a.Figures, inputs[i].Name)
	}
	for _, s := range c.Scorers {
		a.Figures = append(a.Figures, s.Name)
	}
	if len(c.Scorers) > 1 {
		a.Figures = append(a.Figures, "cost")
	}
	for w := range a.Options {
		a.Options[w].Values = slices.Repeat([]float64{math.NaN()}, len(a.Figures))
	}
	if r.tied == 0 {
		return // nobody could serve, so that the policy was not asked
	}
	for i, v := range c.Account(r.inquiry(q), r.live.rows) {
		row := &r.live.rows[i]
		o := &a.Options[row.Target]
		for k := range inputs {
			o.Values[k] = inputs[k].Of(row)
		}
		if o.Chance, o.Dropped = v.Chance, v.Dropped; v.Dropped != "" {
			continue
		}
		at := len(inputs) + copy(o.Values[len(inputs):], v.Scores)
		if at < len(o.Values) {
			o.Values[at] = v.Cost
		}
	}
}

// accountMode fills in the loads that a mode other than kv compares.
func (r *Router) accountMode(q *Request, a *Account) {
	a.Figures = []string{"requests"}
	if r.Mode == DeviceAwareWeighted {
		a.Figures = append(a.Figures, "keys held", "class load", "class limit")
	}
	chance := r.modeChances(q, a.Chosen)
	for w := range a.Options {
		o := &a.Options[w]
		o.Chance = chance[w]
		o.Values = []float64{float64(r.loads.requests[w])}
		if r.Mode == DeviceAwareWeighted {
			load, limit := r.classLoad(w)
			o.Values = append(o.Values, float64(r.keysHeld(w, q.Device)), load, limit)
		}
	}
}

// modeChances returns how likely each target was to be chosen.
func (r *Router) modeChances(q *Request, chosen int32) []float64 {
	out := make([]float64, len(r.targets))
	switch {
	case chosen < 0:
	case r.Mode == RoundRobin || r.Mode == Direct:
		out[chosen] = 1
	case r.Mode == Random:
		r.share(out, r.takes)
	case r.Mode == PowerOfTwo:
		r.duels(out)
	case r.Mode == LeastLoaded:
		r.share(out, r.leastAmong(r.takes))
	default:
		r.share(out, r.leastAmong(r.deviceSet(q)))
	}
	return out
}

// share gives the targets of a set equal chances.
func (r *Router) share(out []float64, among func(w int) bool) {
	n := 0
	for w := range out {
		n += int(one(among(w)))
	}
	for w := range out {
		if among(w) {
			out[w] = 1 / float64(n)
		}
	}
}

// leastAmong returns the set of the targets of least load in a set.
func (r *Router) leastAmong(among func(w int) bool) func(w int) bool {
	least := int64(math.MaxInt64)
	for w, n := range r.loads.requests {
		if among(w) {
			least = min(least, n)
		}
	}
	return func(w int) bool { return among(w) && r.loads.requests[w] == least }
}

// duels gives each target the share of the ordered pairs of targets that it
// wins: the first one of a pair does at equal loads.
func (r *Router) duels(out []float64) {
	takers, pairs := 0, 0.0
	for w := range out {
		takers += int(one(r.takes(w)))
	}
	if pairs = float64(takers * (takers - 1)); takers == 1 {
		pairs = 1
	}
	for w := range out {
		if !r.takes(w) {
			continue
		}
		won := int(one(takers == 1))
		for v := range out {
			if v == w || !r.takes(v) {
				continue
			}
			won += int(one(r.loads.requests[w] <= r.loads.requests[v])) + int(one(r.loads.requests[w] < r.loads.requests[v]))
		}
		out[w] = float64(won) / pairs
	}
}

// keysHeld counts the keys that a target was sent before.
func (r *Router) keysHeld(w int, keys []uint64) (n int) {
	for _, k := range keys {
		n += int(one(r.live.devices[w][k]))
	}
	return n
}
