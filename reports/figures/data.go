package figures

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"routesim/reports/format"
	"routesim/reports/sweepdata"
	"routesim/reports/verdict"
)

// data is a sweep with what the figures need of it worked out once.
type data struct {
	s       *sweepdata.Sweep
	v       *verdict.Verdict // nil without one
	series  Series
	metrics []sweepdata.Metric
	live    []int          // axes that changed a decision
	byValue map[string]int // point by its values
	means   [][]float64    // by point and metric, NaN for none
}

const nul = "\x00"

func newData(s *sweepdata.Sweep, v *verdict.Verdict, series Series) *data {
	d := &data{s: s, v: v, series: series, metrics: sweepdata.Metrics(), byValue: map[string]int{}}
	for i := range s.Axes {
		if s.Axes[i].Inert == "" && len(s.Axes[i].Values) > 1 {
			d.live = append(d.live, i)
		}
	}
	for i := range s.Points {
		p := &s.Points[i]
		if key := strings.Join(p.Values, nul); i != s.Reference || !p.Added {
			if _, known := d.byValue[key]; !known {
				d.byValue[key] = i
			}
		}
		d.means = append(d.means, d.meansOf(p))
	}
	return d
}

func (d *data) meansOf(p *sweepdata.Point) []float64 {
	out := make([]float64, len(d.metrics))
	for m := range out {
		out[m] = mean(d.values(p, m))
	}
	return out
}

