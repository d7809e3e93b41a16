package sim

import (
	"cmp"
	"slices"

	"routesim/sim/engine"
	"routesim/sim/router"
)

// hangUp ends a request whose client leaves. Both routers free its load at once;
// the workers let go of it between two passes.
func (d *disagg) hangUp(q *request) {
	tokens, phase := d.progress(q.hand)
	d.res.Cancelled.ByPhase[phase]++
	d.abandon(q.hand, Cancelled, tokens, &d.res.Cancelled.Waste)
}

// progress returns the tokens that a request has received and its phase.
func (d *disagg) progress(h *handoff) (tokens int32, phase Phase) {
	on := &h.q.seq
	switch {
	case h.activated || h.local:
		tokens = d.workers[h.target].GeneratedBy(on, d.now, false)
		if h.local || tokens > 0 {
			return tokens, phaseOf(on, tokens)
		}
	case h.submitted && h.source < 0:
		return 0, InRouter
	case h.source >= 0 && !h.held:
		return 0, phaseOf(&h.pre, 0)
	}
	return 0, InHandoff
}

// abandon ends a request in the middle of its way through the pools and takes
// back what was asked of them.
func (d *disagg) abandon(h *handoff, status Status, tokens int32, waste *Waste) {
	q := h.q
	r := &d.res.Requests[q.seq.Row]
	r.Status, r.Terminal = status, d.now
	d.notePools(q, r)
	r.OutputTokens = tokens
	d.res.Finished = append(d.res.Finished, q.seq.Row)
	if h.source >= 0 {
		waste.PromptTokens += int64(d.prefill.workers[h.source].Work(&h.pre).PromptTokens)
	}
	if h.target >= 0 {
		done := d.workers[h.target].Work(&q.seq)
		waste.OutputTokens += int64(done.OutputTokens)
		if h.local {
			waste.PromptTokens += int64(done.PromptTokens)
		}
	}
	if status == Cancelled {
		waste.Blocks += int64(h.pre.Held() + q.seq.Held())
	}
	h.gone, h.ended, q.gone = true, true, true
	d.leave(q, false)
	d.unbook(h)
	d.quitDecode(h)
	d.quitPrefill(h)
	d.recycle(h)
}

// quitDecode takes an abandoned request off its decode worker: before it was
// handed to the scheduler as any reservation, later between two passes.
func (d *disagg) quitDecode(h *handoff) {
	if i := slices.Index(d.transfers, h); i >= 0 {
		d.transfers = slices.Delete(d.transfers, i, i+1)
	}
	switch {
	case h.target < 0:
	case h.activated || h.local:
		d.quit(&d.stage, h.target, h.q, d.decodeLeft)
	default:
		d.do(cancel, h)
	}
}

// quitPrefill takes an abandoned request off its prefill worker, or out of the
// queue of that stage.
func (d *disagg) quitPrefill(h *handoff) {
	switch {
	case h.freed:
	case !h.submitted:
		h.freed = true
	case h.source < 0:
		h.front.Withdraw(&h.req)
		h.freed = true
	case !h.held:
		d.unseat(h)
		d.quit(&d.prefill, h.source, h.q, d.prefillLeft)
	default:
		d.unseat(h)
		if !h.releasing {
			d.doRelease(h)
		}
	}
}

// quit lets a rank let go of a request, now or after the pass under way.
func (d *disagg) quit(g *stage, rank int32, q *request, left func(rank int)) {
	x := &g.extra[rank]
	x.leaving = append(x.leaving, q)
	if g.idle(int(rank)) {
		left(int(rank))
	}
}

// decodeLeft takes the abandoned requests off an idle decode worker.
func (d *disagg) decodeLeft(rank int) {
	x := &d.extra[rank]
	for _, q := range x.leaving {
		d.workers[rank].Abort(&q.seq, d.now)
		q.hand.target = -1
		d.recycle(q.hand)
	}
	x.leaving = x.leaving[:0]
	d.tryReserve(rank)
}

// prefillLeft takes the abandoned requests off an idle prefill worker.
func (d *disagg) prefillLeft(rank int) {
	x := &d.prefill.extra[rank]
	w := d.prefill.workers[rank]
	for _, q := range x.leaving {
		w.Abort(&q.hand.pre, d.now)
		q.hand.freed = true
		d.recycle(q.hand)
	}
	x.leaving = x.leaving[:0]
	if w.HasWork() {
		d.prefill.wake(rank)
	}
}

// crash fails every request that needs what a rank held, and puts an empty
// engine in its place. A request whose KV has left a prefill worker goes on.
func (d *disagg) crash(g *stage, rank int) {
	var struck []*handoff
	for _, q := range d.live {
		if h := q.hand; h != nil && !h.recycled && h.on(g == &d.prefill) == int32(rank) {
			struck = append(struck, h)
		}
	}
	slices.SortFunc(struck, func(a, b *handoff) int { return cmp.Compare(a.id, b.id) })
	pool := decodePool
	if g == &d.prefill {
		pool = prefillPool
	}
	d.res.Crashed.Blocks += g.workers[rank].Resident()
	first, _ := g.together(rank)
	d.waitingOn[pool][first] = slices.DeleteFunc(d.waitingOn[pool][first], func(a action) bool { return slices.Contains(struck, a.h) })
	lost := make([]engine.Work, len(struck))
	tokens := make([]int32, len(struck))
	for k, h := range struck {
		if !h.ended {
			tokens[k], _ = d.progress(h)
		}
		lost[k] = g.workers[rank].Work(h.seqOn(pool))
	}
	for k, h := range struck {
		if pool == prefillPool {
			h.freed = true
			d.unseat(h)
			if h.activated {
				d.res.Handoffs[h.pre.Row].Released = d.now
			}
		} else {
			h.target = -1
		}
		switch {
		case h.ended:
			d.recycle(h)
		case pool == prefillPool && h.moved:
		default:
			if pool == decodePool && !h.local {
				lost[k].PromptTokens = 0 // computed on the prefill worker
			}
			if pool == decodePool {
				d.res.Crashed.add(lost[k])
			}
			d.res.Requests[h.pre.Row].Refusal = router.WorkerLost
			d.abandon(h, Rejected, tokens[k], &d.res.Crashed)
		}
	}
	d.replace(g, rank)
}

// on returns the rank that holds something of a request in a pool, -1 for none.
func (h *handoff) on(prefill bool) int32 {
	switch {
	case !prefill:
		return h.target
	case h.freed:
		return -1
	}
	return h.source
}

// seqOn returns a request as the workers of a pool have it.
func (h *handoff) seqOn(pool int) *engine.Seq {
	if pool == prefillPool {
		return &h.pre
	}
	return &h.q.seq
}
