package parity

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"routesim/sim"
	"routesim/sim/router"
	"routesim/workloads"
)

// Names of the comparisons that no recorded field has.
const (
	kindMinCost = "min_cost"      // the recorded worker is one of least cost
	kindOrder   = "routing_order" // requests are routed in the recorded order
	kindSummary = "summary"
	kindMissing = "missing"    // recorded, not reported by us
	kindExtra   = "unexpected" // reported by us, not recorded
)

// summaryTolerance is the relative difference that sums over a run may have:
// the oracle adds some of them in random order.
const summaryTolerance = 1e-12

// comparison gathers what differs.
type comparison struct {
	golden *Golden
	result *sim.Result
	report Report
	fields map[string]func(ours) any
}

// compare holds a result against the recording. mine is our summary by the
// oracle's names.
func (g *Golden) compare(res *sim.Result, mine map[string]any) Report {
	c := &comparison{golden: g, result: res, report: g.emptyReport(), fields: fields()}
	wrong := make([]bool, len(g.records))
	for i, r := range g.records {
		wrong[i] = !c.record(i, r)
	}
	if g.ordered {
		c.order(wrong)
	}
	for _, w := range wrong {
		if w {
			c.report.MismatchedRows++
		}
	}
	c.report.MismatchedRows += c.extras()
	c.summary(mine)
	c.report.finish()
	return c.report
}

// ours gathers what the run says about a trace row.
func (c *comparison) ours(row int32) ours {
	return ours{golden: c.golden, result: c.result, row: int(row), Request: &c.result.Requests[row]}
}

// record compares one request field by field and reports whether all agree.
func (c *comparison) record(i int, r record) bool {
	row := c.golden.rows[i]
	if row == workloads.NoRow {
		c.differ(i, "line", r["line"], nil)
		return false
	}
	o := c.ours(row)
	if o.Status == sim.Unfinished {
		c.differ(i, kindMissing, "an end", o.Status.String())
		return false
	}
	good := true
	for _, name := range slices.Sorted(maps.Keys(r)) {
		if !c.field(i, name, r[name], o) {
			good = false
		}
	}
	return c.minCost(i, o) && good
}

// field compares one recorded value.
func (c *comparison) field(i int, name string, want any, o ours) bool {
	get, known := c.fields[name]
	if !known {
		c.report.Kinds["uncompared "+name]++
		return false
	}
	c.report.Compared[name]++
	got := get(o)
	if same(want, got) {
		return true
	}
	c.differ(i, name, want, got)
	return false
}

// minCost checks that the recorded worker was a possible choice: at
// temperature 0 only workers of exactly the least cost are.
func (c *comparison) minCost(i int, o ours) bool {
	p := &c.golden.settings.config.Router
	if p.Mode != router.KV || p.Temperature != 0 {
		return true
	}
	if o.result.Handoffs == nil {
		return c.least(i, &o.Decision)
	}
	h, good := o.handoff(), true
	if h.PrefillWorker >= 0 {
		good = c.least(i, &o.Decision)
	}
	if h.DecodeWorker >= 0 {
		good = c.least(i, &h.Decode) && good
	}
	return good
}

// least checks one decision of a request.
func (c *comparison) least(i int, d *sim.Decision) bool {
	c.report.Compared[kindMinCost]++
	if d.Cost == d.MinCost {
		return true
	}
	c.differ(i, kindMinCost, d.Cost, d.MinCost)
	return false
}

// order compares the order in which requests were routed.
func (c *comparison) order(wrong []bool) {
	recorded := make(map[int32]bool, len(c.golden.rows))
	for _, row := range c.golden.rows {
		recorded[row] = true
	}
	routed := make([]int32, 0, len(c.golden.rows))
	for _, row := range c.result.Routed {
		if recorded[row] {
			routed = append(routed, row)
		}
	}
	for i, row := range c.golden.rows {
		c.report.Compared[kindOrder]++
		if i < len(routed) && routed[i] == row {
			continue
		}
		wrong[i] = true
		var got any
		if i < len(routed) {
			got = int64(c.golden.trace.Line(int(routed[i])) - 1)
		}
		c.differ(i, kindOrder, c.golden.records[i]["line"], got)
	}
}

