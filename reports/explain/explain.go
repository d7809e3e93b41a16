// Package explain takes routing decisions of a run apart: what every worker
// would have cost, how likely it was to be chosen, and, by running the
// alternative, what it would have meant.
package explain

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"routesim/reports"
	"routesim/sim"
	"routesim/sim/router"
	"routesim/workloads"
)

// Candidate is one worker that a request could have been sent to, or one
// data-parallel rank of it.
type Candidate struct {
	Worker int32  `json:"worker"` // rank of the pool, from 0
	Name   string `json:"name"`   // w3, p3 or d3 by its pool, or w1.0 for rank 0 of worker 1
	Chosen bool   `json:"chosen"`
	// Barred says why the router could not choose it, "" where it could.
	Barred string `json:"not_eligible,omitempty"`
	// Dropped names the filter of the policy that left it out, "" for none.
	Dropped string `json:"dropped_by_filter,omitempty"`

	// Terms of the default cost function, null where something else decided.
	// Overlap is the router's belief: leading KV blocks of the prompt cached on the
	// worker.
	Overlap *int32         `json:"overlap_blocks"`
	Prefill reports.Number `json:"prefill_term"`
	Credit  reports.Number `json:"credit_blocks"`
	Decode  reports.Number `json:"decode_term"`
	Request reports.Number `json:"request_term"`
	Cost    reports.Number `json:"cost"`
	// Figures are what else was compared: what a policy read and the costs of its
	// scorers, the loads that a mode knows, the factor of preferred taints.
	Figures     []Figure       `json:"figures,omitempty"`
	Probability reports.Number `json:"probability"` // null where only the policy's picker knows

	// Held is the number of complete prompt blocks that its engine held, null where
	// it could not be chosen.
	Held *int32 `json:"held_blocks"`
	// TTFT, ITL (mean over the request's tokens) and E2E are the request's own in
	// ms, had it been sent here; null where it would not have completed.
	TTFT reports.Number `json:"ttft_ms"`
	ITL  reports.Number `json:"itl_ms"`
	E2E  reports.Number `json:"e2e_ms"`
	// MeanTTFT, MeanITL and MeanE2E are the means over all requests of that run in
	// ms.
	MeanTTFT reports.Number `json:"mean_ttft_ms"`
	MeanITL  reports.Number `json:"mean_itl_ms"`
	MeanE2E  reports.Number `json:"mean_e2e_ms"`
	Moved    int            `json:"requests_moved"` // other requests that went to another worker as a consequence
}

// Figure is one number that a decision was made from.
type Figure struct {
	Name  string         `json:"name"`
	Value reports.Number `json:"value"`
}

// Decision is one routing decision with all its candidates, by worker.
type Decision struct {
	Row          int            `json:"row"`
	Line         int            `json:"line"` // of the trace file
	RequestID    string         `json:"request_id"`
	Stage        Stage          `json:"stage,omitempty"`
	Decider      string         `json:"decided_by"`         // policy default, or another, or the mode
	Frontend     *int           `json:"frontend,omitempty"` // nil where there is one
	ArrivedMS    reports.Number `json:"arrived_at_ms"`      // of the request, at its frontend
	AtMS         reports.Number `json:"dispatched_at_ms"`
	InputTokens  int32          `json:"input_tokens"`
	OutputTokens int32          `json:"output_tokens"`
	Worker       int32          `json:"worker"`            // -1 where the router turned the request away
	Refusal      string         `json:"refusal,omitempty"` // why
	Tied         int32          `json:"tied_workers"`
	RegretBlocks int32          `json:"regret_blocks"` // held by the best worker's engine and not by the chosen one's
	CostRegret   reports.Number `json:"cost_regret"`   // cost above the least
	Candidates   []Candidate    `json:"candidates"`
}

// Stage is the part of disaggregated serving that a decision is about, "" where
// every worker does both.
type Stage string

// The stages.
const (
	Prefill Stage = "prefill"
	Decode  Stage = "decode"
)

// Choice names a decision: that of a stage about a row.
type Choice struct {
	Row  int32
	Pool sim.Pool
}

