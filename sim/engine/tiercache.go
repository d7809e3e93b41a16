package engine

import (
	"cmp"
	"maps"
	"slices"
)

// tierCache is the set of KV blocks in a tier of storage below the device's
// pool. A block that is being written or read is pinned; the others form the LRU
// order. Blocks that a transfer lets go together enter it in the order of their
// hashes, as in Dynamo's replay, which keeps them in an ordered set.
type tierCache struct {
	capacity int
	hash     func(block uint32) uint64
	entries  map[uint32]*tierBlock
	lru      tierBlock // ring: lru.next is the least recently used
	idle     int       // blocks in the ring
	coming   int       // blocks that are being written
	mark     int64     // of the blocks that stay for the write being made
}

// tierBlock is a block of a tier.
type tierBlock struct {
	block      uint32
	writing    bool
	pins       int32 // transfers that read it
	writer     int32 // the worker that it came from
	mark       int64
	prev, next *tierBlock // LRU neighbours, nil while pinned
}

func newTierCache(capacity int32, hash func(uint32) uint64) *tierCache {
	c := &tierCache{capacity: int(capacity), hash: hash, entries: map[uint32]*tierBlock{}}
	c.lru.prev, c.lru.next = &c.lru, &c.lru
	return c
}

// readable reports whether a block is in the tier, completely.
func (c *tierCache) readable(block uint32) bool {
	b := c.entries[block]
	return b != nil && !b.writing
}

// leading returns how many of the leading blocks are in the tier, and whether
// one of them is still being written.
func (c *tierCache) leading(blocks []uint32) (n int, writing bool) {
	for n < len(blocks) {
		b := c.entries[blocks[n]]
		if b == nil {
			break
		}
		writing = writing || b.writing
		n++
	}
	return n, writing
}

// touch makes blocks the most recently used ones, the first of them last.
func (c *tierCache) touch(blocks []uint32) {
	for i := len(blocks) - 1; i >= 0; i-- {
		if b := c.entries[blocks[i]]; b != nil && b.next != nil {
			c.take(b)
			c.rest(b)
		}
	}
}

// absent returns the blocks that are not in the tier, not even half written.
func (c *tierCache) absent(blocks []uint32) (list []uint32) {
	for _, b := range blocks {
		if c.entries[b] == nil {
			list = append(list, b)
		}
	}
	return list
}

// most returns how many blocks could be written beside others that stay.
func (c *tierCache) most(beside []uint32) int {
	n := c.capacity - len(c.entries) + c.idle
	for _, b := range beside {
		if e := c.entries[b]; e != nil && e.next != nil {
			n--
		}
	}
	return n
}

// room returns the blocks that a write of n would drop. What belongs beside
// them stays; not ok where the other idle blocks are too few.
func (c *tierCache) room(n int, beside []uint32) (evicted []uint32, ok bool) {
	excess := len(c.entries) + n - c.capacity
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
	return evicted, len(evicted) >= excess
}

// write makes room for new blocks and pins them until written. Where there is
// none nothing changes. It returns the blocks that went.
func (c *tierCache) write(blocks, beside []uint32, writer int32) (evicted []uint32, ok bool) {
	if evicted, ok = c.room(len(blocks), beside); !ok {
		return nil, false
	}
	for _, b := range evicted {
		c.take(c.entries[b])
		delete(c.entries, b)
	}
	for _, b := range blocks {
		c.entries[b] = &tierBlock{block: b, writing: true, writer: writer}
	}
	c.coming += len(blocks)
	return evicted, true
}

// written unpins blocks that have been written.
func (c *tierCache) written(blocks []uint32) {
	c.coming -= len(blocks)
	for _, b := range c.inOrder(blocks) {
		e := c.entries[b]
		if e.writing = false; e.pins == 0 {
			c.rest(e)
		}
	}
}

// discard takes half written blocks out again.
func (c *tierCache) discard(blocks []uint32) {
	c.coming -= len(blocks)
	for _, b := range blocks {
		delete(c.entries, b)
	}
}

// pin keeps blocks until unpin.
func (c *tierCache) pin(blocks []uint32) {
	for _, b := range blocks {
		e := c.entries[b]
		if e.pins++; e.next != nil {
			c.take(e)
		}
	}
}

// unpin is the opposite of pin.
func (c *tierCache) unpin(blocks []uint32) {
	for _, b := range c.inOrder(blocks) {
		e := c.entries[b]
		if e.pins--; e.pins == 0 {
			c.rest(e)
		}
	}
}

// content returns the blocks that can be read, in order.
func (c *tierCache) content() []uint32 {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(c.entries)), func(b uint32) bool { return !c.readable(b) })
}

// inOrder returns the blocks by hash.
func (c *tierCache) inOrder(blocks []uint32) []uint32 {
	list := slices.Clone(blocks)
	slices.SortFunc(list, func(a, b uint32) int { return cmp.Compare(c.hash(a), c.hash(b)) })
	return list
}

// rest puts a block at the most recent end of the LRU order.
func (c *tierCache) rest(b *tierBlock) {
	b.prev, b.next = c.lru.prev, &c.lru
	b.prev.next, c.lru.prev = b, b
	c.idle++
}

// take takes a block out of the LRU order.
func (c *tierCache) take(b *tierBlock) {
	b.prev.next, b.next.prev = b.next, b.prev
	b.prev, b.next = nil, nil
	c.idle--
}
