package prefix

import "math/bits"

// Index records which workers hold which blocks, as one bit per worker and
// block, and answers how long a prefix each worker holds.
//
// It is the simple model of a KV-event index: a worker holds a set of blocks,
// and its overlap with a prompt is the number of leading prompt blocks in the
// set. It equals the tree of Dynamo's indexer as long as a block is stored
// after its predecessor and removed before it, which the engine guarantees.
type Index struct {
	shift uint8
	words int // 64-bit words per block
	nodes *NodeMap
	bits  []uint64 // entry, block in node, word
	held  []int32  // set bits by entry
	alive []uint64 // scratch of Match
}

// NewIndex returns an empty index for a number of workers, over blocks of which
// 1<<shift form a node.
func NewIndex(workers int, shift uint8) *Index {
	words := (workers + 63) / 64
	return &Index{shift: shift, words: words, nodes: NewNodeMap(), alive: make([]uint64, words)}
}

// Blocks returns the number of (block, worker) pairs held.
func (x *Index) Blocks() int {
	n := 0
	for _, h := range x.held {
		n += int(h)
	}
	return n
}

// Set records that worker holds n consecutive blocks from block on.
func (x *Index) Set(worker int32, block uint32, n int32) {
	for n > 0 {
		part := x.inNode(block, n)
		node := block >> x.shift
		e := x.nodes.Find(node)
		if e < 0 {
			e = x.nodes.Insert(node)
			if need := (int(e) + 1) * x.words << x.shift; need > len(x.bits) {
				x.bits = append(x.bits, make([]uint64, need-len(x.bits))...)
				x.held = append(x.held, make([]int32, int(e)+1-len(x.held))...)
			}
		}
		bit, at := uint64(1)<<(worker&63), x.at(e, block)+int(worker>>6)
		for range part {
			if x.bits[at]&bit == 0 {
				x.bits[at] |= bit
				x.held[e]++
			}
			at += x.words
		}
		block, n = block+uint32(part), n-part
	}
}

// Clear records that worker no longer holds n consecutive blocks from block on.
func (x *Index) Clear(worker int32, block uint32, n int32) {
	for n > 0 {
		part := x.inNode(block, n)
		node := block >> x.shift
		if e := x.nodes.Find(node); e >= 0 {
			bit, at := uint64(1)<<(worker&63), x.at(e, block)+int(worker>>6)
			for range part {
				if x.bits[at]&bit != 0 {
					x.bits[at] &^= bit
					x.held[e]--
				}
				at += x.words
			}
			if x.held[e] == 0 {
				x.nodes.Delete(node)
			}
		}
		block, n = block+uint32(part), n-part
	}
}

// inNode returns how many of n blocks from block on lie in its node.
func (x *Index) inNode(block uint32, n int32) int32 {
	return min(n, int32(1<<x.shift)-int32(block&(1<<x.shift-1)))
}

// at returns the place of block's first word, given its node's entry.
func (x *Index) at(entry int32, block uint32) int {
	sub := int(block & (1<<x.shift - 1))
	return (int(entry)<<x.shift + sub) * x.words
}

// Match writes to depth, for every worker, the number of leading blocks it
// holds. len(depth) is the number of workers.
func (x *Index) Match(blocks []uint32, depth []int32) {
	clear(depth)
	if x.words == 1 {
		x.match1(blocks, depth)
		return
	}
	for i := range x.alive {
		x.alive[i] = ^uint64(0)
	}
	for pos, b := range blocks {
		e := x.nodes.Find(b >> x.shift)
		if e < 0 {
			x.close(int32(pos), depth)
			return
		}
		any, row := uint64(0), x.bits[x.at(e, b):][:x.words]
		for i, w := range row {
			if pos > 0 {
				closeWord(x.alive[i]&^w, i, int32(pos), depth)
			}
			x.alive[i] &= w
			any |= x.alive[i]
		}
		if any == 0 {
			return
		}
	}
	x.close(int32(len(blocks)), depth)
}

func (x *Index) match1(blocks []uint32, depth []int32) {
	alive := ^uint64(0)
	node, e := ^uint32(0), int32(-1)
	for pos, b := range blocks {
		if b>>x.shift != node {
			node = b >> x.shift
			if e = x.nodes.Find(node); e < 0 {
				closeWord(alive, 0, int32(pos), depth)
				return
			}
		}
		w := x.bits[x.at(e, b)]
		if gone := alive &^ w; gone != 0 {
			if pos > 0 {
				closeWord(gone, 0, int32(pos), depth)
			}
			if alive &= w; alive == 0 {
				return
			}
		}
	}
	closeWord(alive, 0, int32(len(blocks)), depth)
}

func (x *Index) close(pos int32, depth []int32) {
	for i, w := range x.alive {
		closeWord(w, i, pos, depth)
	}
}

// closeWord ends the walk of the workers in w at depth pos.
func closeWord(w uint64, word int, pos int32, depth []int32) {
	if pos == 0 {
		return
	}
	for ; w != 0; w &= w - 1 {
		if i := word<<6 + bits.TrailingZeros64(w); i < len(depth) {
			depth[i] = pos
		}
	}
}
