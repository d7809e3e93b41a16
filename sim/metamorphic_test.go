package sim

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"routesim/models"
	"routesim/sim/router"
	"routesim/workloads"
)

// The tests of this file change a scenario in a way that has a known effect.

// both runs a scenario before and after a change; it reports false where a
// worker got stuck.
func both(t *rapid.T, s *scenario, change func()) (before, after *Result, ok bool) {
	before, err := s.run(t, nil)
	change()
	after, err2 := s.run(t, nil)
	if (err == nil) != (err2 == nil) {
		t.Fatalf("one run ends with %v, the other with %v", err, err2)
	}
	return before, after, err == nil
}

// TestShiftedArrivals adds a constant to all timestamps: nothing changes.
func TestShiftedArrivals(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawScenario(t)
		for i := range s.rows {
			s.rows[i].Timestamp = math.Round(s.rows[i].Timestamp) // keeps the sum exact
		}
		shift := rapid.SampledFrom([]float64{1 << 20, -4096, 1_700_000_000_000}).Draw(t, "shift")
		a, b, ok := both(t, s, func() {
			s.rows = slices.Clone(s.rows)
			for i := range s.rows {
				s.rows[i].Timestamp += shift
			}
		})
		if !ok {
			return
		}
		if d := sameResults(a, b); d != "" {
			t.Fatal(d)
		}
	})
}

// TestRelabelledIDs renames hash ids one to one: nothing changes. Recorded
// answers would name other blocks then, so they are left out.
func TestRelabelledIDs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawScenario(t)
		for i := range s.rows {
			s.rows[i].OutputTokenIDs = nil
		}
		a, b, ok := both(t, s, func() {
			s.rows = slices.Clone(s.rows)
			for i := range s.rows {
				ids := slices.Clone(s.rows[i].HashIDs)
				for k := range ids {
					ids[k] = ids[k]*0x9E3779B97F4A7C15 + 12345 // odd factor: one to one
				}
				s.rows[i].HashIDs = ids
			}
		})
		if !ok {
			return
		}
		if d := sameResults(a, b); d != "" {
			t.Fatal(d)
		}
	})
}

// TestScaledLengths multiplies lengths, blocks and budgets in tokens by four.
// With passes of fixed length and one token per answer nothing else changes.
func TestScaledLengths(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawScenario(t)
		fixed, err := models.NewFixed(10, 5, models.TimingOptions{CapacityTokens: 1, SpeedupRatio: 1, DecodeSpeedupRatio: 1})
		if err != nil {
			t.Fatal(err)
		}
		s.cfg.Router.QueuePolicy = router.FCFS // wspt weighs tokens
		for i := range s.cfg.Fleet {
			s.cfg.Fleet[i].Timing = fixed
			s.cfg.Fleet[i].Engine.MaxNumBatchedTokens = min(s.cfg.Fleet[i].Engine.MaxNumBatchedTokens, 10_000)
			s.cfg.Fleet[i].Engine.MaxModelLen = 0
		}
		for i := range s.rows {
			r := &s.rows[i]
			r.OutputLength, r.OutputTokenIDs = 1, nil
			if r.InputLength == 0 {
				r.InputLength = int32(len(r.HashIDs)) * s.opts.BlockSize
			}
			// The last-block rule counts single tokens: keep clear of it.
			if bs := s.cfg.Fleet[0].Engine.BlockSize; r.InputLength%bs == 0 && bs > 1 {
				r.InputLength--
			}
		}
		if s.cfg.Fleet[0].Engine.BlockSize == 1 {
			return
		}
		s.opts.Delta = false
		a, b, ok := both(t, s, func() {
			s.rows = slices.Clone(s.rows)
			for i := range s.rows {
				s.rows[i].InputLength *= 4
			}
			s.opts.BlockSize *= 4
			s.cfg.Fleet = slices.Clone(s.cfg.Fleet)
			for i := range s.cfg.Fleet {
				e := &s.cfg.Fleet[i].Engine
				e.BlockSize, e.MaxNumBatchedTokens = 4*e.BlockSize, 4*e.MaxNumBatchedTokens
			}
		})
		if !ok {
			return
		}
		for i := range b.Requests {
			r := &b.Requests[i]
			r.InputTokens, r.FirstReused, r.MaxReused = r.InputTokens/4, r.FirstReused/4, r.MaxReused/4
		}
		if d := cmp.Diff(a.Requests, b.Requests, cmpopts.EquateNaNs()); d != "" {
			t.Fatal(d)
		}
	})
}

