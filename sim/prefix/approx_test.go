package prefix

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestTTLVectors: an entry lives to the first multiple of 100 ms that is not
// before its end, a new decision renews it, and a lifetime of 0 is none.
func TestTTLVectors(t *testing.T) {
	chain := []uint32{0, 1, 2, 8, 9}
	for _, c := range []struct {
		name        string
		ttl, origin float64
		at          []float64 // of the decisions
		now         float64
		want        int32
	}{
		{"120 s, at 119.8 s", 120_000, 0, []float64{0}, 119_800, 5},
		{"120 s, at 120.2 s", 120_000, 0, []float64{0}, 120_200, 0},
		{"renewed at 60 s, at 179.9 s", 120_000, 0, []float64{0, 60_000}, 179_900, 5},
		{"renewed at 60 s, at 180 s", 120_000, 0, []float64{0, 60_000}, 180_000, 0},
		{"1 s from 20 ms, before the tick", 1000, 0, []float64{20}, 1099, 5},
		{"1 s from 20 ms, at the tick", 1000, 0, []float64{20}, 1100, 0},
		{"ticks count from the index's start", 1000, 50, []float64{70}, 1149, 5},
		{"ticks count from the index's start, over", 1000, 50, []float64{70}, 1150, 0},
		{"no lifetime", 0, 0, []float64{30}, 30, 0},
	} {
		x := NewTTL(2, 3, c.ttl, c.origin)
		for _, at := range c.at {
			x.Store(1, chain, at)
		}
		depth := make([]int32, 2)
		x.Raise(chain, c.now, depth)
		if depth[1] != c.want || depth[0] != 0 {
			t.Errorf("%s: depths %v, want 0 and %d", c.name, depth, c.want)
		}
	}
}

// TestTTLForgets keeps the index small: only living nodes stay.
func TestTTLForgets(t *testing.T) {
	x := NewTTL(1, 0, 1000, 0)
	for i := range uint32(100_000) {
		x.Store(0, []uint32{i}, float64(i))
	}
	if n := x.Nodes(); n > 4*firstSweep {
		t.Errorf("%d nodes are kept, expected about the 1000 that are alive", n)
	}
	depth := []int32{0}
	if x.Raise([]uint32{99_500}, 100_000, depth); depth[0] != 1 {
		t.Error("a living node was swept")
	}
}

// TestTTLAgainstExpiryTimes compares the index with a list of expiry times.
func TestTTLAgainstExpiryTimes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const workers = 3
		shift := rapid.Uint8Range(0, 3).Draw(t, "shift")
		ttl := rapid.SampledFrom([]float64{0, 50, 100, 250, 1000}).Draw(t, "ttl")
		x := NewTTL(workers, shift, ttl, 0)
		until := map[[2]uint32]float64{}
		now := 0.0
		prompts := [][]uint32{}
		for i := range uint32(6) {
			// Two families of three prompts that share their first blocks.
			p := []uint32{}
			for k := range uint32(rapid.IntRange(0, 12).Draw(t, "length")) {
				family := i / 3 * 1000
				if k >= 5 {
					family += (i + 1) * 64
				}
				p = append(p, family+k)
			}
			prompts = append(prompts, p)
		}
		for range 40 {
			now += float64(rapid.IntRange(0, 120).Draw(t, "step"))
			p := rapid.SampledFrom(prompts).Draw(t, "prompt")
			w := rapid.Uint32Range(0, workers-1).Draw(t, "worker")
			if rapid.Bool().Draw(t, "store") {
				x.Store(int32(w), p, now)
				end := float64(int64((now+ttl+Tick-1)/Tick) * Tick)
				for _, b := range p {
					if ttl > 0 {
						until[[2]uint32{w, b}] = end
					}
				}
				continue
			}
			got, want := make([]int32, workers), make([]int32, workers)
			x.Raise(p, now, got)
			for w := range want {
				for _, b := range p {
					if !(now < until[[2]uint32{uint32(w), b}]) {
						break
					}
					want[w]++
				}
			}
			if !slices.Equal(got, want) {
				t.Fatalf("at %v: depths %v of %v, want %v", now, got, p, want)
			}
		}
	})
}

