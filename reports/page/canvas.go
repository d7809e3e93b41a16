package page

import (
	"html"
	"html/template"
	"math"
	"strconv"
	"strings"
)

// canvas collects the elements of a picture. Coordinates are px of its view
// box; all texts and labels are escaped.
type canvas struct {
	b    strings.Builder
	w, h float64
	id   string // for the script, "" for a picture that it does not draw
	name string // label for readers that cannot see it
	kind string // further class
}

func newCanvas(id string, w, h float64) *canvas { return &canvas{id: id, w: w, h: h} }

// svg is the finished picture.
func (c *canvas) svg() template.HTML {
	id := ""
	if c.id != "" {
		id = ` id="` + html.EscapeString(c.id) + `"`
	}
	return template.HTML(`<svg` + id + ` class="` + strings.TrimSpace("plot "+c.kind) + `" viewBox="0 0 ` + px(c.w) + " " + px(c.h) +
		`" width="` + px(c.w) + `" height="` + px(c.h) + `" role="img" aria-label="` + html.EscapeString(c.name) + `">` + c.b.String() + `</svg>`)
}

// attrs are pairs of names and values; coordinates come as numbers.
func (c *canvas) attrs(list ...any) {
	for i := 0; i < len(list); i += 2 {
		c.b.WriteString(" " + list[i].(string) + `="`)
		switch v := list[i+1].(type) {
		case float64:
			c.b.WriteString(px(v))
		case int:
			c.b.WriteString(strconv.Itoa(v))
		case string:
			c.b.WriteString(html.EscapeString(v))
		}
		c.b.WriteByte('"')
	}
}

// draw adds an element without content.
func (c *canvas) draw(name, class string, list ...any) {
	c.b.WriteString("<" + name)
	if class != "" {
		c.attrs("class", class)
	}
	c.attrs(list...)
	c.b.WriteString("/>")
}

func (c *canvas) line(class string, x1, y1, x2, y2 float64) {
	c.draw("line", class, "x1", x1, "y1", y1, "x2", x2, "y2", y2)
}

// text adds a text; anchor is start, middle or end, turn is in degrees.
func (c *canvas) text(class, anchor string, x, y, turn float64, text string) {
	c.b.WriteString("<text")
	if class != "" {
		c.attrs("class", class)
	}
	if anchor != "start" {
		c.attrs("text-anchor", anchor)
	}
	c.attrs("x", x, "y", y)
	if turn != 0 {
		c.attrs("transform", "rotate("+px(turn)+" "+px(x)+" "+px(y)+")")
	}
	c.b.WriteString(">" + html.EscapeString(text) + "</text>")
}

// open begins a group, close ends it.
func (c *canvas) open(class string, list ...any) {
	c.b.WriteString("<g")
	c.attrs("class", class)
	c.attrs(list...)
	c.b.WriteString(">")
}

func (c *canvas) close() { c.b.WriteString("</g>") }

// point is a place in px.
type point struct{ x, y float64 }

// path joins points by lines; a missing one interrupts.
func path(points []point) string {
	var b strings.Builder
	pen := "M"
	for _, p := range points {
		if math.IsNaN(p.x) || math.IsNaN(p.y) {
			pen = "M"
			continue
		}
		b.WriteString(pen + px(p.x) + " " + px(p.y))
		pen = "L"
	}
	return b.String()
}

// box is the area of a plot's data.
type box struct{ l, r, t, b float64 }

// frame draws horizontal grid lines with the values of y, the ticks of x, the
// line of the axis and both titles.
func (c *canvas) frame(a box, xs []tick, at func(float64) float64, y scale, ys []tick, xTitle, yTitle string) {
	for _, t := range ys {
		p := y.at(t.v)
		c.line("gl", a.l, p, a.r, p)
		c.text("tk", "end", a.l-7, p+4, 0, t.text)
	}
	c.xAxis(a, xs, at, xTitle)
	if yTitle != "" {
		c.text("ax", "middle", 13, (a.t+a.b)/2, -90, yTitle)
	}
}

// xAxis draws the axis below the data; labels that would touch are left out.
func (c *canvas) xAxis(a box, xs []tick, at func(float64) float64, title string) {
	c.line("al", a.l, a.b, a.r, a.b)
	last := math.Inf(-1)
	for _, t := range xs {
		p, w := at(t.v), width(t.text, 12.5)
		c.line("al", p, a.b, p, a.b+4)
		if p-w/2 < last+7 {
			continue
		}
		x, anchor := p, "middle"
		if p+w/2 > c.w-1 {
			x, anchor = c.w-1, "end"
			if x-w < last+7 {
				continue
			}
		}
		c.text("tk", anchor, x, a.b+18, 0, t.text)
		last = p + w/2
	}
	if title != "" {
		c.text("ax", "middle", (a.l+a.r)/2, a.b+37, 0, title)
	}
}

