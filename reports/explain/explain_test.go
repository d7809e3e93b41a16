package explain

import (
	"context"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"routesim/models"
	"routesim/sim"
	"routesim/sim/router"
	"routesim/sim/router/policy"
	"routesim/workloads"
)

// crowd is a trace of prompts that share prefixes and arrive in bursts.
func crowd(t *testing.T) *workloads.Trace {
	t.Helper()
	var text strings.Builder
	for i := range 60 {
		ids := []string{"1", "2", "3", "4"}[:1+i%4]
		line := `{"timestamp":` + []string{"0", "900", "1000", "2500"}[i/15] + `,"input_length":` + []string{"512", "1000", "1500", "2048"}[i%4] +
			`,"output_length":` + []string{"5", "40", "200"}[i%3] + `,"hash_ids":[` + strings.Join(ids, ",") + "]}\n"
		text.WriteString(line)
	}
	trace, err := workloads.Open("-", workloads.Options{Stdin: strings.NewReader(text.String())})
	if err != nil {
		t.Fatal(err)
	}
	return trace
}

func base(t *testing.T, change func(*sim.Config)) *Base {
	t.Helper()
	timing, err := models.NewPolynomial(models.TimingOptions{CapacityTokens: 16384 * 64, SpeedupRatio: 1, DecodeSpeedupRatio: 1})
	if err != nil {
		t.Fatal(err)
	}
	c := sim.DefaultConfig(3, timing)
	c.Seed = 7
	if change != nil {
		change(&c)
	}
	trace := crowd(t)
	r, err := sim.Run(context.Background(), trace, &c)
	if err != nil {
		t.Fatal(err)
	}
	return &Base{Trace: trace, Config: &c, Result: r}
}

// TestAlternatives compares what is told of a decision with the run itself and
// with runs in which only that decision is another.
func TestAlternatives(t *testing.T) {
	live := func(change func(*sim.Config, *router.Live)) func(*sim.Config) {
		return func(c *sim.Config) {
			l := router.DefaultLive()
			c.Router.Live = &l
			change(c, &l)
		}
	}
	mode := func(m router.Mode) func(*sim.Config) {
		return live(func(c *sim.Config, _ *router.Live) { c.Router.Mode = m })
	}
	selected := func(name string) func(*sim.Config) {
		return live(func(_ *sim.Config, l *router.Live) {
			p, err := policy.New(name, nil)
			if err != nil {
				t.Fatal(err)
			}
			l.Policy = p
		})
	}
	pools := func(c *sim.Config) { c.Prefill = []sim.Group{c.Fleet[0]}; c.Prefill[0].Count = 2 }
	for _, c := range []struct {
		name    string
		decider string
		change  func(*sim.Config)
	}{
		{"kv", "policy default", nil},
		{"temperature", "policy default", func(c *sim.Config) { c.Router.Temperature = 0.7 }},
		{"round robin", "mode round-robin", func(c *sim.Config) { c.Router.Mode = router.RoundRobin }},
		{"random", "mode random", mode(router.Random)},
		{"power of two", "mode power-of-two", mode(router.PowerOfTwo)},
		{"least loaded", "mode least-loaded", mode(router.LeastLoaded)},
		{"device aware", "mode device-aware-weighted", mode(router.DeviceAwareWeighted)},
		{"multiplicative", "policy multiplicative", selected("multiplicative")},
		{"prefix affinity", "policy prefix-affinity", selected("prefix-affinity")},
		{"two tier", "policy dynamo-two-tier-cost-fn", selected("dynamo-two-tier-cost-fn")},
		{"clairvoyant", "policy clairvoyant", selected("clairvoyant")},
		{"frontends", "policy default", live(func(c *sim.Config, _ *router.Live) { c.Frontends = 2 })},
		{"queue", "policy default", live(func(c *sim.Config, _ *router.Live) { x := 0.01; c.Router.QueueThreshold = &x })},
		{"faults", "policy default", live(func(c *sim.Config, _ *router.Live) {
			c.Faults = []sim.Fault{{Kind: sim.Crash, Worker: 1, From: 950, To: 2000}, {Kind: sim.Drain, Worker: 2, From: 2400, To: math.Inf(1)}}
		})},
		{"busy", "policy default", live(func(_ *sim.Config, l *router.Live) { l.ActivePrefillTokensThreshold = 3000 })},
		{"ranks", "policy default", func(c *sim.Config) { c.Fleet[0].Engine.DPSize = 2 }},
		{"pools", "policy default", pools},
		{"live pools", "policy default", live(func(c *sim.Config, l *router.Live) {
			pools(c)
			l.Conditional = &router.Conditional{ISLThreshold: 1200, ISLRatioThreshold: 0.7}
		})},
		{"live pools least loaded", "mode least-loaded", live(func(c *sim.Config, _ *router.Live) { pools(c); c.Router.Mode = router.LeastLoaded })},
		{"pools in turn", "mode round-robin", func(c *sim.Config) { pools(c); c.Router.Mode = router.RoundRobin }},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := base(t, c.change)
			var wanted []Choice
			for _, row := range []int32{0, 17, 40, 59} {
				of, err := b.Of(row)
				if err != nil {
					t.Fatal(err)
				}
				wanted = append(wanted, of...)
			}
			var runs atomic.Int64
			var told int64
			list, err := b.Decisions(context.Background(), wanted, 2, func(n int) func() {
				told = int64(n)
				return func() { runs.Add(1) }
			})
			if err != nil {
				t.Fatal(err)
			}
			made := slices.DeleteFunc(wanted, func(c Choice) bool { return worker(b.Result, c.Row, c.Pool) < 0 })
			if len(list) != len(made) || runs.Load() != told {
				t.Fatalf("%d decisions of %d, %d runs of %d", len(list), len(made), runs.Load(), told)
			}
			for i := range list {
				if list[i].Decider != c.decider {
					t.Errorf("decided by %q, want %q", list[i].Decider, c.decider)
				}
				check(t, b, &list[i], made[i])
			}
		})
	}
}

