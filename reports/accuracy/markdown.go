package accuracy

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"routesim/reports/format"
)

// WriteMarkdown writes the summary as Markdown tables, for documents.
func (r *Report) WriteMarkdown(w io.Writer) error {
	var b strings.Builder
	b.WriteString("# Simulated against measured serving runs\n\n")
	fmt.Fprintf(&b, "%s, %s replayed as closed loops on one worker, %s left out.\n", format.Plural(int64(r.Rows), "row"),
		format.Count(int64(len(r.Cases))), format.Count(int64(len(r.Dropped))))
	b.WriteString("Each cell is the median of the absolute error, its 90th percentile and the bias (the median of the\n" +
		"signed error, above 0 where the simulation is slower or yields more), in percent.\n")
	groups := r.Groups()
	for _, s := range sections() {
		fmt.Fprintf(&b, "\n## Rows %s\n\n", s.title)
		writeGroups(&b, groups, s.used)
	}
	b.WriteString("\nA rate marked * is derived on both sides: concurrency x OSL / (TTFT + (OSL - 1) x TPOT).\n")
	if len(r.Dropped) > 0 {
		b.WriteString("\n## Left out\n\n| rows | reason |\n|---:|---|\n")
		for _, reason := range r.Reasons() {
			fmt.Fprintf(&b, "| %d | %s |\n", reason.Rows, reason.Text)
		}
	}
	r.writeWorst(&b)
	_, err := io.WriteString(w, b.String())
	return err
}

func writeGroups(b *strings.Builder, groups []Group, used bool) {
	b.WriteString("| GPU, engine | model | rows | TTFT | TPOT | output tokens/s |\n|---|---|---:|---:|---:|---:|\n")
	for i := range groups {
		g := &groups[i]
		if g.Used != used {
			continue
		}
		name, model := "**"+g.GPU+" "+g.Engine+"**", "all"
		if g.Model != "" {
			name, model = "", g.Label()
		}
		mark := ""
		if g.Derived > 0 {
			mark = "*"
		}
		fmt.Fprintf(b, "| %s | %s | %d | %s | %s | %s%s |\n", name, model, g.Rows, slashed(&g.TTFT), slashed(&g.TPOT), slashed(&g.Throughput), mark)
	}
}

func slashed(e *Error) string { return strings.Join(strings.Fields(cells(e)), " / ") }

// worstRows is how many rows with the largest errors are named.
const worstRows = 12

// writeWorst names the rows that are reproduced worst.
func (r *Report) writeWorst(b *strings.Builder) {
	if len(r.Cases) == 0 {
		return
	}
	order := make([]*Case, len(r.Cases))
	for i := range order {
		order[i] = &r.Cases[i]
	}
	slices.SortStableFunc(order, func(a, b *Case) int { return -cmp.Compare(a.Errors().largest(), b.Errors().largest()) })
	fmt.Fprintf(b, "\n## The %d rows with the largest error\n\n", min(worstRows, len(order)))
	b.WriteString("| row | profile | ISL/OSL | concurrency | TTFT ms: measured, simulated | TPOT ms: measured, simulated | preemptions |\n|---|---|---|---:|---|---|---:|\n")
	for _, c := range order[:min(worstRows, len(order))] {
		e := c.Errors()
		fmt.Fprintf(b, "| %s | %s | %d/%d | %d | %s, %s (%s %%) | %s, %s (%s %%) | %s |\n", c.Row.Name, c.Profile, c.Row.ISL, c.Row.OSL, c.Row.Concurrency,
			format.Sig(c.Measured.TTFT), format.Sig(c.Simulated.TTFT), strings.TrimSpace(signedPercent(e.TTFT)),
			format.Sig(c.Measured.TPOT), format.Sig(c.Simulated.TPOT), strings.TrimSpace(signedPercent(e.TPOT)), format.Count(c.Outcome.Preemptions))
	}
}

// largest is the largest absolute error of the three.
func (f Figures) largest() float64 {
	most := 0.0
	for _, v := range [...]float64{f.TTFT, f.TPOT, f.Throughput} {
		if a := math.Abs(v); a > most {
			most = a
		}
	}
	return most
}
