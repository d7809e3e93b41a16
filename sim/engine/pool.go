package engine

import (
	"math/bits"

	"routesim/sim/prefix"
)

const none = int32(-1)

// pool is a worker's KV block pool. A physical block is free, private to one
// request, or a cached copy of an identity with a reference count; cached
// copies without references form the LRU order. Several copies of one identity
// may exist, each taking capacity: they come from recomputed last blocks and
// from requests admitted before the first copy did. Lookups use the oldest
// surviving copy.
//
// Blocks come and go in stretches: a request computes, holds and releases the
// blocks of a node together. So the pool keeps no record per block. The copies
// that one request made of a node's blocks are an extent, the copies of an
// extent that were released together are an idle stretch, and masks over the
// node's blocks say which. Nothing names physical blocks; they are counted.
type pool struct {
	shift uint8 // blocks of a node: 1<<shift
	total int32 // capacity
	free  int32
	idle  int32 // cached copies without references

	nodes   *prefix.NodeMap // its entries index first
	first   []int32         // by node entry: the node's oldest extent
	extents []extent
	refs    []uint32 // by extent and block in node
	idles   []stretch
	spareX  []int32 // extents to reuse
	spareI  []int32 // idle stretches to reuse

	evictions int64
	events    *Events
	memory    *memory // nil without lower tiers
}

// extent is a set of copies of one node's blocks, made by one request.
type extent struct {
	mask  uint64 // copies that exist
	node  uint32
	entry int32 // of the node
	next  int32 // the next younger extent of the node
	idle  int32 // its idle stretches
}

// stretch is a part of an extent that was released together: an element of the
// LRU list. Its highest block is the least recently released.
type stretch struct {
	mask       uint64
	extent     int32
	prev, next int32 // LRU neighbours
	sibling    int32 // another idle stretch of the extent
}

// hold is a request's claim on copies of an extent.
type hold struct {
	mask   uint64
	extent int32
	own    bool // the request made the extent
}

func newPool(capacity int32, shift uint8, events *Events) *pool {
	shift = min(shift, prefix.MaxShift)
	full := min(capacity>>shift, roomAtFirst) // extents of a full pool, if all are whole
	return &pool{
		shift: shift, total: capacity, free: capacity, events: events, nodes: prefix.NewNodeMap(),
		first: make([]int32, 0, full), extents: make([]extent, 0, full), refs: make([]uint32, 0, full<<shift),
		idles: make([]stretch, 1, full+1), // element 0 begins and ends the LRU list
	}
}

// roomAtFirst bounds the extents that a new pool makes room for.
const roomAtFirst = 1 << 12

// active returns the blocks that somebody holds.
func (p *pool) active() int32 { return p.total - p.free - p.idle }

// run returns the node of the first of blocks, the mask of its leading blocks
// that lie in that node one after the other, and their number.
func (p *pool) run(blocks []uint32) (node uint32, mask uint64, n int) {
	first := blocks[0]
	node = first >> p.shift
	sub := first & (1<<p.shift - 1)
	limit := min(len(blocks), 1<<p.shift-int(sub))
	for n = 1; n < limit && blocks[n] == first+uint32(n); n++ {
	}
	return node, (^uint64(0) >> (64 - n)) << sub, n
}

// held returns the number of leading blocks that are cached.
func (p *pool) held(blocks []uint32) (total int32) {
	for len(blocks) > 0 {
		node, mask, n := p.run(blocks)
		e := p.nodes.Find(node)
		if e < 0 {
			return total
		}
		have := leading(mask, p.present(p.first[e]))
		total += int32(bits.OnesCount64(have))
		if have != mask {
			return total
		}
		blocks = blocks[n:]
	}
	return total
}

// present returns the blocks with a copy in extent x or a younger one.
func (p *pool) present(x int32) (mask uint64) {
	for ; x != none; x = p.extents[x].next {
		mask |= p.extents[x].mask
	}
	return mask
}

// leading returns the low bits of mask up to the first that present lacks.
func leading(mask, present uint64) uint64 {
	missing := mask &^ present
	if missing == 0 {
		return mask
	}
	return mask & (missing&-missing - 1)
}

