package gate

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"routesim/reports"
	"routesim/reports/sweepdata"
	"routesim/sim/router"
)

// Saved is a side of a comparison of results that were kept: a scenario per run
// or per point of a sweep.
type Saved struct {
	Name     string // what to call the side
	Version  string // of the program that made it
	Outcomes []Outcome
}

// savedMetrics are compared where no suite says what to look at.
func savedMetrics() []string {
	return []string{
		"mean_ttft_ms", "p50_ttft_ms", "p90_ttft_ms", "p99_ttft_ms", "mean_itl_ms", "p99_itl_ms", "p90_tpot_ms", "p90_e2e_ms",
		"output_rate_tps", "goodput_share", "reuse_share", "regret_blocks", "imbalance_busy",
	}
}

// JudgeSaved compares two sides by their outcomes of equal names, with the
// default tolerance.
func JudgeSaved(a, b *Saved) *Report {
	p := suiteParser{metrics: sweepdata.Metrics()}
	s, base := &Suite{}, &Baseline{Version: a.Version, Outcomes: a.Outcomes}
	var now []Outcome
	for i := range b.Outcomes {
		o := &b.Outcomes[i]
		sc := Scenario{Name: o.Name}
		for j := range o.Runs {
			sc.Seeds = append(sc.Seeds, o.Runs[j].Seed)
		}
		for _, name := range savedMetrics() {
			if at := sweepdata.MetricIndex(name); at >= 0 && !(o.SLA == "" && p.metrics[at].Family == "goodput") {
				c := p.check(at)
				if p.metrics[at].Family == "cache" || p.metrics[at].Family == "load" {
					c.Direction = Info // they explain latencies, and matter through them
				}
				sc.Checks = append(sc.Checks, c)
			}
		}
		s.Scenarios = append(s.Scenarios, sc)
		now = append(now, *o)
	}
	base.Definitions = []Value{{"decisions", decisionsDefinition}}
	for i := range p.metrics {
		base.Definitions = append(base.Definitions, Value{p.metrics[i].Name, definition(&p.metrics[i])})
	}
	return Judge(s, base, now, b.Version, Options{Before: a.Name, After: b.Name})
}

// Requests are the columns of a saved table of requests, by row. Absent values
// are NaN.
type Requests struct {
	Order, Worker, TTFT, TPOT, E2E, Overlap []float64
	Prefill, Credit, Decode, Request, Cost  []float64 // of the chosen worker, in KV blocks
}

// OutcomeOf makes an outcome of a saved run.
func OutcomeOf(s *reports.Summary, q *Requests) (Outcome, error) {
	d := &s.Routesim
	config, ok := d.Config.(map[string]any)
	if !ok {
		return Outcome{}, fmt.Errorf("routesim.config: found no settings, expected those of the run")
	}
	o := Outcome{
		Name: "run", Trace: Trace{Name: d.Trace.Name, Requests: int64(d.Trace.Rows), Digest: d.Trace.Digest},
		Load: d.Loop + " loop", Settings: settingsOf(config),
	}
	var load, sla []string
	for _, v := range o.Settings {
		switch {
		case v.Text == "none":
		case slices.Contains([]string{"arrival-speedup-ratio", "replay-concurrency", "max-sim-time-ms", "request-rate", "arrival-interval-ms"}, v.Name):
			load = append(load, v.Name+" "+v.Text)
		case strings.HasPrefix(v.Name, "sla-"):
			sla = append(sla, v.Name+" "+v.Text)
		}
	}
	o.Load += ", " + strings.Join(load, ", ")
	o.SLA = strings.Join(sla, ", ")
	run := RunOf(s)
	run.Record = q.record()
	o.Runs = []Run{run}
	return o, nil
}

// settingsOf lists settings by name; the seed is none of them.
func settingsOf(config map[string]any) (out []Value) {
	for _, name := range slices.Sorted(maps.Keys(config)) {
		if name == "seed" {
			continue
		}
		text := "none"
		switch v := config[name].(type) {
		case nil:
		case float64:
			text = strconv.FormatFloat(v, 'g', -1, 64)
		default:
			text = fmt.Sprint(v)
		}
		out = append(out, Value{name, text})
	}
	return out
}