// Base is the run whose decisions are explained, of the trace under the
// configuration.
type Base struct {
	Trace  *workloads.Trace
	Config *sim.Config
	Result *sim.Result
}

// Of returns the decisions about a row.
func (b *Base) Of(row int32) ([]Choice, error) {
	if row < 0 || int(row) >= len(b.Result.Requests) {
		return nil, fmt.Errorf("request: found %d, expected a row from 0 to %d", row, len(b.Result.Requests)-1)
	}
	if !b.Config.Disaggregated() {
		return []Choice{{row, sim.Aggregated}}, nil
	}
	if b.Result.Handoffs[row].Local {
		return []Choice{{row, sim.DecodePool}}, nil
	}
	return []Choice{{row, sim.PrefillPool}, {row, sim.DecodePool}}, nil
}

// Worst returns the n decisions with the most regret: KV blocks held by the best
// worker's engine and not by the chosen one's; among equals those whose cost was
// furthest above the least, then the earlier ones. Decisions without any regret
// are left out.
func (b *Base) Worst(n int) []Choice {
	type regret struct {
		Choice
		blocks int32
		cost   float64
	}
	var list []regret
	for _, row := range b.Result.Routed {
		of, _ := b.Of(row)
		for _, c := range of {
			if worker(b.Result, row, c.Pool) < 0 {
				continue // this stage was left out
			}
			d := b.kept(c)
			r := regret{c, d.BestHeld - d.ChosenHeld, d.Cost - d.MinCost}
			if math.IsNaN(r.cost) {
				r.cost = 0
			}
			if r.blocks > 0 || r.cost > 0 {
				list = append(list, r)
			}
		}
	}
	slices.SortStableFunc(list, func(x, y regret) int {
		return cmp.Or(cmp.Compare(y.blocks, x.blocks), cmp.Compare(y.cost, x.cost))
	})
	var out []Choice
	for _, r := range list[:min(n, len(list))] {
		out = append(out, r.Choice)
	}
	return out
}

// kept returns what the run kept of a decision.
func (b *Base) kept(c Choice) *sim.Decision { return kept(b.Result, c) }

func kept(r *sim.Result, c Choice) *sim.Decision {
	if c.Pool == sim.DecodePool && !r.Handoffs[c.Row].Local {
		return &r.Handoffs[c.Row].Decode
	}
	return &r.Requests[c.Row].Decision
}

// worker returns where a row was sent in a pool, -1 for nowhere.
func worker(r *sim.Result, row int32, pool sim.Pool) int32 {
	switch pool {
	case sim.PrefillPool:
		return r.Handoffs[row].PrefillWorker
	case sim.DecodePool:
		return r.Handoffs[row].DecodeWorker
	}
	return r.Requests[row].Worker
}

// groups returns the workers of a pool.
func (b *Base) groups(pool sim.Pool) []sim.Group {
	if pool == sim.PrefillPool {
		return b.Config.Prefill
	}
	return b.Config.Fleet
}

// Decisions explains the given decisions. Each alternative is a run of its own
// in which only this decision is forced; later ones stay free, under the same
// draws. At most parallel runs go on at once; begin, if not nil, is told how many
// runs there will be, and done of each that ends, from several goroutines. A
// stage that never decided about a row is left out.
func (b *Base) Decisions(ctx context.Context, wanted []Choice, parallel int, begin func(runs int) (done func())) ([]Decision, error) {
	accounts, err := b.accounts(ctx, wanted)
	if err != nil {
		return nil, err
	}
	list := []Decision{}
	var jobs []job
	for _, c := range wanted {
		a, ok := accounts[c]
		if !ok {
			continue
		}
		for w := range a.Options {
			if a.Options[w].Barred == "" && a.Chosen >= 0 {
				jobs = append(jobs, job{c, len(list), w})
			}
		}
		list = append(list, b.decision(c, &a))
	}
	if len(list) == 0 && len(wanted) > 0 {
		return nil, b.undecided(wanted[0].Row)
	}
	var done func()
	if begin != nil {
		done = begin(len(jobs))
	}
	return list, b.alternatives(ctx, list, jobs, parallel, done)
}

