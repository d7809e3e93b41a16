package gate

import (
	"bytes"
	"fmt"
	"html/template"
	"io"
	"math"
	"strings"

	"routesim/reports/format"
	"routesim/reports/plot"
)

// page is the HTML report: one file without scripts or links to elsewhere.
const page = `<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>routesim gate: {{.Verdict}}</title>
<style>
body{font:15px/1.5 system-ui,sans-serif;max-width:64rem;margin:2rem auto;padding:0 1rem;color:#14181d;background:#fff}
table{border-collapse:collapse;margin:.8rem 0;font-variant-numeric:tabular-nums}
th,td{padding:.2rem .7rem;text-align:right;border-bottom:1px solid #e7ebef}
th:first-child,td:first-child{text-align:left}
th{font-weight:600;color:#55606c}
.wide{overflow-x:auto}
.PASS{color:#00603f}.REGRESSION,.INVALID,.worse{color:#a3260a;font-weight:600}.BEHAVIOUR_CHANGED{color:#7a5200;font-weight:600}
.better{color:#00603f;font-weight:600}
.chosen{font-weight:700}
section{border-top:1px solid #c9d0d6;margin-top:2rem}
svg{max-width:100%;height:auto}
code{background:#f3f5f7;padding:.1rem .3rem}
</style></head><body>
<h1>routesim gate: <span class="{{.Verdict}}">{{.Verdict}}</span></h1>
{{with .Problem}}<p>{{.}}</p>{{end}}
{{if .Scenarios}}<table><thead><tr><th scope="col">scenario</th><th scope="col">verdict</th><th scope="col">decisions</th><th scope="col">worst metric</th></tr></thead><tbody>
{{range .Scenarios}}<tr><td><a href="#{{.Name}}">{{.Name}}</a></td><td class="{{.Verdict}}">{{.Verdict}}</td><td>{{.Decisions}}</td><td>{{.Worst}}</td></tr>
{{end}}</tbody></table>{{end}}
{{range .Notes}}<p>{{.}}</p>
{{end}}{{range .Advice}}<p>{{.}}</p>
{{end}}{{range .Scenarios}}<section id="{{.Name}}"><h2>{{.Name}}: <span class="{{.Verdict}}">{{.Verdict}}</span></h2>
<p>{{.What}}</p>
{{range .Lines}}<p>{{.}}</p>
{{end}}{{if .Rows}}<div class="wide"><table><thead><tr><th scope="col">metric</th><th scope="col">{{$.Before}}</th><th scope="col">{{$.After}}</th><th scope="col">change</th><th scope="col">99.9 % over seeds</th><th scope="col">allowed</th><th scope="col"></th></tr></thead><tbody>
{{range .Rows}}<tr><td>{{.Name}}</td><td>{{.Before}}</td><td>{{.After}}</td><td>{{.Change}}</td><td>{{.Range}}</td><td>{{.Allowed}}</td><td class="{{.State}}">{{.State}}</td></tr>
{{end}}</tbody></table></div>{{end}}
{{if .Costs}}<div class="wide"><table><caption>Costs in KV blocks, {{$.Before}} and {{$.After}}</caption><thead><tr><th scope="col">worker</th><th scope="col">prefill</th><th scope="col">credit</th><th scope="col">decode</th><th scope="col">requests</th><th scope="col">cost</th><th scope="col">prefill</th><th scope="col">credit</th><th scope="col">decode</th><th scope="col">requests</th><th scope="col">cost</th></tr></thead><tbody>
{{range .Costs}}<tr>{{range .}}<td{{if .Chosen}} class="chosen"{{end}}>{{.Text}}{{if .Chosen}} (chosen){{end}}</td>{{end}}</tr>
{{end}}</tbody></table></div>{{end}}
{{range .MovedLines}}<p>{{.}}</p>
{{end}}{{if .MovedRows}}<ul>{{range .MovedRows}}<li>{{.}}</li>{{end}}</ul>{{end}}
{{with .CDF}}<figure role="img" aria-label="{{$.Alt}}">{{.}}</figure>{{end}}
</section>
{{end}}</body></html>
`

type (
	htmlPage struct {
		Verdict            Verdict
		Problem            string
		Before, After, Alt string
		Scenarios          []htmlScenario
		Notes, Advice      []string
	}
	htmlScenario struct {
		Name       string
		Verdict    Verdict
		Decisions  string
		Worst      string
		What       string
		Lines      []string
		Rows       []htmlRow
		Costs      [][]htmlCell
		MovedLines []string
		MovedRows  []string
		CDF        template.HTML
	}
	htmlRow  struct{ Name, Before, After, Change, Range, Allowed, State string }
	htmlCell struct {
		Text   string
		Chosen bool
	}
)

