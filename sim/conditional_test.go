package sim

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"routesim/sim/engine"
	"routesim/sim/router"
	"routesim/sim/router/policy"
	"routesim/workloads"
)

// drawConditional lets requests bypass the prefill stage by a drawn rule.
func drawConditional(t *rapid.T, l *router.Live) {
	c := router.DefaultConditional()
	c.Rule = oneOf(t, "rule", router.ISLBounding, router.PrefillLoad, router.ISLOrLoad)
	c.ISLThreshold = oneOf[int64](t, "isl threshold", 2048, 0, 10, 60, 300)
	c.ISLRatioThreshold = oneOf(t, "isl ratio", 0.7, 1, 0.95, 0.2)
	busy := oneOf(t, "prefill busy", 0.0, 0.001, 0.1, 1)
	c.PrefillBusyThreshold = &busy
	if chance(t, "guard", 40) {
		v := oneOf(t, "decode busy", 0.0, 0.3, 0.8)
		c.DecodeBusyThreshold = &v
	}
	l.Conditional = &c
}

// drawLivePools draws two pools with live routers.
func drawLivePools(t *rapid.T) *scenario {
	s := drawScenario(t)
	drawOtherEngine(t, s)
	drawLive(t, &s.cfg)
	drawPools(t, s)
	l := s.cfg.Router.Live
	s.cfg.Faults, s.cfg.MaxSimTimeMS = nil, nil
	drawPoolFaults(t, &s.cfg)
	drawCancels(t, s)
	if chance(t, "conditional", 60) {
		drawConditional(t, l)
	}
	l.PrefillPolicy, l.DecodePolicy = l.Policy, nil
	if chance(t, "decode policy", 30) {
		types := policy.Types()
		var err error
		if l.DecodePolicy, err = policy.New(types[rapid.IntRange(0, len(types)-1).Draw(t, "decode type")].Name, nil); err != nil {
			t.Fatal(err)
		}
	}
	drawPoolHosts(t, s)
	return s
}

// TestLivePoolsEndClean runs random scenarios with pools and live routers:
// every request ends once, or is turned away; times are in order; and in the end
// nobody holds a block, a booking or a request. A second run is the same.
func TestLivePoolsEndClean(t *testing.T) {
	remote, local, refused, cancelled, lost := 0, 0, 0, 0, 0
	rapid.Check(t, func(t *rapid.T) {
		s := drawLivePools(t)
		s.cfg.KeepTokenTimes, s.cfg.KeepAdmissions = true, true
		run, err := newSimulation(s.trace(t), &s.cfg)
		if err != nil {
			t.Fatal(err)
		}
		if err := run.run(context.Background()); err != nil {
			return // a pool is too small
		}
		res := run.finish()
		again := s.mustRun(t, nil)
		if !slices.Equal(fixedParts(res), fixedParts(again)) {
			t.Fatal("a second run gives another result")
		}
		for i := range res.Requests {
			r, h := &res.Requests[i], &res.Handoffs[i]
			switch {
			case r.Status == Cancelled:
				cancelled++
				continue
			case r.Refusal == router.WorkerLost:
				lost++
				continue
			case r.Refusal != router.Accepted:
				refused++
			case h.Local:
				local++
			default:
				remote++
			}
			checkLiveHandoff(t, r, h)
		}
		if len(slices.Compact(slices.Sorted(slices.Values(res.Finished)))) != res.Released || len(res.Finished) != res.Released {
			t.Fatalf("%d of %d requests ended", len(res.Finished), res.Released)
		}
		checkPoolTokens(t, res)
		checkEmpty(t, run)
	})
	if enough() && (remote == 0 || local == 0 || refused == 0 || cancelled == 0 || lost == 0) {
		t.Errorf("%d requests went through both pools, %d stayed on a decode worker, %d were turned away, %d cancelled and %d lost, expected some of each", remote, local, refused, cancelled, lost)
	}
}

