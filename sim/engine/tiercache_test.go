package engine

import (
	"cmp"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestTierCacheAgainstAList compares the tier with a list of its idle blocks in
// the order of their last use, and sets of those that are written and read.
func TestTierCacheAgainstAList(t *testing.T) {
	hash := func(b uint32) uint64 { return uint64(b) * 0x9E3779B97F4A7C15 }
	byHash := func(a, b uint32) int { return cmp.Compare(hash(a), hash(b)) }
	rapid.Check(t, func(t *rapid.T) {
		capacity := rapid.IntRange(1, 12).Draw(t, "capacity")
		c := newTierCache(int32(capacity), hash)
		var idle []uint32
		var writes, reads [][]uint32
		pinned := map[uint32]int{}
		gone := func(b uint32) bool { return !slices.Contains(idle, b) && pinned[b] == 0 }
		drop := func(b uint32) { idle = slices.DeleteFunc(idle, func(o uint32) bool { return o == b }) }
		draw := func() []uint32 {
			return rapid.SliceOfNDistinct(rapid.Uint32Range(0, 20), 1, 6, rapid.ID[uint32]).Draw(t, "blocks")
		}
		unpin := func(blocks []uint32) {
			for _, b := range slices.SortedFunc(slices.Values(blocks), byHash) {
				if pinned[b]--; pinned[b] == 0 {
					idle = append(idle, b)
				}
			}
		}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			blocks := draw()
			switch rapid.IntRange(0, 4).Draw(t, "step") {
			case 0:
				fresh := c.absent(blocks)
				var others []uint32
				for _, b := range idle {
					if !slices.Contains(blocks, b) {
						others = append(others, b)
					}
				}
				held := len(idle)
				for _, n := range pinned {
					held += min(n, 1)
				}
				excess := max(0, held+len(fresh)-capacity)
				evicted, ok := c.write(fresh, blocks, 0)
				if ok != (excess <= len(others)) || ok && !slices.Equal(evicted, others[:excess]) {
					t.Fatalf("wrote %v beside %v: %v, %v; idle %v, %d over", fresh, blocks, evicted, ok, idle, excess)
				}
				if ok {
					for _, b := range evicted {
						drop(b)
					}
					for _, b := range fresh {
						pinned[b] = 1
					}
					writes = append(writes, fresh)
				}
			case 1:
				if len(writes) > 0 {
					c.written(writes[0])
					unpin(writes[0])
					writes = writes[1:]
				}
			case 2:
				n := 0
				for n < len(blocks) && c.readable(blocks[n]) {
					n++
				}
				checkLeading(t, c, blocks, n)
				for _, b := range blocks[:n] {
					if gone(b) {
						t.Fatalf("%d of %v can be read, but %d is gone", n, blocks, b)
					}
					drop(b)
					pinned[b]++
				}
				c.pin(blocks[:n])
				reads = append(reads, blocks[:n])
			case 3:
				if len(reads) > 0 {
					c.unpin(reads[0])
					unpin(reads[0])
					reads = reads[1:]
				}
			default:
				c.touch(blocks)
				for _, b := range slices.Backward(blocks) {
					if slices.Contains(idle, b) {
						drop(b)
						idle = append(idle, b)
					}
				}
			}
			var order []uint32
			for b := c.lru.next; b != &c.lru; b = b.next {
				order = append(order, b.block)
			}
			if !slices.Equal(order, idle) || c.idle != len(idle) || len(c.entries) > capacity {
				t.Fatalf("LRU order %v, expected %v; %d blocks of %d", order, idle, len(c.entries), capacity)
			}
		}
	})
}

// checkLeading compares what leads blocks in the tier, with those that are still
// written, with the first n that can be read.
func checkLeading(t *rapid.T, c *tierCache, blocks []uint32, n int) {
	there, writing := c.leading(blocks)
	want, busy := 0, false
	for want < len(blocks) && c.entries[blocks[want]] != nil {
		e := c.entries[blocks[want]]
		busy = busy || e.writing
		want++
	}
	if there != want || writing != busy || there < n {
		t.Fatalf("of %v %d lead, written %v, expected %d and %v; %d can be read", blocks, there, writing, want, busy, n)
	}
}

// TestLinkTakesTurns: transfers follow each other, and a transfer's wait for its
// first byte runs beside the ones before it.
func TestLinkTakesTurns(t *testing.T) {
	l := link{gbPerSecond: 0.001, latencyMS: 3} // 1,000 bytes per ms
	for i, c := range []struct{ at, bytes, want float64 }{
		{0, 10_000, 13}, {1, 5_000, 18}, {17, 1_000, 21}, {100, 2_000, 105},
	} {
		if got := l.submit(c.at, c.bytes); got != c.want {
			t.Errorf("transfer %d ends at %v, expected %v", i, got, c.want)
		}
	}
	if free := (&link{latencyMS: 2}); free.submit(5, 1e9) != 7 {
		t.Error("without a limit a transfer takes its latency")
	}
}
