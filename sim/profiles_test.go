package sim

import (
	"testing"

	"pgregory.net/rapid"

	"routesim/models/profile"
	"routesim/sim/engine"
	"routesim/workloads"
)

// profileGroup is a group of workers of a shipped profile with a given pool.
func profileGroup(t fataler, name string, n int, p engine.Params, speedup float64) Group {
	t.Helper()
	prof, err := profile.Lookup(name)
	if err != nil {
		t.Fatalf("%v", err)
	}
	timing, err := prof.StepModel(speedup)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return Group{Count: n, Engine: p, Timing: timing, GPUs: int32(prof.TP), RequestMS: prof.RequestMS()}
}

// mixedProfiles are two unlike workers: one fast GPU with a small model, and four
// slower ones with a large one.
var mixedProfiles = [2]string{"h100/llama-3.1-8b/tp1", "a100/llama-3.1-70b/tp4"}

// TestFastPathEqualsPlainLoopWithProfiles is the same property for fleets of two
// GPU profiles, token time by token time.
func TestFastPathEqualsPlainLoopWithProfiles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawScenario(t)
		bs := s.cfg.Fleet[0].Engine.BlockSize
		s.cfg.Fleet, s.cfg.Force = nil, nil
		for _, name := range mixedProfiles {
			p := drawEngine(t, bs)
			n := oneOf(t, "workers of a profile", 1, 2, 3)
			s.cfg.Fleet = append(s.cfg.Fleet, profileGroup(t, name, n, p, oneOf(t, "profile speedup", 1.0, 0, 2, 0.3)))
		}
		fast, errFast := s.run(t, nil)
		plain, errPlain := s.run(t, func(c *Config) { c.Plain = true })
		if sameError(t, errFast, errPlain) {
			return
		}
		if d := sameResults(fast, plain); d != "" {
			t.Fatalf("the fast path differs (-fast +plain):\n%s", d)
		}
	})
}

// longContexts is a scenario whose batches cross the knee of the decode
// attention many times.
func longContexts(t fataler) *scenario {
	s := &scenario{opts: workloads.BuilderOptions{BlockSize: 512}}
	for i := range 120 {
		r := workloads.Row{Timestamp: float64(i/3) * 40, OutputLength: int32(40 + i%7*60)}
		for j := range 10 + i%11*8 {
			id := uint64(1000*(i%5) + j)
			if j > 6 {
				id = uint64(100_000 + 1000*i + j)
			}
			r.HashIDs = append(r.HashIDs, id)
		}
		s.rows = append(s.rows, r)
	}
	p := engine.DefaultParams()
	p.NumGPUBlocks = 12_000
	small := p
	small.MaxNumSeqs, small.MaxNumBatchedTokens = 7, 3000
	s.cfg = DefaultConfig(1, nil)
	s.cfg.Fleet = []Group{profileGroup(t, mixedProfiles[0], 2, p, 1), profileGroup(t, mixedProfiles[1], 1, small, 1)}
	return s
}

func TestFastPathEqualsPlainLoopOnLongContexts(t *testing.T) {
	s := longContexts(t)
	fast := s.mustRun(t, nil)
	plain := s.mustRun(t, func(c *Config) { c.Plain = true })
	if d := sameResults(fast, plain); d != "" {
		t.Fatalf("the fast path differs (-fast +plain):\n%s", d)
	}
	for i, w := range fast.Workers {
		if w.Requests == 0 || w.Passes == 0 {
			t.Errorf("worker %d did nothing", i)
		}
	}
}

// TestGapsByGroup: the gaps of the groups together are those of the run, and a
// fleet of one group keeps none apart.
func TestGapsByGroup(t *testing.T) {
	s := longContexts(t)
	r := s.mustRun(t, nil)
	if len(r.GroupGaps) != 2 {
		t.Fatalf("gaps of %d groups, want 2", len(r.GroupGaps))
	}
	want := [2]int64{}
	for i := range r.Requests {
		if q := &r.Requests[i]; q.OutputTokens > 1 {
			group := 0
			if int(q.Worker) >= s.cfg.Fleet[0].Count {
				group = 1
			}
			want[group] += int64(q.OutputTokens - 1)
		}
	}
	sum, least := int64(0), r.Gaps.ITL.Max()
	for g := range r.GroupGaps {
		itl := &r.GroupGaps[g].ITL
		if itl.Count() != want[g] {
			t.Errorf("group %d: %d gaps, want %d", g, itl.Count(), want[g])
		}
		sum += itl.Count()
		least = min(least, itl.Min())
	}
	if sum != r.Gaps.ITL.Count() || least != r.Gaps.ITL.Min() {
		t.Errorf("%d gaps from %v ms, want %d from %v ms", sum, least, r.Gaps.ITL.Count(), r.Gaps.ITL.Min())
	}
	s.cfg.Fleet = s.cfg.Fleet[:1]
	if one := s.mustRun(t, nil); one.GroupGaps != nil {
		t.Error("a fleet of one group keeps its gaps twice")
	}
}
