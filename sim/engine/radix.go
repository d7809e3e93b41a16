package engine

import "routesim/sim/internal/heap"

// radix is SGLang's cache: a tree of KV pages, in which every path from the
// root is the beginning of some text. A page is known by everything up to its
// end, so a page's identity names its place in the tree, and the first page of
// a node finds the node.
//
// Requests lock the path they use. What nobody locks can be evicted, leaf by
// leaf, the one first that no operation came by for longest.
type radix struct {
	nodes     []radixNode // 0 is the root
	spare     []int32     // nodes to reuse
	byFirst   map[uint32]int32
	tick      int64 // of the last operation
	evictable int32 // pages in nodes that nobody locks
	held      int32 // pages in all nodes
	leaves    heap.Heap[leaf, *leaf]
}

type radixNode struct {
	pages    []uint32
	parent   int32
	children int32
	locks    int32 // requests that use the node
	tick     int64 // of the last operation that came by
}

const root = int32(0)

func newRadix() radix {
	return radix{nodes: make([]radixNode, 1), byFirst: map[uint32]int32{}}
}

// next draws the tick of an operation.
func (t *radix) next() int64 {
	t.tick++
	return t.tick
}

// depth returns how many of the leading pages the tree holds.
func (t *radix) depth(pages []uint32) (n int32) {
	for int(n) < len(pages) {
		i, ok := t.byFirst[pages[n]]
		if !ok {
			return n
		}
		node := &t.nodes[i]
		m := commonPages(node.pages, pages[n:])
		n += m
		if int(m) < len(node.pages) {
			return n
		}
	}
	return n
}

func commonPages(a, b []uint32) (n int32) {
	most := min(len(a), len(b))
	for int(n) < most && a[n] == b[n] {
		n++
	}
	return n
}

// matchAndLock walks down the leading pages that the tree holds and locks the
// path. A node of which only a part matches is split.
func (t *radix) matchAndLock(pages []uint32) (node, n int32) {
	tick := t.next()
	node = root
	t.nodes[root].tick = tick
	for int(n) < len(pages) {
		child, ok := t.byFirst[pages[n]]
		if !ok {
			break
		}
		m := commonPages(t.nodes[child].pages, pages[n:])
		n += m
		if int(m) < len(t.nodes[child].pages) {
			node = t.split(child, m)
			break
		}
		t.touch(child, tick)
		node = child
	}
	t.lock(node)
	return node, n
}

// touch notes that an operation came by.
func (t *radix) touch(i int32, tick int64) {
	t.nodes[i].tick = tick
	t.offer(i)
}

// offer enters a node into the order of eviction if it can be evicted.
func (t *radix) offer(i int32) {
	n := &t.nodes[i]
	if i == root || n.locks > 0 || n.children > 0 {
		return
	}
	if len(t.leaves) > 4*len(t.nodes)+64 {
		t.sweep()
	}
	t.leaves.Push(leaf{n.tick, i})
}

// current reports whether an entry of the order of eviction still holds.
func (t *radix) current(l leaf) bool {
	n := &t.nodes[l.node]
	return n.tick == l.tick && n.locks == 0 && n.children == 0 && len(n.pages) > 0
}

// sweep drops entries that no longer hold, and repeated ones.
func (t *radix) sweep() {
	t.leaves = make(heap.Heap[leaf, *leaf], 0, len(t.nodes))
	for i := range t.nodes {
		if l := (leaf{t.nodes[i].tick, int32(i)}); int32(i) != root && t.current(l) {
			t.leaves.Push(l)
		}
	}
}

// split cuts a node after its first m pages and returns the new upper part.
// Both parts keep the node's locks and tick.
func (t *radix) split(i, m int32) int32 {
	up := t.newNode(t.nodes[i].parent, t.nodes[i].tick)
	n, u := &t.nodes[i], &t.nodes[up]
	u.pages, u.locks, u.children = n.pages[:m:m], n.locks, 1
	n.pages, n.parent = n.pages[m:], up
	t.byFirst[u.pages[0]], t.byFirst[n.pages[0]] = up, i
	return up
}

func (t *radix) newNode(parent int32, tick int64) int32 {
	i := int32(len(t.nodes))
	if k := len(t.spare); k > 0 {
		i = t.spare[k-1]
		t.spare = t.spare[:k-1]
	} else {
		t.nodes = append(t.nodes, radixNode{})
	}
	t.nodes[i] = radixNode{parent: parent, tick: tick}
	return i
}

// lock adds a user to a node and all above it.
func (t *radix) lock(i int32) {
	for ; i != root; i = t.nodes[i].parent {
		n := &t.nodes[i]
		if n.locks == 0 {
			t.evictable -= int32(len(n.pages))
		}
		n.locks++
	}
}

// unlock takes a user off a node and all above it.
func (t *radix) unlock(i int32) {
	for ; i != root; i = t.nodes[i].parent {
		n := &t.nodes[i]
		if n.locks--; n.locks == 0 {
			t.evictable += int32(len(n.pages))
			t.offer(i)
		}
	}
}

// insert adds pages below a node that its caller locks, and returns the node
// they end in and how many of them were there before.
func (t *radix) insert(start int32, pages []uint32) (node, known int32) {
	tick := t.next()
	for i := start; ; i = t.nodes[i].parent {
		t.touch(i, tick)
		if i == root {
			break
		}
	}
	node = start
	for int(known) < len(pages) {
		child, ok := t.byFirst[pages[known]]
		if !ok {
			return t.append(node, start, pages[known:]), known
		}
		m := commonPages(t.nodes[child].pages, pages[known:])
		known += m
		if int(m) < len(t.nodes[child].pages) {
			node = t.split(child, m)
		} else {
			t.touch(child, tick)
			node = child
		}
	}
	return node, known
}

// append adds pages that the tree lacks behind a node: to the node itself where
// it is a leaf that nobody but the inserting request uses, else as a child.
func (t *radix) append(i, start int32, pages []uint32) int32 {
	n := &t.nodes[i]
	t.held += int32(len(pages))
	if i != root && n.children == 0 && (n.locks == 0 || i == start && n.locks == 1) {
		n.pages = append(n.pages, pages...)
		if n.locks == 0 {
			t.evictable += int32(len(pages))
		}
		return i
	}
	n.children++
	child := t.newNode(i, t.next())
	t.nodes[child].pages = append([]uint32(nil), pages...)
	t.byFirst[pages[0]] = child
	t.evictable += int32(len(pages))
	t.offer(child)
	return child
}

// evict drops n pages, or all that can be dropped, and tells dropped of each
// run of them.
func (t *radix) evict(n int32, dropped func(pages []uint32)) {
	for n > 0 && len(t.leaves) > 0 {
		l := t.leaves[0]
		if !t.current(l) {
			t.leaves.Pop()
			continue
		}
		node := &t.nodes[l.node]
		k := min(n, int32(len(node.pages)))
		keep := int32(len(node.pages)) - k
		gone := node.pages[keep:]
		n -= k
		t.evictable -= k
		t.held -= k
		dropped(gone)
		if keep == 0 {
			delete(t.byFirst, gone[0])
			parent := node.parent
			*node = radixNode{}
			t.spare = append(t.spare, l.node)
			t.leaves.Pop()
			t.nodes[parent].children--
			t.offer(parent)
			continue
		}
		node.pages = node.pages[:keep]
	}
}

// leaf is an entry in the order of eviction.
type leaf struct {
	tick int64
	node int32
}

// Before reports whether the leaf waited longer than another.
func (a *leaf) Before(b *leaf) bool { return a.tick < b.tick }
