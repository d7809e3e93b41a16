package table

import (
	"fmt"
	"io"
	"math"
	"strings"
	"unicode/utf8"

	"routesim/reports"
	"routesim/reports/explain"
	"routesim/reports/format"
)

// Explain writes decisions as tables: a line per worker that could have been
// chosen, with what was compared and what the alternative would have meant.
func Explain(w io.Writer, list []explain.Decision, o Options) error {
	p := page{o: o}
	if len(list) == 0 {
		p.line("No decision had any regret: the chosen worker always held the most of the prompt, at the least cost.")
	}
	for i := range list {
		if i > 0 {
			p.line("")
		}
		p.decision(&list[i])
	}
	p.legend(list)
	_, err := io.WriteString(w, p.String())
	return err
}

// legend says once what the columns are.
func (p *page) legend(list []explain.Decision) {
	priced, followed := false, false
	for i := range list {
		priced = priced || list[i].Candidates[0].Overlap != nil
		followed = followed || list[i].Worker >= 0
	}
	if priced || followed {
		p.line("")
	}
	if priced {
		p.entry("cost", "= prefill (after its credit) + decode + request, in KV blocks as all of these are (preferred taints scale it); the least is chosen, at a temperature the likeliest.")
	}
	if followed {
		p.entry("moved", "other requests that went to another worker as a consequence. The means are of all requests; where many moved they tell as much of luck as of this choice: other seeds differ as much.")
	}
}

func (p *page) decision(d *explain.Decision) {
	name := ""
	if d.RequestID != "" {
		name = " " + p.printable(d.RequestID)
	}
	to := "turned away"
	if d.Worker >= 0 {
		to = d.Candidates[d.Worker].Name
	}
	if d.Stage != "" {
		to = string(d.Stage) + " " + to
	}
	p.line(p.styled(bold, fmt.Sprintf("request %d%s (line %d): %s prompt tokens, %s output tokens -> %s at %s ms",
		d.Row, name, d.Line, format.Count(int64(d.InputTokens)), format.Count(int64(d.OutputTokens)), to, format.Fixed(float64(d.AtMS), 3))))
	p.line(howGood(d))
	p.line("")
	p.compared(d)
	if d.Worker < 0 {
		return
	}
	p.line("")
	p.consequences(d)
}

// compared writes what was compared, a line per worker.
func (p *page) compared(d *explain.Decision) {
	heads := []string{"worker"}
	priced := d.Candidates[0].Overlap != nil
	if priced {
		heads = append(heads, "overlap", "prefill", "credit", "decode", "request")
	}
	for _, f := range d.Candidates[0].Figures {
		heads = append(heads, p.printable(f.Name))
	}
	if priced {
		heads = append(heads, "cost")
	}
	rows := [][]string{append(heads, "chance")}
	for i := range d.Candidates {
		c := &d.Candidates[i]
		row := []string{c.Name}
		if priced {
			row = append(row, fmt.Sprint(*c.Overlap), blocks(c.Prefill), blocks(c.Credit), blocks(c.Decode), blocks(c.Request))
		}
		for _, f := range c.Figures {
			row = append(row, amount(f.Value))
		}
		if priced {
			row = append(row, blocks(c.Cost))
		}
		rows = append(rows, append(row, chance(c.Probability)))
	}
	for i, line := range columns(rows) {
		if i > 0 {
			c := &d.Candidates[i-1]
			line = p.marked(c.Chosen, line)
			switch {
			case c.Barred != "":
				line += "  not eligible: " + p.printable(c.Barred)
			case c.Dropped != "":
				line += "  dropped by the filter: " + p.printable(c.Dropped)
			}
		}
		p.line(line)
	}
}

// columns pads cells so that they stand under each other: the first column to
// the left, the others to the right.
func columns(rows [][]string) (lines []string) {
	least := []int{6, 7, 9, 9, 9, 9, 9, 7}
	width := make([]int, len(rows[0]))
	for i := range width {
		if i < len(least) {
			width[i] = least[i]
		}
		for _, row := range rows {
			width[i] = max(width[i], utf8.RuneCountInString(row[i]))
		}
	}
	for _, row := range rows {
		var b strings.Builder
		fmt.Fprintf(&b, "%-*s", width[0], row[0])
		for i, cell := range row[1:] {
			fmt.Fprintf(&b, " %*s", width[i+1], cell)
		}
		lines = append(lines, b.String())
	}
	return lines
}

