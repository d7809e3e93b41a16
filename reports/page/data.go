package page

import (
	"encoding/json"
	"html/template"
	"math"
	"slices"
	"strconv"
	"strings"
)

// mostBands is how many points may keep intervals of all metrics; above that
// only those of the objective's family are kept.
const mostBands = 250

// data is the block that the script reads: columns by metric, values in the
// unit shown and with as many digits as are shown, changes in tenths of % or pp.
func (m *model) data(all map[int]*distribution, runs []*strips) (template.JS, error) {
	var b strings.Builder
	field := func(name string, v any) {
		if b.Len() > 0 {
			b.WriteString(",\n")
		} else {
			b.WriteString("{")
		}
		b.WriteString(quote(name) + ":" + jsonText(v))
	}
	field("metrics", m.metricRows())
	field("axes", m.axisRows())
	field("live", orEmpty(m.live))
	field("loads", m.onlyLoad())
	field("map", orEmpty(m.maps))
	field("shape", m.shape)
	field("part", m.v.Part())
	field("kept", m.kept())
	field("roles", []int{m.v.Default, m.v.Chosen, m.v.Alternative, m.v.Reference})
	field("objective", m.v.Objective)
	ids, names, base := make([]string, 0), make([]string, 0), make([]int, 0)
	status, tie := []byte{}, []byte{}
	for p := range m.s.Points {
		ids, names, base = append(ids, m.s.Points[p].ID), append(names, m.v.Points[p].Name), append(base, m.v.Points[p].Base)
		status = append(status, m.status(p))
		tie = append(tie, map[bool]byte{false: '0', true: '1'}[m.v.Points[p].Tied])
	}
	field("ids", ids)
	field("names", names)
	field("base", base)
	field("status", string(status))
	field("tied", string(tie))
	field("vals", m.vals)
	field("outside", m.outside())
	field("added", m.addedPoints())
	field("val", m.columns(func(p, k int) string { return exact(m.shown(p, k)) }))
	field("chg", m.columns(func(p, k int) string {
		if t, ok := m.moved(p, k); ok {
			return strconv.FormatInt(t, 10)
		}
		return "null"
	}))
	field("sign", m.signs())
	field("lo", m.columns(m.end(func(p, k int) (float64, bool) { d := m.diff(p, k); return d.Lo, d.Interval.OK })))
	field("hi", m.columns(m.end(func(p, k int) (float64, bool) { d := m.diff(p, k); return d.Hi, d.Interval.OK })))
	texts, err := m.flagTexts()
	if err != nil {
		return "", err
	}
	texts.fields(field)
	field("run", m.replay())
	field("seed", strconv.FormatUint(m.firstSeed(), 10))
	field("focus", m.focus())
	field("home", m.held())
	field("shares", shares())
	field("cdf", m.cdfRows(all))
	field("bounds", []float64{micro(m.bound(0) * m.unitOf("ttft")), micro(m.bound(1) * m.unitOf("tpot")), micro(m.bound(2) * m.unitOf("e2e"))})
	field("target", micro(m.s.SLA.Target*100))
	field("strips", stripRows(runs))
	b.WriteString("}")
	return template.JS(b.String()), nil
}