func check(t *testing.T, b *Base, d *Decision, c Choice) {
	t.Helper()
	sent := worker(b.Result, c.Row, c.Pool)
	if d.Row != int(c.Row) || d.Worker != sent || sent >= 0 && !d.Candidates[sent].Chosen {
		t.Fatalf("row %d: told of row %d on worker %d, want %d", c.Row, d.Row, d.Worker, sent)
	}
	sum, most, own := 0.0, int32(0), int32(0)
	for w := range d.Candidates {
		x := &d.Candidates[w]
		sum += float64(x.Probability)
		if x.Barred != "" {
			if x.Probability > 0 || !math.IsNaN(float64(x.TTFT)) {
				t.Errorf("row %d: worker %d is not eligible (%s), with chance %v and TTFT %v", c.Row, w, x.Barred, x.Probability, x.TTFT)
			}
			continue
		}
		if x.Held == nil {
			t.Fatalf("row %d: what worker %d held is not told", c.Row, w)
		}
		most = max(most, *x.Held)
		if x.Chosen {
			own = *x.Held
		}
		kept := b.kept(c)
		if x.Overlap != nil && x.Chosen && (float64(x.Cost) != kept.Cost || float64(*x.Overlap) != kept.Overlap) {
			t.Errorf("row %d: cost %v at overlap %v, the run had %v at %v", c.Row, x.Cost, *x.Overlap, kept.Cost, kept.Overlap)
		}
		r := diverted(t, b, c, int32(w))
		if worker(r, c.Row, c.Pool) != int32(w) {
			t.Fatalf("row %d: sent to worker %d, not to %d", c.Row, worker(r, c.Row, c.Pool), w)
		}
		if q := &r.Requests[c.Row]; q.Status == sim.Completed {
			if got, want := float64(x.TTFT), q.FirstToken-q.Arrival; got != want {
				t.Errorf("row %d: TTFT %v on worker %d, want %v", c.Row, got, w, want)
			}
			if got, want := float64(x.ITL), (q.LastToken-q.FirstToken)/float64(q.OutputTokens-1); got != want {
				t.Errorf("row %d: ITL %v on worker %d, want %v", c.Row, got, w, want)
			}
		}
		moved := 0
		for i := range int32(len(r.Requests)) {
			same := worker(r, i, c.Pool) == worker(b.Result, i, c.Pool)
			if b.Config.Disaggregated() {
				same = r.Handoffs[i].PrefillWorker == b.Result.Handoffs[i].PrefillWorker && r.Handoffs[i].DecodeWorker == b.Result.Handoffs[i].DecodeWorker
			}
			if i != c.Row && !same {
				moved++
			}
		}
		if x.Moved != moved || x.Chosen && moved != 0 {
			t.Errorf("row %d: %d requests moved by worker %d, want %d", c.Row, x.Moved, w, moved)
		}
		// What came before the decision cannot depend on it.
		for i := range r.Requests {
			if at := b.Result.Requests[i].Dispatched; at < float64(d.AtMS) && r.Requests[i].Dispatched != at {
				t.Fatalf("row %d: diverting it moved row %d, which was placed before", c.Row, i)
			}
		}
	}
	barred := slices.ContainsFunc(d.Candidates, func(x Candidate) bool { return x.Barred != "" })
	if most-own != d.RegretBlocks && !(barred && most-own < d.RegretBlocks) {
		t.Errorf("row %d: some worker held %d blocks and the chosen one %d, the regret is %d", c.Row, most, own, d.RegretBlocks)
	}
	if !math.IsNaN(sum) && math.Abs(sum-1) > 1e-12 {
		t.Errorf("row %d: probabilities add up to %v", c.Row, sum)
	}
}