// consequences writes what each alternative would have meant: of the decode
// stage the gaps between tokens, else the first token, and always the end.
func (p *page) consequences(d *explain.Decision) {
	what := "TTFT"
	of := func(c *explain.Candidate) (own, mean reports.Number) { return c.TTFT, c.MeanTTFT }
	if d.Stage == explain.Decode {
		what = "ITL"
		of = func(c *explain.Candidate) (own, mean reports.Number) { return c.ITL, c.MeanITL }
	}
	p.line(fmt.Sprintf("worker %9s     E2E ms %20s   mean E2E ms, all   moved", what+" ms", "mean "+what+" ms, all"))
	chosen := &d.Candidates[d.Worker]
	_, base := of(chosen)
	for i := range d.Candidates {
		c := &d.Candidates[i]
		if c.Barred != "" {
			continue
		}
		own, mean := of(c)
		p.line(p.marked(c.Chosen, fmt.Sprintf("%-6s %9s %10s %12s %7s %10s %7s %7d", c.Name, ms(own), ms(c.E2E),
			ms(mean), p.moved(c, base, mean), ms(c.MeanE2E), p.moved(c, chosen.MeanE2E, c.MeanE2E), c.Moved)))
	}
}

// howGood says in words what decided, and how good the choice was.
func howGood(d *explain.Decision) string {
	parts := []string{"decided by " + d.Decider}
	if d.Frontend != nil {
		parts[0] += fmt.Sprintf(" of frontend %d", *d.Frontend)
	}
	if wait := float64(d.AtMS - d.ArrivedMS); wait > 0 && d.Stage != explain.Decode {
		parts[0] += fmt.Sprintf(", %s ms after the arrival", format.Fixed(wait, 3))
	}
	if d.Worker < 0 {
		return strings.Join(append(parts, d.Refusal), "; ")
	}
	switch {
	case d.RegretBlocks > 0:
		parts = append(parts, fmt.Sprintf("%s held %s more of the prompt", holder(d), format.Plural(int64(d.RegretBlocks), "block")))
	case d.Stage != explain.Decode:
		parts = append(parts, "no worker held more of the prompt")
	}
	parts = append(parts, sooner(d)...)
	if d.Tied > 1 {
		parts = append(parts, fmt.Sprintf("%d workers tied", d.Tied))
	}
	return strings.Join(parts, "; ")
}

// sooner says whether another worker would have been faster for the request.
func sooner(d *explain.Decision) []string {
	what, of := "given its first token", func(c *explain.Candidate) reports.Number { return c.TTFT }
	if d.Stage == explain.Decode {
		what, of = "finished it", func(c *explain.Candidate) reports.Number { return c.E2E }
	}
	best, name, own := math.Inf(1), "", float64(of(&d.Candidates[d.Worker]))
	for i := range d.Candidates {
		c := &d.Candidates[i]
		if t := float64(of(c)); t < best {
			best, name = t, c.Name
		}
	}
	switch {
	case math.IsNaN(own) || math.IsInf(best, 1):
		return nil
	case best < own:
		return []string{fmt.Sprintf("%s would have %s %s ms earlier", name, what, format.Fixed(own-best, 2))}
	}
	return []string{fmt.Sprintf("none would have %s earlier", what)}
}

// holder names the worker that held the most of the prompt, the first of several.
func holder(d *explain.Decision) string {
	name, most, own := "", int32(-1), int32(0)
	for i := range d.Candidates {
		c := &d.Candidates[i]
		if c.Held != nil && *c.Held > most {
			name, most = c.Name, *c.Held
		}
		if c.Held != nil && c.Chosen {
			own = *c.Held
		}
	}
	if most-own < d.RegretBlocks {
		return "a worker that could not be chosen"
	}
	return name
}

// marked points out the chosen worker.
func (p *page) marked(chosen bool, line string) string {
	if chosen {
		return line + "  <-"
	}
	return line
}

func (p *page) moved(c *explain.Candidate, from, to reports.Number) string {
	if c.Chosen || math.IsNaN(float64(from)) || math.IsNaN(float64(to)) {
		return ""
	}
	return fmt.Sprintf("%+.2f", float64(to)-float64(from))
}

func blocks(v reports.Number) string { return orDash(v, "%.3f") }

// amount writes a number that may be a count or a cost.
func amount(v reports.Number) string {
	if float64(v) == math.Trunc(float64(v)) && math.Abs(float64(v)) < 1e15 {
		return fmt.Sprintf("%.0f", float64(v))
	}
	return blocks(v)
}

func chance(v reports.Number) string {
	if math.IsNaN(float64(v)) {
		return "-"
	}
	return fmt.Sprintf("%.1f %%", 100*float64(v))
}

func ms(v reports.Number) string { return orDash(v, "%.2f") }

func orDash(v reports.Number, form string) string {
	if math.IsNaN(float64(v)) {
		return "-"
	}
	return fmt.Sprintf(form, float64(v))
}
