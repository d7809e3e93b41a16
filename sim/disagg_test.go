package sim

import (
	"context"
	"math"
	"testing"

	"pgregory.net/rapid"

	"routesim/sim/engine"
	"routesim/sim/router"
)

// drawPools splits a scenario's workers into two pools.
func drawPools(t *rapid.T, s *scenario) {
	g := s.cfg.Fleet[0]
	g.Count = oneOf(t, "prefill workers", 1, 2, 3)
	if chance(t, "large prefill pool", 50) {
		g.Engine.NumGPUBlocks = 4000
	}
	g.Transfer = Transfer{
		GBPerSecond:   oneOf(t, "bandwidth", 0, 1, 8, 64.0),
		BytesPerToken: oneOf(t, "bytes per token", 65536, 1024, 0.0),
		MissingOnly:   rapid.Bool().Draw(t, "missing only"),
	}
	s.cfg.Prefill = []Group{g}
	for i := range s.cfg.Fleet {
		if chance(t, "large decode pool", 50) {
			s.cfg.Fleet[i].Engine.NumGPUBlocks = 4000
		}
	}
}

// TestHandoffsBalance runs random scenarios with two pools and checks that every
// request ends once, that its times are in order, and that in the end nobody
// holds a block or a booking.
func TestHandoffsBalance(t *testing.T) {
	ended := map[Status]int{}
	rapid.Check(t, func(t *rapid.T) {
		s := drawScenario(t)
		drawOtherEngine(t, s)
		drawPools(t, s)
		drawPoolHosts(t, s)
		s.cfg.MaxSimTimeMS = nil
		s.cfg.KeepTokenTimes, s.cfg.KeepAdmissions = true, true
		run, err := newSimulation(s.trace(t), &s.cfg)
		if err != nil {
			t.Fatal(err)
		}
		if err := run.run(context.Background()); err != nil {
			return // a pool is too small
		}
		res := run.finish()
		failed := false
		for i := range res.Requests {
			r := &res.Requests[i]
			ended[r.Status]++
			failed = failed || r.Status == Failed
			checkHandoff(t, r, &res.Handoffs[i])
		}
		checkPoolTokens(t, res)
		for i, w := range run.workers {
			if n := w.Used(); n != 0 || w.HasWork() {
				t.Fatalf("decode worker %d holds %d blocks in the end", i, n)
			}
		}
		for i, w := range run.pd.prefill.workers {
			if n := w.Used(); n != 0 || w.HasWork() {
				t.Fatalf("prefill worker %d holds %d blocks in the end", i, n)
			}
		}
		if run.done != res.Released || !run.pd.prefill.router.Idle() || !failed && !run.router.Idle() {
			t.Fatalf("%d of %d requests ended; the prefill router is idle: %v, the decode router: %v",
				run.done, res.Released, run.pd.prefill.router.Idle(), run.router.Idle())
		}
		if len(run.live) != len(run.spare) && !failed {
			t.Fatalf("%d of %d places are free in the end", len(run.spare), len(run.live))
		}
	})
	if enough() && (ended[Completed] == 0 || ended[Rejected] == 0 || ended[Failed] == 0) {
		t.Errorf("ends %v, expected some of each", ended)
	}
}

// checkHandoff checks the order of a request's times.
func checkHandoff(t *rapid.T, r *Request, h *Handoff) {
	switch r.Status {
	case Completed:
		if !(r.Arrival <= h.PrefillAdmit && h.PrefillAdmit <= h.SourceHeld && h.SourceHeld <= h.Activated &&
			h.Reserved <= h.Activated && h.Activated <= h.DecodeAdmit && h.DecodeAdmit <= r.Terminal && h.Released >= h.Activated) {
			t.Fatalf("arrival %v, end %v, handoff %+v: times out of order", r.Arrival, r.Terminal, *h)
		}
		if r.OutputTokens > 0 && !(h.DecodeAdmit <= r.FirstToken) {
			t.Fatalf("first token at %v ms, admitted at %v ms", r.FirstToken, h.DecodeAdmit)
		}
	case Failed, Rejected:
		if r.OutputTokens != 0 || !math.IsNaN(h.Activated) {
			t.Fatalf("%v with %d tokens, handoff %+v", r.Status, r.OutputTokens, *h)
		}
	}
}