// diverted runs the trace with one decision given.
func diverted(t *testing.T, b *Base, choice Choice, worker int32) *sim.Result {
	t.Helper()
	c := *b.Config
	c.Divert = &sim.Diversion{Row: choice.Row, Pool: choice.Pool, Worker: worker}
	r, err := sim.Run(context.Background(), b.Trace, &c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestReasons: whom the router could not choose stands there with the reason,
// also where it could choose nobody.
func TestReasons(t *testing.T) {
	b := base(t, func(c *sim.Config) {
		l := router.DefaultLive()
		l.ActivePrefillTokensThreshold = 0
		c.Router.Live = &l
		c.Faults = []sim.Fault{{Kind: sim.Drain, Worker: 1, From: 0, To: math.Inf(1)}}
	})
	row := int32(slices.IndexFunc(b.Result.Requests, func(q sim.Request) bool { return q.Refusal == router.Overloaded }))
	list, err := b.Decisions(context.Background(), []Choice{{row, sim.Aggregated}}, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	d := &list[0]
	if d.Worker != -1 || d.Refusal != "all workers overloaded" {
		t.Errorf("worker %d, refusal %q", d.Worker, d.Refusal)
	}
	for w, want := range []string{"overloaded", "away", "overloaded"} {
		if got := d.Candidates[w].Barred; got != want {
			t.Errorf("worker %d: %q, want %q", w, got, want)
		}
	}
}

// TestUndecided: the reason for which nobody decided about a request is told.
func TestUndecided(t *testing.T) {
	for want, change := range map[string]func(*sim.Config, *router.Live){
		"turned away (queue full)": func(c *sim.Config, _ *router.Live) {
			one, busy := int64(1), int64(0)
			c.Router.Classes = &router.Profile{DefaultFamily: "f", Buckets: []router.Bucket{{Name: "b"}},
				Classes: []router.Class{{Name: "c", Family: "f", Bucket: "b", Quantum: 1, BusyTokens: &busy, RequestLimit: &one}}}
		},
		"was cancelled": func(c *sim.Config, _ *router.Live) {
			x := 0.0
			c.Router.QueueThreshold = &x
			c.Clients.CancelRate, c.Clients.CancelAfterMS = 1, 5
		},
		"still waited": func(c *sim.Config, _ *router.Live) {
			x, end := 0.0, 5.0
			c.Router.QueueThreshold, c.MaxSimTimeMS = &x, &end
		},
		"never arrived": func(c *sim.Config, _ *router.Live) { end := 950.0; c.MaxSimTimeMS = &end },
	} {
		b := base(t, func(c *sim.Config) {
			l := router.DefaultLive()
			c.Router.Live = &l
			change(c, &l)
		})
		found := false
		for row := range int32(60) {
			_, err := b.Decisions(context.Background(), []Choice{{row, sim.Aggregated}}, 1, nil)
			found = found || err != nil && strings.Contains(err.Error(), want)
			if err != nil && !strings.HasSuffix(err.Error(), ", expected one that was routed") {
				t.Errorf("row %d: %v", row, err)
			}
		}
		if !found {
			t.Errorf("no request %s", want)
		}
	}
}

// TestFilterReason: a policy's filter is named.
func TestFilterReason(t *testing.T) {
	b := base(t, func(c *sim.Config) {
		l := router.DefaultLive()
		l.Policy, _ = policy.New("prefix-affinity", map[string]any{"load_factor": 1.0, "load_slack": int64(0)})
		c.Router.Live = &l
	})
	var wanted []Choice
	for row := range int32(60) {
		wanted = append(wanted, Choice{row, sim.Aggregated})
	}
	list, err := b.Decisions(context.Background(), wanted, 2, nil)
	if err != nil {
		t.Fatal(err)
	}
	dropped := 0
	for i := range list {
		for w := range list[i].Candidates {
			c := &list[i].Candidates[w]
			if c.Dropped == "load near the mean" && c.Barred == "" && !math.IsNaN(float64(c.E2E)) && c.Probability == 0 {
				dropped++
			}
			names := ""
			for _, f := range c.Figures {
				names += f.Name + ","
			}
			if names != "overlap,requests,missing blocks,tie break,cost," {
				t.Fatalf("figures %s", names)
			}
		}
	}
	if dropped == 0 {
		t.Error("no filter ever dropped a worker")
	}
}

// TestWorst checks that decisions come by falling regret and that none without
// any is among them.
func TestWorst(t *testing.T) {
	b := base(t, func(c *sim.Config) { c.Router.Temperature = 2 })
	list := b.Worst(1000)
	if len(list) < 5 || len(list) == b.Trace.Len() {
		t.Fatalf("%d of %d decisions have regret, want some", len(list), b.Trace.Len())
	}
	last := int32(math.MaxInt32)
	for _, c := range list {
		d := &b.Result.Requests[c.Row].Decision
		regret := d.BestHeld - d.ChosenHeld
		if regret > last || regret <= 0 && d.Cost <= d.MinCost {
			t.Errorf("row %d with a regret of %d blocks after one of %d", c.Row, regret, last)
		}
		last = regret
	}
	if got := b.Worst(3); len(got) != 3 || got[0] != list[0] {
		t.Errorf("the worst three are %v, want the first of %v", got, list[:5])
	}
}

func TestRowsOutsideTheRun(t *testing.T) {
	b := base(t, nil)
	for _, row := range []int32{-1, 60} {
		if _, err := b.Of(row); err == nil || !strings.Contains(err.Error(), "expected a row from 0 to 59") {
			t.Errorf("row %d: got error %v", row, err)
		}
	}
}

func TestInterrupt(t *testing.T) {
	b := base(t, nil)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := b.Decisions(ctx, []Choice{{3, sim.Aggregated}}, 2, nil); err == nil {
		t.Error("an interrupted explanation reports no error")
	}
}

// TestLocalDecisions: of a request that bypassed the prefill workers there is one
// decision, with what its decode workers held.
func TestLocalDecisions(t *testing.T) {
	b := base(t, func(c *sim.Config) {
		l := router.DefaultLive()
		l.Conditional = &router.Conditional{ISLThreshold: 1200, ISLRatioThreshold: 0.7}
		c.Router.Live = &l
		c.Prefill = []sim.Group{c.Fleet[0]}
	})
	local := 0
	for row := range b.Result.Handoffs {
		of, err := b.Of(int32(row))
		if err != nil {
			t.Fatal(err)
		}
		if !b.Result.Handoffs[row].Local {
			continue
		}
		local++
		if len(of) != 1 || of[0].Pool != sim.DecodePool || b.kept(of[0]).BestHeld == 0 {
			t.Errorf("row %d: decisions %v, held %d blocks", row, of, b.kept(of[0]).BestHeld)
		}
	}
	if local == 0 || len(b.Worst(1000)) == 0 {
		t.Errorf("%d requests bypassed the prefill workers, %d decisions have regret", local, len(b.Worst(1000)))
	}
}
