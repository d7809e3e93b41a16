package page

import (
	"fmt"
	"math"
	"slices"
)

// rows draws a value with its interval per point, sorted, for settings whose
// values are words.
func (m *model) rows(metric int) *canvas {
	a, held := m.live[0], m.held()
	list := m.along(a, held, metric)
	list = slices.DeleteFunc(list, func(s sample) bool { return s.p < 0 || s.off || math.IsNaN(s.v) })
	me := &m.m[metric]
	slices.SortStableFunc(list, func(p, q sample) int {
		d := p.v - q.v
		if me.Dir > 0 {
			d = -d
		}
		switch {
		case d < 0:
			return -1
		case d > 0:
			return 1
		}
		return 0
	})
	label, text := 60.0, 0.0
	var all []float64
	for _, s := range list {
		label = math.Max(label, width(shorten(m.axes[a].Values[s.at], 30), 12.5))
		text = math.Max(text, width(me.full(m.mean(s.p, metric)), 12.5))
		all = append(all, s.v, s.lo, s.hi)
	}
	c := newCanvas("rows", 620, 20+float64(30*len(list))+46)
	x := scale{a: math.Ceil(label) + 22, b: c.w - math.Ceil(text) - 26}
	x.lo, x.hi = span(all)
	b := box{x.a, x.b, 8, c.h - 44}
	for _, t := range x.ticks(5) {
		c.line("gl", x.at(t.v), b.t, x.at(t.v), b.b)
	}
	c.xAxis(b, x.ticks(5), x.at, axisText(me))
	for i, s := range list {
		y := 24 + float64(30*i)
		c.text("", "end", x.a-12, y+4, 0, shorten(m.axes[a].Values[s.at], 30))
		if !math.IsNaN(s.lo) {
			c.draw("path", "ci", "d", "M"+px(x.at(s.lo))+" "+px(y)+"H"+px(x.at(s.hi)))
		}
		c.mark(m.roleOf(s.p), x.at(s.v), y, s.p)
		c.text("", "end", c.w-4, y+4, 0, me.full(m.mean(s.p, metric)))
	}
	c.name = fmt.Sprintf("%s by %s, best first. %s: %s.", me.Title, m.axes[a].Title, capital(m.v.Part()), m.name(m.v.Chosen))
	return c
}

// mostKnobs is how many settings of scattered points have a picture.
const mostKnobs = 6

// knob draws a metric over one setting of scattered points, with a running
// median.
func (m *model) knob(a, metric int) *canvas {
	me, ax := &m.m[metric], &m.axes[a]
	c := newCanvas(fmt.Sprintf("knob%d", a), 366, 250)
	var list []dot
	var ys []float64
	for _, d := range m.dots(metric, metric, nil) {
		if m.vals[d.p][a] >= 0 {
			list, ys = append(list, d), append(ys, d.y)
		}
	}
	y := scale{}
	y.lo, y.hi = span(ys)
	yt := y.ticks(5)
	b := box{left(yt), c.w - 10, 10, c.h - 44}
	y.a, y.b = b.b, b.t
	places := ax.places(b.l+8, b.r-8)
	ticks, at := knobTicks(ax), func(v float64) float64 { return places[int(v)] }
	if n := len(ax.Numbers); n > 11 && !ax.Log {
		x := scale{lo: ax.Numbers[0], hi: ax.Numbers[n-1], a: b.l + 8, b: b.r - 8}
		ticks, at = x.ticks(4), x.at
	}
	c.frame(b, ticks, at, y, yt, ax.label(), axisText(me))
	c.draw("path", "ln l1", "d", path(running(list, m.vals, a, places, y)))
	for _, d := range list {
		c.mark(d.role, places[m.vals[d.p][a]], y.at(d.y), d.p)
	}
	c.name = fmt.Sprintf("%s over %s, %d points, with a running median.", me.Title, ax.Title, len(list))
	return c
}

// running is the median of each point and its neighbours along the setting: a
// fifth of all points, at least 3.
func running(list []dot, vals [][]int, a int, places []float64, y scale) []point {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(p, q dot) int {
		if d := vals[p.p][a] - vals[q.p][a]; d != 0 {
			return d
		}
		return p.p - q.p
	})
	half := max(1, len(list)/10)
	var out []point
	for i := half; i+half < len(list); i++ {
		var near []float64
		for _, d := range list[i-half : i+half+1] {
			near = append(near, d.y)
		}
		slices.Sort(near)
		out = append(out, point{places[vals[list[i].p][a]], y.at(near[half])})
	}
	return out
}
