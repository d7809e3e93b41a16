package engine

import "routesim/sim/prefix"

const (
	noSlot  = int32(-1)
	private = ^uint32(0) // identity of a block that is not (yet) shareable
)

// pool is a worker's KV block pool. A physical block (a slot) is free, private
// to one request, or a cached copy of an identity with a reference count;
// cached copies without references form the LRU list. Several copies of one
// identity may exist, each taking capacity: they come from recomputed last
// blocks and from requests admitted before the first copy did. Lookups use the
// oldest surviving copy.
type pool struct {
	shift uint8 // blocks of a prefix node: 1<<shift

	slots []slot
	free  []int32
	idle  int32 // length of the LRU list
	total int32 // blocks; also the slot at which the LRU list begins and ends

	// Blocks come node by node: the last node sealed or evicted and its entry,
	// -1 for none.
	lastNode  uint32
	lastEntry int32
	nodes     *prefix.NodeMap
	primary   []int32 // node entry, block in node: oldest copy
	copies    []int32 // node entry: cached copies of its blocks

	evictions int64
	events    *Events
}

// slot is one physical block.
type slot struct {
	id   uint32 // identity, or private
	ref  int32
	prev int32 // LRU neighbours
	next int32
	twin int32 // the next younger copy of the same identity
}

func newPool(capacity int32, shift uint8, events *Events) *pool {
	p := &pool{
		shift: shift, total: capacity, events: events,
		slots: make([]slot, capacity+1), free: make([]int32, capacity), nodes: prefix.NewNodeMap(), lastEntry: -1,
	}
	for i := range p.free {
		p.free[i] = capacity - 1 - int32(i)
	}
	p.slots[capacity].prev, p.slots[capacity].next = capacity, capacity
	return p
}

// active returns the blocks that somebody holds.
func (p *pool) active() int32 { return p.total - int32(len(p.free)) - p.idle }

// lookup walks the leading blocks that are cached and appends their oldest
// copies to hits. It also counts those among them that are in use, and those
// that are idle.
func (p *pool) lookup(blocks []uint32, hits []int32) (out []int32, inUse int32) {
	node, e := ^uint32(0), int32(-1)
	for _, b := range blocks {
		if b>>p.shift != node {
			node = b >> p.shift
			if e = p.nodes.Find(node); e < 0 {
				break
			}
		}
		s := p.primary[p.at(e, b)]
		if s == noSlot {
			break
		}
		if p.slots[s].ref > 0 {
			inUse++
		}
		hits = append(hits, s)
	}
	return hits, inUse
}

// held returns the number of leading blocks that are cached.
func (p *pool) held(blocks []uint32) int32 {
	node, e := ^uint32(0), int32(-1)
	for i, b := range blocks {
		if b>>p.shift != node {
			node = b >> p.shift
			if e = p.nodes.Find(node); e < 0 {
				return int32(i)
			}
		}
		if p.primary[p.at(e, b)] == noSlot {
			return int32(i)
		}
	}
	return int32(len(blocks))
}

func (p *pool) at(entry int32, block uint32) int {
	return int(entry)<<p.shift + int(block&(1<<p.shift-1))
}

// reserve pins the hits and takes fresh private blocks, evicting the least
// recently released copies where free blocks run out. It appends all of them
// to blocks and reports success; on failure nothing changed.
func (p *pool) reserve(blocks, hits []int32, fresh int32) ([]int32, bool) {
	evict := max(0, fresh-int32(len(p.free)))
	if evict > 0 {
		idleHits := int32(0)
		for _, s := range hits {
			if p.slots[s].ref == 0 {
				idleHits++
			}
		}
		if evict > p.idle-idleHits {
			return blocks, false
		}
	}
	for _, s := range hits {
		if p.slots[s].ref == 0 {
			p.unlink(s)
		}
		p.slots[s].ref++
		blocks = append(blocks, s)
	}
	for ; evict > 0; evict-- {
		p.evict()
	}
	for ; fresh > 0; fresh-- {
		s := p.free[len(p.free)-1]
		p.free = p.free[:len(p.free)-1]
		p.slots[s].id, p.slots[s].ref = private, 1
		blocks = append(blocks, s)
	}
	return blocks, true
}

// seal turns a private block whose content is complete into a cached copy.
func (p *pool) seal(s int32, block uint32) {
	p.slots[s].id, p.slots[s].twin = block, noSlot
	node := block >> p.shift
	e := p.entry(node)
	if e < 0 {
		e = p.addNode(node)
	}
	p.copies[e]++
	at := &p.primary[p.at(e, block)]
	if *at == noSlot {
		*at = s
		p.events.add(block, true)
		return
	}
	last := *at
	for p.slots[last].twin != noSlot {
		last = p.slots[last].twin
	}
	p.slots[last].twin = s
}

// entry returns the entry of a node, -1 where none of its blocks is cached.
func (p *pool) entry(node uint32) int32 {
	if p.lastEntry < 0 || p.lastNode != node {
		p.lastNode, p.lastEntry = node, p.nodes.Find(node)
	}
	return p.lastEntry
}

func (p *pool) addNode(node uint32) int32 {
	e := p.nodes.Insert(node)
	p.lastNode, p.lastEntry = node, e
	if need := (int(e) + 1) << p.shift; need > len(p.primary) {
		for len(p.primary) < need {
			p.primary = append(p.primary, noSlot)
		}
		p.copies = append(p.copies, 0)
	}
	return e
}

// evict drops the least recently released copy.
func (p *pool) evict() {
	s := p.slots[p.total].next // least recently released
	p.unlink(s)
	p.free = append(p.free, s)
	p.evictions++
	block := p.slots[s].id
	node := block >> p.shift
	e := p.entry(node)
	at := &p.primary[p.at(e, block)]
	if *at == s {
		*at = p.slots[s].twin
	} else {
		older := *at
		for p.slots[older].twin != s {
			older = p.slots[older].twin
		}
		p.slots[older].twin = p.slots[s].twin
	}
	if *at == noSlot {
		p.events.add(block, false)
	}
	if p.copies[e]--; p.copies[e] == 0 {
		p.nodes.Delete(node)
		p.lastEntry = -1
	}
}

// release gives back a request's blocks, the last one first, so that the tail
// of a prompt is evicted before its shared head.
func (p *pool) release(blocks []int32) {
	slots, last := p.slots, p.total
	for i := len(blocks) - 1; i >= 0; i-- {
		s := blocks[i]
		x := &slots[s]
		if x.id == private {
			p.free = append(p.free, s)
			continue
		}
		if x.ref--; x.ref == 0 {
			tail := slots[last].prev
			x.prev, x.next = tail, last
			slots[tail].next, slots[last].prev = s, s
			p.idle++
		}
	}
}

// unlink takes an idle copy out of the LRU list.
func (p *pool) unlink(s int32) {
	x := &p.slots[s]
	p.slots[x.prev].next, p.slots[x.next].prev = x.next, x.prev
	p.idle--
}
