package engine

import (
	"math"
	"slices"
)

// admitOffload is admit of a worker with a host tier. Requests that were ever
// overtaken come first, in the order in which they were.
func (w *Worker) admitOffload(now float64) {
	o := w.offload
	for int32(len(w.running)) < w.MaxNumSeqs && w.budget > 0 && w.victims == 0 {
		s := w.candidate()
		if s == nil {
			return
		}
		switch w.tryAdmit(s, now) {
		case shut:
			return
		case admitted:
			o.overtaken = slices.DeleteFunc(o.overtaken, func(q *Seq) bool { return q == s })
			s.overtaken = false
		case overtaken:
			if !s.overtaken {
				s.overtaken = true
				o.overtaken = append(o.overtaken, s)
			}
			s.asleep = true
		}
	}
}

// candidate returns the request to be looked at next, nil for none. With a disk
// those come first whose blocks have arrived. On a decode worker those go before
// all others whose prompts came from a prefill worker.
func (w *Worker) candidate() *Seq {
	if w.Role == Decode {
		if at := w.firstArrived(); at >= 0 {
			return w.waiting.at(at)
		}
	}
	var first *Seq
	for _, s := range w.offload.overtaken {
		if s.asleep || w.behind(s) {
			continue
		}
		if w.offload.disk == nil || s.loading == arrivedHere {
			return s
		}
		if first == nil {
			first = s
		}
	}
	for at := 0; first == nil && at < w.waiting.n; at++ {
		if s := w.waiting.at(at); !s.overtaken && !w.behind(s) {
			first = s
		}
	}
	return first
}

// tryAdmit takes a request from the queue if it fits, or refuses it, which counts
// as admitted.
func (w *Worker) tryAdmit(s *Seq, now float64) verdict {
	if s.arrived {
		w.remove(s)
		w.run(s, now)
		return admitted
	}
	if w.MaxModelLen > 0 && s.Prompt >= w.MaxModelLen {
		return w.refuse(s)
	}
	cached, hits, v := w.gateOffload(s, now)
	switch {
	case v == refused:
		return w.refuse(s)
	case v != admitted:
		return v
	}
	if w.schedule(s, cached, hits) != done {
		return shut
	}
	w.remove(s)
	w.running = append(w.running, s)
	if s.loading == arrivedHere {
		s.loading, cached, s.offloaded = atHome, s.restored, s.restored/w.BlockSize
		if s.Admissions == 0 {
			s.HostReused = cached - min(cached, s.onDevice*w.BlockSize)
		}
	}
	s.rounds, s.bypass = 0, false
	w.noteAdmission(s, now, cached)
	return admitted
}

// refuse takes a request from the queue that can never run.
func (w *Worker) refuse(s *Seq) verdict {
	w.remove(s)
	w.refused = append(w.refused, s)
	return admitted
}

// verdict is what becomes of the request at the head of the queue.
type verdict uint8

const (
	admitted  verdict = iota
	shut              // nobody is admitted any more in this pass
	overtaken         // it waits for blocks, and the ones behind it do not wait for it
	refused           // it can never run
)

// gateOffload is gate with a host tier. It begins to load what the host holds
// beyond the device, and to bring to the host what the disk holds beyond both.
func (w *Worker) gateOffload(s *Seq, now float64) (cached int32, hits []hold, v verdict) {
	switch s.loading {
	case onTheWay:
		return 0, nil, overtaken
	case arrivedHere:
		if ceilDiv(s.length(), w.BlockSize)-s.blocks() > w.NumGPUBlocks-w.pool.active() {
			return 0, nil, shut
		}
		return 0, nil, admitted
	}
	if s.stored != nil && w.offload.shared != nil && !s.stored.landed {
		return 0, nil, overtaken
	}
	found, inUse := w.find(s)
	onHost, wait := w.below(s, found, now)
	switch {
	case wait:
		return 0, nil, overtaken
	case w.neverFits(s):
		return 0, nil, refused
	}
	cached, ok := w.room(s, found, inUse)
	if !ok {
		return 0, nil, shut
	}
	if len(onHost) == 0 {
		return cached, w.hits, admitted
	}
	if ceilDiv(s.length(), w.BlockSize)-inUse > w.NumGPUBlocks-w.pool.active()-w.promised() {
		return 0, nil, shut
	}
	if !w.pool.reserve(s, w.hits, int32(len(onHost))) {
		return 0, nil, shut
	}
	w.beginLoad(s, onHost, now)
	return 0, nil, overtaken
}

// below returns the blocks of a request's prompt that the host holds behind the
// first found, which the device does, and whether the request should wait because
// one of them is on its way. Looking for them counts as a use of all.
func (w *Worker) below(s *Seq, found int32, now float64) (onHost []uint32, wait bool) {
	o := w.offload
	prompt := s.Blocks[:s.Prompt/w.BlockSize]
	if int(found) < len(prompt) {
		if o.disk != nil && !s.bypass {
			wait = w.fromDisk(s, prompt[found:], now)
		}
		if !wait {
			var n int
			n, wait = o.cache.leading(prompt[found:])
			onHost = prompt[found:][:n]
			wait = wait || slices.ContainsFunc(onHost, func(b uint32) bool { return o.fetched[b] })
		}
	}
	o.cache.touch(prompt)
	return onHost, wait
}

// beginLoad starts to bring blocks of a request to the device, into memory that
// has been reserved for them.
func (w *Worker) beginLoad(s *Seq, blocks []uint32, now float64) {
	o := w.offload
	l := &load{seq: s, blocks: blocks, end: math.Inf(1)}
	if o.shared != nil {
		o.shared.advance(now)
		o.cache.pin(blocks)
		o.shared.submit(o.rank, now, &job{blocks: blocks, order: o.shared.order(), load: l})
	} else {
		o.cache.pin(blocks)
		l.end = o.h2d.submit(max(now, w.pool.memory.until), float64(float64(len(blocks))*o.blockBytes))
	}
	for _, b := range blocks {
		o.fetched[b] = true
	}
	s.loading, s.onDevice = onTheWay, s.sealed
	o.loads = append(o.loads, l)
	o.begun++
}

// promised returns the blocks that requests will still take for their prompts of
// which a part has been computed, is loaded or on its way.
func (w *Worker) promised() (n int32) {
	for i := 0; i < w.waiting.n; i++ {
		if q := w.waiting.at(i); q.loading != atHome {
			n += max(0, ceilDiv(q.length(), w.BlockSize)-q.blocks())
		}
	}
	for _, q := range w.running {
		if q.computed < q.Prompt {
			n += max(0, ceilDiv(q.length(), w.BlockSize)-q.blocks())
		}
	}
	return n
}

// schedulable reports whether a request waits that a pass could take up.
func (w *Worker) schedulable() bool {
	for i := 0; i < w.waiting.n; i++ {
		if s := w.waiting.at(i); s.arrived || (!s.overtaken || !s.asleep) && !w.behind(s) {
			return true
		}
	}
	return false
}
