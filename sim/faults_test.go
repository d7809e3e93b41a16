package sim

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"routesim/sim/router"
)

// drawFaults lets workers crash, drain and slow down.
func drawFaults(t *rapid.T, c *Config) {
	for range oneOf(t, "faults", 0, 0, 1, 3, 5) {
		x := Fault{Kind: oneOf(t, "fault", Crash, Drain, Slow), Worker: int32(rapid.IntRange(0, c.Workers()-1).Draw(t, "struck")), To: math.Inf(1)}
		x.From = oneOf(t, "from", 0.0, 5, 16.5, 40, 123)
		if chance(t, "comes back", 60) {
			x.To = x.From + oneOf(t, "away", 1.0, 30, 200)
		}
		if x.Kind == Slow {
			x.Factor = oneOf(t, "factor", 2, 0.5, 7.3)
		}
		c.Faults = append(c.Faults, x)
	}
}

// drawPoolFaults lets workers of both pools crash, drain and slow down.
func drawPoolFaults(t *rapid.T, c *Config) {
	drawFaults(t, c)
	for i := range c.Faults {
		f := &c.Faults[i]
		if f.Pool = DecodePool; chance(t, "of the prefill pool", 50) {
			f.Pool, f.Worker = PrefillPool, int32(rapid.IntRange(0, c.PrefillWorkers()-1).Draw(t, "struck there"))
		}
	}
}

// drawCancels lets clients leave, by name, at random and when they lose
// patience.
func drawCancels(t *rapid.T, s *scenario) {
	c := &s.cfg
	for range oneOf(t, "named", 0, 0, 1, 4) {
		row := rapid.IntRange(0, len(s.rows)-1).Draw(t, "cancelled row")
		// Later than any arrival, so that it is no mistake.
		x := Fault{Kind: Cancel, Request: int32(row), From: 3500 + oneOf(t, "cancel at", 0.0, 7, 300), To: math.Inf(1)}
		if c.Concurrency == 0 && s.rows[row].SessionID == "" {
			x.From = (s.rows[row].Timestamp-earliest(s))/c.ArrivalSpeedup + oneOf(t, "cancel after", 0.5, 5, 12.5, 40)
		}
		c.Faults = append(c.Faults, x)
	}
	ms := oneOf(t, "patience", 5, 20.5, 100, 600)
	switch oneOf(t, "clients", 0, 0, 1, 2, 3, 4) {
	case 1:
		c.Clients.TimeoutMS = &ms
	case 2:
		c.Clients.FirstTokenTimeoutMS = &ms
	case 3:
		c.Clients.CancelRate, c.Clients.CancelAfterMS = oneOf(t, "rate", 0.3, 1), ms
	case 4:
		long := 3 * ms
		c.Clients = Clients{TimeoutMS: &long, FirstTokenTimeoutMS: &ms, CancelRate: 0.5, CancelAfterMS: ms}
	}
}

func earliest(s *scenario) float64 {
	at := math.Inf(1)
	seen := map[string]bool{}
	for i := range s.rows {
		if id := s.rows[i].SessionID; id == "" || !seen[id] {
			at = min(at, s.rows[i].Timestamp)
			seen[id] = true
		}
	}
	return at
}

// checkLeftovers checks that a run that ended left nothing behind: every
// request that came ended once, and no worker holds or owes anything.
func checkLeftovers(t *rapid.T, run *simulation) {
	res := run.finish()
	if res.Stopped {
		return
	}
	ended, cancelled := make([]int, len(res.Requests)), int64(0)
	for _, row := range res.Finished {
		ended[row]++
	}
	var output, generated int64
	for i := range res.Requests {
		q := &res.Requests[i]
		if ended[i] != 1 {
			t.Fatalf("request %d (%v) ended %d times", i, q.Status, ended[i])
		}
		switch {
		case q.Status == Cancelled:
			cancelled++
			if !(q.Terminal > q.Arrival) || q.TokenHash != 0 {
				t.Fatalf("request %d was cancelled: %+v", i, *q)
			}
		case q.Refusal != router.WorkerLost:
			output += int64(q.OutputTokens)
		}
	}
	for _, w := range res.Workers {
		generated += w.OutputTokens
	}
	if cancelled != res.Cancelled.Total() || len(run.live) != len(run.spare) {
		t.Fatalf("%d requests cancelled, %d counted; %d places of %d free", cancelled, res.Cancelled.Total(), len(run.spare), len(run.live))
	}
	if output+res.Cancelled.OutputTokens+res.Crashed.OutputTokens != generated {
		t.Fatalf("%d tokens generated, %d for requests that ended, %d for cancelled ones and %d on crashed workers",
			generated, output, res.Cancelled.OutputTokens, res.Crashed.OutputTokens)
	}
	for i, w := range run.workers {
		if w.Used() != 0 || w.InFlight() != 0 {
			t.Fatalf("worker %d keeps %d blocks and %d requests", i, w.Used(), w.InFlight())
		}
	}
}

