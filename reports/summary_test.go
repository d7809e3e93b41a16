package reports

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"routesim/models"
	"routesim/sim"
	"routesim/sim/router"
	"routesim/workloads"
)

func ptr(v float64) *float64 { return &v }

// never is a request that did not reach the router.
func never() sim.Request {
	n := math.NaN()
	return sim.Request{Arrival: n, Dispatched: n, FirstAdmit: n, FirstToken: n, SecondToken: n, LastToken: n, Terminal: n, Worker: -1, Order: -1}
}

// done is a completed request of one worker.
func done(arrival, admit, first, second, last float64, input, output, reused int32) sim.Request {
	return sim.Request{
		Arrival: arrival, Dispatched: arrival, FirstAdmit: admit, FirstToken: first, SecondToken: second,
		LastToken: last, Terminal: last, InputTokens: input, OutputTokens: output,
		FirstReused: reused, MaxReused: reused, Admissions: 1, Status: sim.Completed,
	}
}

// tokenless is a completed request that asked for no output.
func tokenless(arrival, end float64, input, reused int32) sim.Request {
	n := math.NaN()
	q := done(arrival, arrival, n, n, n, input, 0, reused)
	q.Terminal = end
	return q
}

// build makes a result of requests that are routed and end in the order given.
func build(workers int, requests ...sim.Request) *sim.Result {
	r := &sim.Result{Requests: requests, Workers: make([]sim.Worker, workers)}
	for i := range requests {
		q := &requests[i]
		if math.IsNaN(q.Arrival) {
			continue
		}
		r.Released++
		q.Order = int32(len(r.Routed))
		r.Routed = append(r.Routed, int32(i))
		r.EndMS = math.Max(r.EndMS, q.Terminal)
		if q.Status == sim.Completed {
			r.DurationMS = math.Max(r.DurationMS, q.Terminal)
		}
	}
	r.WorkerSeconds = float64(workers) * r.EndMS / 1000
	return r
}

func testTrace(t testing.TB, rows ...workloads.Row) *workloads.Trace {
	t.Helper()
	trace, err := workloads.FromRows(workloads.BuilderOptions{}, rows...)
	if err != nil {
		t.Fatal(err)
	}
	return trace
}

// plainTrace is a trace of n equal requests.
func plainTrace(t testing.TB, n int) *workloads.Trace {
	t.Helper()
	rows := make([]workloads.Row, n)
	for i := range rows {
		rows[i] = workloads.Row{Timestamp: float64(i), InputLength: 9, OutputLength: 1, HashIDs: []uint64{1}}
	}
	return testTrace(t, rows...)
}

func testConfig(t testing.TB, workers int) *sim.Config {
	t.Helper()
	m, err := models.NewFixed(7.5, 0.7, models.TimingOptions{})
	if err != nil {
		t.Fatal(err)
	}
	c := sim.DefaultConfig(workers, m)
	return &c
}

// slaCase is a run that Dynamo 1.6.1 reports as written below: three requests
// on one worker, with a bound of 50 ms on TTFT and 12 ms on ITL.
func slaCase(t testing.TB) (*workloads.Trace, *sim.Config, *sim.Result) {
	trace := testTrace(t,
		workloads.Row{Timestamp: 0, InputLength: 1000, OutputLength: 5, HashIDs: []uint64{1, 2}},
		workloads.Row{Timestamp: 3, InputLength: 700, OutputLength: 3, HashIDs: []uint64{1, 7}},
		workloads.Row{Timestamp: 200, InputLength: 700, OutputLength: 30, HashIDs: []uint64{1, 7}},
	)
	c := testConfig(t, 1)
	c.Router.Mode = router.RoundRobin
	c.SLA = sim.SLA{TTFT: ptr(50), ITL: ptr(12)}
	r := build(1,
		done(0, 0, 32.105859, 57.268182, 74.715275, 1000, 5, 0),
		done(3, 32.105859, 57.268182, 63.095832, 68.923585, 700, 3, 512),
		done(200, 200, 217.413942, 223.190038, 384.94161199999996, 700, 30, 640),
	)
	r.CommittedPrefillTokens = 1248
	return trace, c, r
}