// TestScaledTime multiplies arrivals, delays, lags and step times by four: all
// times are four times as long.
func TestScaledTime(t *testing.T) {
	fixed := func(t *rapid.T, f float64) models.StepModel {
		m, err := models.NewFixed(10*f, 2.5*f, models.TimingOptions{CapacityTokens: 1, SpeedupRatio: 1, DecodeSpeedupRatio: 1})
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	rapid.Check(t, func(t *rapid.T) {
		s := drawScenario(t)
		s.cfg.ArrivalSpeedup = 1
		for i := range s.rows {
			s.rows[i].Timestamp = math.Round(s.rows[i].Timestamp)
			s.rows[i].Priority = 0 // counts in seconds
		}
		for i := range s.cfg.Fleet {
			s.cfg.Fleet[i].Timing = fixed(t, 1)
		}
		a, b, ok := both(t, s, func() {
			s.rows = slices.Clone(s.rows)
			for i := range s.rows {
				s.rows[i].Timestamp *= 4
				if d := s.rows[i].Delay; d != nil {
					four := 4 * *d
					s.rows[i].Delay = &four
				}
			}
			s.cfg.Fleet = slices.Clone(s.cfg.Fleet)
			for i := range s.cfg.Fleet {
				s.cfg.Fleet[i].Timing = fixed(t, 4)
			}
			s.cfg.Router.KVEventLagMS *= 4
			if m := s.cfg.MaxSimTimeMS; m != nil {
				four := 4 * *m
				s.cfg.MaxSimTimeMS = &four
			}
		})
		if !ok {
			return
		}
		for i := range a.Requests {
			r := &a.Requests[i]
			for _, at := range []*float64{&r.Arrival, &r.Dispatched, &r.FirstAdmit, &r.FirstToken, &r.SecondToken, &r.LastToken, &r.Terminal} {
				*at *= 4
			}
			r.TokenHash, b.Requests[i].TokenHash = 0, 0
		}
		if d := cmp.Diff(a.Requests, b.Requests, cmpopts.EquateNaNs()); d != "" {
			t.Fatal(d)
		}
	})
}

// TestOneWorker leaves the router no choice: round robin and kv mode without a
// queue give the same times.
func TestOneWorker(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawScenario(t)
		s.cfg.Fleet = s.cfg.Fleet[:1]
		s.cfg.Fleet[0].Count = 1
		s.cfg.Router.Mode, s.cfg.Router.QueueThreshold, s.cfg.Force = router.RoundRobin, nil, nil
		a, b, ok := both(t, s, func() { s.cfg.Router.Mode = router.KV })
		if !ok {
			return
		}
		if !slices.Equal(a.Routed, b.Routed) || !slices.Equal(a.Finished, b.Finished) || a.TokenDigest != b.TokenDigest {
			t.Fatal("the two router modes differ on one worker")
		}
	})
}

// TestColdTemperature picks the least cost at a temperature near 0.
func TestColdTemperature(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawScenario(t)
		s.cfg.Router.Mode, s.cfg.Router.Temperature, s.cfg.Force = router.KV, 1e-12, nil
		res, err := s.run(t, nil)
		if err != nil {
			return
		}
		for _, row := range res.Routed {
			if d := &res.Requests[row].Decision; d.Cost != d.MinCost {
				t.Fatalf("row %d goes to a worker at cost %v, the least is %v", row, d.Cost, d.MinCost)
			}
		}
	})
}

// TestEndlessLag shows the router no cache at all.
func TestEndlessLag(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawScenario(t)
		s.cfg.Router.Mode, s.cfg.Router.KVEventLagMS = router.KV, 1e12
		res, err := s.run(t, nil)
		if err != nil {
			return
		}
		for _, row := range res.Routed {
			if d := &res.Requests[row].Decision; d.BestOverlap != 0 || d.Credit != 0 {
				t.Fatalf("row %d: overlap %v and credit %v before any event", row, d.BestOverlap, d.Credit)
			}
		}
	})
}

