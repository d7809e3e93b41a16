package parity

import (
	"encoding/json"
	"math"

	"routesim/sim"
	"routesim/sim/engine"
	"routesim/workloads"
)

// ours is what the simulator has to say about one request.
type ours struct {
	golden *Golden
	result *sim.Result
	row    int
	*sim.Request
}

// fields returns, by the oracle's name, how to read each recorded field off
// the simulator's result. A value is nil where the oracle writes null.
func fields() map[string]func(o ours) any {
	f := map[string]func(o ours) any{
		"line": func(o ours) any { return int64(o.golden.trace.Line(o.row) - 1) },

		"worker":        func(o ours) any { return idOrNil(o.Worker) },
		"cost":          func(o ours) any { return o.routed(o.first().Cost) },
		"cached_blocks": func(o ours) any { return o.routed(o.first().Overlap) },
		"picks":         ours.picks,

		"arrival_ms":     func(o ours) any { return timeOrNil(o.Arrival) },
		"first_admit_ms": func(o ours) any { return timeOrNil(o.FirstAdmit) },
		"first_token_ms": func(o ours) any { return timeOrNil(o.FirstToken) },
		"last_token_ms":  func(o ours) any { return timeOrNil(o.LastToken) },

		"reused_tokens":      func(o ours) any { return int64(o.MaxReused) },
		"host_reused_tokens": func(o ours) any { return int64(o.HostReused) },

		"output_length": func(o ours) any { return int64(o.OutputTokens) },
		"status":        func(o ours) any { return o.Status.String() },

		"prefill_worker": func(o ours) any { return idOrNil(o.handoff().PrefillWorker) },

		"session_id":              ours.sessionID,
		"turn_index":              ours.turnIndex,
		"terminal_time_ms":        func(o ours) any { return timeOrNil(o.Terminal) },
		"ttft_ms":                 func(o ours) any { return span(o.Arrival, o.FirstToken) },
		"ttst_ms":                 func(o ours) any { return span(o.FirstToken, o.SecondToken) },
		"e2e_latency_ms":          func(o ours) any { return span(o.Arrival, o.LastToken) },
		"itl_ms":                  ours.meanITL,
		"input_length":            func(o ours) any { return int64(o.InputTokens) },
		"requested_output_length": func(o ours) any { return int64(o.golden.trace.OutputTokens(o.row)) },
		"admission_count":         func(o ours) any { return int64(o.Admissions) },
		fieldAdmissions:           ours.admissionList,

		"prefill_pick":               func(o ours) any { return o.pick(o.placeFirst()) },
		"decode_pick":                func(o ours) any { return o.pick(!o.placeFirst()) },
		"prefill_route":              func(o ours) any { return idOrNil(o.handoff().PrefillWorker) },
		"decode_route":               func(o ours) any { return idOrNil(o.handoff().DecodeWorker) },
		"prefill_admit_ms":           func(o ours) any { return timeOrNil(o.handoff().PrefillAdmit) },
		"source_held_ms":             func(o ours) any { return timeOrNil(o.handoff().SourceHeld) },
		"destination_reserved_ms":    func(o ours) any { return timeOrNil(o.handoff().Reserved) },
		"destination_activated_ms":   func(o ours) any { return timeOrNil(o.handoff().Activated) },
		"decode_admit_ms":            func(o ours) any { return timeOrNil(o.handoff().DecodeAdmit) },
		"source_released_ms":         func(o ours) any { return timeOrNil(o.handoff().Released) },
		"decode_reused_input_tokens": func(o ours) any { return idOrNil(o.handoff().DecodeReused) },
	}
	for name, same := range map[string]string{
		"decode_worker_idx":   "worker",
		"prefill_worker_idx":  "prefill_worker",
		"arrival_time_ms":     "arrival_ms",
		"reused_input_tokens": "reused_tokens",
		"terminal_status":     "status",
	} {
		f[name] = f[same]
	}
	return f
}

