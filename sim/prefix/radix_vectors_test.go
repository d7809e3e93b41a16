package prefix_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func ext(x uint64) *uint64 { return &x }

// pairs makes blocks from external and local hashes in turn.
func pairs(x ...uint64) (p []radixPair) {
	for i := 0; i < len(x); i += 2 {
		p = append(p, radixPair{external: x[i], local: x[i+1]})
	}
	return p
}

// TestRadixVectors checks the tree against depths that Dynamo's own index gave.
func TestRadixVectors(t *testing.T) {
	type query struct {
		locals []uint64
		want   map[int]int
	}
	r := newRadix()
	step := func(name string, err error, queries ...query) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, q := range queries {
			if d := cmp.Diff(q.want, r.match(q.locals)); d != "" {
				t.Errorf("%s, query %v: %s", name, q.locals, d)
			}
		}
	}
	step("1 stores four", r.store(1, nil, pairs(101, 1, 102, 2, 103, 3, 104, 4)))
	step("2 stores two", r.store(2, nil, pairs(101, 1, 102, 2)),
		query{[]uint64{1, 2, 3, 4, 5}, map[int]int{1: 4, 2: 2}},
		query{[]uint64{1, 2, 9}, map[int]int{1: 2, 2: 2}},
		query{[]uint64{2}, map[int]int{}})
	step("1 removes 102", r.remove(1, []uint64{102}), query{[]uint64{1, 2, 3, 4}, map[int]int{1: 1, 2: 2}})
	step("1 stores it again", r.store(1, ext(101), pairs(102, 2)), query{[]uint64{1, 2, 3, 4}, map[int]int{1: 2, 2: 2}})

	r = newRadix()
	step("1 stores two", r.store(1, nil, pairs(101, 1, 102, 2)))
	step("2 stores two", r.store(2, nil, pairs(101, 1, 102, 2)))
	step("2 branches off", r.store(2, ext(102), pairs(203, 9)))
	step("1 branches off", r.store(1, ext(102), pairs(103, 3, 104, 4)), query{[]uint64{1, 2, 3, 4}, map[int]int{1: 4, 2: 2}})
	step("1 removes 102", r.remove(1, []uint64{102}), query{[]uint64{1, 2, 3, 4}, map[int]int{1: 1, 2: 2}})
	step("1 stores it again", r.store(1, ext(101), pairs(102, 2)), query{[]uint64{1, 2, 3, 4}, map[int]int{1: 4, 2: 2}})

	r = newRadix()
	step("rank 0 stores", r.store(10, nil, pairs(101, 1)))
	step("rank 1 stores", r.store(11, nil, pairs(101, 1)))
	r.clear(10)
	step("rank 0 is cleared", nil, query{[]uint64{1}, map[int]int{11: 1}})
}

// TestRadixRefuses checks the events that Dynamo's index rejects.
func TestRadixRefuses(t *testing.T) {
	r := newRadix()
	if err := r.store(1, nil, pairs(101, 1, 102, 2)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		err  error
		want error
	}{
		{"store below an unknown parent", r.store(1, ext(999), pairs(103, 3)), errParentUnknown},
		{"store below another worker's block", r.store(2, ext(101), pairs(103, 3)), errParentUnknown},
		{"removal of an unknown block", r.remove(1, []uint64{5555}), errBlockUnknown},
		{"a block below itself", r.store(1, ext(101), pairs(101, 1)), errInvalid},
		{"removal of a block and of one it takes along", r.remove(1, []uint64{101, 102}), nil},
		{"removal of what is gone", r.remove(1, []uint64{102}), errBlockUnknown},
	} {
		if !errors.Is(c.err, c.want) {
			t.Errorf("%s: %v, expected %v", c.name, c.err, c.want)
		}
	}
}
