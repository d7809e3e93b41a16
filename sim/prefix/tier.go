package prefix

import "math/bits"

// Tier records which blocks each worker holds on one level of storage below its
// device. Unlike the device's, these come and go in any order, so of a node's
// blocks a mask says which are there. It follows Dynamo's index of lower tiers
// (lib/kv-router/src/indexer/lower_tier.rs).
type Tier struct {
	shift   uint8
	workers int
	nodes   *NodeMap
	held    []uint64 // by node entry and worker: blocks of the node
}

// NewTier returns an empty tier for a number of workers. 1<<shift consecutive
// blocks form a node; larger nodes are cut.
func NewTier(workers int, shift uint8) *Tier {
	return &Tier{shift: min(shift, MaxShift), workers: workers, nodes: NewNodeMap()}
}

// Blocks returns the number of (block, worker) pairs held.
func (x *Tier) Blocks() (n int) {
	for _, h := range x.held {
		n += bits.OnesCount64(h)
	}
	return n
}

// Set records that worker holds n consecutive blocks from block on, Clear that
// it no longer does.
func (x *Tier) Set(worker int32, block uint32, n int32) { x.change(worker, block, n, true) }

// Clear is the opposite of Set.
func (x *Tier) Clear(worker int32, block uint32, n int32) { x.change(worker, block, n, false) }

func (x *Tier) change(worker int32, block uint32, n int32, held bool) {
	for ; n > 0; n-- {
		node, bit := block>>x.shift, uint64(1)<<(block&(1<<x.shift-1))
		e := x.nodes.Find(node)
		switch {
		case e < 0 && held:
			e = x.nodes.Insert(node)
			for len(x.held) < x.nodes.Entries()*x.workers {
				x.held = append(x.held, 0)
			}
			fallthrough
		case held:
			x.row(e)[worker] |= bit
		case e >= 0:
			x.row(e)[worker] &^= bit
			if x.empty(e) {
				x.nodes.Delete(node)
			}
		}
		block++
	}
}

func (x *Tier) row(e int32) []uint64 { return x.held[int(e)*x.workers:][:x.workers] }

func (x *Tier) empty(e int32) bool {
	for _, h := range x.row(e) {
		if h != 0 {
			return false
		}
	}
	return true
}

// Purge records that worker holds nothing.
func (x *Tier) Purge(worker int32) {
	for e := int32(0); int(e) < x.nodes.Entries(); e++ {
		x.row(e)[worker] = 0
	}
}

// Continue writes to more, for every worker, how many blocks behind the first
// from[worker] of a prompt it holds here, one after the other.
func (x *Tier) Continue(blocks []uint32, from, more []int32) {
	for w := range more {
		at := int(from[w])
		for at < len(blocks) {
			b := blocks[at]
			e := x.nodes.Find(b >> x.shift)
			if e < 0 || x.row(e)[w]>>(b&(1<<x.shift-1))&1 == 0 {
				break
			}
			at++
		}
		more[w] = int32(at) - from[w]
	}
}
