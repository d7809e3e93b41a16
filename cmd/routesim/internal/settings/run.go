package settings

import (
	"fmt"

	"routesim/sim"
	"routesim/sim/engine"
	"routesim/sim/router"
)

// Run is a resolved configuration: every setting a replay honours.
type Run struct {
	TraceFormat    string // auto, or the name of a format
	TraceBlockSize int32  // tokens per hash id of the trace
	ArrivalSpread  bool   // spread coarse timestamps inside their step
	OnError        string // fail or skip

	ArrivalSpeedup float64 // divides recorded times
	Concurrency    int     // sessions in flight, 0 = open loop
	MaxSimTimeMS   *float64
	SLATTFTMS      *float64
	SLAITLMS       *float64
	SLAE2EMS       *float64
	Synthetic      SyntheticLoad

	Workers []WorkerGroup
	// Pools of disaggregated serving, in place of Workers; empty for none.
	PrefillWorkers, DecodeWorkers []WorkerGroup
	// Engine dictionaries of the pools: JSON, or the path of a file of it.
	PrefillArgs, DecodeArgs string
	prefillArgs, decodeArgs []Given
	AcceptRates             string   // of drafts, see engine.ParseAcceptRates
	TransferGBPerSecond     *float64 // of KV between the pools, nil = in no time
	TransferBytesPerToken   *float64 // nil = nothing to send
	TransferMissing         bool     // send only what the decode worker lacks
	TransferDomain          string   // of the topology, whose value both workers should have, "" = none
	TransferPreferred       bool     // or had better, by
	TransferWeight          *float64 // this weight
	CacheBytesPerToken      *float64 // of KV that a host tier moves, nil = the profile's

	// Engine holds AutoValue where a number follows from the worker's model; see
	// Fleet for the numbers of each group.
	Engine             engine.Params
	Utilization        *float64 // share of the GPU's memory, nil = the profile's
	Profile            string   // name or file, "" = Timing or a fleet of profiles
	Timing             string   // see models.TimingForms, "" = Profile
	SpeedupRatio       float64  // divides step durations, 0 = not scaled
	DecodeSpeedupRatio float64  // multiplies SpeedupRatio for decode
	TensorParallel     int      // GPUs per worker, AutoValue = the profile's, else 1

	Router            router.Params
	RouterBlockSize   int32    // tokens, 0 = the engine's
	OverlapWeight     *float64 // the deprecated weight, nil = not given
	LoadAware         bool
	PolicyConfig      string      // path, "" = none
	Semantics         string      // Replay or LiveWord
	Live              router.Live // what Router.Live points at under live semantics
	SelectionPolicy   string      // instance of the policy file, "" = as it selects
	PrefillPolicy     string      // the same for a stage
	DecodePolicy      string
	Conditional       bool               // requests may bypass the prefill stage
	ConditionalConfig string             // JSON of the rules, "" = none
	Bypass            router.Conditional // the rules
	PrefillRouterArgs string             // JSON of what prefill workers say of their routers, "" = nothing
	ModelName         string             // whose queue classes apply, "" = the root profile's
	ExpectedOutput    bool               // requests say how long their answers will be
	SessionFinal      bool               // the last request of a session says that it is

	Frontends           int
	ReplicaSync         bool
	ReplicaSyncDelayMS  float64
	EventLoss           float64  // share of batches of KV events
	RestartAtMS         *float64 // of the routers, nil = never
	Faults              string   // see sim.FaultForm, "" = none
	Clients             sim.Clients
	RestartPolicyConfig string         // path, "" = the same
	Restarted           *sim.Restarted // what the restart may change, as resolved; nil = nothing
	ResetStates         bool           // such a restart begins with an empty index

	// PrefillRouter are the routers of the prefill stage as the prefill workers
	// want them, as resolved; nil = like the others.
	PrefillRouter       *router.Params
	prefillPolicyConfig string // its policy file, "" = none

	WorkerKVEvents  bool
	EventDelayMS    float64
	CPU             bool
	Taints          string // joined by +, "" = none
	EventsConfig    string // vLLM's JSON, "" = none
	TrackingHash    string
	TrackingKeyFile string
	TrackingKeyID   string
	Seed            uint64
}

