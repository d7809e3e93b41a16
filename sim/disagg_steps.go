package sim

import (
	"routesim/sim/engine"
	"routesim/sim/router"
)

// submit places a prompt on a prefill worker, or in the prefill router's queue.
func (d *disagg) submit(h *handoff) {
	d.prefill.hear(d.now)
	d.prefill.deliverSync(d.now)
	c, ok := h.front.Arrive(&h.req, d.now, d.prefill.forced(h.pre.Row))
	switch {
	case ok:
		d.placePrompt(h, c)
	case h.req.Refusal != router.Accepted:
		d.turnedAway(h, h.req.Refusal)
	case d.timed:
		d.drain(&d.prefill, h.front)
	}
	d.broken(h.front)
	d.res.QueuePeak = max(d.res.QueuePeak, d.prefill.waiting())
}

// letPromptGo places a prompt that leaves the prefill router's queue.
func (d *disagg) letPromptGo(q *router.Request, c router.Choice) {
	h := d.live[q.Tag].hand
	if c.Worker < 0 {
		d.turnedAway(h, q.Refusal)
		return
	}
	d.placePrompt(h, c)
}

// turnedAway ends a request that a router refused.
func (d *disagg) turnedAway(h *handoff, why router.Refusal) {
	d.res.Requests[h.pre.Row].Refusal = why
	if h.held {
		d.doRelease(h)
	} else {
		h.freed = true
	}
	if h.target >= 0 {
		d.do(cancel, h)
	}
	d.end(h, Rejected)
}

// placePrompt notes the prefill router's decision and sends the prompt to its
// worker.
func (d *disagg) placePrompt(h *handoff, c router.Choice) {
	h.source, h.seated = c.Worker, true
	d.prefill.tell(d.now, h.front, &h.req, router.SyncAdd)
	if d.timed {
		d.handOn(h)
	}
	d.noteRouted(h)
	out := &d.res.Requests[h.pre.Row].Decision
	out.note(c)
	out.Forced = d.prefill.forced(h.pre.Row) >= 0
	d.res.Handoffs[h.pre.Row].PrefillWorker = c.Worker
	blocks := h.req.Blocks[:d.reusable(h.q)]
	for i, w := range d.prefill.workers {
		if chosen := int32(i) == c.Worker; chosen || h.front.May(i) {
			held := heldBy(w, blocks)
			out.BestHeld = max(out.BestHeld, held)
			if chosen {
				out.ChosenHeld = held
			}
		}
	}
	x := &d.prefill.extra[c.Worker]
	x.requests++
	x.input += int64(h.pre.Prompt)
	d.prefill.workers[c.Worker].Enqueue(&h.pre, d.now, true)
	if d.prefill.idle(int(c.Worker)) {
		d.prefill.wake(int(c.Worker))
	}
}

// noteRouted notes when a request was first placed, and in which order.
func (d *disagg) noteRouted(h *handoff) {
	row := h.pre.Row
	if r := &d.res.Requests[row]; r.Order < 0 {
		r.Dispatched, r.Order = d.now, d.order
		d.order++
		d.res.Routed = append(d.res.Routed, row)
	}
}

// prefillEnded delivers what the passes of a prefill worker produced.
func (d *disagg) prefillEnded(w int) {
	first, n := d.prefill.passDone(w)
	for i := first; i < first+n; i++ {
		d.prefill.workers[i].PassEnded(d.now)
	}
	d.prefill.delivered = max(d.prefill.delivered, first+n-1)
	d.prefill.reported(first, n)
	d.resume(prefillPool, first)
	for i := first; i < first+n; i++ {
		for _, sig := range d.prefill.workers[i].Signals() {
			h := d.live[sig.Seq.Tag].hand
			if h.gone {
				continue
			}
			if sig.Kind == engine.Refused {
				d.refused(h)
				continue
			}
			h.held = true
			d.res.Handoffs[h.pre.Row].SourceHeld = d.now
			h.front.PrefillDone(&h.req)
			d.prefill.tell(d.now, h.front, &h.req, router.SyncPrefillDone)
			d.drain(&d.prefill, h.front)
			d.advance(h)
		}
	}
	for i := first; i < first+n; i++ {
		if len(d.prefill.extra[i].leaving) > 0 {
			d.prefillLeft(i)
		}
		d.prefill.settle(i, d.now)
	}
}