// oneWorker is a scenario of n requests of 640 prompt tokens and the same length
// of answer at one instant, on one worker whose passes take 100 ms with prefill
// and 10 ms without.
func oneWorker(t *testing.T, n int, answer int32) *scenario {
	s := burst(n, 1, 640, answer, 0)
	s.cfg.Fleet[0].Timing = drawnFixed(t, 100, 10)
	return s
}

// finished runs a scenario to its end and returns the simulation too.
func finished(t *testing.T, s *scenario) (*simulation, *Result) {
	t.Helper()
	c := s.cfg
	run, err := newSimulation(s.trace(t), &c)
	if err == nil {
		err = run.run(context.Background())
	}
	if err != nil {
		t.Fatal(err)
	}
	return run, run.finish()
}

// TestCancelInEveryPhase: a cancelled request ends at once, its worker goes on
// without it from the next pass, and nothing of it is left.
func TestCancelInEveryPhase(t *testing.T) {
	zero := 0.0
	for name, c := range map[string]struct {
		change func(*Config)
		fault  Fault
		phase  Phase
		tokens int32   // that it got
		other  float64 // first token of the other request
		waste  Waste
	}{
		"in the router": {func(c *Config) { c.Router.QueueThreshold = &zero }, Fault{Request: 1, From: 50}, InRouter, 0, 100, Waste{}},
		"in the engine": {func(c *Config) { c.Fleet[0].Engine.MaxNumSeqs = 1 }, Fault{Request: 1, From: 50}, InEngine, 0, 100, Waste{}},
		// The pass that computes half the prompt ends at 100 ms.
		"between chunks": {func(c *Config) { c.Fleet[0].Engine.MaxNumBatchedTokens = 320 }, Fault{Request: 0, From: 50}, InPrefill, 0, 300, Waste{320, 0, 5}},
		"in prefill":     {func(c *Config) { c.Fleet[0].Engine.MaxNumSeqs = 1 }, Fault{Request: 0, From: 50}, InPrefill, 0, 200, Waste{640, 1, 10}},
		// Tokens at 100, 110, 120 and 130 ms arrived; that of 140 ms is lost.
		"in decode": {func(c *Config) { c.Fleet[0].Engine.MaxNumSeqs = 1 }, Fault{Request: 0, From: 135}, InDecode, 4, 240, Waste{640, 5, 11}},
		// So is the one that ends with the moment itself.
		"at the end of a pass": {func(c *Config) { c.Fleet[0].Engine.MaxNumSeqs = 1 }, Fault{Request: 0, From: 130}, InDecode, 3, 230, Waste{640, 4, 11}},
	} {
		s := oneWorker(t, 2, 20)
		c.change(&s.cfg)
		c.fault.Kind, c.fault.To = Cancel, math.Inf(1)
		s.cfg.Faults = []Fault{c.fault}
		run, r := finished(t, s)
		q, o := &r.Requests[c.fault.Request], &r.Requests[1-c.fault.Request]
		if q.Status != Cancelled || q.Terminal != c.fault.From || q.OutputTokens != c.tokens || r.Cancelled.ByPhase[c.phase] != 1 || r.Cancelled.Total() != 1 {
			t.Errorf("%s: %+v, %+v", name, *q, r.Cancelled)
		}
		if o.Status != Completed || o.FirstToken != c.other || o.OutputTokens != 20 {
			t.Errorf("%s: the other request %+v, expected its first token at %v ms", name, *o, c.other)
		}
		if r.Cancelled.Waste != c.waste {
			t.Errorf("%s: lost %+v, expected %+v", name, r.Cancelled.Waste, c.waste)
		}
		if !run.router.Idle() || run.workers[0].Used() != 0 {
			t.Errorf("%s: load or blocks are left", name)
		}
	}
}