// TestNoLagIsEngineTruth compares belief and truth for a request that reaches
// an idle fleet: without a lag they are the same, up to the last block.
func TestNoLagIsEngineTruth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawScenario(t)
		s.cfg.Router.Mode, s.cfg.Router.KVEventLagMS, s.cfg.Router.QueueThreshold = router.KV, 0, nil
		for i := range s.rows {
			s.rows[i].Timestamp = float64(i) * 1e9
			s.rows[i].SessionID, s.rows[i].Delay = "", nil
		}
		s.opts.Delta, s.cfg.ArrivalSpeedup, s.cfg.Concurrency, s.cfg.MaxSimTimeMS = false, 1, 0, nil
		res, err := s.run(t, nil)
		if err != nil {
			return
		}
		for i := range res.Requests {
			r := &res.Requests[i]
			reusable := r.InputTokens
			if s.rows[i].OutputLength > 0 {
				reusable--
			}
			reusable /= s.cfg.Fleet[0].Engine.BlockSize
			if d := &r.Decision; d.ChosenHeld != min(int32(d.Overlap), reusable) || d.BestHeld != min(int32(d.BestOverlap), reusable) {
				t.Fatalf("row %d: the router believes in %v of at most %v blocks, the engines hold %d and %d",
					i, d.Overlap, d.BestOverlap, d.ChosenHeld, d.BestHeld)
			}
			if held := r.Decision.ChosenHeld * s.cfg.Fleet[0].Engine.BlockSize; r.Status == Completed && r.FirstReused != held {
				t.Fatalf("row %d: %d tokens reused, the engine held %d blocks", i, r.FirstReused, r.Decision.ChosenHeld)
			}
		}
	})
}

// TestRowOrder shuffles rows with different stamps: in round-robin mode, where
// row numbers decide nothing, every request fares the same.
func TestRowOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawScenario(t)
		s.cfg.Router = router.DefaultParams()
		s.cfg.Router.Mode = router.RoundRobin
		s.cfg.Concurrency, s.cfg.Force, s.opts.Delta = 0, nil, false
		for i := range s.rows {
			s.rows[i].SessionID, s.rows[i].Delay, s.rows[i].OutputTokenIDs = "", nil, nil
			s.rows[i].Timestamp += float64(i) / 128 // all different
		}
		order := rapid.Permutation(indices(len(s.rows))).Draw(t, "order")
		a, b, ok := both(t, s, func() {
			rows := make([]workloads.Row, len(s.rows))
			for to, from := range order {
				rows[to] = s.rows[from]
			}
			s.rows = rows
		})
		if !ok {
			return
		}
		for to, from := range order {
			if d := cmp.Diff(a.Requests[from], b.Requests[to], cmpopts.EquateNaNs()); d != "" {
				t.Fatalf("row %d as row %d: %s", from, to, d)
			}
		}
	})
}

func indices(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// TestIdleTwin adds workers that are never chosen: a forced run does not change.
func TestIdleTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawScenario(t)
		s.cfg.Router.Mode, s.cfg.Router.QueueThreshold = router.KV, nil
		s.cfg.Router.OverlapScoreCreditDecay = 0 // looks at the least loaded worker
		s.cfg.Force = nil
		for range s.rows {
			s.cfg.Force = append(s.cfg.Force, int32(rapid.IntRange(0, s.cfg.Workers()-1).Draw(t, "worker")))
		}
		a, b, ok := both(t, s, func() { s.cfg.Fleet = append(slices.Clone(s.cfg.Fleet), s.cfg.Fleet[0]) })
		if !ok {
			return
		}
		for i := range a.Requests {
			x, y := &a.Requests[i].Decision, &b.Requests[i].Decision
			x.MinCost, x.Tied, y.MinCost, y.Tied = 0, 0, 0, 0
		}
		if d := cmp.Diff(a.Requests, b.Requests, cmpopts.EquateNaNs()); d != "" {
			t.Fatal(d)
		}
	})
}
