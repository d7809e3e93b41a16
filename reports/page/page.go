// Package page writes the report of a sweep: one HTML file that holds all it
// needs and asks nothing of any network. Everything can be read without
// JavaScript; the script makes the pictures answer to the reader.
package page

import (
	"bytes"
	_ "embed" // the page's template, style and script
	"fmt"
	"html/template"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"routesim/reports/sweepdata"
	"routesim/reports/verdict"
)

//go:embed page.tmpl
var pageText string

//go:embed style.css
var styleText string

//go:embed plots.js
var plotsText string

//go:embed tools.js
var toolsText string

//go:embed page.js
var scriptText string

// Extras is what a report shows beside the sweep and its verdict. The zero value
// leaves it out, and the page says so.
type Extras struct {
	// Series are the workers over time of a run of the default point and of the
	// chosen one, at most two.
	Series []Series
	// NoSeries says why there are none.
	NoSeries string
	// Replay is the command that runs the default point, without its seed; nil
	// derives it from the command of the sweep.
	Replay []string
	// Kubernetes is the version of the DynamoGraphDeployment's schema that the
	// text to paste is for, "" for v1alpha1.
	Kubernetes string
}

// figure is a picture with its caption, or the reason for its absence.
type figure struct {
	Box    string // id of the element around it, for the script
	Title  string
	Note   string
	Plot   template.HTML
	Absent string
	Narrow bool // fits a narrow screen as it is
}

// block is a set of flags in the three forms that can be pasted.
type block struct {
	Title, Label           string
	Flags, Env, Kubernetes string
	Point                  int
}

// content is what the template shows.
type content struct {
	Title, Style, Script string
	Meta                 []string
	V                    *verdict.Verdict
	Blocks               []block
	Strip                *figure
	Headline             template.HTML
	Costs                string
	Outcome              []outcomeRow
	OutcomeHeads         []string
	Failures             []string
	MoreFailures         int
	Explore              explore
	Pareto, Goodput      figure
	Curves               []legendItem
	Distributions        []figure
	Cache                []figure
	Workers              []figure
	WorkersNote          string
	Table                pointTable
	TableNote            string
	Workload             []fact
	Profiles             []profile
	Timing               string
	Varied, Settings     []fact
	Definitions          []verdict.Definition
	Notes                []string
	Command, Alone       string
	Digests              []fact
	Version              string
	Data                 template.JS
}

// legendItem is a line of the legend of the distributions.
type legendItem struct {
	Line int
	Text string
}

// Write writes the report. The same arguments give the same bytes.
func Write(w io.Writer, s *sweepdata.Sweep, v *verdict.Verdict, extras Extras) error {
	if len(v.Points) != len(s.Points) {
		return fmt.Errorf("report: verdict: found %d points, expected %d as in the sweep", len(v.Points), len(s.Points))
	}
	m := newModel(s, v, &extras)
	c, err := m.content()
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	// The template marks the style, the script and the data as what they are;
	// they hold no input but the data, which is encoded for its place.
	t, err := template.New("page").Funcs(template.FuncMap{
		"css": func(s string) template.CSS { return template.CSS(s) },
		"js":  func(s string) template.JS { return template.JS(s) },
		"nb":  keepUnits,
	}).Parse(pageText)
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	var b bytes.Buffer
	if err := t.Execute(&b, c); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	_, err = w.Write(b.Bytes())
	return err
}

// content fills in what the template shows.
func (m *model) content() (*content, error) {
	all, err := m.distributions()
	if err != nil {
		return nil, err
	}
	c := &content{
		Title: m.title(), Style: pageStyle(), Script: pageScript(), Meta: m.meta(), V: m.v, Version: m.s.Version,
		Table: m.pointTable(), Workload: m.workload(), Profiles: m.profiles(), Timing: m.base("timing"),
		Varied: m.varied(), Settings: m.settings(), Definitions: m.v.Definitions, Notes: m.s.Notes, Command: shell(verdict.Command(m.s.Command)),
	}
	c.Headline = headline(m.v.Headline)
	c.Costs = strings.TrimPrefix(m.v.Costs, "Costs: ")
	if first, size := utf8.DecodeRuneInString(c.Costs); size > 0 {
		c.Costs = string(unicode.ToUpper(first)) + c.Costs[size:]
	}
	c.OutcomeHeads, c.Outcome = m.outcomes()
	c.Failures, c.MoreFailures = m.failures()
	if p := m.strip(); p != nil {
		c.Strip = &figure{Title: m.stripTitle(), Plot: p.svg(), Note: m.stripCaption()}
	}
	if c.Blocks, err = m.blocks(); err != nil {
		return nil, err
	}
	if c.Explore, err = m.explore(); err != nil {
		return nil, err
	}
	c.Pareto, c.Goodput = m.tradeoff(), m.goodput()
	for _, l := range m.curves() {
		c.Curves = append(c.Curves, legendItem{l.line, l.name})
	}
	for k := range cdfFamilies {
		c.Distributions = append(c.Distributions, m.cdfFigure(k, all))
	}
	if c.Cache, err = m.cache(); err != nil {
		return nil, err
	}
	var runs []*strips
	c.Workers, c.WorkersNote, runs = m.workers()
	c.TableNote = m.tableNote(&c.Table)
	if p := m.focus(); p >= 0 {
		c.Alone = m.alone(p)
	}
	c.Digests = m.digests()
	c.Data, err = m.data(all, runs)
	return c, err
}

