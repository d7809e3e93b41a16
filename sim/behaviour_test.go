package sim

import (
	"math"
	"slices"
	"testing"

	"routesim/models"
	"routesim/sim/engine"
	"routesim/sim/router"
	"routesim/workloads"
)

// idleScenario starts a scenario with Dynamo's defaults on n workers.
func idleScenario(t *testing.T, n int) *scenario {
	t.Helper()
	p := engine.DefaultParams()
	timing, err := models.NewPolynomial(models.TimingOptions{
		CapacityTokens: int64(p.NumGPUBlocks) * int64(p.BlockSize), SpeedupRatio: 1, DecodeSpeedupRatio: 1,
	})
	if err != nil {
		t.Fatal(err)
	}
	return &scenario{cfg: DefaultConfig(n, timing)}
}

// fixedTiming makes passes take prefill ms for prompts and decode ms for
// decodes.
func (s *scenario) fixedTiming(t *testing.T, prefill, decode float64) {
	t.Helper()
	m, err := models.NewFixed(prefill, decode, models.TimingOptions{CapacityTokens: 1, SpeedupRatio: 1, DecodeSpeedupRatio: 1})
	if err != nil {
		t.Fatal(err)
	}
	s.cfg.Fleet[0].Timing = m
}

func (s *scenario) add(at float64, isl, osl int32, ids ...uint64) *workloads.Row {
	s.rows = append(s.rows, workloads.Row{Timestamp: at, InputLength: isl, OutputLength: osl, HashIDs: ids})
	return &s.rows[len(s.rows)-1]
}

// share returns how many requests each worker got.
func share(res *Result) (n []int64) {
	for _, w := range res.Workers {
		n = append(n, w.Requests)
	}
	return n
}

// TestTwoRequests is the complete example of the timing rules: b joins the
// second pass and reuses the first trace block.
func TestTwoRequests(t *testing.T) {
	s := idleScenario(t, 1)
	s.cfg.Router.Mode = router.RoundRobin
	s.add(0, 1000, 5, 1, 2)
	s.add(3, 700, 3, 1, 7)
	res := s.mustRun(t, nil)
	a, b := &res.Requests[0], &res.Requests[1]
	if a.FirstToken != 32.105859 || a.SecondToken != 57.268182 || a.LastToken != 74.715275 {
		t.Errorf("a: %+v, expected tokens at 32.105859, 57.268182 … 74.715275", *a)
	}
	if b.FirstAdmit != 32.105859 || b.FirstToken != 57.268182 || b.LastToken != 68.923585 || b.FirstReused != 512 {
		t.Errorf("b: %+v, expected tokens at 57.268182 … 68.923585 and 512 reused", *b)
	}
}

// TestTraceBlocksBecomeKVBlocks expands trace blocks of 512 tokens into blocks
// of 64 and of 48.
func TestTraceBlocksBecomeKVBlocks(t *testing.T) {
	tr, err := workloads.FromRows(workloads.BuilderOptions{},
		workloads.Row{InputLength: 1025, OutputLength: 63, HashIDs: []uint64{7, 8, 9}},
		workloads.Row{InputLength: 1100, HashIDs: []uint64{7, 5, 9}},
		workloads.Row{InputLength: 130, HashIDs: []uint64{7}},
	)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ block, complete, withAnswer, shared, short int32 }{{64, 16, 17, 8, 2}, {48, 21, 22, 10, 2}, {512, 2, 2, 1, 0}} {
		p, err := newPrompts(tr, c.block)
		if err != nil {
			t.Fatal(err)
		}
		a, b, d := p.appendBlocks(nil, 0), p.appendBlocks(nil, 1), p.appendBlocks(nil, 2)
		common := 0
		for common < len(a) && a[common] == b[common] {
			common++
		}
		if len(a) != int(c.withAnswer) || common != int(c.shared) || len(d) != int(c.short) || !slices.Equal(d, a[:len(d)]) {
			t.Errorf("block size %d: %d blocks, %d shared, %d of the short prompt, expected %+v", c.block, len(a), common, len(d), c)
		}
		for _, id := range a[c.complete:] {
			if id < p.sharedLimit() {
				t.Errorf("block size %d: block %d holds generated tokens and is below the limit %d", c.block, id, p.sharedLimit())
			}
		}
		sorted := slices.Sorted(slices.Values(a))
		if len(slices.Compact(sorted)) != len(a) {
			t.Errorf("block size %d: blocks %v repeat", c.block, a)
		}
	}
}

