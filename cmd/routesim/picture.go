package main

import (
	"fmt"
	"math"
	"strings"

	"routesim/reports"
	"routesim/reports/format"
	"routesim/reports/plot"
	"routesim/reports/table"
	"routesim/sim"
)

// ttftPicture draws the distributions of TTFT in both modes.
func ttftPicture(runs [2]*replayed, sides [2]table.Named) (*plot.Figure, error) {
	base, other := sides[0].Summary, sides[1].Summary
	bound := 0.0
	if b := runs[0].config.SLA.TTFT; b != nil {
		bound = *b
	}
	d := &base.Routesim
	finding := fmt.Sprintf("%s: TTFT p90 %s, %s", sides[1].Name, format.Duration(other.TTFT.P90), against(base.TTFT.P90, other.TTFT.P90, sides[0].Name))
	caption := plot.Caption{
		Title: finding,
		Subtitle: fmt.Sprintf("%s, %s (%s loop), %s, %s, seed %d, routesim %s", d.Trace.Name, format.Plural(base.Requests, "request"),
			d.Loop, d.WorkersText(), strings.Join(d.Timing, ", "), d.Seed, d.Version),
		Alt: "Cumulative distributions of the time to first token. " + finding + ".",
	}
	return plot.CDF(plot.Single(), caption, "time to first token", bound,
		plot.Series{Name: sides[1].Name, Role: plot.Chosen, Values: ttfts(runs[1])},
		plot.Series{Name: sides[0].Name, Role: plot.Reference, Values: ttfts(runs[0])})
}

// ttfts returns the TTFT of every completed request in ms.
func ttfts(run *replayed) []float64 {
	overhead := reports.RequestMSByWorker(run.config)
	var out []float64
	for i := range run.result.Requests {
		q := &run.result.Requests[i]
		if q.Status != sim.Completed {
			continue
		}
		if t := reports.RequestLatencies(q, overhead[q.Worker]).TTFT; !math.IsNaN(t) {
			out = append(out, t)
		}
	}
	return out
}

// against says in words how a latency compares with the base's.
func against(base, other float64, name string) string {
	change := strings.TrimLeft(format.Change(base, other), "+-")
	switch {
	case other < base:
		return change + " below " + name
	case other > base:
		return change + " above " + name
	}
	return "as in " + name
}
