package gate

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"routesim/reports"
	"routesim/reports/format"
	"routesim/sim"
)

// exact writes a number with all its digits, as costs have few.
func exact(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return format.Missing
	}
	return strconv.FormatFloat(math.Round(v*1e6)/1e6, 'f', -1, 64)
}

// change writes how a metric moved: in percent of what it was, or in its unit
// where the tolerance is in it.
func (r *Row) change() string {
	if math.IsNaN(r.Change) {
		return format.Missing
	}
	return r.amount(r.Change)
}

// interval writes the bounds of the change, "" where there are none.
func (r *Row) interval() string {
	if math.IsNaN(r.Lo) || r.Lo == r.Hi {
		return ""
	}
	return r.amount(r.Lo) + " to " + r.amount(r.Hi)
}

// amount writes a difference of the metric. Shares in percent differ by points.
func (r *Row) amount(d float64) string {
	if r.Tolerance.Relative && r.Before != 0 && r.Unit != "%" {
		return signed(d/math.Abs(r.Before)*100, 2) + " %"
	}
	text := format.Sig(d)
	if d > 0 {
		text = "+" + text
	}
	if u := unitOf(r.Unit); u != "" {
		text += " " + u
	}
	return text
}

// signed writes a number with its sign and at most the given decimals.
func signed(v float64, decimals int) string {
	text := format.Fixed(v, decimals)
	if strings.Trim(text, "-0.,") == "" {
		return "0"
	}
	if v > 0 {
		text = "+" + text
	}
	return text
}

// value writes a figure with its unit.
func value(v float64, unit string) string {
	text := format.Sig(v)
	if unit != "" && text != format.Missing {
		text += " " + unit
	}
	return text
}

// text writes a bound: at most 4,000 ms.
func (b *BoundRow) text() string {
	if math.IsNaN(b.Bound.AtMost) {
		return "at least " + value(b.Bound.AtLeast, b.Unit)
	}
	return "at most " + value(b.Bound.AtMost, b.Unit)
}

// state says whether the bound is kept.
func (b *BoundRow) state() string {
	switch b.State {
	case Worse:
		return "missed"
	case NoFigure:
		return "none"
	}
	return "kept"
}

// seedsText says in how many seeds decisions differ.
func (r *Result) seedsText() string {
	switch n := len(r.ChangedSeeds); {
	case n == 0:
		return ""
	case len(r.Seeds) == 1:
		return "Decisions differ."
	case n == len(r.Seeds):
		return fmt.Sprintf("Decisions differ in all %d seeds.", n)
	default:
		return fmt.Sprintf("Decisions differ in %d of %d seeds.", n, len(r.Seeds))
	}
}

// text tells where the decisions part.
func (d *Divergence) text() string {
	row := d.RowAfter
	if row < 0 {
		row = d.RowBefore
	}
	text := fmt.Sprintf("First different decision: request %d (decision %d, seed %d)", row, d.Decision, d.Seed)
	if d.RowBefore == d.RowAfter {
		text += ", " + d.workers()
	}
	text += ". " + d.Why
	if d.FirstCost > 0 {
		text += fmt.Sprintf(" Costs differ from decision %d (request %d) on.", d.FirstCost, d.FirstCostRow)
	}
	return text
}

// prefillLetter begins the names of prefill workers.
var prefillLetter = reports.Letter(sim.PrefillPool)

// workerName names a worker, or says that there is none.
func workerName(letter string, worker int32) string {
	if worker < 0 {
		return "none"
	}
	return letter + strconv.Itoa(int(worker))
}

// workers names the worker of each stage that differs, that of the first stage
// where none does.
func (d *Divergence) workers() string {
	stage := func(letter string, before, now int32) string {
		return fmt.Sprintf("%s before, %s now", workerName(letter, before), workerName(letter, now))
	}
	prefill, decode := stage(prefillLetter, d.PrefillBefore, d.PrefillAfter), stage(d.letter, d.WorkerBefore, d.WorkerAfter)
	switch moved := d.PrefillBefore != d.PrefillAfter; {
	case moved && d.WorkerBefore != d.WorkerAfter:
		return prefill + "; " + decode
	case moved, d.PrefillBefore >= 0 && d.WorkerBefore == d.WorkerAfter:
		return prefill
	}
	return decode
}

// text tells how many requests moved and what that did to them.
func (m *Moved) text() string {
	text := fmt.Sprintf("%s of %s went to another worker", format.Count(int64(len(m.Requests))), format.Plural(int64(m.Total), "request"))
	if m.Pools {
		text += fmt.Sprintf(", %s for prefill and %s for decode", format.Count(int64(m.Prefill)), format.Count(int64(m.Decode)))
	}
	if !math.IsNaN(m.MovedBefore) {
		text += fmt.Sprintf(": mean TTFT of those %s -> %s", format.Duration(m.MovedBefore), format.Duration(m.MovedAfter))
		if !math.IsNaN(m.OtherBefore) {
			text += fmt.Sprintf(", of the others %s -> %s", format.Duration(m.OtherBefore), format.Duration(m.OtherAfter))
		}
	}
	return text + fmt.Sprintf(" (seed %d).", m.Seed)
}

// text names a request that moved.
func (q *MovedRequest) text(letter string) string {
	text := strconv.Itoa(int(q.Row))
	if q.PrefillBefore != q.PrefillAfter {
		text += fmt.Sprintf(" %s -> %s", workerName(prefillLetter, q.PrefillBefore), workerName(prefillLetter, q.PrefillAfter))
	}
	if q.WorkerBefore != q.WorkerAfter {
		text += fmt.Sprintf(" %s -> %s", workerName(letter, q.WorkerBefore), workerName(letter, q.WorkerAfter))
	}
	if !math.IsNaN(q.TTFTBefore) && !math.IsNaN(q.TTFTAfter) {
		text += fmt.Sprintf(" (TTFT %s -> %s)", format.Duration(q.TTFTBefore), format.Duration(q.TTFTAfter))
	}
	return text
}

// mostMoved is how many requests that moved are named where people read.
const mostMoved = 10

// cells are the rows of a cost table for people: worker, terms and cost on both
// sides, and a mark for the chosen one.
func (d *Divergence) cells() [][]string {
	n := max(len(d.CostsBefore), len(d.CostsAfter))
	var out [][]string
	for w := range n {
		row := []string{fmt.Sprintf("%s%d", d.letter, w)}
		for _, side := range []struct {
			costs  int
			chosen int32
		}{{0, d.WorkerBefore}, {1, d.WorkerAfter}} {
			table := d.CostsBefore
			if side.costs == 1 {
				table = d.CostsAfter
			}
			if w >= len(table) {
				row = append(row, format.Missing, format.Missing, format.Missing, format.Missing, format.Missing, "")
				continue
			}
			t, mark := &table[w], ""
			if int32(w) == side.chosen {
				mark = "*"
			}
			row = append(row, exact(t.Prefill), exact(t.Credit), exact(t.Decode), exact(t.Request), exact(t.Cost), mark)
		}
		out = append(out, row)
	}
	return out
}
