package workloads

import "runtime"

// u64Table maps 64-bit keys to 32-bit values: open addressing with linear
// probing. Keys and values lie in order of insertion, so a slot is 4 bytes and
// rehashing never reads the old slots. A slot holds the key's index plus one in
// its low bits, 0 if it is free, and in the bits that are left a part of the
// key's hash, so that foreign keys are seldom looked at: each look is a miss in
// the processor's caches once the table is large.
type u64Table struct {
	keys  []uint64
	vals  []uint32
	slots []uint32

	touched uint32 // makes touch's reads matter to the compiler
}

// mix is the finalizer of MurmurHash3: every input bit reaches every output bit.
func mix(x uint64) uint64 {
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	x *= 0xc4ceb9fe1a85ec53
	return x ^ x>>33
}

// get returns the value of key.
func (t *u64Table) get(key uint64) (uint32, bool) {
	if len(t.slots) == 0 {
		return 0, false
	}
	mask := uint32(len(t.slots) - 1)
	h := mix(key)
	tag := uint32(h>>32) &^ mask
	for at := uint32(h) & mask; ; at = (at + 1) & mask {
		s := t.slots[at]
		if s&mask == 0 {
			return 0, false
		}
		if i := s&mask - 1; s&^mask == tag && t.keys[i] == key {
			return t.vals[i], true
		}
	}
}

// add inserts a key that is not in the table.
func (t *u64Table) add(key uint64, val uint32) {
	if 3*(len(t.keys)+1) > 2*len(t.slots) {
		t.rehash()
	}
	t.keys = append(room(t.keys, 1), key)
	t.vals = append(room(t.vals, 1), val)
	t.place(key, uint32(len(t.keys)))
}

func (t *u64Table) place(key uint64, s uint32) {
	mask := uint32(len(t.slots) - 1)
	h := mix(key)
	at := uint32(h) & mask
	for t.slots[at] != 0 {
		at = (at + 1) & mask
	}
	t.slots[at] = s | uint32(h>>32)&^mask
}

func (t *u64Table) rehash() {
	size := max(64, 2*len(t.slots))
	t.slots = nil
	if size > bigSlab {
		runtime.GC()
	}
	t.slots = make([]uint32, size)
	for i, key := range t.keys {
		t.place(key, uint32(i+1))
	}
}

// touch reads the slots of keys that are about to be looked up. The reads do
// not wait for each other, as those of whole look-ups do.
func (t *u64Table) touch(keys []uint64) {
	mask := uint32(len(t.slots) - 1)
	for _, key := range keys {
		t.touched ^= t.slots[uint32(mix(key))&mask]
	}
}

// cached is the number of slots up to which they stay in the processor's caches
// by themselves.
const cached = 1 << 16

// bigSlab is the number of entries from which a replaced slab is collected at
// once.
const bigSlab = 1 << 22

// room returns s with space for n more entries. It doubles small slabs and
// grows large ones by a quarter; a large slab that was replaced is collected at
// once, since the slabs hold no pointers (a collection is nearly free) and the
// garbage of their growth would otherwise double the peak.
func room[T any](s []T, n int) []T {
	if len(s)+n <= cap(s) {
		return s
	}
	more := cap(s)
	if more > bigSlab/4 {
		more /= 4
	}
	grown := make([]T, len(s), max(len(s)+n, cap(s)+more, 1024))
	copy(grown, s)
	if len(s) > bigSlab {
		s = nil
		runtime.GC()
	}
	return grown
}

// idTable numbers 64-bit hash ids from 0 in order of first appearance. Ids that
// are small for the number of ids seen (public traces count from 0) lie in a
// plain array, the others in a hash table.
type idTable struct {
	direct []uint32 // number plus one, by id; the only home of ids below its length
	sparse u64Table
	n      uint32
}

// intern returns the number of id.
func (t *idTable) intern(id uint64) uint32 {
	if id >= uint64(len(t.direct)) {
		return t.internFar(id)
	}
	if t.direct[id] == 0 {
		t.n++
		t.direct[id] = t.n
	}
	return t.direct[id] - 1
}

