package settings

import (
	"errors"
	"fmt"
	"math"

	"routesim/sim"
	"routesim/sim/router"
)

// liveRows are the settings that only a live frontend has: Dynamo's own replay
// ignores them. One that is given turns the run's semantics to live.
func liveRows() []Setting {
	rows := append(cacheRows(), liveLoadRows()...)
	rows = append(rows, sessionRows()...)
	rows = append(rows, frontendRows()...)
	rows = append(rows, clientRows()...)
	for i := range rows {
		rows[i].Group, rows[i].LiveOnly = LiveOnly, true
	}
	return rows
}

// cacheRows say what the router believes is cached where.
func cacheRows() []Setting {
	return []Setting{
		{
			Name: "router-kv-events", Aliases: []string{"kv-events"}, Field: "use_kv_events", Router: true,
			Env: []string{"DYN_ROUTER_USE_KV_EVENTS", "DYN_USE_KV_EVENTS"}, Default: "true", Kind: Bool{},
			Help: "Learn from the workers' KV events what is cached. Off: approximate mode, from the router's own decisions.",
			Ref:  func(r *Run) any { return &r.Live.KVEvents },
		}, {
			Name: "router-ttl-secs", Router: true, Env: []string{"DYN_ROUTER_TTL_SECS"}, Default: "120", Unit: "s", Kind: seconds,
			Help: "Approximate mode: how long a decision is taken to leave its prompt cached. 0 = not at all.",
			Ref:  func(r *Run) any { return &r.Live.TTLSecs },
		}, {
			Name: "router-approximate-cache-policy", Router: true, Env: []string{"DYN_ROUTER_APPROXIMATE_CACHE_POLICY"}, Default: "ttl",
			Kind: Choice{Words: []string{"ttl", "lru"}},
			Help: "Approximate mode: forget by age, or model each worker's block pool by last use.",
			Ref:  func(r *Run) any { return &r.Live.ApproximateLRU },
		}, {
			Name: "router-predicted-ttl-secs", Router: true, Env: []string{"DYN_ROUTER_PREDICTED_TTL_SECS"}, Default: None, Unit: "s",
			Kind: seconds.optional(),
			Help: "Beside KV events: how long a decision is taken to leave its prompt cached before any event says so.",
			Ref:  func(r *Run) any { return &r.Live.PredictedTTLSecs },
		}, {
			Name: "shared-cache-type", Router: true, Env: []string{"DYN_SHARED_CACHE_TYPE"}, Default: None, Kind: Choice{Words: []string{None, "hicache"}},
			Help: "hicache: credit blocks in an outer cache that all workers share, beyond what a worker's device holds. It is taken to hold every block that KV events say was stored on any device, up to --shared-cache-blocks. Workers do not read from it here: only decisions change.",
			Ref:  func(r *Run) any { return &r.Live.SharedCache },
		}, {
			Name: "shared-cache-multiplier", Env: []string{"DYN_SHARED_CACHE_MULTIPLIER"}, Default: None, Kind: fraction.optional(),
			Help: "Credit of a block in the shared cache; needs --shared-cache-type. none: 0.5.",
			Ref:  func(r *Run) any { return &r.Live.SharedMultiplier },
		}, {
			Name: "shared-cache-blocks", Default: None, Unit: "blocks", Kind: tokens.orNone(0),
			Help: "KV blocks that the shared cache holds; those stored or asked for least recently go. none: no limit.",
			Ref:  func(r *Run) any { return &r.Live.SharedBlocks },
		}, {
			Name: "kv-event-loss", Default: "0", Kind: fraction,
			Help: "Share of the batches of KV events that are lost. The gap is noticed with the worker's next batch and recovered then.",
			Ref:  func(r *Run) any { return &r.EventLoss },
		}, {
			Name: "router-restart-at", Default: None, Unit: "ms", Kind: duration.optional(),
			Help: "Restart the routers at this time: bookings are lost, the index of KV events is recovered from the workers.",
			Ref:  func(r *Run) any { return &r.RestartAtMS },
		}, {
			Name: "router-restart-policy-config", Default: None, Kind: Word{What: "the path of a policy file", Hint: "FILE.yaml", Optional: true},
			Help: "Policy file of the restarted routers, in the place of --router-policy-config: what it says of the router, queue classes and selection holds from then on. Requests that wait enter its classes in the order in which they came.",
			Ref:  func(r *Run) any { return &r.RestartPolicyConfig },
		}, {
			Name: "router-reset-states", Default: "false", Kind: Bool{},
			Help: "A restart begins with an empty index. Named by Dynamo's documentation, gone in 1.6.1.",
			Ref:  func(r *Run) any { return &r.ResetStates },
		},
	}
}

