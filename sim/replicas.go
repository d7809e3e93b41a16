package sim

import (
	"math"

	"routesim/sim/router"
)

// replicas carries what routers tell each other of their bookings. Messages are
// all under way for the same time, so they arrive in the order in which they
// were sent.
type replicas struct {
	on       bool
	delay    float64 // ms
	messages []replicaMessage
	first    int  // messages[first:] are under way
	heard    bool // something arrived that may let the others' queues move
}

type replicaMessage struct {
	at   float64 // ms, arrival
	from *router.Router
	sync router.Sync
}

// next returns when the next message arrives, +Inf for none.
func (p *replicas) next() float64 {
	if p.first == len(p.messages) {
		return math.Inf(1)
	}
	return p.messages[p.first].at
}

// turn lets routers tell each other of bookings from now on, or not. Without,
// what is under way reaches nobody.
func (p *replicas) turn(on bool) {
	if p.on = on; !on {
		clear(p.messages)
		p.messages, p.first = p.messages[:0], 0
	}
}

// tell sends a router's peers a change of a booking, if they are to know.
func (g *stage) tell(now float64, r *router.Router, q *router.Request, kind router.SyncKind) {
	p := &g.replicas
	if g.active != nil {
		g.notice(g.herding, r, q, kind)
	}
	if !p.on {
		return
	}
	p.messages = append(p.messages, replicaMessage{now + p.delay, r, r.Message(q, kind)})
	if p.delay == 0 {
		g.deliverSync(now)
	}
}

// deliverSync hands over the messages that have arrived by now.
func (g *stage) deliverSync(now float64) {
	p := &g.replicas
	for p.first < len(p.messages) && p.messages[p.first].at <= now {
		m := &p.messages[p.first]
		for _, r := range g.fronts {
			if r != m.from {
				r.Hear(&m.sync)
			}
		}
		*m = replicaMessage{}
		p.first++
		p.heard = true
	}
	if p.first == len(p.messages) {
		p.messages, p.first = p.messages[:0], 0
	}
}
