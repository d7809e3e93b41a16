package router

// waiter is a request held in the router.
type waiter struct {
	strict uint32
	score  float64
	seq    int64
	req    *Request
}

// before orders the queue: higher strict tier, then higher score, then first
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
type queue struct {
	heap []waiter
	seq  int64
}

func (q *queue) push(w waiter) {
	w.seq = q.seq
	q.seq++
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

func (q *queue) pop() *Request {
	h := q.heap
	req := h[0].req
	last := len(h) - 1
	h[0] = h[last]
	h[last] = waiter{}
	h = h[:last]
	for i := 0; ; {
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
	q.heap = h
	return req
}

// score is a request's place inside its strict tier, frozen at its arrival.
// A priority counts as seconds of earlier arrival under fcfs.
func (r *Router) score(q *Request, now float64, best int32) float64 {
	jump, arrival := max(0, float64(q.Priority)), now/1000
	switch r.Params.QueuePolicy {
	case LCFS:
		return jump + arrival
	case WSPT:
		cached := int64(best) * int64(r.blockSize)
		uncached := int64(q.ISL) - min(int64(q.ISL), cached)
		return (1 + jump) / float64(max(1, uncached))
	}
	return jump - arrival
}

// allBusy reports whether every worker's prefill load exceeds the threshold.
func (r *Router) allBusy() bool {
	frac := *r.Params.QueueThreshold
	for w, a := range r.loads.prefillTokens {
		if !(float64(a) > float64(frac*r.batchLimit[w])) {
			return false
		}
	}
	return true
}
