package router

// turns is round robin over workers of several data-parallel ranks: the workers
// take turns, and on each worker its ranks do, by a count of the worker's own.
type turns struct {
	first []int32 // by worker that has targets: its first target
	next  []int32 // its next rank
}

// newTurns returns nil where every worker has one target, or where all targets
// take turns alike: those of a stage of disaggregated serving in a replay.
func newTurns(p *Params, targets []Target) *turns {
	var t turns
	for i := range targets {
		if i == 0 || targets[i].Worker != targets[i-1].Worker {
			t.first = append(t.first, int32(i))
		}
	}
	if len(t.first) == len(targets) || p.Stage != Whole && p.Live == nil {
		return nil
	}
	t.next = make([]int32, len(t.first))
	return &t
}

// ranks returns the targets of the worker with the given place among those that
// have any.
func (r *Router) ranks(i int) (first, n int32) {
	first = r.byWorker.first[i]
	if i+1 < len(r.byWorker.first) {
		return first, r.byWorker.first[i+1] - first
	}
	return first, int32(len(r.targets)) - first
}

// inTurn returns the target whose turn it is, -1 for none. k is the number of
// targets that take requests.
func (r *Router) inTurn(k int) int32 {
	t := r.byWorker
	if t == nil {
		i := r.turn % uint64(k)
		r.turn++
		return r.nth(int(i))
	}
	takers := 0
	for i := range t.first {
		if first, _ := r.ranks(i); r.takes(int(first)) {
			takers++
		}
	}
	if takers == 0 {
		return -1
	}
	at := int(r.turn % uint64(takers))
	r.turn++
	for i := range t.first {
		first, n := r.ranks(i)
		if !r.takes(int(first)) {
			continue
		}
		if at == 0 {
			rank := t.next[i] % n
			t.next[i] = rank + 1
			return first + rank
		}
		at--
	}
	return -1
}