// checkPoolTokens checks that the decode workers generated what the requests
// received.
func checkPoolTokens(t *rapid.T, res *Result) {
	var generated, output int64
	for _, w := range res.Workers {
		generated += w.OutputTokens
	}
	for i := range res.Requests {
		if r := &res.Requests[i]; r.Status != Cancelled && r.Refusal != router.WorkerLost {
			output += int64(r.OutputTokens)
		}
	}
	if lost := res.Cancelled.OutputTokens + res.Crashed.OutputTokens; generated != output+lost {
		t.Fatalf("workers generated %d tokens, requests received %d and %d were lost", generated, output, lost)
	}
}

// TestTransferTakesItsTime checks the transfer's duration by hand: 1000 tokens
// of 65,536 bytes at 8 GB/s are 8.192 ms.
func TestTransferTakesItsTime(t *testing.T) {
	s := idleScenario(t, 1)
	s.fixedTiming(t, 10, 5)
	s.opts.BlockSize = 64
	s.cfg.Router.Mode = router.RoundRobin
	g := s.cfg.Fleet[0]
	g.Transfer = Transfer{GBPerSecond: 8, BytesPerToken: 65536}
	s.cfg.Prefill = []Group{g}
	s.add(0, 1000, 3, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)
	r := s.mustRun(t, nil)
	h := &r.Handoffs[0]
	if h.SourceHeld != 10 || h.Activated != 18.192 || r.Requests[0].FirstToken != 18.192+5 || r.Requests[0].LastToken != 18.192+5+5+5 {
		t.Errorf("held at %v, activated at %v, first token at %v, last at %v ms, expected 10, 18.192, 23.192 and 33.192",
			h.SourceHeld, h.Activated, r.Requests[0].FirstToken, r.Requests[0].LastToken)
	}
}

// TestPoolsMustAgree refuses pools that cannot work together.
func TestPoolsMustAgree(t *testing.T) {
	for name, change := range map[string]func(*Group){
		"block-size":      func(g *Group) { g.Engine.BlockSize = 32 },
		"engine-type":     func(g *Group) { g.Engine.Backend = engine.TRTLLM },
		"prefill-workers": func(g *Group) { g.Count = 0 },
	} {
		s := idleScenario(t, 1)
		g := s.cfg.Fleet[0]
		change(&g)
		s.cfg.Prefill = []Group{g}
		if err := s.cfg.Validate(); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// TestEventsOfPrefillWorkers: the prefill router does not learn what workers
// hold that publish no KV events, learns the rest, and learns later of those
// whose events take their time.
func TestEventsOfPrefillWorkers(t *testing.T) {
	believed := func(change func(*Group)) (on [2]float64) {
		s := burst(40, 1, 640, 4, 50)
		for i := range s.rows {
			s.rows[i].HashIDs = s.rows[0].HashIDs
		}
		s.cfg.Router.Live = nil
		g := s.cfg.Fleet[0]
		g.Count = 1
		s.cfg.Prefill = []Group{g, g}
		change(&s.cfg.Prefill[1])
		r := s.mustRun(t, nil)
		for i := range r.Requests {
			on[r.Handoffs[i].PrefillWorker] += r.Requests[i].Decision.Overlap
		}
		return on
	}
	if on := believed(func(g *Group) { g.Silent = true }); on[0] == 0 || on[1] != 0 {
		t.Errorf("found overlaps of %v blocks, expected some on the first worker and none on the silent one", on)
	}
	if on := believed(func(g *Group) { g.EventDelayMS = 1e9 }); on[0] == 0 || on[1] != 0 {
		t.Errorf("found overlaps of %v blocks, expected none on the worker whose events never arrive", on)
	}
	if on := believed(func(*Group) {}); on[0] == 0 {
		t.Errorf("found overlaps of %v blocks, expected some", on)
	}
}
