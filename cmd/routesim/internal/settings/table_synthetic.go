package settings

import (
	"fmt"
	"math"

	"routesim/sim/router"
	"routesim/sim/synthetic"
)

// SyntheticLoad is a load of equal requests in the place of a trace, with the
// names of Dynamo's replay.
type SyntheticLoad struct {
	Requests, InputTokens, OutputTokens int32 // 0 = not given
	Rate, IntervalMS                    *float64
	Seed                                uint64
	SharedPrefix                        float64
	Groups, Turns                       int32
	InterTurnDelayMS                    float64
}

// Load returns the load to make in the place of a trace, nil where there is
// none.
func (r *Run) Load() *synthetic.Load {
	s := &r.Synthetic
	if s.Requests == 0 {
		return nil
	}
	l := &synthetic.Load{
		Requests: s.Requests, InputTokens: s.InputTokens, OutputTokens: s.OutputTokens, BlockSize: r.Engine.BlockSize,
		ClosedLoop: r.Concurrency > 0, Seed: s.Seed, SharedPrefix: s.SharedPrefix, Groups: s.Groups,
		Turns: s.Turns, InterTurnDelayMS: s.InterTurnDelayMS,
	}
	if s.Rate != nil {
		l.Rate = *s.Rate
	}
	if s.IntervalMS != nil {
		l.IntervalMS = *s.IntervalMS
	}
	return l
}

// syntheticRows are the settings of a synthetic load.
func syntheticRows() []Setting {
	rows := []Setting{
		{
			Name: "request-count", Default: None, Unit: "sessions", Kind: tokens.orNone(0),
			Help: "Make so many sessions in the place of a TRACE, each of --turns-per-session requests. Needs --input-tokens, --output-tokens and one of --request-rate, --arrival-interval-ms and --replay-concurrency. " +
				fmt.Sprintf("At most %d requests, %d tokens and %d blocks of prompts in all.", synthetic.MaxRequests, int64(synthetic.MaxTokens), synthetic.MaxBlocks),
			Ref: func(r *Run) any { return &r.Synthetic.Requests },
		}, {
			Name: "input-tokens", Default: None, Unit: "tokens", Kind: tokens.orNone(0),
			Help: "Prompt length of every request.",
			Ref:  func(r *Run) any { return &r.Synthetic.InputTokens },
		}, {
			Name: "output-tokens", Default: None, Unit: "tokens", Kind: tokens.orNone(0),
			Help: "Answer length of every request.",
			Ref:  func(r *Run) any { return &r.Synthetic.OutputTokens },
		}, {
			Name: "request-rate", Default: None, Unit: "sessions/s", Kind: positive.optional(),
			Help: "Sessions begin at random at this rate (a Poisson process).",
			Ref:  func(r *Run) any { return &r.Synthetic.Rate },
		}, {
			Name: "arrival-interval-ms", Default: None, Unit: "ms", Kind: duration.above().optional(),
			Help: "Sessions begin one after the other at this distance.",
			Ref:  func(r *Run) any { return &r.Synthetic.IntervalMS },
		}, {
			Name: "arrival-seed", Default: fmt.Sprint(synthetic.DefaultSeed), Kind: Int{Max: math.MaxInt64},
			Help: "Seed of the random arrivals.",
			Ref:  func(r *Run) any { return &r.Synthetic.Seed },
		}, {
			Name: "shared-prefix-ratio", Default: "0", Kind: fraction,
			Help: "Share of a prompt's blocks that all requests of the session's prefix group begin with.",
			Ref:  func(r *Run) any { return &r.Synthetic.SharedPrefix },
		}, {
			Name: "num-prefix-groups", Default: "0", Unit: "groups", Kind: Int{Max: math.MaxInt32},
			Help: "Number of prefix groups; each session belongs to one that is drawn. 0 = nothing is shared.",
			Ref:  func(r *Run) any { return &r.Synthetic.Groups },
		}, {
			Name: "turns-per-session", Default: "1", Unit: "requests", Kind: tokens,
			Help: "Requests of a session, each after the end of the one before. They share nothing but the prefix of their group.",
			Ref:  func(r *Run) any { return &r.Synthetic.Turns },
		}, {
			Name: "inter-turn-delay-ms", Default: "0", Unit: "ms", Kind: duration,
			Help: "Time from the end of a turn to the next one.",
			Ref:  func(r *Run) any { return &r.Synthetic.InterTurnDelayMS },
		},
	}
	for i := range rows {
		rows[i].Group = Synthetic
	}
	return rows
}

// checkSynthetic makes sure that a synthetic load is whole, and names what was
// given for one in vain.
func (r *resolution) checkSynthetic() error {
	run := &r.Run
	s := &run.Synthetic
	if s.Requests == 0 {
		for _, row := range r.table.list {
			if row.Group == Synthetic && r.OnCommandLine(row.Name) && row.Get(run).Text != row.Default {
				r.Warn("%s has no effect without request-count: a TRACE has its own requests", row.Name)
			}
		}
		return nil
	}
	if s.InputTokens == 0 || s.OutputTokens == 0 {
		return fmt.Errorf("request-count: found %d without input-tokens or output-tokens, expected both with it", s.Requests)
	}
	ways := 0
	for _, given := range []bool{s.Rate != nil, s.IntervalMS != nil, run.Concurrency > 0} {
		if given {
			ways++
		}
	}
	if ways != 1 {
		return fmt.Errorf("request-count: found %d of request-rate, arrival-interval-ms and replay-concurrency, expected exactly one to say when requests come", ways)
	}
	if run.Router.Mode == router.Direct {
		return fmt.Errorf("router-mode: found direct with request-count, expected another mode: the requests of a synthetic load name no worker")
	}
	if err := run.Load().Validate(); err != nil {
		return err
	}
	for _, u := range []struct {
		name string
		idle bool
		why  string
	}{
		{"arrival-seed", s.Rate == nil, "it needs request-rate"},
		{"shared-prefix-ratio", s.Groups == 0, "it needs num-prefix-groups"},
		{"num-prefix-groups", s.SharedPrefix == 0, "it needs shared-prefix-ratio"},
		{"inter-turn-delay-ms", s.Turns == 1, "it needs turns-per-session"},
		{"trace-format", true, "there is no trace"},
		{"trace-block-size", true, "there is no trace"},
		{"arrival-spread", true, "there is no trace"},
		{"on-error", true, "there is no trace"},
	} {
		if row, _ := r.table.Lookup(u.name); u.idle && r.OnCommandLine(u.name) && row.Get(run).Text != row.Default {
			r.Warn("%s has no effect with request-count: %s", u.name, u.why)
		}
	}
	return nil
}
