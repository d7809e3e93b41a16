// Package prefix answers which workers hold the leading blocks of a prompt.
//
// Blocks are named by dense 32-bit ids that stand for "this block after this
// prefix": equal ids mean equal content from the first token on. The ids of one
// trace block are consecutive, 1<<shift of them, and together form a node.
// Everything here works node by node, because the blocks of a node are nearly
// always stored, looked up and dropped together: one probe serves them all.
package prefix

// NodeMap numbers the nodes that are present with small reusable entry
// numbers, so that data about a node can lie in slices. The zero value is not
// usable; see NewNodeMap.
//
// It is an open-addressing table that hashes a node's group, not the node: the
// consecutive nodes of a prompt share a cache line. Each place within a group is
// a lane that probes on its own, a group at a time.
type NodeMap struct {
	cells []cell           // length is a power of two
	shift uint8            // 64 - log2(number of groups)
	lanes [groupSize]int32 // nodes by lane
	next  int32            // entries handed out so far
	free  []int32          // entries given back
}

// Nodes of a group: as many cells as a cache line holds.
const (
	groupBits = 3
	groupSize = 1 << groupBits
)

// cell is one place of the table.
type cell struct {
	key   uint32 // node+1, 0 = free
	entry int32
}

// NewNodeMap returns an empty map.
func NewNodeMap() *NodeMap { m := &NodeMap{}; m.alloc(3); return m }

func (m *NodeMap) alloc(log2 uint8) {
	m.cells = make([]cell, groupSize<<log2)
	m.shift = 64 - log2
}

func (m *NodeMap) home(node uint32) uint32 {
	h := uint64(node>>groupBits+1) * 0x9E3779B97F4A7C15
	return uint32(h>>m.shift)<<groupBits | (node^uint32(h>>8))&(groupSize-1)
}

// Len returns the number of nodes present.
func (m *NodeMap) Len() (n int) {
	for _, k := range m.lanes {
		n += int(k)
	}
	return n
}

// Entries returns an upper bound of the entry numbers in use.
func (m *NodeMap) Entries() int { return int(m.next) }

// Find returns the entry of node, -1 where it is absent.
func (m *NodeMap) Find(node uint32) int32 {
	mask := uint32(len(m.cells) - 1)
	for i := m.home(node); ; i = (i + groupSize) & mask {
		switch c := m.cells[i]; c.key {
		case node + 1:
			return c.entry
		case 0:
			return -1
		}
	}
}

// Insert adds an absent node and returns its entry, a new one or one that was
// given back.
func (m *NodeMap) Insert(node uint32) int32 {
	for lane := m.home(node) & (groupSize - 1); 2*int(m.lanes[lane]) >= len(m.cells)/groupSize; lane = m.home(node) & (groupSize - 1) {
		m.grow()
	}
	entry := m.next
	if k := len(m.free); k > 0 {
		entry = m.free[k-1]
		m.free = m.free[:k-1]
	} else {
		m.next++
	}
	m.put(node+1, entry)
	m.lanes[m.home(node)&(groupSize-1)]++
	return entry
}

func (m *NodeMap) put(key uint32, entry int32) {
	mask := uint32(len(m.cells) - 1)
	i := m.home(key - 1)
	for m.cells[i].key != 0 {
		i = (i + groupSize) & mask
	}
	m.cells[i] = cell{key, entry}
}

func (m *NodeMap) grow() {
	old := m.cells
	m.alloc(64 - m.shift + 1)
	for _, c := range old {
		if c.key != 0 {
			m.put(c.key, c.entry)
		}
	}
}

// Delete removes a present node and takes its entry back.
func (m *NodeMap) Delete(node uint32) {
	mask := uint32(len(m.cells) - 1)
	i := m.home(node)
	for m.cells[i].key != node+1 {
		i = (i + groupSize) & mask
	}
	m.free = append(m.free, m.cells[i].entry)
	m.lanes[i&(groupSize-1)]--
	// Close the gap: move up every later key whose probe passes over it.
	for j := (i + groupSize) & mask; m.cells[j].key != 0; j = (j + groupSize) & mask {
		if h := m.home(m.cells[j].key - 1); (j-h)&mask >= (j-i)&mask {
			m.cells[i] = m.cells[j]
			i = j
		}
	}
	m.cells[i].key = 0
}