// lookup walks the leading blocks that are cached and appends claims on their
// oldest copies to hits. It also counts the blocks, and those among them that
// are in use.
func (p *pool) lookup(blocks []uint32, hits []hold) (out []hold, found, inUse int32) {
	for len(blocks) > 0 {
		node, mask, n := p.run(blocks)
		e := p.nodes.Find(node)
		if e < 0 {
			break
		}
		have := leading(mask, p.present(p.first[e]))
		found += int32(bits.OnesCount64(have))
		for rest := have; rest != 0; {
			x, part := p.oldest(p.first[e], rest)
			inUse += p.referenced(x, part)
			hits = append(hits, hold{mask: part, extent: x})
			rest &^= part
		}
		if have != mask {
			break
		}
		blocks = blocks[n:]
	}
	return hits, found, inUse
}

// oldest returns the extent with the oldest copy of the lowest block in want,
// and the blocks after it whose oldest copies are there too.
func (p *pool) oldest(x int32, want uint64) (extent int32, part uint64) {
	low := want & -want
	younger := ^uint64(0)
	for p.extents[x].mask&low == 0 {
		younger &^= p.extents[x].mask
		x = p.extents[x].next
	}
	return x, leading(want, p.extents[x].mask&younger)
}

// referenced counts the copies in part that have references.
func (p *pool) referenced(x int32, part uint64) (n int32) {
	refs := p.refs[int(x)<<p.shift:]
	for ; part != 0; part &= part - 1 {
		if refs[bits.TrailingZeros64(part)] > 0 {
			n++
		}
	}
	return n
}

// trim takes the last block off a list of claims.
func trim(hits []hold) []hold {
	last := &hits[len(hits)-1]
	last.mask &^= 1 << (63 - bits.LeadingZeros64(last.mask))
	if last.mask == 0 {
		return hits[:len(hits)-1]
	}
	return hits
}

// reserve pins the hits for a request and takes fresh private blocks, evicting
// the least recently released copies where free blocks run out. It reports
// success; on failure nothing changed.
func (p *pool) reserve(s *Seq, hits []hold, fresh int32) bool {
	evict := max(0, fresh-p.free)
	if evict > 0 {
		pinned := int32(0)
		for _, h := range hits {
			pinned += int32(bits.OnesCount64(h.mask)) - p.referenced(h.extent, h.mask)
		}
		if evict > p.idle-pinned {
			return false
		}
	}
	for _, h := range hits {
		p.pin(h)
		s.holds = append(s.holds, h)
		s.sealed += int32(bits.OnesCount64(h.mask))
	}
	if p.memory != nil {
		p.memory.draw(fresh - evict)
	}
	p.evict(evict)
	if p.memory != nil {
		p.memory.give(s)
	}
	p.free -= fresh
	s.private += fresh
	return true
}

// pin adds a reference to the copies of a claim.
func (p *pool) pin(h hold) {
	refs := p.refs[int(h.extent)<<p.shift:]
	woken := uint64(0)
	for m := h.mask; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m)
		if refs[i]++; refs[i] == 1 {
			woken |= 1 << i
		}
	}
	p.idle -= int32(bits.OnesCount64(woken))
	for at := &p.extents[h.extent].idle; woken != 0; {
		i := *at
		woken, p.idles[i].mask = woken&^p.idles[i].mask, p.idles[i].mask&^woken
		if p.idles[i].mask == 0 {
			*at = p.idles[i].sibling
			p.unlink(i)
		} else {
			at = &p.idles[i].sibling
		}
	}
}

// seal turns the next private blocks of a request, whose contents are complete,
// into cached copies of the given identities.
func (p *pool) seal(s *Seq, blocks []uint32) {
	s.private -= int32(len(blocks))
	s.sealed += int32(len(blocks))
	for len(blocks) > 0 {
		node, mask, n := p.run(blocks)
		e := p.nodes.Find(node)
		if e < 0 {
			e = p.addNode(node)
		}
		before := p.present(p.first[e])
		x := p.extentOf(s, e, node, mask)
		p.extents[x].mask |= mask
		refs := p.refs[int(x)<<p.shift:]
		for m := mask; m != 0; m &= m - 1 {
			refs[bits.TrailingZeros64(m)] = 1
		}
		if p.memory != nil {
			p.memory.fill(s, x, mask, p.shift)
		}
		p.events.addMask(node<<p.shift, mask&^before, true)
		blocks = blocks[n:]
	}
}

// extentOf returns the extent that takes new copies of a request: the one it
// made last if that is the node's youngest, so that ages stay in order;
// otherwise a new one.
func (p *pool) extentOf(s *Seq, entry int32, node uint32, mask uint64) int32 {
	last := none
	for x := p.first[entry]; x != none; x = p.extents[x].next {
		last = x
	}
	if k := len(s.holds) - 1; k >= 0 && s.holds[k].own && s.holds[k].extent == last {
		s.holds[k].mask |= mask
		return last
	}
	x := p.newExtent(node, entry)
	if last == none {
		p.first[entry] = x
	} else {
		p.extents[last].next = x
	}
	s.holds = append(s.holds, hold{mask: mask, extent: x, own: true})
	return x
}

