package engine

import (
	"errors"
	"math"
	"slices"
)

// ErrWaits says that a worker can do nothing before one of its transfers ends.
var ErrWaits = errors.New("waits for a transfer")

// offload is a worker's host tier and what is on its way there and back.
//
// A pass that completes blocks has them copied to the host from its end on, one
// transfer per request. A pass that computes in memory which such a copy still
// reads waits for it, and what it computes there is stored one pass later. A
// request whose prompt goes on in the host tier where the device's cache ends has
// those blocks brought back before it is scheduled; meanwhile others overtake it,
// and those that want the same blocks, or blocks that are not completely stored
// yet, wait too. They are looked at again when some transfer has ended.
type offload struct {
	cache      *tierCache
	shared     *HostPool // nil where the cache is the rank's own
	rank       int32
	disk       *staging // nil without a disk tier
	blockBytes float64
	d2h, h2d   link
	planned    []*store        // of the pass under way
	stores     []*store        // under way, in the order of their ends
	loads      []*load         // likewise
	fetched    map[uint32]bool // blocks of those
	overtaken  []*Seq          // that wait, in the order in which they were first overtaken
	begun      int             // loads and reads from the disk that the pass being decided began
	notBefore  float64         // ms, when the stores end that some pass had to wait for
	waited     float64         // ms, how long the last pass waits
	stats      TierStats
}

// TierStats are the totals of a tier below the device's pool, over a run.
type TierStats struct {
	Loads, LoadedBlocks  int64   // transfers to the device, and their blocks
	Stores, StoredBlocks int64   // transfers from it, and their blocks
	SkippedBlocks        int64   // not stored: the tier had no room
	Evictions            int64   // blocks dropped from the tier
	Bytes                float64 // moved, both ways
	WaitMS               float64 // of passes that waited for stores
}

// store is a transfer of one request's blocks to the host.
type store struct {
	blocks []uint32
	end    float64
	ended  bool // and the worker knows of it
	// To a shared host: who stores, its place in line, the device copies that stay
	// until it has ended, and whether the blocks are there.
	by     *offload
	order  int64
	copies []hold
	landed bool
}

// reading returns the store if it still reads the device's memory, else nil.
func (j *store) reading() *store {
	if j == nil || j.ended {
		return nil
	}
	return j
}

// load is a transfer of one request's blocks to the device.
type load struct {
	seq    *Seq
	blocks []uint32
	end    float64
}

// loading says where a request is that needs blocks of a lower tier.
type loading uint8

const (
	atHome loading = iota // on the device, as far as it goes
	onTheWay
	arrivedHere // the blocks are there, the request has not been scheduled
)

func newOffload(p *Params, o *Options) *offload {
	h := &p.Host
	if h.Blocks == 0 {
		return nil
	}
	t := &offload{
		rank:       int32(o.Index),
		fetched:    map[uint32]bool{},
		blockBytes: float64(h.BytesPerToken * float64(p.BlockSize)),
		d2h:        link{gbPerSecond: h.D2HGBPerSecond, latencyMS: h.LatencyMS},
		h2d:        link{gbPerSecond: h.H2DGBPerSecond, latencyMS: h.LatencyMS},
	}
	if h.Shared {
		t.shared = o.HostPool
		t.cache = t.shared.cache
		t.shared.members[t.rank].set, t.shared.members[t.rank].keeps = *h, p.Disk.Blocks > 0
	} else {
		t.cache = newTierCache(h.Blocks, o.Hash)
	}
	if p.Disk.Blocks > 0 {
		t.disk = newStaging(p, o)
	}
	return t
}

// beganLoads reports whether the pass being decided began to bring blocks back.
func (w *Worker) beganLoads() bool { return w.offload != nil && w.offload.begun > 0 }

// transfers plans the stores of the pass that has been decided. It returns when
// the pass can begin to compute.
func (w *Worker) transfers(now float64) (start float64) {
	o := w.offload
	for _, s := range w.running {
		if s.pass == w.passNo {
			w.planStore(s, now)
		}
	}
	if w.scheduled > 0 {
		for _, s := range o.overtaken {
			s.rounds = 0
		}
	}
	start = max(now, o.notBefore)
	o.waited = start - now
	o.stats.WaitMS += o.waited
	return start
}

// Waited returns how long the last pass waits for transfers before it computes,
// in ms.
func (w *Worker) Waited() float64 {
	if w.offload == nil {
		return 0
	}
	return w.offload.waited
}

