package router

import "slices"

// SyncKind is what a router tells the others of a booking.
type SyncKind uint8

// The messages between routers. Growth of answers is not among them, and what
// is cached neither.
const (
	SyncAdd SyncKind = iota
	SyncPrefillDone
	SyncFree
)

// Sync is a message from one router to the others.
type Sync struct {
	kind    SyncKind
	row     int32
	worker  int32
	prefill int32
	isl     int32
	private int32
	blocks  []uint32 // the message's own
}

// Message describes a change of a booking of this router.
func (r *Router) Message(q *Request, kind SyncKind) Sync {
	b := &q.booking
	m := Sync{kind: kind, row: q.Row, worker: b.worker}
	if kind == SyncAdd {
		m.prefill, m.isl, m.private, m.blocks = b.prefill, q.ISL, b.private, slices.Clone(b.blocks)
	}
	return m
}

// Hear takes another router's booking into this one's account.
func (r *Router) Hear(m *Sync) {
	if r.live == nil {
		return
	}
	b := r.live.mirrors[m.row]
	switch {
	case m.kind == SyncAdd:
		b = &booking{worker: m.worker, row: m.row, prefill: m.prefill, private: m.private, blocks: m.blocks, booked: true}
		r.live.mirrors[m.row] = b
		r.loads.book(b)
		r.bookDecay(b, int64(m.isl))
		if r.outputs != nil {
			r.growOutputs()
			r.outputs.book(b)
		}
	case b == nil:
		return // added before this router's restart
	case m.kind == SyncPrefillDone:
		r.prefillDone(b)
	default:
		delete(r.live.mirrors, m.row)
		if r.outputs != nil {
			r.growOutputs()
			r.outputs.free(b)
		}
		r.prefillDone(b)
		r.loads.free(b)
	}
	r.signal(m.worker)
}

// SwitchAtRestart gives the settings that the router runs with after its
// restart.
func (r *Router) SwitchAtRestart(p Params) {
	r.after = &p
	ready := p.ready()
	if b := newBelief(&ready, r.targets, r.shift, 0); r.belief.events == nil && b.events != nil {
		r.dump = &b
	}
}

// Restart makes the router begin anew, except for requests that wait in it: all
// bookings are lost, and with reset also the index of KV events, which is
// otherwise recovered from the workers. What it learned from its own decisions
// is lost either way. Where it goes on with other settings the waiting requests
// enter the classes of those in the order in which they came, by what the new
// router believes. It returns the bookings lost.
func (r *Router) Restart(reset bool) (lost int64) {
	n := len(r.targets)
	for _, q := range r.live.active {
		q.booking.booked = false
		q.booking.lease = nil
	}
	lost = int64(len(r.live.active))
	known := r.belief
	if known.events == nil && r.dump != nil {
		known = *r.dump
	}
	var waiting []waiter
	switched := r.after != nil
	if switched {
		waiting = r.classes.waiters()
		r.hostWeight, r.diskWeight = r.after.HostCacheHitWeight, r.after.DiskCacheHitWeight
		r.Params, r.after, r.dump = r.after.ready(), nil, nil
		r.classes = newClasses(&r.Params)
		r.byWorker = newTurns(&r.Params, r.targets)
	}
	r.loads = newLoads(n)
	r.decay = nil
	if r.PrefillLoadModel {
		r.decay = newDecay(n)
	}
	old := r.live
	r.goLive()
	r.live.ticked = old.ticked
	if old.programs != nil {
		old.programs.Reset()
		if switched {
			waiting = append(waiting, r.unclassified(old)...)
		} else {
			r.live.programs, r.live.heldBack = old.programs, old.heldBack
		}
	}
	clear(r.over)
	r.turn = 0
	r.belief = newBelief(&r.Params, r.targets, r.shift, r.now)
	if !reset && r.belief.events != nil && known.events != nil {
		r.belief.events = known.events
	}
	r.belief.lower.recover(known.lower, reset)
	for i := range waiting {
		q := waiting[i].req
		r.lookup(q)
		c, best, _ := r.classify(q)
		r.enqueue(c, q, best, waiting[i].since)
	}
	return lost
}
