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

// tell sends the other routers a change of a booking.
func (s *simulation) tell(q *request, kind router.SyncKind) {
	p := &s.replicas
	if !p.on {
		return
	}
	p.messages = append(p.messages, replicaMessage{s.now + p.delay, q.router, q.router.Message(&q.req, kind)})
	if p.delay == 0 {
		s.deliverSync()
	}
}

// deliverSync hands over the messages that have arrived.
func (s *simulation) deliverSync() {
	p := &s.replicas
	for p.first < len(p.messages) && p.messages[p.first].at <= s.now {
		m := &p.messages[p.first]
		for _, r := range s.fronts {
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
