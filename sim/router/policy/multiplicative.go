package policy

// newMultiplicative scores a worker by the product of the prompt tokens it
// would have to compute (its backlog and what of this prompt is not cached
// there) and of the requests it would then run. Unlike the sum of the default
// cost function it needs no weight between the two.
func newMultiplicative(*Parameters) *Policy {
	score := func(q *Request, rows []Candidate, cost []float64) {
		for i, r := range rows {
			uncached := r.PrefillTokens + int64(q.ISL) - r.CachedTokens
			cost[i] = float64(uncached) * float64(r.Requests+1)
		}
	}
	return &Policy{Needs: Cache | Load | Occupancy, Scorers: []Scorer{{"tokens x requests", score}}}
}
