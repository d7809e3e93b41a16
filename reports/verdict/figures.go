package verdict

import (
	"math"

	"routesim/reports/sweepdata"
)

// figures are what is known of one point against the default. Sentences and the
// strip beside them take their numbers from here.
type figures struct {
	point       int
	knobs       string
	base, value []float64 // means by metric
	diff        []Diff    // by metric
}

// of returns the figures of a point on the seeds of the sweep.
func (j *judge) of(p int) *figures {
	q := &j.v.Points[p]
	f := &figures{point: p, knobs: q.Knobs, value: q.Mean, base: q.Mean, diff: q.Diff}
	if q.Base >= 0 {
		f.base = j.v.Points[q.Base].Mean
	}
	return f
}

// stripMetrics are the rows of the strip beside the verdict.
func stripMetrics() []string {
	return []string{"p50_ttft_ms", "p90_ttft_ms", "p99_ttft_ms", "p90_itl_ms", "p90_e2e_ms", "goodput_share", "reuse_share", "imbalance_busy"}
}

// strip lists default against chosen, the objective first where it is none of
// the usual rows. Metrics without a value have no row.
func (j *judge) strip(f *figures) (rows []Delta) {
	var order []int
	usual := false
	for _, name := range stripMetrics() {
		m := j.d.byName[name]
		order = append(order, m)
		usual = usual || m == j.v.Objective
	}
	if !usual {
		order = append([]int{j.v.Objective}, order...)
	}
	for _, m := range order {
		if math.IsNaN(f.base[m]) || math.IsNaN(f.value[m]) {
			continue
		}
		unit := j.metrics[m].Unit
		rows = append(rows, Delta{
			Metric: m, Title: j.metrics[m].Title, Base: f.base[m], Value: f.value[m],
			Unit: j.u.unit(m), BaseText: j.u.bare(m, f.base[m]), ValueText: j.u.bare(m, f.value[m]),
			Diff: f.diff[m], Text: f.diff[m].Text(unit), Range: f.diff[m].Range(unit),
		})
	}
	return rows
}

// outcomes count what became of the requests.
func (j *judge) outcomes() (rows []Outcome) {
	for _, row := range []struct {
		point int
		name  string
	}{{j.v.Reference, "round robin"}, {j.v.Default, "default"}, {j.v.Chosen, j.v.Part()}} {
		if row.point < 0 || j.x[row.point] == nil || row.name == j.v.Part() && row.point == j.v.Default {
			continue
		}
		mean := j.v.Points[row.point].Mean
		at := func(name string) float64 { return mean[j.d.byName[name]] }
		rows = append(rows, Outcome{
			Point: row.point, Name: row.name, Completed: at("completed"), Rejected: at("rejected"), Lost: at("lost"), Cancelled: at("cancelled"),
			Unfinished: at("unfinished"), Preempted: at("preemptions"), OutputRate: at("output_rate_tps"),
		})
	}
	return rows
}

// guards are the metrics that a good choice must not make much worse.
func guards() []string {
	return []string{"p90_ttft_ms", "p90_itl_ms", "p90_e2e_ms", "output_rate_tps"}
}

// costShare is the part of the smallest effect worth a change from which on a
// loss is named.
const costShare = 0.5

// costs are the metrics in which a point is shown to be worse by enough to be
// named: guards first, then reuse and balance, then the others.
func (j *judge) costs(f *figures) (list []int) {
	seen := make([]bool, len(j.metrics))
	add := func(m int) {
		d := &f.diff[m]
		large := d.Kind == Plain || math.Abs(d.Mean) >= costShare*j.v.Smallest
		if !seen[m] && m != j.v.Objective && d.Better < 0 && large {
			list = append(list, m)
		}
		seen[m] = true
	}
	for _, name := range append(guards(), "reuse_share", "imbalance_busy") {
		add(j.d.byName[name])
	}
	for m := range j.metrics {
		add(m)
	}
	return list
}

// family is what an objective is called in a headline: TTFT, ITL, goodput.
func family(m *sweepdata.Metric) string {
	switch m.Family {
	case "ttft":
		return "TTFT"
	case "itl":
		return "ITL"
	case "tpot":
		return "TPOT"
	case "e2e":
		return "E2E"
	case "goodput":
		return "goodput"
	}
	return m.Title
}

// moves is the verb for a change of a metric.
func moves(d *Diff) string {
	if d.Mean < 0 {
		return "falls"
	}
	return "rises"
}

// baseNumber returns a setting of the default point as a number, NaN where it is
// none.
func baseNumber(s *sweepdata.Sweep, name string) float64 {
	switch v := s.Base[name].(type) {
	case int:
		return float64(v)
	case int64:
		return float64(v)
	case uint64:
		return float64(v)
	case float64:
		return v
	case string:
		return numberOf(v)
	}
	return math.NaN()
}