// WriteHTML writes the report as a page of its own, with the distributions of
// TTFT of both sides laid over each other for every scenario that did not pass
// untouched.
func WriteHTML(w io.Writer, r *Report) error {
	t, err := template.New("gate").Parse(page)
	if err != nil {
		return err
	}
	p := htmlPage{
		Verdict: r.Verdict, Problem: r.Problem, Before: r.Before, After: r.After, Notes: r.Notes, Advice: r.Advice,
		Alt: fmt.Sprintf("Cumulative distributions of TTFT, %s and %s", r.Before, r.After),
	}
	for i := range r.Scenarios {
		s, err := r.Scenarios[i].html(r)
		if err != nil {
			return err
		}
		p.Scenarios = append(p.Scenarios, s)
	}
	return t.Execute(w, &p)
}

func (s *Result) html(r *Report) (htmlScenario, error) {
	out := htmlScenario{
		Name: s.Name, Verdict: s.Verdict, Decisions: s.decisionsCell(), Worst: s.worst(), Lines: s.Problems,
		What: fmt.Sprintf("%s, %s, %s", s.Trace.Name, format.Plural(s.Trace.Requests, "request"), format.Plural(int64(len(s.Seeds)), "seed")),
	}
	for _, c := range s.Changes {
		out.Lines = append(out.Lines, "Changed: "+c.Name+" "+c.Text)
	}
	for i := range s.Rows {
		row := &s.Rows[i]
		out.Rows = append(out.Rows, htmlRow{row.label(), format.Sig(row.Before), format.Sig(row.After), row.change(), row.interval(), row.allowed(), row.State.String()})
	}
	for i := range s.Bounds {
		b := &s.Bounds[i]
		out.Lines = append(out.Lines, fmt.Sprintf("SLO: %s %s, %s: %s", b.Title, b.text(), value(b.Value, b.Unit), b.state()))
	}
	if text := s.seedsText(); text != "" {
		out.Lines = append(out.Lines, text)
	} else if s.TimesChanged {
		out.Lines = append(out.Lines, "Decisions are the same, token times are not.")
	}
	if d := s.Divergence; d != nil {
		out.Lines = append(out.Lines, d.text())
		out.Costs = d.html()
	}
	if m := s.Moved; m != nil {
		out.MovedLines = append(out.MovedLines, m.text())
		for i := range m.Requests[:min(len(m.Requests), mostMoved)] {
			out.MovedRows = append(out.MovedRows, "request "+m.Requests[i].text(m.letter))
		}
	}
	out.MovedLines = append(out.MovedLines, s.Notes...)
	if !s.quiet() {
		svg, err := s.curves(r)
		if err != nil {
			return out, err
		}
		out.CDF = svg
	}
	return out, nil
}

func (d *Divergence) html() (out [][]htmlCell) {
	for _, c := range d.cells() {
		row := []htmlCell{{Text: c[0]}}
		for side := range 2 {
			v := c[1+6*side:]
			for _, text := range v[:4] {
				row = append(row, htmlCell{Text: text})
			}
			row = append(row, htmlCell{v[4], v[5] != ""})
		}
		out = append(out, row)
	}
	return out
}

// curves draws both distributions of TTFT, nothing where one is not known.
func (s *Result) curves(r *Report) (template.HTML, error) {
	if s.before == nil || s.after == nil {
		return "", nil
	}
	before, after := finite(s.before.TTFT), finite(s.after.TTFT)
	if len(before) == 0 || len(after) == 0 {
		return "", nil
	}
	fig, err := plot.CDF(plot.Readme(), plot.Caption{
		Title: s.Name + ": TTFT, " + r.After + " against " + r.Before, Subtitle: s.Trace.Name,
	}, "time to first token", 0,
		plot.Series{Name: r.After, Role: plot.Chosen, Values: after},
		plot.Series{Name: r.Before, Role: plot.Default, Values: before})
	if err != nil {
		return "", err
	}
	var b bytes.Buffer
	if err := fig.WriteSVG(&b); err != nil {
		return "", err
	}
	text := b.String()
	if at := strings.Index(text, "<svg"); at > 0 { // no XML declaration inside HTML
		text = text[at:]
	}
	return template.HTML(text), nil
}

func finite(values []float32) (out []float64) {
	for _, v := range values {
		if f := float64(v); !math.IsNaN(f) && !math.IsInf(f, 0) {
			out = append(out, f)
		}
	}
	return out
}
