package engine

import (
	"cmp"
	"slices"
)

// hostCache is the set of KV blocks in a tier of storage below the device's
// pool. A block that is being written or read is pinned; the others form the LRU
// order. Blocks that a transfer lets go together enter it in the order of their
// hashes, as in Dynamo's replay, which keeps them in an ordered set.
type hostCache struct {
	capacity int
	hash     func(block uint32) uint64
	entries  map[uint32]*hostBlock
	lru      hostBlock // ring: lru.next is the least recently used
	idle     int       // blocks in the ring
	mark     int64     // of the blocks that stay for the write being made
}

// hostBlock is a block of a tier.
type hostBlock struct {
	block      uint32
	writing    bool
	readers    int32
	mark       int64
	prev, next *hostBlock // LRU neighbours, nil while pinned
}

func newHostCache(capacity int32, hash func(uint32) uint64) *hostCache {
	c := &hostCache{capacity: int(capacity), hash: hash, entries: map[uint32]*hostBlock{}}
	c.lru.prev, c.lru.next = &c.lru, &c.lru
	return c
}

// leading returns how many of the leading blocks can be read, and whether the
// next one is still being written.
func (c *hostCache) leading(blocks []uint32) (n int, writing bool) {
	for n < len(blocks) {
		b := c.entries[blocks[n]]
		if b == nil || b.writing {
			return n, b != nil
		}
		n++
	}
	return n, false
}

// anyRead reports whether one of the blocks is being read.
func (c *hostCache) anyRead(blocks []uint32) bool {
	return slices.ContainsFunc(blocks, func(b uint32) bool { return c.entries[b].readers > 0 })
}

// touch makes blocks the most recently used ones, the first of them last.
func (c *hostCache) touch(blocks []uint32) {
	for i := len(blocks) - 1; i >= 0; i-- {
		if b := c.entries[blocks[i]]; b != nil && b.next != nil {
			c.take(b)
			c.rest(b)
		}
	}
}

// absent returns the blocks that are not in the tier, not even half written.
func (c *hostCache) absent(blocks []uint32) (list []uint32) {
	for _, b := range blocks {
		if c.entries[b] == nil {
			list = append(list, b)
		}
	}
	return list
}

// write makes room for new blocks and pins them until written. What belongs
// beside them stays; where the other idle blocks are too few nothing changes. It
// returns the blocks that went.
func (c *hostCache) write(blocks, beside []uint32) (evicted []uint32, ok bool) {
	excess := len(c.entries) + len(blocks) - c.capacity
	c.mark++
	for _, b := range beside {
		if e := c.entries[b]; e != nil {
			e.mark = c.mark
		}
	}
	for b := c.lru.next; b != &c.lru && len(evicted) < excess; b = b.next {
		if b.mark != c.mark {
			evicted = append(evicted, b.block)
		}
	}
	if len(evicted) < excess {
		return nil, false
	}
	for _, b := range evicted {
		c.take(c.entries[b])
		delete(c.entries, b)
	}
	for _, b := range blocks {
		c.entries[b] = &hostBlock{block: b, writing: true}
	}
	return evicted, true
}

// written unpins blocks that have been written.
func (c *hostCache) written(blocks []uint32) {
	for _, b := range c.inOrder(blocks) {
		e := c.entries[b]
		e.writing = false
		c.rest(e)
	}
}

// read pins blocks until they have been read.
func (c *hostCache) read(blocks []uint32) {
	for _, b := range blocks {
		e := c.entries[b]
		if e.readers++; e.readers == 1 {
			c.take(e)
		}
	}
}

// done unpins blocks that have been read.
func (c *hostCache) done(blocks []uint32) {
	for _, b := range c.inOrder(blocks) {
		e := c.entries[b]
		if e.readers--; e.readers == 0 {
			c.rest(e)
		}
	}
}

// inOrder returns the blocks by hash.
func (c *hostCache) inOrder(blocks []uint32) []uint32 {
	list := slices.Clone(blocks)
	slices.SortFunc(list, func(a, b uint32) int { return cmp.Compare(c.hash(a), c.hash(b)) })
	return list
}

// rest puts a block at the most recent end of the LRU order.
func (c *hostCache) rest(b *hostBlock) {
	b.prev, b.next = c.lru.prev, &c.lru
	b.prev.next, c.lru.prev = b, b
	c.idle++
}

// take takes a block out of the LRU order.
func (c *hostCache) take(b *hostBlock) {
	b.prev.next, b.next.prev = b.next, b.prev
	b.prev, b.next = nil, nil
	c.idle--
}