// refused ends a request that its prefill worker can never run.
func (d *disagg) refused(h *handoff) {
	d.doRelease(h)
	if h.target >= 0 {
		d.do(cancel, h)
	}
	d.end(h, Rejected)
}

// end notes the end of a request that got no token.
func (d *disagg) end(h *handoff, status Status) {
	r := &d.res.Requests[h.pre.Row]
	r.Terminal, r.Status = d.now, status
	d.notePools(h.q, r)
	d.res.Finished = append(d.res.Finished, h.pre.Row)
	d.conclude(h.q, false)
}

// conclude tells the driver that a request ended. Its place is free for another
// once nothing of it is left in either pool.
func (d *disagg) conclude(q *request, completed bool) {
	q.hand.ended = true
	d.leave(q, completed)
	d.recycle(q.hand)
}

func (d *disagg) recycle(h *handoff) {
	if h.ended && h.freed && h.target < 0 && !h.recycled {
		h.recycled = true
		d.spare = append(d.spare, h.q.seq.Tag)
	}
}

// reserve places a request on a decode worker and puts it in line for blocks.
func (d *disagg) reserve(h *handoff) {
	if !d.placeAnswer(h) {
		return
	}
	rank := int(h.target)
	d.workers[rank].Expect(&h.q.seq)
	if d.idle(rank) {
		d.tryReserve(rank)
	}
}

// placeAnswer lets the decode router choose a worker. It reports false where the
// request ends here: nobody may serve it, or the chosen worker can never hold its
// prompt.
func (d *disagg) placeAnswer(h *handoff) bool {
	q, row := h.q, h.pre.Row
	d.hear(d.now)
	d.deliverSync(d.now)
	c, ok := q.router.Arrive(&q.req, d.now, d.forced(row))
	d.broken(q.router)
	if !ok {
		d.turnedAway(h, q.req.Refusal)
		return false
	}
	h.booked = true
	d.tell(d.now, q.router, &q.req, router.SyncAdd)
	d.noteRouted(h)
	d.res.Handoffs[row].DecodeWorker = c.Worker
	out := &d.res.Handoffs[row].Decode
	out.note(c)
	out.Forced = d.forced(row) >= 0
	if !d.workers[c.Worker].Fits(&q.seq) {
		d.cannotHold(h)
		return false
	}
	h.target = c.Worker
	d.res.Requests[row].Worker = c.Worker
	x := &d.extra[c.Worker]
	x.requests++
	x.input += int64(q.seq.Prompt)
	return true
}

// cannotHold ends a request whose decode worker can never hold its prompt. A
// live router learns of it at once; that of a replay when the prompt's blocks
// are freed, and where there are none never, so that it counts the request as
// active to the end.
func (d *disagg) cannotHold(h *handoff) {
	if d.timed {
		d.unbook(h)
	}
	if h.held {
		d.doRelease(h)
	} else {
		h.freed = true
	}
	d.end(h, Failed)
}

// unbook tells the decode router that a request ended.
func (d *disagg) unbook(h *handoff) {
	if h.booked {
		h.booked = false
		h.q.router.Free(&h.q.req)
		d.tell(d.now, h.q.router, &h.q.req, router.SyncFree)
	}
}

// tryReserve tries to give the request that is first in line on a decode worker
// its blocks.
func (d *disagg) tryReserve(rank int) (reserved bool) {
	s := d.workers[rank].Reserve(d.now)
	if s != nil {
		h := d.live[s.Tag].hand
		h.reserved = true
		d.res.Handoffs[s.Row].Reserved = d.now
		d.advance(h)
	}
	if d.idle(rank) && d.workers[rank].HasWork() {
		d.wake(rank)
	}
	return s != nil
}