// planStore has the prompt blocks of a request that are complete and not in the
// host tier copied there when the pass ends. What is generated stays where it is.
// Where a copy still reads the memory of one of the blocks, the next pass looks at
// them again.
func (w *Worker) planStore(s *Seq, now float64) {
	o := w.offload
	n := min(s.sealed, s.Prompt/w.BlockSize)
	if n <= s.offloaded {
		return
	}
	blocks := o.cache.absent(s.Blocks[s.offloaded:n])
	if len(blocks) == 0 {
		s.offloaded = n
		return
	}
	copies := s.copiesOf(blocks)
	if o.shared == nil && w.pool.memory.busy(copies, w.pool.shift) {
		return
	}
	if !w.makeRoom(blocks, s.Blocks[s.offloaded:n], now) {
		o.stats.SkippedBlocks += int64(len(blocks))
		return
	}
	j := &store{blocks: blocks}
	if o.shared == nil {
		w.pool.memory.readBy(j, copies, w.pool.shift)
	} else {
		j.by, j.order, j.copies = o, o.shared.order(), copies
		for _, h := range copies {
			w.pool.pin(h)
		}
	}
	o.planned = append(o.planned, j)
	s.offloaded, s.stored = n, j
	o.cache.touch(s.Blocks[:s.Prompt/w.BlockSize])
}

// makeRoom begins to write blocks to the host in the place of others, if there are
// enough that can go.
func (w *Worker) makeRoom(blocks, beside []uint32, now float64) bool {
	o := w.offload
	if o.shared != nil {
		o.shared.advance(now)
	}
	evicted, ok := o.cache.write(blocks, beside, o.rank)
	o.stats.Evictions += int64(len(evicted))
	if o.shared != nil {
		o.shared.tell(evicted, false)
	} else {
		w.Events.addTier(evicted, false, OnHost)
	}
	return ok
}

// copiesOf returns the request's device copies of some of its blocks.
func (s *Seq) copiesOf(blocks []uint32) (copies []hold) {
	at := 0
	for _, h := range s.holds {
		mask := uint64(0)
		for m := h.mask; m != 0 && len(blocks) > 0; m &= m - 1 {
			if s.Blocks[at] == blocks[0] {
				mask |= m & -m
				blocks = blocks[1:]
			}
			at++
		}
		if mask != 0 {
			copies = append(copies, hold{mask: mask, extent: h.extent})
		}
	}
	return copies
}

// PassEnded starts the copies to the host of what the pass completed that ends
// at now.
func (w *Worker) PassEnded(now float64) {
	o := w.offload
	if o == nil {
		return
	}
	w.settle(now)
	for _, j := range o.planned {
		if o.shared != nil {
			o.shared.submit(o.rank, now, &job{write: true, blocks: j.blocks, order: j.order, store: j})
			continue
		}
		j.end = o.d2h.submit(now, float64(float64(len(j.blocks))*o.blockBytes))
		o.stores = append(o.stores, j)
	}
	o.planned = o.planned[:0]
	w.settle(now)
	w.Events.sealTransfers(now)
	w.level(w.pool.active(), now)
}

// preempted makes the pass wait for the last store of a request that is
// preempted.
func (o *offload) preempted(s *Seq) {
	if j := s.stored.reading(); j != nil && o.shared == nil {
		o.notBefore = max(o.notBefore, j.end)
	}
	s.rounds, s.bypass = 0, false
}

// NextTransfer returns when the worker's next transfer ends, +Inf for none.
func (w *Worker) NextTransfer() float64 {
	at := math.Inf(1)
	o := w.offload
	if o == nil {
		return at
	}
	if o.shared != nil {
		at = o.shared.next(o.rank)
	}
	if len(o.stores) > 0 {
		at = o.stores[0].end
	}
	if len(o.loads) > 0 {
		at = min(at, o.loads[0].end)
	}
	if o.disk != nil {
		at = min(at, o.disk.next())
	}
	return at
}

// Transferred does what follows from the transfers that end at now, and reports
// whether there are any.
func (w *Worker) Transferred(now float64) (any bool) {
	if !(w.NextTransfer() <= now) {
		return false
	}
	w.settle(now)
	w.Events.sealTransfers(now)
	w.level(w.pool.active(), now)
	return true
}

// settle does what follows from the transfers that have ended by now. First the
// tier has the blocks, or lets them go, in the order of the ends, then what was
// stored goes on to the disk, and at last the requests that were loaded have their
// blocks.
func (w *Worker) settle(now float64) {
	o := w.offload
	var stores []*store
	var loads []*load
	var progress bool
	if o.shared != nil {
		stores, loads, progress = w.share(now)
	} else {
		stores, loads = o.land(now)
		progress = len(stores)+len(loads) > 0
	}
	for _, j := range stores {
		j.ended = true
		o.stats.Stores++
		o.stats.StoredBlocks += int64(len(j.blocks))
		o.stats.Bytes += float64(float64(len(j.blocks)) * o.blockBytes)
		if o.shared == nil {
			w.Events.addTier(j.blocks, true, OnHost)
		}
		if o.disk != nil {
			o.toDisk(j.blocks, now)
		}
	}
	if o.disk != nil {
		progress = w.hearDisk(now) || progress
	}
	for _, l := range loads {
		o.arrive(l)
		w.loaded(l)
	}
	if progress {
		w.generation++ // a reservation may have failed for memory that was read
		o.wake()
	}
}

