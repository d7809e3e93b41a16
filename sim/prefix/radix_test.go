package prefix_test

import (
	"errors"
	"slices"
)

// radix is the tree of Dynamo's KV indexer, written out rule by rule. Blocks
// are pairs of a local hash, which prompts are matched by, and an external one,
// which events name blocks by.
type radix struct {
	root   *radixNode
	lookup map[int]map[uint64]*radixNode // by worker: external hash to node
}

type radixPair struct{ local, external uint64 }

type radixNode struct {
	edge     []radixPair
	full     map[int]bool // workers that cover the whole edge
	cutoff   map[int]int  // workers that cover fewer leading pairs
	children map[uint64]*radixNode
	parent   *radixNode
	internal bool // has or had a child
}

var (
	errInvalid       = errors.New("a block is its own parent")
	errParentUnknown = errors.New("parent not found")
	errBlockUnknown  = errors.New("block not found")
)

func newRadix() *radix {
	return &radix{root: newRadixNode(nil, nil), lookup: map[int]map[uint64]*radixNode{}}
}

func newRadixNode(parent *radixNode, edge []radixPair) *radixNode {
	return &radixNode{
		edge: slices.Clone(edge), full: map[int]bool{}, cutoff: map[int]int{},
		children: map[uint64]*radixNode{}, parent: parent, internal: parent == nil,
	}
}

// at returns the place of an external hash in the edge, -1 for none.
func (n *radixNode) at(external uint64) int {
	return slices.IndexFunc(n.edge, func(p radixPair) bool { return p.external == external })
}

// coverage returns how many leading pairs of the edge a worker holds.
func (n *radixNode) coverage(w int) int {
	if n.full[w] {
		return len(n.edge)
	}
	return n.cutoff[w]
}

// cover sets a worker's coverage.
func (n *radixNode) cover(w, pairs int) {
	delete(n.full, w)
	delete(n.cutoff, w)
	switch {
	case pairs == len(n.edge):
		n.full[w] = true
	case pairs > 0:
		n.cutoff[w] = pairs
	}
}

func (r *radix) of(w int) map[uint64]*radixNode {
	if r.lookup[w] == nil {
		r.lookup[w] = map[uint64]*radixNode{}
	}
	return r.lookup[w]
}

// index notes where w's covered pairs of a node lie.
func (r *radix) index(n *radixNode, w int) {
	for _, p := range n.edge[:n.coverage(w)] {
		r.of(w)[p.external] = n
	}
}

// store applies a stored event. parent is nil for a prompt's first blocks.
func (r *radix) store(w int, parent *uint64, blocks []radixPair) error {
	start := r.root
	if parent != nil {
		if slices.ContainsFunc(blocks, func(b radixPair) bool { return b.external == *parent }) {
			return errInvalid
		}
		n := r.of(w)[*parent]
		if n == nil {
			return errParentUnknown
		}
		q := n.at(*parent)
		if q < 0 {
			return errParentUnknown
		}
		if n.coverage(w) <= q {
			delete(r.of(w), *parent)
			return errParentUnknown
		}
		if r.extend(n, w, q, blocks) {
			return nil
		}
		if q < len(n.edge)-1 {
			r.split(n, q+1)
		}
		start = n
	}
	r.insert(start, w, blocks)
	return nil
}

// extend handles new blocks that go along the parent's own edge.
func (r *radix) extend(n *radixNode, w, q int, blocks []radixPair) bool {
	rest := n.edge[q+1:]
	if len(blocks) <= len(rest) && slices.Equal(rest[:len(blocks)], blocks) {
		n.cover(w, max(n.coverage(w), q+1+len(blocks)))
		r.index(n, w)
		return true
	}
	if len(blocks) >= len(rest) && slices.Equal(blocks[:len(rest)], rest) && !n.internal {
		r.lengthen(n, w, blocks[len(rest):])
		return true
	}
	return false
}

// lengthen appends blocks to an edge that w then covers.
func (r *radix) lengthen(n *radixNode, w int, blocks []radixPair) {
	old := len(n.edge)
	n.edge = append(n.edge, blocks...)
	for other := range n.full {
		if len(blocks) > 0 {
			delete(n.full, other)
			n.cutoff[other] = old
		}
	}
	n.cover(w, len(n.edge))
	r.index(n, w)
}

