package table

import (
	"fmt"
	"io"
	"math"
	"strings"

	"routesim/reports"
	"routesim/reports/explain"
	"routesim/reports/format"
)

// Explain writes decisions as tables: a line per worker that could have been
// chosen, with the terms of its cost and what the alternative would have meant.
func Explain(w io.Writer, list []explain.Decision, o Options) error {
	p := page{o: o}
	for i := range list {
		if i > 0 {
			p.line("")
		}
		p.decision(&list[i])
	}
	_, err := io.WriteString(w, p.String())
	return err
}

func (p *page) decision(d *explain.Decision) {
	name := ""
	if d.RequestID != "" {
		name = " " + p.printable(d.RequestID)
	}
	p.line(p.styled(bold, fmt.Sprintf("request %d%s (line %d): %s prompt tokens, %s output tokens -> w%d at %s ms",
		d.Row, name, d.Line, format.Count(int64(d.InputTokens)), format.Count(int64(d.OutputTokens)), d.Worker, format.Fixed(float64(d.AtMS), 3))))
	p.line(howGood(d))
	p.line("")
	p.line("worker overlap   prefill    credit    decode   request      cost  chance")
	for i := range d.Candidates {
		c := &d.Candidates[i]
		overlap := "-"
		if c.Overlap != nil {
			overlap = fmt.Sprint(*c.Overlap)
		}
		p.line(p.marked(c.Chosen, fmt.Sprintf("%-6s %7s %9s %9s %9s %9s %9s %7s", fmt.Sprintf("w%d", c.Worker), overlap,
			blocks(c.Prefill), blocks(c.Credit), blocks(c.Decode), blocks(c.Request), blocks(c.Cost), chance(c.Probability))))
	}
	p.line("")
	p.line("worker   TTFT ms     E2E ms   mean TTFT ms, all   mean E2E ms, all   moved")
	own := d.Candidates[d.Worker]
	for i := range d.Candidates {
		c := &d.Candidates[i]
		p.line(p.marked(c.Chosen, fmt.Sprintf("%-6s %9s %10s %12s %6s %11s %6s %7d", fmt.Sprintf("w%d", c.Worker), ms(c.TTFT), ms(c.E2E),
			ms(c.MeanTTFT), p.moved(c, own.MeanTTFT, c.MeanTTFT), ms(c.MeanE2E), p.moved(c, own.MeanE2E, c.MeanE2E), c.Moved)))
	}
}

// howGood says in words how good the choice was.
func howGood(d *explain.Decision) string {
	var parts []string
	switch {
	case d.RegretBlocks > 0:
		parts = append(parts, fmt.Sprintf("another worker held %s more of the prompt", format.Plural(int64(d.RegretBlocks), "block")))
	default:
		parts = append(parts, "no worker held more of the prompt")
	}
	best, own := math.Inf(1), float64(d.Candidates[d.Worker].TTFT)
	for i := range d.Candidates {
		if t := float64(d.Candidates[i].TTFT); t < best {
			best = t
		}
	}
	switch {
	case math.IsNaN(own) || math.IsInf(best, 1):
	case best < own:
		parts = append(parts, fmt.Sprintf("another would have given its first token %s ms earlier", format.Fixed(own-best, 2)))
	default:
		parts = append(parts, "none would have given its first token earlier")
	}
	if d.Tied > 1 {
		parts = append(parts, fmt.Sprintf("%d workers tied", d.Tied))
	}
	return strings.Join(parts, "; ")
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

func blocks(v reports.Number) string {
	if math.IsNaN(float64(v)) {
		return "-"
	}
	return fmt.Sprintf("%.3f", float64(v))
}

func chance(v reports.Number) string {
	if math.IsNaN(float64(v)) {
		return "-"
	}
	return fmt.Sprintf("%.1f %%", 100*float64(v))
}

func ms(v reports.Number) string {
	if math.IsNaN(float64(v)) {
		return "-"
	}
	return fmt.Sprintf("%.2f", float64(v))
}