func TestSummaryEqualsDynamo(t *testing.T) {
	s := Summarize(slaCase(t))
	got := s.Values()
	for key, want := range map[string]any{
		"committed_prefill_tokens":                  int64(1248),
		"num_requests":                              int64(3),
		"completed_requests":                        int64(3),
		"total_input_tokens":                        int64(2400),
		"total_output_tokens":                       int64(38),
		"duration_ms":                               384.94161199999996,
		"request_throughput_rps":                    7.793389715425206,
		"input_throughput_tok_s":                    6234.711772340165,
		"output_throughput_tok_s":                   98.71626972871928,
		"total_throughput_tok_s":                    6333.428042068884,
		"decode_worker_seconds":                     0.38494161200000004,
		"prefill_worker_seconds":                    0.0,
		"prefill_gpus_per_worker":                   0.0,
		"decode_gpus_per_worker":                    1.0,
		"gpu_hours":                                 0.00010692822555555557,
		"goodput_completed_requests":                int64(2),
		"goodput_request_throughput_rps":            5.195593143616804,
		"goodput_output_throughput_tok_s":           90.92288001329408,
		"processed_tokens":                          int64(2438),
		"prefix_cache_reused_ratio":                 0.48,
		"first_admission_prefix_cache_reused_ratio": 0.48,
		"num_ttft_samples":                          int64(3),
		"num_tpot_samples":                          int64(3),
		"num_e2e_latency_samples":                   int64(3),
		"mean_ttft_ms":                              34.59599433333333,
		"median_ttft_ms":                            32.105859,
		"p75_ttft_ms":                               54.268182,
		"std_ttft_ms":                               15.148362551293271,
		"mean_ttst_ms":                              12.255356333333332,
		"max_ttst_ms":                               25.162323,
		"std_ttst_ms":                               9.12662792253387,
		"mean_tpot_ms":                              7.418957235632184,
		"min_tpot_ms":                               5.776816206896551,
		"std_tpot_ms":                               2.286451151913777,
		"mean_e2e_latency_ms":                       108.52682399999999,
		"p99_e2e_latency_ms":                        184.94161199999996,
		"std_e2e_latency_ms":                        54.15249038334697,
		"kv_eviction_policy":                        "lru",
		"power_w":                                   nil,
	} {
		if w, ok := want.(float64); ok {
			if g, ok := got[key].(float64); !ok || math.Abs(g-w) > 1e-12*math.Abs(w) {
				t.Errorf("%s: found %v, expected %v", key, got[key], want)
			}
		} else if got[key] != want {
			t.Errorf("%s: found %v (%T), expected %v", key, got[key], got[key], want)
		}
	}
	if len(got) != 81 {
		t.Errorf("found %d figures, expected the oracle's 78 and 3 of goodput", len(got))
	}
}

// TestGoodput holds counts that Dynamo 1.6.1 gave for two tokenless requests
// (21.96 ms and 0 ms long), one of 3 tokens and one of 1 token.
func TestGoodput(t *testing.T) {
	r := build(1,
		tokenless(0, 21.96008, 256, 0),
		done(0, 0, 21.96008, 27.705282, 33.450536, 100, 3, 0),
		tokenless(500, 500, 256, 256),
		done(900, 900, 920.4, math.NaN(), 920.4, 256, 1, 0),
	)
	trace := plainTrace(t, 4)
	for _, c := range []struct {
		name   string
		sla    sim.SLA
		good   int64
		tokens float64
	}{
		{"e2e 10", sim.SLA{E2E: ptr(10)}, 1, 0},
		{"e2e 25", sim.SLA{E2E: ptr(25)}, 3, 1},
		{"itl 1000", sim.SLA{ITL: ptr(1000)}, 2, 4},
		{"ttft 1000", sim.SLA{TTFT: ptr(1000)}, 2, 4},
		{"itl 0.001", sim.SLA{ITL: ptr(0.001)}, 1, 1},
		{"both", sim.SLA{TTFT: ptr(1000), ITL: ptr(0.001)}, 1, 1},
		{"bound included", sim.SLA{TTFT: ptr(21.96008)}, 2, 4},
	} {
		config := testConfig(t, 1)
		config.SLA = c.sla
		g := Summarize(trace, config, r).Goodput
		if g.Completed != c.good || math.Abs(g.OutputRate*r.DurationMS/1000-c.tokens) > 1e-9 {
			t.Errorf("%s: found %+v, expected %d good requests with %v tokens", c.name, g, c.good, c.tokens)
		}
	}
}

