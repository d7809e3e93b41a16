package accuracy

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"routesim/models/profile"
	"routesim/models/profile/measured"
	"routesim/sim/metrics"
)

// Figures are the three figures of a serving run; NaN is absent.
type Figures struct {
	TTFT, TPOT float64 // ms
	Throughput float64 // output tokens/s
}

// Case is one replayed row: what was measured and what was simulated, in the
// statistics of the measurement.
type Case struct {
	Row       *Row
	Profile   string // id
	Grade     string // of the profile
	Measured  Figures
	Simulated Figures
	// Derived marks a throughput that was not published: on both sides it
	// follows from the concurrency and the latencies.
	Derived bool
	Outcome *Outcome
}

// Dropped is a row that was not replayed.
type Dropped struct {
	Row    *Row
	Reason string
	// Usable marks a row that was meant to be replayed and could not be.
	Usable bool
}

// Report is the outcome of a comparison.
type Report struct {
	Rows    int // in the data
	Cases   []Case
	Dropped []Dropped
}

// Reasons for leaving a row out.
const (
	NotClosedLoop     = "not a closed loop"
	SharedPrompts     = "prompts may share a prefix"
	HardToSimulate    = "not easy to simulate"
	EngineNotModelled = "engine not modelled yet"
	NoProfile         = "no profile shipped"
	OtherStatistic    = "statistic other than mean or median"
)

// unusable returns why a row cannot be replayed at all, "" if it can.
func (r *Row) unusable() string {
	switch {
	case r.Load != "closed loop":
		return NotClosedLoop
	case r.PrefixCacheFree != "yes":
		return SharedPrompts
	case r.EasyToSimulate != "yes":
		return HardToSimulate
	case r.Engine != profile.VLLM:
		return EngineNotModelled
	case r.TTFTStat == measured.OtherStatistic || r.TPOTStat == measured.OtherStatistic:
		return OtherStatistic
	}
	return ""
}

// lookup returns the profile of a row.
func (r *Row) lookup() (*profile.Profile, error) {
	if r.Profile != "" {
		return profile.Lookup(r.Profile)
	}
	parts := []string{r.GPU, r.Engine, r.Model, fmt.Sprintf("tp%d", r.TP)}
	if r.WeightDType != "" {
		parts = append(parts, r.WeightDType)
	}
	if r.KVDType != "" {
		parts = append(parts, "kv-"+r.KVDType)
	}
	return profile.Lookup(strings.Join(parts, "/"))
}

// result is what became of one row.
type result struct {
	c       Case
	dropped *Dropped
	err     error
}

// Compare replays the usable rows, several at a time, and sets the outcomes
// beside the measurements, in the order of the rows. progress is called now
// and then with the number of rows that are done; nil is allowed.
func Compare(ctx context.Context, rows []Row, progress func(done, total int)) (*Report, error) {
	results := make([]result, len(rows))
	var next, done atomic.Int64
	var wait sync.WaitGroup
	var show sync.Mutex
	for range min(runtime.GOMAXPROCS(0), len(rows)) {
		wait.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(rows)) && ctx.Err() == nil; i = next.Add(1) - 1 {
				results[i] = compare(ctx, &rows[i])
				if n := done.Add(1); progress != nil {
					show.Lock()
					progress(int(n), len(rows))
					show.Unlock()
				}
			}
		})
	}
	wait.Wait()
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	r := &Report{Rows: len(rows)}
	for i := range results {
		switch {
		case results[i].err != nil:
			return nil, results[i].err
		case results[i].dropped != nil:
			r.Dropped = append(r.Dropped, *results[i].dropped)
		default:
			r.Cases = append(r.Cases, results[i].c)
		}
	}
	return r, nil
}

// compare replays one row, or says why not.
func compare(ctx context.Context, row *Row) result {
	drop := func(reason string, usable bool) result {
		return result{dropped: &Dropped{row, reason, usable}}
	}
	if reason := row.unusable(); reason != "" {
		return drop(reason, false)
	}
	p, err := row.lookup()
	if err != nil {
		return drop(NoProfile, false)
	}
	if err := row.Check(); err != nil {
		return drop(err.Error(), true)
	}
	o, err := Simulate(ctx, p, &row.Run)
	if err != nil {
		if ctx.Err() != nil {
			return result{err: err}
		}
		return drop(err.Error(), true)
	}
	c := Case{
		Row: row, Profile: p.ID, Grade: p.Grade, Outcome: o,
		Measured:  Figures{row.TTFT, row.TPOT, row.Throughput},
		Simulated: Figures{o.FirstToken(row.TTFTStat), o.PerOutputToken(row.TPOTStat), o.OutputRate},
	}
	if math.IsNaN(row.Throughput) {
		c.Derived = true
		c.Measured.Throughput = row.DerivedThroughput(row.TTFT, row.TPOT)
		c.Simulated.Throughput = row.DerivedThroughput(c.Simulated.TTFT, c.Simulated.TPOT)
	}
	return result{c: c}
}

