package prefix

import "container/list"

// Shared is the set of blocks in a cache that a whole cluster shares. It has no
// workers: a block is there or it is not. Blocks that were stored or asked for
// least recently go first.
type Shared struct {
	capacity int // blocks, 0 = without end
	blocks   map[uint32]*list.Element
	order    list.List // of blocks, the next to go at its front
}

// NewShared returns an empty set that holds at most so many blocks; 0 stands for
// no limit.
func NewShared(capacity int) *Shared {
	return &Shared{capacity: capacity, blocks: map[uint32]*list.Element{}}
}

// Blocks returns the number of blocks held.
func (x *Shared) Blocks() int { return len(x.blocks) }

// Store puts n consecutive blocks from block on into the set.
func (x *Shared) Store(block uint32, n int32) {
	for ; n > 0; n-- {
		if e := x.blocks[block]; e != nil {
			x.order.MoveToBack(e)
		} else {
			x.blocks[block] = x.order.PushBack(block)
		}
		block++
	}
	for x.capacity > 0 && len(x.blocks) > x.capacity {
		e := x.order.Front()
		delete(x.blocks, e.Value.(uint32))
		x.order.Remove(e)
	}
}

// Beyond writes to count, for every place in a prompt and for its end, how many
// of the blocks from there on are held. len(count) is one more than len(blocks).
// What is held counts as asked for, the first block last.
func (x *Shared) Beyond(blocks []uint32, count []int32) {
	count[len(blocks)] = 0
	for i := len(blocks) - 1; i >= 0; i-- {
		count[i] = count[i+1]
		if e := x.blocks[blocks[i]]; e != nil {
			x.order.MoveToBack(e)
			count[i]++
		}
	}
}
