package sim

import (
	"math"

	"routesim/sim/engine"
	"routesim/sim/metrics"
	"routesim/sim/router"
)

// Status is how a request ended.
type Status uint8

// The ends of a request.
const (
	Unfinished Status = iota // still under way, or never released, when the run stopped
	Completed
	Rejected  // by the engine, whose pool or context the prompt can never fit, or by the router
	Failed    // on the way to a decode worker, which can never hold the prompt
	Cancelled // its client left
)

// String returns the oracle's name of the status.
func (s Status) String() string {
	return [...]string{"unfinished", "completed", "rejected", "failed", "canceled"}[s]
}

// Request is what happened to one request. Times are in ms of virtual time;
// NaN stands for "never". Lengths are in tokens, overlaps in KV blocks.
type Request struct {
	Arrival     float64 // ready time: when the request reached the router
	Dispatched  float64 // when a worker was chosen
	FirstAdmit  float64 // start of the pass that first scheduled it
	FirstToken  float64
	SecondToken float64
	LastToken   float64
	Terminal    float64 // end of the request, tokens or not

	InputTokens  int32 // prompt length, with the previous turns in a delta trace
	OutputTokens int32 // generated
	FirstReused  int32 // tokens reused at first admission
	HostReused   int32 // those among them that were brought back from the worker's host tier
	MaxReused    int32 // the most over all admissions (the oracle's reused_input_tokens)
	Admissions   int32
	Worker       int32 // -1 before routing
	Status       Status
	Refusal      router.Refusal // why a router turned it away; the status is then Rejected
	Order        int32          // position in routing order, -1 before routing

	TokenHash uint64 // of the times of all tokens

	Decision Decision
}

// Decision is what the router saw and chose for one request. In round-robin
// mode only the engine-side overlaps are set. The terms add up:
// Cost = PrefillTerm + DecodeTerm + RequestTerm.
type Decision struct {
	Cost        float64 // of the chosen worker, NaN in round-robin mode
	PrefillTerm float64 // prefill_load_scale * adjusted prefill blocks
	Credit      float64 // blocks of credit inside the prefill term
	DecodeTerm  float64 // projected active blocks
	RequestTerm float64 // decode_active_request_weight * active requests
	MinCost     float64 // least cost of any worker
	Overlap     float64 // router's belief: effective overlap blocks of the chosen worker
	BestOverlap float64 // the most of any worker, as the router believed
	Tied        int32   // workers with the least cost
	Forced      bool    // the worker was given, not chosen

	ChosenHeld  int32 // complete prompt blocks the chosen worker's engine held, last-block rule applied
	BestHeld    int32 // the most that any eligible worker's engine held
	CeilingHeld int32 // what one endless cache would have held
}

// Handoff is what happened to one request between the pools of disaggregated
// serving. Times are in ms of virtual time, NaN for "never".
type Handoff struct {
	PrefillAdmit float64 // start of the pass that first scheduled the prompt
	SourceHeld   float64 // the prompt is computed; the prefill worker keeps its blocks
	Reserved     float64 // the decode worker has set blocks aside
	Activated    float64 // the prompt's KV has arrived and the decode worker may run it
	DecodeAdmit  float64 // start of the pass that first ran it there
	Released     float64 // the prefill worker has freed the prompt's blocks

	PrefillWorker int32 // -1 before routing
	DecodeWorker  int32 // -1 before routing; Request.Worker is -1 too where it could not take the request
	DecodeReused  int32 // tokens reused when the decode worker computed it, -1 before it ran
	Local         bool  // the decode worker computed the prompt too: there is no prefill worker
	// Decode is the decode router's choice; that of the prefill router is in
	// Request.Decision.
	Decode Decision
}

func noHandoff() Handoff {
	return Handoff{
		PrefillAdmit: NaN, SourceHeld: NaN, Reserved: NaN, Activated: NaN, DecodeAdmit: NaN, Released: NaN,
		PrefillWorker: -1, DecodeWorker: -1, DecodeReused: -1,
	}
}

// Admission is one time that a worker's engine took a request from its queue.
type Admission struct {
	At     float64 // ms, start of the pass
	Reused int32   // prompt and generated tokens served from the cache
	Pool   Pool
}

// Pool is the pool of workers that a figure is about.
type Pool uint8

// The pools.
const (
	Aggregated Pool = iota // the only one, whose workers do both
	PrefillPool
	DecodePool
)

// String names the pool, for people.
func (p Pool) String() string {
	return [...]string{"no pool", "the prefill pool", "the decode pool"}[p]
}

// Worker sums up one worker of a run.
type Worker struct {
	Requests      int64
	InputTokens   int64 // of the requests sent here
	OutputTokens  int64 // generated here
	PrefillTokens int64 // new prompt tokens computed, recomputation included
	BusyMS        float64
	Passes        int64
	PeakBlocks    int32   // most active KV blocks during a pass
	MeanBlocks    float64 // active KV blocks, averaged over the run's duration
	PeakRunning   int32
	PeakWaiting   int32
	Evictions     int64 // cached blocks dropped
	Preemptions   int64
	OutOfRange    int64 // passes outside the timing model's range
	Host          engine.TierStats
	Disk          engine.DiskStats
}

// Result is everything a run produced.
type Result struct {
	Requests []Request          // by trace row
	Routed   []int32            // rows in routing order
	Finished []int32            // rows in the order they ended
	Disk     engine.DiskContent // of all disks at the end
	HostPool engine.HostContent // of the host tier that all share, at the end
	Workers  []Worker
	Prefill  []Worker  // of the prefill pool in disaggregated serving, in which Workers decode
	Handoffs []Handoff // by trace row, only in disaggregated serving

	DurationMS             float64 // largest terminal time of a completed request
	EndMS                  float64 // clock when the run stopped
	WorkerSeconds          float64 // provisioned worker time in s
	PrefillWorkerSeconds   float64 // the same for the prefill pool
	CommittedPrefillTokens int64   // tokens scheduled for requests that scheduled prompt tokens
	Released               int     // requests that reached the router

	Gaps metrics.Gaps // ITL and its inverse, over all token gaps of completed requests
	// GroupGaps is the same by worker group, only with several groups.
	GroupGaps []metrics.Gaps

	// Counters are what the router's decisions had to go by; zero in round-robin mode.
	Counters router.Counters

	Cancelled Cancellations
	Crashed   Waste // work that was lost with crashed workers; Blocks are all that they held

	Herding Herding // of several frontends

	LostBatches  int64   // of KV events
	LostBookings int64   // by a restart of the routers
	RestartedMS  float64 // when that was

	QueuePeak   int         // most requests waiting in the router at once
	TokenDigest [32]byte    // over all token times of the requests that ended
	Stopped     bool        // ended early: MaxSimTimeMS or an interrupt
	OverLength  int         // requests with prompt + output above their worker's max_model_len
	TokenTimes  [][]float64 // by row, only with Config.KeepTokenTimes
	// AdmissionLog holds every admission by row, only with Config.KeepAdmissions.
	AdmissionLog [][]Admission
}

// NaN is an absent time.
var NaN = math.NaN()
