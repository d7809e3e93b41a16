package workloads

import "runtime"

// u64Table maps 64-bit keys to 32-bit values: open addressing with linear
// probing. Keys and values lie in order of insertion, so a slot is 4 bytes and
// rehashing never reads the old slots.
type u64Table struct {
	keys  []uint64
	vals  []uint32
	slots []uint32 // index into keys plus one, 0 where free
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
	mask := uint64(len(t.slots) - 1)
	for at := mix(key) & mask; ; at = (at + 1) & mask {
		s := t.slots[at]
		if s == 0 {
			return 0, false
		}
		if t.keys[s-1] == key {
			return t.vals[s-1], true
		}
	}
}

// add inserts a key that is not in the table.
func (t *u64Table) add(key uint64, val uint32) {
	if 4*(len(t.keys)+1) > 3*len(t.slots) {
		t.rehash()
	}
	t.keys = append(room(t.keys, 1), key)
	t.vals = append(room(t.vals, 1), val)
	t.place(key, uint32(len(t.keys)))
}

func (t *u64Table) place(key uint64, s uint32) {
	mask := uint64(len(t.slots) - 1)
	at := mix(key) & mask
	for t.slots[at] != 0 {
		at = (at + 1) & mask
	}
	t.slots[at] = s
}

func (t *u64Table) rehash() {
	n := max(64, 2*len(t.slots))
	t.slots = nil
	if n > bigSlab {
		runtime.GC()
	}
	t.slots = make([]uint32, n)
	for i, key := range t.keys {
		t.place(key, uint32(i+1))
	}
}

// bigSlab is the number of entries from which a replaced slab is collected at
// once.
const bigSlab = 1 << 22

// room returns s with space for n more entries. It grows by half; a large slab
// that was replaced is collected at once, since the slabs hold no pointers
// (a collection is nearly free) and the garbage of their growth would otherwise
// double the peak.
func room[T any](s []T, n int) []T {
	if len(s)+n <= cap(s) {
		return s
	}
	grown := make([]T, len(s), max(len(s)+n, cap(s)+cap(s)/2, 256))
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
	if id < uint64(len(t.direct)) {
		if v := t.direct[id]; v != 0 {
			return v - 1
		}
		t.n++
		t.direct[id] = t.n
		return t.n - 1
	}
	return t.internFar(id)
}

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
	size := max(id+1, old+old/2, 1024)
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

type firstNode struct{ parent, node uint32 }

// intern returns the node of block after parent. New blocks must come in
// ascending order, as idTable numbers them; skip fills gaps.
func (t *nodeTable) intern(parent, block uint32) uint32 {
	if int(block) < len(t.first) {
		if f := t.first[block]; f.parent == parent && f.node != noNode {
			return f.node
		}
	}
	return t.internOther(parent, block)
}

// noNode marks a block that only appeared beyond the end of a prompt so far.
const noNode = ^uint32(0)

func (t *nodeTable) internOther(parent, block uint32) uint32 {
	for len(t.first) <= int(block) {
		t.first = append(room(t.first, 1), firstNode{node: noNode})
	}
	if t.first[block].node == noNode {
		t.first[block] = firstNode{parent: parent, node: t.n}
		t.n++
		return t.n - 1
	}
	key := uint64(parent)<<32 | uint64(block)
	if v, ok := t.other.get(key); ok {
		return v
	}
	t.other.add(key, t.n)
	t.n++
	return t.n - 1
}

// blocks returns the block number of every node.
func (t *nodeTable) blocks() []uint32 {
	of := make([]uint32, t.n)
	for b, f := range t.first {
		if f.node != noNode {
			of[f.node] = uint32(b)
		}
	}
	for i, key := range t.other.keys {
		of[t.other.vals[i]] = uint32(key)
	}
	return of
}