func TestNothingCompletedIsNull(t *testing.T) {
	trace := plainTrace(t, 2)
	c := testConfig(t, 2)
	c.SLA.TTFT = ptr(1)
	refused := never()
	refused.Arrival, refused.Dispatched, refused.Terminal, refused.Status, refused.Worker = 0, 0, 4, sim.Rejected, 1
	doc := document(t, Summarize(trace, c, build(2, refused, never())))
	for key, v := range doc {
		switch v := v.(type) {
		case nil:
		case float64:
			if strings.Contains(key, "_ms") || strings.Contains(key, "throughput") || strings.Contains(key, "ratio") {
				t.Errorf("%s: found %v, expected null", key, v)
			}
		}
	}
	own := doc["routesim"].(map[string]any)
	if own["rejected_requests"] != 1.0 || own["unfinished_requests"] != 0.0 {
		t.Errorf("found %v rejected, %v unfinished", own["rejected_requests"], own["unfinished_requests"])
	}
	for _, key := range []string{"ceiling", "best_available", "chosen", "delivered"} {
		if v, ok := own["waterfall"].(map[string]any)[key]; !ok || v != nil {
			t.Errorf("waterfall.%s: found %v, expected null", key, v)
		}
	}
}

func document(t testing.TB, s *Summary) map[string]any {
	t.Helper()
	var b bytes.Buffer
	if err := s.Write(&b); err != nil {
		t.Fatal(err)
	}
	var doc map[string]any
	if err := json.Unmarshal(b.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	return doc
}

// TestSummaryDocument compares the whole document with the one that was read
// and found right.
func TestSummaryDocument(t *testing.T) {
	trace, c, r := slaCase(t)
	s := Summarize(trace, c, r)
	s.Routesim.Version = "0.0.0"
	s.Routesim.Config = map[string]any{"workers": 1, "name": "<a & b>", "block-size": 64}
	s.Routesim.Environment = []string{"DYN_ROUTER_TEMPERATURE"}
	var b bytes.Buffer
	if err := s.Write(&b); err != nil {
		t.Fatal(err)
	}
	const name = "testdata/summary.json"
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(name, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(b.Bytes(), want) {
		t.Errorf("the document differs from %s (UPDATE=1 rewrites it): %s", name, b.Bytes())
	}
	if !bytes.Contains(b.Bytes(), []byte(`"<a & b>"`)) {
		t.Error("text is escaped for web pages")
	}
}

func TestRequestOverhead(t *testing.T) {
	trace, c, r := slaCase(t)
	plain := Summarize(trace, c, r)
	c.Fleet[0].RequestMS = 2.5
	with := Summarize(trace, c, r)
	if d := with.TTFT.Mean - plain.TTFT.Mean; math.Abs(d-2.5) > 1e-9 {
		t.Errorf("TTFT rose by %v ms, expected 2.5", d)
	}
	if d := with.E2E.Max - plain.E2E.Max; math.Abs(d-2.5) > 1e-9 {
		t.Errorf("E2E rose by %v ms, expected 2.5", d)
	}
	if with.TPOT != plain.TPOT || with.TTST != plain.TTST {
		t.Error("times between tokens changed")
	}
}

func TestGPUs(t *testing.T) {
	trace, c, r := slaCase(t)
	c.Fleet[0].GPUs = 4
	s := Summarize(trace, c, r)
	if s.GPUsPerWorker != 4 || math.Abs(s.GPUHours-4*0.00010692822555555557) > 1e-15 {
		t.Errorf("found %v GPUs a worker, %v GPU hours", s.GPUsPerWorker, s.GPUHours)
	}
	c.Fleet = append(c.Fleet, c.Fleet[0])
	c.Fleet[1].GPUs = 2
	r.Workers = append(r.Workers, sim.Worker{})
	s = Summarize(trace, c, r)
	if !math.IsNaN(s.GPUsPerWorker) || math.Abs(s.GPUHours-3*0.00010692822555555557) > 1e-15 {
		t.Errorf("mixed fleet: found %v GPUs a worker, %v GPU hours", s.GPUsPerWorker, s.GPUHours)
	}
}

func TestWaterfallRegretImbalance(t *testing.T) {
	block := int32(64)
	a := done(0, 0, 10, 11, 12, 10*block, 3, 2*block)
	a.Decision = sim.Decision{Cost: 9, MinCost: 7, Overlap: 3, BestOverlap: 4, Tied: 2, ChosenHeld: 3, BestHeld: 5, CeilingHeld: 8}
	b := done(5, 5, 20, 21, 22, 10*block, 3, 4*block)
	b.Worker = 1
	b.Decision = sim.Decision{Cost: 4, MinCost: 4, Overlap: 1, BestOverlap: 1, Tied: 1, ChosenHeld: 2, BestHeld: 2, CeilingHeld: 2}
	gone := never() // rejected: routed, but not in the waterfall
	gone.Arrival, gone.Dispatched, gone.Terminal, gone.Status, gone.Worker, gone.InputTokens = 6, 9, 9, sim.Rejected, 0, 999
	gone.Decision = sim.Decision{Cost: 3, MinCost: 2, Tied: 3, BestHeld: 1, CeilingHeld: 7}
	r := build(2, a, b, gone)
	r.Workers[0] = sim.Worker{BusyMS: 10, InputTokens: 640, OutputTokens: 160}
	r.Workers[1] = sim.Worker{BusyMS: 30, InputTokens: 640, OutputTokens: 560, PeakBlocks: 4096}
	trace := plainTrace(t, 3)
	c := testConfig(t, 2)
	d := Summarize(trace, c, r).Routesim
	if want := (Waterfall{Ceiling: 0.5, Best: 7. / 20, Chosen: 5. / 20, Delivered: 6. / 20, Believed: 4. / 20}); d.Waterfall != want {
		t.Errorf("found %+v, expected %+v", d.Waterfall, want)
	}
	if want := (Regret{3, 1, 2, Number(2. / 3), 1, 2, Number(2. / 3)}); d.Regret != want {
		t.Errorf("found %+v, expected %+v", d.Regret, want)
	}
	if want := (Imbalance{
		BusyMaxOverMean: 1.5, TokensCV: 0.2, Busiest: 1, BusiestShare: 0.75, Idlest: 0, IdlestShare: 0.25,
		PeakKVUsage: 0.25, PeakKVWorker: 1,
	}); d.Imbalance != want {
		t.Errorf("found %+v, expected %+v", d.Imbalance, want)
	}
	if d.QueueWait.N != 3 || d.QueueWait.Max != 3 || d.QueueWait.Mean != 1 {
		t.Errorf("queue wait: found %+v", d.QueueWait)
	}
	c.Router.Mode = router.RoundRobin
	d = Summarize(trace, c, r).Routesim
	for name, v := range map[string]Number{"believed": d.Waterfall.Believed, "mean cost": d.Regret.MeanCost, "max cost": d.Regret.MaxCost, "tied": d.Regret.TiedShare} {
		if !math.IsNaN(float64(v)) {
			t.Errorf("round-robin: %s is %v, expected none", name, v)
		}
	}
}

func TestDecisionDigest(t *testing.T) {
	base := func() *sim.Result {
		a, b := done(0, 0, 1, 2, 3, 4, 5, 0), done(0, 0, 1, 2, 3, 4, 5, 0)
		a.Decision.Overlap, b.Worker = 7, 1
		return build(2, a, b)
	}
	want := DecisionDigest(base())
	if DecisionDigest(base()) != want {
		t.Error("the digest does not repeat")
	}
	same := base()
	same.Requests[0].LastToken, same.Requests[1].Decision.Cost = 9, 4
	if DecisionDigest(same) != want {
		t.Error("the digest depends on more than decisions")
	}
	for name, change := range map[string]func(*sim.Result){
		"worker":  func(r *sim.Result) { r.Requests[1].Worker = 0 },
		"overlap": func(r *sim.Result) { r.Requests[0].Decision.Overlap = 6.5 },
		"order":   func(r *sim.Result) { slices.Reverse(r.Routed) },
		"missing": func(r *sim.Result) { r.Routed = r.Routed[:1] },
	} {
		r := base()
		change(r)
		if DecisionDigest(r) == want {
			t.Errorf("%s: the digest did not change", name)
		}
	}
}

func TestTraceDigest(t *testing.T) {
	rows := func() []workloads.Row {
		return []workloads.Row{
			{Timestamp: 0, InputLength: 1000, OutputLength: 5, HashIDs: []uint64{1, 2}, SessionID: "a"},
			{Timestamp: 3, InputLength: 700, OutputLength: 3, HashIDs: []uint64{1, 7}, SessionID: "a", Delay: ptr(3), Priority: 1},
			{Timestamp: 4, InputLength: 700, OutputLength: 3, HashIDs: []uint64{4, 7}, PolicyClass: "x"},
		}
	}
	want := TraceDigest(testTrace(t, rows()...))
	renamed := rows()
	renamed[0].SessionID, renamed[1].SessionID = "b", "b"
	for i := range renamed {
		for j := range renamed[i].HashIDs {
			renamed[i].HashIDs[j] += 1000
		}
	}
	if TraceDigest(testTrace(t, renamed...)) != want {
		t.Error("the digest depends on the names of blocks or sessions")
	}
	seen := map[[32]byte]string{want: "unchanged"}
	for name, change := range map[string]func([]workloads.Row){
		"arrival":  func(r []workloads.Row) { r[2].Timestamp = 5 },
		"input":    func(r []workloads.Row) { r[1].InputLength = 701 },
		"output":   func(r []workloads.Row) { r[1].OutputLength = 4 },
		"prefix":   func(r []workloads.Row) { r[1].HashIDs[0] = 4 },
		"session":  func(r []workloads.Row) { r[2].SessionID = "a" },
		"delay":    func(r []workloads.Row) { r[1].Delay = ptr(4) },
		"priority": func(r []workloads.Row) { r[1].Priority = 2 },
		"strict":   func(r []workloads.Row) { r[1].StrictPriority = 2 },
		"class":    func(r []workloads.Row) { r[2].PolicyClass = "y" },
	} {
		r := rows()
		change(r)
		d := TraceDigest(testTrace(t, r...))
		if other, ok := seen[d]; ok {
			t.Errorf("%s and %s have the same digest", name, other)
		}
		seen[d] = name
	}
}

// TestImbalanceOfPools: each pool is compared within itself, and by the ranks of
// its workers.
func TestImbalanceOfPools(t *testing.T) {
	r := build(1, done(0, 0, 10, 11, 12, 640, 3, 128))
	r.Workers[0] = sim.Worker{BusyMS: 5, PeakBlocks: 1024}
	r.Handoffs = make([]sim.Handoff, 1)
	r.Prefill = []sim.Worker{{BusyMS: 10, InputTokens: 800}, {BusyMS: 30, InputTokens: 1200, PeakBlocks: 4096}}
	c := testConfig(t, 1)
	if got := Summarize(plainTrace(t, 1), c, r).Routesim.PrefillImbalance; got != nil {
		t.Errorf("one pool: found %+v, expected none", got)
	}
	pool := c.Fleet[0]
	pool.Engine.DPSize = 2
	c.Prefill = []sim.Group{pool}
	d := Summarize(plainTrace(t, 1), c, r).Routesim
	want := Imbalance{
		BusyMaxOverMean: 1.5, TokensCV: 0.2, Busiest: 1, BusiestShare: 0.75, Idlest: 0, IdlestShare: 0.25,
		PeakKVUsage: 0.25, PeakKVWorker: 1,
	}
	if d.PrefillImbalance == nil || *d.PrefillImbalance != want {
		t.Errorf("found %+v, expected %+v", d.PrefillImbalance, want)
	}
	if d.Imbalance.BusiestShare != 1 || d.Imbalance.PeakKVWorker != 0 {
		t.Errorf("decode pool: found %+v", d.Imbalance)
	}
}