// TestRouterAgreesWithEngine sends one prompt 20 times, one at a time: from the
// second time on the owner is predicted to hold all of it and does; without
// events nothing is predicted, whatever the engines hold.
func TestRouterAgreesWithEngine(t *testing.T) {
	for _, blind := range []bool{false, true} {
		s := idleScenario(t, 4)
		if blind {
			s.cfg.Router.KVEventLagMS = 1e9
		}
		for i := range 20 {
			s.add(float64(10_000*i), 2048, 3, 1, 2, 3, 4)
		}
		res := s.mustRun(t, nil)
		owner := res.Requests[0].Worker
		for i := 1; i < 20; i++ {
			r := &res.Requests[i]
			switch {
			case blind && r.Decision.BestOverlap != 0:
				t.Errorf("request %d: %v blocks predicted without events", i, r.Decision.BestOverlap)
			case !blind && (r.Worker != owner || r.Decision.Overlap != 32 || r.Decision.ChosenHeld != 31 || r.FirstReused != 31*64):
				t.Errorf("request %d: %+v, expected worker %d, 32 blocks predicted, 31 held and reused", i, *r, owner)
			}
		}
		if last := &res.Requests[19]; blind && last.Decision.BestHeld != 31 {
			t.Errorf("blind: the engines hold %d blocks, expected 31", last.Decision.BestHeld)
		}
	}
}

// TestPromptsBelowABlock cost the same everywhere and split evenly; growing
// turns stay with their owner.
func TestPromptsBelowABlock(t *testing.T) {
	s := idleScenario(t, 2)
	for i := range 200 {
		s.add(float64(1000*i), 36, 1, 1)
	}
	res := s.mustRun(t, nil)
	for i := range res.Requests {
		if d := res.Requests[i].Decision; d.Cost != 0.5625 || d.Tied != 2 {
			t.Fatalf("request %d: %+v, expected cost 0.5625 on both", i, d)
		}
	}
	if n := share(res); n[0] < 80 || n[0] > 120 {
		t.Errorf("requests per worker %v, expected about 100 each", n)
	}

	s = idleScenario(t, 2)
	s.opts.BlockSize = 64
	for i := range 12 {
		ids := make([]uint64, 5+i)
		for k := range ids {
			ids[k] = uint64(k)
		}
		s.add(float64(1000*i), int32(64*len(ids)), 2, ids...)
	}
	res = s.mustRun(t, nil)
	for i := 1; i < 12; i++ {
		if r := &res.Requests[i]; r.Worker != res.Requests[0].Worker || r.Decision.Tied != 1 {
			t.Errorf("turn %d: %+v, expected the owner to win alone", i, *r)
		}
	}
}

// TestTinyPromptsSpread sends 1,000 prompts of 20 tokens: nothing is reused and
// ties are uniform.
func TestTinyPromptsSpread(t *testing.T) {
	s := idleScenario(t, 8)
	for i := range 1000 {
		s.add(float64(100*i), 20, 1, 1)
	}
	res := s.mustRun(t, nil)
	for w, n := range share(res) {
		if n > 170 {
			t.Errorf("worker %d got %d of 1000 requests, expected at most 170", w, n)
		}
	}
	for i := range res.Requests {
		if r := &res.Requests[i]; r.FirstReused != 0 || r.Decision.CeilingHeld != 0 {
			t.Fatalf("request %d reuses %d tokens, expected none", i, r.FirstReused)
		}
	}
}

// TestColdGroupsSpread sends 150 new prefix groups in one instant.
func TestColdGroupsSpread(t *testing.T) {
	s := idleScenario(t, 8)
	for i := range 150 {
		s.add(0, 1024, 2, uint64(2*i), uint64(2*i+1))
	}
	for w, n := range share(s.mustRun(t, nil)) {
		if n < 11 || n > 27 {
			t.Errorf("worker %d got %d of 150 groups, expected 18.75 ± 8", w, n)
		}
	}
}

