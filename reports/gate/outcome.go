package gate

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"routesim/models/profile"
	"routesim/reports"
	"routesim/reports/format"
	"routesim/reports/sweepdata"
	"routesim/sim"
	"routesim/sim/router"
	"routesim/workloads"
)

// Outcome is what one scenario gave, now or when the baseline was made.
type Outcome struct {
	Name     string
	Trace    Trace
	Load     string  // how requests arrive
	SLA      string  // bounds of goodput, "" for none
	Settings []Value // that differ from their defaults, in the order of the table
	Profiles []Value // digests of the GPU profiles, by name
	Runs     []Run   // by seed, in the suite's order
	// Semantics says that the routers are live ones and why, Unchecked what of
	// them is not checked against Dynamo; "" for nothing. A baseline keeps neither.
	Semantics, Unchecked string
	// Problem says why the scenario could not be run, "" where it was.
	Problem string
}

// pooled reports whether prefill has a pool of its own.
func (o *Outcome) pooled() bool {
	return slices.ContainsFunc(o.Settings, func(v Value) bool { return v.Name == "prefill-workers" && v.Text != "none" })
}

// letter begins the names of its workers, of those that decode where prefill
// has a pool of its own.
func (o *Outcome) letter() string {
	if o.pooled() {
		return reports.Letter(sim.DecodePool)
	}
	return reports.Letter(sim.Aggregated)
}

// Trace identifies what was replayed.
type Trace struct {
	Name     string // file names without folders
	Requests int64
	Digest   string // hexadecimal
}

// Value is a text with a name.
type Value struct{ Name, Text string }

// Run is one run of a scenario.
type Run struct {
	Seed uint64
	// Decisions and Times are the digests of all decisions and of all token
	// times, hexadecimal.
	Decisions, Times string
	Counts           Counts
	Values           []float64 // by place in sweepdata.Metrics(); NaN where there is none
	Record           *Record   // nil where none was kept
}

// Counts says what became of the requests of a trace.
type Counts struct {
	Requests, Completed, Rejected, Lost, Cancelled, Unfinished int64
}

// short says what became of the requests that did not complete.
func (c *Counts) short() string {
	var parts []string
	for _, k := range []struct {
		n    int64
		what string
	}{
		{c.Rejected, "rejected"}, {c.Lost, "lost with crashed workers"}, {c.Cancelled, "cancelled"}, {c.Unfinished, "unfinished"},
		{c.Requests - c.Completed - c.Rejected - c.Lost - c.Cancelled - c.Unfinished, "never released"},
	} {
		if k.n > 0 {
			parts = append(parts, format.Count(k.n)+" "+k.what)
		}
	}
	return strings.Join(parts, ", ")
}

// Complete reports whether every request completed.
func (c *Counts) Complete() bool { return c.Completed == c.Requests }

// Measure sums up a run of t under c. rec is what was collected of the
// decisions, nil for nothing.
func Measure(t *workloads.Trace, c *sim.Config, r *sim.Result, rec *Collector) Run {
	s := reports.Summarize(t, c, r)
	trace := reports.TraceDigest(t)
	s.Routesim.Trace.Digest = hex.EncodeToString(trace[:])
	run := RunOf(s)
	if rec != nil {
		run.Record = rec.record(c, r)
	}
	return run
}

// RunOf takes from a summary what a comparison needs.
func RunOf(s *reports.Summary) Run {
	d := &s.Routesim
	run := Run{
		Seed: d.Seed, Decisions: d.DecisionDigest, Times: d.TokenTimeDigest,
		Counts: Counts{Requests: int64(d.Trace.Rows), Completed: s.Completed, Rejected: d.Rejected, Lost: d.Lost, Cancelled: d.Cancelled, Unfinished: d.Unfinished},
	}
	for _, m := range sweepdata.Metrics() {
		run.Values = append(run.Values, m.Of(s))
	}
	return run
}

// LoadOf describes how the requests of a run arrive. It is part of what must be
// alike in a comparison: an open loop and a closed one are different questions.
func LoadOf(c *sim.Config) string {
	text := fmt.Sprintf("open loop, arrivals sped up by %v", c.ArrivalSpeedup)
	if c.Concurrency > 0 {
		text = fmt.Sprintf("closed loop of %d sessions", c.Concurrency)
	}
	if c.MaxSimTimeMS != nil {
		text += fmt.Sprintf(", stopped at %v ms", *c.MaxSimTimeMS)
	}
	return text
}

// SLAOf describes the bounds of goodput.
func SLAOf(s *sim.SLA) string {
	var out []string
	for _, b := range []struct {
		name string
		ms   *float64
	}{{"TTFT", s.TTFT}, {"ITL", s.ITL}, {"E2E", s.E2E}} {
		if b.ms != nil {
			out = append(out, fmt.Sprintf("%s %v ms", b.name, *b.ms))
		}
	}
	return strings.Join(out, ", ")
}

// ProfileDigest is the SHA-256 over everything a profile says.
func ProfileDigest(p *profile.Profile) (string, error) {
	text, err := json.Marshal(p)
	if err != nil {
		return "", fmt.Errorf("profile %s: %w", p.ID, err)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), nil
}

