package engine

// firstTokens ends a prefill pass: requests in the middle of their prompt go
// back to the front of the queue, the others join the batch and produce a token
// at no cost. What ran before stalls.
func (w *Worker) firstTokens() {
	var silent, last, rest []*Seq
	for _, s := range w.sg.admitted {
		if s.computed < s.length() {
			w.insertRunning(s)
			w.waiting.pushFront(s)
			continue
		}
		switch s.remaining(w.MaxModelLen) {
		case 0:
			silent = append(silent, s)
		case 1:
			last = append(last, s)
		default:
			rest = append(rest, s)
		}
	}
	// What the finished ones give back comes too late for the others.
	growth := w.growth(rest)
	room := w.setAside(growth)
	for _, s := range silent {
		w.leave(s)
		w.signals = append(w.signals, Signal{s, DoneSilently})
	}
	for _, s := range last {
		w.emit(s, w.passNo)
		w.leave(s)
		w.signals = append(w.signals, Signal{s, DoneWithToken})
	}
	w.running = append(w.running, rest...)
	if room {
		w.grow(rest, growth)
	}
}

// growth returns the pages that the next tokens of a batch need.
func (w *Worker) growth(batch []*Seq) (pages int32) {
	for _, s := range batch {
		next := s.length() + min(1, s.remaining(w.MaxModelLen))
		pages += max(0, w.pageUp(next)-s.allocated) / w.BlockSize
	}
	return pages
}

// grow gives every request of a batch a token and its place in the cache, out of
// the pages set aside, and lets the finished ones go. The batch is the end of
// the running list.
func (w *Worker) grow(batch []*Seq, pages int32) {
	kept := w.running[:len(w.running)-len(batch)]
	for _, s := range batch {
		if s.computed%w.BlockSize == 0 {
			s.private++
			pages--
		}
		if s.length()+1 > s.allocated {
			s.allocated += w.BlockSize
		}
		first := s.Generated == 0
		w.emit(s, w.passNo)
		s.computed++
		if s.computed%w.BlockSize == 0 {
			w.addCopies(s, s.computed/w.BlockSize-1, s.computed/w.BlockSize)
		}
		if s.remaining(w.MaxModelLen) == 0 {
			w.leave(s)
			w.signals = append(w.signals, Signal{s, DoneWithToken})
			continue
		}
		w.insertRunning(s)
		if first {
			w.signals = append(w.signals, Signal{s, FirstToken})
		}
		kept = append(kept, s)
	}
	clear(w.running[len(kept):])
	w.running = kept
	w.sg.free += pages
}

// setAside takes the pages for the next tokens of a batch, if there are enough.
func (w *Worker) setAside(pages int32) bool {
	g := w.sg
	if pages > g.free+g.tree.evictable {
		return false
	}
	w.evictShortfall(pages)
	g.free -= pages
	return true
}

// decodeSGLang prepares a decode pass: it makes room for a token of every
// running request, if need be by retracting some. It returns what happens at
// the pass's end.
func (w *Worker) decodeSGLang() (emit func()) {
	g := w.sg
	silent := w.takeSilent()
	growth := w.growth(w.running)
	for growth > g.free+g.tree.evictable && len(w.running) > 1 {
		w.retract()
		growth = w.growth(w.running)
	}
	if w.victims > 0 {
		g.ratio = w.reserveRatio()
	} else {
		g.relax(1)
	}
	room := len(w.running) > 0 && w.setAside(growth)
	// What the finished ones give back comes too late for the others.
	for _, s := range silent {
		w.leave(s)
		w.signals = append(w.signals, Signal{s, DoneSilently})
	}
	if !room {
		return func() {}
	}
	for _, s := range w.running {
		w.batch.DecodeSeqs++
		w.batch.DecodeContext += int64(s.length())
	}
	w.scheduled = int64(len(w.running))
	g.batch = append(g.batch[:0], w.running...)
	return func() { w.grow(g.batch, growth) }
}

// takeSilent takes the requests off the batch that have no token to produce.
func (w *Worker) takeSilent() (silent []*Seq) {
	kept := w.running[:0]
	for _, s := range w.running {
		if s.remaining(w.MaxModelLen) == 0 {
			silent = append(silent, s)
			continue
		}
		kept = append(kept, s)
	}
	clear(w.running[len(kept):])
	w.running = kept
	return silent
}

// retract takes the running request with the fewest tokens off the batch and
// puts it back at the end of the queue.
func (w *Worker) retract() {
	least := 0
	for i, s := range w.running {
		if s.Generated < w.running[least].Generated {
			least = i
		}
	}
	s := w.running[least]
	w.running = append(w.running[:least], w.running[least+1:]...)
	node := s.node
	w.releasePrivate(s)
	w.sg.tree.unlock(node)
	w.keepTimes(s)
	s.segStart, s.lastPass = w.passNo, w.passNo-1
	s.computed, s.preempted = 0, true
	w.waiting.pushBack(s)
	w.victims++
	w.generation++
	w.stats.Preemptions++
	w.stats.PeakWaiting = max(w.stats.PeakWaiting, int32(w.waiting.n))
}
