package sim

import (
	"testing"

	"routesim/sim/router"
	"routesim/workloads"
)

// sequential is a scenario of sessions whose turns come one after the other,
// each longer by a block, with a number of blocks that all sessions begin with.
func sequential(sessions, turns, common int) *scenario {
	s := burst(0, 2, 64, 1, 0)
	s.cfg.Concurrency = 1
	for i := range sessions {
		for turn := range turns {
			r := workloads.Row{OutputLength: 4}
			for k := range common {
				r.HashIDs = append(r.HashIDs, uint64(k))
			}
			for k := range turn + 4 {
				r.HashIDs = append(r.HashIDs, uint64((i+1)*1000+k))
			}
			s.rows = append(s.rows, r)
		}
	}
	return s
}

// TestAffinityCollapses: when each request ends before the next comes, loads are
// always 0, and a system prompt that all sessions share binds everything to the
// first worker. Without it, or with the sum over requests in flight, sessions
// spread.
func TestAffinityCollapses(t *testing.T) {
	share := func(s *scenario) float64 {
		r := s.mustRun(t, nil)
		a, b := r.Workers[0].Requests, r.Workers[1].Requests
		return float64(max(a, b)) / float64(a+b)
	}
	if x := share(sequential(56, 8, 2)); x < 0.95 {
		t.Errorf("one worker gets %.0f %% of all requests, expected at least 95 %%", 100*x)
	}
	if x := share(sequential(56, 8, 0)); x > 0.72 {
		t.Errorf("without a common prefix one worker gets %.0f %%, expected about half", 100*x)
	}
	s := sequential(56, 8, 2)
	s.cfg.Router.Mode = router.RoundRobin
	if x := share(s); x != 0.5 {
		t.Errorf("round robin gives one worker %.0f %%", 100*x)
	}
}

// TestPredictionKeepsBurstsTogether: identical prompts of one instant scatter,
// because no event tells of the first one yet; with predicted entries fewer
// workers compute the same prefix.
func TestPredictionKeepsBurstsTogether(t *testing.T) {
	workers := func(predicted *float64) (pairs int) {
		for seed := range uint64(10) {
			s := burst(64, 4, 2048, 10, 0)
			for i := range s.rows {
				s.rows[i].HashIDs = s.rows[i%8].HashIDs
			}
			s.cfg.Seed, s.cfg.Router.Live.PredictedTTLSecs = seed, predicted
			s.cfg.Router.AssumeKVReuse = false // else shared active blocks hold them together
			r := s.mustRun(t, nil)
			seen := map[[2]int32]bool{}
			for i := range r.Requests {
				seen[[2]int32{int32(i % 8), r.Requests[i].Worker}] = true
			}
			pairs += len(seen)
		}
		return pairs
	}
	ttl := 60.0
	if with, without := workers(&ttl), workers(nil); with >= without {
		t.Errorf("%d pairs of prompt and worker with predicted entries, %d without, expected fewer", with, without)
	}
}

// TestDecodingPastTheExpiry: a live request whose pauses between tokens are
// shorter than the scan's period is never taken for dead, however long it runs.
func TestDecodingPastTheExpiry(t *testing.T) {
	for _, c := range []struct {
		period  float64 // s
		expired bool
	}{{1, false}, {0.02, true}} {
		s := burst(4, 2, 640, 400, 10)
		for i := range s.cfg.Fleet {
			s.cfg.Fleet[i].Timing = drawnFixed(t, 100, 50) // tokens 50 ms apart, 20 s in all
		}
		s.cfg.Router.Live.ExpirySecs = c.period
		r := s.mustRun(t, nil)
		if got := r.Counters.Expired > 0; got != c.expired {
			t.Errorf("period %v s: %d requests taken for dead", c.period, r.Counters.Expired)
		}
	}
}
