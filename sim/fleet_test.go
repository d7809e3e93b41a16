package sim

import (
	"math"
	"testing"

	"routesim/sim/engine"
	"routesim/sim/router"
)

// TestRanksRunTogether checks that the ranks of a worker start and end their
// passes together, that the slowest sets the end, and that a rank without work
// waits for it.
func TestRanksRunTogether(t *testing.T) {
	p := engine.DefaultParams()
	p.DPSize = 3
	s := idleScenario(t, 1)
	s.opts.BlockSize = 512
	s.cfg.Fleet[0].Engine, s.cfg.Router.Mode = p, router.RoundRobin
	s.add(0, 64, 2, 1)
	s.add(0, 6400, 2, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14)
	s.add(20, 64, 1, 15)
	r := s.mustRun(t, nil)
	a, b, late := &r.Requests[0], &r.Requests[1], &r.Requests[2]
	if a.Worker != 0 || b.Worker != 1 || late.Worker != 2 {
		t.Fatalf("ranks %d, %d and %d, expected 0, 1 and 2", a.Worker, b.Worker, late.Worker)
	}
	if a.FirstToken != b.FirstToken || !(a.FirstToken > 100) {
		t.Errorf("first tokens at %v and %v ms, expected both when the long prompt is done", a.FirstToken, b.FirstToken)
	}
	if late.FirstAdmit != a.FirstToken {
		t.Errorf("the idle rank starts at %v ms, expected %v, when its worker's pass ends", late.FirstAdmit, a.FirstToken)
	}
	if len(r.Workers) != 3 || math.Abs(r.WorkerSeconds-r.EndMS/1000) > 1e-12 {
		t.Errorf("%d ranks and %v worker seconds of %v ms, expected 3 and one worker's", len(r.Workers), r.WorkerSeconds, r.EndMS)
	}
}
