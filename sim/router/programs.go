package router

import "routesim/sim/router/program"

// classified reports whether the request classifier looks at a request: one that
// belongs to a session that somebody named.
func (r *Router) classified(q *Request) bool {
	return r.live != nil && r.live.programs != nil && q.Named
}

// held asks the request classifier about a request that arrives, and keeps it
// where it has to wait.
func (r *Router) held(q *Request) bool {
	if !r.classified(q) || r.live.programs.Arrive(r.now, q.Session, q.Tag, int64(q.ISL), q.Final) {
		return false
	}
	r.live.heldBack[q.Tag] = q
	return true
}

// letGo returns the next request that the classifier lets go and the queue does
// not hold back, nil for none. One that the queue turns away is returned too, for
// Admit to say so.
func (r *Router) letGo() *Request {
	p := r.live.programs
	for tag, ok := p.Next(); ok; tag, ok = p.Next() {
		q := r.live.heldBack[tag]
		delete(r.live.heldBack, tag)
		q.overlap = r.overlapBuffer()
		r.lookup(q)
		if !r.queued() {
			return q
		}
		if r.arriveLive(q); q.Refusal != Accepted {
			return q
		}
	}
	return nil
}

// unclassified takes over the requests that the classifier of another policy
// file held and lets go: they come to the queue now.
func (r *Router) unclassified(old *liveState) (list []waiter) {
	for tag, ok := old.programs.Next(); ok; tag, ok = old.programs.Next() {
		q := old.heldBack[tag]
		q.overlap = r.overlapBuffer()
		list = append(list, waiter{req: q, since: r.now})
	}
	return list
}

// withdrawHeld tells the classifier that a request was cancelled, and reports
// whether it was held there.
func (r *Router) withdrawHeld(q *Request) bool {
	if _, held := r.live.heldBack[q.Tag]; !held {
		r.live.programs.Ended(r.now, q.Session, q.Tag, 0)
		return false
	}
	delete(r.live.heldBack, q.Tag)
	r.live.programs.Withdraw(r.now, q.Session, q.Tag)
	return true
}

// newClassifier returns the classifier of a live router, nil for none.
func (r *Router) newClassifier() *program.Classifier {
	s := r.Live.Classifier
	if s == nil || r.Mode != KV {
		return nil
	}
	capacity := make([]int64, len(r.targets))
	for w := range r.targets {
		capacity[w] = int64(r.targets[w].KVBlocks) * int64(r.blockSize)
	}
	return program.New(*s, capacity, r.takes, &r.Counters.Classifier)
}

// context returns the tokens of a request that ended: its prompt and its answer,
// 0 where it got none.
func (r *Router) context(q *Request) int64 {
	if n := r.Generated(q); n > 0 {
		return int64(q.ISL) + int64(n)
	}
	return 0
}
