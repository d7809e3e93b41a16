// Package verdict says what a sweep found out: which settings to use, how sure
// that is, what it gains against the default and what it costs.
//
// Differences are paired: the random draws of a run depend on its seed alone,
// so two points are compared seed by seed, and request by request. Two 95 %
// intervals are kept, over seeds and over traffic; the wider one counts.
//
//	v, err := verdict.Judge(sweep, verdict.Options{})
//	// run the points v.Rerun on fresh seeds
//	v, err = verdict.Confirm(sweep, v, fresh)
//
// Points that differ in load (number of workers, speed-up of arrivals) do not do
// the same work. Settings are judged at the default point's load, every point is
// compared with the point of its own load that leaves all else at the default,
// and what the loads themselves tell is a reading of its own: Capacity.
package verdict

// State is the outcome of a sweep.
type State string

// The states, in the order in which they are looked for.
const (
	Single   State = "single"    // one setting was run, nothing to compare
	NoResult State = "no-result" // no point finished
	Overload State = "overload"  // the queue grows at every point
	SLOMiss  State = "slo-miss"  // no point meets the SLO
	Capacity State = "capacity"  // only the load was varied
	Inert    State = "inert"     // no axis changed a decision
	FewSeeds State = "few-seeds" // too few replicates or blocks of traffic for an interval
	Trade    State = "trade"     // the best for one latency is worse for another
	Win      State = "win"       // a point is better than the default
	Tie      State = "tie"       // no difference shown to the default
	Keep     State = "keep"      // the default is best, and others are shown to be worse
)

// Verdict is what a sweep found out. Texts for people are in UTF-8, with U+2212
// for minus and U+202F between thousands; ASCII makes them plain. Indexes of
// points are places in Sweep.Points, -1 for none; metrics are by their place in
// sweepdata.Metrics().
type Verdict struct {
	State State
	Shape string // one character: ✓ ≈ ⇄ ? ○ ✕ ▲ ◇
	Chip  string // the state in one or two words: Clear win

	Headline  string
	Evidence  string   // sentences
	Costs     string   // what got worse, "" where nothing is chosen
	Certainty string   // which interval is quoted, fresh seeds, quarters of the trace
	Trust     string   // how good the worker model is, "" where nothing is known
	Added     []string // further sentences: edge of the range, beyond the documentation, ...

	Objective int     // place of the metric that is judged
	Smallest  float64 // smallest effect worth a change, %

	Default     int    // the point that changes nothing
	Reference   int    // round robin at the default's load
	Chosen      int    // what to set, or the fleet that answers; the default where it is to be kept
	Alternative int    // the other point of a trade
	Best        int    // lowest mean of the objective (highest where more is better)
	Worst       int    // worst valid point
	Tied        []int  // points that cannot be told apart from the best one, best first
	Order       []int  // all valid points at the default's load, best first
	Label       string // to show above the flags where they do not suffice: closest, not sufficient

	Points  []Judged // by point
	Deltas  []Delta  // default against chosen, for the strip
	Outcome []Outcome
	// NoTraffic says, by metric, why there is no interval over traffic; "" where
	// there is one.
	NoTraffic []string

	Quarters    Quarters
	Capacity    *Reading // nil where the load was not varied
	Notices     []Notice
	Sentences   []Sentence
	Definitions []Definition

	// MoreSeeds is the command that adds seeds, quoted for a shell, with Folder
	// for the folder of the results; "" where there are enough.
	MoreSeeds string

	// Rerun lists the points to be run on fresh seeds before the gain is
	// quoted: chosen, default and tied ones, at most 8; empty where there is no
	// gain to quote.
	Rerun []int
	// Confirmed says that the figures of Deltas and of the sentences come from
	// fresh seeds.
	Confirmed bool
	// Withdrawn says that the fresh seeds contradicted the first choice, which
	// is then First.
	Withdrawn bool
	First     int

	trial *trial // what Confirm needs of the first judgement
}

// Part is a word for the chosen point: where none is good enough, or fleets and
// loads were varied, it is nothing to choose.
func (v *Verdict) Part() string {
	switch v.State {
	case SLOMiss:
		return "closest"
	case Capacity:
		return "answer"
	}
	return "chosen"
}

// Status says what part a point takes in the verdict.
type Status string

// The statuses of points.
const (
	Valid      Status = "valid"
	Failed     Status = "failed"
	NotRun     Status = "not-run"    // some or all seeds are missing
	Saturated  Status = "saturated"  // its queue grows to the end of the trace
	Incomplete Status = "incomplete" // fewer requests complete than at the default
	Folded     Status = "folded"     // differs from another point in inert settings only
	OtherLoad  Status = "other-load"
	Compare    Status = "reference" // run to compare with, not a candidate
)