// knobTicks are an axis' values; the pixel of value i is found under i.
func knobTicks(a *axis) []tick {
	out := make([]tick, len(a.Values))
	for i, v := range a.Values {
		out[i] = tick{float64(i), shorten(v, 18)}
	}
	return out
}

// left is the room that labels of the y axis need, with the axis' title.
func left(ys []tick) float64 {
	w := 0.0
	for _, t := range ys {
		w = math.Max(w, width(t.text, 12.5))
	}
	return math.Ceil(w) + 30
}

// role is the part that a point takes in a picture.
type role int

const (
	other role = iota
	onFront
	reference
	standard // the default
	chosen
)

// mark draws a point by its role. The hidden circle makes it easier to hit.
func (c *canvas) mark(r role, x, y float64, p int) {
	switch r {
	case chosen:
		c.draw("path", "mc", "d", "M"+px(x)+" "+px(y-8)+"l8 8l-8 8l-8-8z", "data-p", p)
	case standard:
		c.draw("rect", "md", "x", x-5.5, "y", y-5.5, "width", 11.0, "height", 11.0, "data-p", p)
	case reference:
		c.draw("path", "mr", "d", "M"+px(x)+" "+px(y-6.5)+"l6.5 11.5h-13z", "data-p", p)
	case onFront:
		c.draw("circle", "mf", "cx", x, "cy", y, "r", 4.5, "data-p", p)
	default:
		c.draw("circle", "m", "cx", x, "cy", y, "r", 3.0, "data-p", p)
	}
}

// entry is a line of a legend.
type entry struct {
	line int // class of the line, -1 for a bound
	text string
}

// legend draws entries side by side from x on, in as many rows as they need,
// and returns the height used.
func (c *canvas) legend(x, right float64, list []entry) float64 {
	at, y := x, 13.0
	for _, e := range list {
		w := 38 + width(e.text, 12.5)
		if at > x && at+w > right {
			at, y = x, y+18
		}
		class := "ln l" + strconv.Itoa(e.line)
		if e.line < 0 {
			class = "slo"
		}
		c.line(class, at, y-4, at+28, y-4)
		c.text("", "start", at+34, y, 0, e.text)
		at += w + 14
	}
	if len(list) == 0 {
		return 0
	}
	return y + 7
}

// rect is a place that labels keep free.
type rect struct{ l, t, r, b float64 }

func (a rect) touches(b rect) bool { return a.l < b.r && b.l < a.r && a.t < b.b && b.t < a.b }

// labels places texts near their marks without touching each other, any mark or
// the border; a text without room is left out.
type labels struct {
	area  rect
	taken []rect
}

// try is a place of a text relative to its mark.
type try struct {
	dx, dy float64
	anchor string
	lead   bool // the mark is out of reach: a line leads there
}

// tries are the places in the order in which they are looked at: beside the mark,
// then ever farther away.
func tries() []try {
	list := []try{
		{11, -7, "start", false}, {11, 15, "start", false}, {-11, -7, "end", false}, {-11, 15, "end", false}, {0, -12, "middle", false}, {0, 21, "middle", false},
		{13, 4, "start", false}, {-13, 4, "end", false}, {16, -22, "start", true}, {-16, 30, "end", true},
	}
	for _, d := range []float64{20, 28, 42, 58, 76, 96, 120} {
		list = append(list, try{8, -d, "end", true}, try{-8, -d, "start", true}, try{0, -d, "middle", true}, try{8, d + 8, "end", true}, try{-8, d + 8, "start", true},
			try{d, 4 - d/2, "start", true}, try{d, 4 + d/2, "start", true}, try{-d, 4 - d/2, "end", true}, try{-d, 4 + d/2, "end", true}, try{d, 4, "start", true}, try{-d, 4, "end", true})
	}
	return list
}

// leader is the line from a mark at x, y to the nearest place of its label.
func leader(x, y float64, r rect) []point {
	to := point{math.Min(math.Max(x, r.l), r.r), math.Min(math.Max(y, r.t), r.b)}
	d := math.Hypot(to.x-x, to.y-y)
	return []point{{x + (to.x-x)/d*8, y + (to.y-y)/d*8}, to}
}

// place returns the anchor of a text near a mark, the line that leads there where
// one is needed, and whether there is a place.
func (l *labels) place(x, y float64, text string) (at point, anchor string, lead []point, ok bool) {
	w := width(text, 12.5)
	for _, try := range tries() {
		p := point{x + try.dx, y + try.dy}
		from := p.x
		switch try.anchor {
		case "middle":
			from -= w / 2
		case "end":
			from -= w
		}
		r := rect{from - 2, p.y - 12, from + w + 2, p.y + 4}
		if r.l < l.area.l || r.r > l.area.r || r.t < l.area.t || r.b > l.area.b {
			continue
		}
		free := true
		for _, o := range l.taken {
			if r.touches(o) {
				free = false
				break
			}
		}
		if free {
			l.taken = append(l.taken, r)
			if try.lead {
				lead = leader(x, y, r)
			}
			return p, try.anchor, lead, true
		}
	}
	return point{}, "", nil, false
}