// TestCancelBetweenPools: whatever a request waits for when its client leaves,
// nothing of it stays in either pool, and the other request goes on.
func TestCancelBetweenPools(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Config)
		fault  Fault
		phase  Phase
		tokens int32
		waste  Waste
	}{
		// The prompt is computed by 100 ms and sent until 200.
		"in prefill":      {nil, Fault{From: 50}, InPrefill, 0, Waste{640, 0, 10}},
		"in a queue":      {func(c *Config) { c.Prefill[0].Engine.MaxNumSeqs = 1 }, Fault{Request: 1, From: 50}, InEngine, 0, Waste{}},
		"in the transfer": {nil, Fault{From: 150}, InHandoff, 0, Waste{640, 0, 20}},
		// Its tokens come at 210, 220 and 230 ms.
		"in decode":          {nil, Fault{From: 235}, InDecode, 3, Waste{640, 4, 11}},
		"in line for blocks": {func(c *Config) { c.Fleet[0].Engine.NumGPUBlocks = 12 }, Fault{Request: 1, From: 150}, InHandoff, 0, Waste{640, 0, 10}},
		"in the router":      {func(c *Config) { zero := 0.0; c.Router.QueueThreshold = &zero }, Fault{Request: 1, From: 50}, InRouter, 0, Waste{}},
	} {
		s := oneWorker(t, 2, 8)
		s.cfg.Prefill = []Group{s.cfg.Fleet[0]}
		s.cfg.Prefill[0].Transfer = Transfer{GBPerSecond: 1, BytesPerToken: 156_250}
		if c.change != nil {
			c.change(&s.cfg)
		}
		c.fault.Kind, c.fault.To = Cancel, math.Inf(1)
		s.cfg.Faults = []Fault{c.fault}
		run, r := finished(t, s)
		q, o := &r.Requests[c.fault.Request], &r.Requests[1-c.fault.Request]
		if q.Status != Cancelled || q.Terminal != c.fault.From || q.OutputTokens != c.tokens || r.Cancelled.ByPhase[c.phase] != 1 || r.Cancelled.Waste != c.waste {
			t.Errorf("%s: %+v, %+v", name, *q, r.Cancelled)
		}
		if o.Status != Completed || o.OutputTokens != 8 {
			t.Errorf("%s: the other request %+v", name, *o)
		}
		for _, g := range run.stages {
			if !g.router.Idle() || g.workers[0].Used() != 0 {
				t.Errorf("%s: load or blocks are left in %v", name, g.pool)
			}
		}
	}
}

// TestCrashesOfPools: a crash takes what the worker held. Where the KV has left a
// prefill worker its request goes on.
func TestCrashesOfPools(t *testing.T) {
	for name, c := range map[string]struct {
		fault Fault
		lost  bool
	}{
		"prefill while it computes": {Fault{Pool: PrefillPool, From: 50}, true},
		"prefill while it sends":    {Fault{Pool: PrefillPool, From: 150}, true},
		"prefill after that":        {Fault{Pool: PrefillPool, From: 215}, false},
		"decode before it has any":  {Fault{Pool: DecodePool, From: 50, To: 90}, false},
		"decode while it receives":  {Fault{Pool: DecodePool, From: 150}, true},
		"decode while it generates": {Fault{Pool: DecodePool, From: 235}, true},
	} {
		s := oneWorker(t, 1, 8)
		s.cfg.Prefill = []Group{s.cfg.Fleet[0]}
		s.cfg.Prefill[0].Transfer = Transfer{GBPerSecond: 1, BytesPerToken: 156_250}
		if c.fault.To == 0 {
			c.fault.To = math.Inf(1)
		}
		s.cfg.Faults = []Fault{c.fault}
		run, r := finished(t, s)
		q := &r.Requests[0]
		if lost := q.Refusal == router.WorkerLost; lost != c.lost || lost != (q.Status == Rejected) || !lost && q.OutputTokens != 8 {
			t.Errorf("%s: %+v", name, *q)
		}
		if lost := r.Crashed.PromptTokens > 0; lost != c.lost {
			t.Errorf("%s: lost %+v", name, r.Crashed)
		}
		for _, g := range run.stages {
			if !g.router.Idle() || g.workers[0].Used() != 0 {
				t.Errorf("%s: load or blocks are left in %v", name, g.pool)
			}
		}
	}
}

