package router

// waiter is a request held in the router.
type waiter struct {
	strict uint32
	score  float64
	seq    int64
	req    *Request
	cost   int64 // uncached tokens, at least 1; frozen with the score
	cached int64 // tokens that some target was believed to hold
	since  float64
}

// before orders a class: higher strict tier, then higher score, then first
// come.
func (a *waiter) before(b *waiter) bool {
	if a.strict != b.strict {
		return a.strict > b.strict
	}
	if a.score != b.score {
		return a.score > b.score
	}
	return a.seq < b.seq
}

// queue is a binary heap of waiters with the next one at its root.
type queue struct{ heap []waiter }

func (q *queue) push(w waiter) {
	h := append(q.heap, w)
	for i := len(h) - 1; i > 0; {
		up := (i - 1) / 2
		if !h[i].before(&h[up]) {
			break
		}
		h[i], h[up] = h[up], h[i]
		i = up
	}
	q.heap = h
}

func (q *queue) pop() waiter { return q.remove(0) }

// remove takes out the waiter at a place of the heap.
func (q *queue) remove(at int) waiter {
	h := q.heap
	out := h[at]
	last := len(h) - 1
	h[at] = h[last]
	h[last] = waiter{}
	h = h[:last]
	q.heap = h
	if at == last {
		return out
	}
	i := at
	for {
		next := 2*i + 1
		if next >= len(h) {
			break
		}
		if next+1 < len(h) && h[next+1].before(&h[next]) {
			next++
		}
		if !h[next].before(&h[i]) {
			break
		}
		h[i], h[next] = h[next], h[i]
		i = next
	}
	for i > 0 && h[i].before(&h[(i-1)/2]) {
		up := (i - 1) / 2
		h[i], h[up] = h[up], h[i]
		i = up
	}
	return out
}

// find returns the place of a request in the heap, -1 where it does not wait
// here.
func (q *queue) find(r *Request) int {
	for i := range q.heap {
		if q.heap[i].req == r {
			return i
		}
	}
	return -1
}

// score is a request's place inside its strict tier, frozen at its arrival.
// A priority counts as seconds of earlier arrival under fcfs.
func (p QueuePolicy) score(q *Request, now float64, uncached int64) float64 {
	jump, arrival := max(0, float64(q.Priority)), now/1000
	switch p {
	case LCFS:
		return jump + arrival
	case WSPT:
		return (1 + jump) / float64(max(1, uncached))
	}
	return jump - arrival
}

// busy reports whether a target's prefill load exceeds a threshold of the
// class. It must exceed it: a load equal to the threshold is not busy.
func (c *Class) busy(tokens int64, limit float64) bool {
	return c.BusyTokens != nil && tokens > *c.BusyTokens ||
		c.BusyFraction != nil && float64(tokens) > float64(*c.BusyFraction*limit)
}

// holds reports whether requests of the class can have to wait at all.
func (c *Class) holds() bool { return c.BusyTokens != nil || c.BusyFraction != nil }

// allBusy reports whether every target that counts is busy for the class: in a
// replay each that takes requests, so that an empty fleet is busy; live each
// that is eligible, and without any nobody is held, so that the request fails.
func (r *Router) allBusy(c *Class, q *Request) bool {
	some := r.Live == nil
	for w, a := range r.backlog() {
		if r.absent[w] || r.Live != nil && (r.over[w] || r.targets[w].lacks(q.Required) != "") {
			continue
		}
		some = true
		if !c.busy(a, r.batchLimit[w]) {
			return false
		}
	}
	return some
}
