package engine

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// naiveTree is the cache as a list of paths: every page with its parent, its
// locks and when it was last passed by, one page per node. Ticks are given to
// whole operations.
type naiveTree struct {
	parent map[uint32]uint32
	locks  map[uint32]int
}

func (n *naiveTree) depth(pages []uint32) (d int32) {
	for _, p := range pages {
		if _, ok := n.parent[p]; !ok {
			return d
		}
		d++
	}
	return d
}

// path draws a text over a small alphabet and names its pages by their history.
func path(t *rapid.T, names map[[2]uint32]uint32) (pages []uint32) {
	at := uint32(0)
	for range rapid.IntRange(1, 6).Draw(t, "length") {
		key := [2]uint32{at, uint32(rapid.IntRange(0, 1).Draw(t, "page"))}
		id, ok := names[key]
		if !ok {
			id = uint32(len(names) + 1)
			names[key] = id
		}
		pages = append(pages, id)
		at = id
	}
	return pages
}

// TestRadixAgainstPages checks what the tree holds, locks and can evict against
// a record of single pages.
func TestRadixAgainstPages(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tree, names := newRadix(), map[[2]uint32]uint32{}
		naive := naiveTree{map[uint32]uint32{}, map[uint32]int{}}
		type user struct {
			node  int32
			pages []uint32
		}
		var users []user
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			switch rapid.IntRange(0, 3).Draw(t, "step") {
			case 0: // a request comes: it locks what is there
				p := path(t, names)
				want := naive.depth(p)
				if got := tree.depth(p); got != want {
					t.Fatalf("depth %d, expected %d", got, want)
				}
				node, n := tree.matchAndLock(p)
				if n != want {
					t.Fatalf("matched %d pages, expected %d", n, want)
				}
				for _, id := range p[:n] {
					naive.locks[id]++
				}
				users = append(users, user{node, p[:n:n]})
			case 1: // a request stores more of its text
				if len(users) == 0 {
					continue
				}
				i := rapid.IntRange(0, len(users)-1).Draw(t, "user")
				u := &users[i]
				p := path(t, names)
				if len(p) <= len(u.pages) || !slices.Equal(p[:len(u.pages)], u.pages) {
					continue
				}
				fresh := p[len(u.pages):]
				node, known := tree.insert(u.node, fresh)
				if want := naive.depth(p) - int32(len(u.pages)); known != want {
					t.Fatalf("%d pages were known, expected %d", known, want)
				}
				for k := len(u.pages); k < len(p); k++ {
					up := uint32(0)
					if k > 0 {
						up = p[k-1]
					}
					naive.parent[p[k]] = up
				}
				tree.lock(node)
				tree.unlock(u.node)
				for _, id := range fresh {
					naive.locks[id]++
				}
				*u = user{node, p}
			case 2: // a request ends
				if len(users) == 0 {
					continue
				}
				i := rapid.IntRange(0, len(users)-1).Draw(t, "user")
				tree.unlock(users[i].node)
				for _, id := range users[i].pages {
					naive.locks[id]--
				}
				users = slices.Delete(users, i, i+1)
			case 3:
				n := int32(rapid.IntRange(1, 4).Draw(t, "evict"))
				before := tree.evictable
				tree.evict(n, func(pages []uint32) {
					for _, id := range slices.Backward(pages) {
						if _, ok := naive.parent[id]; !ok || naive.locks[id] > 0 {
							t.Fatalf("page %d is dropped: held %v, locked %d times", id, ok, naive.locks[id])
						}
						for child, up := range naive.parent {
							if up == id {
								t.Fatalf("page %d is dropped before page %d behind it", id, child)
							}
						}
						delete(naive.parent, id)
					}
				})
				if want := before - min(n, before); tree.evictable != want {
					t.Fatalf("%d pages can be evicted after %d of %d, expected %d", tree.evictable, n, before, want)
				}
			}
			idle := int32(0)
			for id := range naive.parent {
				if naive.locks[id] == 0 {
					idle++
				}
			}
			if int(tree.held) != len(naive.parent) || tree.evictable != idle {
				t.Fatalf("%d pages held and %d evictable, expected %d and %d", tree.held, tree.evictable, len(naive.parent), idle)
			}
		}
	})
}

// TestRadixEvictsTheLongestUnused checks the order of eviction by hand: a leaf
// that an operation came by last goes last, and it goes from its end.
func TestRadixEvictsTheLongestUnused(t *testing.T) {
	tree := newRadix()
	tree.insert(root, []uint32{1, 2, 3})
	tree.insert(root, []uint32{4, 5})
	tree.insert(root, []uint32{1, 2, 6})
	node, _ := tree.matchAndLock([]uint32{4, 5})
	tree.unlock(node)
	var gone []uint32
	for range 6 {
		tree.evict(1, func(pages []uint32) { gone = append(gone, pages...) })
	}
	if want := []uint32{3, 6, 2, 1, 5, 4}; !slices.Equal(gone, want) {
		t.Errorf("evicted %v, expected %v", gone, want)
	}
}
