package router

// Terms are the parts of one worker's cost for one request, in KV blocks.
// Lower is better.
type Terms struct {
	Prefill float64 // prefill_load_scale * adjusted prefill blocks
	Credit  float64 // blocks credited inside the prefill term
	Decode  float64 // projected active blocks
	Request float64 // decode_active_request_weight * active requests
	Cost    float64 // the sum

	Overlap int32 // leading prompt blocks the router believes are cached
}

// candidate is what the cost function reads of one worker.
type candidate struct {
	prefillTokens int64 // A: uncached prompt tokens admitted and not yet computed
	activeBlocks  int64 // B: distinct blocks of active requests
	newBlocks     int64 // X: blocks the request would add to them
	requests      int64 // N: active requests
	overlap       int32 // leading prompt blocks the router believes are cached
	target        int32
}

// cost sets t by Dynamo's default cost function (dynamo-default-cost-fn of 1.6.1):
//
//	cost = scale * max(0, (A + max(ISL, cached))/block - credit) + (B + X) + weight * N
//
// A is the worker's prefill backlog in tokens, cached the request's own cached
// tokens there; the whole prompt enters and the cached part is taken off as
// blocks, through the credit, which so may eat into the backlog as well. Only
// the sum is floored at 0. Every operation is one binary64 operation, in this
// order. Blocks on a worker's host or disk that continue its cached ones add
// their weights to the credit. A live frontend without prefill tokens has
// another form, in which the credit comes off the decode term:
//
//	cost = max(0, (B + X) - credit) + weight * N
func (r *Router) cost(q *query, c *candidate, t *Terms) {
	p := &r.Params
	visible := p.OverlapScoreCredit != 0 // at credit 0 the policy does not see the cache
	credit, cached := 0.0, int64(0)
	if visible {
		cached = int64(c.overlap) * int64(r.blockSize)
		credit = float64(float64(p.OverlapScoreCredit*r.fade(q, c)) * float64(c.overlap))
		if q.req != nil {
			cached = r.cachedOf(q.req, int(c.target))
			credit = r.creditLower(q.req.lower, c.target, credit)
		}
	}
	raw := 0.0
	if p.TrackPrefillTokens {
		raw = float64(c.prefillTokens + max(int64(q.isl), cached))
	}
	adjusted := max(0, raw/float64(r.blockSize)-credit)

	*t = Terms{
		Prefill: float64(p.PrefillLoadScale * adjusted),
		Credit:  credit,
		Decode:  float64(c.activeBlocks + c.newBlocks),
		Request: float64(p.DecodeActiveRequestWeight * float64(c.requests)),
		Overlap: c.overlap,
	}
	if r.minus {
		t.Prefill, t.Decode = 0, max(0, t.Decode-credit)
	}
	t.Cost = (t.Prefill + t.Decode) + t.Request
}

// fade is the factor by which the credit decays on a worker whose prefill
// backlog exceeds the least loaded one's:
//
//	1 / (1 + decay * ((A - Amin)/block / request blocks))
func (r *Router) fade(q *query, c *candidate) float64 {
	decay := r.Params.OverlapScoreCreditDecay
	if !r.Params.TrackPrefillTokens || decay == 0 {
		return 1
	}
	excess := float64(c.prefillTokens-r.leastPrefill) / float64(r.blockSize)
	requestBlocks := max(1, (int64(q.isl)+int64(r.blockSize)-1)/int64(r.blockSize))
	return 1 / (1 + float64(decay*(excess/float64(requestBlocks))))
}
