package sim

import (
	"math"
	"slices"
	"testing"

	"routesim/sim/engine"
	"routesim/sim/router"
	"routesim/workloads"
)

// livePools is a burst whose workers are split into two pools.
func livePools(n, prefill, decode int, isl, osl int32, gap float64) *scenario {
	s := burst(n, decode, isl, osl, gap)
	g := s.cfg.Fleet[0]
	g.Count = prefill
	s.cfg.Prefill = []Group{g}
	return s
}

// TestSessionsBindInEachStage: a session stays on one prefill worker and on one
// decode worker, which one stage chooses without the other.
func TestSessionsBindInEachStage(t *testing.T) {
	s := livePools(60, 3, 2, 640, 4, 40)
	for i := range s.rows {
		s.rows[i].SessionID = string(rune('a' + i%12))
	}
	s.cfg.Router.Live.AffinityTTLSecs = 60
	r := s.mustRun(t, nil)
	bound := map[string][2]int32{}
	pairs := map[[2]int32]bool{}
	for i := range r.Handoffs {
		at := [2]int32{r.Handoffs[i].PrefillWorker, r.Handoffs[i].DecodeWorker}
		name := s.rows[i].SessionID
		if old, ok := bound[name]; ok && old != at {
			t.Errorf("request %d of session %s goes to %v, an earlier one went to %v", i, name, at, old)
		}
		bound[name], pairs[at] = at, true
	}
	if len(pairs) < 5 {
		t.Errorf("%d pairs of workers, expected nearly all 6: the stages choose independently", len(pairs))
	}
}

// TestRestartLosesBothStages: the bookings of both routers of every frontend are
// lost.
func TestRestartLosesBothStages(t *testing.T) {
	at := 901.0
	lost := func(frontends int) int64 {
		s := livePools(40, 2, 2, 640, 400, 2)
		s.cfg.Frontends, s.cfg.RestartAtMS = frontends, &at
		r := s.mustRun(t, nil)
		prompts, answers := int64(0), int64(0)
		for i := range r.Handoffs {
			h := &r.Handoffs[i]
			if r.Requests[i].Dispatched < at && !(h.Released <= at) {
				prompts++
			}
			if h.SourceHeld < at && !(r.Requests[i].Terminal <= at) {
				answers++
			}
		}
		if prompts == 0 || answers == 0 || r.LostBookings != prompts+answers {
			t.Errorf("%d bookings lost, expected %d of prompts and %d of answers", r.LostBookings, prompts, answers)
		}
		return r.LostBookings
	}
	if one, three := lost(1), lost(3); one == 0 || three == 0 {
		t.Errorf("%d and %d bookings lost", one, three)
	}
}

// TestReplicasOfBothStages: many frontends that do not hear of each other send a
// burst to the same workers of both pools; those that do spread it.
func TestReplicasOfBothStages(t *testing.T) {
	spreads := func(sync bool) (prompts, answers int64) {
		for seed := range uint64(10) {
			s := livePools(90, 3, 3, 640, 40, 100.0/90)
			s.cfg.Frontends, s.cfg.ReplicaSync, s.cfg.Seed = 90, sync, seed
			r := s.mustRun(t, nil)
			answers += spread(r)
			r.Workers = r.Prefill
			prompts += spread(r)
		}
		return prompts, answers
	}
	p0, a0 := spreads(true)
	p1, a1 := spreads(false)
	if p0 > 40 || a0 > 40 || p1 < 2*p0+20 || a1 < 2*a0+20 {
		t.Errorf("spreads of prompts and answers: %d and %d with messages, %d and %d without, expected little and much", p0, a0, p1, a1)
	}
}

// TestBusyDecodeWorkersTurnAway: a request whose prompt is computed and that no
// decode worker may take is turned away, and the prompt's blocks are given back.
func TestBusyDecodeWorkersTurnAway(t *testing.T) {
	s := livePools(12, 2, 1, 640, 100, 1)
	f := 15.0 / 16384
	s.cfg.Router.Live.ActiveDecodeBlocksThreshold = &f
	r := s.mustRun(t, nil)
	away := 0
	for i := range r.Requests {
		if q := &r.Requests[i]; q.Refusal == router.Overloaded {
			away++
			if h := &r.Handoffs[i]; q.Status != Rejected || q.Terminal != h.SourceHeld || h.PrefillWorker < 0 || h.DecodeWorker >= 0 || q.OutputTokens != 0 {
				t.Errorf("request %d: %+v, %+v", i, *q, *h)
			}
		}
	}
	if away == 0 || away == len(r.Requests) {
		t.Errorf("%d of %d requests turned away, expected some", away, len(r.Requests))
	}
}

// TestWhoIsChosenFirst: with SGLang the decode worker reserves blocks before the
// prompt is computed; not in live modes that go by the requests in flight.
func TestWhoIsChosenFirst(t *testing.T) {
	for _, c := range []struct {
		backend engine.Backend
		mode    router.Mode
		first   bool
	}{
		{engine.SGLang, router.KV, true}, {engine.SGLang, router.Random, true}, {engine.SGLang, router.PowerOfTwo, false},
		{engine.SGLang, router.LeastLoaded, false}, {engine.VLLM, router.KV, false}, {engine.TRTLLM, router.LeastLoaded, false},
	} {
		s := livePools(20, 2, 2, 640, 8, 5)
		s.cfg.Router.Mode = c.mode
		s.cfg.Fleet[0].Engine.Backend, s.cfg.Prefill[0].Engine.Backend = c.backend, c.backend
		r := s.mustRun(t, nil)
		for i := range r.Handoffs {
			if h := &r.Handoffs[i]; math.IsNaN(h.Reserved) || (h.Reserved <= h.PrefillAdmit) != c.first {
				t.Errorf("%v, %v, request %d: blocks reserved at %v ms, prompt begun at %v and held at %v ms", c.backend, c.mode, i, h.Reserved, h.PrefillAdmit, h.SourceHeld)
			}
		}
	}
}

