package policy_test

import (
	"fmt"

	"routesim/sim/router/policy"
)

// newFewestBlocks takes the worker with the fewest active blocks, unless it has
// more than a share of its pool in use.
func newFewestBlocks(share float64) *policy.Policy {
	notFull := func(q *policy.Request, rows []policy.Candidate, keep []bool) {
		for i, r := range rows {
			keep[i] = float64(r.ActiveBlocks) <= share*float64(r.KVBlocks)
		}
	}
	blocks := func(q *policy.Request, rows []policy.Candidate, cost []float64) {
		for i, r := range rows {
			cost[i] = float64(r.ActiveBlocks + r.NewBlocks)
		}
	}
	return &policy.Policy{Name: "fewest-blocks", Needs: policy.Load, Filters: []policy.Filter{{Name: "not full", Keep: notFull}}, Scorers: []policy.Scorer{{Name: "blocks", Score: blocks}}}
}

// A policy of one's own, asked about three workers of which the first is full.
func Example() {
	c := policy.Chooser{Policy: *newFewestBlocks(0.9)}
	out, err := c.Choose(&policy.Request{ISL: 640, BlockSize: 64}, []policy.Candidate{
		{Target: 0, ActiveBlocks: 95, NewBlocks: 0, KVBlocks: 100},
		{Target: 1, ActiveBlocks: 90, NewBlocks: 10, KVBlocks: 1000},
		{Target: 2, ActiveBlocks: 90, NewBlocks: 12, KVBlocks: 1000},
	})
	fmt.Println(out.Target, out.Cost, err)
	// Output: 1 100 <nil>
}
