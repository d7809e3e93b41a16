package reports

import (
	"routesim/sim"
	"routesim/sim/router"
)

// Losses are requests that ended in the middle of being served, and the work
// that was lost with them.
type Losses struct {
	Requests     int64 `json:"requests"`
	PromptTokens int64 `json:"computed_prompt_tokens"` // what came from a cache left out
	OutputTokens int64 `json:"generated_tokens"`
	Blocks       int64 `json:"kv_blocks"` // of requests that were cancelled; all that crashed workers held
	// ByPhase counts cancelled requests by where they were.
	ByPhase map[string]int64 `json:"by_phase,omitempty"`
}

// cancellations sums up the requests whose clients left, nil for none.
func cancellations(r *sim.Result) *Losses {
	c := &r.Cancelled
	if c.Total() == 0 {
		return nil
	}
	l := lossesOf(c.Total(), &c.Waste)
	l.ByPhase = map[string]int64{}
	for phase, n := range c.ByPhase {
		if n > 0 {
			l.ByPhase[sim.Phase(phase).String()] = n
		}
	}
	return l
}

// Lost reports whether a request was lost with a crashed worker. It is not
// rejected: it had been taken.
func Lost(q *sim.Request) bool { return q.Refusal == router.WorkerLost }

// crashes sums up what was lost with crashed workers, nil for nothing.
func crashes(r *sim.Result) *Losses {
	lost := int64(0)
	for i := range r.Requests {
		if Lost(&r.Requests[i]) {
			lost++
		}
	}
	if lost == 0 && r.Crashed.Blocks == 0 {
		return nil
	}
	return lossesOf(lost, &r.Crashed)
}

func lossesOf(requests int64, w *sim.Waste) *Losses {
	return &Losses{Requests: requests, PromptTokens: w.PromptTokens, OutputTokens: w.OutputTokens, Blocks: w.Blocks}
}
