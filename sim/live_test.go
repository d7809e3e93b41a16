package sim

import (
	"context"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"routesim/models"
	"routesim/sim/router"
	"routesim/sim/router/policy"
	"routesim/workloads"
)

// drawLive turns a scenario's router into a live one with drawn settings, among
// several frontends, faults and restarts.
func drawLive(t *rapid.T, c *Config) {
	if chance(t, "another mode", 15) {
		c.Router.Mode = oneOf(t, "live mode", router.Random, router.PowerOfTwo, router.LeastLoaded, router.DeviceAwareWeighted)
	}
	drawLiveRouter(t, &c.Router)
	c.ExpectedOutput = chance(t, "expected output", 50)
	c.Frontends = oneOf(t, "frontends", 1, 1, 1, 2, 3)
	c.ReplicaSync = chance(t, "sync", 50)
	c.ReplicaSyncDelayMS = oneOf(t, "sync delay", 0.0, 5, 100)
	c.EventLoss = oneOf(t, "loss", 0.0, 0, 0.3, 1)
	drawFaults(t, c)
	if !chance(t, "restart", 20) {
		return
	}
	at := oneOf(t, "restart at", 0.0, 10, 123)
	c.RestartAtMS, c.ResetStates = &at, chance(t, "reset", 50)
	if chance(t, "switch", 60) {
		a := &Restarted{ReplicaSync: chance(t, "sync after", 50)}
		drawRouter(t, &a.Router)
		a.Router.Mode, a.Router.Classes = c.Router.Mode, drawClasses(t)
		drawLiveRouter(t, &a.Router)
		c.Restarted = a
	}
}

// drawClasses draws queue classes by uncached tokens, or none.
func drawClasses(t *rapid.T) *router.Profile {
	if !chance(t, "classes", 50) {
		return nil
	}
	tokens := oneOf[int64](t, "class busy", 0, 20, 100)
	p := &router.Profile{DefaultFamily: "f", Buckets: []router.Bucket{{Name: "short"}, {MinTokens: 50, Name: "long"}}}
	for _, b := range p.Buckets {
		p.Classes = append(p.Classes, router.Class{Name: b.Name, Family: "f", Bucket: b.Name, Quantum: oneOf[int64](t, "quantum", 1, 30, 500),
			BusyTokens: &tokens, Order: oneOf(t, "class order", router.FCFS, router.WSPT)})
	}
	return p
}

// drawLiveRouter gives a router what only a live one has.
func drawLiveRouter(t *rapid.T, p *router.Params) {
	l := router.DefaultLive()
	p.Live = &l
	secs := oneOf(t, "secs", 0.0, 0.02, 0.1, 1, 120)
	switch oneOf(t, "knowledge", "events", "events", "predicted", "ttl", "lru") {
	case "predicted":
		l.PredictedTTLSecs = &secs
	case "ttl":
		l.KVEvents, l.TTLSecs = false, secs
	case "lru":
		l.KVEvents, l.ApproximateLRU = false, true
	}
	if chance(t, "shared cache", 20) {
		l.SharedCache, l.SharedBlocks = true, rapid.Int32Range(0, 60).Draw(t, "shared blocks")
	}
	l.TrackOutputBlocks = p.TrackActiveBlocks && chance(t, "outputs", 40)
	l.ExpirySecs = oneOf(t, "expiry", 300, 0, 0.05, 0.3)
	l.OverlapRefreshSecs = oneOf(t, "refresh", 10, 0, 0.01)
	p.PrefillLoadModel = chance(t, "load model", 25)
	if chance(t, "busy", 30) {
		f := oneOf(t, "busy share", 0.1, 0.5, 0.9)
		switch oneOf(t, "busy rule", 1, 2, 3) {
		case 1:
			l.ActiveDecodeBlocksThreshold = &f
		case 2:
			l.ActivePrefillTokensThreshold = oneOf[int64](t, "busy tokens", 0, 20, 200)
		case 3:
			l.ActivePrefillTokensThresholdFrac = &f
		}
	}
	if chance(t, "affinity", 30) {
		l.AffinityTTLSecs, l.AffinitySoft = 1, chance(t, "soft", 50)
	}
	if chance(t, "policy", 25) {
		types := policy.Types()
		k := types[rapid.IntRange(1, len(types)-1).Draw(t, "type")]
		var err error
		if l.Policy, err = policy.New(k.Name, nil); err != nil {
			t.Fatal(err)
		}
	}
}

