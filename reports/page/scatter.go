package page

import (
	"fmt"
	"math"
	"slices"
	"strconv"
)

// scatterSpec describes a plot of all points in two metrics.
type scatterSpec struct {
	id     string
	w, h   float64
	x, y   int  // metrics
	front  bool // draw the front, and zoom to it and the default
	names  bool // of points on the front
	shares bool
}

// better is the arrow to say where the better end of an axis is.
func better(me *measure, vertical bool) string {
	up, down := "better →", "← better"
	if vertical {
		up, down = "better →", "← better"
	}
	switch {
	case me.Dir < 0:
		return down
	case me.Dir > 0:
		return up
	}
	return ""
}

func axisText(me *measure) string {
	t := me.label()
	if b := better(me, false); b != "" {
		t += " " + b
	}
	return t
}

// dot is a point of a scatter plot.
type dot struct {
	p     int
	x, y  float64
	role  role
	front bool
}

// dots collects the points that have both metrics and may be compared, the
// important ones last.
func (m *model) dots(x, y int, front []bool) []dot {
	var out []dot
	for p := range m.s.Points {
		if m.status(p) == 'd' && p != m.v.Chosen || !m.comparable(p) {
			continue
		}
		d := dot{p, m.shown(p, x), m.shown(p, y), m.roleOf(p), front != nil && front[p]}
		if math.IsNaN(d.x) || math.IsNaN(d.y) {
			continue
		}
		if d.role == onFront || d.role == other {
			if d.role = other; d.front {
				d.role = onFront
			}
		}
		out = append(out, d)
	}
	slices.SortStableFunc(out, func(a, b dot) int { return int(a.role) - int(b.role) })
	return out
}

// fewDots are shown all, without zooming in.
const fewDots = 8

// zoom is the area of front, default and chosen with 20 % around it.
func zoom(list []dot) (x0, x1, y0, y1 float64) {
	var xs, ys []float64
	for _, d := range list {
		if d.role == onFront || d.role == standard || d.role == chosen {
			xs, ys = append(xs, d.x), append(ys, d.y)
		}
	}
	if len(xs) == 0 {
		for _, d := range list {
			xs, ys = append(xs, d.x), append(ys, d.y)
		}
	}
	x0, x1 = span(xs)
	y0, y1 = span(ys)
	dx, dy := (x1-x0)*0.2, (y1-y0)*0.2
	return x0 - dx/4, x1 + dx, y0 - dy/4, y1 + dy
}

// scatter draws all points in two metrics.
func (m *model) scatter(s *scatterSpec) *canvas {
	c := newCanvas(s.id, s.w, s.h)
	mx, my := &m.m[s.x], &m.m[s.y]
	var front []bool
	if s.front {
		front = m.findFront(s.x, s.y)
	}
	list := m.dots(s.x, s.y, front)
	if len(list) == 0 {
		return nil
	}
	var xs, ys []float64
	for _, d := range list {
		xs, ys = append(xs, d.x), append(ys, d.y)
	}
	x, y := scale{}, scale{}
	x.lo, x.hi = span(xs)
	y.lo, y.hi = span(ys)
	if s.front && len(list) > fewDots {
		x0, x1, y0, y1 := zoom(list)
		x.lo, x.hi = math.Max(x.lo, x0), math.Min(x.hi, x1)
		y.lo, y.hi = math.Max(y.lo, y0), math.Min(y.hi, y1)
	}
	yt := y.ticks(6)
	a := box{left(yt), s.w - 12, 26, s.h - 44}
	x.a, x.b, y.a, y.b = a.l, a.r, a.b, a.t
	n := 6.0
	if s.w < 400 {
		n = 4
	}
	c.frame(a, x.ticks(n), x.at, y, yt, axisText(mx), axisText(my))
	inside, outside := split(list, x, y)
	if s.front {
		c.frontPath(inside, x, y, a)
	}
	for _, d := range inside {
		c.mark(d.role, x.at(d.x), y.at(d.y), d.p)
	}
	if outside > 0 {
		c.text("tk", "end", a.r, 14, 0, outsideText(outside, s.w))
	}
	m.nameDots(c, s, inside, x, y, a)
	c.name = fmt.Sprintf("%s against %s, %d points. %s: %s.", mx.Title, my.Title, len(list), capital(m.v.Part()), m.name(m.v.Chosen))
	return c
}

func outsideText(n int, w float64) string {
	what := " further points lie outside ↗"
	if n == 1 {
		what = " further point lies outside ↗"
	}
	if w < 400 {
		what = " more outside ↗"
	}
	return strconv.Itoa(n) + what
}

// split leaves out the points outside the axes.
func split(list []dot, x, y scale) (inside []dot, outside int) {
	for _, d := range list {
		if d.x < x.lo || d.x > x.hi || d.y < y.lo || d.y > y.hi {
			outside++
			continue
		}
		inside = append(inside, d)
	}
	return inside, outside
}

// frontPath joins the points of the front by steps.
func (c *canvas) frontPath(list []dot, x, y scale, a box) {
	var f []dot
	for _, d := range list {
		if d.front {
			f = append(f, d)
		}
	}
	if len(f) == 0 {
		return
	}
	slices.SortStableFunc(f, func(p, q dot) int {
		switch {
		case p.x < q.x:
			return -1
		case p.x > q.x:
			return 1
		}
		return 0
	})
	points := []point{{x.at(f[0].x), a.t}, {x.at(f[0].x), y.at(f[0].y)}}
	for i := 1; i < len(f); i++ {
		points = append(points, point{x.at(f[i].x), y.at(f[i-1].y)}, point{x.at(f[i].x), y.at(f[i].y)})
	}
	points = append(points, point{a.r, y.at(f[len(f)-1].y)})
	c.draw("path", "front", "d", path(points))
}

// reach is how far a mark extends from its place.
func (r role) reach() float64 {
	switch r {
	case chosen:
		return 9
	case other:
		return 4
	}
	return 7
}

const mostNames = 8

// nameDots writes the names of the important points, as far as there is room.
func (m *model) nameDots(c *canvas, s *scatterSpec, list []dot, x, y scale, a box) {
	l := labels{area: rect{a.l + 2, a.t - 8, c.w, a.b}}
	if s.w < 400 {
		l.area.r = c.w
	}
	for _, d := range list {
		px, py, r := x.at(d.x), y.at(d.y), d.role.reach()
		l.taken = append(l.taken, rect{px - r, py - r, px + r, py + r})
	}
	named := 0
	for i := len(list) - 1; i >= 0 && named < mostNames; i-- {
		d := list[i]
		text, class := m.dotName(d, s)
		if text == "" {
			continue
		}
		if at, anchor, lead, ok := l.place(x.at(d.x), y.at(d.y), text); ok {
			if lead != nil {
				c.draw("path", "ld", "d", path(lead))
			}
			c.text(class, anchor, at.x, at.y, 0, text)
			named++
		}
	}
}

func (m *model) dotName(d dot, s *scatterSpec) (text, class string) {
	name := shorten(m.v.Points[d.p].Name, 22)
	switch d.role {
	case chosen:
		text = m.v.Part()
		if d.p == m.v.Alternative {
			text = "alternative"
		}
		if s.names {
			text += " " + name
		}
		return text, "nm st"
	case standard:
		return "default", "nm st"
	case reference:
		return shorten(name, 16), "nm"
	case onFront:
		if s.names {
			return name, "nm"
		}
	}
	return "", ""
}
