package prefix

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestTierAgainstSets compares the tier with plain sets of blocks, which come and
// go in any order, and its walk with one block by block.
func TestTierAgainstSets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const workers, blocks = 3, 40
		x := NewTier(workers, rapid.Uint8Range(0, 4).Draw(t, "shift"))
		sets := [workers]map[uint32]bool{{}, {}, {}}
		prompt := rapid.SliceOfN(rapid.Uint32Range(0, blocks-1), 0, 12).Draw(t, "prompt")
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			w := rapid.Int32Range(0, workers-1).Draw(t, "worker")
			b, n := rapid.Uint32Range(0, blocks-9).Draw(t, "block"), rapid.Int32Range(1, 9).Draw(t, "count")
			switch rapid.IntRange(0, 9).Draw(t, "change") {
			case 0:
				x.Purge(w)
				clear(sets[w])
			case 1, 2, 3:
				x.Clear(w, b, n)
				for i := range uint32(n) {
					delete(sets[w], b+i)
				}
			default:
				x.Set(w, b, n)
				for i := range uint32(n) {
					sets[w][b+i] = true
				}
			}
			from, got, want := make([]int32, workers), make([]int32, workers), make([]int32, workers)
			total := 0
			for w := range sets {
				from[w] = rapid.Int32Range(0, int32(len(prompt))).Draw(t, "from")
				for at := from[w]; int(at) < len(prompt) && sets[w][prompt[at]]; at++ {
					want[w]++
				}
				total += len(sets[w])
			}
			x.Continue(prompt, from, got)
			if !slices.Equal(got, want) || x.Blocks() != total {
				t.Fatalf("%v more from %v of %v, want %v; %d blocks, want %d", got, from, prompt, want, x.Blocks(), total)
			}
		}
	})
}

// TestSharedAgainstAList compares the shared cache with a list of blocks in the
// order of their last use.
func TestSharedAgainstAList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		capacity := rapid.IntRange(0, 12).Draw(t, "capacity")
		x := NewShared(capacity)
		var used []uint32 // the most recently used one last
		use := func(b uint32) {
			used = append(slices.DeleteFunc(used, func(o uint32) bool { return o == b }), b)
		}
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			if rapid.Bool().Draw(t, "store") {
				b, n := rapid.Uint32Range(0, 20).Draw(t, "block"), rapid.Int32Range(1, 6).Draw(t, "count")
				x.Store(b, n)
				for i := range uint32(n) {
					use(b + i)
				}
				if capacity > 0 {
					used = used[max(0, len(used)-capacity):]
				}
			}
			prompt := rapid.SliceOfNDistinct(rapid.Uint32Range(0, 25), 0, 8, rapid.ID[uint32]).Draw(t, "prompt")
			got, want := make([]int32, len(prompt)+1), make([]int32, len(prompt)+1)
			x.Beyond(prompt, got)
			for i := len(prompt) - 1; i >= 0; i-- {
				want[i] = want[i+1]
				if slices.Contains(used, prompt[i]) {
					want[i]++
					use(prompt[i])
				}
			}
			if !slices.Equal(got, want) || x.Blocks() != len(used) {
				t.Fatalf("%v of %v, want %v; %d blocks, want %d", got, prompt, want, x.Blocks(), len(used))
			}
		}
	})
}
