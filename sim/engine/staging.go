package engine

import (
	"math"
	"slices"
)

// mostRounds is how often in a row a request may have blocks brought from the
// disk while its worker does nothing else. Where the host tier is too small for
// them they may drive each other out for ever.
const mostRounds = 1024

// staging is a worker's way to and from its disk. A request whose prompt goes on
// there, or on the host and there, has the blocks that the host lacks brought to
// the host first, for which each makes room of its own; it is looked at again when
// they have arrived.
type staging struct {
	disks  *Disks
	worker int32
	stats  DiskStats
	heard  int64 // transfers of all disks that ended, as far as the worker knows
	// What was asked for at one time: a block that is gone again already is not
	// asked for anew while the rest of its prompt would not fit beside it.
	asked   map[request]bool
	askedAt float64
}

// request is a block that a request asked for.
type request struct {
	row   int32
	block uint32
}

func newStaging(p *Params, o *Options) *staging {
	d := &staging{disks: o.Disks, worker: int32(o.Index), asked: map[request]bool{}}
	d.disks.join(d.worker, p)
	d.heard = d.disks.ended
	return d
}

// Publish has the worker's KV events tell of a host that it shares too and, where
// asked for, of its disk, beginning with what is there now.
func (w *Worker) Publish(now float64, disk bool) {
	o := w.offload
	if o == nil {
		return
	}
	if o.shared != nil {
		w.Events.addTier(o.cache.content(), true, OnHost)
		o.shared.members[o.rank].feed = &w.Events
	}
	if disk && o.disk != nil {
		o.disk.disks.publish(o.rank, &w.Events)
	}
	w.Events.sealTransfers(now)
}

// waits reports whether a worker that can do nothing now may be able to when a
// transfer has ended.
func (o *offload) waits(now float64) bool {
	if o.shared != nil {
		o.shared.advance(now)
		if o.cache.coming > 0 || !math.IsInf(o.shared.next(o.rank), 1) {
			return true
		}
	}
	if o.disk != nil {
		o.disk.disks.advance(now)
	}
	return len(o.loads)+len(o.stores) > 0 || o.disk != nil && !math.IsInf(o.disk.next(), 1)
}

// next returns when something happens on the disk that the worker may have to
// hear of.
func (d *staging) next() float64 { return d.disks.next(d.worker, d.heard) }

// toDisk writes what the host has stored to the disk as well. The blocks stay
// there until that is done; what is not written is free at once.
func (o *offload) toDisk(blocks []uint32, now float64) {
	d := o.disk
	kept := d.disks.write(d.worker, &d.stats, blocks, now)
	o.cache.unpin(slices.DeleteFunc(slices.Clone(blocks), func(b uint32) bool { return slices.Contains(kept, b) }))
}

// fromDisk asks for those of a request's blocks that are on the disk and not on
// the host, up to the first that is on neither. It reports whether the request
// should wait.
func (w *Worker) fromDisk(s *Seq, blocks []uint32, now float64) (wait bool) {
	o, d := w.offload, w.offload.disk
	if now > d.askedAt {
		d.askedAt = now
		clear(d.asked)
	}
	var missing []uint32
search:
	for i, b := range blocks {
		if e := o.cache.entries[b]; e != nil {
			wait = wait || e.writing
			continue
		}
		switch d.disks.probe(d.worker, b, &d.stats) {
		case absent:
			break search
		case coming:
			wait = true
			continue
		}
		if d.asked[request{s.Row, b}] && !o.fits(blocks) {
			break
		}
		if !w.makeRoom(blocks[i:i+1], blocks[i:i+1], now) {
			break
		}
		missing = append(missing, b)
	}
	if len(missing) == 0 {
		return wait
	}
	d.disks.read(d.worker, &d.stats, missing, now)
	for _, b := range missing {
		d.asked[request{s.Row, b}] = true
	}
	o.begun++
	if s.rounds++; s.rounds >= mostRounds {
		s.bypass = true
		d.stats.Bypassed++
	}
	return true
}

// fits reports whether the host could hold all of the blocks at once that it or
// the disk has, up to the first that neither has.
func (o *offload) fits(blocks []uint32) bool {
	n, disk := 0, o.disk.disks.own[o.disk.worker].cache
	for n < len(blocks) && (o.cache.entries[blocks[n]] != nil || disk.entries[blocks[n]] != nil) {
		n++
	}
	_, ok := o.cache.room(len(o.cache.absent(blocks[:n])), blocks[:n])
	return ok
}

// hearDisk does what follows from the transfers of the disk that have ended.
func (w *Worker) hearDisk(now float64) (progress bool) {
	o, d := w.offload, w.offload.disk
	done := d.disks.take(d.worker, now)
	progress = len(done) > 0 || d.heard != d.disks.ended
	d.heard = d.disks.ended
	for _, j := range done {
		if j.write {
			o.cache.unpin(j.blocks)
			continue
		}
		for i := range j.blocks {
			if o.shared != nil {
				o.shared.arrived(o.rank, j.blocks[i:i+1])
			} else {
				o.cache.written(j.blocks[i : i+1])
			}
		}
		if o.shared == nil {
			w.Events.addTier(j.blocks, true, OnHost)
		}
	}
	return progress
}
