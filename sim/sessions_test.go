package sim

import (
	"fmt"
	"slices"
	"testing"

	"routesim/sim/router"
	"routesim/workloads"
)

// TestSequentialSessions lets sessions run strictly one request after the
// other: a common system prompt ties them all to one worker, without it they
// split and never move.
func TestSequentialSessions(t *testing.T) {
	for _, common := range []bool{true, false} {
		s := idleScenario(t, 2)
		s.opts.BlockSize = 64
		s.cfg.Concurrency = 1
		for session := range 56 {
			for turn := range 8 {
				var ids []uint64
				if common {
					ids = []uint64{1, 2}
				}
				for k := range 4 + 2*turn {
					ids = append(ids, uint64(1000*session+k+10))
				}
				s.add(0, int32(64*len(ids)), 10, ids...).SessionID = fmt.Sprint("s", session)
			}
		}
		res := s.mustRun(t, nil)
		n := share(res)
		if common {
			if slices.Max(n) < 448*95/100 {
				t.Errorf("with a common prompt the workers got %v, expected nearly all on one", n)
			}
			continue
		}
		if n[0] < 8*16 || n[0] > 8*40 {
			t.Errorf("without a common prompt the workers got %v, expected about half each", n)
		}
		for i := range res.Requests {
			if first := i / 8 * 8; res.Requests[i].Worker != res.Requests[first].Worker {
				t.Errorf("row %d moved from worker %d to %d", i, res.Requests[first].Worker, res.Requests[i].Worker)
			}
		}
	}
}

// TestOpenAndClosedLoop keeps recorded arrivals in an open loop and lets turns
// wait for the answer before.
func TestOpenAndClosedLoop(t *testing.T) {
	s := idleScenario(t, 1)
	s.fixedTiming(t, 100, 100)
	s.add(0, 64, 1, 1)
	s.add(10, 64, 1, 2)
	if r := s.mustRun(t, nil).Requests[1]; r.Arrival != 10 || r.FirstToken != 200 {
		t.Errorf("open loop: %+v, expected an arrival at 10 ms and a token at 200", r)
	}
	delay := 5.0
	for i := range s.rows {
		s.rows[i].SessionID = "a"
	}
	s.rows[1].Delay, s.rows[1].Timestamp = &delay, workloads.NoTime
	for _, c := range []struct{ service, arrival float64 }{{100, 105}, {200, 205}} {
		s.fixedTiming(t, c.service, 0)
		for _, concurrency := range []int{0, 1, 4} {
			s.cfg.Concurrency = concurrency
			if r := s.mustRun(t, nil).Requests[1]; r.Arrival != c.arrival {
				t.Errorf("session, service of %v ms, concurrency %d: arrival at %v, expected %v", c.service, concurrency, r.Arrival, c.arrival)
			}
		}
	}
	s.cfg.ArrivalSpeedup = 2
	s.fixedTiming(t, 100, 0)
	s.cfg.Concurrency = 0
	if r := s.mustRun(t, nil).Requests[1]; r.Arrival != 102.5 {
		t.Errorf("open loop at double speed: arrival at %v, expected 102.5", r.Arrival)
	}
	s.cfg.Concurrency = 1
	if r := s.mustRun(t, nil).Requests[1]; r.Arrival != 105 {
		t.Errorf("closed loop at double speed: arrival at %v, expected 105", r.Arrival)
	}
}

// TestDeltaTurnsRepeatAnswers gives a later delta turn the previous prompt and
// the answer to it: their complete blocks are in the cache. An equal prompt of
// another session got another answer.
func TestDeltaTurnsRepeatAnswers(t *testing.T) {
	for _, delta := range []bool{true, false} {
		s := idleScenario(t, 1)
		s.opts.Delta, s.opts.BlockSize = delta, 512
		for i, session := range []string{"a", "b"} {
			s.add(float64(i), 512, 512, 1).SessionID = session
		}
		for i, session := range []string{"a", "b"} {
			s.add(float64(100_000*(i+1)), 512, 1, 2).SessionID = session
		}
		r := s.mustRun(t, nil).Requests
		for i := 2; i < 4; i++ {
			want := []int32{512, int32(i-2) * 448} // the second repeats the first
			if delta {
				// All but the block of the answer's last token, which was never computed.
				want = []int32{1536, 1024 - 64}
			}
			if r[i].InputTokens != want[0] || r[i].FirstReused != want[1] {
				t.Errorf("delta %v, row %d: prompt of %d tokens with %d reused, expected %v", delta, i, r[i].InputTokens, r[i].FirstReused, want)
			}
		}
	}
	// Without b's first turn its second finds only the common prompt.
	s := idleScenario(t, 2)
	s.opts.Delta, s.opts.BlockSize = true, 512
	s.cfg.Router.Mode = router.RoundRobin
	s.add(0, 512, 512, 1).SessionID = "a"     // worker 0
	s.add(0, 512, 512, 1).SessionID = "b"     // worker 1
	s.add(50_000, 512, 1, 2).SessionID = "b"  // worker 0, which has answered a only
	s.add(100_000, 512, 1, 2).SessionID = "a" // worker 1, which has answered b only
	r := s.mustRun(t, nil).Requests
	if r[2].Worker != 0 || r[3].Worker != 1 {
		t.Fatalf("workers %d and %d, expected 0 and 1", r[2].Worker, r[3].Worker)
	}
	for _, row := range []int{2, 3} {
		if r[row].FirstReused != 512 || r[row].Decision.ChosenHeld != 8 {
			t.Errorf("row %d reuses %d tokens of another's answer, expected the 512 of the prompt", row, r[row].FirstReused)
		}
	}
}

// TestRecordedAnswersAreFound serves a prompt from blocks that another request
// generated, where the trace says what it generated.
func TestRecordedAnswersAreFound(t *testing.T) {
	s := idleScenario(t, 1)
	s.opts.BlockSize = 64
	answer := make([]uint32, 129)
	for i := range answer {
		answer[i] = 1 // the number of the second hash id of the trace
	}
	s.add(0, 64, 129, 70).OutputTokenIDs = answer
	s.add(50_000, 192, 1, 70, 71, 72).OutputTokenIDs = []uint32{5}
	if r := s.mustRun(t, nil).Requests[1]; r.FirstReused != 128 {
		t.Errorf("%d tokens reused, expected the prompt's and the answer's first block", r.FirstReused)
	}
	s.rows[0].OutputTokenIDs, s.rows[1].OutputTokenIDs = nil, nil
	if r := s.mustRun(t, nil).Requests[1]; r.FirstReused != 64 {
		t.Errorf("%d tokens reused without recorded answers, expected the prompt's block", r.FirstReused)
	}
}