func (p *pool) newExtent(node uint32, entry int32) int32 {
	x := int32(len(p.extents))
	if n := len(p.spareX); n > 0 {
		x = p.spareX[n-1]
		p.spareX = p.spareX[:n-1]
	} else {
		p.extents = append(p.extents, extent{})
		p.refs = append(p.refs, make([]uint32, 1<<p.shift)...)
	}
	p.extents[x] = extent{node: node, entry: entry, next: none, idle: none}
	return x
}

func (p *pool) addNode(node uint32) int32 {
	e := p.nodes.Insert(node)
	if int(e) == len(p.first) {
		p.first = append(p.first, none)
	}
	return e
}

// evict drops the n least recently released copies.
func (p *pool) evict(n int32) {
	p.evictions += int64(n)
	p.free += n
	p.idle -= n
	for n > 0 {
		i := p.idles[0].next
		st := &p.idles[i]
		gone := st.mask
		if k := int32(bits.OnesCount64(gone)); k <= n {
			n -= k
			p.dropIdle(i)
		} else {
			for ; n > 0; n-- {
				st.mask &^= 1 << (63 - bits.LeadingZeros64(st.mask))
			}
			gone &^= st.mask
		}
		p.forget(st.extent, gone)
	}
}

// dropIdle takes an idle stretch off its extent and the LRU list.
func (p *pool) dropIdle(i int32) {
	at := &p.extents[p.idles[i].extent].idle
	for *at != i {
		at = &p.idles[*at].sibling
	}
	*at = p.idles[i].sibling
	p.unlink(i)
}

// forget removes copies from an extent, and from the node what has no other.
func (p *pool) forget(x int32, gone uint64) {
	ext := &p.extents[x]
	ext.mask &^= gone
	if p.memory != nil {
		p.memory.vacate(x, gone, p.shift)
	}
	e := ext.entry
	gone &^= p.present(p.first[e])
	p.events.addMask(ext.node<<p.shift, gone, false)
	if ext.mask == 0 {
		p.dropExtent(e, x)
		if p.first[e] == none {
			p.nodes.Delete(ext.node)
		}
	}
}

func (p *pool) dropExtent(entry, x int32) {
	at := &p.first[entry]
	for *at != x {
		at = &p.extents[*at].next
	}
	*at = p.extents[x].next
	p.spareX = append(p.spareX, x)
}

// release gives back a request's blocks, the last one first, so that the tail
// of a prompt is evicted before its shared head.
func (p *pool) release(s *Seq) {
	if p.memory != nil {
		p.memory.giveBack(s)
	}
	p.free += s.private
	p.unpin(s.holds)
	s.holds, s.private, s.sealed = s.holds[:0], 0, 0
}

// unpin takes references from the copies of claims, from the last one on.
func (p *pool) unpin(holds []hold) {
	for k := len(holds) - 1; k >= 0; k-- {
		h := &holds[k]
		refs := p.refs[int(h.extent)<<p.shift:]
		left := uint64(0)
		for m := h.mask; m != 0; m &= m - 1 {
			i := bits.TrailingZeros64(m)
			if refs[i]--; refs[i] == 0 {
				left |= 1 << i
			}
		}
		if left != 0 {
			p.rest(h.extent, left)
		}
	}
}

// rest puts copies at the most recent end of the LRU list.
func (p *pool) rest(x int32, mask uint64) {
	i := int32(len(p.idles))
	if n := len(p.spareI); n > 0 {
		i = p.spareI[n-1]
		p.spareI = p.spareI[:n-1]
	} else {
		p.idles = append(p.idles, stretch{})
	}
	tail := p.idles[0].prev
	p.idles[i] = stretch{mask: mask, extent: x, prev: tail, sibling: p.extents[x].idle}
	p.idles[tail].next, p.idles[0].prev = i, i
	p.extents[x].idle = i
	p.idle += int32(bits.OnesCount64(mask))
}

// unlink takes a stretch out of the LRU list.
func (p *pool) unlink(i int32) {
	st := &p.idles[i]
	p.idles[st.prev].next, p.idles[st.next].prev = st.next, st.prev
	p.spareI = append(p.spareI, i)
}
