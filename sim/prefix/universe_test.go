package prefix_test

import (
	"fmt"
	"slices"

	"pgregory.net/rapid"

	"routesim/sim/prefix"
)

// universe is a small tree of prompts. A node stands for a trace block after
// its predecessors and has a few engine blocks, numbered as the simulator
// numbers them; nodes at one depth have the same number of blocks.
type universe struct {
	shift  uint8
	paths  [][]uint32 // by node: the blocks from the first one to the node's last
	parent map[uint32]uint32
	local  map[uint32]uint64 // content of a block, equal for all blocks of a node
}

const noParent = ^uint32(0)

func drawUniverse(t *rapid.T) *universe {
	u := &universe{
		shift:  rapid.SampledFrom([]uint8{0, 1, 3, 6, 8}).Draw(t, "shift"),
		parent: map[uint32]uint32{}, local: map[uint32]uint64{},
	}
	perDepth := rapid.SliceOfN(rapid.IntRange(1, 1<<u.shift), 6, 6).Draw(t, "blocks by depth")
	type node struct {
		depth   int
		content map[uint64]bool // of its children
	}
	nodes := []node{{content: map[uint64]bool{}}} // the root
	u.paths = [][]uint32{nil}
	for id := range rapid.Uint32Range(2, 14).Draw(t, "nodes") {
		up := rapid.IntRange(0, len(nodes)-1).Draw(t, "parent")
		content := rapid.Uint64Range(0, 3).Draw(t, "content")
		if nodes[up].content[content] || nodes[up].depth == len(perDepth) {
			continue
		}
		nodes[up].content[content] = true
		n := node{depth: nodes[up].depth + 1, content: map[uint64]bool{}}
		path := slices.Clone(u.paths[up])
		for k := range perDepth[nodes[up].depth] {
			block := id<<u.shift + uint32(k)
			u.parent[block] = noParent
			if len(path) > 0 {
				u.parent[block] = path[len(path)-1]
			}
			u.local[block] = content
			path = append(path, block)
		}
		nodes = append(nodes, n)
		u.paths = append(u.paths, path)
	}
	return u
}

// drawPath picks a prompt: a node's path, cut anywhere.
func (u *universe) drawPath(t *rapid.T) []uint32 {
	path := rapid.SampledFrom(u.paths).Draw(t, "path")
	return path[:rapid.IntRange(0, len(path)).Draw(t, "cut")]
}

// locals returns the contents of a prompt.
func (u *universe) locals(path []uint32) (l []uint64) {
	for _, b := range path {
		l = append(l, u.local[b])
	}
	return l
}

// views are the three models of one index, fed with the same events.
type views struct {
	u     *universe
	index *prefix.Index
	tree  *radix
	sets  []map[uint32]bool // by worker: the blocks it holds
}

func newViews(u *universe, workers int) *views {
	v := &views{u: u, index: prefix.NewIndex(workers, u.shift), tree: newRadix()}
	for range workers {
		v.sets = append(v.sets, map[uint32]bool{})
	}
	return v
}

// store applies an event for n consecutive blocks of one node.
func (v *views) store(w int32, block uint32, n int32) error {
	var parent *uint64
	if up := v.u.parent[block]; up != noParent {
		parent = ext(uint64(up))
	}
	var blocks []radixPair
	for b := block; b < block+uint32(n); b++ {
		if up := v.u.parent[b]; up != noParent && !v.sets[w][up] {
			return fmt.Errorf("worker %d stores block %d before its predecessor %d", w, b, up)
		}
		blocks = append(blocks, radixPair{local: v.u.local[b], external: uint64(b)})
		v.sets[w][b] = true
	}
	v.index.Set(w, block, n)
	return v.tree.store(int(w), parent, blocks)
}

// remove applies an event for n consecutive blocks of one node, the last first.
func (v *views) remove(w int32, block uint32, n int32) error {
	var externals []uint64
	for i := range uint32(n) {
		b := block + uint32(n) - 1 - i
		for c := range v.sets[w] {
			if v.u.parent[c] == b {
				return fmt.Errorf("worker %d drops block %d before its successor %d", w, b, c)
			}
		}
		externals = append(externals, uint64(b))
		delete(v.sets[w], b)
	}
	v.index.Clear(w, block, n)
	return v.tree.remove(int(w), externals)
}

// check compares the depths of a prompt in all three.
func (v *views) check(path []uint32) error {
	depth := make([]int32, len(v.sets))
	for i := range depth {
		depth[i] = -1 // Match must write every worker
	}
	v.index.Match(path, depth)
	tree := v.tree.match(v.u.locals(path))
	pairs := 0
	for w, set := range v.sets {
		want := 0
		for want < len(path) && set[path[want]] {
			want++
		}
		if int(depth[w]) != want || tree[w] != want {
			return fmt.Errorf("worker %d holds %d leading blocks of %v; the index says %d, the tree %d", w, want, path, depth[w], tree[w])
		}
		pairs += len(set)
	}
	if got := v.index.Blocks(); got != pairs {
		return fmt.Errorf("the index holds %d pairs, expected %d", got, pairs)
	}
	return nil
}