// liveLoadRows say what the router counts as load and when it is too much.
func liveLoadRows() []Setting {
	return []Setting{
		{
			Name: "router-track-output-blocks", Aliases: []string{"track-output-blocks"}, Router: true,
			Env: []string{"DYN_ROUTER_TRACK_OUTPUT_BLOCKS"}, Default: "false", Kind: Bool{},
			Help: "Count the blocks of answers as active blocks as they grow.",
			Ref:  func(r *Run) any { return &r.Live.TrackOutputBlocks },
		}, {
			Name: "expected-output", Default: None, Kind: Choice{Words: []string{None, "trace"}},
			Help: "Whether requests say how long their answers will be. With trace, tracked output blocks count less towards the end.",
			Ref:  func(r *Run) any { return &r.ExpectedOutput },
		}, {
			Name: "active-request-expiry-secs", EnvOnly: true, Env: []string{"DYN_ROUTER_ACTIVE_REQUEST_EXPIRY_SECS"}, Default: "300", Unit: "s", Kind: seconds,
			Help: "Period of the scan that drops bookings without a token since the scan before. 0 = never.",
			Ref:  func(r *Run) any { return &r.Live.ExpirySecs },
		}, {
			Name: "active-decode-blocks-threshold", Env: []string{"DYN_ACTIVE_DECODE_BLOCKS_THRESHOLD"}, Default: None, Kind: fraction.optional(),
			Help: "A worker with more active blocks, or more KV blocks in use, than this fraction of its pool gets no requests.",
			Ref:  func(r *Run) any { return &r.Live.ActiveDecodeBlocksThreshold },
		}, {
			Name: "active-prefill-tokens-threshold", Env: []string{"DYN_ACTIVE_PREFILL_TOKENS_THRESHOLD"}, Default: None, Unit: "tokens",
			Kind: Int{Max: math.MaxInt64}.orNone(-1),
			Help: "A worker with more active prefill tokens gets no requests.",
			Ref:  func(r *Run) any { return &r.Live.ActivePrefillTokensThreshold },
		}, {
			Name: "active-prefill-tokens-threshold-frac", Env: []string{"DYN_ACTIVE_PREFILL_TOKENS_THRESHOLD_FRAC"}, Default: None, Kind: nonNegative.optional(),
			Help: "The same as a fraction of --max-num-batched-tokens.",
			Ref:  func(r *Run) any { return &r.Live.ActivePrefillTokensThresholdFrac },
		}, {
			Name: "overlap-refresh-after-secs", EnvOnly: true, Env: []string{"DYN_ROUTER_OVERLAP_REFRESH_AFTER_SECS"}, Default: "10", Unit: "s", Kind: seconds,
			Help: "Overlaps of a request that waited this long are looked up anew. 0 = never.",
			Ref:  func(r *Run) any { return &r.Live.OverlapRefreshSecs },
		}, {
			Name: "encoder-cuda-to-cpu-ratio", EnvOnly: true, Env: []string{"DYN_ENCODER_CUDA_TO_CPU_RATIO"}, Default: "8", Kind: tokens,
			Help: "Device-aware mode: how many CPUs one accelerator counts for.",
			Ref:  func(r *Run) any { return &r.Live.EncoderRatio },
		},
	}
}

