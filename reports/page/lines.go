package page

import (
	"fmt"
	"math"
	"strconv"
)

// sample is a value of a series at a place of the axis.
type sample struct {
	at     int // place among the axis' values
	p      int // the point, -1 for none
	v      float64
	lo, hi float64 // interval, NaN where there is none
	off    bool    // not comparable: a triangle at the upper edge
}

// series is a line of a plot with the class of its form.
type series struct {
	line    int
	name    string
	samples []sample
}

// lineSpec describes a plot of series along a swept setting.
type lineSpec struct {
	id     string
	w, h   float64
	x      *axis
	title  string // of the y axis
	list   []series
	fixed  bool    // y runs from 0 to 100
	target float64 // a line across, NaN for none
	goal   string  // its text
}

// lines draws series along a setting, with bands where intervals are known.
func lines(s *lineSpec) *canvas {
	c := newCanvas(s.id, s.w, s.h)
	var all []float64
	var keys []entry
	off := false
	for _, l := range s.list {
		for _, p := range l.samples {
			if p.off {
				off = true
				continue
			}
			all = append(all, p.v, p.lo, p.hi)
		}
		keys = append(keys, entry{l.line, l.name})
	}
	if !math.IsNaN(s.target) {
		keys = append(keys, entry{-1, s.goal})
	}
	y := scale{}
	if y.lo, y.hi = span(all); s.fixed {
		y.lo, y.hi = 0, 100
	}
	top := 8.0
	if len(keys) > 0 {
		top = c.legend(44, s.w, keys) + 8
	}
	if off {
		top += 12
	}
	ys := y.ticks(6)
	a := box{left(ys), s.w - 12, top, s.h - 44}
	y.a, y.b = a.b, a.t
	if n, alike := identical(s.list); n > 1 && alike && !s.fixed {
		c.text("tk", "middle", (a.l+a.r)/2, a.t+14, 0, fmt.Sprintf("all %d values identical", n))
	}
	places := s.x.places(a.l+10, a.r-10)
	c.frame(a, knobTicks(s.x), func(v float64) float64 { return places[int(v)] }, y, ys, s.x.label(), s.title)
	for i := len(s.list) - 1; i >= 0; i-- {
		c.series(&s.list[i], places, y, a)
	}
	if !math.IsNaN(s.target) {
		c.line("slo", a.l, y.at(s.target), a.r, y.at(s.target))
	}
	return c
}

// series draws one line with its band, then its points.
func (c *canvas) series(l *series, places []float64, y scale, a box) {
	n := strconv.Itoa(l.line)
	var mid, up, down []point
	for _, p := range l.samples {
		if p.off || math.IsNaN(p.v) {
			mid = append(mid, point{math.NaN(), math.NaN()})
			continue
		}
		x := places[p.at]
		mid = append(mid, point{x, y.at(p.v)})
		lo, hi := p.lo, p.hi
		if math.IsNaN(lo) {
			lo, hi = p.v, p.v
		}
		up, down = append(up, point{x, y.at(hi)}), append([]point{{x, y.at(lo)}}, down...)
	}
	if len(up) > 1 && banded(l) {
		c.draw("path", "bd b"+n, "d", path(append(up, down...))+"Z")
	}
	c.draw("path", "ln l"+n, "d", path(mid))
	for _, p := range l.samples {
		switch {
		case p.off:
			x := places[p.at]
			c.draw("path", "off", "d", "M"+px(x)+" "+px(a.t-11)+"l5 9h-10z", "data-p", p.p)
		case !math.IsNaN(p.v) && p.p >= 0:
			c.draw("circle", "dt d"+n, "cx", places[p.at], "cy", y.at(p.v), "r", 3.2, "data-p", p.p)
		}
	}
}

// identical counts the values of all series, and tells whether they are alike.
func identical(list []series) (n int, alike bool) {
	first := math.NaN()
	alike = true
	for _, l := range list {
		for _, p := range l.samples {
			if p.off || math.IsNaN(p.v) {
				continue
			}
			if n == 0 {
				first = p.v
			}
			n++
			alike = alike && p.v == first
		}
	}
	return n, alike
}

func banded(l *series) bool {
	for _, p := range l.samples {
		if !p.off && !math.IsNaN(p.lo) {
			return true
		}
	}
	return false
}

// along collects the points along an axis, all others held.
func (m *model) along(a int, held []int, metric int) []sample {
	at := append([]int(nil), held...)
	var out []sample
	for i := range m.axes[a].Values {
		at[a] = i
		p := m.at(at)
		if p < 0 || m.status(p) == 'n' || m.status(p) == 'f' {
			out = append(out, sample{at: i, p: -1, v: math.NaN(), lo: math.NaN(), hi: math.NaN()})
			continue
		}
		s := sample{at: i, p: p, v: m.shown(p, metric), lo: math.NaN(), hi: math.NaN(), off: !m.comparable(p)}
		if lo, hi, ok := m.bounds(p, metric); ok {
			s.lo, s.hi = lo, hi
		}
		out = append(out, s)
	}
	return out
}