// checkEmpty checks that nothing is left of any request.
func checkEmpty(t *rapid.T, run *simulation) {
	run.now = math.MaxFloat64 // whatever is under way arrives
	for _, g := range run.stages {
		for i, w := range g.workers {
			if w.Used() != 0 || w.HasWork() {
				t.Fatalf("pool %v, worker %d holds %d blocks in the end, has work: %v", g.pool, i, w.Used(), w.HasWork())
			}
		}
		g.deliverSync(run.now)
		for i, r := range g.fronts {
			if !r.Idle() || r.Waiting() > 0 {
				t.Fatalf("pool %v, router %d keeps load or requests after the run: idle %v, %d waiting", g.pool, i, r.Idle(), r.Waiting())
			}
		}
	}
	if len(run.live) != len(run.spare) {
		t.Fatalf("%d of %d places are free in the end", len(run.spare), len(run.live))
	}
}

// checkLiveHandoff checks a request's way through the pools, or past one.
func checkLiveHandoff(t *rapid.T, r *Request, h *Handoff) {
	switch {
	case math.IsNaN(r.Arrival): // an earlier turn of its session failed
	case r.Status == Unfinished:
		t.Fatalf("a request did not end: %+v", *r)
	case r.Refusal != router.Accepted:
		if r.Status != Rejected || r.OutputTokens != 0 || r.Worker >= 0 && !math.IsNaN(h.Activated) {
			t.Fatalf("turned away (%v) and %+v, %+v", r.Refusal, *r, *h)
		}
	case !h.Local:
		checkHandoff(t, r, h)
	case h.PrefillWorker >= 0 || !math.IsNaN(h.SourceHeld) || !math.IsNaN(h.Reserved) || !math.IsNaN(h.Activated) || h.DecodeWorker < 0:
		t.Fatalf("bypassed the prefill stage, and the handoff is %+v", *h)
	case r.Status == Completed && !(r.Arrival <= r.Dispatched && r.Dispatched <= r.FirstAdmit && r.FirstAdmit == h.DecodeAdmit && r.FirstAdmit <= r.Terminal):
		t.Fatalf("times out of order: %+v, %+v", *r, *h)
	}
}

// TestLivePoolsDecideLikeTheReplay: where none of the rules that differ is
// touched, live routers decide in pools as those of a replay do.
func TestLivePoolsDecideLikeTheReplay(t *testing.T) {
	compared := 0
	rapid.Check(t, func(t *rapid.T) {
		s := drawScenario(t)
		drawOtherEngine(t, s)
		drawPools(t, s)
		p := &s.cfg.Router
		p.Mode, p.TrackPrefillTokens, s.cfg.Force = router.KV, true, nil
		if p.OverlapScoreCredit == 0 {
			p.OverlapScoreCredit = 1
		}
		replay, err := s.run(t, nil)
		if err != nil || slices.ContainsFunc(replay.Requests, func(r Request) bool { return r.Status == Failed }) {
			return // a live router learns of a failure at once
		}
		compared++
		s.sameLive(t, replay)
	})
	if compared == 0 {
		t.Error("no run was compared")
	}
}

// TestNothingBypassesAtThreshold0: fewer than 0 tokens are never uncached, so
// that everything goes through both pools. What is left of conditional
// disaggregation are the KV events of the decode workers; where they publish
// none, nothing is.
func TestNothingBypassesAtThreshold0(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawLivePools(t)
		l := s.cfg.Router.Live
		l.Conditional, l.PredictedTTLSecs, s.cfg.RestartAtMS = nil, nil, nil
		for i := range s.cfg.Fleet {
			s.cfg.Fleet[i].Silent = true
		}
		plain, err := s.run(t, nil)
		if err != nil {
			return
		}
		with := s.mustRun(t, func(c *Config) {
			own, rule := *l, router.DefaultConditional()
			rule.ISLThreshold = 0
			own.Conditional = &rule
			c.Router.Live = &own
		})
		if !slices.Equal(fixedParts(plain), fixedParts(with)) {
			t.Fatal("the runs differ")
		}
	})
}

