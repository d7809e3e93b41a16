package settings

// modeRows are the router's mode and preset, and its draws.
func modeRows() []Setting {
	return []Setting{
		{
			Name: "router-mode", Env: []string{"DYN_ROUTER_MODE"}, Group: Cost, Default: "kv",
			Kind: modeChoice(),
			Help: "How requests are routed: kv, round-robin, random, power-of-two, least-loaded, direct (to the worker_id of the row) or device-aware-weighted. Dynamo's own default is round-robin; routesim's is kv, the router it is about.",
			Ref:  func(r *Run) any { return &r.Router.Mode },
		},
		{
			Name: "load-aware", Env: []string{"DYN_ROUTER_LOAD_AWARE"}, Group: Cost, Default: "false", Kind: Bool{},
			Help: "Preset: kv mode with credit 0, active blocks and prefill tokens tracked, KV reuse not assumed. Wins over flags.",
			Ref:  func(r *Run) any { return &r.LoadAware },
		}, {
			Name: "seed", Group: Cost, Default: "0", Kind: Int{Max: 1<<63 - 1},
			Help: "Seed of the router's draws (ties, temperature). A request's draw depends only on the seed and its number.",
			Ref:  func(r *Run) any { return &r.Seed },
		},
	}
}

// costRows are the router's settings of cost and selection.
func costRows() []Setting {
	return []Setting{
		{
			Name: "router-kv-overlap-score-credit", Field: "overlap_score_credit",
			Env: []string{"DYN_ROUTER_KV_OVERLAP_SCORE_CREDIT"}, Group: Cost, Default: "1", Kind: nonNegative,
			Help: "Blocks of prefill work that one cached device block is credited with. 0 hides the cache from the cost.",
			Ref:  func(r *Run) any { return &r.Router.OverlapScoreCredit },
		}, {
			Name: "router-kv-overlap-score-credit-decay", Field: "overlap_score_credit_decay",
			Env: []string{"DYN_ROUTER_KV_OVERLAP_SCORE_CREDIT_DECAY"}, Group: Cost, Default: "0", Kind: nonNegative,
			Help: "How fast the credit fades as a worker's prefill backlog exceeds the least loaded one's. 0 = never.",
			Ref:  func(r *Run) any { return &r.Router.OverlapScoreCreditDecay },
		}, {
			Name: "router-prefill-load-scale", Field: "prefill_load_scale",
			Env: []string{"DYN_ROUTER_PREFILL_LOAD_SCALE"}, Group: Cost, Default: "1", Kind: nonNegative,
			Help: "Weight of the prefill term against the decode term.",
			Ref:  func(r *Run) any { return &r.Router.PrefillLoadScale },
		}, {
			Name: "router-kv-overlap-score-weight", Aliases: []string{"kv-overlap-score-weight"}, Field: "overlap_score_weight",
			Env:   []string{"DYN_ROUTER_KV_OVERLAP_SCORE_WEIGHT", "DYN_OVERLAP_SCORE_WEIGHT"},
			Group: Cost, Default: None, Kind: nonNegative.optional(),
			Help: "Deprecated by Dynamo: replaces --router-prefill-load-scale; 0 also sets the overlap credit to 0.",
			Ref:  func(r *Run) any { return &r.OverlapWeight },
		}, {
			Name: "router-decode-active-request-weight", Field: "decode_active_request_weight",
			Env: []string{"DYN_ROUTER_DECODE_ACTIVE_REQUEST_WEIGHT"}, Group: Cost, Default: "0", Unit: "blocks", Kind: nonNegative,
			Help: "Blocks charged for each active request on a worker.",
			Ref:  func(r *Run) any { return &r.Router.DecodeActiveRequestWeight },
		}, {
			Name: "router-host-cache-hit-weight", Field: "host_cache_hit_weight", Router: true,
			Env: []string{"DYN_ROUTER_HOST_CACHE_HIT_WEIGHT"}, Group: Cost, Default: "0.75", Kind: fraction,
			Help: "Credit of a block in host memory that continues what the device holds; what a worker is booked with counts such blocks by the same weight. Inert without --num-host-blocks.",
			Ref:  func(r *Run) any { return &r.Router.HostCacheHitWeight },
		}, {
			Name: "router-disk-cache-hit-weight", Field: "disk_cache_hit_weight", Router: true,
			Env: []string{"DYN_ROUTER_DISK_CACHE_HIT_WEIGHT"}, Group: Cost, Default: "0.25", Kind: fraction,
			Help: "Credit of a block on a worker's disk that continues what its device and its host hold; what a worker is booked with counts such blocks by the same weight. Inert without --num-disk-blocks, and in replay semantics: Dynamo's replay tells its router of no disk.",
			Ref:  func(r *Run) any { return &r.Router.DiskCacheHitWeight },
		}, {
			Name: "router-temperature", Env: []string{"DYN_ROUTER_TEMPERATURE"}, Group: Cost, Default: "0", Kind: nonNegative,
			Help: "Softmax temperature over the costs, scaled by their range. 0 takes the least cost, equals at random.",
			Ref:  func(r *Run) any { return &r.Router.Temperature },
		},
	}
}

