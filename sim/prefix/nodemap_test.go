package prefix_test

import (
	"flag"
	"os"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"routesim/sim/prefix"
)

// TestMain makes the property tests repeatable; the flags still override it.
func TestMain(m *testing.M) {
	for _, f := range [][2]string{{"rapid.seed", "20250802"}, {"rapid.checks", "200"}, {"rapid.nofailfile", "true"}} {
		if err := flag.Set(f[0], f[1]); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

// TestNodeMapEqualsMap inserts, finds and deletes like a map, hands out every
// entry number once and takes it back.
func TestNodeMapEqualsMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, want := prefix.NewNodeMap(), map[uint32]int32{}
		var present []uint32
		span := rapid.SampledFrom([]uint32{20, 300, 5000, 1<<32 - 2}).Draw(t, "nodes")
		most := 0
		for range rapid.IntRange(1, 400).Draw(t, "steps") {
			node := rapid.Uint32Range(0, span).Draw(t, "node")
			if len(present) > 0 && rapid.IntRange(0, 2).Draw(t, "known") == 0 {
				node = rapid.SampledFrom(present).Draw(t, "present")
			}
			e, ok := want[node]
			if got := m.Find(node); ok && got != e || !ok && got != -1 {
				t.Fatalf("Find(%d) = %d, expected %d, %v", node, got, e, ok)
			}
			switch {
			case !ok:
				e = m.Insert(node)
				for n, other := range want {
					if other == e {
						t.Fatalf("entry %d belongs to %d and %d", e, n, node)
					}
				}
				want[node] = e
				present = append(present, node)
			case rapid.Bool().Draw(t, "delete"):
				m.Delete(node)
				delete(want, node)
				present = slices.DeleteFunc(present, func(n uint32) bool { return n == node })
			}
			most = max(most, len(want))
			if m.Len() != len(want) || m.Entries() > most {
				t.Fatalf("%d nodes in %d entries, expected %d and at most %d", m.Len(), m.Entries(), len(want), most)
			}
		}
		for node, e := range want {
			if got := m.Find(node); got != e {
				t.Fatalf("at the end Find(%d) = %d, expected %d", node, got, e)
			}
		}
	})
}

// TestNodeMapGrows holds many nodes, in the order of a trace and scattered.
func TestNodeMapGrows(t *testing.T) {
	for _, step := range []uint32{1, 8, 1 << 12, 0x9E3779B1} {
		m := prefix.NewNodeMap()
		const n = 20000
		for i := range uint32(n) {
			if e := m.Insert(i * step); e != int32(i) {
				t.Fatalf("step %d: entry %d, expected %d", step, e, i)
			}
		}
		for i := range uint32(n) {
			if i%3 != 0 {
				m.Delete(i * step)
			}
		}
		for i := range uint32(n) {
			want := int32(i)
			if i%3 != 0 {
				want = -1
			}
			if got := m.Find(i * step); got != want {
				t.Fatalf("step %d: Find(%d) = %d, expected %d", step, i*step, got, want)
			}
		}
	}
}
