package router

// binding ties a session, or a group of them, to the worker that its first request was sent to.
type binding struct {
	worker  int32
	running int32
	idle    float64 // ms, end of the last running request
}

// noBinding is the key of a request without a session.
const noBinding = -1

// binds returns what a request is bound by: its session, or, if that is the
// sub-agent of another, all sub-agents of that other session together. A parent
// keeps a binding of its own.
func (q *Request) binds() int32 {
	if q.Group > 0 {
		return noBinding - q.Group
	}
	return q.Session
}

// bound returns the binding of a request's session, nil where there is none or
// where it has been idle for too long.
func (r *Router) bound(q *Request) *binding {
	if r.Live == nil || r.Live.AffinityTTLSecs == 0 || q.binds() == noBinding {
		return nil
	}
	b := r.live.sessions[q.binds()]
	if b != nil && b.running == 0 && r.now-b.idle >= float64(r.Live.AffinityTTLSecs)*1000 {
		delete(r.live.sessions, q.binds())
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
		delete(r.live.sessions, q.binds())
	}
}

// bind notes that a request of a session runs on a worker. The first one binds
// the session.
func (r *Router) bind(q *Request, worker int32) {
	if r.Live.AffinityTTLSecs == 0 || q.binds() == noBinding {
		return
	}
	b := r.live.sessions[q.binds()]
	if b == nil {
		b = &binding{worker: worker}
		r.live.sessions[q.binds()] = b
	}
	b.running++
}

// unbind notes that a request of a session ended.
func (r *Router) unbind(q *Request) {
	if r.Live.AffinityTTLSecs == 0 || q.binds() == noBinding {
		return
	}
	if b := r.live.sessions[q.binds()]; b != nil && b.running > 0 {
		b.running--
		b.idle = r.now
	}
}