// definition says what a metric means, for comparing like with like.
func definition(m *sweepdata.Metric) string {
	text := m.Title
	if m.Unit != "" {
		text += ", " + m.Unit
	}
	return text + ": " + meanings(m.Family)
}

// meanings says what the metrics of a family are.
func meanings(family string) string {
	switch family {
	case "ttft":
		return "arrival at the router to the first token with the front end's time, over completed requests; percentiles are values that occurred"
	case "itl":
		return "gaps between the tokens of a request, over all gaps; percentiles from a sketch of 0.1 % relative error"
	case "tpot":
		return "(last token - first token) / (tokens - 1), over completed requests of two tokens or more; percentiles are values that occurred"
	case "e2e":
		return "arrival at the router to the last token with the front end's time, over completed requests; percentiles are values that occurred"
	case "throughput":
		return "over the time until the last completed request ended"
	case "goodput":
		return "completed requests within every bound of the SLA, bounds included"
	case "cache":
		return "complete KV blocks of a prompt's beginning, weighted by the tokens of completed requests"
	case "load":
		return "over the workers of the fleet, and over the requests in the router's queue"
	}
	return "counts over the requests of the trace"
}

// decisionsDefinition says what the digest of the decisions covers.
const decisionsDefinition = "SHA-256 over request, worker, rank and overlap of every decision in routing order"

// Record is what a run decided, and what became of each request.
type Record struct {
	// By decision, in routing order.
	Rows     []int32
	Workers  []int32   // that decode where prefill has a pool of its own; -1 for none
	Prefill  []int32   // that compute the prompt in such a pool, -1 for none; nil without a pool and where they were not kept
	Overlaps []float64 // blocks the router believed in, 0 in round-robin mode
	// Fleet is the number of workers of a cost table, 0 where there are none.
	Fleet int
	// Costs holds the tables of the leading decisions, one after the other.
	Costs []router.Terms
	// Chosen holds the cost of the chosen worker alone, by decision, where no
	// tables are known. It is not written to files of decisions.
	Chosen []router.Terms
	// Unordered says that the routing order is not known: decisions are in the
	// order of the trace.
	Unordered bool
	// By row, in ms; NaN where there is none. Empty where they were not kept.
	TTFT, TPOT, E2E []float32
}

// Table returns the costs of decision i, nil where they were not kept.
func (r *Record) Table(i int) []router.Terms {
	if r.Fleet == 0 || (i+1)*r.Fleet > len(r.Costs) {
		return nil
	}
	return r.Costs[i*r.Fleet : (i+1)*r.Fleet]
}

// mostCosts bounds the costs that are kept of one run: the tables of 8,192
// decisions over 8 workers.
const mostCosts = 1 << 16

// Collector keeps the cost tables of a run.
type Collector struct {
	// Details asks for cost tables and latencies, not for the choices alone.
	Details bool

	costs []router.Terms
	fleet int
	full  bool
}

// Decided is to be the configuration's hook of the same name.
func (c *Collector) Decided(_, _ int32, costs []router.Terms) {
	if c.fleet == 0 {
		c.fleet = len(costs)
	}
	c.full = c.full || !c.Details || len(costs) != c.fleet || len(c.costs)+len(costs) > mostCosts
	if c.full {
		return
	}
	for i := range costs { // no more than what files of decisions hold
		t := &costs[i]
		c.costs = append(c.costs, router.Terms{Prefill: t.Prefill, Credit: t.Credit, Decode: t.Decode, Request: t.Request, Cost: t.Cost})
	}
}

func (c *Collector) record(cfg *sim.Config, r *sim.Result) *Record {
	rec := &Record{Rows: slices.Clone(r.Routed), Fleet: c.fleet, Costs: c.costs}
	if len(rec.Costs) == 0 {
		rec.Fleet = 0
	}
	for _, row := range r.Routed {
		q := &r.Requests[row]
		overlap := q.Decision.Overlap
		if cfg.Router.Mode != router.KV {
			overlap = 0
		}
		rec.Workers = append(rec.Workers, q.Worker)
		rec.Overlaps = append(rec.Overlaps, overlap)
		if r.Handoffs != nil {
			rec.Prefill = append(rec.Prefill, r.Handoffs[row].PrefillWorker)
		}
	}
	if !c.Details {
		return rec
	}
	overhead := reports.RequestMSByWorker(cfg)
	for i := range r.Requests {
		q := &r.Requests[i]
		l := reports.Latencies{TTFT: sim.NaN, TPOT: sim.NaN, E2E: sim.NaN}
		if q.Status == sim.Completed && q.Worker >= 0 && int(q.Worker) < len(overhead) {
			l = reports.RequestLatencies(q, overhead[q.Worker])
		}
		rec.TTFT = append(rec.TTFT, float32(l.TTFT))
		rec.TPOT = append(rec.TPOT, float32(l.TPOT))
		rec.E2E = append(rec.E2E, float32(l.E2E))
	}
	return rec
}