// coldAndWarm is a scenario of one prefill and one decode worker, with a prompt
// of ten blocks that comes twice.
func coldAndWarm(t *testing.T, change func(*router.Conditional)) *scenario {
	s := idleScenario(t, 1)
	s.fixedTiming(t, 10, 5)
	s.opts.BlockSize = 64
	s.cfg.Prefill = []Group{s.cfg.Fleet[0]}
	l, rule := router.DefaultLive(), router.DefaultConditional()
	if change != nil {
		change(&rule)
	}
	l.Conditional = &rule
	s.cfg.Router.Live = &l
	s.add(0, 640, 3, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10)
	s.add(1000, 640, 3, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10)
	return s
}

// TestBypassTakesPrefillTime works out by hand: a new prompt is computed on the
// prefill worker (10 ms) and handed over; when it comes again the decode worker
// has it cached, and computes its last block itself, again in 10 ms.
func TestBypassTakesPrefillTime(t *testing.T) {
	r := coldAndWarm(t, nil).mustRun(t, nil)
	a, b := &r.Requests[0], &r.Requests[1]
	if h := &r.Handoffs[0]; h.Local || h.SourceHeld != 10 || a.FirstToken != 15 || a.LastToken != 25 {
		t.Errorf("the first prompt: %+v, tokens at %v to %v ms", *h, a.FirstToken, a.LastToken)
	}
	if h := &r.Handoffs[1]; !h.Local || h.PrefillWorker != -1 || h.DecodeWorker != 0 || h.DecodeAdmit != 1000 || b.FirstToken != 1010 || b.LastToken != 1020 {
		t.Errorf("the second prompt: %+v, tokens at %v to %v ms", *h, b.FirstToken, b.LastToken)
	}
	if b.FirstReused != 576 || b.Decision.ChosenHeld != 9 || b.Decision.Overlap != 10 || r.Workers[0].PrefillTokens != 64 || r.Prefill[0].PrefillTokens != 640 {
		t.Errorf("reused %d tokens, held %d blocks, computed %d and %d", b.FirstReused, b.Decision.ChosenHeld, r.Workers[0].PrefillTokens, r.Prefill[0].PrefillTokens)
	}
	// The decode branch: 10 blocks of its own less 10 of credit.
	if d := &r.Handoffs[1].Decode; d.Cost != 0 || d.Credit != 10 {
		t.Errorf("decode cost %v, credit %v, expected 0 and 10", d.Cost, d.Credit)
	}
}

// TestBypassIsStrict: of 640 tokens none are new, so that the thresholds decide
// at 0 and nowhere else; the guard lets exactly its share of the pool through.
func TestBypassIsStrict(t *testing.T) {
	share := func(blocks float64) *float64 { v := blocks / 16384; return &v }
	for _, c := range []struct {
		name   string
		change func(*router.Conditional)
		local  bool
	}{
		{"one token", func(c *router.Conditional) { c.ISLThreshold = 1 }, true},
		{"no token", func(c *router.Conditional) { c.ISLThreshold = 0 }, false},
		{"no share", func(c *router.Conditional) { c.ISLRatioThreshold = 0 }, false},
		{"10 blocks fit", func(c *router.Conditional) { c.DecodeBusyThreshold = share(10) }, true},
		{"9 blocks do not", func(c *router.Conditional) { c.DecodeBusyThreshold = share(9) }, false},
	} {
		if r := coldAndWarm(t, c.change).mustRun(t, nil); r.Handoffs[0].Local || r.Handoffs[1].Local != c.local {
			t.Errorf("%s: local %v and %v, expected false and %v", c.name, r.Handoffs[0].Local, r.Handoffs[1].Local, c.local)
		}
	}
}