// TestLRUVectors walks through a pool of six blocks.
func TestLRUVectors(t *testing.T) {
	x := NewLRU([]int32{6, 6})
	depth := func(blocks ...uint32) int32 {
		d := make([]int32, 2)
		x.Match(blocks, d)
		if d[1] != 0 {
			t.Errorf("the other worker holds %d blocks", d[1])
		}
		return d[0]
	}
	a := x.Acquire(0, []uint32{1, 2, 3}, true) // 3 copies and a tail
	if depth(1, 2, 3, 4) != 3 {
		t.Error("a prompt is not known right after its decision")
	}
	b := x.Acquire(0, []uint32{1, 2, 9}, false) // shares two copies: 4 and a tail
	if x.Blocks(0) != 4 {
		t.Errorf("%d blocks, want 4: two are shared", x.Blocks(0))
	}
	x.Release(a) // block 3 is idle, 1 and 2 are in use
	c := x.Acquire(0, []uint32{20, 21, 22}, false)
	if depth(1, 2, 3) != 2 || depth(1, 2, 9) != 3 || depth(20, 21, 22) != 3 {
		t.Error("the one idle block should have been evicted, and nothing else")
	}
	// Nothing in use is evicted, however many there are.
	d := x.Acquire(0, []uint32{30, 31, 32}, true)
	if x.Blocks(0) != 9 {
		t.Errorf("%d blocks, want all 9 in use", x.Blocks(0))
	}
	x.Release(b) // over capacity: all of b's copies go, the deepest first
	if depth(1, 2, 9) != 0 {
		t.Error("released copies stay in a pool that is over its capacity")
	}
	x.Release(d)
	if depth(30, 31, 32) != 3 || x.Blocks(0) != 6 {
		t.Error("copies that fit should stay after their release")
	}
	// Deepest first within a release, older releases before newer ones.
	x.Release(c)
	e := x.Acquire(0, []uint32{40}, false)
	if depth(30, 31, 32) != 2 || depth(20, 21, 22) != 3 {
		t.Error("the deepest block of the oldest release should go first")
	}
	x.Grow(e, []uint32{40, 41}, true) // a full block, and a token beyond it
	if depth(40, 41) != 2 || depth(30, 31) != 0 || depth(20, 21, 22) != 3 {
		t.Error("growth of a copy and a tail should evict two more of the oldest release")
	}
}

// TestLRUHoldsItsRules: in use means present; idle copies leave only for
// room, and a pool is over its capacity only by what is in use.
func TestLRUHoldsItsRules(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		capacity := rapid.Int32Range(1, 12).Draw(t, "capacity")
		x := NewLRU([]int32{capacity})
		type held struct {
			l      *Lease
			blocks []uint32
			tail   bool
		}
		var live []held
		for range 60 {
			if len(live) > 0 && rapid.Bool().Draw(t, "release") {
				i := rapid.IntRange(0, len(live)-1).Draw(t, "which")
				x.Release(live[i].l)
				live = slices.Delete(live, i, i+1)
			} else {
				h := held{tail: rapid.Bool().Draw(t, "tail")}
				f := rapid.Uint32Range(0, 2).Draw(t, "family") * 100
				for k := range uint32(rapid.IntRange(1, 6).Draw(t, "length")) {
					h.blocks = append(h.blocks, f+k)
				}
				h.l = x.Acquire(0, h.blocks, h.tail)
				live = append(live, h)
			}
			inUse, tails := map[uint32]bool{}, int32(0)
			for _, h := range live {
				for _, b := range h.blocks {
					inUse[b] = true
				}
				if h.tail {
					tails++
				}
				d := []int32{0}
				if x.Match(h.blocks, d); d[0] != int32(len(h.blocks)) {
					t.Fatalf("%d of the %d blocks of a running request are present", d[0], len(h.blocks))
				}
			}
			if n := int32(x.Blocks(0)); n+tails > capacity && int(n) > len(inUse) {
				t.Fatalf("%d blocks and %d tails in a pool of %d with %d blocks in use: idle ones should be gone", n, tails, capacity, len(inUse))
			}
		}
	})
}

// TestPurge: a worker that lost its cache is known to hold nothing, also once
// what ran there has been released; the others keep theirs.
func TestPurge(t *testing.T) {
	depths := func(match func([]int32)) [2]int32 {
		d := make([]int32, 2)
		match(d)
		return [2]int32(d)
	}
	blocks := []uint32{1, 2, 3}
	lru := NewLRU([]int32{100, 100})
	a, b := lru.Acquire(0, blocks, false), lru.Acquire(1, blocks, false)
	idle := lru.Acquire(0, []uint32{9}, false)
	lru.Release(idle)
	lru.Purge(0)
	lru.Release(a)
	lru.Release(b)
	if d := depths(func(d []int32) { lru.Match(blocks, d) }); d != [2]int32{0, 3} || lru.Blocks(0) != 0 {
		t.Errorf("depths %v and %d blocks on the purged worker, expected 0 and 3, none", d, lru.Blocks(0))
	}
	lru.Acquire(0, blocks, false)
	if lru.Blocks(0) != 3 {
		t.Error("a purged pool does not fill again")
	}
	ttl := NewTTL(2, 3, 1000, 0)
	ttl.Store(0, blocks, 0)
	ttl.Store(1, blocks, 0)
	ttl.Purge(0)
	if d := depths(func(d []int32) { ttl.Raise(blocks, 1, d) }); d != [2]int32{0, 3} {
		t.Errorf("depths %v by age, expected 0 and 3", d)
	}
	x := NewIndex(2, 0)
	for w := range int32(2) {
		x.Set(w, 1, 3)
	}
	x.Purge(0)
	if d := depths(func(d []int32) { x.Match(blocks, d) }); d != [2]int32{0, 3} || x.Blocks() != 3 {
		t.Errorf("depths %v by events, expected 0 and 3", d)
	}
	x.Clear(1, 1, 3)
	x.Set(0, 1, 1)
	if d := depths(func(d []int32) { x.Match(blocks, d) }); d != [2]int32{1, 0} {
		t.Errorf("depths %v after new events, expected 1 and 0", d)
	}
}
