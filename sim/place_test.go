package sim

import "testing"

// TestRegretLooksAtWhoMayServe: what a worker holds that takes no requests is no
// regret of the choice among the others, in aggregated serving and in the prefill
// pool.
func TestRegretLooksAtWhoMayServe(t *testing.T) {
	for _, pools := range []bool{false, true} {
		s := burst(2, 3, 640, 4, 10_000)
		s.rows[1].HashIDs = s.rows[0].HashIDs
		pool := Aggregated
		if pools {
			s.cfg.Prefill, pool = s.cfg.Fleet, PrefillPool
		}
		first := s.mustRun(t, nil)
		holder := first.Requests[0].Worker
		if pools {
			holder = first.Handoffs[0].PrefillWorker
		}
		if d := first.Requests[1].Decision; d.BestHeld == 0 || d.ChosenHeld != d.BestHeld {
			t.Fatalf("pools %v: chosen holds %d blocks of %d, expected some and all", pools, d.ChosenHeld, d.BestHeld)
		}
		drained := s.mustRun(t, func(c *Config) {
			c.Faults = []Fault{{Kind: Drain, Pool: pool, Worker: holder, From: 5000, To: 20_000}}
		})
		if d := drained.Requests[1].Decision; d.BestHeld != 0 || d.CeilingHeld == 0 {
			t.Errorf("pools %v: %d blocks count as available on a worker that takes no requests", pools, d.BestHeld)
		}
	}
}
