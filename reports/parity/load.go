package parity

import (
	"maps"

	"routesim/sim/synthetic"
)

// readLoad reads the arguments of the oracle's synthetic load. Those that are
// not about the requests are arguments of the replay.
func readLoad(d *dict, args, options map[string]any) (*synthetic.Load, map[string]any) {
	l := newDict("synthetic", args)
	load := &synthetic.Load{
		Requests:         l.integer("request_count", 0),
		InputTokens:      l.integer("input_tokens", 0),
		OutputTokens:     l.integer("output_tokens", 0),
		Rate:             l.float("request_rate", 0),
		IntervalMS:       l.float("arrival_interval_ms", 0),
		Seed:             uint64(l.integer("arrival_seed", synthetic.DefaultSeed)),
		Turns:            l.integer("turns_per_session", 1),
		InterTurnDelayMS: l.float("inter_turn_delay_ms", 0),
		SharedPrefix:     l.float("shared_prefix_ratio", 0),
		Groups:           l.integer("num_prefix_groups", 0),
	}
	d.pass(l.err)
	rest := maps.Clone(options)
	if rest == nil {
		rest = map[string]any{}
	}
	for key, v := range args {
		if !l.asked[key] {
			rest[key] = v
		}
	}
	return load, rest
}