// PolicyFiles returns the paths of the policy files that the run's routers read,
// "" for each that there is not.
func (r *Run) PolicyFiles() []string {
	return []string{r.PolicyConfig, r.RestartPolicyConfig, r.prefillPolicyConfig}
}

// Words of settings that the run's user has to tell apart.
const (
	AutoFormat = "auto" // TraceFormat: find out
	SkipRows   = "skip" // OnError: leave malformed rows out
)

// store writes a value into the field that p points at.
func store(p any, v Value) {
	switch p := p.(type) {
	case *float64:
		*p = v.Num
	case **float64:
		*p = nil
		if !v.None {
			*p = &v.Num
		}
	case *int:
		*p = int(v.Int)
	case *int64:
		*p = v.Int
	case *int32:
		*p = int32(v.Int)
	case *uint64:
		*p = uint64(v.Int)
	case *bool:
		*p = v.Int == 1
	case *string:
		*p = v.Text
		if v.None {
			*p = ""
		}
	case *[]WorkerGroup:
		*p = nil
		if !v.None {
			*p, _ = parseFleet(v.Text)
		}
	case *router.Mode:
		*p = router.Mode(v.Int)
	case *router.QueuePolicy:
		*p = router.QueuePolicy(v.Int)
	case *router.BypassRule:
		*p = router.BypassRule(v.Int)
	case *engine.PreemptionMode:
		*p = engine.PreemptionMode(v.Int)
	case *engine.Backend:
		*p = engine.Backend(v.Int)
	default:
		panic(fmt.Sprintf("settings: no way to store into %T", p))
	}
}

// load reads the field that p points at as a value of the given kind.
func load(p any, k Kind) Value {
	switch p := p.(type) {
	case *float64:
		return Value{Num: *p, Text: FormatReal(*p)}
	case **float64:
		if *p == nil {
			return Value{None: true, Text: None}
		}
		return Value{Num: **p, Text: FormatReal(**p)}
	case *int:
		return loadInt(int64(*p), k)
	case *int64:
		return loadInt(*p, k)
	case *int32:
		return loadInt(int64(*p), k)
	case *uint64:
		return loadInt(int64(*p), k)
	case *bool:
		if c, ok := k.(Choice); ok {
			return loadInt(truth(*p), c)
		}
		if *p {
			return Value{Int: 1, Text: "true"}
		}
		return Value{Text: "false"}
	case *string:
		if *p == "" {
			return Value{None: true, Text: None}
		}
		return Value{Text: *p}
	case *[]WorkerGroup:
		if len(*p) == 0 {
			return Value{None: true, Text: None}
		}
		return fleetValue(*p)
	case *router.Mode:
		return loadInt(int64(*p), k)
	case *router.QueuePolicy:
		return loadInt(int64(*p), k)
	case *router.BypassRule:
		return loadInt(int64(*p), k)
	case *engine.PreemptionMode:
		return loadInt(int64(*p), k)
	case *engine.Backend:
		return loadInt(int64(*p), k)
	}
	panic(fmt.Sprintf("settings: no way to load from %T", p))
}

func loadInt(v int64, k Kind) Value {
	switch k := k.(type) {
	case Choice:
		return Value{Int: v, Text: k.Words[v]}
	case Int:
		if k.Auto && v == AutoValue {
			return Value{Int: v, Text: Auto}
		}
		if k.Optional && v == k.NoneIs {
			return Value{None: true, Int: v, Text: None}
		}
	}
	return Value{Int: v, Text: fmt.Sprint(v)}
}

// Get reads the setting's value from a run.
func (s *Setting) Get(r *Run) Value { return load(s.Ref(r), s.Kind) }

func truth(b bool) int64 {
	if b {
		return 1
	}
	return 0
}
