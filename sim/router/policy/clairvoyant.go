package policy

import "math"

// newClairvoyant is a reference, not a policy for production: it reads the real
// caches instead of the router's belief, the real backlog instead of bookings,
// and the answer lengths that nobody knows yet. Its cost is in prompt tokens:
// those that stand before the first token here, and decode_weight for each
// output token that the worker's requests have yet to generate.
func newClairvoyant(p *Parameters) *Policy {
	weight := p.Number("decode_weight", 0.05, 0, math.MaxFloat64)
	score := func(q *Request, rows []Candidate, cost []float64) {
		for i := range rows {
			f := &rows[i].Truth
			prompt := f.PrefillTokens + int64(q.ISL) - int64(f.Held)*int64(q.BlockSize)
			cost[i] = float64(prompt) + float64(weight*float64(f.DecodeTokens))
		}
	}
	return &Policy{Needs: Truth, Scorers: []Scorer{{"tokens ahead", score}}}
}
