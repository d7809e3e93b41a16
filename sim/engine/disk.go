package engine

import (
	"maps"
	"math"
	"slices"
)

// Disks are the tiers of storage behind the host tiers of a fleet: one that all
// workers share, or one of each. What a worker's host has stored is written there
// too as far as it is not there yet, and as far as the least recently used blocks
// that no transfer needs make room. Single disks do not slow each other down, but a
// worker looks at all of its waiting requests again when a transfer of any ends, as
// in Dynamo's replay.
type Disks struct {
	hash    func(block uint32) uint64
	own     []disk     // by worker
	shared  *tierCache // nil where each has its own
	channel channel
	ended   int64 // transfers
}

// disk is what the disks have of one worker.
type disk struct {
	set        DiskOffload
	blockBytes float64
	cache      *tierCache // nil without a disk; the shared one
	done       []*job     // that have ended, and it has not heard of
	feed       *Events    // nil where it publishes no KV events of its disk
}

// DiskStats are the totals of what a worker did with its disk, over a run.
type DiskStats struct {
	Probes, Hits, Pending     int64 // of single blocks; pending ones were being written
	Read, Write               DiskTraffic
	ReadBlocks, WrittenBlocks int64
	ForeignBlocks             int64 // read, and written by another worker
	Evictions                 int64 // blocks dropped to make room for the worker's
	Bypassed                  int64 // prompts for which it gave up to read
}

// DiskTraffic are the totals of one direction.
type DiskTraffic struct {
	Begun, Ended  int64 // transfers
	Bytes, TimeMS float64
}

// Add adds the totals of another worker.
func (s *DiskStats) Add(t DiskStats) {
	s.Probes, s.Hits, s.Pending = s.Probes+t.Probes, s.Hits+t.Hits, s.Pending+t.Pending
	s.Read.add(t.Read)
	s.Write.add(t.Write)
	s.ReadBlocks, s.WrittenBlocks = s.ReadBlocks+t.ReadBlocks, s.WrittenBlocks+t.WrittenBlocks
	s.ForeignBlocks, s.Evictions, s.Bypassed = s.ForeignBlocks+t.ForeignBlocks, s.Evictions+t.Evictions, s.Bypassed+t.Bypassed
}

func (a *DiskTraffic) add(b DiskTraffic) {
	a.Begun, a.Ended, a.Bytes, a.TimeMS = a.Begun+b.Begun, a.Ended+b.Ended, a.Bytes+b.Bytes, a.TimeMS+b.TimeMS
}

// end counts a transfer that has ended.
func (a *DiskTraffic) end(j *job, blockBytes float64) {
	a.Ended++
	a.Bytes += float64(float64(len(j.blocks)) * blockBytes)
	a.TimeMS += j.end - j.start
}

// NewDisks returns the disks of a number of workers, none of which has joined.
func NewDisks(workers int, hash func(block uint32) uint64) *Disks {
	return &Disks{hash: hash, own: make([]disk, workers), channel: newChannel(workers)}
}

// join adds a worker of these settings. A disk of its own is empty.
func (d *Disks) join(worker int32, p *Params) {
	w := disk{set: p.Disk, blockBytes: float64(p.Host.BytesPerToken * float64(p.BlockSize))}
	switch {
	case !p.Disk.Shared:
		w.cache = newTierCache(p.Disk.Blocks, d.hash)
	case d.shared == nil:
		d.shared = newTierCache(p.Disk.Blocks, d.hash)
		fallthrough
	default:
		w.cache = d.shared
	}
	d.own[worker] = w
}

// presence says what a disk has of a block.
type presence uint8

const (
	absent presence = iota
	coming          // it is being written
	present
)

// probe tells what there is of a block for a worker, and counts as a use of it.
func (d *Disks) probe(worker int32, block uint32, stats *DiskStats) presence {
	stats.Probes++
	cache := d.own[worker].cache
	e := cache.entries[block]
	switch {
	case e == nil:
		return absent
	case e.writing:
		stats.Pending++
		return coming
	}
	stats.Hits++
	cache.touch([]uint32{block})
	return present
}

// write begins to write the blocks that are not there yet, the first ones as far as
// there is room beside the others. It returns those, nil for none.
func (d *Disks) write(worker int32, stats *DiskStats, all []uint32, now float64) []uint32 {
	d.advance(now)
	w := &d.own[worker]
	blocks := w.cache.absent(all)
	blocks = blocks[:min(len(blocks), w.cache.most(all))]
	if len(blocks) == 0 {
		return nil
	}
	evicted, _ := w.cache.write(blocks, all, worker)
	stats.Evictions += int64(len(evicted))
	d.tell(w.cache, evicted, false)
	stats.Write.Begun++
	d.submit(&job{write: true, client: worker, stats: stats, blocks: blocks, own: perMS(w.set.WriteGBPerSecond), shared: perMS(w.set.SharedWriteGBPerSecond)})
	return blocks
}

