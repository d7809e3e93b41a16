package router

// binding ties a session to the worker that its first request was sent to.
type binding struct {
	worker  int32
	running int32
	idle    float64 // ms, end of the last running request
}

// bound returns the binding of a request's session, nil where there is none or
// where it has been idle for too long.
func (r *Router) bound(q *Request) *binding {
	if r.Live == nil || r.Live.AffinityTTLSecs == 0 || q.Session < 0 {
		return nil
	}
	b := r.live.sessions[q.Session]
	if b != nil && b.running == 0 && r.now-b.idle >= float64(r.Live.AffinityTTLSecs)*1000 {
		delete(r.live.sessions, q.Session)
		return nil
	}
	return b
}

// loosen drops a session's hard binding to a worker that cannot serve the request
// being decided.
func (r *Router) loosen(q *Request) {
	if r.Live.AffinitySoft || q.Worker >= 0 || r.only.worker >= 0 {
		return
	}
	if b := r.bound(q); b != nil {
		delete(r.live.sessions, q.Session)
	}
}

// bind notes that a request of a session runs on a worker. The first one binds
// the session.
func (r *Router) bind(q *Request, worker int32) {
	if r.Live.AffinityTTLSecs == 0 || q.Session < 0 {
		return
	}
	b := r.live.sessions[q.Session]
	if b == nil {
		b = &binding{worker: worker}
		r.live.sessions[q.Session] = b
	}
	b.running++
}

// unbind notes that a request of a session ended.
func (r *Router) unbind(q *Request) {
	if r.Live.AffinityTTLSecs == 0 || q.Session < 0 {
		return
	}
	if b := r.live.sessions[q.Session]; b != nil && b.running > 0 {
		b.running--
		b.idle = r.now
	}
}
