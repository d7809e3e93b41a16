package gate

import (
	"routesim/sim/router"
)

// Report is what a comparison found out.
type Report struct {
	Verdict Verdict
	Code    int    // exit code
	Suite   string // file, "" for none
	// Before and After name the two sides, with the version of each.
	Before, After               string
	VersionBefore, VersionAfter string
	// Problem says why nothing was compared at all, "" where something was.
	Problem   string
	Scenarios []Result
	Notes     []string
	Advice    []string // what to do next
}

// Result is what was found out about one scenario.
type Result struct {
	Name    string
	Line    int // of the suite
	Verdict Verdict
	Trace   Trace
	Seeds   []uint64
	// Problems say, a sentence each, why the comparison is invalid or the runs
	// are incomplete.
	Problems []string
	// Changes are settings and profiles that differ, as "before -> after".
	Changes []Value
	Rows    []Row
	Bounds  []BoundRow
	// ChangedSeeds are those whose decisions differ; nil where they were not
	// looked at.
	ChangedSeeds []uint64
	// TimesChanged says that decisions are equal and token times are not.
	TimesChanged bool
	Divergence   *Divergence // nil where none was found or the decisions are not known
	Moved        *Moved      // the same
	Improved     []string    // metrics that got better beyond their tolerance
	Notes        []string

	profiles      []string // that model the workers now
	before, after *Record  // of the seed whose decisions are shown, or of the first
}

// State says what became of a metric.
type State uint8

// The states of metrics and bounds.
const (
	Within   State = iota // no worse than the tolerance allows
	Unshown               // beyond the tolerance, but the interval over seeds includes 0
	Better                // better beyond the tolerance
	Worse                 // worse beyond the tolerance
	Shown                 // not judged
	Unlike                // has a figure on one side only
	NoFigure              // has none on either side
)

// String returns the state in a word or two.
func (s State) String() string {
	return [...]string{"ok", "noise", "better", "worse", "info", "unlike", "none"}[s]
}

// MarshalJSON implements json.Marshaler.
func (s State) MarshalJSON() ([]byte, error) { return []byte(`"` + s.String() + `"`), nil }

// Row is the comparison of one metric: means over seeds.
type Row struct {
	Metric        int // place in sweepdata.Metrics()
	Name, Title   string
	Unit          string
	Before, After float64 // in the unit
	// Change is the mean of the paired differences, in the unit; Lo and Hi bound
	// it, NaN with fewer than two seeds.
	Change, Lo, Hi float64
	Tolerance      Tolerance
	Direction      Direction
	State          State
}

// BoundRow is what became of a service level objective.
type BoundRow struct {
	Name, Title, Unit string
	Value             float64 // mean over seeds
	Bound             Bound
	State             State // Within, Worse or NoFigure
}

// Divergence is the first decision in which two runs differ.
type Divergence struct {
	Seed     uint64
	Decision int // place in routing order, from 1
	// Rows are the requests decided on: their rows of the trace, from 0; -1 where
	// a side has no such decision.
	RowBefore, RowAfter         int32
	WorkerBefore, WorkerAfter   int32
	PrefillBefore, PrefillAfter int32   // -1 for none, and where a side does not know its own
	OverlapBefore, OverlapAfter float64 // KV blocks
	CostsBefore, CostsAfter     []router.Terms
	// ChosenBefore and ChosenAfter are the costs of the chosen workers where
	// nothing is known of the others; nil otherwise.
	ChosenBefore, ChosenAfter *router.Terms
	// FirstCost is the first decision whose costs differ, from 1; 0 where none is
	// known before this one.
	FirstCost    int
	FirstCostRow int32
	Why          string // in a sentence

	letter string // that workers' names begin with
}

// Moved says which requests went to another worker.
type Moved struct {
	Seed     uint64
	Total    int // requests routed on both sides
	Requests []MovedRequest
	// Pools says that both sides know their prefill workers. Prefill and Decode
	// then count the requests whose worker of that stage is another: a request
	// may be in both.
	Pools           bool
	Prefill, Decode int
	// Means of TTFT in ms, over the requests that moved and over the others, NaN
	// where they are not known.
	MovedBefore, MovedAfter, OtherBefore, OtherAfter float64

	letter string // that workers' names begin with
}

// MovedRequest is a request that went to another worker, be it for prefill or
// for decode.
type MovedRequest struct {
	Row                       int32 // of the trace, from 0
	WorkerBefore, WorkerAfter int32
	// PrefillBefore and PrefillAfter are workers of the prefill pool, -1 for none
	// and where a side does not know its own.
	PrefillBefore, PrefillAfter int32
	TTFTBefore, TTFTAfter       float64 // ms, NaN where they are not known
}
