package sim

import (
	"context"
	"runtime"
	"testing"

	"routesim/sim/router"
	"routesim/workloads"
)

func openConversation(t *testing.T) *workloads.Trace {
	t.Helper()
	tr, err := workloads.Open(conversation, workloads.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if tr.Len() != 12031 {
		t.Fatalf("%d rows, expected 12031", tr.Len())
	}
	return tr
}

// TestRunsRepeat replays the full trace with everything that draws, waits or
// lags, twice, on one and on two processors, and compares whole results.
func TestRunsRepeat(t *testing.T) {
	tr := openConversation(t)
	c := idleScenario(t, 4).cfg
	threshold := 0.5
	c.Router.QueueThreshold, c.Router.Temperature, c.Router.KVEventLagMS = &threshold, 0.5, 50
	c.KeepTokenTimes = true
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	var results [2]*Result
	for i, procs := range []int{1, 2} {
		runtime.GOMAXPROCS(procs)
		res, err := Run(context.Background(), tr, &c)
		if err != nil {
			t.Fatal(err)
		}
		results[i] = res
	}
	a, b := results[0], results[1]
	if d := sameResults(a, b); d != "" {
		t.Fatalf("two runs of one configuration differ (-first +second):\n%.4000s", d)
	}
	if a.QueuePeak == 0 || len(a.Finished) != tr.Len() {
		t.Errorf("%d waited at most and %d ended, expected a queue and %d", a.QueuePeak, len(a.Finished), tr.Len())
	}
	c.Seed = 1
	other, err := Run(context.Background(), tr, &c)
	if err != nil {
		t.Fatal(err)
	}
	if other.TokenDigest == a.TokenDigest {
		t.Error("another seed gives the same times")
	}
}

// head returns the first n rows of a trace.
func head(tr *workloads.Trace, n int) *scenario {
	s := &scenario{}
	for i := range n {
		r := workloads.Row{Timestamp: tr.Arrival(i), InputLength: tr.InputTokens(i), OutputLength: tr.OutputTokens(i)}
		for _, node := range tr.Nodes(i) {
			r.HashIDs = append(r.HashIDs, uint64(node))
		}
		s.rows = append(s.rows, r)
	}
	return s
}

// TestFastPathOnRealTrace compares the fast path with the plain loop, token
// time by token time, where caches are large and where they are small.
func TestFastPathOnRealTrace(t *testing.T) {
	s := head(openConversation(t), 1200)
	for _, c := range []struct {
		name   string
		change func(*Config)
	}{
		{"4 workers", func(c *Config) { c.Fleet[0].Count = 4 }},
		{"2 workers with small caches", func(c *Config) { c.Fleet[0].Engine.NumGPUBlocks = 4500 }},
		{"2 workers, few sequences, fifo", func(c *Config) {
			c.Fleet[0].Engine.NumGPUBlocks, c.Fleet[0].Engine.MaxNumSeqs, c.Fleet[0].Engine.Preemption = 3000, 24, 1
		}},
		{"round robin, blocks of 48", func(c *Config) { c.Fleet[0].Engine.BlockSize, c.Router.Mode = 48, router.RoundRobin }},
		{"closed loop with queue and lag", func(c *Config) {
			v := 0.25
			c.Concurrency, c.Router.QueueThreshold, c.Router.KVEventLagMS = 24, &v, 50
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s.cfg = idleScenario(t, 2).cfg
			c.change(&s.cfg)
			fast := s.mustRun(t, nil)
			plain := s.mustRun(t, func(c *Config) { c.Plain = true })
			if d := sameResults(fast, plain); d != "" {
				t.Errorf("the fast path differs (-fast +plain):\n%.4000s", d)
			}
			passes := int64(0)
			for _, w := range fast.Workers {
				passes += w.Passes
			}
			if passes < 1000 || len(fast.Finished) != len(s.rows) {
				t.Errorf("%d passes and %d requests ended, expected thousands and %d", passes, len(fast.Finished), len(s.rows))
			}
		})
	}
}

// TestRealTraceOrder checks that rows of one stamp, of which the trace has up
// to 28, are routed in file order.
func TestRealTraceOrder(t *testing.T) {
	s := head(openConversation(t), 600)
	s.cfg = idleScenario(t, 4).cfg
	res := s.mustRun(t, nil)
	bursts := 0
	for i, row := range res.Routed {
		if int(row) != i {
			t.Fatalf("row %d is %d. in routing order", row, i)
		}
		if i > 0 && s.rows[i].Timestamp == s.rows[i-1].Timestamp {
			bursts++
		}
	}
	if bursts < 300 {
		t.Errorf("%d rows share the stamp of the row before, expected most", bursts)
	}
}