// Judged is what is known of a point.
type Judged struct {
	Name   string // of its values: 0.6 / 8, or round robin
	Knobs  string // its changes against the default: router-prefill-load-scale 8
	Status Status
	// Same is the point that stands for it where it is folded, else itself.
	Same int
	// Base is the point it is compared with: the one of its load that leaves all
	// else at the default; -1 where that was not run.
	Base    int
	Changes int       // settings that differ from the default
	Mean    []float64 // by metric, over seeds; NaN where there is none
	Diff    []Diff    // by metric, against Base
	// Adjusted is the p-value of the objective's difference, corrected for the
	// number of points after Holm; 1 for points that are not candidates.
	Adjusted float64
	// Shown is +1 for better, -1 for worse than the default on the objective
	// with the correction for the number of points, else 0.
	Shown int
	Tied  bool // cannot be told apart from the best point
}

// Kind says how a difference is measured.
type Kind uint8

// The kinds of differences.
const (
	Relative Kind = iota // % of the base
	Share                // percentage points
	Plain                // the metric's own unit, where the base is 0
)

// Interval is a 95 % interval; Lo and Hi are finite if OK.
type Interval struct {
	Lo, Hi float64
	OK     bool
}

// Diff is a paired difference between a point and the one it is compared with.
type Diff struct {
	Kind Kind
	OK   bool    // false: there is nothing to compare, and all else is 0
	Mean float64 // in %, in pp or in the metric's unit, by Kind
	// Interval is the wider one of Seeds and Traffic.
	Interval
	Seeds   Interval // over the router's random choices
	Traffic Interval // over blocks of traffic
	// Better is +1 where the interval shows that the point is better, -1 where
	// it is worse, 0 where no difference is shown or the metric has no direction.
	Better int
	// Shown says that the interval excludes 0.
	Shown bool
	Agree int // seeds that differ to the same side as Mean
	N     int // seeds compared
}

// Delta is a row of the strip beside the verdict.
type Delta struct {
	Metric      int
	Title       string  // TTFT p90
	Base, Value float64 // means in the metric's unit
	Unit        string  // that BaseText and ValueText are in
	BaseText    string  // 1.89
	ValueText   string  // 1.54
	Diff
	Text  string // −18.6 %
	Range string // −21.0 % to −16.1 %; "" without an interval
}

// Outcome counts what became of the requests at one point, means over seeds.
type Outcome struct {
	Point                                                       int
	Name                                                        string // default, chosen, round robin
	Completed, Rejected, Lost, Cancelled, Unfinished, Preempted float64
	OutputRate                                                  float64 // tok/s
}

// Quarters says in how many quarters of the trace, by arrivals, the chosen point
// differs from the default to the same side as overall.
type Quarters struct {
	Known bool
	Held  int // of 4
}

// Reading tells what the axes of load show.
type Reading struct {
	Axes     []int // places in Sweep.Axes
	Headline string
	Text     []string // sentences
	Loads    []Load
	// Smallest is the place in Loads of the smallest fleet that holds at the
	// default's rate, Fastest that of the highest rate that the default's fleet
	// holds; -1 where no such axis was varied or none holds.
	Smallest, Fastest int
}

// Load is one combination of values of the axes of load.
type Load struct {
	Values  []string // by Reading.Axes
	Name    string   // 8 workers, 1.5× the rate
	Workers float64  // NaN where the fleet is not a number
	Rate    float64  // speed-up of arrivals
	GPUs    int      // of all workers, 0 where that is not known
	Base    int      // the point with all else at the default, -1 where not run
	Best    int      // best valid point by the objective, -1 for none
	Holds   bool     // some point keeps up, completes and meets the SLO, if any
	// BaseHolds says the same of Base alone.
	BaseHolds bool
	Saturated bool    // every point's queue grows to the end
	Within    float64 // most requests within the SLO at any point, %; NaN without an SLO
	TTFT, ITL float64 // p90 of the best point, ms; NaN for none
}

// Notice is something to know before reading on.
type Notice struct {
	Code        string // saturated, inert, failed, incomplete, edge, beyond, semantics, unchecked, note
	Fact        string
	Consequence string
	Points      []int // concerned, nil for all
}

// Held says whether a tuning sentence holds on this trace.
type Held string

// The answers to a tuning sentence.
const (
	Holds     Held = "held"
	HoldsNot  Held = "did not hold"
	NotTested Held = "not tested"
	NotShown  Held = "not shown" // too few seeds for any difference to be shown
)

// Sentence is one of the rules of thumb for tuning Dynamo's router, with what
// this sweep says of it.
type Sentence struct {
	Text     string
	Held     Held
	Evidence string
	Points   []int // compared, base first
}

// Definition explains a term or a method.
type Definition struct {
	Term, Text string
}

// Options change how a sweep is judged. The zero value is the default.
type Options struct {
	// Smallest is the smallest effect worth a change in %, 0 for 2.
	Smallest float64
	// Resamples is the number of bootstrap resamples, 0 for 1,000.
	Resamples int
	// Parallel is the number of goroutines, 0 for one per core. Each holds the
	// latencies of one run at a time, and calls Sweep.Load at once with the
	// others. The result does not depend on it.
	Parallel int
	// Rerun is the command that adds seeds, without their number.
	Rerun string
}
