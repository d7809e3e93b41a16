package page

import (
	"cmp"
	"fmt"
	"html"
	"html/template"
	"math"
	"slices"
	"strconv"
	"strings"

	"routesim/reports/sweepdata"
)

const mostRows = 200

// tableColumns are the metrics of the table of points.
func (m *model) tableColumns() []int {
	names := []string{"p50_ttft_ms", "p90_ttft_ms", "p99_ttft_ms", "p90_itl_ms", "p90_e2e_ms", "goodput_share", "reuse_share", "imbalance_busy", "completed"}
	out := []int{}
	for _, n := range names {
		k := sweepdata.MetricIndex(n)
		if k >= 0 && m.known(k) {
			out = append(out, k)
		}
	}
	if !slices.Contains(out, m.v.Objective) {
		out = append([]int{m.v.Objective}, out...)
	}
	return out
}

// known tells whether any point has the metric.
func (m *model) known(metric int) bool {
	for p := range m.s.Points {
		if !math.IsNaN(m.shown(p, metric)) {
			return true
		}
	}
	return false
}

// rowOrder lists the points of the table: default, reference, then the best
// first, at last those that cannot be compared.
func (m *model) rowOrder() []int {
	var out []int
	add := func(list ...int) {
		for _, p := range list {
			if p >= 0 && p < len(m.s.Points) && !slices.Contains(out, p) {
				out = append(out, p)
			}
		}
	}
	add(m.v.Default)
	add(m.v.Order...)
	rest := m.distinct()
	me := &m.m[m.v.Objective]
	slices.SortStableFunc(rest, func(p, q int) int {
		if c := strings.IndexByte("vroisnf", m.status(p)) - strings.IndexByte("vroisnf", m.status(q)); c != 0 {
			return c
		}
		a, b := m.shown(p, m.v.Objective), m.shown(q, m.v.Objective)
		if math.IsNaN(a) || math.IsNaN(b) {
			return cmp.Compare(map[bool]int{true: 1}[math.IsNaN(a)], map[bool]int{true: 1}[math.IsNaN(b)])
		}
		if me.Dir > 0 {
			a, b = b, a
		}
		return cmp.Compare(a, b)
	})
	add(rest...)
	return out
}

// pointTable is the table of points as HTML.
type pointTable struct {
	Head    []string
	Keys    []int
	Body    template.HTML
	Shown   int
	Of      int
	Folded  int
	Missing int
}

func (m *model) pointTable() pointTable {
	t := pointTable{Keys: m.tableColumns(), Of: len(m.s.Points)}
	for _, k := range t.Keys {
		me := &m.m[k]
		head := me.Title
		if me.Unit != "" {
			head += ", " + me.Unit
		}
		t.Head = append(t.Head, head)
	}
	order := m.rowOrder()
	t.Folded = len(m.s.Points) - len(m.distinct())
	t.Missing = max(0, len(order)-mostRows)
	order = order[:min(len(order), mostRows)]
	t.Shown = len(order)
	var b strings.Builder
	for _, p := range order {
		m.tableRow(&b, p, t.Keys)
	}
	t.Body = template.HTML(b.String())
	return t
}

func (m *model) tableRow(b *strings.Builder, p int, keys []int) {
	class := ""
	if p == m.v.Default {
		class = ` class="def"`
	} else if p == m.v.Chosen || p == m.v.Alternative {
		class = ` class="cho"`
	}
	fmt.Fprintf(b, `<tr data-p=%d%s><th scope=row>%s`, p, class, html.EscapeString(m.rowName(p)))
	for _, k := range keys {
		b.WriteString("<td>")
		b.WriteString(m.text(p, k))
		if p == m.v.Points[p].Base {
			continue
		}
		t, ok := m.moved(p, k)
		switch s := m.sign(p, k); {
		case !ok || m.m[k].Name == "completed":
		case s == '.':
			b.WriteString(" <i>" + tied + "</i>")
		default:
			b.WriteString(" <i" + map[byte]string{'+': " class=g", '-': " class=w"}[s] + ">" + change(t, m.m[k].changeUnit()) + "</i>")
		}
	}
	b.WriteString("\n")
}

func (m *model) text(p, metric int) string { return m.m[metric].text(m.mean(p, metric)) }

// rowName is a point's name with its part and state.
func (m *model) rowName(p int) string {
	v := &m.v.Points[p]
	words := []string{}
	switch {
	case p == m.v.Default && p == m.v.Chosen:
		words = append(words, m.kept())
	case p == m.v.Default:
		words = append(words, "default")
	case p == m.v.Chosen:
		words = append(words, m.v.Part())
	case p == m.v.Alternative:
		words = append(words, "alternative")
	case v.Tied:
		words = append(words, "≈ best")
	}
	switch m.status(p) {
	case 'f':
		words = append(words, "failed")
	case 'n':
		words = append(words, "not complete")
	case 's':
		words = append(words, "saturated")
	case 'i':
		words = append(words, "fewer requests complete")
	case 'o':
		if p == v.Base {
			words = append(words, "default at this load")
		}
	}
	if m.s.Points[p].Added && p != m.v.Reference {
		words = append(words, "added")
	}
	if m.s.Points[p].Beyond {
		words = append(words, "†")
	}
	return strings.Join(append([]string{v.Name}, words...), " · ")
}

