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

	id    []uint32 // by slot: identity, or private
	ref   []int32  // by slot
	prev  []int32  // by slot: LRU neighbours
	next  []int32
	twin  []int32 // by slot: the next younger copy of the same identity
	free  []int32
	head  int32 // least recently released
	tail  int32
	idle  int32 // length of the LRU list
	total int32

	nodes   *prefix.NodeMap
	primary []int32 // node entry, block in node: oldest copy
	copies  []int32 // node entry: cached copies of its blocks

	evictions int64
	events    *Events
}

func newPool(capacity int32, shift uint8, events *Events) *pool {
	p := &pool{
		shift: shift, total: capacity, head: noSlot, tail: noSlot, events: events,
		id: make([]uint32, capacity), ref: make([]int32, capacity),
		prev: make([]int32, capacity), next: make([]int32, capacity), twin: make([]int32, capacity),
		free: make([]int32, capacity), nodes: prefix.NewNodeMap(),
	}
	for i := range p.free {
		p.free[i] = capacity - 1 - int32(i)
	}
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
		if p.ref[s] > 0 {
			inUse++
		}
		hits = append(hits, s)
	}
	return hits, inUse
}

// Held returns the number of leading blocks that are cached.
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
			if p.ref[s] == 0 {
				idleHits++
			}
		}
		if evict > p.idle-idleHits {
			return blocks, false
		}
	}
	for _, s := range hits {
		if p.ref[s] == 0 {
			p.unlink(s)
		}
		p.ref[s]++
		blocks = append(blocks, s)
	}
	for ; evict > 0; evict-- {
		p.evict()
	}
	for ; fresh > 0; fresh-- {
		s := p.free[len(p.free)-1]
		p.free = p.free[:len(p.free)-1]
		p.id[s], p.ref[s] = private, 1
		blocks = append(blocks, s)
	}
	return blocks, true
}

// seal turns a private block whose content is complete into a cached copy.
func (p *pool) seal(s int32, block uint32) {
	p.id[s], p.twin[s] = block, noSlot
	node := block >> p.shift
	e := p.nodes.Find(node)
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
	for p.twin[last] != noSlot {
		last = p.twin[last]
	}
	p.twin[last] = s
}

func (p *pool) addNode(node uint32) int32 {
	e := p.nodes.Insert(node)
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
	s := p.head
	p.unlink(s)
	p.free = append(p.free, s)
	p.evictions++
	block := p.id[s]
	node := block >> p.shift
	e := p.nodes.Find(node)
	at := &p.primary[p.at(e, block)]
	if *at == s {
		*at = p.twin[s]
	} else {
		older := *at
		for p.twin[older] != s {
			older = p.twin[older]
		}
		p.twin[older] = p.twin[s]
	}
	if *at == noSlot {
		p.events.add(block, false)
	}
	if p.copies[e]--; p.copies[e] == 0 {
		p.nodes.Delete(node)
	}
}

// release gives back a request's blocks, the last one first, so that the tail
// of a prompt is evicted before its shared head.
func (p *pool) release(blocks []int32) {
	for i := len(blocks) - 1; i >= 0; i-- {
		s := blocks[i]
		if p.id[s] == private {
			p.free = append(p.free, s)
			continue
		}
		if p.ref[s]--; p.ref[s] == 0 {
			p.prev[s], p.next[s] = p.tail, noSlot
			if p.tail == noSlot {
				p.head = s
			} else {
				p.next[p.tail] = s
			}
			p.tail = s
			p.idle++
		}
	}
}

// unlink takes an idle copy out of the LRU list.
func (p *pool) unlink(s int32) {
	if p.prev[s] == noSlot {
		p.head = p.next[s]
	} else {
		p.next[p.prev[s]] = p.next[s]
	}
	if p.next[s] == noSlot {
		p.tail = p.prev[s]
	} else {
		p.prev[p.next[s]] = p.prev[s]
	}
	p.idle--
}
