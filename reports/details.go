package reports

import (
	"encoding/hex"
	"fmt"
	"math"

	"routesim/reports/format"
	"routesim/sim"
	"routesim/sim/metrics"
	"routesim/sim/router"
	"routesim/workloads"
)

// Details are the figures that Dynamo's replay does not report: what the run
// was, how well requests were routed, and what to beware of. They stand under
// "routesim" in JSON.
type Details struct {
	Meta
	Seed            uint64     `json:"seed"`
	RouterMode      string     `json:"router_mode"`
	Loop            string     `json:"loop"` // open or closed
	Workers         int        `json:"workers"`
	PrefillWorkers  int        `json:"prefill_workers,omitempty"` // in disaggregated serving, where workers decode
	Timing          []string   `json:"timing"`                    // by worker group
	Trace           TraceFacts `json:"trace"`
	DecisionDigest  string     `json:"decision_digest"`
	TokenTimeDigest string     `json:"token_time_digest"`
	Rejected        int64      `json:"rejected_requests"`
	Lost            int64      `json:"lost_requests,omitempty"` // with crashed workers
	Cancelled       int64      `json:"cancelled_requests,omitempty"`
	Unfinished      int64      `json:"unfinished_requests"`
	// Cancellations and Crashes say what was lost; nil for nothing.
	Cancellations *Losses `json:"cancellations,omitempty"`
	Crashes       *Losses `json:"crashes,omitempty"`
	Stopped       bool    `json:"stopped_early"`
	Preemptions   int64   `json:"preemptions"`
	Evictions     int64   `json:"evicted_blocks"`
	// HostTier sums up the workers' host tiers; nil where no worker has any.
	HostTier *TierFigures `json:"host_tier,omitempty"`
	// TierSizes says how large the tiers below the devices are.
	TierSizes []TierSize `json:"tier_sizes,omitempty"`
	QueuePeak int        `json:"router_queue_peak_requests"`
	QueueWait StatsMS    `json:"router_queue_wait_ms"`
	Waterfall Waterfall  `json:"waterfall"`
	Regret    Regret     `json:"regret"`
	Imbalance Imbalance  `json:"imbalance"`
	// PrefillImbalance is that of the prefill pool; nil where there is one pool.
	PrefillImbalance *Imbalance `json:"prefill_imbalance,omitempty"`
	// Herding tells how blind the routers of several frontends are to each other;
	// nil where there is one.
	Herding *Herding `json:"herding,omitempty"`
	// Bypass counts the requests that bypassed the prefill workers; nil where none
	// can.
	Bypass *Bypass `json:"conditional_disagg,omitempty"`
	// Profiles has an entry for each worker group that a GPU profile models.
	Profiles []ProfileFacts `json:"profile"`
	Groups   []GroupFigures `json:"groups"` // by worker group
	Warnings []Warning      `json:"warnings"`
}

// Meta is what only the caller knows of a run.
type Meta struct {
	Version string `json:"version"`
	// Config is every setting with its value, in a form that encodes to JSON in
	// one way only: a struct, or a map with text keys.
	Config any `json:"config"`
	// Environment names the environment variables that took effect.
	Environment []string `json:"environment"`
	// Model says of the timing model how good it is: its grade and its error, a
	// phrase per worker group. Empty where nothing is known.
	Model []string `json:"timing_quality"`
	// Semantics says that the router is a live one and why; "" is that of
	// Dynamo's replay.
	Semantics string `json:"router_semantics,omitempty"`
	// Unchecked names, in a sentence, what the routers do by Dynamo's rules
	// without having been compared with it; "" for nothing.
	Unchecked string `json:"not_checked,omitempty"`
	// Taken lists what was taken from the manifests of a deployment. It is long,
	// and no part of tables.
	Taken []string `json:"from_dynamo,omitempty"`
	// Notes are sentences to show with the results.
	Notes []string `json:"notes"`
}

// TraceFacts identify a trace.
type TraceFacts struct {
	Name      string `json:"name"` // set by the caller
	Format    string `json:"format"`
	Rows      int    `json:"rows"`
	Skipped   int    `json:"skipped_rows"`
	BlockSize int32  `json:"block_size"` // tokens per trace block
	Digest    string `json:"digest"`     // set by the caller, see TraceDigest
}

