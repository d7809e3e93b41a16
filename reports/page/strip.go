package page

import (
	"fmt"
	"math"
	"slices"

	"routesim/reports/verdict"
)

// strip draws the changes of the chosen point around a line of no change.
// Figures that are not in % are shown by their values only.
func (m *model) strip() *canvas {
	list, head := m.deltas()
	if len(list) == 0 || m.v.Chosen == m.v.Default && m.rival() < 0 { // nothing to compare with
		return nil
	}
	const row = 33.0
	c := newCanvas("strip", 560, 34+float64(row*float64(len(list)))+24)
	title, values := 70.0, 0.0
	most := 5.0
	for i := range list {
		d := &list[i]
		title = math.Max(title, width(d.Title, 12.5))
		values = math.Max(values, width(deltaText(d), 12.5))
		if d.OK && d.Kind != verdict.Plain {
			most = math.Max(most, math.Abs(d.Mean))
			if d.Interval.OK {
				most = math.Max(most, math.Max(math.Abs(d.Lo), math.Abs(d.Hi)))
			}
		}
	}
	// The ends stand at a whole step of 5, 10 or 20 with some room.
	most = math.Min(most, 100) * 1.06
	for _, step := range []float64{5, 10, 20, 120} {
		if n := math.Ceil(most / step); n <= 5 || step == 120 {
			most = n * step
			break
		}
	}
	x := scale{lo: -most, hi: most, a: math.Ceil(title) + 16, b: c.w - math.Ceil(values) - 18}
	y0, y1 := 26.0, c.h-24
	ticks := x.ticks(5)
	last := math.Inf(-1)
	for _, t := range ticks {
		class, text := "gl", t.text
		if t.v == 0 {
			class = "zero"
		} else if t.v > 0 {
			text = "+" + text
		}
		c.line(class, x.at(t.v), y0, x.at(t.v), y1)
		if p, w := x.at(t.v), width(text, 12.5); p-w/2 > last+6 {
			c.text("tk", "middle", p, y1+17, 0, text)
			last = p + w/2
		}
	}
	c.text("ax", "middle", x.at(0), 15, 0, "change (%, pp)")
	c.text("ax", "end", c.w-2, 15, 0, head)
	for i := range list {
		c.delta(&list[i], x, y0+float64((float64(i)+0.5)*row))
	}
	c.name = "Change of each figure " + head + ": "
	for i := range list {
		if i > 0 {
			c.name += "; "
		}
		c.name += list[i].Title + " " + list[i].Text
		if list[i].Range != "" {
			c.name += " (" + list[i].Range + ")"
		}
	}
	return c
}

// rival is the point to show beside a default that is kept: the best other one.
func (m *model) rival() int {
	if m.v.Chosen != m.v.Default {
		return -1
	}
	for _, p := range m.v.Order {
		if p != m.v.Default {
			return p
		}
	}
	return -1
}

// deltas are the rows of the strip with their head: of the chosen point, or of
// the best other one where the default is kept.
func (m *model) deltas() (list []verdict.Delta, head string) {
	p := m.rival()
	if p < 0 {
		return m.v.Deltas, "default → " + m.v.Part()
	}
	for _, d := range m.v.Deltas {
		me := &m.m[d.Metric]
		d.Value, d.ValueText, d.Diff = m.mean(p, d.Metric), m.text(p, d.Metric), m.diff(p, d.Metric)
		if me.Kind == ratio && me.Unit != "" {
			d.ValueText += me.Unit
		}
		d.Text, d.Range = d.Diff.Text(me.Metric.Unit), d.Diff.Range(me.Metric.Unit)
		list = append(list, d)
	}
	return list, "default → " + shorten(m.v.Points[p].Name, 14)
}

// stripTitle names the two points of the strip.
func (m *model) stripTitle() string {
	if p := m.rival(); p >= 0 {
		return "Best other point, " + m.v.Points[p].Name + ", against the default"
	}
	return capital(m.v.Part()) + " against default"
}