// TestBurstSeesItself sends 28 requests at one instant that begin alike: each
// decision sees the bookings before it.
func TestBurstSeesItself(t *testing.T) {
	s := idleScenario(t, 4)
	for i := range 28 {
		s.add(0, 4096, 2, 0, uint64(10*i+1), uint64(10*i+2), uint64(10*i+3), uint64(10*i+4), uint64(10*i+5), uint64(10*i+6), uint64(10*i+7))
	}
	res := s.mustRun(t, nil)
	booked, blocks := make([]int, 4), make([]int, 4)
	for k, row := range res.Routed {
		if int(row) != k {
			t.Fatalf("rows %v are routed out of file order", res.Routed)
		}
		r := &res.Requests[row]
		w := r.Worker
		shared := 0
		if blocks[w] > 0 {
			shared = 8
		}
		if want := float64(booked[w]+4096) / 64; r.Decision.PrefillTerm != want || r.Decision.DecodeTerm != float64(blocks[w]+64-shared) {
			t.Errorf("decision %d: terms %v and %v, expected %v and %d", k, r.Decision.PrefillTerm, r.Decision.DecodeTerm, want, blocks[w]+64-shared)
		}
		booked[w] += 4096
		blocks[w] += 64 - shared
	}
	if n := slices.Max(share(res)); n > 14 {
		t.Errorf("one worker got %d of 28, expected at most 14", n)
	}
}

// TestHotPrefixIsTraded warms one worker and sends many requests with its
// prefix: load moves them elsewhere.
func TestHotPrefixIsTraded(t *testing.T) {
	s := idleScenario(t, 8)
	s.opts.BlockSize = 64
	for i := range 481 {
		ids := []uint64{1, 2}
		for k := range 20 {
			ids = append(ids, uint64(100*i+k+10))
		}
		at := 0.0
		if i > 0 {
			at = 1000 + float64(i)*10_000/480
		}
		s.add(at, 22*64, 300, ids...)
	}
	if n := slices.Max(share(s.mustRun(t, nil))); n > 481/4 {
		t.Errorf("one worker got %d of 481 requests, expected less than a quarter", n)
	}
}

// TestQueueCostsNoThroughput parks half of 64 long prompts and still ends about
// as early as without a queue.
func TestQueueCostsNoThroughput(t *testing.T) {
	run := func(threshold *float64) *Result {
		s := idleScenario(t, 8)
		s.cfg.Router.QueueThreshold = threshold
		for i := range 64 {
			ids := make([]uint64, 17)
			for k := range ids {
				ids[k] = uint64(100*i + k)
			}
			s.add(0, 8500, 20, ids...)
		}
		return s.mustRun(t, nil)
	}
	four := 4.0
	with, without := run(&four), run(nil)
	if with.QueuePeak != 32 || without.QueuePeak != 0 {
		t.Errorf("%d and %d requests parked, expected 32 and 0", with.QueuePeak, without.QueuePeak)
	}
	if with.DurationMS > 1.05*without.DurationMS {
		t.Errorf("the run takes %v ms with the queue and %v without, expected at most 5 %% more", with.DurationMS, without.DurationMS)
	}
	for i := range with.Requests {
		r := &with.Requests[i]
		if wait := r.Dispatched - r.Arrival; wait > without.DurationMS || r.Status != Completed {
			t.Errorf("request %d waited %v ms in the router and is %v", i, wait, r.Status)
		}
	}
}

// TestLagHidesRepeats sees nothing of a prompt repeated inside the lag, but
// shares its active blocks; after the lag it sees all.
func TestLagHidesRepeats(t *testing.T) {
	s := idleScenario(t, 1)
	s.cfg.Router.KVEventLagMS = 500
	s.add(0, 1024, 2000, 1, 2)   // prefill ends at about 32.5 ms, decodes for long
	s.add(100, 1024, 1, 1, 2)    // inside the lag
	s.add(600, 1024, 1, 1, 2)    // behind it
	s.add(50_000, 1024, 1, 1, 2) // all is quiet
	d := s.mustRun(t, nil).Requests
	for i, want := range []struct{ overlap, decode float64 }{{0, 16}, {0, 16}, {16, 16}, {16, 16}} {
		if got := d[i].Decision; got.Overlap != want.overlap || got.DecodeTerm != want.decode {
			t.Errorf("request %d: overlap %v and decode term %v, expected %+v", i, got.Overlap, got.DecodeTerm, want)
		}
	}
	if d[1].FirstReused != 960 {
		t.Errorf("inside the lag the engine reuses %d tokens, expected 960", d[1].FirstReused)
	}
}