// Herding tells how much the routers of several frontends decide without knowing
// of each other.
type Herding struct {
	Frontends int `json:"frontends"`
	// BlindShare is the share of decisions that chose a worker with requests which
	// their router did not know of; the other two are the numbers of those requests.
	BlindShare Number `json:"blind_share"`
	MeanUnseen Number `json:"unseen_requests_mean"`
	MostUnseen int64  `json:"unseen_requests_max"`
}

func herding(c *sim.Config, r *sim.Result) *Herding {
	h := &r.Herding
	if h.Decisions == 0 {
		return nil
	}
	return &Herding{c.Frontends, Number(share(h.Blind, h.Decisions)), Number(share(h.Unseen, h.Decisions)), h.Most}
}

// Bypass counts the routed requests of disaggregated serving by who computed
// their prompts.
type Bypass struct {
	Remote int64  `json:"remote_prefill_requests"` // a prefill worker
	Local  int64  `json:"local_prefill_requests"`  // the decode worker itself
	Grade  string `json:"grade"`                   // how exact the choice between the two is
}

// bypass counts, where the rules of conditional disaggregation apply.
func bypass(c *sim.Config, r *sim.Result) *Bypass {
	if c.Router.MayBypass() == nil {
		return nil
	}
	b := Bypass{Grade: "modelled, not checked"}
	for _, row := range r.Routed {
		if r.Handoffs[row].Local {
			b.Local++
		} else {
			b.Remote++
		}
	}
	return &b
}

// StatsMS are the statistics of a set of durations in ms.
type StatsMS struct {
	N      int64  `json:"samples"`
	Mean   Number `json:"mean"`
	Median Number `json:"median"`
	P90    Number `json:"p90"`
	P95    Number `json:"p95"`
	P99    Number `json:"p99"`
	Max    Number `json:"max"`
}

func statsMS(s metrics.Stats) StatsMS {
	return StatsMS{s.N, Number(s.Mean), Number(s.Median), Number(s.P90), Number(s.P95), Number(s.P99), Number(s.Max)}
}

// Waterfall follows the reusable part of the prompts from what is possible to
// what was served. Each figure is a share of the input tokens of the completed
// requests; NaN when there are none.
type Waterfall struct {
	// Ceiling is what one endless cache, passed in arrival order, would hold.
	Ceiling Number `json:"ceiling"`
	// Best is the most that any worker's engine held at the decision.
	Best Number `json:"best_available"`
	// Chosen is what the chosen worker's engine held at the decision.
	Chosen Number `json:"chosen"`
	// Delivered is what was reused at first admission.
	Delivered Number `json:"delivered"`
	// Believed is what the router expected to be reused; NaN in round-robin
	// mode.
	Believed Number `json:"router_believed"`
}

// Regret is what the choices of all routed requests fell short of.
type Regret struct {
	// Decisions is the number of routed requests.
	Decisions int64 `json:"decisions"`
	// MeanBlocks and MaxBlocks are KV blocks held by the best worker but not by
	// the chosen one.
	MeanBlocks Number `json:"mean_blocks"`
	MaxBlocks  Number `json:"max_blocks"`
	// WorseShare is the share of decisions in which another worker held more.
	WorseShare Number `json:"share_with_better_worker"`
	// MeanCost and MaxCost are cost above the least of any worker; above 0 with
	// a temperature or with given workers. NaN in round-robin mode.
	MeanCost Number `json:"mean_cost"`
	MaxCost  Number `json:"max_cost"`
	// TiedShare is the share of decisions with more than one worker of least
	// cost. NaN in round-robin mode.
	TiedShare Number `json:"tied_decision_share"`
}

