package main

import (
	"fmt"

	"routesim/cmd/routesim/internal/settings"
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
	if n := refused[router.WorkerLost]; n > 0 {
		notes = append(notes, fmt.Sprintf("%s failed with a crashed worker (faults); the latencies leave them out.", format.Plural(n, "request")))
	}
	if n := res.Counters.Expired; n > 0 {
		notes = append(notes, fmt.Sprintf("The router took %s for dead that was still alive: no token between two scans (active-request-expiry-secs).", format.Plural(n, "request")))
	}
	if n := res.LostBatches; n > 0 {
		notes = append(notes, fmt.Sprintf("Lost on the way and recovered with the next batch of their worker: %s batches of KV events (kv-event-loss).", format.Count(n)))
	}
	if n := res.LostBookings; n > 0 {
		notes = append(notes, fmt.Sprintf("The restart at %s lost %s.", format.Duration(res.RestartedMS), format.Plural(n, "booking")))
	}
	return notes
}
