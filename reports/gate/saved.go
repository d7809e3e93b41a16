package gate

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"routesim/reports"
	"routesim/reports/format"
	"routesim/reports/sweepdata"
	"routesim/sim/router"
)

// Saved is a side of a comparison of results that were kept: a scenario per run
// or per point of a sweep.
type Saved struct {
	Name     string   // what to call the side
	Version  string   // of the program that made it
	Axes     []string // settings that a sweep varied, nil for a run
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
// default tolerance. Points that only one of two sweeps has are left out.
func JudgeSaved(a, b *Saved) *Report {
	options := Options{Before: a.Name, After: b.Name}
	if !slices.Equal(slices.Sorted(slices.Values(a.Axes)), slices.Sorted(slices.Values(b.Axes))) {
		return unlikeSides(a, b, fmt.Sprintf("%s varies %s and %s varies %s; points are compared that have the same values of the same settings.",
			a.Name, varied(a.Axes), b.Name, varied(b.Axes)))
	}
	p := suiteParser{metrics: sweepdata.Metrics()}
	s, base := &Suite{}, &Baseline{Version: a.Version, Outcomes: a.Outcomes}
	var now []Outcome
	for i := range b.Outcomes {
		o := &b.Outcomes[i]
		if !a.has(o.Name) {
			continue
		}
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
	if len(now) == 0 {
		return unlikeSides(a, b, fmt.Sprintf("no point of %s has the values of a point of %s.", b.Name, a.Name))
	}
	options.Partial = true
	r := Judge(s, base, now, b.Version, options)
	if text := alike(r.Scenarios); text != "" {
		return unlikeSides(a, b, text)
	}
	for _, side := range [2][2]*Saved{{a, b}, {b, a}} {
		left := 0
		for i := range side[0].Outcomes {
			if !side[1].has(side[0].Outcomes[i].Name) {
				left++
			}
		}
		if left > 0 {
			r.Notes = append(r.Notes, fmt.Sprintf("Left out: %s of %s that %s does not have.", format.Plural(int64(left), "point"), side[0].Name, side[1].Name))
		}
	}
	return r
}

// unlikeSides is the report on two sides that have nothing in common to compare.
func unlikeSides(a, b *Saved, why string) *Report {
	r := Missing(&Suite{}, "There is nothing to compare: "+why, b.Version, Options{})
	r.Before, r.After, r.VersionBefore = a.Name, b.Name, a.Version
	return r
}

// has reports whether the side has an outcome of a name.
func (s *Saved) has(name string) bool {
	return slices.ContainsFunc(s.Outcomes, func(o Outcome) bool { return o.Name == name })
}

// varied names the settings of a sweep.
func varied(axes []string) string {
	if len(axes) == 0 {
		return "nothing"
	}
	return strings.Join(axes, ", ")
}

// alike is what keeps each of several scenarios from being compared, "" where
// that is not the same for all.
func alike(list []Result) string {
	for i := range list {
		if list[i].Verdict != Invalid || !slices.Equal(list[i].Problems, list[0].Problems) {
			return ""
		}
	}
	if len(list) < 2 {
		return ""
	}
	return strings.Join(list[0].Problems, " ")
}

// Requests are the columns of a saved table of requests, by row. Absent values
// are NaN.
type Requests struct {
	Order, Worker, PrefillWorker, TTFT, TPOT, E2E, Overlap []float64

	Prefill, Credit, Decode, Request, Cost []float64 // of the chosen worker, in KV blocks
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
		Load: d.Loop + " loop", Settings: settingsOf(config), Semantics: d.Semantics, Unchecked: d.Unchecked,
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
	run.Record = q.record(o.pooled())
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

// record orders the decisions of a saved table. pooled says that prefill has a
// pool of its own.
func (q *Requests) record(pooled bool) *Record {
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
		r.Workers = append(r.Workers, workerOf(q.Worker[row]))
		if pooled {
			r.Prefill = append(r.Prefill, workerOf(q.PrefillWorker[row]))
		}
		r.Overlaps = append(r.Overlaps, overlap)
		r.Chosen = append(r.Chosen, router.Terms{Prefill: q.Prefill[row], Credit: q.Credit[row], Decode: q.Decode[row], Request: q.Request[row], Cost: q.Cost[row]})
	}
	r.TTFT, r.TPOT, r.E2E = singles(q.TTFT), singles(q.TPOT), singles(q.E2E)
	return r
}

// workerOf returns the number of a worker, -1 where it is absent.
func workerOf(v float64) int32 {
	if math.IsNaN(v) {
		return -1
	}
	return int32(v)
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
		Load: "as the settings say", Settings: settingsOf(s.Base), Semantics: s.Semantics, Unchecked: s.Unchecked,
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
			Counts: Counts{Requests: o.Trace.Requests, Completed: count(r, "completed"), Rejected: count(r, "rejected"), Lost: count(r, "lost"), Cancelled: count(r, "cancelled"), Unfinished: count(r, "unfinished")},
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