// exact writes a value with all its digits, null where there is none.
func exact(v float64) string {
	if math.IsNaN(v) {
		return "null"
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

func orEmpty(v []int) []int {
	if v == nil {
		return []int{}
	}
	return v
}

// micro rounds to millionths, which takes the traces of a change of units away.
func micro(v float64) float64 { return math.Round(v*1e6) / 1e6 }

// raw is text that is JSON already.
type raw string

// MarshalJSON implements json.Marshaler.
func (r raw) MarshalJSON() ([]byte, error) { return []byte(r), nil }

// jsonText encodes a value so that it can stand inside a script element: <, >,
// & and the line separators of Unicode are escaped.
func jsonText(v any) string {
	if r, ok := v.(raw); ok {
		return string(r)
	}
	text, err := json.Marshal(v)
	if err != nil { // nothing here holds NaN or a cycle
		panic(err)
	}
	return string(text)
}

func quote(s string) string { return jsonText(s) }

// unitOf is the factor from ms to the unit that a latency is shown in.
func (m *model) unitOf(family string) float64 {
	return m.m[m.metric(family, "p90")].Scale
}

func (m *model) metricRows() [][]any {
	var rows [][]any
	for i := range m.m {
		me := &m.m[i]
		rows = append(rows, []any{me.Name, me.Title, me.Unit, string(me.Kind), me.Family, me.Dir, me.points()})
	}
	return rows
}

func (m *model) axisRows() []map[string]any {
	rows := []map[string]any{}
	for i := range m.axes {
		a := &m.axes[i]
		rows = append(rows, map[string]any{
			"name": a.Name, "title": a.Title, "short": shortAxis(a.Name), "label": a.label(),
			"values": a.Values, "numbers": a.Numbers, "base": a.Base, "log": a.Log,
		})
	}
	return rows
}

func (m *model) addedPoints() []int {
	out := []int{}
	for p := range m.s.Points {
		if m.s.Points[p].Added {
			out = append(out, p)
		}
	}
	return out
}

// columns writes a column per metric; one whose values are all alike is written
// once.
func (m *model) columns(of func(p, metric int) string) raw {
	var b strings.Builder
	for k := range m.m {
		b.WriteString(map[bool]string{true: "[[", false: ",\n["}[k == 0])
		column := make([]string, len(m.s.Points))
		for p := range column {
			column[p] = of(p, k)
		}
		b.WriteString(strings.Join(alike(column), ",") + "]")
	}
	return raw(b.String() + "]")
}

// alike cuts a column of equal values to one.
func alike(column []string) []string {
	if len(column) > 1 && !slices.ContainsFunc(column, func(s string) bool { return s != column[0] }) {
		return column[:1]
	}
	return column
}

// end is one end of the intervals, left out for most metrics of large sweeps.
func (m *model) end(of func(p, metric int) (float64, bool)) func(p, k int) string {
	return func(p, k int) string {
		if len(m.s.Points) > mostBands && m.m[k].Family != m.m[m.v.Objective].Family {
			return "null"
		}
		if _, ok := m.moved(p, k); !ok {
			return "null"
		}
		if v, ok := of(p, k); ok {
			return strconv.FormatInt(tenths(v), 10)
		}
		return "null"
	}
}

// signs says of each metric and point whether it is shown to be better (+),
// worse (-), different (~), or nothing of that (.).
func (m *model) signs() []string {
	out := make([]string, len(m.m))
	for k := range m.m {
		text := make([]byte, len(m.s.Points))
		for p := range text {
			text[p] = m.sign(p, k)
		}
		out[k] = string(text)
		if strings.Count(out[k], ".") == len(text) {
			out[k] = "."
		}
	}
	return out
}

func (m *model) sign(p, metric int) byte {
	d := m.diff(p, metric)
	switch {
	case !d.OK:
		return '.'
	case d.Better > 0:
		return '+'
	case d.Better < 0:
		return '-'
	case d.Shown:
		return '~'
	}
	return '.'
}

// cdfRows holds distributions as differences of logarithms, in steps of a
// 2000th.
func (m *model) cdfRows(all map[int]*distribution) raw {
	var b strings.Builder
	for p := range m.s.Points {
		d := all[p]
		if d == nil {
			continue
		}
		b.WriteString(map[bool]string{true: "{", false: ",\n"}[b.Len() == 0] + `"` + strconv.Itoa(p) + `":[`)
		for k := range d {
			if k > 0 {
				b.WriteString(",")
			}
			b.WriteString(logSteps(d[k], m.unitOf(cdfFamilies[k])))
		}
		b.WriteString("]")
	}
	if b.Len() == 0 {
		return "{}"
	}
	return raw(b.String() + "}")
}

func logSteps(values []float64, unit float64) string {
	last := int64(0)
	parts := make([]string, len(values))
	for i, v := range values {
		n := int64(math.Round(2000 * math.Log(math.Max(v*unit, 1e-6))))
		parts[i] = strconv.FormatInt(n-last, 10)
		last = n
	}
	return "[" + strings.Join(parts, ",") + "]"
}

// stripRows holds the strips of workers, each as text: a character per cell
// where all values fit, for they are at most 93.
func stripRows(runs []*strips) []map[string]any {
	rows := []map[string]any{}
	for _, s := range runs {
		if s == nil {
			continue
		}
		var cells [3][]string
		for g := range s.Cells {
			for _, row := range s.Cells[g] {
				text := make([]string, len(row))
				for i, v := range row {
					text[i] = strconv.FormatUint(uint64(v), 36)
				}
				cells[g] = append(cells[g], pack(text))
			}
		}
		rows = append(rows, map[string]any{"width": s.Width, "shown": s.Shown, "cells": cells})
	}
	return rows
}

// pack joins cells; runs of equal ones are written as value*length.
func pack(cells []string) string {
	var b strings.Builder
	for i := 0; i < len(cells); {
		e := i + 1
		for e < len(cells) && cells[e] == cells[i] {
			e++
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(cells[i])
		if e-i > 1 {
			b.WriteString("*" + strconv.Itoa(e-i))
		}
		i = e
	}
	return b.String()
}
