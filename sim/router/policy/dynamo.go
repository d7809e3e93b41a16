package policy

import "math"

// newDefault is the default cost function with weights that win over the
// router's settings (dynamo-default-cost-fn of 1.6.1). The router computes it
// itself.
func newDefault(p *Parameters) *Policy {
	weight := func(name string) *float64 { return p.Optional(name, 0, math.MaxFloat64) }
	return &Policy{Needs: Cache | Load | Occupancy, Weights: &Weights{
		OverlapScoreCredit:        weight("overlap_score_credit"),
		OverlapScoreCreditDecay:   weight("overlap_score_credit_decay"),
		PrefillLoadScale:          weight("prefill_load_scale"),
		DecodeActiveRequestWeight: weight("decode_active_request_weight"),
		HostCacheHitWeight:        weight("host_cache_hit_weight"),
		DiskCacheHitWeight:        weight("disk_cache_hit_weight"),
		SharedCacheMultiplier:     weight("shared_cache_multiplier"),
		Temperature:               weight("router_temperature"),
	}}
}

// newTwoTier balances where active requests are far apart, follows the cache
// where enough of the prompt is cached, and balances otherwise
// (dynamo-two-tier-cost-fn of 1.6.1). All comparisons are strict. It has no
// cost. Dynamo leaves ties to the order of a hash map; here the first worker
// and rank wins.
func newTwoTier(p *Parameters) *Policy {
	cache := p.Number("cache_threshold", 0.5, 0, 1)
	absolute := p.Whole("balance_abs_threshold", 32)
	relative := p.Number("balance_rel_threshold", 1.1, 1, math.MaxFloat64)
	pick := func(q *Request, rows []Candidate, _ []float64) int {
		least, most, overlap := rows[0].Requests, rows[0].Requests, rows[0].Overlap
		for _, r := range rows {
			least, most, overlap = min(least, r.Requests), max(most, r.Requests), max(overlap, r.Overlap)
		}
		idlest := fewestRequests(rows, 0)
		if most-least > absolute && float64(most) > float64(relative*float64(least)) {
			return idlest
		}
		share := 0.0
		if n := q.Blocks(); n > 0 {
			share = float64(overlap) / float64(n)
		}
		if share > cache {
			return fewestRequests(rows, overlap)
		}
		return idlest
	}
	return &Policy{Needs: Cache | Occupancy, Picker: pick}
}

// fewestRequests returns the first row with the fewest active requests among
// those of at least the given overlap.
func fewestRequests(rows []Candidate, overlap int32) int {
	best := -1
	for i, r := range rows {
		if r.Overlap >= overlap && (best < 0 || r.Requests < rows[best].Requests) {
			best = i
		}
	}
	return best
}

// newThunderAgent keeps a session where it is and places others by the tokens a
// worker has to hold and compute: A + (B+X) * block size. Ties go to the first
// worker and rank. Its request classifier, which pauses sessions, is a thing of
// its own (package program).
func newThunderAgent(*Parameters) *Policy {
	pick := func(q *Request, rows []Candidate, _ []float64) int {
		tokens := func(r *Candidate) int64 {
			return r.PrefillTokens + (r.ActiveBlocks+r.NewBlocks)*int64(q.BlockSize)
		}
		best := 0
		for i := range rows {
			if q.Affinity >= 0 && rows[i].Worker == q.Affinity {
				return i
			}
			if tokens(&rows[i]) < tokens(&rows[best]) {
				best = i
			}
		}
		return best
	}
	return &Policy{Needs: Load, Picker: pick}
}
