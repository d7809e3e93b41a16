package gate

import (
	"fmt"
	"io"
	"strings"

	"routesim/reports/format"
)

// mostMarkdown bounds a Markdown report in bytes: a comment on a pull request
// takes 65,536 characters.
const mostMarkdown = 60_000

// WriteMarkdown writes the report as a comment on a pull request.
func WriteMarkdown(w io.Writer, r *Report) error {
	b := &strings.Builder{}
	fmt.Fprintf(b, "## routesim gate: %s\n\n", r.Verdict)
	if r.Problem != "" {
		fmt.Fprintf(b, "%s\n\n", escape(r.Problem))
	}
	if len(r.Scenarios) > 0 {
		b.WriteString("| scenario | verdict | decisions | worst metric |\n|---|---|---|---|\n")
		for i := range r.Scenarios {
			s := &r.Scenarios[i]
			fmt.Fprintf(b, "| %s | %s | %s | %s |\n", escape(s.Name), mark(s.Verdict), s.decisionsCell(), escape(s.worst()))
		}
		b.WriteString("\n")
	}
	left := 0
	for i := range r.Scenarios {
		if r.Scenarios[i].quiet() {
			continue
		}
		part := &strings.Builder{}
		r.Scenarios[i].markdown(part, r)
		if b.Len()+part.Len() > mostMarkdown {
			left++
			continue
		}
		b.WriteString(part.String())
	}
	if left > 0 {
		fmt.Fprintf(b, "%s more did not fit here.\n\n", format.Plural(int64(left), "scenario"))
	}
	for _, n := range r.Notes {
		fmt.Fprintf(b, "- %s\n", escape(n))
	}
	for _, a := range r.Advice {
		text, command, found := strings.Cut(a, ": ")
		if found {
			fmt.Fprintf(b, "\n%s:\n\n    %s\n", escape(text), command)
		} else {
			fmt.Fprintf(b, "\n%s\n", escape(a))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// mark shows a verdict so that it can be found in a long table.
func mark(v Verdict) string {
	if v == Pass {
		return v.String()
	}
	return "**" + v.String() + "**"
}

// escape keeps a text from being taken for Markdown or HTML.
func escape(text string) string {
	return strings.NewReplacer(`\`, `\\`, "|", `\|`, "*", `\*`, "_", `\_`, "`", "\\`", "<", "&lt;", ">", "&gt;", "[", `\[`, "\n", " ").Replace(text)
}

func (s *Result) decisionsCell() string {
	switch {
	case s.Verdict == Invalid:
		return format.Missing
	case len(s.ChangedSeeds) == 0:
		return "same"
	}
	return fmt.Sprintf("differ in %d of %d seeds", len(s.ChangedSeeds), len(s.Seeds))
}

// quiet reports whether there is nothing to say of a scenario.
func (s *Result) quiet() bool {
	return s.Verdict == Pass && len(s.Improved) == 0 && len(s.Changes) == 0
}

// worst names the metric that moved most for its tolerance.
func (s *Result) worst() string {
	for _, state := range []State{Worse, Unlike, Better, Unshown} {
		for i := range s.Rows {
			if r := &s.Rows[i]; r.State == state {
				return r.Title + " " + r.change() + " (" + state.String() + ")"
			}
		}
	}
	for i := range s.Bounds {
		if b := &s.Bounds[i]; b.State == Worse {
			return b.Title + " " + value(b.Value, b.Unit) + " (SLO missed)"
		}
	}
	if len(s.Problems) > 0 {
		return s.Problems[0]
	}
	return "all within tolerance"
}

func (s *Result) markdown(b *strings.Builder, r *Report) {
	fmt.Fprintf(b, "<details><summary><b>%s</b>: %s</summary>\n\n", escape(s.Name), s.Verdict)
	for _, text := range s.Problems {
		fmt.Fprintf(b, "- %s\n", escape(text))
	}
	for _, c := range s.Changes {
		fmt.Fprintf(b, "- changed: %s %s\n", escape(c.Name), escape(c.Text))
	}
	if len(s.Rows) > 0 {
		fmt.Fprintf(b, "\n| metric | %s | %s | change | 99.9 %% over seeds | allowed | |\n|---|---:|---:|---:|---:|---:|---|\n", escape(r.Before), escape(r.After))
	}
	for i := range s.Rows {
		row := &s.Rows[i]
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s | %s |\n", escape(row.label()), format.Sig(row.Before), format.Sig(row.After),
			row.change(), row.interval(), row.allowed(), row.State)
	}
	for i := range s.Bounds {
		o := &s.Bounds[i]
		fmt.Fprintf(b, "\nSLO: %s %s, %s: %s\n", escape(o.Title), o.text(), value(o.Value, o.Unit), o.state())
	}
	if text := s.seedsText(); text != "" {
		fmt.Fprintf(b, "\n%s\n", text)
	} else if s.TimesChanged {
		b.WriteString("\nDecisions are the same, token times are not.\n")
	}
	if d := s.Divergence; d != nil {
		fmt.Fprintf(b, "\n%s\n", escape(d.text()))
		d.markdown(b, r)
	}
	if m := s.Moved; m != nil {
		fmt.Fprintf(b, "\n%s\n", escape(m.text()))
		for i := range m.Requests[:min(len(m.Requests), mostMoved)] {
			fmt.Fprintf(b, "- request %s\n", escape(m.Requests[i].text(m.letter)))
		}
		if more := len(m.Requests) - mostMoved; more > 0 {
			fmt.Fprintf(b, "- and %s more\n", format.Count(int64(more)))
		}
	}
	for _, n := range s.Notes {
		fmt.Fprintf(b, "\n%s\n", escape(n))
	}
	b.WriteString("\n</details>\n\n")
}

// mostCandidates is the number of candidates of a cost table in a comment.
const mostCandidates = 32

func (d *Divergence) markdown(b *strings.Builder, r *Report) {
	cells := d.cells()
	if len(cells) == 0 {
		return
	}
	fmt.Fprintf(b, "\n| | prefill, %[1]s | credit | decode | requests | cost | prefill, %[2]s | credit | decode | requests | cost |\n|---|%[3]s\n",
		escape(r.Before), escape(r.After), strings.Repeat("---:|", 10))
	for _, c := range cells[:min(len(cells), mostCandidates)] {
		cost := func(v []string) string {
			if v[5] != "" {
				return "**" + v[4] + "** (chosen)"
			}
			return v[4]
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", c[0], c[1], c[2], c[3], c[4], cost(c[1:]), c[7], c[8], c[9], c[10], cost(c[7:]))
	}
	b.WriteString("\nCosts are in KV blocks; the credit is inside the prefill term.\n")
}
