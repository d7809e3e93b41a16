package reports

import (
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"routesim/sim"
	"routesim/sim/engine"
	"routesim/sim/router"
	"routesim/workloads"
)

// healthy is a run of two workers without anything to warn of.
func healthy(t testing.TB) (*workloads.Trace, *sim.Config, *sim.Result) {
	trace := plainTrace(t, 40)
	c := testConfig(t, 2)
	requests := make([]sim.Request, 40)
	for i := range requests {
		at := float64(100 * i)
		q := done(at, at+1, at+20, at+30, at+90, 1000, 5, 64)
		q.Worker = int32(i % 2)
		q.Decision = sim.Decision{Overlap: 1, BestOverlap: 1, ChosenHeld: 1, BestHeld: 1, CeilingHeld: 1, Tied: 1}
		requests[i] = q
	}
	r := build(2, requests...)
	r.Workers[0].Passes, r.Workers[1].Passes = 100, 100
	return trace, c, r
}

func codes(s *Summary) []string {
	out := []string{}
	for _, w := range s.Routesim.Warnings {
		out = append(out, w.Code)
	}
	return out
}

func TestHealthyRunHasNoWarning(t *testing.T) {
	if got := Summarize(healthy(t)).Routesim.Warnings; len(got) != 0 {
		t.Errorf("found %v", got)
	}
}

// each changes every request of a run.
func each(r *sim.Result, change func(i int, q *sim.Request)) {
	for i := range r.Requests {
		change(i, &r.Requests[i])
	}
}

func TestWarnings(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		name   string
		change func(c *sim.Config, r *sim.Result)
		want   []string
		text   string // part of the first warning
	}{
		{"router blind", func(c *sim.Config, r *sim.Result) {
			each(r, func(i int, q *sim.Request) { q.Decision.Overlap, q.Decision.BestOverlap = 0, 0 })
		}, []string{RouterBlind}, "held blocks of 40 requests"},
		{"router blind to silent workers", func(c *sim.Config, r *sim.Result) {
			c.Fleet[0].Silent = true
			each(r, func(i int, q *sim.Request) { q.Decision.Overlap, q.Decision.BestOverlap = 0, 0 })
		}, []string{RouterBlind}, "it routes by load alone. The workers publish no KV events."},
		{"faults after the end", func(c *sim.Config, r *sim.Result) {
			at := r.EndMS + 2
			c.RestartAtMS = &at
			c.Faults = []sim.Fault{{Kind: sim.Crash, Worker: 1, From: r.EndMS - 1, To: math.Inf(1)}, {Kind: sim.Drain, Worker: 0, From: r.EndMS + 1, To: math.Inf(1)}}
		}, []string{LateFaults}, "before drain:0@"},
		{"round robin sees nothing by design", func(c *sim.Config, r *sim.Result) {
			c.Router.Mode = router.RoundRobin
			each(r, func(i int, q *sim.Request) { q.Decision.Overlap, q.Decision.BestOverlap = 0, 0 })
		}, nil, ""},
		{"all prompts short", func(c *sim.Config, r *sim.Result) {
			each(r, func(i int, q *sim.Request) { q.InputTokens, q.Decision = 63, sim.Decision{} })
		}, []string{ShortPrompts, NoReuse}, "Every prompt is shorter than one KV block of 64 tokens"},
		{"some prompts short", func(c *sim.Config, r *sim.Result) {
			each(r, func(i int, q *sim.Request) {
				if i < 4 {
					q.InputTokens = 63
				}
			})
		}, []string{ShortPrompts}, "4 of 40 prompts"},
		{"few prompts short", func(c *sim.Config, r *sim.Result) {
			each(r, func(i int, q *sim.Request) {
				if i < 3 {
					q.InputTokens = 63
				}
			})
		}, nil, ""},
		{"no reuse", func(c *sim.Config, r *sim.Result) {
			each(r, func(i int, q *sim.Request) { q.Decision = sim.Decision{} })
		}, []string{NoReuse}, "No prompt of the trace begins like an earlier one"},
		{"coarse blocks", func(c *sim.Config, r *sim.Result) { c.Fleet[0].Engine.BlockSize = 1000 },
			[]string{CoarseBlocks}, "A KV block of 1000 tokens spans several trace blocks of 512"},
		{"one worker", func(c *sim.Config, r *sim.Result) {
			c.Fleet[0].Count = 1
			each(r, func(i int, q *sim.Request) { q.Worker = 0 })
			r.Workers = r.Workers[:1]
		}, []string{OneWorker}, "no choice"},
		{"caching off", func(c *sim.Config, r *sim.Result) { c.Fleet[0].Engine.EnablePrefixCaching = false },
			[]string{CachingOff}, "Prefix caching is off"},
		{"over length", func(c *sim.Config, r *sim.Result) {
			c.Fleet[0].Engine.MaxModelLen = 131072
			r.OverLength = 1
		}, []string{OverLength}, "1 request is longer than max_model_len with its output (prompt + output above 131,072 tokens)"},
		{"rejected", func(c *sim.Config, r *sim.Result) {
			q := &r.Requests[7]
			q.Status, q.Admissions, q.OutputTokens, q.InputTokens, q.FirstAdmit = sim.Rejected, 0, 0, 2_000_000, nan
		}, []string{RejectedAny}, "1 request rejected: the prompt can never fit (longest 2,000,000 tokens; a worker's KV pool holds 1,048,576 tokens)"},
		{"failed between the pools", func(c *sim.Config, r *sim.Result) {
			q := &r.Requests[7]
			q.Status, q.OutputTokens, q.InputTokens = sim.Failed, 0, 2_000_000
		}, []string{FailedAny}, "1 request failed between the pools, counted as rejected: the decode worker can never hold the prompt (longest 2,000,000 tokens; a decode worker's KV pool holds at most 1,048,576)"},
		{"answers cut to the pool", func(c *sim.Config, r *sim.Result) {
			c.Fleet[0].Engine.Backend = engine.TRTLLM
			r.Requests[7].OutputTokens = 0
		}, []string{CutShort}, "1 answer is cut short where prompt and answer fill a worker's KV pool"},
		{"turns that never come", func(c *sim.Config, r *sim.Result) {
			r.Released = 39
			r.Requests[39] = never()
			r.Routed = r.Routed[:39]
		}, []string{UnfinishedAny}, "1 later turn was never released: a session ends with a request that failed"},
		{"unfinished", func(c *sim.Config, r *sim.Result) {
			q := &r.Requests[39]
			q.Status, q.Terminal, q.LastToken, q.OutputTokens = sim.Unfinished, nan, nan, 0
			r.Released, r.Stopped = 39, true
			r.Routed = r.Routed[:38]
			r.Requests[38] = never()
		}, []string{UnfinishedAny}, "1 request unfinished, 1 never released"},
		{"out of range", func(c *sim.Config, r *sim.Result) { r.Workers[1].OutOfRange = 30 },
			[]string{OutOfRange}, "30 of 200 engine steps (15.0 %)"},
		{"one busy queue", func(c *sim.Config, r *sim.Result) {
			each(r, func(i int, q *sim.Request) {
				if q.Worker == 1 {
					q.FirstAdmit = q.Dispatched + 150
				}
			})
		}, []string{BusyQueue}, "w1 had requests waiting for 75 % of the time; the others at most 1 %."},
		{"all queues busy", func(c *sim.Config, r *sim.Result) {
			each(r, func(i int, q *sim.Request) { q.FirstAdmit = q.Dispatched + 250 })
		}, []string{BusyQueue}, "2 of 2 workers more than half of it"},
		{"overload", func(c *sim.Config, r *sim.Result) {
			each(r, func(i int, q *sim.Request) {
				if i > 30 && i < 36 {
					q.FirstAdmit = 3950
				}
			})
		}, []string{Overload}, "5 of 40 requests were still waiting"},
		{"closed loop is full by design", func(c *sim.Config, r *sim.Result) {
			c.Concurrency = 10
			each(r, func(i int, q *sim.Request) {
				if i > 30 && i < 36 {
					q.FirstAdmit = 3950
				}
			})
		}, nil, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			trace, config, result := healthy(t)
			c.change(config, result)
			s := Summarize(trace, config, result)
			if got := codes(s); !slices.Equal(got, append([]string{}, c.want...)) {
				t.Fatalf("found %v, expected %v", s.Routesim.Warnings, c.want)
			}
			if len(c.want) > 0 && !strings.Contains(s.Routesim.Warnings[0].Text, c.text) {
				t.Errorf("found %q, expected %q in it", s.Routesim.Warnings[0].Text, c.text)
			}
			for _, w := range s.Routesim.Warnings {
				if !strings.HasSuffix(w.Text, ".") || strings.Contains(w.Text, "%!") || strings.Contains(w.Text, "  ") {
					t.Errorf("%q is not a sentence", w.Text)
				}
			}
		})
	}
}

