package engine

import "testing"

// TestManyHolders lets more requests share a block than 16 bits can count.
func TestManyHolders(t *testing.T) {
	const sharing = 1<<16 + 3
	p := newPool(2, 0, &Events{})
	var first Seq
	first.Reset(0, 1, 1)
	p.reserve(&first, nil, 1)
	p.seal(&first, []uint32{7})
	others := make([]Seq, sharing)
	for i := range others {
		hits, found, _ := p.lookup([]uint32{7}, nil)
		if found != 1 || !p.reserve(&others[i], hits, 0) {
			t.Fatalf("request %d finds %d blocks", i, found)
		}
	}
	p.release(&first)
	for i := range others {
		if p.active() != 1 {
			t.Fatalf("the block is idle with %d requests left", len(others)-i)
		}
		p.release(&others[i])
	}
	if p.active() != 0 || p.idle != 1 {
		t.Errorf("%d blocks active and %d idle in the end, expected 0 and 1", p.active(), p.idle)
	}
}
