package columnar

import (
	"math"

	"routesim/reports"
	"routesim/sim"
	"routesim/sim/router"
	"routesim/workloads"
)

// Request is a row of the table of requests.
type Request struct {
	trace   *workloads.Trace
	kv      bool // the router scored the workers
	row     int
	q       *sim.Request
	hand    *sim.Handoff // nil with one pool
	block   int64        // tokens of a KV block
	latency reports.Latencies
}

// routed reports whether a worker was chosen.
func (r *Request) routed() bool { return r.q.Order >= 0 }

// scored returns v where a router scored the workers, NaN otherwise.
func (r *Request) scored(v float64) float64 {
	if r.kv && r.routed() {
		return v
	}
	return math.NaN()
}

// decided returns v where a worker was chosen.
func (r *Request) decided(v int32) (int64, bool) { return int64(v), r.routed() }

// Requests lists the columns of the table of requests: a row per request of the
// trace, in file order.
func Requests() []Column[Request] {
	out := identity()
	out = append(out, course()...)
	out = append(out, split()...)
	return append(out, decision()...)
}

func identity() []Column[Request] {
	return []Column[Request]{
		counts("row", "", "Number of the request: its row of the trace, from 0.", func(r *Request) int64 { return int64(r.row) }),
		counts("line", "", "Line of the trace file, from 1.", func(r *Request) int64 { return int64(r.trace.Line(r.row)) }),
		texts("request_id", "", "Name of the request in the trace.", func(r *Request) (string, bool) {
			id := r.trace.RequestID(r.row)
			return id, id != ""
		}),
		texts("session_id", "", "Session, in a trace with sessions.", func(r *Request) (string, bool) {
			return r.trace.SessionName(r.row), r.trace.MultiTurn()
		}),
		integers("turn_index", "", "Turn of the session, from 0.", func(r *Request) (int64, bool) {
			return int64(r.trace.Turn(r.row)), r.trace.MultiTurn()
		}),
		labels("terminal_status", "", "How the request ended: completed, rejected, failed between the pools, lost with a crashed worker, canceled by its client, or unfinished when the run stopped.",
			func(r *Request) string {
				if reports.Lost(r.q) {
					return "lost"
				}
				return r.q.Status.String()
			}),
		integers("routing_order", "", "Position among all routed requests, from 0.", func(r *Request) (int64, bool) { return r.decided(r.q.Order) }),
		integers("decode_worker_idx", "", "Worker that served the request.", func(r *Request) (int64, bool) { return int64(r.q.Worker), r.q.Worker >= 0 }),
	}
}