// insert walks down from n by local hashes and adds what is missing.
func (r *radix) insert(n *radixNode, w int, blocks []radixPair) {
	for len(blocks) > 0 {
		child := n.children[blocks[0].local]
		if child == nil {
			if n != r.root && !n.internal && n.full[w] {
				r.lengthen(n, w, blocks)
				return
			}
			child = newRadixNode(n, blocks)
			child.full[w] = true
			n.children[blocks[0].local], n.internal = child, true
			r.index(child, w)
			return
		}
		m := 0
		for m < len(child.edge) && m < len(blocks) && child.edge[m].local == blocks[m].local {
			m++
		}
		if m < len(child.edge) && m < len(blocks) {
			r.split(child, m)
		}
		child.cover(w, max(child.coverage(w), m))
		for _, b := range blocks[:m] {
			r.of(w)[b.external] = child
		}
		n, blocks = child, blocks[m:]
	}
}

// split cuts a node's edge after c pairs.
func (r *radix) split(n *radixNode, c int) {
	tail := newRadixNode(n, n.edge[c:])
	tail.children, tail.internal = n.children, n.internal
	for _, child := range tail.children {
		child.parent = tail
	}
	tail.full = n.full
	n.full = map[int]bool{}
	for w := range tail.full {
		n.full[w] = true
	}
	for w, k := range n.cutoff {
		if k >= c {
			delete(n.cutoff, w)
			n.full[w] = true
			tail.cover(w, k-c)
		}
	}
	n.edge = n.edge[:c:c]
	n.children = map[uint64]*radixNode{tail.edge[0].local: tail}
	n.internal = true
	for _, nodes := range r.lookup {
		for _, p := range tail.edge {
			if nodes[p.external] == n {
				nodes[p.external] = tail
			}
		}
	}
}

// remove applies a removed event.
func (r *radix) remove(w int, externals []uint64) error {
	gone := map[uint64]bool{} // dropped by an earlier hash of this event
	for i := 0; i < len(externals); i++ {
		n := r.of(w)[externals[i]]
		if n == nil {
			if !gone[externals[i]] {
				return errBlockUnknown
			}
			continue
		}
		delete(r.of(w), externals[i])
		q := n.at(externals[i])
		for i+1 < len(externals) && r.of(w)[externals[i+1]] == n {
			next := n.at(externals[i+1])
			if next < 0 || next >= n.coverage(w) {
				break
			}
			i++
			delete(r.of(w), externals[i])
			gone[externals[i]] = true
			q = min(q, next)
		}
		if end := n.coverage(w); q >= 0 && q < end {
			for _, p := range n.edge[q:end] {
				delete(r.of(w), p.external)
				gone[p.external] = true
			}
			n.cover(w, q)
			r.prune(n)
		}
	}
	return nil
}

// prune drops what nobody can reach any more.
func (r *radix) prune(n *radixNode) {
	if n == r.root {
		return
	}
	if len(n.full) == 0 {
		n.children = map[uint64]*radixNode{}
	}
	if len(n.full) == 0 && len(n.cutoff) == 0 && n.parent.children[n.edge[0].local] == n {
		delete(n.parent.children, n.edge[0].local)
	}
}

// clear drops a worker from the whole tree.
func (r *radix) clear(w int) {
	var walk func(n *radixNode)
	walk = func(n *radixNode) {
		for _, child := range n.children {
			walk(child)
		}
		if n != r.root {
			n.cover(w, 0)
			r.prune(n)
		}
	}
	walk(r.root)
	delete(r.lookup, w)
}

// match returns the leading blocks each worker holds.
func (r *radix) match(locals []uint64) map[int]int {
	depth := map[int]int{}
	var active map[int]bool // nil before the first node
	n, at := r.root, 0
	for at < len(locals) {
		child := n.children[locals[at]]
		if child == nil {
			break
		}
		m := 0
		for m < len(child.edge) && at+m < len(locals) && child.edge[m].local == locals[at+m] {
			m++
		}
		if active == nil {
			active = map[int]bool{}
			for w := range child.full {
				active[w] = true
			}
			for w, k := range child.cutoff {
				depth[w] = min(k, m)
			}
		} else {
			for w := range active {
				if !child.full[w] {
					delete(active, w)
					depth[w] = at + min(child.cutoff[w], m)
				}
			}
		}
		at += m
		if m < len(child.edge) || len(active) == 0 {
			break
		}
		n = child
	}
	for w := range active {
		depth[w] = at
	}
	return depth
}
