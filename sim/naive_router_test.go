package sim

import (
	"math"
	"slices"

	"routesim/sim/engine"
	"routesim/sim/rng"
	"routesim/sim/router"
	"routesim/workloads"
)

// naiveRouter keeps nothing but the requests in flight and the events seen, and
// counts every load from them.
type naiveRouter struct {
	cfg     *Config
	workers []*naiveWorker
	active  []*naiveRequest
	queue   []*naiveRequest
	strict  map[*naiveRequest]uint32
	entered int
}

// decision is a choice and its terms.
type decision struct {
	worker                           int
	cost, minCost                    float64
	prefill, credit, decode, request float64
	tied                             int
}

// load counts worker w's prefill tokens, active blocks and requests.
func (r *naiveRouter) load(w int) (tokens int, blocks map[int]bool, private, requests int) {
	blocks = map[int]bool{}
	for _, q := range r.active {
		if q.worker != w {
			continue
		}
		requests++
		tokens += q.prefill
		switch {
		case !q.tracked:
		case q.private:
			private += len(q.prompt)
		default:
			for _, id := range q.prompt {
				blocks[id] = true
			}
		}
	}
	return tokens, blocks, private, requests
}

func (r *naiveRouter) allBusy() bool {
	for w := range r.workers {
		limit := float64(r.workers[w].MaxNumBatchedTokens)
		if r.workers[w].MaxNumBatchedTokens == engine.Unlimited {
			limit = 10_000_000
		}
		tokens, _, _, _ := r.load(w)
		if float64(tokens) <= *r.cfg.Router.QueueThreshold*limit {
			return false
		}
	}
	return true
}

// arrive decides now, or keeps the request and reports false.
func (r *naiveRouter) arrive(q *naiveRequest, now float64, row workloads.Row) (decision, bool) {
	q.overlap = make([]int, len(r.workers))
	for w := range r.workers {
		for q.overlap[w] < len(q.prompt) && r.workers[w].view[q.prompt[q.overlap[w]]] {
			q.overlap[w]++
		}
	}
	if r.cfg.Router.QueueThreshold == nil || len(r.queue) == 0 && !r.allBusy() {
		return r.admit(q), true
	}
	jump := math.Max(0, float64(row.Priority))
	switch r.cfg.Router.QueuePolicy {
	case router.FCFS:
		q.score = jump - now/1000
	case router.LCFS:
		q.score = jump + now/1000
	case router.WSPT:
		cached := slices.Max(q.overlap) * int(r.cfg.Fleet[0].Engine.BlockSize)
		q.score = (1 + jump) / float64(max(1, q.isl-min(q.isl, cached)))
	}
	if r.strict == nil {
		r.strict = map[*naiveRequest]uint32{}
	}
	r.strict[q] = row.StrictPriority
	q.seq = r.entered
	r.entered++
	r.queue = append(r.queue, q)
	return decision{}, false
}

// next takes the first of the queue unless every worker is busy.
func (r *naiveRouter) next() *naiveRequest {
	if len(r.queue) == 0 || r.allBusy() {
		return nil
	}
	slices.SortFunc(r.queue, func(a, b *naiveRequest) int {
		if x, y := r.strict[a], r.strict[b]; x != y {
			return int(int64(y) - int64(x))
		}
		switch {
		case a.score > b.score:
			return -1
		case a.score < b.score:
			return 1
		}
		return a.seq - b.seq
	})
	q := r.queue[0]
	r.queue = r.queue[1:]
	return q
}

// admit chooses by cost and books.
func (r *naiveRouter) admit(q *naiveRequest) decision {
	p := &r.cfg.Router
	bs := float64(r.cfg.Fleet[0].Engine.BlockSize)
	least := math.MaxInt
	for w := range r.workers {
		tokens, _, _, _ := r.load(w)
		least = min(least, tokens)
	}
	var all []decision
	for w := range r.workers {
		tokens, blocks, private, requests := r.load(w)
		d := decision{worker: w}
		cached := q.overlap[w] * int(bs)
		k := 1.0
		if p.TrackPrefillTokens && p.OverlapScoreCreditDecay != 0 {
			r := math.Max(1, math.Ceil(float64(q.isl)/bs))
			k = 1 / (1 + float64(p.OverlapScoreCreditDecay*((float64(tokens-least)/bs)/r)))
		}
		if p.OverlapScoreCredit != 0 {
			d.credit = float64(float64(p.OverlapScoreCredit*k) * float64(q.overlap[w]))
		} else {
			cached = 0
		}
		raw := 0
		if p.TrackPrefillTokens {
			raw = tokens + max(0, q.isl-cached) + cached
		}
		d.prefill = float64(p.PrefillLoadScale * math.Max(0, float64(raw)/bs-d.credit))
		if p.TrackActiveBlocks {
			fresh := len(q.prompt)
			if p.AssumeKVReuse {
				for fresh > 0 && blocks[q.prompt[len(q.prompt)-fresh]] {
					fresh--
				}
			}
			d.decode = float64(len(blocks) + private + fresh)
		}
		d.request = float64(p.DecodeActiveRequestWeight * float64(requests))
		d.cost = (d.prefill + d.decode) + d.request
		all = append(all, d)
	}
	d := r.pick(q, all)
	q.worker, q.prefill = d.worker, 0
	if p.TrackPrefillTokens {
		q.prefill = q.isl - min(q.isl, q.overlap[d.worker]*int(bs))
	}
	q.tracked, q.private = p.TrackActiveBlocks, !p.AssumeKVReuse
	r.active = append(r.active, q)
	return d
}

func (r *naiveRouter) pick(q *naiveRequest, all []decision) decision {
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, d := range all {
		lo, hi = math.Min(lo, d.cost), math.Max(hi, d.cost)
	}
	var tied []int
	for w, d := range all {
		if d.cost == lo {
			tied = append(tied, w)
		}
	}
	w := -1
	if r.cfg.Force != nil {
		w = int(r.cfg.Force[q.row])
	}
	if tau := r.cfg.Router.Temperature; w >= 0 {
		// The recorded choice stands.
	} else if tau > 0 {
		w = softmaxPick(all, lo, hi, tau, rng.Unit(rng.Draw(r.cfg.Seed, q.row, rng.Softmax)))
	} else {
		w = tied[rng.Below(rng.Draw(r.cfg.Seed, q.row, rng.Tie), len(tied))]
	}
	d := all[w]
	d.minCost, d.tied = lo, len(tied)
	return d
}

func softmaxPick(all []decision, lo, hi, tau, u float64) int {
	p := make([]float64, len(all))
	sum := 0.0
	for i, d := range all {
		p[i] = 1
		if hi > lo {
			p[i] = math.Exp(-(d.cost - lo) / ((hi - lo) * tau))
		}
		sum += p[i]
	}
	run := 0.0
	for i := range p {
		if run += p[i] / sum; run >= u {
			return i
		}
	}
	return len(p) - 1
}

func (r *naiveRouter) prefillDone(q *naiveRequest) { q.prefill = 0 }

func (r *naiveRouter) free(q *naiveRequest) {
	r.active = slices.DeleteFunc(r.active, func(a *naiveRequest) bool { return a == q })
}
