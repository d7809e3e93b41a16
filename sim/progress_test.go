package sim

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"routesim/sim/engine"
	"routesim/sim/router"
)

// drawScarcePools draws two pools with conditional disaggregation that are as
// small as they can be: each holds every request alone, and next to nothing
// beside the largest.
func drawScarcePools(t *rapid.T) *scenario {
	s := drawScenario(t)
	s.opts.Delta = false
	largest, prompt := int32(1), int32(1)
	g := &s.cfg.Fleet[0]
	for i := range s.rows {
		p := s.rows[i].InputLength
		if p == 0 {
			p = int32(len(s.rows[i].HashIDs)) * s.opts.BlockSize
		}
		prompt, largest = max(prompt, p), max(largest, p+s.rows[i].OutputLength)
	}
	bs := g.Engine.BlockSize
	fits := (largest+bs-1)/bs + 1
	g.Engine.MaxModelLen = 0
	if !g.Engine.EnableChunkedPrefill {
		g.Engine.MaxNumBatchedTokens = max(g.Engine.MaxNumBatchedTokens, prompt)
	}
	s.cfg.Fleet = s.cfg.Fleet[:1]
	pre := *g
	g.Count, pre.Count = oneOf(t, "decode workers", 1, 1, 2), oneOf(t, "prefill workers", 1, 2, 4)
	g.Engine.NumGPUBlocks = fits + rapid.Int32Range(0, fits).Draw(t, "room to decode")
	pre.Engine.NumGPUBlocks = fits + rapid.Int32Range(0, 3*fits).Draw(t, "room to prefill")
	pre.Transfer = Transfer{GBPerSecond: oneOf(t, "bandwidth", 0, 1, 0.01), BytesPerToken: 65536}
	s.cfg.Prefill = []Group{pre}
	l := router.DefaultLive()
	drawConditional(t, &l)
	s.cfg.Router.Mode, s.cfg.Router.Live = router.KV, &l
	s.cfg.Force, s.cfg.MaxSimTimeMS = nil, nil
	return s
}

// TestScarcePoolsEnd: wherever every request fits alone, all of them end, however
// they get into each other's way, and nobody holds a block, a booking or a
// request in the end. That is without host tiers: who brings blocks back from one
// wants room for a whole prompt at once, and fleets as scarce as these can get stuck.
func TestScarcePoolsEnd(t *testing.T) {
	local, remote, preempted := 0, 0, int64(0)
	rapid.Check(t, func(t *rapid.T) {
		s := drawScarcePools(t)
		backend := oneOf(t, "engine", engine.VLLM, engine.VLLM, engine.TRTLLM)
		s.cfg.Fleet[0].Engine.Backend, s.cfg.Prefill[0].Engine.Backend = backend, backend
		run, err := newSimulation(s.trace(t), &s.cfg)
		if err != nil {
			t.Fatal(err)
		}
		if err := run.run(context.Background()); err != nil {
			t.Fatal(err)
		}
		res := run.finish()
		for i := range res.Requests {
			if r := &res.Requests[i]; r.Status != Completed {
				t.Fatalf("request %d: %v, expected its end: %+v", i, r.Status, *r)
			}
			if res.Handoffs[i].Local {
				local++
			} else {
				remote++
			}
		}
		if ends := slices.Compact(slices.Sorted(slices.Values(res.Finished))); len(ends) != len(s.rows) {
			t.Fatalf("%d of %d requests ended", len(ends), len(s.rows))
		}
		for _, w := range res.Workers {
			preempted += w.Preemptions
		}
		checkPoolTokens(t, res)
		checkEmpty(t, run)
	})
	if enough() && (local == 0 || remote == 0 || preempted == 0) {
		t.Errorf("%d requests stayed on a decode worker, %d went through both pools and %d were preempted, expected some of each", local, remote, preempted)
	}
}

// TestPreemptedGivesWay works out by hand where Dynamo's replay breaks off with an
// error: the first request preempts itself at 25 ms, since the second one's
// reservation took what it needs next, and stands before that one in the queue.
// The second runs instead, for 5 ms, and the first gets its last token 5 ms later.
func TestPreemptedGivesWay(t *testing.T) {
	s := idleScenario(t, 1)
	s.fixedTiming(t, 10, 5)
	s.opts.BlockSize = 2
	g := &s.cfg.Fleet[0]
	g.Engine.BlockSize = 2
	pre := *g
	s.cfg.Prefill = []Group{pre}
	g.Engine.NumGPUBlocks = 5
	s.cfg.Router.Mode = router.RoundRobin
	s.add(0, 4, 4, 1, 2)
	s.add(12, 4, 1, 3, 4)
	r := s.mustRun(t, nil)
	a, b := &r.Requests[0], &r.Requests[1]
	if a.FirstToken != 15 || a.LastToken != 35 || a.Admissions != 3 || b.LastToken != 30 || r.Workers[0].Preemptions != 1 {
		t.Errorf("found %+v and %+v", *a, *b)
	}
}

// TestStuckPoolsNameTheCause: answers outgrow their decode worker: the error is of
// that worker, though the prefill worker could not go on for a while before.
func TestStuckPoolsNameTheCause(t *testing.T) {
	s := idleScenario(t, 1)
	s.fixedTiming(t, 10, 5)
	s.opts.BlockSize = 2
	g := &s.cfg.Fleet[0]
	g.Engine.BlockSize = 2
	g.Engine.NumGPUBlocks = 5
	pre := *g
	s.cfg.Prefill = []Group{pre}
	s.cfg.Router.Mode = router.RoundRobin
	for i := range uint64(5) {
		s.add(float64(i), 4, 20, 2*i, 2*i+1)
	}
	_, err := s.run(t, nil)
	var stuck *engine.StuckError
	if !errors.As(err, &stuck) || !strings.HasPrefix(err.Error(), "decode worker 0, request of line 5: stuck at ") || !stuck.Alone() ||
		!strings.Contains(err.Error(), "the request needs 6 KV blocks (prompt 4 and 7 generated tokens, block size 2) and the pool has 5; raise num-gpu-blocks") {
		t.Errorf("found %v", err)
	}
}

// TestPromptsThatNothingCanTake: a prefill worker whose pool is full of prompts for
// which no decode worker has blocks says so with its numbers.
func TestPromptsThatNothingCanTake(t *testing.T) {
	p := engine.DefaultParams()
	p.Role, p.NumGPUBlocks = engine.Prefill, 5
	w := engine.NewWorker(p, engine.Options{Timing: weighing{}, Plain: true, PromptBlocks: 1 << 20})
	seqs := make([]engine.Seq, 2)
	for i := range seqs {
		seqs[i].Reset(int32(i), 192, 1)
		for k := range uint32(3) {
			seqs[i].Blocks = append(seqs[i].Blocks, uint32(10*i)+k)
		}
		w.Enqueue(&seqs[i], 0, true)
	}
	if _, err := w.Start(0); err != nil {
		t.Fatal(err)
	}
	_, err := w.Start(10)
	if want := "stuck at 10 ms with 1 requests in flight: the request needs 3 KV blocks (prompt 192 and 0 generated tokens, block size 64), and 3 of the pool's 5 are held by prompts that wait for a decode worker"; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("found %v, expected %s", err, want)
	}
}