// heldName names the values of the live axes other than a.
func (m *model) heldName(a int, held []int) string {
	text := ""
	for _, b := range m.live {
		if b == a || held[b] < 0 {
			continue
		}
		if text != "" {
			text += ", "
		}
		text += shortAxis(m.axes[b].Name) + " " + shorten(m.axes[b].Values[held[b]], 18)
	}
	return text
}

// slice draws a metric along one axis, at the other settings of the selected
// point, of the chosen one and of the default.
func (m *model) slice(v *view) *canvas {
	if list := m.ofLoads(v); list != nil {
		return m.sliced(v, list, fmt.Sprintf("one line for each value of %s.", m.axes[m.across(v.along)].Title))
	}
	var list []series
	seen := map[string]bool{}
	for _, k := range []struct {
		p, line int
		part    string
	}{{v.chosen, 3, "selected"}, {m.v.Chosen, 1, m.v.Part()}, {m.v.Default, 0, "default"}} {
		if k.p < 0 || k.p == m.v.Default && k.part == m.v.Part() || k.part == "selected" && (k.p == m.v.Chosen || k.p == m.v.Default) {
			continue
		}
		name := m.heldName(v.along, m.vals[k.p])
		if seen[name] {
			continue
		}
		seen[name] = true
		list = append(list, series{k.line, join(name, k.part), m.along(v.along, m.vals[k.p], v.metric)})
	}
	return m.sliced(v, list, "at the other settings of the "+m.v.Part()+" and of the default point.")
}

// sliced draws the lines of a slice; the text says what they are.
func (m *model) sliced(v *view, list []series, text string) *canvas {
	me := &m.m[v.metric]
	c := lines(&lineSpec{id: "slice", w: 486, h: 333, x: &m.axes[v.along], title: me.label(), list: list, target: math.NaN()})
	c.name = fmt.Sprintf("%s along %s, %s", me.Title, m.axes[v.along].Title, text)
	return c
}

// mostLines is how many lines of a plot have a form of their own.
const mostLines = 5

// across is the axis of the map that a slice does not run along.
func (m *model) across(along int) int {
	if m.maps[0] == along {
		return m.maps[1]
	}
	return m.maps[0]
}

// ofLoads has a line for each value across, the default's in the form of the
// default, where just the load was varied; nil where that is too many.
func (m *model) ofLoads(v *view) (list []series) {
	b := m.across(v.along)
	if !m.onlyLoad() || len(m.axes[b].Values) > mostLines {
		return nil
	}
	own := -1
	if m.v.Default >= 0 {
		own = m.vals[m.v.Default][b]
	}
	for i := range m.axes[b].Values {
		held := append([]int(nil), v.held...)
		held[b] = i
		line := i
		switch {
		case i == own:
			line = 0
		case i < own:
			line++
		}
		list = append(list, series{line, m.heldName(v.along, held), m.along(v.along, held, v.metric)})
	}
	return list
}

// statistics are those of a latency that are drawn together.
var statistics = [...]string{"mean", "p50", "p90", "p99"}

// familyOf is the metric's family with the statistics that it has.
func (m *model) familyOf(metric int) (name string, list []int) {
	f := m.m[metric].Family
	if m.metric(f, "mean") < 0 {
		return m.m[metric].Title, []int{metric}
	}
	for _, s := range statistics {
		list = append(list, m.metric(f, s))
	}
	return m.m[metric].Title, list
}

// family draws the statistics of a latency along the one live axis.
func (m *model) family(id string, metric int) *canvas {
	a := m.live[0]
	held := m.held()
	_, metrics := m.familyOf(metric)
	var list []series
	for i, k := range metrics {
		line := []int{0, 2, 1, 3}[i]
		if len(metrics) == 1 {
			line = 1
		}
		list = append(list, series{line, m.m[k].Title, m.along(a, held, k)})
	}
	me := &m.m[metric]
	title := me.label()
	if len(metrics) > 1 {
		title = familyTitle(me.Family) + " (" + me.Unit + ")"
	}
	c := lines(&lineSpec{id: id, w: 553, h: 333, x: &m.axes[a], title: title, list: list, target: math.NaN()})
	c.name = fmt.Sprintf("%s along %s. %s: %s.", title, m.axes[a].Title, capital(m.v.Part()), m.name(m.v.Chosen))
	return c
}

// held are the places of the values that further axes are held at: the chosen
// point's, else the default's, else the first.
func (m *model) held() []int {
	for _, p := range []int{m.v.Chosen, m.v.Default, m.v.Best} {
		if p >= 0 && p < len(m.vals) {
			out := append([]int{}, m.vals[p]...)
			for a := range out {
				out[a] = max(out[a], 0)
			}
			return out
		}
	}
	return make([]int, len(m.axes))
}
