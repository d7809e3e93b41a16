package sweepdata

import (
	"math"

	"routesim/reports"
	"routesim/sim"
	"routesim/workloads"
)

// Counter is a count of what a run's decisions had to go by.
type Counter struct {
	Name string // snake case
	Of   func(c *sim.Config, r *sim.Result) int64
}

// Counters lists the counts that are kept of every run. They tell why a setting
// changed nothing.
func Counters() []Counter {
	router := func(name string, of func(*sim.Result) int64) Counter {
		return Counter{name, func(_ *sim.Config, r *sim.Result) int64 { return of(r) }}
	}
	return []Counter{
		router("routed", func(r *sim.Result) int64 { return int64(len(r.Routed)) }),
		router("fleet", func(r *sim.Result) int64 { return int64(len(r.Workers)) }),
		{"prompts_with_full_blocks", promptsWithBlocks},
		router("kv_events", func(r *sim.Result) int64 { return r.Counters.Events }),
		router("scored", func(r *sim.Result) int64 { return r.Counters.Decisions }),
		router("scored_with_overlap", func(r *sim.Result) int64 { return r.Counters.Overlapping }),
		router("scored_with_lower_tiers", func(r *sim.Result) int64 { return r.Counters.LowerTiers }),
		router("scored_with_unequal_overlap", func(r *sim.Result) int64 { return r.Counters.OverlapDiffers }),
		router("scored_with_credit", func(r *sim.Result) int64 { return r.Counters.Credited }),
		router("scored_with_unequal_prefill", func(r *sim.Result) int64 { return r.Counters.PrefillDiffers }),
		router("scored_with_unequal_blocks", func(r *sim.Result) int64 { return r.Counters.ActiveDiffers }),
		router("scored_with_unequal_requests", func(r *sim.Result) int64 { return r.Counters.RequestsDiffer }),
		router("scored_with_shared_active_blocks", func(r *sim.Result) int64 { return r.Counters.SharedActive }),
		router("scored_with_ties", func(r *sim.Result) int64 { return r.Counters.Tied }),
		router("held_in_router_queue", func(r *sim.Result) int64 { return r.Counters.Waited }),
		{"waiting_at_last_arrival", func(c *sim.Config, r *sim.Result) int64 {
			if c.Concurrency > 0 { // a closed loop has no more under way than it allows
				return 0
			}
			return reports.WaitingAtEnd(r)
		}},
		router("peak_running", func(r *sim.Result) int64 { return peak(r, func(w *sim.Worker) int32 { return w.PeakRunning }) }),
		router("peak_waiting", func(r *sim.Result) int64 { return peak(r, func(w *sim.Worker) int32 { return w.PeakWaiting }) }),
	}
}

// CounterIndex returns the place of a counter in Counters(), -1 for an unknown
// name.
func CounterIndex(name string) int {
	for i, c := range Counters() {
		if c.Name == name {
			return i
		}
	}
	return -1
}

// promptsWithBlocks counts the routed prompts that fill at least one KV block.
func promptsWithBlocks(c *sim.Config, r *sim.Result) (n int64) {
	block := c.Fleet[0].Engine.BlockSize
	for _, row := range r.Routed {
		if r.Requests[row].InputTokens >= block {
			n++
		}
	}
	return n
}

func peak(r *sim.Result, of func(*sim.Worker) int32) (most int64) {
	for i := range r.Workers {
		most = max(most, int64(of(&r.Workers[i])))
	}
	return most
}

// Measure takes from a run of t under c what a sweep keeps of it.
func Measure(t *workloads.Trace, c *sim.Config, r *sim.Result) (*Run, *Latencies) {
	s := reports.Summarize(t, c, r)
	run := &Run{
		Seed: c.Seed, DecisionDigest: s.Routesim.DecisionDigest, TimeDigest: s.Routesim.TokenTimeDigest,
		Queue: queueOf(r),
	}
	for _, m := range Metrics() {
		run.Metrics = append(run.Metrics, m.Of(s))
	}
	for _, n := range Counters() {
		run.Counters = append(run.Counters, n.Of(c, r))
	}
	for i := range r.Workers {
		w := &r.Workers[i]
		busy := math.NaN()
		if r.EndMS > 0 {
			busy = w.BusyMS / r.EndMS
		}
		run.Workers = append(run.Workers, Worker{Requests: w.Requests, Tokens: w.InputTokens + w.OutputTokens, BusyShare: busy})
	}
	// A closed loop has no more requests under way than it allows.
	run.Saturated = c.Concurrency == 0 && run.Queue.Growing(len(r.Workers))
	return run, latenciesOf(c, r)
}

func latenciesOf(c *sim.Config, r *sim.Result) *Latencies {
	n := len(r.Requests)
	l := &Latencies{
		TTFT: make([]float32, n), ITL: make([]float32, n), E2E: make([]float32, n),
		Worker: make([]int32, n), Predicted: make([]float32, n), Reused: make([]float32, n),
	}
	overhead := reports.RequestMSByWorker(c)
	nan := float32(math.NaN())
	for i := range r.Requests {
		q := &r.Requests[i]
		l.Worker[i] = q.Worker
		l.TTFT[i], l.ITL[i], l.E2E[i], l.Predicted[i], l.Reused[i] = nan, nan, nan, nan, nan
		if q.Worker >= 0 {
			l.Predicted[i] = float32(q.Decision.Overlap)
		}
		if q.Admissions > 0 {
			l.Reused[i] = float32(float64(q.FirstReused) / float64(c.Fleet[0].Engine.BlockSize))
		}
		if q.Status != sim.Completed || q.Admissions == 0 {
			continue
		}
		ms := 0.0
		if q.Worker >= 0 && int(q.Worker) < len(overhead) {
			ms = overhead[q.Worker]
		}
		lat := reports.RequestLatencies(q, ms)
		l.TTFT[i], l.ITL[i], l.E2E[i] = float32(lat.TTFT), float32(lat.TPOT), float32(lat.E2E)
	}
	return l
}

// RequestsOf takes what each request of a trace asked for.
func RequestsOf(t *workloads.Trace) Requests {
	n := t.Len()
	q := Requests{ArrivalMS: make([]float64, n), InputTokens: make([]int32, n), OutputTokens: make([]int32, n)}
	for i := range n {
		q.ArrivalMS[i], q.InputTokens[i], q.OutputTokens[i] = t.Arrival(i), t.InputTokens(i), t.OutputTokens(i)
	}
	return q
}