// panelRow is a figure of the selected point beside the default's.
type panelRow struct {
	Metric                     int
	Title, Base, Value, Change string
	Class                      string
}

// panelMetrics are those listed for the selected point.
func (m *model) panelMetrics() []int {
	names := []string{
		"p50_ttft_ms", "p90_ttft_ms", "p99_ttft_ms", "p50_itl_ms", "p90_itl_ms", "p90_tpot_ms", "p90_e2e_ms", "goodput_share",
		"output_rate_tps", "reuse_share", "imbalance_busy", "queue_wait_mean_ms", "preemptions", "completed", "rejected", "lost", "cancelled", "unfinished",
	}
	out := []int{}
	for _, n := range names {
		rare := n == "lost" || n == "cancelled"
		if k := sweepdata.MetricIndex(n); k >= 0 && m.known(k) && !(rare && !m.any(k)) {
			out = append(out, k)
		}
	}
	return out
}

// any tells whether a count is above 0 at any point.
func (m *model) any(metric int) bool {
	for p := range m.s.Points {
		if m.mean(p, metric) > 0 {
			return true
		}
	}
	return false
}

// panel lists the figures of a point.
func (m *model) panel(p int) (rows []panelRow) {
	for _, k := range m.panelMetrics() {
		me := &m.m[k]
		r := panelRow{Metric: k, Title: me.Title, Value: me.full(m.mean(p, k)), Base: missing}
		if b := m.v.Points[p].Base; b >= 0 {
			r.Base = m.text(b, k)
			r.Change, r.Class = m.panelChange(p, k)
		}
		rows = append(rows, r)
	}
	return rows
}

func (m *model) panelChange(p, k int) (text, class string) {
	t, ok := m.moved(p, k)
	switch s := m.sign(p, k); {
	case p == m.v.Points[p].Base || !ok:
		return missing, ""
	case s == '.':
		return change(t, m.m[k].changeUnit()) + " " + tied, "eq"
	case s == '+':
		return change(t, m.m[k].changeUnit()), "good"
	case s == '-':
		return change(t, m.m[k].changeUnit()), "bad"
	default:
		return change(t, m.m[k].changeUnit()), ""
	}
}

// selectable are the entries of the metric picker: latencies, whose statistic
// is picked apart, and single metrics.
type pick struct {
	Key, Title string
	Absent     string // why it cannot be picked, "" where it can
	On         bool
}

func (m *model) picks() (families, stats []pick) {
	long := map[string]string{"ttft": "TTFT, time to first token", "itl": "ITL, inter-token latency", "tpot": "TPOT, time per output token", "e2e": "E2E, end-to-end latency"}
	objective := &m.m[m.v.Objective]
	for _, f := range []string{"ttft", "itl", "tpot", "e2e"} {
		k := pick{Key: f, Title: long[f], On: objective.Family == f}
		if !m.known(m.metric(f, "p90")) {
			k.Absent = "no request had one"
		}
		families = append(families, k)
	}
	for i := range m.m {
		me := &m.m[i]
		if _, latency := long[me.Family]; latency {
			continue
		}
		k := pick{Key: me.Name, Title: me.label(), On: i == m.v.Objective}
		if !m.known(i) {
			k.Absent = "not measured"
			if me.Family == "goodput" {
				k.Absent = "needs an SLA"
			}
		}
		families = append(families, k)
	}
	stat := m.stat()
	for _, s := range []string{"mean", "p50", "p90", "p95", "p99", "max"} {
		stats = append(stats, pick{Key: s, Title: s, On: s == stat})
	}
	return families, stats
}

// stat is the statistic shown at first: the objective's, else p90.
func (m *model) stat() string {
	if s, _, ok := strings.Cut(m.m[m.v.Objective].Name, "_"); ok && strings.HasSuffix(m.m[m.v.Objective].Name, "_ms") && m.metric(m.m[m.v.Objective].Family, s) == m.v.Objective {
		return s
	}
	return "p90"
}

// failures lists the first failed points with what they said.
func (m *model) failures() (list []string, more int) {
	for p := range m.s.Points {
		if e := m.s.Points[p].Error; e != "" {
			if len(list) == 5 {
				more++
				continue
			}
			list = append(list, m.v.Points[p].Name+": "+e)
		}
	}
	return list, more
}

func seedsText(n int) string {
	if n == 1 {
		return "1 seed"
	}
	return strconv.Itoa(n) + " seeds"
}
