package engine

import "slices"

// admitOffload is admit of a worker with a host tier. Requests that were ever
// overtaken come first, in the order in which they were.
func (w *Worker) admitOffload(now float64) {
	o := w.offload
	for i := 0; i < len(o.overtaken); {
		s := o.overtaken[i]
		switch w.tryAdmit(s, now) {
		case shut:
			return
		case admitted:
			o.overtaken = slices.Delete(o.overtaken, i, i+1)
			s.overtaken = false
			if w.victims > 0 {
				return
			}
		case overtaken:
			i++
		}
	}
	for at := 0; at < w.waiting.n; {
		s := w.waiting.at(at)
		if s.overtaken {
			at++
			continue
		}
		switch w.tryAdmit(s, now) {
		case shut:
			return
		case admitted:
			if w.victims > 0 {
				return
			}
		case overtaken:
			s.overtaken = true
			o.overtaken = append(o.overtaken, s)
			at++
		}
	}
}

// tryAdmit takes a request from the queue if it fits, or refuses it, which counts
// as admitted.
func (w *Worker) tryAdmit(s *Seq, now float64) verdict {
	here := s.loading == arrivedHere
	switch {
	case s.loading == onTheWay:
		return overtaken
	case int32(len(w.running)) >= w.MaxNumSeqs:
		return shut
	case !here && w.neverFits(s):
		w.remove(s)
		w.refused = append(w.refused, s)
		return admitted
	case w.budget == 0:
		return shut
	}
	cached, hits, v := w.gateOffload(s)
	if v != admitted {
		return v
	}
	if w.schedule(s, cached, hits) != done {
		return shut
	}
	w.remove(s)
	w.running = append(w.running, s)
	if here {
		s.loading, cached = atHome, s.restored
		if s.Admissions == 0 {
			s.HostReused = cached - min(cached, s.onDevice*w.BlockSize)
		}
	}
	w.noteAdmission(s, now, cached)
	return admitted
}

// verdict is what becomes of the request at the head of the queue.
type verdict uint8

const (
	admitted  verdict = iota
	shut              // nobody is admitted any more in this pass
	overtaken         // it waits for blocks, and the ones behind it do not wait for it
)

// gateOffload is gate with a host tier. It begins to load what the host holds
// beyond the device.
func (w *Worker) gateOffload(s *Seq) (cached int32, hits []hold, v verdict) {
	if s.loading == arrivedHere {
		if ceilDiv(s.length(), w.BlockSize)-s.blocks() > w.NumGPUBlocks-w.pool.active() {
			return 0, nil, shut
		}
		return 0, nil, admitted
	}
	o := w.offload
	known := w.known(s)
	found, inUse := w.find(s)
	o.cache.touch(s.Blocks[:known])
	onHost := s.Blocks[found:known]
	n, writing := o.cache.leading(onHost)
	onHost = onHost[:n]
	if writing || o.cache.anyRead(onHost) {
		return 0, nil, overtaken
	}
	cached, ok := w.room(s, found, inUse)
	if !ok {
		return 0, nil, shut
	}
	if len(onHost) == 0 {
		return cached, w.hits, admitted
	}
	if ceilDiv(s.length(), w.BlockSize)-inUse > w.NumGPUBlocks-w.pool.active()-w.promised(s) {
		return 0, nil, shut
	}
	if !w.pool.reserve(s, w.hits, int32(len(onHost))) {
		return 0, nil, shut
	}
	w.beginLoad(s, onHost)
	return 0, nil, overtaken
}

// beginLoad starts to bring blocks of a request to the device, into memory that
// has been reserved for them.
func (w *Worker) beginLoad(s *Seq, blocks []uint32) {
	o := w.offload
	o.cache.read(blocks)
	s.loading, s.onDevice = onTheWay, s.sealed
	s.offloaded = s.sealed + int32(len(blocks))
	o.loads = append(o.loads, &load{seq: s, blocks: blocks})
	o.begun++
}

// promised returns the blocks that requests other than s will still take whose
// first ones were loaded or are on their way.
func (w *Worker) promised(s *Seq) (n int32) {
	for i := 0; i < w.waiting.n; i++ {
		if q := w.waiting.at(i); q != s && q.loading != atHome {
			n += max(0, ceilDiv(q.length(), w.BlockSize)-q.blocks())
		}
	}
	return n
}

// schedulable reports whether a request waits that a pass could take up.
func (w *Worker) schedulable() bool {
	for i := 0; i < w.waiting.n; i++ {
		if w.waiting.at(i).loading != onTheWay {
			return true
		}
	}
	return false
}