// record orders the decisions of a saved table.
func (q *Requests) record() *Record {
	var rows []int32
	for i, at := range q.Order {
		if !math.IsNaN(at) {
			rows = append(rows, int32(i))
		}
	}
	slices.SortStableFunc(rows, func(a, b int32) int {
		switch {
		case q.Order[a] < q.Order[b]:
			return -1
		case q.Order[a] > q.Order[b]:
			return 1
		}
		return 0
	})
	r := &Record{Rows: rows}
	for _, row := range rows {
		overlap := q.Overlap[row]
		if math.IsNaN(overlap) {
			overlap = 0
		}
		r.Workers = append(r.Workers, int32(q.Worker[row]))
		r.Overlaps = append(r.Overlaps, overlap)
		r.Chosen = append(r.Chosen, router.Terms{Prefill: q.Prefill[row], Credit: q.Credit[row], Decode: q.Decode[row], Request: q.Request[row], Cost: q.Cost[row]})
	}
	r.TTFT, r.TPOT, r.E2E = singles(q.TTFT), singles(q.TPOT), singles(q.E2E)
	return r
}

func singles(values []float64) []float32 {
	out := make([]float32, len(values))
	for i, v := range values {
		out[i] = float32(v)
	}
	return out
}

// OutcomesOfSweep makes an outcome of each point that was run with every seed,
// and a note where points were left out.
func OutcomesOfSweep(s *sweepdata.Sweep) (out []Outcome, notes []string, err error) {
	left := 0
	for i := range s.Points {
		p := &s.Points[i]
		if len(p.Runs) == 0 || len(p.Runs) < len(s.Seeds) || p.Error != "" {
			left++
			continue
		}
		o, err := outcomeOfPoint(s, i)
		if err != nil {
			return nil, nil, err
		}
		out = append(out, o)
	}
	if left > 0 {
		notes = append(notes, fmt.Sprintf("%d of %d points have no complete runs and are left out.", left, len(s.Points)))
	}
	return out, notes, nil
}

// pointName names a point by its values.
func pointName(s *sweepdata.Sweep, i int) string {
	var parts []string
	for k, a := range s.Axes {
		if k < len(s.Points[i].Values) {
			parts = append(parts, a.Name+"="+s.Points[i].Values[k])
		}
	}
	if i == s.Reference && s.Points[i].Added {
		parts = append(parts, "round-robin")
	}
	return strings.Join(parts, ",")
}

func outcomeOfPoint(s *sweepdata.Sweep, i int) (Outcome, error) {
	p := &s.Points[i]
	o := Outcome{
		Name: pointName(s, i), Trace: Trace{Name: s.Trace.Name, Requests: int64(s.Trace.Rows), Digest: s.Trace.Digest},
		Load: "as the settings say", Settings: settingsOf(s.Base),
	}
	for _, b := range []struct {
		name string
		ms   float64
	}{{"TTFT", s.SLA.TTFT}, {"ITL", s.SLA.ITL}, {"E2E", s.SLA.E2E}} {
		if b.ms > 0 {
			o.SLA += fmt.Sprintf("%s %v ms ", b.name, b.ms)
		}
	}
	o.SLA = strings.TrimSpace(o.SLA)
	count := func(r *sweepdata.Run, name string) int64 {
		if v := r.Metrics[sweepdata.MetricIndex(name)]; !math.IsNaN(v) {
			return int64(v)
		}
		return 0
	}
	for k := range p.Runs {
		r := &p.Runs[k]
		run := Run{
			Seed: r.Seed, Decisions: r.DecisionDigest, Times: r.TimeDigest, Values: r.Metrics,
			Counts: Counts{Requests: o.Trace.Requests, Completed: count(r, "completed"), Rejected: count(r, "rejected"), Unfinished: count(r, "unfinished")},
		}
		if k == 0 && s.Load != nil {
			l, err := s.Load(i, r.Seed)
			if err != nil {
				return o, err
			}
			run.Record = recordOf(l)
		}
		o.Runs = append(o.Runs, run)
	}
	return o, nil
}

// recordOf keeps of a sweep's run what is known of its decisions: not their
// order.
func recordOf(l *sweepdata.Latencies) *Record {
	r := &Record{Unordered: true, TTFT: l.TTFT, TPOT: l.ITL, E2E: l.E2E}
	for row, w := range l.Worker {
		if w >= 0 {
			r.Rows, r.Workers = append(r.Rows, int32(row)), append(r.Workers, w)
			r.Overlaps = append(r.Overlaps, float64(l.Predicted[row]))
		}
	}
	return r
}