// routed returns a figure of the routing decision, nil in round-robin mode,
// which has none.
func (o ours) routed(v float64) any {
	if !isKV(o.golden.settings) {
		return nil
	}
	return timeOrNil(v)
}

// aggregated stands for the handoff that no request of aggregated serving has.
var aggregated = sim.Handoff{PrefillWorker: workloads.NoRow, DecodeWorker: workloads.NoRow, DecodeReused: workloads.NoRow}

// handoff returns what happened between the pools of disaggregated serving.
func (o ours) handoff() *sim.Handoff {
	if o.result.Handoffs == nil {
		return &aggregated
	}
	return &o.result.Handoffs[o.row]
}

// picks returns the decisions that were made for the request.
func (o ours) picks() any {
	if h := o.handoff(); o.result.Handoffs != nil && isKV(o.golden.settings) && h.DecodeWorker >= 0 && h.PrefillWorker >= 0 {
		return int64(2)
	}
	return int64(1)
}

// placeFirst reports whether a place for decoding was chosen before the prefill
// worker, as SGLang does.
func (o ours) placeFirst() bool {
	return o.result.Handoffs != nil && o.golden.settings.config.Fleet[0].Engine.Backend == engine.SGLang
}

// first returns the choice that the oracle logs first for a request.
func (o ours) first() *sim.Decision {
	if o.placeFirst() {
		return &o.handoff().Decode
	}
	return &o.Decision
}

// pick is a choice as the oracle logs it: the worker, whatever its rank, its
// cost and its cached blocks. Recordings call the first of a request that of
// the prefill worker, whichever it was.
func (o ours) pick(decode bool) any {
	c, h := &o.golden.settings.config, o.handoff()
	rank, d, group := h.PrefillWorker, &o.Decision, c.Prefill
	if decode {
		rank, d, group = h.DecodeWorker, &h.Decode, c.Fleet
	}
	if rank >= 0 {
		rank /= int32(group[0].Ranks())
	}
	return []any{idOrNil(rank), o.routed(d.Cost), o.routed(d.Overlap)}
}

// sessionID follows the oracle: null when every session has one turn, unless
// the loop is closed or a synthetic load has groups.
func (o ours) sessionID() any {
	if !o.hasSessions() {
		return nil
	}
	return sessionName(o.golden.trace, o.row)
}

func (o ours) turnIndex() any {
	if !o.hasSessions() {
		return nil
	}
	return int64(o.golden.trace.Turn(o.row))
}

func (o ours) hasSessions() bool {
	return o.golden.trace.MultiTurn() || o.golden.named || o.golden.settings.config.Concurrency > 0 && !o.golden.synthetic
}

// meanITL is the mean time per output token after the first, in ms.
func (o ours) meanITL() any {
	if o.OutputTokens < 2 {
		return nil
	}
	return math.Max(0, (o.LastToken-o.FirstToken)/float64(o.OutputTokens-1))
}

// span is the time from a to b in ms, at least 0, nil if one never came.
func span(a, b float64) any {
	if math.IsNaN(a) || math.IsNaN(b) {
		return nil
	}
	return math.Max(0, b-a)
}

func timeOrNil(t float64) any {
	if math.IsNaN(t) {
		return nil
	}
	return t
}

func idOrNil(id int32) any {
	if id == workloads.NoRow {
		return nil
	}
	return int64(id)
}

// same compares a recorded value with ours, numbers exactly as binary64.
func same(want, got any) bool {
	switch got := got.(type) {
	case float64:
		f, ok := number(want)
		return ok && f == got
	case int64:
		f, ok := number(want)
		return ok && f == float64(got)
	case string:
		return want == any(got)
	case []any:
		list, ok := want.([]any)
		if !ok || len(list) != len(got) {
			return false
		}
		for i := range list {
			if !same(list[i], got[i]) {
				return false
			}
		}
		return true
	}
	if _, isNumber := want.(json.Number); isNumber {
		return false
	}
	return want == got
}
