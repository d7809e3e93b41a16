package workloads

import "hash/maphash"

// textColumn holds one string per entry in a single slab.
type textColumn struct {
	off  []int64 // len = entries+1
	text []byte
}

func (c *textColumn) len() int { return max(0, len(c.off)-1) }

// at returns a copy of entry i.
func (c *textColumn) at(i int) string { return string(c.bytes(i)) }

func (c *textColumn) bytes(i int) []byte { return c.text[c.off[i]:c.off[i+1]] }

func (c *textColumn) add(s []byte) {
	if len(c.off) == 0 {
		c.off = append(c.off, 0)
	}
	c.text = append(room(c.text, len(s)), s...)
	c.off = append(room(c.off, 1), int64(len(c.text)))
}

// nameTable numbers strings from 0 in order of first appearance.
type nameTable struct {
	names textColumn
	slots []uint32 // number plus one, 0 where free
	seed  maphash.Seed
}

// intern returns the number of name and whether it is new.
func (t *nameTable) intern(name []byte) (n int32, fresh bool) {
	if 4*(t.names.len()+1) > 3*len(t.slots) {
		t.rehash()
	}
	mask := uint64(len(t.slots) - 1)
	for at := maphash.Bytes(t.seed, name) & mask; ; at = (at + 1) & mask {
		s := t.slots[at]
		if s == 0 {
			t.names.add(name)
			t.slots[at] = uint32(t.names.len())
			return int32(t.names.len() - 1), true
		}
		if string(t.names.bytes(int(s-1))) == string(name) {
			return int32(s - 1), false
		}
	}
}

// find returns the number of name, false if it was never interned.
func (t *nameTable) find(name []byte) (int32, bool) {
	if len(t.slots) == 0 {
		return 0, false
	}
	mask := uint64(len(t.slots) - 1)
	for at := maphash.Bytes(t.seed, name) & mask; ; at = (at + 1) & mask {
		s := t.slots[at]
		if s == 0 {
			return 0, false
		}
		if string(t.names.bytes(int(s-1))) == string(name) {
			return int32(s - 1), true
		}
	}
}

func (t *nameTable) rehash() {
	if len(t.slots) == 0 {
		// The seed only decides where a name lies, never its number.
		t.seed = maphash.MakeSeed()
	}
	t.slots = make([]uint32, max(16, 2*len(t.slots)))
	mask := uint64(len(t.slots) - 1)
	for i := range t.names.len() {
		at := maphash.Bytes(t.seed, t.names.bytes(i)) & mask
		for t.slots[at] != 0 {
			at = (at + 1) & mask
		}
		t.slots[at] = uint32(i + 1)
	}
}
