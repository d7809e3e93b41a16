package page

import (
	"fmt"
	"math"
	"strconv"
)

// view is what the reader chose to see.
type view struct {
	metric int
	change bool // against the default, else the values
	along  int  // axis of the slice
	held   []int
	chosen int // selected point
}

// mapRange is the change in % at which the colours of the map end; for shares
// it is a third of it, in pp.
const mapRange = 30

// level is the colour of a change in tenths: -5 much better to 5 much worse.
func level(t int64, me *measure) int {
	step := mapRange * 10 / 5.5
	if me.points() {
		step /= 3
	}
	n := math.Floor(math.Abs(float64(t))/step + 0.5)
	n = math.Min(n, 5)
	if (t < 0) == (me.Dir > 0) {
		return int(n)
	}
	return -int(n)
}

// levelClass names the colour of a level.
func levelClass(l int) string {
	switch {
	case l < 0:
		return "g" + strconv.Itoa(-l)
	case l > 0:
		return "w" + strconv.Itoa(l)
	}
	return "z"
}

// cell is one field of the map.
type cell struct {
	p           int
	class, text string
	hatched     bool
}

// cellOf says how a point looks in the map.
func (m *model) cellOf(p int, v *view, lo, hi float64) cell {
	if p < 0 {
		return cell{p: -1, class: "no", text: "·"}
	}
	c := cell{p: p}
	switch m.status(p) {
	case 'f':
		c.class, c.text = "no", "✕"
		return c
	case 'n':
		c.class, c.text = "no", "·"
		return c
	case 's':
		c.class, c.text = "sat", "sat."
		return c
	case 'i':
		c.class, c.text = "sat", "inc."
		return c
	}
	me := &m.m[v.metric]
	value := m.shown(p, v.metric)
	if !v.change {
		if math.IsNaN(value) {
			c.class, c.text = "no", missing
			return c
		}
		q := 3.0
		if hi > lo {
			q = math.Min(6, math.Floor((value-lo)/(hi-lo)*7))
		}
		c.class, c.text = "q"+strconv.Itoa(int(q)), number(value, me.Kind)
		return c
	}
	if p == m.v.Points[p].Base {
		c.class, c.text = "z", "def."
		return c
	}
	t, ok := m.moved(p, v.metric)
	if !ok {
		c.class, c.text = "no", missing
		return c
	}
	c.class, c.text = levelClass(level(t, me)), brief(t, me.points())
	if d := m.diff(p, v.metric); !d.Shown {
		c.class += " eq"
	}
	return c
}

// heatSize is the layout of a map.
type heatSize struct {
	w, h, left, top, cw, ch float64
	numbers, wide           bool
}

const mostNumbers = 400 // cells with numbers; above, colours only

func heatLayout(x, y *axis) heatSize {
	label := 0.0
	for _, v := range y.Values {
		label = math.Max(label, width(shorten(v, 18), 12.5))
	}
	nx, ny := float64(len(x.Values)), float64(len(y.Values))
	s := heatSize{w: 620, left: math.Ceil(label) + 32, top: 4}
	if need := s.left + 4 + float64(36*nx); need > s.w {
		s.w, s.wide = math.Min(need, 1132), true
	}
	s.cw = (s.w - s.left - 4) / nx
	switch {
	case ny <= 12:
		s.ch = math.Min(64, math.Max(31, 160/ny))
	case ny <= 20:
		s.ch = 25
	default:
		s.ch = 18
	}
	s.numbers = nx*ny <= mostNumbers && s.cw >= 28
	s.h = s.top + float64(ny*s.ch) + 44
	return s
}

// extent is the range of a metric over the points that may be compared.
func (m *model) extent(metric int) (lo, hi float64) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for p := range m.s.Points {
		if v := m.shown(p, metric); m.comparable(p) && !math.IsNaN(v) {
			lo, hi = math.Min(lo, v), math.Max(hi, v)
		}
	}
	return lo, hi
}

