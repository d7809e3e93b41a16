package router

import "testing"

// TestRanksTakeTurns checks round robin by hand: workers take turns, and on
// each worker its ranks do.
func TestRanksTakeTurns(t *testing.T) {
	for name, c := range map[string]struct {
		ranks []int32
		flat  bool
		want  []int32
	}{
		"one rank each":         {[]int32{1, 1, 1}, false, []int32{0, 1, 2, 0, 1, 2, 0}},
		"two ranks each":        {[]int32{2, 2}, false, []int32{0, 2, 1, 3, 0, 2, 1}},
		"ranks of unequal size": {[]int32{1, 3}, false, []int32{0, 1, 0, 2, 0, 3, 0, 1}},
		"all alike":             {[]int32{2, 2}, true, []int32{0, 1, 2, 3, 0, 1}},
	} {
		p := DefaultParams()
		p.Mode = RoundRobin
		if c.flat {
			p.Stage = DecodeStage
		}
		var targets []Target
		for w, n := range c.ranks {
			for k := range n {
				targets = append(targets, Target{Worker: int32(w), Rank: k})
			}
		}
		r := New(p, targets, 64, 0, 0)
		for i, want := range c.want {
			if got, ok := r.Arrive(&Request{Row: int32(i), Worker: -1, Rank: -1}, 0, -1); !ok || got.Worker != want {
				t.Errorf("%s: turn %d goes to target %d, expected %d", name, i, got.Worker, want)
			}
		}
	}
}
