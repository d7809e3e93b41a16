package gate

import (
	"fmt"
	"io"
	"math"
	"strings"
	"unicode/utf8"

	"routesim/reports/format"
)

// width is the number of columns of a text report, exceeded by cost tables of
// large numbers only.
const width = 80

// WriteText writes the report for a terminal, in ASCII.
func WriteText(w io.Writer, r *Report) error {
	p := &textPage{}
	p.line(r.Verdict.String() + r.subject())
	if r.Problem != "" {
		p.wrapped("  ", r.Problem)
	}
	if len(r.Scenarios) > 0 {
		p.line("")
	}
	for i := range r.Scenarios {
		s := &r.Scenarios[i]
		p.wrapped(fmt.Sprintf("%-19s", s.Verdict), fmt.Sprintf("%s (%s, %s): %s", s.Name,
			format.Plural(s.Trace.Requests, "request"), format.Plural(int64(len(s.Seeds)), "seed"), s.worst()))
	}
	for i := range r.Scenarios {
		if !r.Scenarios[i].quiet() {
			p.line("")
			p.scenario(r, &r.Scenarios[i])
		}
	}
	if len(r.Notes)+len(r.Advice) > 0 {
		p.line("")
	}
	for _, n := range r.Notes {
		p.wrapped("note: ", n)
	}
	for _, a := range r.Advice {
		p.wrapped("next: ", a)
	}
	_, err := io.WriteString(w, p.String())
	return err
}

// subject says what was compared.
func (r *Report) subject() string {
	n := len(r.Scenarios)
	if n == 0 {
		return ""
	}
	counts := map[Verdict]int{}
	for i := range r.Scenarios {
		counts[r.Scenarios[i].Verdict]++
	}
	text := fmt.Sprintf(": %s of %s", format.Count(int64(counts[r.Verdict])), format.Plural(int64(n), "scenario"))
	if r.Verdict == Pass {
		text = fmt.Sprintf(": %s", format.Plural(int64(n), "scenario"))
	}
	return text + fmt.Sprintf(", %s against %s", r.After, r.Before)
}

type textPage struct{ strings.Builder }

func (p *textPage) line(text string) {
	p.WriteString(strings.TrimRight(text, " "))
	p.WriteByte('\n')
}

// wrapped writes a text with a label before it, broken at spaces.
func (p *textPage) wrapped(label, text string) {
	line, indent := label, strings.Repeat(" ", len(label))
	for _, word := range format.Words(text) {
		if len(line) > len(indent) && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width {
			p.line(line)
			line = indent
		}
		if len(line) > len(indent) {
			line += " "
		}
		line += word
	}
	p.line(line)
}

func (p *textPage) scenario(r *Report, s *Result) {
	p.line(s.Name)
	for _, text := range s.Problems {
		p.wrapped("  ", text)
	}
	for _, c := range s.Changes {
		p.wrapped("  changed: ", c.Name+" "+c.Text)
	}
	if len(s.Rows) > 0 {
		p.line("")
		p.line(fmt.Sprintf("  %-22s %11s %11s %10s %9s  %s", "", r.Before, r.After, "change", "allowed", "verdict"))
	}
	for i := range s.Rows {
		row := &s.Rows[i]
		p.line(fmt.Sprintf("  %-22s %11s %11s %10s %9s  %s", row.label(), format.Sig(row.Before), format.Sig(row.After), row.change(), row.allowed(), row.State))
		if text := row.interval(); text != "" && row.State != Shown {
			p.line(fmt.Sprintf("  %-22s %s", "", "99.9 % over seeds: "+text))
		}
	}
	for i := range s.Bounds {
		b := &s.Bounds[i]
		p.wrapped("  ", fmt.Sprintf("SLO: %s %s, %s: %s", b.Title, b.text(), value(b.Value, b.Unit), b.state()))
	}
	p.reasons(r, s)
}

// label is a metric with its unit.
func (r *Row) label() string {
	if r.Unit == "" {
		return r.Title
	}
	return r.Title + " " + r.Unit
}

// allowed writes the tolerance.
func (r *Row) allowed() string {
	if r.Direction == Info {
		return format.Missing
	}
	if t := r.Tolerance; t.Relative && r.Unit == "%" && r.Before != 0 {
		return format.Sig(t.Value*math.Abs(r.Before)) + " pp" // as the change is written
	}
	return r.Tolerance.Text(r.Unit)
}

func (p *textPage) reasons(r *Report, s *Result) {
	if text := s.seedsText(); text != "" {
		p.line("")
		p.wrapped("  ", text)
	} else if s.TimesChanged {
		p.line("")
		p.wrapped("  ", "Decisions are the same, token times are not.")
	}
	if d := s.Divergence; d != nil {
		p.wrapped("  ", d.text())
		p.costs(r, d)
	}
	if m := s.Moved; m != nil {
		p.wrapped("  ", m.text())
		for i := range m.Requests[:min(len(m.Requests), mostMoved)] {
			p.line("    request " + m.Requests[i].text(m.letter))
		}
		if more := len(m.Requests) - mostMoved; more > 0 {
			p.line(fmt.Sprintf("    and %s more", format.Count(int64(more))))
		}
	}
	for _, n := range s.Notes {
		p.wrapped("  ", n)
	}
}

// costs writes both cost tables of a decision side by side.
func (p *textPage) costs(r *Report, d *Divergence) {
	cells := d.cells()
	if len(cells) == 0 {
		return
	}
	p.line("")
	p.line(fmt.Sprintf("  %-6s%-37s%s", "", "costs, "+r.Before, "costs, "+r.After))
	p.line(fmt.Sprintf("  %-4s%s%s", "", costHeading(), costHeading()))
	for _, c := range cells {
		line := fmt.Sprintf("  %-4s", c[0])
		for side := range 2 {
			v := c[1+6*side:]
			line += fmt.Sprintf("%8s%7s%8s%6s%7s%1s", short(v[0]), short(v[1]), short(v[2]), short(v[3]), short(v[4]), v[5])
		}
		p.line(line)
	}
	p.line("  cost = prefill (after its credit) + decode + requests, in KV blocks; * chosen")
	p.line("")
}

func costHeading() string {
	return fmt.Sprintf("%8s%7s%8s%6s%7s ", "prefill", "credit", "decode", "reqs", "cost")
}

// short cuts a number to six characters where it has fractions.
func short(text string) string {
	if at := strings.IndexByte(text, '.'); at >= 0 && len(text) > 6 {
		text = text[:max(at, 6)]
		return strings.TrimSuffix(text, ".")
	}
	return text
}