// land takes the transfers that have ended by now into a tier of the rank's own.
// What goes on to the disk is not dropped before.
func (o *offload) land(now float64) (stores []*store, loads []*load) {
	for {
		store := len(o.stores) > 0 && o.stores[0].end <= now
		load := len(o.loads) > 0 && o.loads[0].end <= now
		if store && load {
			store = o.stores[0].end <= o.loads[0].end
		}
		switch {
		case store:
			if o.disk != nil {
				o.cache.pin(o.stores[0].blocks)
			}
			o.cache.written(o.stores[0].blocks)
			stores, o.stores = append(stores, o.stores[0]), o.stores[1:]
		case load:
			o.cache.unpin(o.loads[0].blocks)
			loads, o.loads = append(loads, o.loads[0]), o.loads[1:]
		default:
			return stores, loads
		}
	}
}

// share returns the transfers with the shared host that have ended, and whether
// anything has happened there. The device copies of what was stored can go again.
func (w *Worker) share(now float64) (stores []*store, loads []*load, progress bool) {
	o := w.offload
	done, progress := o.shared.take(o.rank, now)
	for _, j := range done {
		switch {
		case !j.write:
			loads = append(loads, j.load)
			o.loads = slices.DeleteFunc(o.loads, func(l *load) bool { return l == j.load })
		case j.store.by == o:
			w.pool.unpin(j.store.copies)
			stores = append(stores, j.store)
		case o.disk != nil: // it was stored by an engine that is gone
			o.cache.unpin(j.blocks)
		}
	}
	return stores, loads, progress
}

// arrive notes that the blocks of a load are not on their way any more.
func (o *offload) arrive(l *load) {
	for _, b := range l.blocks {
		delete(o.fetched, b)
	}
}

// wake has every request that was overtaken looked at again.
func (o *offload) wake() {
	for _, s := range o.overtaken {
		s.asleep = false
	}
}

// loaded makes a request whose blocks have arrived ready to be scheduled.
func (w *Worker) loaded(l *load) {
	o, s := w.offload, l.seq
	w.pool.seal(s, l.blocks)
	s.loading = arrivedHere
	s.restored = s.sealed * w.BlockSize
	if s.remaining(w.MaxModelLen) > 0 {
		s.restored = min(s.restored, (s.length()-1)/w.BlockSize*w.BlockSize)
	}
	s.computed = s.restored
	o.stats.Loads++
	o.stats.LoadedBlocks += int64(len(l.blocks))
	o.stats.Bytes += float64(float64(len(l.blocks)) * o.blockBytes)
}

// Add adds the totals of another tier.
func (s *TierStats) Add(t TierStats) {
	s.Loads, s.LoadedBlocks = s.Loads+t.Loads, s.LoadedBlocks+t.LoadedBlocks
	s.Stores, s.StoredBlocks = s.Stores+t.Stores, s.StoredBlocks+t.StoredBlocks
	s.SkippedBlocks, s.Evictions = s.SkippedBlocks+t.SkippedBlocks, s.Evictions+t.Evictions
	s.Bytes += t.Bytes
	s.WaitMS += t.WaitMS
}

// abandon forgets a request that leaves the queue, and takes its load back.
func (o *offload) abandon(s *Seq, now float64) {
	o.overtaken = slices.DeleteFunc(o.overtaken, func(q *Seq) bool { return q == s })
	i := slices.IndexFunc(o.loads, func(l *load) bool { return l.seq == s })
	if i < 0 {
		return
	}
	if o.shared != nil {
		o.shared.cancel(o.rank, o.loads[i], now)
	} else {
		o.cache.unpin(o.loads[i].blocks)
	}
	o.arrive(o.loads[i])
	o.loads = slices.Delete(o.loads, i, i+1)
	o.wake()
}

// Quit takes back what the worker, which is gone, was moving between tiers that it
// shares with others.
func (w *Worker) Quit() {
	o := w.offload
	if o == nil {
		return
	}
	if o.disk != nil {
		reading := o.disk.disks.leave(o.rank)
		if o.shared != nil {
			o.cache.discard(reading)
		}
	}
	if o.shared != nil {
		for _, j := range o.planned {
			o.cache.discard(j.blocks)
		}
		o.shared.leave(o.rank)
	}
}

// HeldBelow returns how many of the leading blocks the worker could bring back from
// its host and its disk where its device holds the first found.
func (w *Worker) HeldBelow(blocks []uint32, found int32) (n int32) {
	o := w.offload
	if o == nil {
		return 0
	}
	for _, b := range blocks[found:] {
		if !o.cache.readable(b) && (o.disk == nil || !o.disk.disks.own[o.rank].cache.readable(b)) {
			break
		}
		n++
	}
	return n
}
