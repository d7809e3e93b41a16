// Package sweepdata holds what a sweep found out: the settings that were
// varied, a point per combination of their values, and a run per point and seed.
// It is what sweeps save, and what statistics, figures and the report read.
package sweepdata

import "routesim/reports"

// Sweep is a finished, interrupted or merged sweep.
type Sweep struct {
	Version string   // of the program
	Command []string // arguments that make the sweep again, the program's name first
	Trace   reports.TraceFacts
	// Requests holds what each request of the trace asked for, by row.
	Requests Requests
	// Base is every setting with its value at the default point.
	Base      map[string]any
	Profiles  []reports.ProfileFacts // of the default point's workers
	SLA       SLA
	Objective string // name of a metric
	Axes      []Axis
	Seeds     []uint64 // every point is run once with each
	Points    []Point  // in the order of the design
	Default   int      // the point that changes nothing; -1 where it was not run
	Reference int      // round robin with all else as in the default point; -1 where it was not run
	Notes     []string // sentences to show with the results
	// Semantics says that routers are live ones, why and at how many points;
	// Unchecked names what of them is not checked against Dynamo. "" for nothing.
	Semantics, Unchecked string
	// TracePaths are the trace's files as given on the command line.
	TracePaths []string
	// Design is "grid", "lhs:N" or "points".
	Design string

	// Load returns what a run measured of every request. It reads a file, so
	// callers keep no more than they need.
	Load func(point int, seed uint64) (*Latencies, error)

	ends ends // of a sweep that is being read
}

// SLA holds the latency bounds of goodput in ms; 0 is no bound.
type SLA struct {
	TTFT, ITL, E2E float64
	// Target is the share of requests that shall keep within them, 0 for none.
	Target float64
}

// Axis is a setting that was varied.
type Axis struct {
	Name    string    // as a flag, without dashes
	Unit    string    // "" for plain numbers and words
	Values  []string  // as typed, in the order of the sweep, without repeats
	Numbers []float64 // the same as numbers, nil where a value is a word
	Base    string    // the default point's value, which need not be among Values
	// Documented is the largest value that Dynamo documents; values above it
	// are accepted and marked. NaN where there is no such bound.
	Documented float64
	// Inert says why the axis changed no decision, "" where it changed some.
	Inert string
	// Remedy says how to test an inert axis, "" where it is not.
	Remedy string
	// Dynamo is the setting of Dynamo's frontend that the axis varies, without a
	// value; nil where Dynamo has none, as for changes of fleet and load.
	Dynamo *Flag
}

// Point is one combination of values.
type Point struct {
	ID     string   // 8 hexadecimal digits, the beginning of Key
	Key    string   // digest of resolved configuration, trace and version, without the seed
	Values []string // by axis
	// Added marks a point outside the design that was run to compare with.
	Added bool
	// Beyond marks a value above what Dynamo documents.
	Beyond bool
	// Flags are the Dynamo flags that make this point of the default one, as
	// name and value; changes of fleet and load are not among them.
	Flags []Flag
	// Error says why the point could not be run, "" where it was.
	Error string
	Runs  []Run // by increasing place in Seeds; fewer where the sweep is incomplete
	// Fresh are runs with seeds that took no part in choosing the best point, by
	// increasing seed. Only points that were to be confirmed have any.
	Fresh []Run
	// Failed names the seeds whose runs failed, by increasing place in Seeds.
	Failed []Failure
}

// Failure is a run that failed.
type Failure struct {
	Seed  uint64
	Error string
}

// Flag is a setting of Dynamo's frontend with its value, in Dynamo's spellings.
type Flag struct {
	Name  string // with dashes
	Env   string // environment variable, "" where it has none
	Value string // "true" or "false" for switches
	Bool  bool
}

// Run is one run of a point.
type Run struct {
	Seed    uint64
	Metrics []float64 // by place in Metrics(); NaN where there is none
	// DecisionDigest and TimeDigest are hexadecimal; two runs with equal
	// decision digests took the same decisions.
	DecisionDigest string
	TimeDigest     string
	Workers        []Worker
	// Saturated says that the queue was still growing when the trace ended; see
	// Queue.Growing for the rule.
	Saturated bool
	Queue     Queue
	Counters  []int64 // by place in Counters()
}

// Worker is one worker's part of a run.
type Worker struct {
	Requests  int64   // sent there
	Tokens    int64   // prompt tokens sent there and tokens generated there
	BusyShare float64 // busy time over the run's
}

// Requests holds columns by trace row.
type Requests struct {
	ArrivalMS    []float64 // recorded, not sped up
	InputTokens  []int32
	OutputTokens []int32
}

// Latencies are the measurements of one run by trace row. NaN where the request
// did not complete, or has no such latency.
type Latencies struct {
	TTFT, ITL, E2E []float32 // ms; ITL is the mean gap between a request's tokens (TPOT)
	Worker         []int32   // that served it, -1 for none
	Predicted      []float32 // prefix overlap the router believed in, KV blocks
	Reused         []float32 // prefix overlap found at first admission, KV blocks
}

// Metric describes a figure of a run.
type Metric struct {
	Name   string // snake case, with the unit: p90_ttft_ms
	Title  string // for axes and tables: TTFT p90
	Unit   string // ms, req/s, tok/s, %, "" for ratios and counts
	Family string // ttft, itl, tpot, e2e, throughput, cache, load, requests
	Better int    // -1 less is better, 1 more is better, 0 neither
	Of     func(*reports.Summary) float64
}

// Success reports whether the metric is a share of success, which is written
// rounded down: see format.Success.
func (m *Metric) Success() bool { return m.Name == "goodput_share" || m.Name == "completed_share" }

// MetricIndex returns the place of a metric in Metrics(), -1 for an unknown name.
func MetricIndex(name string) int {
	for i, m := range Metrics() {
		if m.Name == name {
			return i
		}
	}
	return -1
}
