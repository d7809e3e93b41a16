package main

import (
	"fmt"
	"strings"

	"routesim/cmd/routesim/internal/settings"
	"routesim/reports"
	"routesim/reports/format"
	"routesim/sim"
	"routesim/sim/router"
)

// semanticsText says that a run has a live router and why, "" for the one of
// Dynamo's replay.
func semanticsText(r *settings.Resolved) string {
	if r.Run.Semantics != settings.LiveWord {
		return ""
	}
	return settings.LiveWord + ", " + r.SemanticsFrom()
}

// routerNotes tells what a run's routers turned away, gave up or lost.
func routerNotes(res *sim.Result) (notes []string) {
	var refused [router.WorkerLost + 1]int64
	for i := range res.Requests {
		refused[res.Requests[i].Refusal]++
	}
	for why := router.QueueFull; why <= router.Filtered; why++ {
		if n := refused[why]; n > 0 {
			notes = append(notes, fmt.Sprintf("The router turned %s away: %s.", format.Plural(n, "request"), why))
		}
	}
	notes = append(notes, faultNotes(res)...)
	if n := res.Counters.Expired; n > 0 {
		notes = append(notes, fmt.Sprintf("The router took %s for dead that was still alive: no token between two scans (active-request-expiry-secs).", format.Plural(n, "request")))
	}
	if n := res.Counters.Classifier; n.Held > 0 {
		notes = append(notes, fmt.Sprintf("The request classifier held %s back and paused sessions %s; %s waited for as long as any may.",
			format.Plural(n.Held, "request"), format.Plural(n.Paused, "time"), format.Count(n.Forced)))
	}
	if n := res.LostBatches; n > 0 {
		notes = append(notes, fmt.Sprintf("Lost on the way and recovered with the next batch of their worker: %s batches of KV events (kv-event-loss).", format.Count(n)))
	}
	if n := res.LostBookings; n > 0 {
		notes = append(notes, fmt.Sprintf("The restart at %s lost %s.", format.Duration(res.RestartedMS), format.Plural(n, "booking")))
	}
	return notes
}

// faultNotes tells what was lost with crashed workers and clients that left.
func faultNotes(res *sim.Result) (notes []string) {
	lost := int64(0)
	for i := range res.Requests {
		if reports.Lost(&res.Requests[i]) {
			lost++
		}
	}
	if w := &res.Crashed; lost > 0 || w.Blocks > 0 {
		notes = append(notes, fmt.Sprintf("%s lost with a crashed worker (faults); the latencies leave them out. Lost with them: %s.", format.Plural(lost, "request"), wasted(w)))
	}
	c := &res.Cancelled
	if n := c.Total(); n > 0 {
		var where []string
		for phase, k := range c.ByPhase {
			if k > 0 {
				where = append(where, fmt.Sprintf("%s %s", format.Count(k), sim.Phase(phase)))
			}
		}
		notes = append(notes, fmt.Sprintf("%s cancelled: %s; the latencies leave them out. Lost: %s (blocks given back; complete ones stay cached).",
			format.Plural(n, "request"), strings.Join(where, ", "), wasted(&c.Waste)))
	}
	if c.Late > 0 {
		notes = append(notes, fmt.Sprintf("Too late, the request had ended: %s of faults.", format.Plural(c.Late, "cancellation")))
	}
	return notes
}

// wasted says how much work was lost.
func wasted(w *sim.Waste) string {
	return fmt.Sprintf("%s, %s, %s",
		format.Plural(w.PromptTokens, "computed prompt token"), format.Plural(w.OutputTokens, "generated token"), format.Plural(w.Blocks, "KV block"))
}
