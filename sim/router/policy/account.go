package policy

import "math"

// Input is one of the figures that a policy can declare to read.
type Input struct {
	Name string
	need Need
	Of   func(*Candidate) float64
}

// Inputs lists the figures that belong to what a policy needs.
func Inputs(needs Need) (list []Input) {
	for _, in := range []Input{
		{"overlap", Cache, func(c *Candidate) float64 { return float64(c.Overlap) }},
		{"prefill tokens", Load, func(c *Candidate) float64 { return float64(c.PrefillTokens) }},
		{"active blocks", Load, func(c *Candidate) float64 { return float64(c.ActiveBlocks) }},
		{"new blocks", Load, func(c *Candidate) float64 { return float64(c.NewBlocks) }},
		{"requests", Occupancy, func(c *Candidate) float64 { return float64(c.Requests) }},
		{"preference", Taints, func(c *Candidate) float64 { return c.Preference }},
		{"held", Truth, func(c *Candidate) float64 { return float64(c.Truth.Held) }},
		{"tokens to prefill", Truth, func(c *Candidate) float64 { return float64(c.Truth.PrefillTokens) }},
		{"tokens to decode", Truth, func(c *Candidate) float64 { return float64(c.Truth.DecodeTokens) }},
	} {
		if needs&in.need != 0 {
			list = append(list, in)
		}
	}
	return list
}

// Verdict is what a policy made of one candidate.
type Verdict struct {
	Dropped string    // the filter that dropped it, "" for none
	Scores  []float64 // by scorer
	Cost    float64   // their sum
	// Chance is how likely it was to be chosen, NaN where the policy has a picker.
	Chance float64
}

// Account says what the policy makes of each of the rows that it chose from.
func (c *Chooser) Account(q *Request, rows []Candidate) []Verdict {
	out := make([]Verdict, len(rows))
	left, places := rows, make([]int, len(rows))
	for i := range places {
		places[i] = i
	}
	for _, f := range c.Filters {
		keep := make([]bool, len(left))
		for i := range keep {
			keep[i] = true
		}
		f.Keep(q, left, keep)
		var stay []Candidate
		var at []int
		for i := range left {
			if keep[i] {
				stay, at = append(stay, left[i]), append(at, places[i])
				continue
			}
			out[places[i]].Dropped = f.Name
		}
		left, places = stay, at
	}
	for _, s := range c.Scorers {
		if len(left) == 0 {
			break
		}
		cost := make([]float64, len(left))
		s.Score(q, left, cost)
		for i, x := range cost {
			v := &out[places[i]]
			v.Scores, v.Cost = append(v.Scores, x), v.Cost+x
		}
	}
	c.chances(out, places)
	return out
}

// chances fills in how likely each of the rows that filters left was.
func (c *Chooser) chances(out []Verdict, places []int) {
	costs := make([]float64, len(places))
	for i, at := range places {
		costs[i] = out[at].Cost
	}
	least, tied := leastOf(costs)
	for i, at := range places {
		switch {
		case c.Picker != nil:
			out[at].Chance = math.NaN()
		case costs[i] == least:
			out[at].Chance = 1 / float64(tied)
		}
	}
}
