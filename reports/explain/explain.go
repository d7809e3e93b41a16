// Package explain takes routing decisions of a run apart: what every worker
// would have cost, how likely it was to be chosen, and, by running the
// alternative, what it would have meant.
package explain

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"routesim/reports"
	"routesim/sim"
	"routesim/sim/router"
	"routesim/workloads"
)

// Candidate is one worker that a request could have been sent to.
type Candidate struct {
	Worker int32 `json:"worker"`
	Chosen bool  `json:"chosen"`
	// Overlap is the router's belief: leading KV blocks of the prompt cached on
	// the worker. Null where the router scored nobody, as all terms are.
	Overlap     *int32         `json:"overlap_blocks"`
	Prefill     reports.Number `json:"prefill_term"`
	Credit      reports.Number `json:"credit_blocks"`
	Decode      reports.Number `json:"decode_term"`
	Request     reports.Number `json:"request_term"`
	Cost        reports.Number `json:"cost"`
	Probability reports.Number `json:"probability"`

	// TTFT and E2E are the request's own in ms, had it been sent here; null where
	// it would not have completed.
	TTFT reports.Number `json:"ttft_ms"`
	E2E  reports.Number `json:"e2e_ms"`
	// MeanTTFT and MeanE2E are the means over all requests of that run in ms.
	MeanTTFT reports.Number `json:"mean_ttft_ms"`
	MeanE2E  reports.Number `json:"mean_e2e_ms"`
	Moved    int            `json:"requests_moved"` // other requests that went to another worker as a consequence
}

// Decision is one routing decision with all its candidates, by worker.
type Decision struct {
	Row          int            `json:"row"`
	Line         int            `json:"line"` // of the trace file
	RequestID    string         `json:"request_id"`
	AtMS         reports.Number `json:"dispatched_at_ms"`
	InputTokens  int32          `json:"input_tokens"`
	OutputTokens int32          `json:"output_tokens"`
	Worker       int32          `json:"worker"`
	Tied         int32          `json:"tied_workers"`
	RegretBlocks int32          `json:"regret_blocks"` // held by the best worker's engine and not by the chosen one's
	CostRegret   reports.Number `json:"cost_regret"`   // cost above the least
	Candidates   []Candidate    `json:"candidates"`
}

// Base is the run whose decisions are explained, of the trace under the
// configuration.
type Base struct {
	Trace  *workloads.Trace
	Config *sim.Config
	Result *sim.Result

	costs map[int32][]router.Terms // of all kv decisions that were asked for
}

// Check reports the first thing of a configuration under which decisions cannot
// be taken apart: nobody priced the workers, something else than their costs
// chose among them, or a request could not be sent to each of them.
func Check(c *sim.Config) error {
	l := c.Router.Live
	switch {
	case c.Disaggregated():
		return errors.New("found prefill and decode pools, expected one pool of aggregated workers: explain does not take pools apart yet")
	case c.Router.Mode != router.KV:
		return fmt.Errorf("router-mode: found %v, expected kv: no other mode prices its workers", c.Router.Mode)
	case len(c.Faults) > 0:
		return errors.New("faults: found workers that are away for a time, expected none: explain cannot send a request to a worker that is away")
	case l == nil:
		return nil
	case l.Policy != nil:
		return fmt.Errorf("worker-selection-policy: found %s, expected the default policy: explain takes no other apart yet", l.Policy.Name)
	case l.ActiveDecodeBlocksThreshold != nil || l.ActivePrefillTokensThreshold >= 0 || l.ActivePrefillTokensThresholdFrac != nil:
		return errors.New("found thresholds at which a worker counts as busy, expected none: explain cannot send a request to a busy worker")
	case l.AffinityTTLSecs != 0:
		return errors.New("router-session-affinity-ttl-secs: found sessions that stay on their worker, expected none: their worker is not chosen by its cost")
	}
	return nil
}

// Worst returns the rows of the n decisions with the most regret: KV blocks held
// by the best worker's engine and not by the chosen one's; among equals those
// whose cost was furthest above the least, then the earlier ones. Decisions
// without any regret are left out.
func (b *Base) Worst(n int) []int32 {
	rows := slices.Clone(b.Result.Routed)
	regret := func(row int32) (int32, float64) {
		d := &b.Result.Requests[row].Decision
		above := d.Cost - d.MinCost
		if math.IsNaN(above) {
			above = 0
		}
		return d.BestHeld - d.ChosenHeld, above
	}
	rows = slices.DeleteFunc(rows, func(row int32) bool {
		blocks, above := regret(row)
		return blocks <= 0 && above <= 0
	})
	slices.SortStableFunc(rows, func(x, y int32) int {
		xb, xc := regret(x)
		yb, yc := regret(y)
		return cmp.Or(cmp.Compare(yb, xb), cmp.Compare(yc, xc))
	})
	return rows[:min(n, len(rows))]
}