// TestLiveRunsEndClean draws live routers of all kinds: every request ends or is
// turned away, no load is left, the run repeats, and the fast path changes
// nothing.
func TestLiveRunsEndClean(t *testing.T) {
	placed, refused, cancelled := 0, 0, 0
	rapid.Check(t, func(t *rapid.T) {
		s := drawScenario(t)
		drawOtherEngine(t, s)
		drawLive(t, &s.cfg)
		drawHost(t, s)
		drawCancels(t, s)
		plain, plainErr := s.run(t, func(c *Config) { c.Plain = true })
		fast, err := s.run(t, nil)
		if (err == nil) != (plainErr == nil) {
			t.Fatalf("one run fails with %v, the other with %v", err, plainErr)
		}
		if err != nil {
			return
		}
		if !slices.Equal(fixedParts(plain), fixedParts(fast)) {
			t.Fatalf("the fast path gives another result: %s", sameResults(plain, fast))
		}
		c := s.cfg
		run, err := newSimulation(s.trace(t), &c)
		if err != nil {
			t.Fatal(err)
		}
		if err := run.run(context.Background()); err != nil {
			t.Fatal(err)
		}
		for i, r := range run.fronts {
			run.now = math.MaxFloat64 // whatever is under way arrives
			run.deliverSync(run.now)
			if !run.res.Stopped && (!r.Idle() || r.Waiting() > 0) {
				t.Fatalf("router %d keeps load or requests after the run: idle %v, %d waiting; mode %v, %+v, faults %v, frontends %d", i, r.Idle(), r.Waiting(), c.Router.Mode, *c.Router.Live, c.Faults, c.Frontends)
			}
		}
		checkLeftovers(t, run)
		for i := range run.res.Requests {
			q := &run.res.Requests[i]
			switch {
			case run.res.Stopped:
			case q.Status == Cancelled:
				cancelled++
			case q.Refusal != router.Accepted:
				refused++
				if q.Status != Rejected || (q.Worker >= 0) != (q.Refusal == router.WorkerLost) {
					t.Fatalf("request %d was turned away and is %+v", i, *q)
				}
			case q.Status == Unfinished:
				t.Fatalf("request %d did not end", i)
			default:
				placed++
			}
		}
	})
	if enough() && (placed == 0 || refused == 0 || cancelled == 0) {
		t.Errorf("%d requests placed, %d turned away and %d cancelled, expected some of each", placed, refused, cancelled)
	}
}

// TestLiveDefaultsDecideLikeTheReplay: where none of the rules that differ is
// touched, both give the same run. Without a queue, with credit and prefill
// tokens on, they never are.
func TestLiveDefaultsDecideLikeTheReplay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawScenario(t)
		s.cfg.Router.TrackPrefillTokens = true
		if s.cfg.Router.OverlapScoreCredit == 0 {
			s.cfg.Router.OverlapScoreCredit = 1
		}
		replay, err := s.run(t, nil)
		if err != nil {
			return
		}
		s.sameLive(t, replay)
	})
}

// burst is a scenario with n requests of the same kind at one instant, every
// one on its own prompt.
func burst(n, workers int, isl int32, osl int32, gap float64) *scenario {
	s := &scenario{opts: workloads.BuilderOptions{BlockSize: 64}}
	s.cfg = DefaultConfig(workers, weighing{})
	l := router.DefaultLive()
	s.cfg.Router.Live = &l
	for i := range n {
		r := workloads.Row{Timestamp: float64(i) * gap, InputLength: isl, OutputLength: osl}
		for k := range (isl + 63) / 64 {
			r.HashIDs = append(r.HashIDs, uint64(i+1)*1000+uint64(k))
		}
		s.rows = append(s.rows, r)
	}
	return s
}

// spread is the difference between the most and the fewest requests of a worker.
func spread(r *Result) int64 {
	lo, hi := int64(math.MaxInt64), int64(0)
	for _, w := range r.Workers {
		lo, hi = min(lo, w.Requests), max(hi, w.Requests)
	}
	return hi - lo
}

