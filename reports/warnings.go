package reports

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"routesim/reports/format"
	"routesim/sim"
	"routesim/sim/router"
	"routesim/sim/router/policy"
	"routesim/workloads"
)

// Warning is something about a run that its reader should know before using
// the figures.
type Warning struct {
	Code string `json:"code"` // stable, for programs
	Text string `json:"text"` // one sentence
}

// The codes of warnings.
const (
	RouterBlind   = "router_blind"
	OneWorker     = "one_worker"
	ShortPrompts  = "short_prompts"
	NoReuse       = "no_reuse"
	CachingOff    = "prefix_caching_off"
	OverLength    = "over_max_model_len"
	CutShort      = "answers_cut_to_the_pool"
	FailedAny     = "failed_requests"
	RejectedAny   = "rejected_requests"
	UnfinishedAny = "unfinished_requests"
	SkippedRows   = "skipped_rows"
	Unsorted      = "unsorted_timestamps"
	Overload      = "overload"
	BusyQueue     = "waiting_most_of_the_time"
	OutOfRange    = "timing_out_of_range"
	CoarseBlocks  = "coarse_kv_blocks"
	IdleTaints    = "taints_without_effect"
	FreeTransfer  = "kv_transfer_in_no_time"
	LateFaults    = "faults_after_the_end"
	SmallTier     = "tier_smaller_than_the_one_before"
	OfSettings    = "setting"
)

// facts is what the warnings look at.
type facts struct {
	trace  *workloads.Trace
	config *sim.Config
	result *sim.Result
	sum    *Summary
	detail *Details
}

func warnings(t *workloads.Trace, c *sim.Config, r *sim.Result, s *Summary, d *Details) []Warning {
	f := &facts{t, c, r, s, d}
	out := []Warning{}
	for _, w := range [...]struct {
		code string
		text func(*facts) string // "" = nothing to say
	}{
		{RejectedAny, (*facts).rejected},
		{FailedAny, (*facts).failed},
		{UnfinishedAny, (*facts).unfinished},
		{SkippedRows, (*facts).skipped},
		{Overload, (*facts).overload},
		{BusyQueue, (*facts).busyQueue},
		{OverLength, (*facts).overLength},
		{CutShort, (*facts).cutShort},
		{OutOfRange, (*facts).outOfRange},
		{OneWorker, (*facts).oneWorker},
		{CachingOff, (*facts).cachingOff},
		{ShortPrompts, (*facts).shortPrompts},
		{CoarseBlocks, (*facts).coarseBlocks},
		{NoReuse, (*facts).noReuse},
		{RouterBlind, (*facts).routerBlind},
		{IdleTaints, (*facts).idleTaints},
		{FreeTransfer, (*facts).freeTransfer},
		{LateFaults, (*facts).lateFaults},
		{SmallTier, (*facts).smallTier},
		{Unsorted, (*facts).unsorted},
	} {
		if text := w.text(f); text != "" {
			out = append(out, Warning{w.code, text})
		}
	}
	return out
}

func (f *facts) blockSize() int64 { return int64(f.config.Fleet[0].Engine.BlockSize) }

func (f *facts) rejected() string {
	n := f.detail.Rejected
	if n == 0 {
		return ""
	}
	longest, mine := int32(0), int64(0)
	for i := range f.result.Requests {
		if q := &f.result.Requests[i]; q.Status == sim.Rejected && q.Refusal == router.Accepted {
			longest = max(longest, q.InputTokens)
			mine++
		}
	}
	if mine == 0 {
		return "" // the router turned all of them away
	}
	var limits []string // of the groups, each once
	for i := range f.config.Fleet {
		e := &f.config.Fleet[i].Engine
		pool := int64(e.NumGPUBlocks) * int64(e.BlockSize)
		limit := fmt.Sprintf("a worker's KV pool holds %s tokens", format.Count(pool))
		if e.MaxModelLen > 0 && int64(e.MaxModelLen) <= pool {
			limit = fmt.Sprintf("max_model_len is %s", format.Count(int64(e.MaxModelLen)))
		}
		if !slices.Contains(limits, limit) {
			limits = append(limits, limit)
		}
	}
	return fmt.Sprintf("%s rejected: the prompt can never fit (longest %s tokens; %s).",
		format.Plural(mine, "request"), format.Count(int64(longest)), strings.Join(limits, " or "))
}

func (f *facts) unfinished() string {
	n := f.detail.Unfinished
	never := int64(f.trace.Len()) - f.sum.Requests
	if n == 0 && never == 0 {
		return ""
	}
	if !f.result.Stopped {
		return fmt.Sprintf("%s never released: a session ends with a request that failed, as in Dynamo's replay.", format.Plural(never, "later turn")+verb(never, " was", " were"))
	}
	return fmt.Sprintf("The run stopped at %s: %s unfinished, %s never released; the latencies leave them out.",
		format.Duration(f.result.EndMS), format.Plural(n, "request"), format.Count(never))
}

