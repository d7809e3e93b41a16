// Package reports turns what a run produced into figures, tables, files and
// plots.
package reports

import (
	"math"

	"routesim/sim"
)

const msPerSecond = 1000

// Latencies are the latencies of one request in ms, NaN where the request
// produced too few tokens to have them.
type Latencies struct {
	TTFT float64 // arrival to first token
	TTST float64 // first to second token
	TPOT float64 // mean time between tokens after the first
	E2E  float64 // arrival to last token
}

// RequestLatencies returns the latencies of a request whose worker's front end
// takes requestMS ms before its first token.
func RequestLatencies(q *sim.Request, requestMS float64) Latencies {
	nan := math.NaN()
	if q.OutputTokens < 1 {
		return Latencies{nan, nan, nan, nan}
	}
	l := Latencies{
		TTFT: math.Max(q.FirstToken-q.Arrival, 0) + requestMS,
		TTST: nan, TPOT: nan,
		E2E: math.Max(q.LastToken-q.Arrival, 0) + requestMS,
	}
	if q.OutputTokens > 1 {
		l.TTST = math.Max(q.SecondToken-q.FirstToken, 0)
		l.TPOT = math.Max(q.LastToken-q.FirstToken, 0) / float64(q.OutputTokens-1)
	}
	return l
}

// RequestMSByWorker returns the front end's time per request in ms for each
// worker of the fleet.
func RequestMSByWorker(c *sim.Config) []float64 {
	out := make([]float64, 0, c.Ranks())
	for _, g := range c.Fleet {
		for range g.Count * g.Ranks() {
			out = append(out, g.RequestMS)
		}
	}
	return out
}

// overheadOf returns the front end's time of the request's worker in ms.
func overheadOf(q *sim.Request, byWorker []float64) float64 {
	if q.Worker < 0 || int(q.Worker) >= len(byWorker) {
		return 0
	}
	return byWorker[q.Worker]
}

// counted reports whether a request takes part in the figures: it completed and
// had been admitted by an engine.
func counted(q *sim.Request) bool {
	return q.Status == sim.Completed && q.Admissions > 0
}

// meets reports whether a counted request kept within every bound of the SLA,
// bounds included. A request without tokens has neither TTFT nor ITL and can
// only meet a bound on E2E.
func meets(s *sim.SLA, q *sim.Request, l Latencies) bool {
	if q.OutputTokens < 1 {
		return s.TTFT == nil && s.ITL == nil && s.E2E != nil && math.Max(q.Terminal-q.Arrival, 0) <= *s.E2E
	}
	if s.TTFT != nil && l.TTFT > *s.TTFT || s.E2E != nil && l.E2E > *s.E2E {
		return false
	}
	if s.ITL != nil && q.OutputTokens > 1 {
		return (l.E2E-l.TTFT)/float64(q.OutputTokens-1) <= *s.ITL
	}
	return true
}