// TestDecodeStageCountsAnswers: output blocks count in the decode stage and
// nowhere else.
func TestDecodeStageCountsAnswers(t *testing.T) {
	s := livePools(30, 2, 2, 640, 400, 4)
	plain := s.mustRun(t, nil)
	counted := s.mustRun(t, func(c *Config) {
		l := *c.Router.Live
		l.TrackOutputBlocks = true
		c.Router.Live = &l
	})
	more := false
	for i := range plain.Handoffs {
		a, b := &plain.Handoffs[i].Decode, &counted.Handoffs[i].Decode
		more = more || b.DecodeTerm > a.DecodeTerm
		if p, q := plain.Requests[i].Decision.DecodeTerm, counted.Requests[i].Decision.DecodeTerm; p != 0 || q != 0 {
			t.Fatalf("request %d: %v and %v active blocks in the prefill stage, expected none", i, p, q)
		}
	}
	if !more {
		t.Error("answers do not count as active blocks")
	}
}

// TestPrefillWorkersSayHowToRoute: routers as the prefill workers want them
// change where prompts go, and those that they want as the others are change
// nothing.
func TestPrefillWorkersSayHowToRoute(t *testing.T) {
	s := livePools(60, 3, 2, 640, 4, 40)
	for i := range s.rows {
		s.rows[i].HashIDs[0] = uint64(i % 4)
	}
	plain := s.mustRun(t, nil)
	same := s.mustRun(t, func(c *Config) {
		own := c.Router
		c.PrefillRouter = &own
	})
	if !slices.Equal(fixedParts(plain), fixedParts(same)) {
		t.Error("prefill workers that want what is there anyway change the run")
	}
	round := s.mustRun(t, func(c *Config) {
		own := router.DefaultParams()
		l := router.DefaultLive()
		own.Mode, own.Live = router.RoundRobin, &l
		c.PrefillRouter = &own
	})
	for i, h := range round.Handoffs {
		if int(h.PrefillWorker) != i%3 {
			t.Fatalf("prompt %d goes to worker %d, expected round robin", i, h.PrefillWorker)
		}
		if h.Decode.DecodeTerm == 0 {
			t.Fatalf("answer %d: no cost, expected the kv router's: %+v", i, h.Decode)
		}
	}
}

// TestBypassAsksForNoLoadOfOtherModes: where the prefill workers do without a kv
// router nobody knows their load, so that none of them counts as busy.
func TestBypassAsksForNoLoadOfOtherModes(t *testing.T) {
	busy := 0.0
	s := coldAndWarm(t, func(c *router.Conditional) { c.Rule, c.PrefillBusyThreshold = router.PrefillLoad, &busy })
	s.rows[1].Timestamp = 1 // while the first prompt is computed
	if r := s.mustRun(t, nil); !r.Handoffs[1].Local {
		t.Fatalf("the prefill worker is busy, and the request does not bypass it: %+v", r.Handoffs[1])
	}
	r := s.mustRun(t, func(c *Config) {
		own := c.Router
		own.Mode = router.RoundRobin
		c.PrefillRouter = &own
	})
	if r.Handoffs[1].Local {
		t.Errorf("bypassed a prefill worker of which nobody knows the load: %+v", r.Handoffs[1])
	}
}

// TestPromptsStayInTheirZone: what prefill workers hand on confines the decode
// stage, or only draws requests to the same zone; what requests prefer themselves
// adds up.
func TestPromptsStayInTheirZone(t *testing.T) {
	zones := []string{"zone=a", "zone=b"}
	weight, nothing := 1.0, 0.0
	same := func(weight *float64, preferred ...workloads.PreferredTaint) (n int) {
		s := livePools(60, 2, 2, 640, 40, 3)
		for _, groups := range []*[]Group{&s.cfg.Prefill, &s.cfg.Fleet} {
			g := (*groups)[0]
			*groups = nil
			for _, zone := range zones {
				own := g
				own.Count, own.Taints = 1, []string{zone}
				own.Transfer.Taint, own.Transfer.Weight = zone, weight
				*groups = append(*groups, own)
			}
		}
		for i := range s.rows {
			s.rows[i].Taints.Preferred = preferred
		}
		for _, h := range s.mustRun(t, nil).Handoffs {
			if h.PrefillWorker == h.DecodeWorker {
				n++
			}
		}
		return n
	}
	if n := same(nil); n != 60 {
		t.Errorf("required: %d of 60 answers stay in the zone of their prompt", n)
	}
	drawn, free := same(&weight), same(&nothing)
	if drawn <= free || drawn == 60 || free == 60 {
		t.Errorf("preferred: %d of 60 answers stay in the zone of their prompt at weight 1, %d at 0", drawn, free)
	}
	own := workloads.PreferredTaint{Name: "zone=b", Weight: -1}
	list := prefer([]workloads.PreferredTaint{{Name: "zone=a", Weight: 1}, own}, workloads.PreferredTaint{Name: "zone=b", Weight: 0.5})
	if list[1].Weight != -0.5 || own.Weight != -1 || len(list) != 2 {
		t.Errorf("found %v", list)
	}
	if list = prefer(list, workloads.PreferredTaint{Name: "zone=aa"}); list[1].Name != "zone=aa" {
		t.Errorf("found %v, expected the names in order", list)
	}
}