// TestCancelledPromptStaysCached: what was computed for a cancelled request
// serves the next one with the same prompt.
func TestCancelledPromptStaysCached(t *testing.T) {
	s := oneWorker(t, 1, 20)
	s.rows = append(s.rows, s.rows[0])
	s.rows[1].Timestamp = 500
	s.cfg.Faults = []Fault{{Kind: Cancel, From: 125, To: math.Inf(1)}}
	_, r := finished(t, s)
	if q := &r.Requests[1]; q.FirstReused != 576 || q.Decision.Overlap != 10 {
		t.Errorf("%+v, expected all of the prompt but its last block from the cache", *q)
	}
}

// TestCancelsThatAreMistakes: a request that does not exist, or has not arrived.
func TestCancelsThatAreMistakes(t *testing.T) {
	for _, c := range []struct {
		fault  Fault
		closed int
		want   string
	}{
		{Fault{Request: 3, From: 50}, 0, "found request 3, expected a row of the trace, 0 to 2"},
		{Fault{Request: 1, From: 7}, 0, "found cancel:1@7, expected a time after the arrival of request 1 at 7 ms"},
		{Fault{Request: 1, From: 5}, 1, "found cancel:1@5, expected a time after the arrival of request 1"},
	} {
		s := burst(3, 1, 640, 20, 7)
		c.fault.Kind, c.fault.To = Cancel, math.Inf(1)
		s.cfg.Faults, s.cfg.Concurrency = []Fault{c.fault}, c.closed
		if _, err := s.run(t, nil); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, expected %q", c.fault, err, c.want)
		}
	}
	s := oneWorker(t, 1, 2)
	s.cfg.Faults = []Fault{{Kind: Cancel, From: 105, To: math.Inf(1)}, {Kind: Cancel, From: 107, To: math.Inf(1)}}
	if _, r := finished(t, s); r.Cancelled.Late != 1 || r.Cancelled.Total() != 1 {
		t.Errorf("%+v, expected one cancellation and one that is too late", r.Cancelled)
	}
}

// TestSlowWorker: passes that start while the worker is slow take longer, the one
// under way does not.
func TestSlowWorker(t *testing.T) {
	s := oneWorker(t, 1, 12)
	s.cfg.Faults = []Fault{{Kind: Slow, From: 125, To: 190, Factor: 3}, {Kind: Slow, From: 160, To: 300, Factor: 2}}
	for _, plain := range []bool{false, true} {
		r := s.mustRun(t, func(c *Config) { c.Plain = plain })
		// 130 starts slow at 3, 160 at 6, 220 at 2.
		if want := []float64{100, 110, 120, 130, 160, 220, 240, 260, 280, 300, 310, 320}; !slices.Equal(r.TokenTimes[0], want) {
			t.Errorf("plain %v: tokens at %v, expected %v", plain, r.TokenTimes[0], want)
		}
	}
}

// TestOverlappingAbsences: the end of one absence does not bring a worker back
// from another.
func TestOverlappingAbsences(t *testing.T) {
	s := burst(100, 1, 64, 1, 10)
	s.cfg.Faults = []Fault{{Kind: Crash, From: 100, To: 600}, {Kind: Drain, From: 200, To: 300}}
	r := s.mustRun(t, nil)
	for i := range r.Requests {
		if q := &r.Requests[i]; (q.Refusal == router.NoEndpoint) != (q.Arrival >= 100 && q.Arrival < 600) {
			t.Errorf("request at %v ms: %v", q.Arrival, q.Refusal)
		}
	}
}

// TestClientsLosePatience: exactly the requests are cancelled that would have
// taken longer, as far as nobody else's leaving helps them.
func TestClientsLosePatience(t *testing.T) {
	s := burst(200, 2, 640, 40, 13)
	for i := range s.cfg.Fleet {
		s.cfg.Fleet[i].Timing = drawnFixed(t, 30, 5)
	}
	base := s.mustRun(t, nil)
	longest := 0.0
	for i := range base.Requests {
		longest = max(longest, base.Requests[i].Terminal-base.Requests[i].Arrival)
	}
	for _, c := range []struct {
		patience float64
		first    bool
	}{{longest + 1, false}, {longest / 2, false}, {35, true}} {
		r := s.mustRun(t, func(x *Config) {
			if c.first {
				x.Clients.FirstTokenTimeoutMS = &c.patience
			} else {
				x.Clients.TimeoutMS = &c.patience
			}
		})
		if n := r.Cancelled.Total(); (n == 0) != (c.patience > longest) {
			t.Errorf("%d cancelled with a patience of %v ms, the longest request takes %v", n, c.patience, longest)
		}
		for i := range r.Requests {
			q := &r.Requests[i]
			waited := q.Terminal - q.Arrival
			if c.first && q.Status == Completed {
				waited = q.FirstToken - q.Arrival
			}
			if late := waited - c.patience; q.Status == Cancelled && math.Abs(late) > 1e-9 || q.Status != Cancelled && late > 1e-9 {
				t.Errorf("patience %v: request %d %v after %v ms", c.patience, i, q.Status, waited)
			}
		}
	}
}

