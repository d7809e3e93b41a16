package sim

import "routesim/sim/router"

// Herding tells how much the routers of several frontends decide without knowing
// of each other. It counts decisions of the prefill and the decode stage alike.
type Herding struct {
	Decisions int64 // of routers beside others
	Blind     int64 // that chose a worker with requests which their router did not know of
	Unseen    int64 // those requests, added up over all decisions
	Most      int64 // and of one decision
}

// notice counts what the router of a placed request did not know of its worker,
// and keeps the account of what all routers have there.
func (g *stage) notice(h *Herding, r *router.Router, q *router.Request, kind router.SyncKind) {
	w := q.Target()
	switch kind {
	case router.SyncAdd:
		h.Decisions++
		// The router has booked the request by now; a request that is no load to it is
		// none here.
		if unseen := g.active[w] - max(0, r.Active(w)-1); unseen > 0 {
			h.Blind++
			h.Unseen += unseen
			h.Most = max(h.Most, unseen)
		}
		g.active[w]++
	case router.SyncFree:
		g.active[w]--
	}
}