// TestEqualStampsKeepFileOrder releases rows of one instant in file order and
// the others by their stamps.
func TestEqualStampsKeepFileOrder(t *testing.T) {
	s := idleScenario(t, 3)
	for i, at := range []float64{30, 10, 30, 20, 10, 30} {
		s.add(at, 100, 1, uint64(i))
	}
	if got, want := s.mustRun(t, nil).Routed, []int32{1, 4, 3, 0, 2, 5}; !slices.Equal(got, want) {
		t.Errorf("routed %v, expected %v", got, want)
	}
}

// TestAdmissionCanPreempt has an admission that finds only its own idle hit
// left: it takes the running request's blocks, and nobody else is admitted in
// that pass. The times were recorded from Dynamo's replay.
func TestAdmissionCanPreempt(t *testing.T) {
	for _, c := range []struct {
		mode                  engine.PreemptionMode
		last                  [3]float64
		victim, head, waiting []Admission
	}{
		{engine.LIFO, [3]float64{120, 70, 140}, []Admission{{At: 10, Reused: 0}, {At: 70, Reused: 4}}, []Admission{{At: 50, Reused: 4}}, []Admission{{At: 70, Reused: 0}, {At: 120, Reused: 0}}},
		{engine.FIFO, [3]float64{130, 70, 100}, []Admission{{At: 10, Reused: 0}, {At: 70, Reused: 4}, {At: 100, Reused: 8}}, []Admission{{At: 50, Reused: 4}}, []Admission{{At: 70, Reused: 0}}},
	} {
		s := idleScenario(t, 1)
		s.fixedTiming(t, 10, 10)
		s.opts.BlockSize = 4
		s.cfg.Router.Mode = router.RoundRobin
		e := &s.cfg.Fleet[0].Engine
		e.BlockSize, e.NumGPUBlocks, e.Preemption = 4, 3, c.mode
		s.add(0, 4, 1, 7).OutputTokenIDs = []uint32{9}
		s.add(10, 4, 8, 7).OutputTokenIDs = []uint32{1, 1, 1, 1, 5, 5, 5, 5}
		s.add(45, 8, 2, 7, 9).OutputTokenIDs = []uint32{8, 8}
		s.add(46, 3, 2, 10).OutputTokenIDs = []uint32{8, 8}
		res := s.mustRun(t, nil)
		for i, want := range [][]Admission{c.victim, c.head, c.waiting} {
			if got := res.AdmissionLog[i+1]; !slices.Equal(got, want) || res.Requests[i+1].LastToken != c.last[i] {
				t.Errorf("mode %d, row %d: admissions %v, last token at %v, expected %v and %v", c.mode, i+1, got, res.Requests[i+1].LastToken, want, c.last[i])
			}
		}
	}
}

// TestLongContextRefused rejects prompts that reach the context limit and
// counts answers that would pass it, without a worker ever hanging.
func TestLongContextRefused(t *testing.T) {
	s := idleScenario(t, 2)
	s.cfg.Fleet[0].Engine.MaxModelLen = 1000
	s.cfg.Concurrency = 1
	s.add(0, 1000, 5, 1, 2)
	s.add(0, 999, 5, 1, 2)
	s.add(0, 10, 5, 3)
	res := s.mustRun(t, nil)
	if a, b := &res.Requests[0], &res.Requests[1]; a.Status != Rejected || !math.IsNaN(a.FirstAdmit) || b.Status != Completed || b.OutputTokens != 1 {
		t.Errorf("%+v, %+v: expected a rejection and one token", *a, *b)
	}
	if res.OverLength != 2 || res.Requests[2].OutputTokens != 5 {
		t.Errorf("%d requests over the limit, expected 2", res.OverLength)
	}
}