// values returns what the runs of a point measured, without what is absent.
func (d *data) values(p *sweepdata.Point, m int) (out []float64) {
	for i := range p.Runs {
		if m < len(p.Runs[i].Metrics) && finite(p.Runs[i].Metrics[m]) {
			out = append(out, p.Runs[i].Metrics[m])
		}
	}
	return out
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

func mean(values []float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

// points returns how many points ran.
func (d *data) points() (n int) {
	for i := range d.s.Points {
		if len(d.s.Points[i].Runs) > 0 {
			n++
		}
	}
	return n
}

// grid reports whether the points are all combinations of the axes' values.
func (d *data) grid() bool { return d.s.Design == "" || d.s.Design == "grid" }

func (d *data) hasGoodput() bool {
	m := sweepdata.MetricIndex("goodput_share")
	return slices.ContainsFunc(d.means, func(row []float64) bool { return finite(row[m]) })
}

// chosen returns the recommended point, -1 without a verdict.
func (d *data) chosen() int {
	if d.v == nil {
		return -1
	}
	return d.v.Chosen
}

// part is a word for that point.
func (d *data) part() string {
	if d.v == nil {
		return "chosen"
	}
	return d.v.Part()
}

// overloaded reports whether a point's queue grew to the end in any run.
func (d *data) overloaded(point int) bool {
	return slices.ContainsFunc(d.s.Points[point].Runs, func(r sweepdata.Run) bool { return r.Saturated })
}

// base returns the point that another is compared with, -1 for none.
func (d *data) base(point int) int {
	if d.v != nil && point < len(d.v.Points) {
		return d.v.Points[point].Base
	}
	return d.s.Default
}

// change is how a point differs from the one it is compared with: in % or, for
// shares, in percentage points.
type change struct {
	ok     bool
	mean   float64
	shown  bool // the 95 % interval excludes 0
	judged bool // there is an interval
}

func (d *data) change(point, m int) change {
	if d.v != nil && point < len(d.v.Points) && m < len(d.v.Points[point].Diff) {
		if diff := &d.v.Points[point].Diff[m]; diff.OK && (diff.Kind == verdict.Relative || diff.Kind == verdict.Share) {
			return change{true, diff.Mean, diff.Shown, diff.Interval.OK}
		}
	}
	base := d.base(point)
	if base < 0 || !finite(d.means[base][m]) || !finite(d.means[point][m]) {
		return change{}
	}
	if base == point {
		return change{ok: true, judged: true}
	}
	scale := 100 / math.Abs(d.means[base][m])
	if d.metrics[m].Unit == "%" {
		scale = 1
	}
	if !finite(scale) {
		return change{}
	}
	c := change{ok: true, mean: (d.means[point][m] - d.means[base][m]) * scale}
	if i := verdict.Paired(d.paired(point, base, m), 0.95); i.OK {
		c.judged, c.shown = true, i.Lo > 0 || i.Hi < 0
	}
	return c
}

// paired returns the differences of two points, seed by seed.
func (d *data) paired(point, base, m int) (out []float64) {
	for i := range d.s.Points[point].Runs {
		a := &d.s.Points[point].Runs[i]
		for k := range d.s.Points[base].Runs {
			b := &d.s.Points[base].Runs[k]
			if a.Seed == b.Seed && finite(a.Metrics[m]) && finite(b.Metrics[m]) {
				out = append(out, a.Metrics[m]-b.Metrics[m])
			}
		}
	}
	return out
}

// metric returns the place of a metric that is known to exist.
func metric(name string) int { return max(0, sweepdata.MetricIndex(name)) }

// unit returns the unit in which a metric is written, and how many of the
// metric's own it has: latencies are in s where the default's p99 reaches 1 s.
func (d *data) unit(m int) (string, float64) {
	own := d.metrics[m]
	if own.Unit != "ms" || own.Family == "itl" || own.Family == "tpot" {
		return own.Unit, 1
	}
	of := metric("p99_" + own.Family + "_ms")
	if own.Name != "p99_"+own.Family+"_ms" && sweepdata.MetricIndex("p99_"+own.Family+"_ms") < 0 {
		of = m
	}
	ref := d.s.Default
	if ref < 0 || !finite(d.means[ref][of]) {
		ref = d.firstRun()
	}
	if ref >= 0 && d.means[ref][of] >= 1000 {
		return "s", 1000
	}
	return "ms", 1
}

func (d *data) firstRun() int {
	return slices.IndexFunc(d.s.Points, func(p sweepdata.Point) bool { return len(p.Runs) > 0 })
}

// title names a metric with its unit, for axes.
func (d *data) title(m int) string {
	if u, _ := d.unit(m); u != "" {
		return d.metrics[m].Title + ", " + u
	}
	return d.metrics[m].Title
}

// write writes a value of a metric with its unit.
func (d *data) write(m int, v float64) string {
	u, per := d.unit(m)
	text := d.bare(m, v/per)
	if u != "" && text != format.Missing {
		text += " " + u
	}
	return text
}

// bare writes a value that is in the unit to be written.
func (d *data) bare(m int, v float64) string {
	switch own := &d.metrics[m]; {
	case own.Success():
		return fine(format.Success(v))
	case own.Unit == "%":
		return fine(format.Fixed(v, 1))
	case strings.HasPrefix(own.Name, "imbalance"):
		return fine(format.Fixed(v, 2))
	}
	return fine(format.Sig(v))
}

// fine writes minus signs that can be seen at small sizes.
func fine(text string) string { return strings.ReplaceAll(text, "-", "\u2212") }

// percent writes a change with its sign.
func percent(v float64, decimals int, unit string) string {
	text := format.Fixed(v, decimals)
	if v > 0 && strings.Trim(text, "0.,") != "" {
		text = "+" + text
	}
	return fine(text) + unit
}

// changeUnit returns the unit of changes of a metric.
func (d *data) changeUnit(m int) string {
	if d.metrics[m].Unit == "%" {
		return " pp"
	}
	return " %"
}

// name names a point by its values of the axes that matter.
func (d *data) name(point int) string {
	switch {
	case point == d.s.Reference:
		return "round robin"
	case point < 0:
		return ""
	}
	var words []string
	for _, a := range d.live {
		words = append(words, d.s.Points[point].Values[a])
	}
	if len(words) == 1 {
		return d.names() + " " + words[0]
	}
	if len(words) == 0 {
		return d.s.Points[point].ID
	}
	return strings.Join(words, " / ")
}

// names says what the parts of a point's name are.
func (d *data) names() string {
	var words []string
	for _, a := range d.live {
		words = append(words, verdict.Short(d.s.Axes[a].Name))
	}
	return strings.Join(words, " / ")
}

// subtitle says what was run.
func (d *data) subtitle() string {
	parts := []string{d.s.Trace.Name, format.Plural(int64(d.s.Trace.Rows), "request")}
	ref := d.s.Default
	if ref < 0 {
		ref = d.firstRun()
	}
	varied := func(a sweepdata.Axis) bool {
		return a.Name == "workers" || a.Name == "prefill-workers" || a.Name == "decode-workers"
	}
	if fixed := !slices.ContainsFunc(d.s.Axes, varied); fixed && d.s.Disaggregated() {
		parts = append(parts, d.s.WorkersText())
	} else if fixed && ref >= 0 && len(d.s.Points[ref].Runs) > 0 {
		parts = append(parts, format.Plural(int64(len(d.s.Points[ref].Runs[0].Workers)), "worker"))
	}
	if model := d.model(); model != "" {
		parts = append(parts, model)
	}
	parts = append(parts, format.Plural(int64(len(d.s.Seeds)), "seed"))
	if d.s.Version != "" {
		parts = append(parts, "routesim "+d.s.Version)
	}
	return strings.Join(parts, ", ")
}

// model names what models the default point's workers, with its grade and its
// error: "" where the sweep varies it, or knows nothing of it.
func (d *data) model() string {
	if slices.ContainsFunc(d.s.Axes, func(a sweepdata.Axis) bool { return a.Name == "profile" || a.Name == "timing" }) {
		return ""
	}
	if len(d.s.Profiles) == 0 {
		timing, _ := d.s.Base["timing"].(string)
		return timing
	}
	if n := len(d.s.Profiles); n > 1 {
		return fmt.Sprintf("%d profiles", n)
	}
	p := &d.s.Profiles[0]
	text := p.ID + ", grade " + p.Grade
	if e := p.HeldOut; e != nil {
		text += fmt.Sprintf(", error TTFT %s %%, TPOT %s %%", format.Fixed(e.TTFT[0], 1), format.Fixed(e.TPOT[0], 1))
		if other := p.OtherRuns(); other != "" {
			text += " (runs of " + other + ")"
		}
	}
	return text
}

// at returns the point that has the values of another, but one of its own on
// some axes; -1 where there is none.
func (d *data) at(like []string, axis, value int, more ...int) int {
	values := slices.Clone(like)
	values[axis] = d.s.Axes[axis].Values[value]
	if len(more) == 2 {
		values[more[0]] = d.s.Axes[more[0]].Values[more[1]]
	}
	if i, ok := d.byValue[strings.Join(values, nul)]; ok {
		return i
	}
	return -1
}

// load reports whether an axis changes the work or the fleet, not a setting of
// the router: its points are not to be compared with one another.
func (d *data) load(axis int) bool { return sweepdata.Loads(d.s.Axes[axis].Name) }

// knobAxes lists the axes that matter and are no load.
func (d *data) knobAxes() (out []int) {
	for _, a := range d.live {
		if !d.load(a) {
			out = append(out, a)
		}
	}
	return out
}

// home reports whether a point has the default's load on all axes but those
// named, or the first that was swept where the default's was not.
func (d *data) home(point int, but ...int) bool {
	values := d.s.Points[point].Values
	for _, a := range d.live {
		axis := &d.s.Axes[a]
		if a >= len(values) || !d.load(a) || slices.Contains(but, a) {
			continue
		}
		at := axis.Base
		if !slices.Contains(axis.Values, at) && len(axis.Values) > 0 {
			at = axis.Values[0]
		}
		if values[a] != at {
			return false
		}
	}
	return true
}

// defaults returns the default's value on every axis. An inert axis whose
// default was not swept takes the first value that was: all are alike.
func (d *data) defaults() []string {
	out := make([]string, len(d.s.Axes))
	for i := range out {
		a := &d.s.Axes[i]
		out[i] = a.Base
		if !slices.Contains(a.Values, a.Base) && (!slices.Contains(d.live, i) || d.load(i)) && len(a.Values) > 0 {
			out[i] = a.Values[0]
		}
	}
	return out
}

// checkPoints refuses points that did not run.
func (d *data) checkPoints(points []int) error {
	for _, p := range points {
		if p < 0 || p >= len(d.s.Points) || len(d.s.Points[p].Runs) == 0 {
			return fmt.Errorf("point %d: found no run of it, expected at least one", p)
		}
	}
	return nil
}
