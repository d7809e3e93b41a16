package prefix

// Counts is a reference count per block: how many active requests of one
// worker hold it. Requests hold leading blocks, so within a node the blocks
// without other references are its last ones and form one stretch.
type Counts struct {
	shift uint8
	nodes *NodeMap
	refs  []int32 // entry, block in node
	used  []int32 // blocks with references, by entry
}

// NewCounts returns empty counts over blocks of which 1<<shift form a node.
func NewCounts(shift uint8) *Counts { return &Counts{shift: min(shift, MaxShift), nodes: NewNodeMap()} }

// Add adds a reference to every block, and calls fresh for each stretch of
// consecutive blocks that had none.
func (c *Counts) Add(blocks []uint32, fresh func(block uint32, n int32)) {
	for i := 0; i < len(blocks); {
		node := blocks[i] >> c.shift
		e := c.nodes.Find(node)
		if e < 0 {
			e = c.nodes.Insert(node)
			if need := (int(e) + 1) << c.shift; need > len(c.refs) {
				c.refs = append(c.refs, make([]int32, need-len(c.refs))...)
				c.used = append(c.used, make([]int32, int(e)+1-len(c.used))...)
			}
		}
		n, first := int32(0), blocks[i]
		for ; i < len(blocks) && blocks[i]>>c.shift == node; i++ {
			r := &c.refs[int(e)<<c.shift+int(blocks[i]&(1<<c.shift-1))]
			if *r++; *r == 1 {
				if n == 0 {
					first = blocks[i]
				}
				n++
			}
		}
		if n > 0 {
			c.used[e] += n
			fresh(first, n)
		}
	}
}

// Remove takes a reference off every block, and calls gone for each stretch of
// consecutive blocks that have none left. Every block must hold one.
func (c *Counts) Remove(blocks []uint32, gone func(block uint32, n int32)) {
	for i := 0; i < len(blocks); {
		node := blocks[i] >> c.shift
		e := c.nodes.Find(node)
		n, first := int32(0), blocks[i]
		for ; i < len(blocks) && blocks[i]>>c.shift == node; i++ {
			r := &c.refs[int(e)<<c.shift+int(blocks[i]&(1<<c.shift-1))]
			if *r--; *r == 0 {
				if n == 0 {
					first = blocks[i]
				}
				n++
			}
		}
		if n > 0 {
			c.used[e] -= n
			gone(first, n)
			if c.used[e] == 0 {
				c.nodes.Delete(node)
			}
		}
	}
}
