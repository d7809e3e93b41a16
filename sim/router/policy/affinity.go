package policy

import "math"

// newPrefixAffinity follows the longest cached prefix, but only to workers
// whose active requests do not exceed the mean by more than a factor (the guard
// against hot prefixes). Among equal prefixes the fewest requests win.
func newPrefixAffinity(p *Parameters) *Policy {
	factor := p.Number("load_factor", 1.5, 1, math.MaxFloat64)
	slack := float64(p.Whole("load_slack", 4)) // requests that are always allowed on top
	guard := func(_ *Request, rows []Candidate, keep []bool) {
		sum := int64(0)
		for _, r := range rows {
			sum += r.Requests
		}
		limit := float64(factor*float64(sum)/float64(len(rows))) + slack
		for i, r := range rows {
			keep[i] = float64(r.Requests) <= limit
		}
	}
	missing := func(q *Request, rows []Candidate, cost []float64) {
		for i, r := range rows {
			cost[i] = float64(q.Blocks() - int64(r.Overlap))
		}
	}
	// Less than one block for any number of requests: it only breaks ties.
	requests := func(_ *Request, rows []Candidate, cost []float64) {
		for i, r := range rows {
			cost[i] = float64(r.Requests) / float64(r.Requests+1) / 2
		}
	}
	return &Policy{Needs: Cache | Occupancy, Filters: []Filter{{"load near the mean", guard}}, Scorers: []Scorer{{"missing blocks", missing}, {"tie break", requests}}}
}