// extras counts requests that ended here and are not in the recording.
func (c *comparison) extras() int {
	recorded := make([]bool, len(c.result.Requests))
	for _, row := range c.golden.rows {
		if row != workloads.NoRow {
			recorded[row] = true
		}
	}
	n := 0
	for row := range c.result.Requests {
		if !recorded[row] && c.result.Requests[row].Status != sim.Unfinished {
			n++
			c.report.Kinds[kindExtra]++
			c.report.note(Difference{Line: int(c.golden.trace.Line(row)) - 1, Field: kindExtra, Expected: "no end", Got: c.result.Requests[row].Status.String()})
		}
	}
	return n
}

// wallClock are the summary's figures of the oracle's own speed.
var wallClock = [...]string{"wall_time_ms", "processed_tokens_per_s", "processed_output_tokens_per_s"}

// summary compares the sums over the run.
func (c *comparison) summary(mine map[string]any) {
	figures := map[string]any{}
	flatten("", c.golden.summary, figures)
	for _, name := range slices.Sorted(maps.Keys(figures)) {
		if slices.Contains(wallClock[:], name) {
			continue
		}
		want := figures[name]
		got, known := mine[name]
		if !known {
			c.report.Kinds["uncompared "+kindSummary+"."+name]++
			continue
		}
		c.report.Compared[kindSummary]++
		if !near(want, got) && !c.isNoise(name, want, got) {
			c.report.Kinds[kindSummary+"."+name]++
			c.report.note(Difference{Line: -1, Field: kindSummary + "." + name, Expected: show(want), Got: show(got)})
		}
	}
}

// flatten writes the figures of an object to out, those inside others by their
// paths.
func flatten(path string, from, out map[string]any) {
	for name, v := range from {
		switch inner := v.(type) {
		case map[string]any:
			flatten(path+name+".", inner, out)
		case []any:
			for i, element := range inner {
				flatten(path, map[string]any{fmt.Sprintf("%s.%d", name, i): element}, out)
			}
		default:
			out[path+name] = v
		}
	}
}

// isNoise reports whether a standard deviation is none but for the rounding of
// the values around it, on both sides: all values of the figure are equal then.
func (c *comparison) isNoise(name string, want, got any) bool {
	figure, isStd := strings.CutPrefix(name, "std_")
	w, recorded := number(want)
	g, ours := got.(float64)
	mean, known := number(c.golden.summary["mean_"+figure])
	return isStd && recorded && ours && known && math.Max(w, g) <= summaryTolerance*math.Abs(mean)
}

// near compares two values of a summary. Where nothing was measured the oracle
// writes 0 and we have none.
func near(want, got any) bool {
	if f, ok := got.(float64); ok && math.IsNaN(f) {
		got = nil
	}
	w, isNumber := number(want)
	if !isNumber {
		return want == got
	}
	var g float64
	switch got := got.(type) {
	case float64:
		g = got
	case int64:
		g = float64(got)
	case nil:
		return w == 0
	default:
		return false
	}
	return math.Abs(g-w) <= summaryTolerance*math.Max(math.Abs(g), math.Abs(w))
}

// differ counts a difference and keeps the first ones with their neighbours.
func (c *comparison) differ(i int, field string, want, got any) {
	c.report.Kinds[field]++
	d := Difference{Line: -1, Row: i, Field: field, Expected: show(want), Got: show(got)}
	if row := c.golden.rows[i]; row != workloads.NoRow {
		d.Line = int(c.golden.trace.Line(int(row))) - 1
	}
	if c.report.note(d) {
		last := &c.report.Differences[len(c.report.Differences)-1]
		for k := max(0, i-1); k <= min(i+1, len(c.golden.records)-1); k++ {
			last.Context = append(last.Context, c.describe(k))
		}
	}
}

// describe renders a request as recorded and as ours, for a report.
func (c *comparison) describe(i int) string {
	r, row := c.golden.records[i], c.golden.rows[i]
	var b strings.Builder
	fmt.Fprintf(&b, "request %d:", i)
	if row == workloads.NoRow {
		b.WriteString(" fits no row of the trace")
		return b.String()
	}
	o := c.ours(row)
	for _, name := range slices.Sorted(maps.Keys(r)) {
		get, known := c.fields[name]
		if !known {
			continue
		}
		if got := get(o); same(r[name], got) {
			fmt.Fprintf(&b, " %s=%s", name, show(r[name]))
		} else {
			fmt.Fprintf(&b, " %s=%s(got %s)", name, show(r[name]), show(got))
		}
	}
	return b.String()
}