// TestShareOfClientsLeaves: about the given share is drawn, the same at every
// moment, and the draws of the others do not move.
func TestShareOfClientsLeaves(t *testing.T) {
	leaving := func(rate, after float64) (rows []int) {
		s := burst(400, 4, 64, 200, 50)
		for i := range s.cfg.Fleet {
			s.cfg.Fleet[i].Timing = drawnFixed(t, 50, 20)
		}
		s.cfg.Clients.CancelRate, s.cfg.Clients.CancelAfterMS = rate, after
		r := s.mustRun(t, nil)
		for i := range r.Requests {
			if r.Requests[i].Status == Cancelled {
				rows = append(rows, i)
			}
		}
		return rows
	}
	some, more := leaving(0.2, 1), leaving(0.5, 1)
	if a, b := len(some), len(more); a < 55 || a > 105 || b < 165 || b > 235 {
		t.Errorf("%d and %d of 400 clients left, expected about 80 and 200", a, b)
	}
	for _, row := range some {
		if !slices.Contains(more, row) {
			t.Errorf("client %d leaves in a fifth and not in a half", row)
		}
	}
	if late := leaving(0.5, 3000); len(late) >= len(more) || len(late) == 0 {
		t.Errorf("%d left after 3 s in the mean and %d after 1 ms, expected fewer", len(late), len(more))
	}
}

// TestWorkersGo: while all workers are away requests are turned away and counted,
// later ones are served; a crash fails what runs, draining lets it finish.
func TestWorkersGo(t *testing.T) {
	for _, kind := range []FaultKind{Crash, Drain} {
		s := burst(100, 2, 640, 40, 100)
		s.cfg.Fleet[0].Timing = drawnFixed(t, 50, 10)
		s.cfg.Faults = []Fault{{Kind: kind, From: 3000, To: 6000}, {Kind: kind, Worker: 1, From: 3000, To: 6000}}
		r := s.mustRun(t, nil)
		completed, lost, away := 0, 0, 0
		for i := range r.Requests {
			q := &r.Requests[i]
			gone := q.Arrival >= 3000 && q.Arrival < 6000
			switch {
			case q.Status == Completed:
				completed++
			case q.Refusal == router.WorkerLost:
				lost++
			case q.Refusal == router.NoEndpoint:
				away++
			}
			if gone != (q.Refusal == router.NoEndpoint) {
				t.Errorf("kind %v: request at %v ms: %v", kind, q.Arrival, q.Refusal)
			}
		}
		if away != 30 || completed+lost+away != 100 || (lost > 0) != (kind == Crash) {
			t.Errorf("kind %v: %d completed, %d lost, %d turned away", kind, completed, lost, away)
		}
	}
}

// TestACrashEmptiesTheCache: the worker comes back without blocks, and the
// router knows.
func TestACrashEmptiesTheCache(t *testing.T) {
	s := burst(20, 1, 640, 2, 1000)
	for i := range s.rows {
		s.rows[i].HashIDs = s.rows[0].HashIDs
	}
	s.cfg.Faults = []Fault{{Kind: Crash, From: 9500, To: 9600}}
	r := s.mustRun(t, nil)
	for i := range r.Requests {
		q := &r.Requests[i]
		warm := i > 0 && i != 10
		if (q.Decision.Overlap > 0) != warm || (q.FirstReused > 0) != warm {
			t.Errorf("request %d: believed %v blocks, reused %d tokens, expected some: %v", i, q.Decision.Overlap, q.FirstReused, warm)
		}
	}
}