func (f *facts) skipped() string {
	n := len(f.trace.Skipped())
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%s of the trace could not be read and %s left out.", format.Plural(int64(n), "row"), verb(int64(n), "was", "were"))
}

// verb returns the form of a verb for a count.
func verb(n int64, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// overloadShare is the share of requests that, in open loop, may still wait for
// a worker when the last one arrives.
const overloadShare = 0.05

func (f *facts) overload() string {
	waiting := WaitingAtEnd(f.result)
	if f.config.Concurrency > 0 || !Overloaded(waiting, int64(f.detail.Workers), f.sum.Requests) {
		return ""
	}
	return fmt.Sprintf("%s of %s were still waiting for a worker when the last one arrived: this fleet cannot carry this load, and latencies depend on the length of the trace.",
		format.Count(waiting), format.Plural(f.sum.Requests, "request"))
}

// WaitingAtEnd counts the requests that waited for a worker when the last one
// arrived.
func WaitingAtEnd(r *sim.Result) (waiting int64) {
	last := math.Inf(-1)
	for i := range r.Requests {
		if a := r.Requests[i].Arrival; a > last {
			last = a
		}
	}
	for i := range r.Requests {
		q := &r.Requests[i]
		if q.Arrival < last && q.Status != sim.Rejected && q.Status != sim.Cancelled && !(q.FirstAdmit <= last) {
			waiting++
		}
	}
	return waiting
}

// Overloaded reports whether so many waiting requests say that a fleet cannot
// carry its load, in open loop.
func Overloaded(waiting, workers, requests int64) bool {
	return waiting > workers && float64(waiting) > float64(overloadShare*float64(requests))
}

// busyQueueShare is the share of the run above which a worker's queue is worth
// a warning.
const busyQueueShare = 0.5

func (f *facts) busyQueue() string {
	shares := WaitingShares(f.result)
	worst, above := 0, 0
	for i, s := range shares {
		if s > shares[worst] {
			worst = i
		}
		if s > busyQueueShare {
			above++
		}
	}
	if above == 0 {
		return ""
	}
	text := fmt.Sprintf("%s%d had requests waiting for %.0f %% of the time", f.detail.Letter(), worst, shares[worst]*100)
	others := 0.0
	for i, s := range shares {
		if i != worst {
			others = math.Max(others, s)
		}
	}
	switch {
	case len(shares) == 1:
		return text + "."
	case above > 1:
		return fmt.Sprintf("%s; %d of %d workers more than half of it.", text, above, len(shares))
	}
	return fmt.Sprintf("%s; the others at most %.0f %%.", text, others*100)
}

// WaitingShares returns, for each worker, the share of the run in which a
// request sent to it had not been scheduled yet. In disaggregated serving these
// are the workers that decode.
func WaitingShares(r *sim.Result) []float64 {
	total := make([]float64, len(r.Workers))
	until := make([]float64, len(r.Workers))
	for _, row := range r.Routed { // ascending by dispatch
		q := &r.Requests[row]
		if q.Worker < 0 {
			continue
		}
		from, to := q.Dispatched, q.FirstAdmit
		if r.Handoffs != nil {
			h := &r.Handoffs[row]
			if to = h.DecodeAdmit; !h.Local {
				from = h.Activated
			}
			if math.IsNaN(from) {
				continue
			}
		}
		if math.IsNaN(to) {
			if to = q.Terminal; math.IsNaN(to) {
				to = r.EndMS
			}
		}
		from = math.Max(from, until[q.Worker])
		if to > from {
			total[q.Worker] += to - from
			until[q.Worker] = to
		}
	}
	for i := range total {
		if r.EndMS > 0 {
			total[i] /= r.EndMS
		}
	}
	return total
}

func (f *facts) overLength() string {
	n := int64(f.result.OverLength)
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%s %s longer than max_model_len with its output (prompt + output above %s tokens); the answer is cut short there, as an engine does.",
		format.Plural(n, "request"), verb(n, "is", "are"), format.Count(int64(f.config.Fleet[0].Engine.MaxModelLen)))
}

func (f *facts) outOfRange() string {
	var out, passes int64
	for i := range f.result.Workers {
		out += f.result.Workers[i].OutOfRange
		passes += f.result.Workers[i].Passes
	}
	if out == 0 {
		return ""
	}
	return fmt.Sprintf("%s of %s (%s %%) left the range the timing model was fitted on.",
		format.Count(out), format.Plural(passes, "engine step"), format.Percent(share(out, passes)))
}