// Errors are the relative errors of simulated figures, as shares of the
// measured ones.
func (c *Case) Errors() Figures {
	share := func(simulated, measured float64) float64 { return simulated/measured - 1 }
	m, s := &c.Measured, &c.Simulated
	return Figures{share(s.TTFT, m.TTFT), share(s.TPOT, m.TPOT), share(s.Throughput, m.Throughput)}
}

// Error sums up relative errors, as shares: the median and the 90th percentile
// of the absolute ones, and the bias, the median of the signed ones (above 0:
// the simulation yields more). All are NaN without pairs.
type Error struct {
	N                 int
	Median, P90, Bias float64
}

func errorOf(shares []float64) Error {
	var signed, absolute []float64
	for _, s := range shares {
		if !math.IsNaN(s) {
			signed, absolute = append(signed, s), append(absolute, math.Abs(s))
		}
	}
	slices.Sort(signed)
	slices.Sort(absolute)
	return Error{
		len(signed), metrics.Percentile(absolute, 50), metrics.Percentile(absolute, 90), metrics.Percentile(signed, 50),
	}
}

// Group sums up the cases of one GPU and engine, and of one model and
// arithmetic where Model is not "".
type Group struct {
	GPU, Engine, Model     string
	WeightDType            string
	Used                   bool // the rows took part in fitting the calibration
	Rows                   int
	Derived                int // rows whose throughput is derived
	TTFT, TPOT, Throughput Error
}

// Label names the model with the arithmetic of its weights.
func (g *Group) Label() string { return strings.TrimSpace(g.Model + " " + g.WeightDType) }

// Groups sums up the cases by GPU and engine and by GPU, engine, model and
// arithmetic, the rows that the calibration did not see first and apart from the others.
func (r *Report) Groups() []Group {
	type key struct {
		used                        bool
		gpu, engine, model, weights string
	}
	members := map[key][]*Case{}
	for i := range r.Cases {
		c := &r.Cases[i]
		all := key{used: c.Row.Used(), gpu: c.Row.GPU, engine: c.Row.Engine}
		own := all
		own.model, own.weights = c.Row.Model, c.Row.WeightDType
		for _, k := range [...]key{all, own} {
			members[k] = append(members[k], c)
		}
	}
	var groups []Group
	for k, cases := range members {
		groups = append(groups, groupOf(Group{GPU: k.gpu, Engine: k.engine, Model: k.model, WeightDType: k.weights, Used: k.used}, cases))
	}
	slices.SortFunc(groups, func(a, b Group) int {
		return cmp.Or(compareBool(a.Used, b.Used), cmp.Compare(a.GPU, b.GPU), cmp.Compare(a.Engine, b.Engine), cmp.Compare(a.Model, b.Model), cmp.Compare(a.WeightDType, b.WeightDType))
	})
	return groups
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

func groupOf(g Group, cases []*Case) Group {
	var ttft, tpot, rate []float64
	for _, c := range cases {
		e := c.Errors()
		ttft, tpot, rate = append(ttft, e.TTFT), append(tpot, e.TPOT), append(rate, e.Throughput)
		if c.Derived {
			g.Derived++
		}
	}
	g.Rows, g.TTFT, g.TPOT, g.Throughput = len(cases), errorOf(ttft), errorOf(tpot), errorOf(rate)
	return g
}

// Reason counts the rows that were dropped for one reason.
type Reason struct {
	Text string
	Rows int
}

// Reasons counts the dropped rows by reason, the most frequent first.
func (r *Report) Reasons() []Reason {
	counts := map[string]int{}
	for _, d := range r.Dropped {
		text := d.Reason
		if text == EngineNotModelled || text == NoProfile {
			text += " (" + d.Row.Engine + ")"
		}
		counts[text]++
	}
	var reasons []Reason
	for text, n := range counts {
		reasons = append(reasons, Reason{text, n})
	}
	slices.SortFunc(reasons, func(a, b Reason) int { return cmp.Or(-cmp.Compare(a.Rows, b.Rows), cmp.Compare(a.Text, b.Text)) })
	return reasons
}
