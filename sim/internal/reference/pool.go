package reference

import "slices"

// block is one physical KV block in use or cached.
type block struct {
	id   int // identity, noID while private
	refs int // holders
}

const noID = -1

func (b *block) private() bool { return b.id == noID }

// Pool is a pool of KV blocks.
type Pool struct {
	Capacity  int
	Evictions int

	used   []*block // all blocks that are not free
	copies map[int][]*block
	lru    []*block // cached copies without holders, least recently released first
	events []Event
}

// NewPool returns an empty pool of the given number of blocks.
func NewPool(capacity int) *Pool {
	return &Pool{Capacity: capacity, copies: map[int][]*block{}}
}

// Free returns the blocks that hold nothing.
func (p *Pool) Free() int { return p.Capacity - len(p.used) }

// Active returns the blocks that somebody holds.
func (p *Pool) Active() int {
	n := 0
	for _, b := range p.used {
		if b.refs > 0 {
			n++
		}
	}
	return n
}

// Has reports whether a copy of the block is resident.
func (p *Pool) Has(id int) bool { return len(p.copies[id]) > 0 }

// Held returns how many leading blocks are resident.
func (p *Pool) Held(ids []int) int {
	for i, id := range ids {
		if !p.Has(id) {
			return i
		}
	}
	return len(ids)
}

// primary returns the oldest surviving copy, nil for none.
func (p *Pool) primary(id int) *block {
	if c := p.copies[id]; len(c) > 0 {
		return c[0]
	}
	return nil
}

// Reserve pins the hits and takes fresh blocks, evicting idle copies where the
// free ones run out. On failure nothing changes.
func (p *Pool) Reserve(hits []*block, fresh int) ([]*block, bool) {
	evict := max(0, fresh-p.Free())
	idleHits := 0
	for _, b := range hits {
		if b.refs == 0 {
			idleHits++
		}
	}
	if evict > len(p.lru)-idleHits {
		return nil, false
	}
	var got []*block
	for _, b := range hits {
		if b.refs == 0 {
			i := slices.Index(p.lru, b)
			p.lru = slices.Delete(p.lru, i, i+1)
		}
		b.refs++
		got = append(got, b)
	}
	for range evict {
		p.evict()
	}
	for range fresh {
		b := &block{id: noID, refs: 1}
		p.used = append(p.used, b)
		got = append(got, b)
	}
	return got, true
}

func (p *Pool) evict() {
	b := p.lru[0]
	p.lru = p.lru[1:]
	i := slices.Index(p.copies[b.id], b)
	p.copies[b.id] = slices.Delete(p.copies[b.id], i, i+1)
	if !p.Has(b.id) {
		p.events = append(p.events, Event{b.id, false})
	}
	p.drop(b)
	p.Evictions++
}

func (p *Pool) drop(b *block) {
	i := slices.Index(p.used, b)
	p.used = slices.Delete(p.used, i, i+1)
}

// Seal turns a private block into a cached copy of id.
func (p *Pool) Seal(b *block, id int) {
	b.id = id
	if !p.Has(id) {
		p.events = append(p.events, Event{id, true})
	}
	p.copies[id] = append(p.copies[id], b)
}

// Release gives blocks back, the last one first.
func (p *Pool) Release(blocks []*block) {
	for _, b := range slices.Backward(blocks) {
		b.refs--
		switch {
		case b.refs > 0:
		case b.private():
			p.drop(b)
		default:
			p.lru = append(p.lru, b)
		}
	}
}

// TakeEvents returns the events since the last call.
func (p *Pool) TakeEvents() []Event {
	e := p.events
	p.events = nil
	return e
}