// sessionRows bind sessions to workers.
func sessionRows() []Setting {
	return []Setting{
		{
			Name: "router-session-affinity-ttl-secs", Field: "session_affinity_ttl_secs", Env: []string{"DYN_ROUTER_SESSION_AFFINITY_TTL_SECS"},
			Default: None, Unit: "s", Kind: Int{Min: 1, Max: 31_536_000}.orNone(0),
			Help: "Keep the requests of a session on one worker until it was idle this long.",
			Ref:  func(r *Run) any { return &r.Live.AffinityTTLSecs },
		}, {
			Name: "router-session-affinity-mode", Field: "session_affinity_mode", Env: []string{"DYN_ROUTER_SESSION_AFFINITY_MODE"}, Default: "hard",
			Kind: Choice{Words: []string{"hard", "soft"}},
			Help: "What becomes of a binding whose worker cannot serve: hard drops it, soft keeps it.",
			Ref:  func(r *Run) any { return &r.Live.AffinitySoft },
		}, {
			Name: "session-final", Default: None, Kind: Choice{Words: []string{None, "trace"}},
			Help: "Whether a session's last request says that it is, which a request classifier listens to. With trace, the last of the trace does.",
			Ref:  func(r *Run) any { return &r.SessionFinal },
		},
	}
}

// frontendRows are about several routers side by side.
func frontendRows() []Setting {
	return []Setting{
		{
			Name: "faults", Default: None, Kind: Word{What: sim.FaultForm, Hint: "LIST", Optional: true, Check: validFaults},
			Help: "What goes wrong when: " + sim.FaultForm + ". A crash fails the worker's requests, which Dynamo would migrate up to its migration-limit and a run does not, and empties its cache; draining lets it finish; slow multiplies the duration of its passes; cancel lets the client of a request (row, from 0) leave.",
			Ref:  func(r *Run) any { return &r.Faults },
		}, {
			Name: "frontends", Default: "1", Kind: Int{Min: 1, Max: 1024},
			Help: "Number of frontends, each with a router of its own, whose index hears of every KV event. Requests arrive at them in turn.",
			Ref:  func(r *Run) any { return &r.Frontends },
		}, {
			Name: "router-replica-sync", Router: true, Env: []string{"DYN_ROUTER_REPLICA_SYNC"}, Default: "false", Kind: Bool{},
			Help: "Tell the other frontends' routers of every booking, first token and end.",
			Ref:  func(r *Run) any { return &r.ReplicaSync },
		}, {
			Name: "replica-sync-delay-ms", Default: "0", Unit: "ms", Kind: duration,
			Help: "How long such a message is under way.",
			Ref:  func(r *Run) any { return &r.ReplicaSyncDelayMS },
		},
	}
}

// clientRows are about clients that leave before their requests have ended.
func clientRows() []Setting {
	return []Setting{
		{
			Name: "client-timeout-ms", Default: None, Unit: "ms", Kind: duration.above().optional(),
			Help: "Clients cancel a request that has not ended this long after its arrival.",
			Ref:  func(r *Run) any { return &r.Clients.TimeoutMS },
		}, {
			Name: "client-first-token-timeout-ms", Default: None, Unit: "ms", Kind: duration.above().optional(),
			Help: "Clients cancel a request that has no token this long after its arrival.",
			Ref:  func(r *Run) any { return &r.Clients.FirstTokenTimeoutMS },
		}, {
			Name: "cancel-rate", Default: "0", Kind: fraction,
			Help: "Share of clients that leave at a random moment, drawn by --seed, unless their request has ended by then.",
			Ref:  func(r *Run) any { return &r.Clients.CancelRate },
		}, {
			Name: "cancel-after-ms", Default: "5000", Unit: "ms", Kind: duration.above(),
			Help: "Mean time from arrival to such a moment; times are exponentially distributed.",
			Ref:  func(r *Run) any { return &r.Clients.CancelAfterMS },
		},
	}
}