// TestBypassWhileThePrefillWorkerIsBusy: the second of two prompts at one instant
// finds 640 tokens booked.
func TestBypassWhileThePrefillWorkerIsBusy(t *testing.T) {
	for _, c := range []struct {
		tokens float64
		local  bool
	}{{639, true}, {640, false}} {
		s := coldAndWarm(t, func(rule *router.Conditional) {
			rule.Rule = router.PrefillLoad
			f := c.tokens / 8192
			rule.PrefillBusyThreshold = &f
		})
		s.rows = s.rows[:1]
		s.add(0, 640, 3, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30)
		if r := s.mustRun(t, nil); r.Handoffs[0].Local || r.Handoffs[1].Local != c.local {
			t.Errorf("threshold of %v tokens: local %v and %v, expected false and %v", c.tokens, r.Handoffs[0].Local, r.Handoffs[1].Local, c.local)
		}
	}
}

// TestNamedPrefillWorkerIsNotBypassed: a request that says where its prompt is to
// be computed is computed there.
func TestNamedPrefillWorkerIsNotBypassed(t *testing.T) {
	s := coldAndWarm(t, nil)
	s.cfg.Prefill[0].Count = 3
	s.rows[1].PrefillRoute = &workloads.Route{Worker: 2, Rank: -1}
	if h := s.mustRun(t, nil).Handoffs[1]; h.Local || h.PrefillWorker != 2 {
		t.Errorf("found %+v, expected prefill worker 2", h)
	}
	s.cfg.Router.Mode = router.Direct
	if _, err := s.run(t, nil); err == nil || !strings.Contains(err.Error(), "found no prefill_worker_id in request 0") {
		t.Errorf("found %v, expected the prompt's worker to be missed", err)
	}
	s.rows[0].PrefillRoute, s.rows[0].Route = &workloads.Route{Worker: 1, Rank: -1}, &workloads.Route{Rank: -1}
	s.rows[1].Route = &workloads.Route{Rank: -1}
	r := s.mustRun(t, nil)
	if a, b := r.Handoffs[0].PrefillWorker, r.Handoffs[1].PrefillWorker; a != 1 || b != 2 {
		t.Errorf("found prefill workers %d and %d, expected 1 and 2", a, b)
	}
}

// TestNoPrefillWorker: without one that takes requests the decode workers serve
// alone.
func TestNoPrefillWorker(t *testing.T) {
	s := coldAndWarm(t, nil)
	s.cfg.Router.Live.Conditional = nil
	run, err := newSimulation(s.trace(t), &s.cfg)
	if err != nil {
		t.Fatal(err)
	}
	run.pd.prefill.router.SetAbsent(0, true)
	if err := run.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i, h := range run.finish().Handoffs {
		if r := &run.res.Requests[i]; !h.Local || r.Status != Completed {
			t.Errorf("request %d: %v, %+v", i, r.Status, h)
		}
	}
}

// TestLocalPromptsDoNotOvertake: on a decode worker without a free place a prompt
// to be computed there waits behind one that came before it and has no blocks
// yet, and not behind a later one.
func TestLocalPromptsDoNotOvertake(t *testing.T) {
	p := engine.DefaultParams()
	p.Role, p.MaxNumSeqs = engine.Decode, 1
	w := engine.NewWorker(p, engine.Options{Timing: weighing{}, Plain: true, PromptBlocks: 1 << 20})
	seqs := make([]engine.Seq, 3)
	for i := range seqs {
		seqs[i].Reset(int32(i), 64, 2)
		seqs[i].Blocks = []uint32{uint32(i)}
	}
	w.Enqueue(&seqs[0], 0, true)
	w.Expect(&seqs[1])
	w.Enqueue(&seqs[2], 0, true)
	var ended []int32
	for w.HasWork() {
		if _, err := w.Start(0); err != nil {
			t.Fatal(err)
		}
		for _, sig := range w.Signals() {
			if sig.Kind == engine.DoneWithToken {
				ended = append(ended, sig.Seq.Row)
			}
		}
		if s := w.Reserve(0); s != nil {
			w.Activate(s, 0)
		}
	}
	if !slices.Equal(ended, []int32{0, 1, 2}) {
		t.Errorf("found the order %v, expected 0, 1, 2", ended)
	}
}

