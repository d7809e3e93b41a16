package sim

import "routesim/sim/router"

// livePrompt fills in what only a live router of the prefill stage reads of a
// request: the worker that it names for its prompt, and an answer of one token.
func (d *disagg) livePrompt(h *handoff) {
	whole := (int64(h.pre.Prompt) + int64(h.pre.Output)) / d.prompts.block
	h.req.Whole = h.pre.Blocks[:whole]
	route := d.trace.PrefillRouteOf(int(h.pre.Row))
	h.req.Worker, h.req.Rank = route.Worker, route.Rank
}

// staysLocal reports whether a request bypasses the prefill stage: where no
// prefill worker takes requests, or by the rules of conditional disaggregation.
// Those ask both routers for the decisions that they would make now.
func (d *disagg) staysLocal(h *handoff) bool {
	if !h.front.Serves() {
		return true
	}
	rule := h.q.router.MayBypass()
	if rule == nil || h.q.seq.Prompt == 0 || h.req.Worker >= 0 {
		return false
	}
	d.hear(d.now)
	d.deliverSync(d.now)
	decode := h.q.router.Preview(&h.q.req)
	return rule.Bypasses(h.q.seq.Prompt, &decode, func() router.Preview {
		if h.front.Mode != router.KV {
			return router.Preview{Target: -1} // it knows no load
		}
		d.prefill.hear(d.now)
		d.prefill.deliverSync(d.now)
		return h.front.Preview(&h.req)
	})
}

// serveLocally lets a decode worker compute the prompt too.
func (d *disagg) serveLocally(h *handoff) {
	h.local, h.freed = true, true
	if !d.placeAnswer(h) {
		return
	}
	q, row := h.q, h.pre.Row
	d.res.Handoffs[row].Local = true
	out := &d.res.Requests[row].Decision
	ceiling := out.CeilingHeld
	*out = d.res.Handoffs[row].Decode
	out.CeilingHeld = ceiling
	d.noteHeld(q, out, int(h.target))
	d.workers[h.target].Enqueue(&q.seq, d.now, true)
	if d.idle(int(h.target)) {
		d.wake(int(h.target))
	}
}