// Decisions explains the decisions of the given rows. Each alternative is a run
// of its own in which only this decision is forced; later ones stay free, under
// the same draws. At most parallel runs go on at once; done, if not nil, is
// told of each that ends, from several goroutines.
func (b *Base) Decisions(ctx context.Context, rows []int32, parallel int, done func()) ([]Decision, error) {
	for _, row := range rows {
		if row < 0 || int(row) >= len(b.Result.Requests) {
			return nil, fmt.Errorf("request: found %d, expected a row from 0 to %d", row, len(b.Result.Requests)-1)
		}
		if b.Result.Requests[row].Order < 0 {
			return nil, fmt.Errorf("request: row %d never reached a worker, expected one that did", row)
		}
	}
	if err := b.keepCosts(ctx, rows); err != nil {
		return nil, err
	}
	list := make([]Decision, len(rows))
	for i, row := range rows {
		list[i] = b.decision(row)
	}
	return list, b.alternatives(ctx, list, parallel, done)
}

// keepCosts runs once more to hear of the costs of the given rows.
func (b *Base) keepCosts(ctx context.Context, rows []int32) error {
	b.costs = map[int32][]router.Terms{}
	if b.Config.Router.Mode != router.KV {
		return nil
	}
	wanted := map[int32]bool{}
	for _, row := range rows {
		wanted[row] = true
	}
	c := *b.Config
	c.Progress = nil
	c.Decided = func(row, _ int32, costs []router.Terms) {
		if wanted[row] {
			b.costs[row] = slices.Clone(costs)
		}
	}
	_, err := sim.Run(ctx, b.Trace, &c)
	return err
}

// decision describes a row and its candidates, without the alternatives' runs.
func (b *Base) decision(row int32) Decision {
	q := &b.Result.Requests[row]
	d := Decision{
		Row: int(row), Line: int(b.Trace.Line(int(row))), RequestID: b.Trace.RequestID(int(row)), AtMS: reports.Number(q.Dispatched),
		InputTokens: q.InputTokens, OutputTokens: b.Trace.OutputTokens(int(row)), Worker: q.Worker, Tied: q.Decision.Tied,
		RegretBlocks: q.Decision.BestHeld - q.Decision.ChosenHeld, CostRegret: reports.Number(q.Decision.Cost - q.Decision.MinCost),
	}
	costs := b.costs[row]
	var shares []float64
	if costs != nil {
		shares = router.Probabilities(costs, b.Config.Router.Temperature)
	}
	nan := reports.Number(math.NaN())
	for w := range int32(b.Config.Ranks()) {
		c := Candidate{Worker: w, Chosen: w == q.Worker, Prefill: nan, Credit: nan, Decode: nan, Request: nan, Cost: nan, Probability: nan}
		if costs != nil {
			t := costs[w]
			c.Overlap = &t.Overlap
			c.Prefill, c.Credit, c.Decode = reports.Number(t.Prefill), reports.Number(t.Credit), reports.Number(t.Decode)
			c.Request, c.Cost, c.Probability = reports.Number(t.Request), reports.Number(t.Cost), reports.Number(shares[w])
		}
		d.Candidates = append(d.Candidates, c)
	}
	return d
}

// alternatives runs every candidate that was not chosen and fills in what came
// of it.
func (b *Base) alternatives(ctx context.Context, list []Decision, parallel int, done func()) error {
	type job struct{ d, w int }
	jobs := make(chan job)
	failed := make(chan error, max(1, parallel))
	var group sync.WaitGroup
	for range max(1, parallel) {
		group.Go(func() {
			for j := range jobs {
				if err := b.alternative(ctx, &list[j.d], j.w); err != nil {
					failed <- err
					for range jobs { // nobody else needs them
					}
					return
				}
				if done != nil {
					done()
				}
			}
		})
	}
	for d := range list {
		for w := range list[d].Candidates {
			jobs <- job{d, w}
		}
	}
	close(jobs)
	group.Wait()
	select {
	case err := <-failed:
		return err
	default:
		return ctx.Err()
	}
}

// alternative fills in one candidate.
func (b *Base) alternative(ctx context.Context, d *Decision, w int) error {
	c := &d.Candidates[w]
	r := b.Result
	if !c.Chosen {
		config := *b.Config
		config.Progress = nil
		config.Force = make([]int32, len(b.Result.Requests))
		for i := range config.Force {
			config.Force[i] = -1
		}
		config.Force[d.Row] = int32(w)
		var err error
		if r, err = sim.Run(ctx, b.Trace, &config); err != nil {
			return fmt.Errorf("row %d on worker %d: %w", d.Row, w, err)
		}
		for i := range r.Requests {
			if i != d.Row && r.Requests[i].Worker != b.Result.Requests[i].Worker {
				c.Moved++
			}
		}
	}
	overhead := reports.RequestMSByWorker(b.Config)
	own := latencies(&r.Requests[d.Row], overhead)
	c.TTFT, c.E2E = reports.Number(own.TTFT), reports.Number(own.E2E)
	ttft, e2e, n := 0.0, 0.0, 0.0
	for i := range r.Requests {
		if l := latencies(&r.Requests[i], overhead); !math.IsNaN(l.TTFT) && !math.IsNaN(l.E2E) {
			ttft, e2e, n = ttft+l.TTFT, e2e+l.E2E, n+1
		}
	}
	c.MeanTTFT, c.MeanE2E = reports.Number(ttft/n), reports.Number(e2e/n)
	return nil
}

// latencies of a request, NaN where it did not complete.
func latencies(q *sim.Request, overhead []float64) reports.Latencies {
	if q.Status != sim.Completed {
		nan := math.NaN()
		return reports.Latencies{TTFT: nan, TTST: nan, TPOT: nan, E2E: nan}
	}
	return reports.RequestLatencies(q, overhead[q.Worker])
}