// TestArrivedGoBeforeLocalPrompts: a prompt that waits for blocks does not keep a
// request from running that came later, holds some of them and has its KV.
func TestArrivedGoBeforeLocalPrompts(t *testing.T) {
	for _, backend := range []engine.Backend{engine.VLLM, engine.TRTLLM} {
		p := engine.DefaultParams()
		p.Backend, p.Role, p.NumGPUBlocks = backend, engine.Decode, 5
		w := engine.NewWorker(p, engine.Options{Timing: weighing{}, Plain: true, PromptBlocks: 1 << 20})
		seqs := make([]engine.Seq, 3)
		for i, prompt := range []int32{100, 300, 64} {
			seqs[i].Reset(int32(i), prompt, 2)
			for k := range (prompt + 2) / 64 {
				seqs[i].Blocks = append(seqs[i].Blocks, uint32(10*i)+uint32(k))
			}
		}
		w.Enqueue(&seqs[0], 0, true)
		var ended []int32
		pass := func() {
			if _, err := w.Start(0); err != nil {
				t.Fatalf("%v: %v", backend, err)
			}
			for _, sig := range w.Signals() {
				if sig.Kind == engine.DoneWithToken {
					ended = append(ended, sig.Seq.Row)
				}
			}
		}
		pass()
		w.Enqueue(&seqs[1], 0, true) // needs all blocks
		w.Expect(&seqs[2])
		if w.Reserve(0) == nil {
			t.Fatalf("%v: no reservation", backend)
		}
		w.Activate(&seqs[2], 0)
		for w.HasWork() {
			pass()
		}
		if !slices.Equal(ended, []int32{0, 2, 1}) {
			t.Errorf("%v: found the order %v, expected 0, 2, 1", backend, ended)
		}
	}
}

// TestBegunPromptsGoOn: a retracted request that is in the middle of being computed
// anew on a decode worker holds pages, so that it does not wait for a reservation
// which may need them.
func TestBegunPromptsGoOn(t *testing.T) {
	p := engine.DefaultsOf(engine.SGLang)
	p.Role, p.BlockSize, p.NumGPUBlocks, p.EnablePrefixCaching = engine.Decode, 4, 12, false
	p.SGLang.ChunkedPrefillSize, p.SGLang.ClipMaxNewTokens = 8, 1
	w := engine.NewWorker(p, engine.Options{Timing: weighing{}, Plain: true, PromptBlocks: 1 << 20})
	seqs := make([]engine.Seq, 3)
	for i, prompt := range []int32{8, 8, 48} {
		seqs[i].Reset(int32(i), prompt, 24)
		for k := range uint32(18) {
			seqs[i].Blocks = append(seqs[i].Blocks, 100*uint32(i)+k)
		}
	}
	w.Enqueue(&seqs[0], 0, true)
	w.Enqueue(&seqs[1], 0, true)
	expected, reserved := false, false
	for now := 0.0; w.HasWork() && !reserved; now++ {
		if _, err := w.Start(now); err != nil {
			t.Fatal(err)
		}
		if seqs[0].Admissions == 2 && !expected {
			w.Expect(&seqs[2])
			expected = true
		}
		reserved = w.Reserve(now) != nil
	}
	if preempted := w.Stats(0).Preemptions; preempted == 0 || !expected || !reserved || seqs[0].Generated != 24 {
		t.Errorf("%d preempted, expected a reservation: %v, got it: %v after %d tokens", preempted, expected, reserved, seqs[0].Generated)
	}
}