// TestReplicasHerd: many routers that hear of each other late send a burst to
// the same workers. Without delay they spread it evenly.
func TestReplicasHerd(t *testing.T) {
	mean := func(sync bool, delay float64) float64 {
		sum := int64(0)
		for seed := range uint64(20) {
			s := burst(90, 3, 640, 40, 100.0/90)
			s.cfg.Frontends, s.cfg.ReplicaSync, s.cfg.ReplicaSyncDelayMS, s.cfg.Seed = 90, sync, delay, seed
			r := s.mustRun(t, nil)
			if told := sync && delay == 0; told != (r.Herding.Unseen == 0) || r.Herding.Decisions != 90 {
				t.Errorf("sync %v at %v ms: %+v", sync, delay, r.Herding)
			}
			sum += spread(r)
		}
		return float64(sum) / 20
	}
	none, late, never := mean(true, 0), mean(true, 50), mean(false, 0)
	if none > 3 || late < 2*none+2 || never < 2*none+2 {
		t.Errorf("spreads %v without delay, %v at 50 ms, %v without sync: expected at most 3, and much more", none, late, never)
	}
}

// TestLostEventsAreRecovered: with every batch lost the router is blind; with
// some lost it learns later.
func TestLostEventsAreRecovered(t *testing.T) {
	believed := func(loss float64) (sum float64, lost int64) {
		s := burst(60, 2, 640, 4, 30)
		for i := range s.rows { // three prompts that come again and again
			s.rows[i].HashIDs = s.rows[i%3].HashIDs
		}
		s.cfg.EventLoss = loss
		r := s.mustRun(t, nil)
		for i := range r.Requests {
			sum += r.Requests[i].Decision.BestOverlap
		}
		return sum, r.LostBatches
	}
	all, lost := believed(0)
	if all == 0 || lost != 0 {
		t.Fatalf("%v blocks believed and %d batches lost without loss", all, lost)
	}
	if none, lost := believed(1); none != 0 || lost == 0 {
		t.Errorf("%v blocks believed and %d batches lost, expected none and some", none, lost)
	}
	if some, lost := believed(0.5); !(some > 0 && some < all) || lost == 0 {
		t.Errorf("%v blocks believed of %v with %d batches lost, expected fewer", some, all, lost)
	}
}

// TestSilentWorkers: a router does not learn what workers hold that publish no
// KV events, and learns the rest.
func TestSilentWorkers(t *testing.T) {
	s := burst(40, 1, 640, 4, 50)
	for i := range s.rows {
		s.rows[i].HashIDs = s.rows[0].HashIDs
	}
	s.cfg.Fleet = append(s.cfg.Fleet, s.cfg.Fleet[0])
	s.cfg.Fleet[1].Silent = true
	r := s.mustRun(t, nil)
	for i := range r.Requests {
		if q := &r.Requests[i]; q.Worker == 1 && q.Decision.Overlap > 0 {
			t.Errorf("request %d: an overlap of %v on a silent worker", i, q.Decision.Overlap)
		}
	}
	if r.Requests[39].Decision.BestOverlap == 0 {
		t.Error("the router is blind to the other worker too")
	}
}

// TestClairvoyantBeatsBlindChoice: knowing everything is at least as good as
// drawing.
func TestClairvoyantBeatsBlindChoice(t *testing.T) {
	ttft := func(change func(*router.Params)) float64 {
		s := burst(120, 4, 1280, 30, 3)
		for i := range s.rows {
			s.rows[i].HashIDs = s.rows[i%10].HashIDs
		}
		change(&s.cfg.Router)
		r := s.mustRun(t, nil)
		sum := 0.0
		for i := range r.Requests {
			sum += r.Requests[i].FirstToken - r.Requests[i].Arrival
		}
		return sum / float64(len(r.Requests))
	}
	p, err := policy.New("clairvoyant", nil)
	if err != nil {
		t.Fatal(err)
	}
	best := ttft(func(p2 *router.Params) { p2.Live.Policy = p })
	if random := ttft(func(p *router.Params) { p.Mode = router.Random }); best >= random {
		t.Errorf("a mean TTFT of %v ms for the clairvoyant and of %v ms for random choice", best, random)
	}
}

func drawnFixed(t *testing.T, prefill, decode float64) models.StepModel {
	t.Helper()
	m, err := models.NewFixed(prefill, decode, models.TimingOptions{CapacityTokens: 1 << 20, SpeedupRatio: 1, DecodeSpeedupRatio: 1})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// sameLive runs the scenario with live routers that have nothing else of their
// own, and wants the replay's result.
func (s *scenario) sameLive(t *rapid.T, replay *Result) {
	t.Helper()
	live := s.mustRun(t, func(c *Config) {
		l := router.DefaultLive()
		l.ExpirySecs, l.OverlapRefreshSecs = 0, 0
		c.Router.Live = &l
	})
	live.Counters.Events = replay.Counters.Events // a queue makes the live one listen more often
	if !slices.Equal(fixedParts(replay), fixedParts(live)) {
		t.Fatal("the runs differ")
	}
}