// trackRows are the router's settings of load tracking.
func trackRows() []Setting {
	return []Setting{
		{
			Name: "router-track-active-blocks", Aliases: []string{"track-active-blocks"}, Router: true,
			Env: []string{"DYN_ROUTER_TRACK_ACTIVE_BLOCKS"}, Group: Track, Default: "true", Kind: Bool{},
			Help: "Count the blocks of active requests as decode load.",
			Ref:  func(r *Run) any { return &r.Router.TrackActiveBlocks },
		}, {
			Name: "router-assume-kv-reuse", Aliases: []string{"assume-kv-reuse"}, Router: true,
			Env: []string{"DYN_ROUTER_ASSUME_KV_REUSE"}, Group: Track, Default: "true", Kind: Bool{},
			Help: "Count a prefix that active requests share once.",
			Ref:  func(r *Run) any { return &r.Router.AssumeKVReuse },
		}, {
			Name: "router-track-prefill-tokens", Router: true,
			Env: []string{"DYN_ROUTER_TRACK_PREFILL_TOKENS"}, Group: Track, Default: "true", Kind: Bool{},
			Help: "Count uncached prompt tokens as prefill load until the first token.",
			Ref:  func(r *Run) any { return &r.Router.TrackPrefillTokens },
		}, {
			Name: "router-prefill-load-model", Router: true,
			Env: []string{"DYN_ROUTER_PREFILL_LOAD_MODEL"}, Group: Track, Default: None,
			Kind: Choice{Words: []string{None, "ais"}, Also: map[string]string{"aic": "ais"}},
			Help: "How prefill load decays before the first token: not at all, or over the time that the workers' timing model predicts (in the place of AISimulate, which is not available offline).",
			Ref:  func(r *Run) any { return &r.Router.PrefillLoadModel },
		}, {
			Name: "router-tracking-hash", Router: true,
			Env: []string{"DYN_ROUTER_TRACKING_HASH"}, Group: Track, Default: "public-xxh3-v1",
			Kind: Choice{Words: []string{"public-xxh3-v1", "keyed-xxh3-v1"}},
			Help: "Identities of active blocks. Both give the same decisions; keyed needs the two settings below.",
			Ref:  func(r *Run) any { return &r.TrackingHash },
		}, {
			Name: "router-tracking-key-file", Router: true,
			Env: []string{"DYN_ROUTER_TRACKING_KEY_FILE"}, Group: Track, Default: None,
			Kind: Word{What: "the path of a file of 32 raw bytes", Hint: "FILE", Optional: true},
			Help: "File of the 32-byte tracking key.",
			Ref:  func(r *Run) any { return &r.TrackingKeyFile },
		}, {
			Name: "router-tracking-key-id", Router: true,
			Env: []string{"DYN_ROUTER_TRACKING_KEY_ID"}, Group: Track, Default: None,
			Kind: Word{What: "a name", Hint: "ID", Optional: true},
			Help: "Name of the tracking key.",
			Ref:  func(r *Run) any { return &r.TrackingKeyID },
		},
	}
}

// queueRows are the router's settings of queue, events and policy file.
func queueRows() []Setting {
	return []Setting{
		{
			Name: "router-queue-threshold", Env: []string{"DYN_ROUTER_QUEUE_THRESHOLD"}, Group: Queue, Default: None,
			Kind: nonNegative.optional(),
			Help: "Requests wait in the router while every worker's prefill tokens exceed this fraction of --max-num-batched-tokens. 0 = while every worker has any; none = never.",
			Ref:  func(r *Run) any { return &r.Router.QueueThreshold },
		}, {
			Name: "router-queue-policy", Env: []string{"DYN_ROUTER_QUEUE_POLICY"}, Dict: "dynamo.router_queue_policy", Group: Queue, Default: "fcfs",
			Kind: Choice{Words: []string{"fcfs", "lcfs", "wspt"}},
			Help: "Order of waiting requests: first come, last come, or weighted shortest processing time. Dynamo's own flag has no lcfs; its configuration object has.",
			Ref:  func(r *Run) any { return &r.Router.QueuePolicy },
		}, {
			Name: "router-policy-config", Env: []string{"DYN_ROUTER_POLICY_CONFIG"}, Group: Queue, Default: None,
			Kind: Word{What: "the path of a policy file", Hint: "FILE.yaml", Optional: true},
			Help: "Dynamo policy file: settings that win over everything else, classes of the queue, policies that select workers, a request classifier.",
			Ref:  func(r *Run) any { return &r.PolicyConfig },
		}, {
			Name: "kv-event-lag-ms", Group: Queue, Default: "0", Unit: "ms", Kind: duration,
			Help: "Delay of the router's view of stored and removed blocks.",
			Ref:  func(r *Run) any { return &r.Router.KVEventLagMS },
		},
	}
}