// TestSecondRoundOfAnInstant has a pass without length end a request at the
// instant at which another worker's quiet pass starts. What follows in the same
// instant finds that pass begun: in a small pool it has just evicted a block,
// and in a large one the request joins the pass after it.
func TestSecondRoundOfAnInstant(t *testing.T) {
	for _, c := range []struct {
		pool, held int32
		admit      float64
	}{{4, 1, 62}, {40, 2, 47}} {
		for _, plain := range []bool{true, false} {
			s := idleScenario(t, 2)
			s.fixedTiming(t, 10, 5)
			s.opts.BlockSize = 4
			s.cfg.Plain, s.cfg.Router.Mode = plain, router.RoundRobin
			e := &s.cfg.Fleet[0].Engine
			e.BlockSize, e.NumGPUBlocks = 4, c.pool
			s.add(0, 12, 1, 1, 2, 3) // worker 0: leaves three idle blocks at 10 ms
			s.add(0, 4, 1, 8)        // worker 1
			s.add(12, 4, 9, 4)       // worker 0 from 12 to 22 ms, then a pass every 5 ms; blocks start at 22 and 42
			delay := 0.0
			s.add(42, 400, 1, make([]uint64, 100)...).SessionID = "a" // worker 1 refuses it at 42 ms
			last := s.add(42, 12, 1, 1, 2, 3)                         // worker 0, in the next round
			last.SessionID, last.Delay, last.Timestamp = "a", &delay, workloads.NoTime
			s.cfg.Fleet = append(s.cfg.Fleet, s.cfg.Fleet[0])
			s.cfg.Fleet[0].Count, s.cfg.Fleet[1].Count = 1, 1
			s.cfg.Fleet[1].Engine.NumGPUBlocks = 4

			r := s.mustRun(t, nil).Requests
			if got := r[3]; got.Status != Rejected || got.Terminal != 42 || got.Worker != 1 {
				t.Fatalf("%+v, expected a rejection by worker 1 at 42 ms", got)
			}
			got := r[4]
			if got.Arrival != 42 || got.Worker != 0 || got.Decision.ChosenHeld != c.held || got.FirstAdmit != c.admit {
				t.Errorf("pool of %d, plain %v: %+v, expected an arrival at 42 ms at worker 0, %d blocks held, admission at %v ms",
					c.pool, plain, got, c.held, c.admit)
			}
		}
	}
}

// TestVictimKnowsWhatItComputed readmits a victim whose last block was completed
// by a token that it had not computed: another request's equal block does not
// count for it. The times were recorded from Dynamo's replay.
func TestVictimKnowsWhatItComputed(t *testing.T) {
	s := idleScenario(t, 1)
	s.fixedTiming(t, 10, 2.5)
	s.opts.BlockSize = 2
	s.cfg.Router.Mode = router.RoundRobin
	e := &s.cfg.Fleet[0].Engine
	e.BlockSize, e.NumGPUBlocks, e.MaxNumBatchedTokens = 2, 5, 9
	s.add(0, 4, 3, 0, 0).OutputTokenIDs = []uint32{0, 0, 0}
	s.add(75, 2, 1, 0).OutputTokenIDs = []uint32{1}
	s.add(115, 2, 5, 0).OutputTokenIDs = []uint32{0, 0, 1, 1, 0}
	s.add(125, 4, 6, 0, 0).OutputTokenIDs = []uint32{1, 1, 0, 0, 0, 0}
	res := s.mustRun(t, nil)
	for _, c := range []struct {
		row        int
		last       float64
		admissions []Admission
	}{{2, 145, []Admission{{At: 115}}}, {3, 155, []Admission{{At: 125, Reused: 2}, {At: 145, Reused: 4}}}} {
		if got := res.AdmissionLog[c.row]; !slices.Equal(got, c.admissions) || res.Requests[c.row].LastToken != c.last {
			t.Errorf("row %d: admissions %v, last token at %v, expected %v and %v", c.row, got, res.Requests[c.row].LastToken, c.admissions, c.last)
		}
	}
}
