package prefix

import "slices"

// MaxShift bounds the blocks of a node: 1<<MaxShift of them.
const MaxShift = 6

// Index records which leading blocks each worker holds, and answers how long a
// prefix of a prompt each holds.
//
// It is the simple model of a KV-event index. A worker stores a block after its
// predecessor and drops it before it, so of a node's blocks it always holds the
// first few, and one number per node and worker says how many. A store whose
// predecessor is missing is refused, and a removal takes the blocks behind it
// along, as in the tree of Dynamo's indexer.
type Index struct {
	shift   uint8
	workers int
	nodes   *NodeMap
	held    []uint8 // by node entry and worker: leading blocks of the node
	holders []int32 // by node entry: workers that hold any
	alive   []int32 // scratch of Match: the workers that hold everything so far
}

// NewIndex returns an empty index for a number of workers. 1<<shift consecutive
// blocks form a node; larger nodes are cut.
func NewIndex(workers int, shift uint8) *Index {
	return &Index{shift: min(shift, MaxShift), workers: workers, nodes: NewNodeMap(), alive: make([]int32, 0, workers)}
}

// Blocks returns the number of (block, worker) pairs held.
func (x *Index) Blocks() (n int) {
	for _, h := range x.held {
		n += int(h)
	}
	return n
}

// Set records that worker holds n consecutive blocks from block on.
func (x *Index) Set(worker int32, block uint32, n int32) {
	for n > 0 {
		sub, part := x.cut(block, n)
		e := x.entry(block >> x.shift)
		h := x.row(e, worker)
		if *h == 0 && sub == 0 {
			x.holders[e]++
		}
		if *h >= sub {
			*h = max(*h, sub+uint8(part))
		}
		block, n = block+uint32(part), n-part
	}
}

// Clear records that worker no longer holds n consecutive blocks from block on.
func (x *Index) Clear(worker int32, block uint32, n int32) {
	for n > 0 {
		sub, part := x.cut(block, n)
		node := block >> x.shift
		if e := x.nodes.Find(node); e >= 0 {
			h := x.row(e, worker)
			if *h > 0 && sub == 0 {
				x.holders[e]--
			}
			*h = min(*h, sub)
			if x.holders[e] == 0 {
				x.nodes.Delete(node)
			}
		}
		block, n = block+uint32(part), n-part
	}
}

// Purge records that worker holds nothing.
func (x *Index) Purge(worker int32) {
	for e := int32(0); int(e) < x.nodes.Entries(); e++ {
		if h := x.row(e, worker); *h > 0 {
			*h = 0
			x.holders[e]--
		}
	}
}

// cut returns the place of block in its node and how many of n blocks from
// there on lie in the node.
func (x *Index) cut(block uint32, n int32) (sub uint8, part int32) {
	size := uint32(1) << x.shift
	sub = uint8(block & (size - 1))
	return sub, min(n, int32(size)-int32(sub))
}

// entry returns the entry of a node, adding the node if it is new.
func (x *Index) entry(node uint32) int32 {
	e := x.nodes.Find(node)
	if e < 0 {
		e = x.nodes.Insert(node)
		if int(e) == len(x.holders) {
			x.holders = append(x.holders, 0)
			if len(x.held)+x.workers > cap(x.held) {
				x.held = slices.Grow(x.held, len(x.held)+x.workers) // twice, or growth would cost more than use
			}
			x.held = append(x.held, make([]uint8, x.workers)...)
		}
	}
	return e
}

func (x *Index) row(e, worker int32) *uint8 { return &x.held[int(e)*x.workers+int(worker)] }

// Match writes to depth, for every worker, the number of leading blocks it
// holds. len(depth) is the number of workers.
func (x *Index) Match(blocks []uint32, depth []int32) {
	clear(depth)
	for at := 0; at < len(blocks) && (at == 0 || len(x.alive) > 0); {
		e := x.nodes.Find(blocks[at] >> x.shift)
		if e < 0 {
			return
		}
		n := stretch(blocks[at:], x.shift)
		first := int32(blocks[at] & (1<<x.shift - 1))
		row := x.held[int(e)*x.workers:][:x.workers]
		if at == 0 {
			x.alive = x.alive[:0]
			for w, h := range row {
				x.extend(int32(w), int32(h)-first, n, depth)
			}
		} else {
			was := x.alive
			x.alive = x.alive[:0]
			for _, w := range was {
				x.extend(w, int32(row[w])-first, n, depth)
			}
		}
		at += int(n)
	}
}

// extend adds what a worker holds of the next n blocks to its depth and keeps
// the worker in the race if it holds all of them.
func (x *Index) extend(w, held, n int32, depth []int32) {
	if held >= n {
		depth[w] += n
		x.alive = append(x.alive, w)
	} else if held > 0 {
		depth[w] += held
	}
}

// stretch returns how many leading blocks lie in one node, one after the other.
func stretch(blocks []uint32, shift uint8) int32 {
	first := blocks[0]
	size := 1<<shift - int(first&(1<<shift-1))
	if size <= len(blocks) && blocks[size-1] == first+uint32(size-1) {
		return int32(size)
	}
	n := 1
	for n < len(blocks) && blocks[n] == first+uint32(n) && blocks[n]>>shift == first>>shift {
		n++
	}
	return int32(n)
}