// Imbalance tells how unevenly the workers were used.
type Imbalance struct {
	// BusyMaxOverMean is the busiest worker's busy time over the mean.
	BusyMaxOverMean Number `json:"busy_max_over_mean"`
	// TokensCV is the coefficient of variation (population) over workers of the
	// prompt tokens sent to and the tokens generated by each.
	TokensCV Number `json:"tokens_cv"`
	// Busiest and Idlest are the workers with the most and the least busy time,
	// the first of several, and their shares of all busy time.
	Busiest      int    `json:"busiest_worker"`
	BusiestShare Number `json:"busiest_share"`
	Idlest       int    `json:"idlest_worker"`
	IdlestShare  Number `json:"idlest_share"`
	// PeakKVUsage is the most of its block pool that any worker used, and
	// PeakKVWorker the first that did.
	PeakKVUsage  Number `json:"peak_kv_usage"`
	PeakKVWorker int    `json:"peak_kv_worker"`
}

func details(t *workloads.Trace, c *sim.Config, r *sim.Result, s *Summary) Details {
	decisions := DecisionDigest(r)
	d := Details{
		Meta:     Meta{Environment: []string{}, Model: []string{}, Notes: []string{}},
		Profiles: []ProfileFacts{}, Groups: groupFigures(c, r, s),
		Seed: c.Seed, RouterMode: c.Router.Mode.String(), Loop: "open", Workers: c.Workers(), PrefillWorkers: c.PrefillWorkers(),
		Trace:           TraceFacts{Format: t.Format(), Rows: t.Len(), Skipped: len(t.Skipped()), BlockSize: t.BlockSize()},
		DecisionDigest:  hex.EncodeToString(decisions[:]),
		TokenTimeDigest: hex.EncodeToString(r.TokenDigest[:]),
		Stopped:         r.Stopped, QueuePeak: r.QueuePeak,
		Waterfall: waterfall(c, r, s), Regret: regret(c, r), Imbalance: imbalance(c.Fleet, r.Workers),
	}
	d.Herding = herding(c, r)
	if c.Disaggregated() {
		pool := imbalance(c.Prefill, r.Prefill)
		d.PrefillImbalance = &pool
		d.Bypass = bypass(c, r)
	}
	if c.Concurrency > 0 {
		d.Loop = "closed"
	}
	for _, g := range c.Fleet {
		d.Timing = append(d.Timing, timingName(&g))
	}
	waits := make([]float64, 0, len(r.Routed))
	for _, row := range r.Routed {
		q := &r.Requests[row]
		waits = append(waits, math.Max(q.Dispatched-q.Arrival, 0))
	}
	d.QueueWait = statsMS(metrics.Exact(waits))
	for i := range r.Requests {
		switch q := &r.Requests[i]; {
		case Lost(q):
			d.Lost++
		case q.Status == sim.Rejected, q.Status == sim.Failed:
			d.Rejected++
		case q.Status == sim.Cancelled:
			d.Cancelled++
		}
	}
	d.Cancellations, d.Crashes = cancellations(r), crashes(r)
	d.Unfinished = s.Requests - s.Completed - d.Rejected - d.Lost - d.Cancelled
	for i := range r.Workers {
		d.Preemptions += r.Workers[i].Preemptions
		d.Evictions += r.Workers[i].Evictions
	}
	d.HostTier, d.TierSizes = hostTier(c, r, s), TierSizes(c.Prefill, c.Fleet)
	d.Warnings = warnings(t, c, r, s, &d)
	return d
}

func waterfall(c *sim.Config, r *sim.Result, s *Summary) Waterfall {
	var ceiling, best, chosen, delivered int64
	believed := 0.0
	for i := range r.Requests {
		q := &r.Requests[i]
		if !counted(q) {
			continue
		}
		ceiling += int64(q.Decision.CeilingHeld)
		best += int64(q.Decision.BestHeld)
		chosen += int64(q.Decision.ChosenHeld)
		delivered += int64(q.FirstReused)
		believed += q.Decision.Overlap
	}
	block := int64(c.Fleet[0].Engine.BlockSize)
	w := Waterfall{
		Ceiling:   Number(share(ceiling*block, s.InputTokens)),
		Best:      Number(share(best*block, s.InputTokens)),
		Chosen:    Number(share(chosen*block, s.InputTokens)),
		Delivered: Number(share(delivered, s.InputTokens)),
		Believed:  Number(math.NaN()),
	}
	if c.PromptRouter().Mode == router.KV && s.InputTokens > 0 {
		w.Believed = Number(float64(believed*float64(block)) / float64(s.InputTokens))
	}
	return w
}

