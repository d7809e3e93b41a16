package workloads

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// naive numbers ids and prefixes with maps, as the definition says.
type naive struct {
	ids   map[uint64]uint32
	nodes map[[2]uint32]uint32
	block []uint32 // by node
}

func newNaive() *naive {
	return &naive{ids: map[uint64]uint32{}, nodes: map[[2]uint32]uint32{}}
}

func (n *naive) id(id uint64) uint32 {
	if _, ok := n.ids[id]; !ok {
		n.ids[id] = uint32(len(n.ids))
	}
	return n.ids[id]
}

func (n *naive) prompt(ids []uint64) []uint32 {
	var nodes []uint32
	parent := root
	for _, id := range ids {
		key := [2]uint32{parent, n.id(id)}
		if _, ok := n.nodes[key]; !ok {
			n.nodes[key] = uint32(len(n.nodes))
			n.block = append(n.block, key[1])
		}
		nodes = append(nodes, n.nodes[key])
		parent = n.nodes[key] + 1
	}
	return nodes
}

// anID draws ids of all sorts: small and repeated, counting, near the border
// between array and hash table, and of all 64 bits.
func anID(t *rapid.T) uint64 {
	switch rapid.IntRange(0, 4).Draw(t, "kind") {
	case 0:
		return rapid.Uint64Range(0, 5).Draw(t, "id")
	case 1:
		return rapid.Uint64Range(0, 300).Draw(t, "id")
	case 2:
		return rapid.Uint64Range(1000, 10000).Draw(t, "id")
	case 3:
		return math.MaxUint64 - rapid.Uint64Range(0, 3).Draw(t, "id")
	}
	return rapid.Uint64().Draw(t, "id")
}

func TestInternEqualsMaps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var in interner
		want := newNaive()
		for range rapid.IntRange(1, 30).Draw(t, "prompts") {
			ids := rapid.SliceOfN(rapid.Custom(anID), 0, 20).Draw(t, "ids")
			surplus := rapid.SliceOfN(rapid.Custom(anID), 0, 3).Draw(t, "surplus")
			got := make([]uint32, len(ids))
			in.prompt(ids, got)
			if w := want.prompt(ids); !slices.Equal(got, w) {
				t.Fatalf("prompt %v: nodes %v, want %v", ids, got, w)
			}
			for _, id := range surplus {
				if g, w := in.ids.intern(id), want.id(id); g != w {
					t.Fatalf("id %d: number %d, want %d", id, g, w)
				}
			}
		}
		if int(in.ids.n) != len(want.ids) || int(in.nodes.n) != len(want.nodes) {
			t.Fatalf("%d ids and %d nodes, want %d and %d", in.ids.n, in.nodes.n, len(want.ids), len(want.nodes))
		}
		if got := in.nodes.blocks(); !slices.Equal(got, want.block) && len(got)+len(want.block) > 0 {
			t.Fatalf("blocks %v, want %v", got, want.block)
		}
	})
}

// TestInternMany grows every table several times.
func TestInternMany(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var in interner
	want := newNaive()
	next := uint64(0)
	nodes := make([]uint32, 64)
	for range 4000 {
		ids := make([]uint64, 1+rng.IntN(60))
		for i := range ids {
			switch next++; rng.IntN(10) {
			case 0:
				ids[i] = rng.Uint64()
			case 1:
				ids[i] = rng.Uint64N(next) // a block seen before, after another parent
			case 2:
				ids[i] = next * 3 // ahead of the array, until it grows over it
			default:
				ids[i] = next
			}
		}
		in.prompt(ids, nodes)
		if w := want.prompt(ids); !slices.Equal(nodes[:len(ids)], w) {
			t.Fatalf("prompt %v: nodes %v, want %v", ids, nodes[:len(ids)], w)
		}
	}
	if !slices.Equal(in.nodes.blocks(), want.block) {
		t.Error("blocks differ")
	}
}

func TestNames(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var table nameTable
		want := map[string]int32{}
		for range rapid.IntRange(1, 100).Draw(t, "n") {
			name := rapid.StringN(0, 3, 4).Draw(t, "name")
			n, known := want[name]
			if got, ok := table.find([]byte(name)); ok != known || ok && got != n {
				t.Fatalf("find %q: %d, %v, want %d, %v", name, got, ok, n, known)
			}
			if !known {
				n = int32(len(want))
				want[name] = n
			}
			if got, fresh := table.intern([]byte(name)); got != n || fresh == known {
				t.Fatalf("intern %q: %d, %v, want %d", name, got, fresh, n)
			}
			if got := table.names.at(int(n)); got != name {
				t.Fatalf("name %d is %q, want %q", n, got, name)
			}
		}
	})
}