func deltaText(d *verdict.Delta) string {
	s := d.BaseText + " → " + d.ValueText
	if d.Unit != "" && d.Unit != "×" {
		s += hard + d.Unit
	}
	return s
}

// delta draws one row of the strip.
func (c *canvas) delta(d *verdict.Delta, x scale, y float64) {
	class := "eq"
	switch {
	case d.Better > 0:
		class = "good"
	case d.Better < 0:
		class = "bad"
	}
	tip := d.Title + ": " + deltaText(d)
	if d.Text != "" {
		tip += ", " + d.Text
	}
	if d.Range != "" {
		tip += ", 95 % interval " + d.Range
	}
	c.open("dl "+class, "data-t", tip)
	c.text("", "end", x.a-12, y+4, 0, d.Title)
	if d.OK && d.Kind != verdict.Plain {
		within := func(v float64) float64 { return x.at(math.Min(math.Max(v, x.lo), x.hi)) }
		if d.Interval.OK {
			lo, hi := within(d.Lo), within(d.Hi)
			c.draw("path", "ci", "d", "M"+px(lo)+" "+px(y)+"H"+px(hi)+"M"+px(lo)+" "+px(y-4)+"v8M"+px(hi)+" "+px(y-4)+"v8")
		}
		at := within(d.Mean)
		if d.Better < 0 {
			c.draw("rect", "pt", "x", at-4.5, "y", y-4.5, "width", 9.0, "height", 9.0)
		} else {
			c.draw("circle", "pt", "cx", at, "cy", y, "r", 5.0)
		}
	} else {
		c.text("tk", "middle", x.at(0), y+4, 0, missing)
	}
	c.text("", "end", c.w-2, y+4, 0, deltaText(d))
	c.close()
}

// outcomeRow is a row of the counts below the strip.
type outcomeRow struct {
	Label string
	Cells []string
}

// outcomes counts what became of the requests.
func (m *model) outcomes() (heads []string, rows []outcomeRow) {
	pick := []struct {
		label string
		of    func(*verdict.Outcome) float64
		kind  kind
		rare  bool // not listed where it is 0 everywhere
	}{
		{"completed, of " + number(float64(m.s.Trace.Rows), count), func(o *verdict.Outcome) float64 { return o.Completed }, count, false},
		{"rejected", func(o *verdict.Outcome) float64 { return o.Rejected }, count, false},
		{"lost to crashes", func(o *verdict.Outcome) float64 { return o.Lost }, count, true},
		{"cancelled", func(o *verdict.Outcome) float64 { return o.Cancelled }, count, true},
		{"unfinished", func(o *verdict.Outcome) float64 { return o.Unfinished }, count, false},
		{"preemptions", func(o *verdict.Outcome) float64 { return o.Preempted }, count, false},
		{"output tokens/s", func(o *verdict.Outcome) float64 { return o.OutputRate }, significant, false},
	}
	for i := range m.v.Outcome {
		heads = append(heads, m.v.Outcome[i].Name)
	}
	for _, k := range pick {
		row := outcomeRow{Label: k.label}
		if k.rare && !slices.ContainsFunc(m.v.Outcome, func(o verdict.Outcome) bool { return k.of(&o) > 0 }) {
			continue
		}
		for i := range m.v.Outcome {
			row.Cells = append(row.Cells, number(k.of(&m.v.Outcome[i]), k.kind))
		}
		rows = append(rows, row)
	}
	if len(heads) == 0 {
		return nil, nil
	}
	return heads, rows
}

// stripCaption explains the strip.
func (m *model) stripCaption() string {
	n := 0
	for i := range m.v.Deltas {
		n = max(n, m.v.Deltas[i].N)
	}
	s := fmt.Sprintf("Mean over %d paired seeds with its 95 %% interval.", n)
	if m.v.Confirmed {
		s = fmt.Sprintf("Mean over %d paired fresh seeds with its 95 %% interval.", n)
	}
	if m.v.Confirmed {
		s += " Plots and tables below are of the seeds of the sweep."
	}
	return s + " Filled dot: better. Square: worse. Hollow: no difference shown."
}
