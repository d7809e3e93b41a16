package prefix

// LRU is an index that no worker reports to and that models each worker's
// block pool instead: blocks that running requests use stay, others are evicted
// in the order in which they were released once the pool is full.
//
// Blocks are kept as copies. A copy belongs to one place of one chain and is
// counted by the requests that use it; released copies leave by release epoch,
// deepest first. What does not fit is evicted at once, but nothing in use ever
// is, so a pool may be over its capacity.
type LRU struct {
	pools []lruPool
	spare []*Lease
}

// Lease is what one running request holds of a pool.
type Lease struct {
	pool    int32
	copies  []int32
	private int32 // 0 or 1: the incomplete last block
}

// lruPool models one worker's pool.
type lruPool struct {
	capacity int32
	copies   []blockCopy
	free     []int32            // places in copies
	byBlock  map[uint32][]int32 // copies of an identity
	idle     []idleCopy         // heap, the next to be evicted at its root; holds stale entries
	private  int32
	used     int32 // copies present
	epoch    int64
}

// blockCopy is one block of a pool.
type blockCopy struct {
	block    uint32
	position int32
	refs     int32
	stamp    int64 // epoch of the release that the heap must name
	doomed   bool  // goes with its last user
}

// idleCopy is a copy that nobody uses.
type idleCopy struct {
	epoch    int64
	position int32
	id       int32
}

func (a idleCopy) before(b idleCopy) bool {
	if a.epoch != b.epoch {
		return a.epoch < b.epoch
	}
	if a.position != b.position {
		return a.position > b.position
	}
	return a.id < b.id
}

// NewLRU returns an index of empty pools with the given capacities in blocks.
func NewLRU(capacities []int32) *LRU {
	x := &LRU{pools: make([]lruPool, len(capacities))}
	for i, c := range capacities {
		x.pools[i] = lruPool{capacity: c, byBlock: map[uint32][]int32{}}
	}
	return x
}

// Blocks returns the distinct blocks a worker is thought to hold.
func (x *LRU) Blocks(worker int32) int { return len(x.pools[worker].byBlock) }

// Match writes to depth, for every worker, the number of leading blocks it is
// thought to hold.
func (x *LRU) Match(blocks []uint32, depth []int32) {
	for w := range x.pools {
		p := &x.pools[w]
		n := 0
		for n < len(blocks) && len(p.byBlock[blocks[n]]) > 0 {
			n++
		}
		depth[w] = int32(n)
	}
}

// Acquire takes a request's prompt into a worker's pool: copies that are there
// are shared up to the first one missing, the rest is new. tail says that the
// prompt ends inside a block.
func (x *LRU) Acquire(worker int32, blocks []uint32, tail bool) *Lease {
	l := &Lease{}
	if n := len(x.spare); n > 0 {
		l = x.spare[n-1]
		x.spare = x.spare[:n-1]
	}
	p := &x.pools[worker]
	l.pool, l.copies, l.private = worker, l.copies[:0], 0
	hit := true
	for i, b := range blocks {
		if held := p.byBlock[b]; hit && len(held) > 0 {
			p.copies[held[0]].refs++
			l.copies = append(l.copies, held[0])
			continue
		}
		hit = false
		l.copies = append(l.copies, p.create(b, int32(i)))
	}
	if tail {
		l.private = 1
		p.private++
	}
	p.reconcile()
	return l
}

// Grow brings a request's lease up to date: blocks are those of prompt and
// answer that are complete and followed by another token, tail says that a
// token lies beyond them.
func (x *LRU) Grow(l *Lease, blocks []uint32, tail bool) {
	p := &x.pools[l.pool]
	for i := len(l.copies); i < len(blocks); i++ {
		l.copies = append(l.copies, p.create(blocks[i], int32(i)))
	}
	p.private -= l.private
	l.private = 0
	if tail {
		l.private = 1
	}
	p.private += l.private
	p.reconcile()
}

// Release ends a lease.
func (x *LRU) Release(l *Lease) {
	p := &x.pools[l.pool]
	p.epoch++
	p.private -= l.private
	for _, id := range l.copies {
		c := &p.copies[id]
		if c.refs--; c.refs == 0 {
			c.stamp = p.epoch
			if c.doomed {
				p.evict(id)
				continue
			}
			p.push(idleCopy{p.epoch, c.position, id})
		}
	}
	p.reconcile()
	x.spare = append(x.spare, l)
}

// create adds a copy in use.
func (p *lruPool) create(block uint32, position int32) int32 {
	c := blockCopy{block: block, position: position, refs: 1}
	var id int32
	if n := len(p.free); n > 0 {
		id = p.free[n-1]
		p.free = p.free[:n-1]
		p.copies[id] = c
	} else {
		id = int32(len(p.copies))
		p.copies = append(p.copies, c)
	}
	p.byBlock[block] = append(p.byBlock[block], id)
	p.used++
	return id
}

// reconcile evicts what nobody uses until the pool fits its capacity.
func (p *lruPool) reconcile() {
	for p.used+p.private > p.capacity && len(p.idle) > 0 {
		i := p.pop()
		c := &p.copies[i.id]
		if c.refs > 0 || c.stamp != i.epoch {
			continue // in use again, or released anew
		}
		p.evict(i.id)
	}
}

// evict drops a copy that nobody uses.
func (p *lruPool) evict(id int32) {
	c := &p.copies[id]
	c.stamp = -1
	list := p.byBlock[c.block]
	for k, other := range list {
		if other == id {
			list = append(list[:k], list[k+1:]...)
			break
		}
	}
	if len(list) == 0 {
		delete(p.byBlock, c.block)
	} else {
		p.byBlock[c.block] = list
	}
	p.free = append(p.free, id)
	p.used--
}

func (p *lruPool) push(c idleCopy) {
	h := append(p.idle, c)
	for i := len(h) - 1; i > 0; {
		up := (i - 1) / 2
		if !h[i].before(h[up]) {
			break
		}
		h[i], h[up] = h[up], h[i]
		i = up
	}
	p.idle = h
}

func (p *lruPool) pop() idleCopy {
	h := p.idle
	top, last := h[0], len(h)-1
	h[0] = h[last]
	h = h[:last]
	for i := 0; ; {
		next := 2*i + 1
		if next >= len(h) {
			break
		}
		if next+1 < len(h) && h[next+1].before(h[next]) {
			next++
		}
		if !h[next].before(h[i]) {
			break
		}
		h[i], h[next] = h[next], h[i]
		i = next
	}
	p.idle = h
	return top
}

// Purge evicts everything that nobody uses, and what is in use once it is
// released.
func (x *LRU) Purge(worker int32) {
	p := &x.pools[worker]
	was := p.capacity
	p.capacity = 0
	p.reconcile()
	p.capacity = was
	for i := range p.copies {
		p.copies[i].doomed = p.copies[i].refs > 0
	}
}