// course are the times and lengths of a request.
func course() []Column[Request] {
	return []Column[Request]{
		decimals("arrival_time_ms", "ms", "When the request reached the router.", func(r *Request) float64 { return r.q.Arrival }),
		decimals("dispatched_at_ms", "ms", "When its worker was chosen.", func(r *Request) float64 { return r.q.Dispatched }),
		decimals("queue_wait_ms", "ms", "Time in the router's queue: dispatched less arrival.", func(r *Request) float64 { return r.q.Dispatched - r.q.Arrival }),
		decimals("first_admit_ms", "ms", "Start of the engine step that first scheduled it.", func(r *Request) float64 { return r.q.FirstAdmit }),
		decimals("first_token_ms", "ms", "End of the step that made the first token.", func(r *Request) float64 { return r.q.FirstToken }),
		decimals("last_token_ms", "ms", "End of the step that made the last token.", func(r *Request) float64 { return r.q.LastToken }),
		decimals("terminal_time_ms", "ms", "End of the request.", func(r *Request) float64 { return r.q.Terminal }),
		decimals("ttft_ms", "ms", "Time to first token: first token less arrival, and the front end's time where the profile has one.", func(r *Request) float64 { return r.latency.TTFT }),
		decimals("ttst_ms", "ms", "Time to second token: second token less first token.", func(r *Request) float64 { return r.latency.TTST }),
		decimals("itl_ms", "ms", "Mean time per output token after the first (TPOT).", func(r *Request) float64 { return r.latency.TPOT }),
		decimals("e2e_latency_ms", "ms", "Last token less arrival, and the front end's time where the profile has one.", func(r *Request) float64 { return r.latency.E2E }),
		counts("input_length", "tokens", "Prompt length, previous turns included.", func(r *Request) int64 { return int64(r.q.InputTokens) }),
		counts("requested_output_length", "tokens", "Output length that the trace asks for.", func(r *Request) int64 { return int64(r.trace.OutputTokens(r.row)) }),
		counts("output_length", "tokens", "Tokens generated.", func(r *Request) int64 { return int64(r.q.OutputTokens) }),
		integers("reused_input_tokens", "tokens", "Tokens served from the worker's cache, the most over all admissions; after a preemption generated ones too.", func(r *Request) (int64, bool) {
			return int64(r.q.MaxReused), r.q.Admissions > 0
		}),
		integers("first_reused_input_tokens", "tokens", "Tokens served from the worker's cache at first admission.", func(r *Request) (int64, bool) {
			return int64(r.q.FirstReused), r.q.Admissions > 0
		}),
		integers("host_reused_input_tokens", "tokens", "Those among them that were brought back from the worker's host tier.", func(r *Request) (int64, bool) {
			return int64(r.q.HostReused), r.q.Admissions > 0
		}),
		counts("admission_count", "", "Times the worker's scheduler admitted the request.", func(r *Request) int64 { return int64(r.q.Admissions) }),
		counts("readmission_count", "", "Admissions after a preemption.", func(r *Request) int64 { return int64(max(r.q.Admissions-1, 0)) }),
	}
}

// split are the columns of serving with prefill workers apart from decode
// workers.
func split() []Column[Request] {
	const (
		doc   = " Absent where one worker does both prefill and decode."
		block = " In whole blocks; absent without kv mode, too."
	)
	at := func(of func(*sim.Handoff) float64) func(*Request) float64 {
		return func(r *Request) float64 {
			if r.hand == nil {
				return math.NaN()
			}
			return of(r.hand)
		}
	}
	return []Column[Request]{
		integers("prefill_worker_idx", "", "Worker that computed the prompt."+doc, func(r *Request) (int64, bool) {
			if r.hand == nil || r.hand.PrefillWorker < 0 {
				return 0, false
			}
			return int64(r.hand.PrefillWorker), true
		}),
		decimals("prefill_admit_ms", "ms", "First admission by the prefill worker."+doc, at(func(h *sim.Handoff) float64 { return h.PrefillAdmit })),
		decimals("source_held_ms", "ms", "When the prompt's blocks were complete and held for the transfer."+doc, at(func(h *sim.Handoff) float64 { return h.SourceHeld })),
		decimals("destination_reserved_ms", "ms", "When the decode worker reserved blocks."+doc, at(func(h *sim.Handoff) float64 { return h.Reserved })),
		decimals("destination_activated_ms", "ms", "When the decode worker took over."+doc, at(func(h *sim.Handoff) float64 { return h.Activated })),
		decimals("decode_admit_ms", "ms", "First admission by the decode worker."+doc, at(func(h *sim.Handoff) float64 { return h.DecodeAdmit })),
		decimals("source_released_ms", "ms", "When the prefill worker let the blocks go."+doc, at(func(h *sim.Handoff) float64 { return h.Released })),
		integers("decode_reused_input_tokens", "tokens", "Tokens served from the decode worker's cache."+doc, func(r *Request) (int64, bool) {
			if r.hand == nil || r.hand.DecodeReused < 0 {
				return 0, false
			}
			return int64(r.hand.DecodeReused), true
		}),
		integers("prefill_route_overlap_tokens", "tokens", "Overlap seen when the prefill worker was chosen."+doc+block, func(r *Request) (int64, bool) {
			if r.hand == nil || r.hand.PrefillWorker < 0 || !r.kv {
				return 0, false
			}
			return int64(r.q.Decision.Overlap) * r.block, true
		}),
		integers("decode_route_overlap_tokens", "tokens", "Overlap seen when the decode worker was chosen."+doc+block, func(r *Request) (int64, bool) {
			if r.hand == nil || r.hand.DecodeWorker < 0 || !r.kv {
				return 0, false
			}
			return int64(r.hand.Decode.Overlap) * r.block, true
		}),
	}
}