func regret(c *sim.Config, r *sim.Result) Regret {
	var blocks, most, worse, tied int64
	cost, mostCost := 0.0, 0.0
	for _, row := range r.Routed {
		d := &r.Requests[row].Decision
		missed := int64(d.BestHeld - d.ChosenHeld)
		blocks += missed
		most = max(most, missed)
		if missed > 0 {
			worse++
		}
		cost += d.Cost - d.MinCost
		mostCost = math.Max(mostCost, d.Cost-d.MinCost)
		if d.Tied > 1 {
			tied++
		}
	}
	n := int64(len(r.Routed))
	nan := Number(math.NaN())
	out := Regret{Decisions: n, MeanBlocks: nan, MaxBlocks: nan, WorseShare: nan, MeanCost: nan, MaxCost: nan, TiedShare: nan}
	if n == 0 {
		return out
	}
	out.MeanBlocks, out.MaxBlocks, out.WorseShare = Number(share(blocks, n)), Number(most), Number(share(worse, n))
	if c.PromptRouter().Mode == router.KV {
		out.MeanCost, out.MaxCost = Number(cost/float64(n)), Number(mostCost)
		out.TiedShare = Number(share(tied, n))
	}
	return out
}

// imbalance is that of the ranks of one pool.
func imbalance(groups []sim.Group, workers []sim.Worker) Imbalance {
	var busy, tokens float64
	nan := Number(math.NaN())
	out := Imbalance{BusyMaxOverMean: nan, TokensCV: nan, BusiestShare: nan, IdlestShare: nan}
	for i := range workers {
		w := &workers[i]
		busy += w.BusyMS
		tokens += float64(w.InputTokens + w.OutputTokens)
		if w.BusyMS > workers[out.Busiest].BusyMS {
			out.Busiest = i
		}
		if w.BusyMS < workers[out.Idlest].BusyMS {
			out.Idlest = i
		}
	}
	n := float64(len(workers))
	if busy > 0 {
		out.BusyMaxOverMean = Number(workers[out.Busiest].BusyMS / (busy / n))
		out.BusiestShare = Number(workers[out.Busiest].BusyMS / busy)
		out.IdlestShare = Number(workers[out.Idlest].BusyMS / busy)
	}
	if tokens > 0 {
		mean, squares := tokens/n, 0.0
		for i := range workers {
			d := float64(workers[i].InputTokens+workers[i].OutputTokens) - mean
			squares += float64(d * d)
		}
		out.TokensCV = Number(math.Sqrt(squares/n) / mean)
	}
	first := 0
	for g := range groups {
		pool := float64(groups[g].Engine.NumGPUBlocks)
		last := min(first+groups[g].Count*groups[g].Ranks(), len(workers))
		for i := first; i < last; i++ {
			if u := Number(float64(workers[i].PeakBlocks) / pool); u > out.PeakKVUsage {
				out.PeakKVUsage, out.PeakKVWorker = u, i
			}
		}
		first = last
	}
	return out
}

// Letter begins the names of a pool's workers: w0, w1, ... where there is one
// pool, else p0, p1, ... for prefill and d0, d1, ... for decode.
func Letter(pool sim.Pool) string {
	return [...]string{sim.Aggregated: "w", sim.PrefillPool: "p", sim.DecodePool: "d"}[pool]
}

// Letter begins the names of the run's workers, of those that decode where
// prefill has a pool of its own.
func (d *Details) Letter() string {
	if d.PrefillWorkers > 0 {
		return Letter(sim.DecodePool)
	}
	return Letter(sim.Aggregated)
}

// WorkersText names the workers of a run in words.
func (d *Details) WorkersText() string {
	text := format.Plural(int64(d.Workers), "worker")
	if d.PrefillWorkers > 0 {
		text = fmt.Sprintf("%d prefill and %d decode workers", d.PrefillWorkers, d.Workers)
	}
	return text
}