// heat draws the map of two settings, the others held at v.held.
func (m *model) heat(v *view) *canvas {
	x, y := &m.axes[m.maps[0]], &m.axes[m.maps[1]]
	s := heatLayout(x, y)
	c := newCanvas("heat", s.w, s.h)
	c.name = m.heatLabel(v)
	lo, hi := m.extent(v.metric)
	type frame struct {
		class string
		x, y  float64
	}
	var frames []frame
	at := append([]int(nil), v.held...)
	texts := s.numbers
	cells := make([][]cell, len(y.Values))
	short := false
	for j := range y.Values {
		for i := range x.Values {
			at[m.maps[0]], at[m.maps[1]] = i, j
			k := m.cellOf(m.at(at), v, lo, hi)
			cells[j] = append(cells[j], k)
			short = short || width(k.text, 12) > s.cw-3
		}
	}
	for j := range y.Values {
		top := s.top + float64(float64(len(y.Values)-1-j)*s.ch)
		c.text("tk", "end", s.left-8, top+s.ch/2+4, 0, shorten(y.Values[j], 18))
		for i, k := range cells[j] {
			l := s.left + float64(float64(i)*s.cw)
			if short && !v.change && k.class[0] == 'q' {
				k.text = compact(m.shown(k.p, v.metric))
			}
			m.drawCell(c, k, l, top, s, texts && width(k.text, 12) <= s.cw-1)
			if f := m.frameOf(k.p, v.metric); f != "" {
				frames = append(frames, frame{f, l, top})
			}
		}
	}
	for _, f := range frames {
		c.draw("rect", f.class, "x", f.x+1.5, "y", f.y+1.5, "width", s.cw-4, "height", s.ch-4, "rx", 2.0)
	}
	m.heatAxes(c, s, x, y)
	return c
}

func (m *model) heatAxes(c *canvas, s heatSize, x, y *axis) {
	bottom, last := s.top+float64(float64(len(y.Values))*s.ch), math.Inf(-1)
	for i, t := range x.Values {
		t = shorten(t, 18)
		p, w := s.left+float64((float64(i)+0.5)*s.cw), width(t, 12.5)
		if p-w/2 < last+4 || p+w/2 > s.w+2 {
			continue
		}
		c.text("tk", "middle", p, bottom+16, 0, t)
		last = p + w/2
	}
	c.text("ax", "middle", s.left+float64(float64(len(x.Values))*s.cw)/2, bottom+36, 0, x.label())
	c.text("ax", "middle", 13, (s.top+bottom)/2, -90, y.labelIn(int(math.Max(8, (bottom-s.top)/8))))
}

func (m *model) drawCell(c *canvas, k cell, x, y float64, s heatSize, text bool) {
	if k.p < 0 {
		c.open("c " + k.class)
	} else {
		c.open("c "+k.class, "data-p", k.p)
	}
	c.draw("rect", "", "x", x, "y", y, "width", s.cw-1, "height", s.ch-1, "rx", 2.0)
	if text && k.text != "" {
		c.text("", "middle", x+(s.cw-1)/2, y+s.ch/2+4, 0, k.text)
	}
	c.close()
}

// frameOf is the frame of a point's cell in the map of a metric. Ties are of the
// objective.
func (m *model) frameOf(p, metric int) string {
	switch {
	case p < 0:
		return ""
	case p == m.v.Chosen && p == m.v.Default:
		return "fc fd"
	case p == m.v.Chosen || p == m.v.Alternative:
		return "fc"
	case p == m.v.Default:
		return "fd"
	case metric == m.v.Objective && m.v.Points[p].Tied:
		return "ft"
	}
	return ""
}

func (m *model) heatLabel(v *view) string {
	what := "value"
	if v.change {
		what = "change against the default in " + m.m[v.metric].changeUnit()
	}
	return fmt.Sprintf("%s by %s and %s, %s. %s: %s. The table of points holds the same figures.",
		m.m[v.metric].Title, m.axes[m.maps[0]].Title, m.axes[m.maps[1]].Title, what, capital(m.v.Part()), m.name(m.v.Chosen))
}