// passOver tries again on the idle decode workers whose queue holds only
// requests that are passed over: they make a pass in which nothing happens, and
// its end is an occasion to reserve.
func (d *disagg) passOver() (reserved bool) {
	for i, w := range d.workers {
		if d.idle(i) && w.PassedOver() && d.tryReserve(i) {
			reserved = true
		}
	}
	return reserved
}

// activate hands a request to its decode worker's scheduler.
func (d *disagg) activate(h *handoff) {
	d.workers[h.target].Activate(&h.q.seq, d.now)
	h.activated = true
	d.res.Handoffs[h.pre.Row].Activated = d.now
	if h.freed { // its prefill worker crashed
		d.res.Handoffs[h.pre.Row].Released = d.now
	} else {
		d.doRelease(h)
	}
	d.tryReserve(int(h.target))
}

// release frees a prompt's blocks on its prefill worker, or only its booking
// where the worker refused it.
func (d *disagg) release(h *handoff) {
	w := d.prefill.workers[h.source]
	if h.held {
		w.Release(&h.pre, d.now)
	}
	switch {
	case h.activated:
		d.res.Handoffs[h.pre.Row].Released = d.now
	case h.held:
		d.unbook(h) // it failed
	}
	h.freed = true
	d.unseat(h)
	d.drain(&d.prefill, h.front)
	if w.HasWork() {
		d.prefill.wake(int(h.source))
	}
	d.recycle(h)
}

// unseat tells the prefill router that it has nothing to do with a request any
// more.
func (d *disagg) unseat(h *handoff) {
	if h.seated {
		h.seated = false
		h.front.Free(&h.req)
		d.prefill.tell(d.now, h.front, &h.req, router.SyncFree)
	}
}

// cancel takes back what was asked of a decode worker.
func (d *disagg) cancel(h *handoff) {
	rank := h.target
	d.workers[rank].Cancel(&h.q.seq, d.now)
	d.unbook(h)
	h.target = -1
	d.recycle(h)
	d.tryReserve(int(rank))
}

// decodeEnded delivers what the passes of a decode worker produced.
func (d *disagg) decodeEnded(w int) {
	first, n := d.passDone(w)
	for i := first; i < first+n; i++ {
		d.workers[i].PassEnded(d.now)
	}
	d.delivered = max(d.delivered, first+n-1)
	d.reported(first, n)
	d.resume(decodePool, first)
	for i := first; i < first+n; i++ {
		for _, sig := range d.workers[i].Signals() {
			q := d.live[sig.Seq.Tag]
			if q.gone {
				continue
			}
			if sig.Kind == engine.FirstToken {
				d.res.Requests[sig.Seq.Row].FirstToken = d.now
				continue
			}
			d.record(i, q, sig.Kind)
			d.unbook(q.hand)
			q.hand.target = -1
			d.conclude(q, true)
		}
	}
	for i := first; i < first+n; i++ {
		if len(d.extra[i].leaving) > 0 {
			d.decodeLeft(i)
		}
		d.tryReserve(i)
	}
	for i := first; i < first+n; i++ {
		d.settle(i, d.now)
	}
}

// notePools notes what both pools did with a request.
func (d *disagg) notePools(q *request, r *Request) {
	pre, dec, x := &q.hand.pre, &q.seq, &d.res.Handoffs[q.seq.Row]
	r.OutputTokens = dec.Generated
	r.Admissions = pre.Admissions + dec.Admissions
	if pre.Admissions > 0 {
		r.FirstAdmit, r.FirstReused, r.HostReused, r.MaxReused = pre.FirstAdmit, pre.FirstReused, pre.HostReused, pre.MaxReused
		x.PrefillAdmit = pre.FirstAdmit
	}
	if q.hand.local {
		d.noteAdmissions(dec)
	}
	if dec.Admissions > 0 {
		x.DecodeAdmit, x.DecodeReused = dec.FirstAdmit, dec.MaxReused
	}
}