// headline is the verdict with its values set off, and with names of settings
// kept on one line where they fit.
func headline(text string) template.HTML {
	words := strings.Split(text, " ")
	value := func(w string) (string, bool) {
		bare := strings.TrimRight(w, ".,;:")
		_, err := strconv.ParseFloat(bare, 64)
		return "<em>" + template.HTMLEscapeString(bare) + "</em>" + template.HTMLEscapeString(w[len(bare):]), err == nil
	}
	var out []string
	for i := 0; i < len(words); i++ {
		safe := template.HTMLEscapeString(words[i])
		if v, ok := value(words[i]); ok {
			safe = v
			if i+1 < len(words) && slices.Contains([]string{"s", "ms", "%"}, strings.TrimRight(words[i+1], ".,;:")) {
				safe += hard + template.HTMLEscapeString(words[i+1])
				i++
			}
		} else if strings.Contains(words[i], "-") {
			if i+1 < len(words) {
				if v, ok := value(words[i+1]); ok {
					safe += " " + v
					i++
				}
			}
			safe = "<span>" + safe + "</span>"
		}
		out = append(out, safe)
	}
	return template.HTML(strings.Join(out, " "))
}

// keepUnits keeps numbers and their units on one line.
func keepUnits(text string) string {
	for _, unit := range []string{"%", "pp", "s", "ms", "min", "req/s", "tok/s"} {
		for _, end := range []string{" ", ".", ",", ";", ")", ":"} {
			text = unitGap(text, " "+unit+end)
		}
		if strings.HasSuffix(text, " "+unit) {
			text = unitGap(text+" ", " "+unit+" ")
			text = strings.TrimSuffix(text, " ")
		}
	}
	return text
}

// unitGap makes the blank of a pattern a hard one where it follows a digit.
func unitGap(text, pattern string) string {
	for from := 0; ; {
		i := strings.Index(text[from:], pattern)
		if i < 0 {
			return text
		}
		i += from
		if i > 0 && text[i-1] >= '0' && text[i-1] <= '9' {
			text = text[:i] + hard + text[i+1:]
		}
		from = i + 1
	}
}

// title is for browser tabs and links.
func (m *model) title() string {
	parts := []string{strings.TrimSuffix(m.v.Headline, "."), m.s.Trace.Name}
	if w := m.s.WorkersText(); w != "" {
		parts = append(parts, w)
	}
	return strings.Join(parts, " · ") + " · routesim"
}

// focus is the point that the page opens with.
func (m *model) focus() int {
	for _, p := range []int{m.v.Chosen, m.v.Best, m.v.Default} {
		if p >= 0 {
			return p
		}
	}
	return min(0, len(m.s.Points)-1)
}

// tableNote explains the table of points.
func (m *model) tableNote(t *pointTable) string {
	s := "The default stands first, then the best " + m.m[m.v.Objective].Title + ". Changes are against the default; " + tied + " means no difference shown: the 95 % interval of the paired difference includes 0."
	for p := range m.s.Points {
		if m.s.Points[p].Beyond {
			s += " † marks values beyond what Dynamo documents."
			break
		}
	}
	if t.Missing > 0 {
		s += fmt.Sprintf(" %d rows of %d; the others are in points.csv.", t.Shown, t.Shown+t.Missing)
	}
	if t.Folded > 0 {
		s += fmt.Sprintf(" %s left out that differ in settings without effect only.", plural(t.Folded, "point is", "points are"))
	}
	return s
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return number(float64(n), count) + " " + many
}

// digests identify what was run.
func (m *model) digests() (out []fact) {
	if d := m.s.Trace.Digest; d != "" {
		out = append(out, fact{"trace", d})
	}
	for _, k := range []struct {
		name string
		p    int
	}{{"default", m.v.Default}, {m.v.Part(), m.v.Chosen}} {
		if k.p < 0 || k.name == m.v.Part() && k.p == m.v.Default || len(m.s.Points[k.p].Runs) == 0 {
			continue
		}
		r := &m.s.Points[k.p].Runs[0]
		out = append(out, fact{k.name + " point", m.s.Points[k.p].Key}, fact{k.name + " decisions, " + fmt.Sprintf("seed %d", r.Seed), r.DecisionDigest})
	}
	return out
}