// decision are what the router saw and chose.
func decision() []Column[Request] {
	return []Column[Request]{
		decimals("cost", "blocks", "Router's cost of the chosen worker: prefill term + decode term + request term.", func(r *Request) float64 { return r.scored(r.q.Decision.Cost) }),
		decimals("prefill_term", "blocks", "Adjusted prefill blocks times the prefill load scale.", func(r *Request) float64 { return r.scored(r.q.Decision.PrefillTerm) }),
		decimals("credit", "blocks", "Overlap credit inside the prefill term.", func(r *Request) float64 { return r.scored(r.q.Decision.Credit) }),
		decimals("decode_term", "blocks", "Projected active blocks.", func(r *Request) float64 { return r.scored(r.q.Decision.DecodeTerm) }),
		decimals("request_term", "blocks", "Active requests times their weight.", func(r *Request) float64 { return r.scored(r.q.Decision.RequestTerm) }),
		decimals("min_cost", "blocks", "Least cost of any worker.", func(r *Request) float64 { return r.scored(r.q.Decision.MinCost) }),
		decimals("cost_regret", "blocks", "Cost less least cost.", func(r *Request) float64 { return r.scored(r.q.Decision.Cost - r.q.Decision.MinCost) }),
		integers("tied_workers", "", "Workers of least cost.", func(r *Request) (int64, bool) {
			return int64(r.q.Decision.Tied), r.kv && r.routed()
		}),
		booleans("forced", "", "The worker was given, not chosen.", func(r *Request) (v, ok bool) { return r.q.Decision.Forced, r.routed() }),
		decimals("overlap_blocks", "blocks", "Effective overlap of the chosen worker, as the router believed.", func(r *Request) float64 { return r.scored(r.q.Decision.Overlap) }),
		decimals("best_overlap_blocks", "blocks", "Most effective overlap of any worker, as the router believed.", func(r *Request) float64 { return r.scored(r.q.Decision.BestOverlap) }),
		integers("held_blocks", "blocks", "Complete prompt blocks that the chosen worker's engine held at the decision.", func(r *Request) (int64, bool) { return r.decided(r.q.Decision.ChosenHeld) }),
		integers("best_held_blocks", "blocks", "The most that any worker's engine held.", func(r *Request) (int64, bool) { return r.decided(r.q.Decision.BestHeld) }),
		integers("ceiling_held_blocks", "blocks", "What one endless cache would have held.", func(r *Request) (int64, bool) { return r.decided(r.q.Decision.CeilingHeld) }),
		integers("regret_blocks", "blocks", "Best held less held.", func(r *Request) (int64, bool) {
			return r.decided(r.q.Decision.BestHeld - r.q.Decision.ChosenHeld)
		}),
		booleans("local_prefill", "", "Whether a decode worker computed the prompt too, because the request bypassed the prefill workers. Absent where one worker does both prefill and decode.", func(r *Request) (v, ok bool) {
			return r.hand != nil && r.hand.Local, r.hand != nil && r.routed()
		}),
	}
}

// requestAt returns the rows of the table of requests.
func requestAt(t *workloads.Trace, c *sim.Config, r *sim.Result) func(i int) Request {
	overhead := reports.RequestMSByWorker(c)
	kv := c.PromptRouter().Mode == router.KV
	return func(i int) Request {
		q := &r.Requests[i]
		ms := 0.0
		if q.Worker >= 0 {
			ms = overhead[q.Worker]
		}
		row := Request{trace: t, kv: kv, row: i, q: q, block: int64(c.Fleet[0].Engine.BlockSize), latency: reports.RequestLatencies(q, ms)}
		if r.Handoffs != nil {
			row.hand = &r.Handoffs[i]
		}
		return row
	}
}