// internFar interns an id beyond the array.
func (t *idTable) internFar(id uint64) uint32 {
	if v, ok := t.sparse.get(id); ok {
		return v
	}
	t.n++
	// At most two array entries per id that was seen, plus a small floor.
	if id < 2*uint64(t.n)+1024 {
		t.extend(id)
		t.direct[id] = t.n
	} else {
		t.sparse.add(id, t.n-1)
	}
	return t.n - 1
}

// extend lengthens the array so that it covers id, and moves into it what the
// hash table holds of the ids now covered.
func (t *idTable) extend(id uint64) {
	old := uint64(len(t.direct))
	size := max(id+1, uint64(cap(t.direct)))
	if size > uint64(cap(t.direct)) {
		size = max(size, 2*old, 4096)
	}
	size = min(size, 4*uint64(t.n)+4096)
	t.direct = room(t.direct, int(size-old))[:size]
	if len(t.sparse.keys) == 0 {
		return
	}
	left := u64Table{}
	for i, key := range t.sparse.keys {
		if key < size {
			t.direct[key] = t.sparse.vals[i] + 1
		} else {
			left.add(key, t.sparse.vals[i])
		}
	}
	t.sparse = left
}

// root is the parent of a prompt's first block; any other parent is its node
// number plus one.
const root = uint32(0)

// nodeTable numbers (parent, block) pairs from 0 in order of first appearance.
// In clean data a block always follows the same predecessor, so the pair that a
// block appeared in first is kept beside the block, and only further parents
// need the hash table.
type nodeTable struct {
	first []firstNode // by block number
	other u64Table    // parent<<32 | block
	n     uint32
}

// firstNode is the first node of a block: its parent, and its own number plus
// one, 0 while the block has no node.
type firstNode struct{ parent, next uint32 }

// intern returns the number plus one of the node of block after parent.
func (t *nodeTable) intern(parent, block uint32) (next uint32) {
	if int(block) >= len(t.first) {
		t.first = room(t.first, int(block)+1-len(t.first))
		t.first = t.first[:cap(t.first)]
	}
	f := &t.first[block]
	if f.next == 0 {
		t.n++
		*f = firstNode{parent: parent, next: t.n}
	}
	if f.parent == parent {
		return f.next
	}
	key := uint64(parent)<<32 | uint64(block)
	if v, ok := t.other.get(key); ok {
		return v
	}
	t.n++
	t.other.add(key, t.n)
	return t.n
}

// blocks returns the block number of every node.
func (t *nodeTable) blocks() []uint32 {
	of := make([]uint32, t.n)
	for b, f := range t.first {
		if f.next != 0 {
			of[f.next-1] = uint32(b)
		}
	}
	for i, key := range t.other.keys {
		of[t.other.vals[i]-1] = uint32(key)
	}
	return of
}

// interner numbers the prompts of a trace.
type interner struct {
	ids   idTable
	nodes nodeTable
}

// prompt writes the nodes of a prompt with the given hash ids to nodes, which
// is as long. The common cases are written out here: the calls would cost more
// than the work.
func (t *interner) prompt(ids []uint64, nodes []uint32) {
	direct, first := t.ids.direct, t.nodes.first
	if len(t.ids.sparse.slots) > cached {
		t.ids.sparse.touch(ids)
	}
	parent := root
	for i, id := range ids {
		var block uint32
		if id < uint64(len(direct)) {
			v := direct[id]
			if v == 0 {
				t.ids.n++
				v = t.ids.n
				direct[id] = v
			}
			block = v - 1
		} else {
			block = t.ids.internFar(id)
			direct = t.ids.direct
		}
		if int(block) < len(first) && first[block].next == 0 {
			t.nodes.n++
			first[block] = firstNode{parent: parent, next: t.nodes.n}
			parent = t.nodes.n
		} else if int(block) < len(first) && first[block].parent == parent {
			parent = first[block].next
		} else {
			parent = t.nodes.intern(parent, block)
			first = t.nodes.first
		}
		nodes[i] = parent - 1
	}
}