// nodeRows are settings of the workers that matter to the router only. A group
// of workers may have its own.
func nodeRows() []Setting {
	rows := []Setting{
		{
			Name: "worker-kv-events", Default: "true", Kind: Bool{},
			Help: "Whether workers publish KV events. Without, a kv router is blind to what they hold.",
			Ref:  func(r *Run) any { return &r.WorkerKVEvents },
		}, {
			Name: "kv-event-delay-ms", Default: "0", Unit: "ms", Kind: duration,
			Help: "Delay of these workers' KV events beyond --kv-event-lag-ms.",
			Ref:  func(r *Run) any { return &r.EventDelayMS },
		}, {
			Name: "device", Default: "accelerator", Kind: Choice{Words: []string{"accelerator", "cpu"}},
			Help: "What the workers run on, for --router-mode device-aware-weighted.",
			Ref:  func(r *Run) any { return &r.CPU },
		}, {
			Name: "taints", Default: None, LiveOnly: true,
			Kind: Word{What: "names of taints joined by +, each of printable characters without spaces, + , and @", Hint: "NAME+NAME", Optional: true, Check: validTaints},
			Help: "Taints of the workers, which requests may require or prefer (required_taints and preferred_taints of the trace).",
			Ref:  func(r *Run) any { return &r.Taints },
		},
	}
	for i := range rows {
		rows[i].Group = Fleet
	}
	return rows
}

// semanticsRows choose between the router of Dynamo's replay and a live one,
// and the policy that selects workers.
func semanticsRows() []Setting {
	name := Word{What: "the name of a policy instance, or default", Hint: "NAME", Optional: true}
	return []Setting{
		{
			Name: "router-semantics", Group: Cost, Default: Replay, Kind: Choice{Words: []string{Replay, LiveWord}},
			Help: "Whose router decides: the one of Dynamo's own replay, or that of a live frontend. A setting that only the latter has turns this to live.",
			Ref:  func(r *Run) any { return &r.Semantics },
		}, {
			Name: "worker-selection-policy", EnvOnly: true, Group: Queue, Env: []string{"DYN_ROUTER_WORKER_SELECTION_POLICY"}, Default: None, Kind: name,
			Help: "Instance of the policy file that selects workers, in the place of the one that the file selects.",
			Ref:  func(r *Run) any { return &r.SelectionPolicy },
		}, {
			Name: "router-prefill-policy", Group: Queue, Env: []string{"DYN_ROUTER_PREFILL_POLICY"}, Default: None, Kind: name,
			Help: "The same for the prefill stage of disaggregated serving only.",
			Ref:  func(r *Run) any { return &r.PrefillPolicy },
		}, {
			Name: "router-decode-policy", Group: Queue, Env: []string{"DYN_ROUTER_DECODE_POLICY"}, Default: None, Kind: name,
			Help: "The same for the decode stage of disaggregated serving only.",
			Ref:  func(r *Run) any { return &r.DecodePolicy },
		}, {
			Name: "model-name", Group: Queue, Default: None, Kind: Word{What: "a name", Hint: "NAME", Optional: true},
			Help: "Model whose queue classes of the policy file apply, in the place of its root profile.",
			Ref:  func(r *Run) any { return &r.ModelName },
		}, {
			Name: "kv-events-config", Group: Fleet, Default: None, Kind: Word{What: "vLLM's JSON object", Hint: "JSON", Optional: true, Check: validObject},
			Help: "vLLM's setting of that name: with enable_kv_cache_events false all workers publish no KV events.",
			Ref:  func(r *Run) any { return &r.EventsConfig },
		},
	}
}

// The words of router-semantics.
const (
	Replay   = "replay"
	LiveWord = "live"
)

// modeChoice is the kind of router-mode.
func modeChoice() Choice {
	return Choice{
		Words: router.Modes(),
		Also: map[string]string{
			"kv_router": "kv", "kv-router": "kv", "round_robin": "round-robin", "power_of_two": "power-of-two",
			"least_loaded": "least-loaded", "device_aware_weighted": "device-aware-weighted",
		},
	}
}

// validFaults says what is wrong with a list of faults.
func validFaults(text string) error {
	_, err := sim.ParseFaults(text)
	var e *sim.FaultError
	if !errors.As(err, &e) {
		return err
	}
	found := "nothing"
	if e.Found != "" {
		found = show(e.Found)
	}
	return &partError{fmt.Sprintf("entry %d (%s): %s", e.Entry, plainText(e.Text), e.Part), found, e.Want}
}