func (f *facts) oneWorker() string {
	if f.detail.Workers != 1 || f.config.PrefillRanks() > 1 {
		return ""
	}
	return "One worker: the router has no choice to make, and no router setting changes where requests go."
}

func (f *facts) cachingOff() string {
	groups := f.promptFleet()
	for i := range groups {
		if !groups[i].Engine.EnablePrefixCaching {
			return "Prefix caching is off: no prompt reuses anything, whatever the router does."
		}
	}
	return ""
}

// promptFleet is the pool in which prompts are computed.
func (f *facts) promptFleet() []sim.Group {
	if f.config.Disaggregated() {
		return f.config.Prefill
	}
	return f.config.Fleet
}

func (f *facts) shortPrompts() string {
	block := f.blockSize()
	n, total := int64(0), int64(0)
	for i := range f.result.Requests {
		if q := &f.result.Requests[i]; !math.IsNaN(q.Arrival) {
			total++
			if int64(q.InputTokens) < block {
				n++
			}
		}
	}
	switch {
	case n == 0:
		return ""
	case n == total:
		return fmt.Sprintf("Every prompt is shorter than one KV block of %d tokens: only complete blocks are reused, so the router has no overlap to see. Try a smaller block size.", block)
	case float64(n) < float64(shortShare*float64(total)):
		return ""
	}
	return fmt.Sprintf("%s of %s are shorter than one KV block of %d tokens and reuse nothing.",
		format.Count(n), format.Plural(total, "prompt"), block)
}

// shortShare is the share of short prompts worth a warning.
const shortShare = 0.1

func (f *facts) coarseBlocks() string {
	traceBlock := int64(f.trace.BlockSize())
	if traceBlock == 0 || f.blockSize() <= traceBlock {
		return ""
	}
	return fmt.Sprintf("A KV block of %d tokens spans several trace blocks of %d: shared prefixes are cut to complete KV blocks.",
		f.blockSize(), traceBlock)
}

func (f *facts) noReuse() string {
	if f.sum.Requests == 0 {
		return ""
	}
	for i := range f.result.Requests {
		if f.result.Requests[i].Decision.CeilingHeld > 0 {
			return ""
		}
	}
	return fmt.Sprintf("No prompt of the trace begins like an earlier one for a complete KV block of %d tokens: even an endless cache would serve nothing.", f.blockSize())
}

func (f *facts) routerBlind() string {
	own := f.config.PromptRouter()
	if own.Mode != router.KV {
		return ""
	}
	if l := own.Live; l != nil {
		p := l.Policy
		if f.config.Disaggregated() {
			p = l.PrefillPolicy
		}
		if p != nil && p.Needs&policy.Cache == 0 {
			return "" // it does not look
		}
	}
	held := int64(0)
	for i := range f.result.Requests {
		d := &f.result.Requests[i].Decision
		if d.BestOverlap > 0 || d.Overlap > 0 {
			return ""
		}
		if d.BestHeld > 0 {
			held++
		}
	}
	if held == 0 {
		return ""
	}
	why := "Check the event delay."
	if silent(f.promptFleet()) {
		why = "The workers publish no KV events."
	}
	return fmt.Sprintf("The router never saw any overlap, though workers held blocks of %s: it routes by load alone. %s",
		format.Plural(held, "request"), why)
}

// silent reports whether no worker publishes KV events.
func silent(fleet []sim.Group) bool {
	return !slices.ContainsFunc(fleet, func(g sim.Group) bool { return !g.Silent })
}

// idleTaints says which taints of the trace nothing answers to.
func (f *facts) idleTaints() string {
	names := f.trace.TaintNames()
	switch {
	case len(names) == 0:
		return ""
	case f.config.Router.Live == nil || f.config.Router.Mode != router.KV:
		return "The taints that requests of the trace require or prefer have no effect: only a live kv router looks at them (router-semantics live)."
	}
	for _, groups := range [][]sim.Group{f.config.Fleet, f.config.Prefill} {
		for i := range groups {
			names = slices.DeleteFunc(names, func(name string) bool { return slices.Contains(groups[i].Taints, name) })
		}
	}
	if len(names) == 0 {
		return ""
	}
	return fmt.Sprintf("No worker carries what requests of the trace require or prefer: %s. Give workers taints (taints).", strings.Join(names, ", "))
}

func (f *facts) unsorted() string {
	n, last := int64(0), math.Inf(-1)
	for i := range f.trace.Len() {
		if f.trace.Prev(i) != workloads.NoRow || f.config.Concurrency > 0 {
			continue
		}
		a := f.trace.Arrival(i)
		if a < last {
			n++
		}
		last = a
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%s of the trace %s earlier than the row before; requests are released by time, not in file order.",
		format.Plural(n, "row"), verb(n, "is", "are"))
}
