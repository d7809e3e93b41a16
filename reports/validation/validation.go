// Package validation compares a simulated run with what a production system
// recorded for the same requests on the same workers.
package validation

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"routesim/reports"
	"routesim/sim"
	"routesim/sim/router"
	"routesim/workloads"
)

// Worker is a place that served requests: a worker and its data-parallel rank.
type Worker struct {
	ID   uint64
	Rank int32
}

// Plan says which simulated worker stands for which recorded one.
type Plan struct {
	Workers []Worker // by simulated worker, ascending by (id, rank)
	Force   []int32  // by row: the simulated worker, -1 where none was recorded
}

// NewPlan reads the recorded workers of a trace. Ranks have caches and queues
// of their own, so each counts as a worker.
func NewPlan(t *workloads.Trace) (*Plan, error) {
	rec := t.Recorded()
	if rec == nil {
		return nil, fmt.Errorf("%s: found a trace of the format %s, expected a Dynamo request trace (the others record no outcomes)", name(t), t.Format())
	}
	p := &Plan{Force: make([]int32, t.Len())}
	seen := map[Worker]bool{}
	for i := range t.Len() {
		if rec.PrefillWorker[i] != workloads.NoWorker && rec.PrefillWorker[i] != rec.DecodeWorker[i] {
			return nil, &workloads.Problem{File: name(t), Line: int(t.Line(i)), Field: "request.worker", Found: "a prefill worker apart from the decode worker",
				Want: "aggregated serving (disaggregated serving is not modelled)"}
		}
		if w, ok := recorded(rec, i); ok && !seen[w] {
			seen[w] = true
			p.Workers = append(p.Workers, w)
		}
	}
	if len(p.Workers) == 0 {
		return nil, fmt.Errorf("%s: found no recorded worker, expected request.worker.decode_worker_id in at least one row", name(t))
	}
	slices.SortFunc(p.Workers, func(a, b Worker) int {
		return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.Rank, b.Rank))
	})
	index := map[Worker]int32{}
	for i, w := range p.Workers {
		index[w] = int32(i)
	}
	for i := range t.Len() {
		p.Force[i] = -1
		if w, ok := recorded(rec, i); ok {
			p.Force[i] = index[w]
		}
	}
	return p, nil
}

func name(t *workloads.Trace) string {
	if n := t.File(0); n != "" {
		return n
	}
	return "trace"
}

func recorded(rec *workloads.Recorded, i int) (Worker, bool) {
	w := Worker{rec.DecodeWorker[i], max(rec.DecodeRank[i], 0)}
	return w, w.ID != workloads.NoWorker
}

// Error is how far simulated values are from recorded ones. Differences are
// simulated minus recorded.
type Error struct {
	N         int     // pairs compared
	Recorded  float64 // mean of the recorded values
	Simulated float64 // mean of the simulated values
	Bias      float64 // mean difference
	Median    float64 // of the absolute differences
	P90       float64 // of the absolute differences
	// RelMedian and RelP90 are of the absolute differences over the recorded
	// value, where that is above 0.
	RelMedian float64
	RelP90    float64
}

// Row is one request's recorded and simulated values. Times are in ms; NaN
// stands for what was not recorded or did not happen.
type Row struct {
	Line                int32
	Worker              int32 // simulated
	TTFT, SimTTFT       float64
	ITL, SimITL         float64
	Cached, SimCached   float64 // prompt tokens served from the cache
	Cost, MinCost       float64 // of the recorded worker, and the least
	Judged, AtLeastCost bool    // the router scored it; the recorded worker had the least cost
	completed           bool
}

// Comparison is the outcome of a run with the recorded workers forced.
type Comparison struct {
	Requests  int // in the trace
	Completed int // in the simulation
	Forced    int // with a recorded worker
	Judged    int // forced ones that the router scored
	LeastCost int // of these, the recorded worker had the least cost
	TTFT      Error
	ITL       Error
	Cached    Error
	Rows      []Row

	Profiles   []reports.ProfileFacts // of the groups that have one; set by the caller
	Correction *Correction            // nil where none was looked for; set by the caller
}

// Compare sets a finished run beside what the trace recorded.
func Compare(t *workloads.Trace, c *sim.Config, r *sim.Result, p *Plan) *Comparison {
	rec := t.Recorded()
	out := &Comparison{Requests: t.Len(), Rows: make([]Row, t.Len())}
	overhead := reports.RequestMSByWorker(c)
	for i := range out.Rows {
		q := &r.Requests[i]
		requestMS := 0.0
		if q.Worker >= 0 {
			requestMS = overhead[q.Worker]
		}
		row := rowOf(t, rec, q, i, reports.RequestLatencies(q, requestMS))
		row.Judged = p.Force[i] >= 0 && r.Requests[i].Order >= 0 && c.Router.Mode == router.KV
		row.AtLeastCost = row.Judged && row.Cost == row.MinCost
		out.Rows[i] = row
		out.count(&row, p.Force[i] >= 0)
	}
	out.TTFT = errorOf(out.Rows, func(r *Row) (float64, float64) { return r.TTFT, r.SimTTFT })
	out.ITL = errorOf(out.Rows, func(r *Row) (float64, float64) { return r.ITL, r.SimITL })
	out.Cached = errorOf(out.Rows, func(r *Row) (float64, float64) { return r.Cached, r.SimCached })
	return out
}

func (c *Comparison) count(row *Row, forced bool) {
	if row.completed {
		c.Completed++
	}
	if forced {
		c.Forced++
	}
	if row.Judged {
		c.Judged++
	}
	if row.AtLeastCost {
		c.LeastCost++
	}
}

func rowOf(t *workloads.Trace, rec *workloads.Recorded, q *sim.Request, i int, l reports.Latencies) Row {
	nan := math.NaN()
	row := Row{
		Line: t.Line(i), Worker: q.Worker,
		TTFT: rec.TTFTMS[i], ITL: rec.AvgITLMS[i], Cached: nan,
		SimTTFT: nan, SimITL: nan, SimCached: nan,
		Cost: q.Decision.Cost, MinCost: q.Decision.MinCost,
		completed: q.Status == sim.Completed,
	}
	if n := rec.CachedTokens[i]; n >= 0 {
		row.Cached = float64(n)
	}
	if row.completed {
		row.SimTTFT, row.SimITL, row.SimCached = l.TTFT, l.TPOT, float64(q.FirstReused)
	}
	return row
}

// errorOf compares the pairs of which both sides are there.
func errorOf(rows []Row, pair func(*Row) (recorded, simulated float64)) Error {
	var e Error
	var abs, rel []float64
	sumRecorded, sumSimulated := 0.0, 0.0
	for i := range rows {
		a, b := pair(&rows[i])
		if math.IsNaN(a) || math.IsNaN(b) {
			continue
		}
		e.N++
		sumRecorded += a
		sumSimulated += b
		abs = append(abs, math.Abs(b-a))
		if a > 0 {
			rel = append(rel, math.Abs(b-a)/a)
		}
	}
	n := float64(e.N)
	e.Recorded, e.Simulated, e.Bias = sumRecorded/n, sumSimulated/n, (sumSimulated-sumRecorded)/n // NaN without pairs
	e.Median, e.P90 = quantile(abs, 0.5), quantile(abs, 0.9)
	e.RelMedian, e.RelP90 = quantile(rel, 0.5), quantile(rel, 0.9)
	return e
}

// quantile returns the element nearest to the share p of the sorted values,
// without interpolation; NaN of none.
func quantile(values []float64, p float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	slices.Sort(values)
	return values[int(math.Round(float64(p*float64(len(values)-1))))]
}
