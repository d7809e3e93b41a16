package gate

import (
	"bytes"
	"fmt"
	"html/template"
	"io"
	"math"
	"slices"
	"strings"

	"routesim/reports/format"
	"routesim/reports/plot"
)

// page is the HTML report: one file without scripts or links to elsewhere.
const page = `<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>routesim gate: {{.Verdict}}</title>
<style>
:root{color-scheme:light dark;--bg:light-dark(#fff,#12171d);--ink:light-dark(#14181d,#e8ecf1);--mute:light-dark(#55606c,#a3afbb);--line:light-dark(#e7ebef,#2e3843);--bad:light-dark(#a3260a,#ff9a80);--good:light-dark(#00603f,#7fd6b0);--new:light-dark(#7a5200,#f0c267);--link:light-dark(#0b63a3,#6cbcf5);--shade:light-dark(#0003,#000c)}
body{font:15px/1.5 system-ui,sans-serif;max-width:64rem;margin:2rem auto;padding:0 1rem;color:var(--ink);background:var(--bg);overflow-wrap:anywhere}
a{color:var(--link)}
table{border-collapse:collapse;margin:.8rem 0;font-variant-numeric:tabular-nums;overflow-wrap:normal}
th,td{padding:.2rem .7rem;text-align:right;white-space:nowrap;border-bottom:1px solid var(--line)}
th:first-child,td:first-child{text-align:left}
th{font-weight:600;color:var(--mute)}
/* Shaded at the edges behind which there is more */
.wide{overflow-x:auto;background:linear-gradient(90deg,var(--bg) 40%,#0000) 0/48px 100% no-repeat local,linear-gradient(270deg,var(--bg) 40%,#0000) 100%/48px 100% no-repeat local,linear-gradient(90deg,var(--shade),#0000) 0/16px 100% no-repeat,linear-gradient(270deg,var(--shade),#0000) 100%/16px 100% no-repeat}
.PASS,.better{color:var(--good)}.REGRESSION,.INVALID,.worse{color:var(--bad);font-weight:600}.BEHAVIOUR_CHANGED{color:var(--new);font-weight:600}
.better,.chosen{font-weight:700}
section{border-top:1px solid var(--line);margin-top:2rem}
svg{max-width:100%;height:auto;background:#fff}
figure{margin:1rem 0}
@media(max-width:40rem){th,td{padding:.2rem .4rem}h1{font-size:1.5rem}h2{font-size:1.2rem}}
</style></head><body>
<h1>routesim gate: <span class="{{.Verdict}}">{{.Verdict}}</span></h1>
{{with .Problem}}<p>{{.}}</p>{{end}}
{{if .Scenarios}}<div class="wide"><table><thead><tr><th scope="col">scenario</th><th scope="col">verdict</th><th scope="col">decisions</th><th scope="col">worst metric</th></tr></thead><tbody>
{{range .Scenarios}}<tr><td><a href="#{{.Name}}">{{.Name}}</a></td><td class="{{.Verdict}}">{{.Verdict}}</td><td>{{.Decisions}}</td><td>{{.Worst}}</td></tr>
{{end}}</tbody></table></div>{{end}}
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
		Name: s.Name, Verdict: s.Verdict, Decisions: s.decisionsCell(), Worst: s.worst(), Lines: slices.Clone(s.Problems),
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
	for _, list := range [][]string{out.Lines, out.MovedLines, out.MovedRows} {
		for i := range list {
			list[i] = unbroken(list[i])
		}
	}
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

// unbroken keeps numbers and their units on one line.
func unbroken(text string) string {
	words := format.Words(text)
	for i := range words {
		words[i] = strings.ReplaceAll(words[i], " ", "\u00a0")
	}
	return strings.Join(words, " ")
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
		Title:    s.Name + ": TTFT, " + r.After + " against " + r.Before,
		Subtitle: strings.Join(append([]string{s.Trace.Name}, s.profiles...), ", "),
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