// undecided says why nobody decided about a row.
func (b *Base) undecided(row int32) error {
	q, what := &b.Result.Requests[row], "still waited in its router when the run ended"
	switch {
	case q.Refusal != router.Accepted:
		what = fmt.Sprintf("was turned away (%v) before any worker was considered", q.Refusal)
	case q.Status == sim.Cancelled:
		what = "was cancelled before any worker was considered"
	case math.IsNaN(q.Arrival):
		what = "never arrived"
	}
	return fmt.Errorf("request: row %d %s, expected one that was routed", row, what)
}

// account is what a router told of a decision.
type account struct {
	router.Account
	frontend int
}

// accounts runs once more to hear of the given decisions.
func (b *Base) accounts(ctx context.Context, wanted []Choice) (map[Choice]account, error) {
	heard := map[Choice]account{}
	c := *b.Config
	c.Progress = nil
	c.Account = func(pool sim.Pool, frontend int, a *router.Account) {
		if choice := (Choice{a.Row, pool}); slices.Contains(wanted, choice) {
			heard[choice] = account{*a, frontend}
		}
	}
	_, err := sim.Run(ctx, b.Trace, &c)
	return heard, err
}

// decision describes a decision and its candidates, without the alternatives'
// runs.
func (b *Base) decision(c Choice, a *account) Decision {
	q, kept := &b.Result.Requests[c.Row], b.kept(c)
	d := Decision{
		Row: int(c.Row), Line: int(b.Trace.Line(int(c.Row))), RequestID: b.Trace.RequestID(int(c.Row)), Stage: stage(c.Pool),
		Decider: a.Decider, ArrivedMS: reports.Number(q.Arrival), AtMS: reports.Number(a.AtMS),
		InputTokens: q.InputTokens, OutputTokens: b.Trace.OutputTokens(int(c.Row)), Worker: a.Chosen, Tied: kept.Tied,
		RegretBlocks: kept.BestHeld - kept.ChosenHeld, CostRegret: reports.Number(kept.Cost - kept.MinCost),
	}
	if b.Config.Frontends > 1 {
		d.Frontend = &a.frontend
	}
	if a.Chosen < 0 {
		d.Refusal = a.Refusal.String()
	}
	names := names(reports.Letter(c.Pool), b.groups(c.Pool))
	for w := range a.Options {
		o := &a.Options[w]
		nan := reports.Number(math.NaN())
		x := Candidate{
			Worker: int32(w), Name: names[w], Chosen: int32(w) == a.Chosen, Barred: o.Barred, Dropped: o.Dropped, Probability: reports.Number(o.Chance),
			Prefill: nan, Credit: nan, Decode: nan, Request: nan, Cost: nan,
			TTFT: nan, ITL: nan, E2E: nan, MeanTTFT: nan, MeanITL: nan, MeanE2E: nan,
		}
		if a.Terms != nil {
			t := &a.Terms[w]
			x.Overlap = &t.Overlap
			x.Prefill, x.Credit, x.Decode = reports.Number(t.Prefill), reports.Number(t.Credit), reports.Number(t.Decode)
			x.Request, x.Cost = reports.Number(t.Request), reports.Number(t.Cost)
		}
		for i, v := range o.Values {
			x.Figures = append(x.Figures, Figure{a.Figures[i], reports.Number(v)})
		}
		d.Candidates = append(d.Candidates, x)
	}
	return d
}

func stage(pool sim.Pool) Stage {
	return [...]Stage{sim.Aggregated: "", sim.PrefillPool: Prefill, sim.DecodePool: Decode}[pool]
}

// names returns what the ranks of a pool are called.
func names(letter string, groups []sim.Group) (list []string) {
	several := slices.ContainsFunc(groups, func(g sim.Group) bool { return g.Ranks() > 1 })
	worker := 0
	for i := range groups {
		for range groups[i].Count {
			for rank := range groups[i].Ranks() {
				name := fmt.Sprintf("%s%d", letter, worker)
				if several {
					name += fmt.Sprintf(".%d", rank)
				}
				list = append(list, name)
			}
			worker++
		}
	}
	return list
}