func TestUnsortedWarning(t *testing.T) {
	row := func(at float64) workloads.Row {
		return workloads.Row{Timestamp: at, InputLength: 9, OutputLength: 1, HashIDs: []uint64{1}}
	}
	trace := testTrace(t, row(0), row(5), row(3), row(4))
	_, c, r := healthy(t)
	s := Summarize(trace, c, r)
	if got := codes(s); !slices.Contains(got, Unsorted) {
		t.Fatalf("found %v, expected %s", got, Unsorted)
	}
	if got := s.Routesim.Warnings[len(s.Routesim.Warnings)-1].Text; !strings.HasPrefix(got, "1 row of the trace is earlier") {
		t.Errorf("found %q", got)
	}
	c.Concurrency = 2
	if got := codes(Summarize(trace, c, r)); slices.Contains(got, Unsorted) {
		t.Error("closed loop: found a warning about arrival times that play no part")
	}
}

func TestSkippedWarning(t *testing.T) {
	f := &facts{}
	f.trace = skipping(t)
	if got := f.skipped(); !strings.HasPrefix(got, "1 row of the trace could not be read and was left out") {
		t.Errorf("found %q", got)
	}
}

// skipping is a trace whose second line is no request.
func skipping(t testing.TB) *workloads.Trace {
	t.Helper()
	dir := t.TempDir()
	path := dir + "/trace.jsonl"
	text := `{"timestamp": 0, "input_length": 5, "output_length": 1, "hash_ids": [1]}` + "\n{}\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	trace, err := workloads.Open(path, workloads.Options{OnError: workloads.SkipRow})
	if err != nil {
		t.Fatal(err)
	}
	return trace
}