// TestDecodeRouterKnowsTheTruth: once all events of the decode workers have
// arrived, their router believes of each prompt exactly what each worker holds:
// prompts that were handed over, computed there, and evicted.
func TestDecodeRouterKnowsTheTruth(t *testing.T) {
	held, evicted := 0, int64(0)
	rapid.Check(t, func(t *rapid.T) {
		s := drawScenario(t)
		drawOtherEngine(t, s)
		drawPools(t, s)
		l := router.DefaultLive()
		drawConditional(t, &l)
		p := &s.cfg.Router
		p.Mode, p.Live, p.KVEventLagMS, p.OverlapScoreCredit = router.KV, &l, 0, 1
		s.cfg.Force, s.cfg.MaxSimTimeMS, s.opts.Delta = nil, nil, false
		run, err := newSimulation(s.trace(t), &s.cfg)
		if err != nil {
			t.Fatal(err)
		}
		if err := run.run(context.Background()); err != nil {
			return // a pool is too small
		}
		for _, w := range run.finish().Workers {
			evicted += w.Evictions
		}
		run.hear(math.Inf(1))
		for row := range s.rows {
			if math.IsNaN(run.res.Requests[row].Arrival) {
				continue
			}
			q := run.newRequest(int32(row))
			for i, w := range run.workers {
				q.req.Refusal = router.Accepted
				c, ok := run.router.Arrive(&q.req, run.now, int32(i))
				if !ok {
					t.Fatalf("row %d, worker %d: refused", row, i)
				}
				run.router.Free(&q.req)
				want := w.Held(q.req.Blocks)
				held += int(want)
				if c.Overlap != float64(want) {
					t.Fatalf("row %d: the router believes in %v blocks on worker %d, which holds %d", row, c.Overlap, i, want)
				}
			}
		}
	})
	if enough() && (held == 0 || evicted == 0) {
		t.Errorf("%d blocks held, %d evicted, expected some", held, evicted)
	}
}

// TestDecodeStageAloneIsAFleet: where no prefill worker takes requests the decode
// workers are a fleet like any other, behind a router that goes by active blocks
// alone: the same requests go to the same workers and get the same tokens at the
// same times.
func TestDecodeStageAloneIsAFleet(t *testing.T) {
	compared := 0
	rapid.Check(t, func(t *rapid.T) {
		s := drawScenario(t)
		drawOtherEngine(t, s)
		l := router.DefaultLive()
		p := &s.cfg.Router
		p.Live, p.Mode = &l, oneOf(t, "mode", router.KV, router.KV, router.RoundRobin, router.Random, router.LeastLoaded)
		p.OverlapScoreCredit, p.TrackPrefillTokens, p.AssumeKVReuse, p.QueueThreshold = 0, false, false, nil
		s.cfg.Force, s.cfg.MaxSimTimeMS, s.cfg.Concurrency, s.cfg.ArrivalSpeedup, s.opts.Delta = nil, nil, 0, 1, false
		for i := range s.rows { // no arrival at the end of a pass, where the order of events differs
			s.rows[i].SessionID, s.rows[i].Delay = "", nil
			s.rows[i].Timestamp = float64(i)*3.7 + math.Sqrt(float64(i)+2.0/7) // irrational
		}
		alone, err := s.run(t, func(c *Config) { c.Plain = true })
		if err != nil {
			return
		}
		s.cfg.Prefill = s.cfg.Fleet[:1]
		run, err := newSimulation(s.trace(t), &s.cfg)
		if err != nil {
			t.Fatal(err)
		}
		for i := range run.pd.prefill.workers {
			run.pd.prefill.router.SetAbsent(int32(i), true)
		}
		if err := run.run(context.Background()); err != nil {
			return
		}
		res := run.finish()
		if slices.ContainsFunc(res.Requests, func(r Request) bool { return r.Status != Completed }) {
			return // a fleet's worker refuses what it can never hold in a pass of its own
		}
		compared++
		for i := range res.Requests {
			a, b := &alone.Requests[i], &res.Requests[i]
			if a.Worker != b.Worker || a.FirstAdmit != b.FirstAdmit || a.TokenHash != b.TokenHash || a.FirstReused != b.FirstReused || a.Admissions != b.Admissions || a.Terminal != b.Terminal {
				t.Fatalf("request %d of the fleet: %+v\nof the decode stage: %+v", i, *a, *b)
			}
		}
	})
	if compared == 0 {
		t.Error("no run was compared")
	}
}