// read begins to read blocks that are there.
func (d *Disks) read(worker int32, stats *DiskStats, blocks []uint32, now float64) {
	d.advance(now)
	w := &d.own[worker]
	w.cache.pin(blocks)
	stats.Read.Begun++
	d.submit(&job{client: worker, stats: stats, blocks: blocks, own: perMS(w.set.ReadGBPerSecond), shared: perMS(w.set.SharedReadGBPerSecond)})
}

func (d *Disks) submit(j *job) {
	w := &d.own[j.client]
	j.bytes = float64(float64(len(j.blocks)) * w.blockBytes)
	j.start = d.channel.now
	j.ready = d.channel.now + w.set.LatencyMS
	if !w.set.Shared {
		j.shared = math.Inf(1)
	}
	d.channel.submit(j)
}

// advance moves the disks to the present.
func (d *Disks) advance(now float64) { d.channel.advance(now, d.finish) }

// finish takes a transfer into account that has ended.
func (d *Disks) finish(j *job) {
	w, s, n := &d.own[j.client], j.stats, int64(len(j.blocks))
	if j.write {
		w.cache.written(j.blocks)
		s.Write.end(j, w.blockBytes)
		s.WrittenBlocks += n
		d.tell(w.cache, j.blocks, true)
	} else {
		for _, b := range j.blocks {
			if w.cache.entries[b].writer != j.client {
				s.ForeignBlocks++
			}
		}
		w.cache.unpin(j.blocks)
		s.Read.end(j, w.blockBytes)
		s.ReadBlocks += n
	}
	d.ended++
	w.done = append(w.done, j)
}

// take returns the worker's transfers that have ended by now and that it has not
// heard of.
func (d *Disks) take(worker int32, now float64) (list []*job) {
	d.advance(now)
	list, d.own[worker].done = d.own[worker].done, nil
	return list
}

// next returns when something happens that a worker may have to hear of, which
// knows of so many transfers that have ended; +Inf for never.
func (d *Disks) next(worker int32, heard int64) float64 {
	if heard != d.ended {
		return d.channel.now
	}
	at := d.channel.next()
	if done := d.own[worker].done; len(done) > 0 {
		at = min(at, done[0].end)
	}
	return at
}

// DiskContent is what is on disks.
type DiskContent struct {
	Resident, Coming int64 // blocks; coming ones are being written
}

// Content returns what is on all the disks.
func (d *Disks) Content() (c DiskContent) {
	c.add(d.shared)
	for i := range d.own {
		if d.own[i].cache != d.shared {
			c.add(d.own[i].cache)
		}
	}
	return c
}

func (c *DiskContent) add(t *tierCache) {
	if t == nil {
		return
	}
	for _, b := range slices.Sorted(maps.Keys(t.entries)) {
		if t.entries[b].writing {
			c.Coming++
		} else {
			c.Resident++
		}
	}
}

// tell adds to the KV events of the workers that publish those of a disk.
func (d *Disks) tell(cache *tierCache, blocks []uint32, stored bool) {
	for i := range d.own {
		if w := &d.own[i]; w.cache == cache && w.feed != nil {
			w.feed.addTier(blocks, stored, OnDisk)
		}
	}
}

// publish has a worker's KV events tell of its disk too. They begin with all that
// is there.
func (d *Disks) publish(worker int32, e *Events) {
	w := &d.own[worker]
	e.addTier(w.cache.content(), true, OnDisk)
	w.feed = e
}

// leave forgets a worker that is gone: what it was writing is lost, what it was
// reading is free again. It returns the latter.
func (d *Disks) leave(worker int32) (reading []uint32) {
	w := &d.own[worker]
	kept := d.channel.jobs[:0]
	for _, j := range d.channel.jobs {
		switch {
		case j.client != worker:
			kept = append(kept, j)
		case j.write:
			w.cache.discard(j.blocks)
		default:
			w.cache.unpin(j.blocks)
			reading = append(reading, j.blocks...)
		}
	}
	clear(d.channel.jobs[len(kept):])
	d.channel.jobs = kept
	for _, j := range w.done {
		if !j.write {
			reading = append(reading, j.blocks...)
		}
	}
	*w = disk{}
	return reading
}