func TestParseFaults(t *testing.T) {
	got, err := ParseFaults("crash:2@5000-8000.5, drain:0@20,slow:3x2.5@7-9,cancel:17@30,drain:prefill:4@1,crash:decode:5@2")
	if want := []Fault{
		{Kind: Crash, Worker: 2, From: 5000, To: 8000.5}, {Kind: Drain, From: 20, To: math.Inf(1)},
		{Kind: Slow, Worker: 3, From: 7, To: 9, Factor: 2.5}, {Kind: Cancel, Request: 17, From: 30, To: math.Inf(1)},
		{Kind: Drain, Pool: PrefillPool, Worker: 4, From: 1, To: math.Inf(1)}, {Kind: Crash, Pool: DecodePool, Worker: 5, From: 2, To: math.Inf(1)},
	}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v", got, err)
	}
	for text, part := range map[string]string{
		"": "entry 1: kind", "crash": "entry 1: WORKER", "crash:1": "entry 1: time", "crash:@5": "entry 1: WORKER", "crash:-1@5": "entry 1: WORKER",
		"halt:1@5": "entry 1: kind", "crash:1@5-5": "entry 1: TO", "crash:1@x": "entry 1: FROM", "crash:1@NaN": "entry 1: FROM", "crash:1@5-": "entry 1: TO",
		"crash:1@1,": "entry 2: kind", "crash:1@1e300": "entry 1: FROM", "crash:1@1_0": "entry 1: FROM", "crash:1@0x10": "entry 1: FROM", "crash:1@1-1_0": "entry 1: TO",
		"crash:1_0@5": "entry 1: WORKER", "crash:0x1@5": "entry 1: WORKER", "crash:2147483648@5": "entry 1: WORKER",
		"slow:1@5": "entry 1: FACTOR", "slow:1x@5": "entry 1: FACTOR", "slow:1x0@5": "entry 1: FACTOR", "slow:1x-2@5": "entry 1: FACTOR", "slow:x2@5": "entry 1: WORKER",
		"slow:1xNaN@5": "entry 1: FACTOR", "slow:1x1e9@5": "entry 1: FACTOR", "drain:1@2,slow:1x1_0@5": "entry 2: FACTOR", "slow:1x0x2@5": "entry 1: FACTOR",
		"cancel:1@5-6": "entry 1: TO", "cancel:@5": "entry 1: REQUEST", "cancel:1x2@5": "entry 1: REQUEST", "crash:1x2@5": "entry 1: WORKER",
		"crash:other:1@5": "entry 1: pool", "cancel:prefill:1@5": "entry 1: REQUEST", "crash:prefill:@5": "entry 1: WORKER", "crash:prefill:decode:1@5": "entry 1: WORKER",
	} {
		list, err := ParseFaults(text)
		var e *FaultError
		if !errors.As(err, &e) {
			t.Errorf("%q: %v, %v, expected an error", text, list, err)
		} else if got := fmt.Sprintf("entry %d: %s", e.Entry, e.Part); got != part || e.Want == "" || !strings.Contains(text, e.Found) {
			t.Errorf("%q: %v, expected one about %s", text, err, part)
		}
	}
}

// TestFaultsAreNamed: an error of a fault that the configuration does not bear out
// says which entry it is about, and of which pool.
func TestFaultsAreNamed(t *testing.T) {
	for _, c := range []struct {
		pools      bool
		list, want string
	}{
		{false, "drain:0@1,crash:4@5-8", "entry 2 (crash:4@5-8): found worker 4, expected 0 to 3"},
		{false, "slow:prefill:1x2.5@5", "entry 1 (slow:prefill:1x2.5@5): found worker 1 of the prefill pool, expected 1 alone"},
		{true, "crash:1@5", "entry 1 (crash:1@5): found worker 1 of no pool, expected prefill:1 or decode:1"},
		{true, "drain:decode:3@5,crash:prefill:2@5", "entry 2 (crash:prefill:2@5): found worker 2 of the prefill pool, expected 0 to 1"},
		{true, "drain:decode:4@5", "entry 1 (drain:decode:4@5): found worker 4 of the decode pool, expected 0 to 3"},
	} {
		cfg := DefaultConfig(4, nil)
		cfg.Router.Live = &router.Live{}
		if c.pools {
			cfg.Prefill = []Group{{Count: 2}}
		}
		var err error
		if cfg.Faults, err = ParseFaults(c.list); err != nil {
			t.Fatal(err)
		}
		if err := cfg.checkFaults(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, expected %s", c.list, err, c.want)
		}
	}
}
