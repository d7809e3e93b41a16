package plot

import (
	"fmt"
	"image/color"
	"slices"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Trend is a quantity at the values of a setting.
type Trend struct {
	Role   Role
	X, Y   []float64 // of equal length; points that are not finite are left out
	Lo, Hi []float64 // interval of each Y, nil for none
	// Dots draws the points and no line between them.
	Dots bool
	// Plain draws the points as one of many.
	Plain bool
	// Marks are the kinds of the points, nil where all are Plain.
	Marks []Mark
	// Over are values of the setting at which there is no true value, since the
	// queue grew to the end.
	Over []float64
}

// Panel is one pair of axes of a figure of several.
type Panel struct {
	Title  string // what the vertical axis shows, with the unit
	X, Y   Scale
	Trends []Trend
	// MoreIsBetter says that the worst end of Y is the low one, where values of
	// the setting without a true value then stand.
	MoreIsBetter bool
	// Words names the places 0, 1, 2 ... of X; the panel then has a row for each,
	// from top to bottom, and Y runs to the right.
	Words []string
	// Bound marks a value of Y, 0 for none.
	Bound      float64
	BoundLabel string
}

// Key is an item of a legend: a line of a role, or a mark.
type Key struct {
	Name string
	Role Role
	Band bool // the line has an interval
	Sign bool // the sign of the role alone
	Mark Mark // instead of a line where IsMark
	// IsMark says that the item is a mark.
	IsMark bool
}

func (k *Key) entry() entry {
	if k.IsMark && k.Mark == MarkOverloaded { // in the colour of each line
		return entry{name: k.Name, narrow: true, sample: func(c draw.Canvas, at vg.Point) { k.Mark.drawIn(c, muted(), at) }}
	}
	if k.IsMark {
		return k.Mark.entry(k.Name)
	}
	if k.Sign {
		return entry{name: k.Name, narrow: true, sample: func(c draw.Canvas, at vg.Point) { sign(c, k.Role, at, 2.4) }}
	}
	e := entry{name: k.Name, line: k.Role.line()}
	if k.Band {
		line := e.line
		e.sample = func(c draw.Canvas, at vg.Point) {
			c.FillPolygon(faint(k.Role), []vg.Point{{X: at.X - 13, Y: at.Y - 4}, {X: at.X + 13, Y: at.Y - 4}, {X: at.X + 13, Y: at.Y + 4}, {X: at.X - 13, Y: at.Y + 4}})
			c.StrokeLine2(line, at.X-13, at.Y, at.X+13, at.Y)
		}
	}
	return e
}

// faint is the colour of a role's intervals.
func faint(r Role) color.NRGBA {
	c := r.color()
	c.A = 43
	return c
}

// PanelSize is the size of a figure of panels in so many rows.
func PanelSize(rows int) Size {
	return Size{7 * vg.Inch, vg.Length(2.7*float64(rows)) * vg.Inch, 200}
}

// Panels draws pairs of axes side by side, columns of them in each row. note is
// a sentence under them, "" for none.
func Panels(size Size, c Caption, columns int, keys []Key, note string, panels ...Panel) (*Figure, error) {
	if len(panels) == 0 || columns < 1 {
		return nil, fmt.Errorf("figure of panels: found %d panels in %d columns, expected at least 1", len(panels), columns)
	}
	fonts, err := loadFaces()
	if err != nil {
		return nil, err
	}
	f := &Figure{Caption: c, size: size, fonts: fonts, note: note}
	for i := range keys {
		f.legend = append(f.legend, keys[i].entry())
	}
	all := make([]*drawnPanel, len(panels))
	cut := false
	for i := range panels {
		if all[i], err = newDrawnPanel(&panels[i]); err != nil {
			return nil, err
		}
		cut = cut || all[i].y.cut() || all[i].turned && all[i].x.cut()
	}
	if cut {
		const words = "The axis of a latency need not begin at 0."
		if f.note = words; note != "" {
			f.note = note + " " + words
		}
	}
	rows := (len(panels) + columns - 1) / columns
	for i, p := range all { // the label of a column stands under its last panel
		if i+columns < len(all) && all[i+columns].x.label == p.x.label {
			p.x.label = ""
		}
	}
	f.body = func(c draw.Canvas, area vg.Rectangle) {
		w, h := (area.Max.X-area.Min.X)/vg.Length(columns), (area.Max.Y-area.Min.Y)/vg.Length(rows)
		for i, p := range all {
			col, row := vg.Length(i%columns), vg.Length(i/columns)
			p.draw(c, fonts, vg.Rectangle{
				Min: vg.Point{X: area.Min.X + col*w, Y: area.Max.Y - (row+1)*h},
				Max: vg.Point{X: area.Min.X + (col+1)*w, Y: area.Max.Y - row*h},
			}, size)
		}
	}
	return f, nil
}

// drawnPanel is a panel with its axes worked out.
type drawnPanel struct {
	*Panel
	x, y   axis
	turned bool
}

func newDrawnPanel(p *Panel) (*drawnPanel, error) {
	d := &drawnPanel{Panel: p, turned: p.Words != nil}
	var xs, ys []float64
	for i := range p.Trends {
		t := &p.Trends[i]
		for k := range t.X {
			if !p.X.finite(t.X[k]) || !p.Y.finite(t.Y[k]) {
				continue
			}
			xs, ys = append(xs, t.X[k]), append(ys, t.Y[k])
			if t.Lo != nil && p.Y.finite(t.Lo[k]) && p.Y.finite(t.Hi[k]) {
				ys = append(ys, t.Lo[k], t.Hi[k])
			}
		}
		for _, x := range t.Over {
			if p.X.finite(x) {
				xs = append(xs, x)
			}
		}
	}
	if len(ys) == 0 {
		return nil, fmt.Errorf("panel of %s: found no value, expected at least one", p.Title)
	}
	if p.Bound > 0 {
		ys = append(ys, p.Bound)
	}
	if d.y = p.Y.axis(ys); d.turned {
		d.x = d.y
		d.y = axis{lo: -0.6, hi: float64(len(p.Words)) - 0.4}
		for i := range p.Words { // from the lowest up
			d.y.ticks = append(d.y.ticks, tick{float64(i), p.Words[len(p.Words)-1-i]})
		}
		d.x.label = p.X.Label
	} else {
		d.x = p.X.axis(xs)
	}
	d.y.grid = true
	return d, nil
}

// draw draws the panel into an area.
func (p *drawnPanel) draw(c draw.Canvas, fonts *faces, area vg.Rectangle, size Size) {
	title := fonts.bold(smallSize, ink())
	top := area.Max.Y - 1.6*smallSize
	left := fonts.widest(p.y.ticks) + gap + 1
	most := (area.Max.X - area.Min.X) * 0.42
	if p.turned && left > most {
		style := fonts.style(smallSize, ink())
		for i := range p.y.ticks {
			p.y.ticks[i].label = shorten(style, p.y.ticks[i].label, most-gap-1)
		}
		left = most
	}
	c.FillText(title, vg.Point{X: area.Min.X, Y: top}, shorten(title, p.Title, area.Max.X-area.Min.X-gap))
	fr := &frame{Canvas: c, fonts: fonts, x: &p.x, y: &p.y, left: area.Min.X - gap}
	fr.Min = vg.Point{X: area.Min.X + left, Y: area.Min.Y + bottomMargin*vg.Inch}
	if p.x.label == "" {
		fr.Min.Y -= labelSize * 1.25
	}
	fr.Max = vg.Point{X: area.Max.X - rightMargin*vg.Inch, Y: top - 1.1*smallSize}
	fr.axes()
	if p.Bound > 0 {
		p.bound(fr)
	}
	for i := len(p.Trends) - 1; i >= 0; i-- { // the first on top
		p.band(fr, &p.Trends[i])
	}
	for i := len(p.Trends) - 1; i >= 0; i-- {
		p.trend(fr, &p.Trends[i])
	}
}

// place returns where a value lies.
func (p *drawnPanel) place(fr *frame, x, y float64) vg.Point {
	if p.turned {
		return fr.point(y, float64(len(p.Words)-1)-x)
	}
	return fr.point(x, y)
}

// stretches calls f for each run of neighbouring points that can be shown.
func (p *drawnPanel) stretches(t *Trend, f func(from, to int)) {
	from := -1
	for k := range t.X {
		ok := p.Panel.X.finite(t.X[k]) && p.Panel.Y.finite(t.Y[k])
		if ok && from < 0 {
			from = k
		}
		if !ok && from >= 0 {
			f(from, k)
			from = -1
		}
	}
	if from >= 0 {
		f(from, len(t.X))
	}
}

// band draws the intervals of a trend: an area between them, or a line each
// where the points are not joined.
func (p *drawnPanel) band(fr *frame, t *Trend) {
	if t.Lo == nil {
		return
	}
	known := func(k int) bool { return p.Panel.Y.finite(t.Lo[k]) && p.Panel.Y.finite(t.Hi[k]) }
	p.stretches(t, func(from, to int) {
		var upper, lower []vg.Point
		for k := from; k < to; k++ {
			if !known(k) {
				continue
			}
			a, b := p.place(fr, t.X[k], t.Lo[k]), p.place(fr, t.X[k], t.Hi[k])
			if t.Dots || to-from == 1 {
				line := draw.LineStyle{Color: t.Role.color(), Width: 1.2}
				fr.StrokeLine2(line, a.X, a.Y, b.X, b.Y)
				continue
			}
			lower, upper = append(lower, a), append(upper, b)
		}
		for i := len(upper) - 1; i >= 0; i-- {
			lower = append(lower, upper[i])
		}
		if len(lower) > 2 {
			fr.FillPolygon(faint(t.Role), lower)
		}
	})
}

// trend draws the points of a trend and the line through them.
func (p *drawnPanel) trend(fr *frame, t *Trend) {
	p.stretches(t, func(from, to int) {
		var line []vg.Point
		for k := from; k < to; k++ {
			line = append(line, p.place(fr, t.X[k], t.Y[k]))
		}
		if len(line) > 1 && !t.Dots {
			fr.StrokeLines(t.Role.line(), line)
		}
		for i, at := range line {
			switch {
			case t.Marks != nil && t.Marks[from+i] != Plain:
				t.Marks[from+i].draw(fr.Canvas, at)
			case t.Plain:
				Plain.draw(fr.Canvas, at)
			case t.Dots || len(line) == 1:
				sign(fr.Canvas, t.Role, at, 2.4)
			case len(t.X) <= 24:
				sign(fr.Canvas, t.Role, at, 2)
			}
		}
	})
	for _, x := range t.Over {
		if p.Panel.X.finite(x) {
			MarkOverloaded.drawIn(fr.Canvas, t.Role.color(), p.edge(fr, t, x))
		}
	}
}

// apart is how far signs of several trends at one value of the setting stand from
// one another, in points.
const apart = 8

// edge returns where a value of the setting lies at the worst end of Y, trends
// that share it side by side.
func (p *drawnPanel) edge(fr *frame, t *Trend, x float64) vg.Point {
	here, before := 0, 0
	for i := range p.Trends {
		o := &p.Trends[i]
		if o == t {
			before = here
		}
		if slices.Contains(o.Over, x) {
			here++
		}
	}
	aside := apart * (vg.Length(before) - vg.Length(here-1)/2)
	if p.turned {
		at := p.place(fr, x, p.x.hi)
		at.X, at.Y = fr.Max.X, at.Y-aside
		if p.MoreIsBetter {
			at.X = fr.Min.X
		}
		return at
	}
	at := p.place(fr, x, p.y.hi)
	at.X, at.Y = at.X+aside, fr.Max.Y
	if p.MoreIsBetter {
		at.Y = fr.Min.Y
	}
	return at
}

// bound marks a value of Y across the panel.
func (p *drawnPanel) bound(fr *frame) {
	line := draw.LineStyle{Color: muted(), Width: 0.75, Dashes: []vg.Length{3, 2}}
	s := fr.fonts.style(smallSize, muted())
	if p.turned {
		x := fr.X(fr.x.at(p.Bound))
		fr.StrokeLine2(line, x, fr.Min.Y, x, fr.Max.Y)
		return
	}
	y := fr.Y(fr.y.at(p.Bound))
	fr.StrokeLine2(line, fr.Min.X, y, fr.Max.X, y)
	if p.BoundLabel == "" {
		return
	}
	s.XAlign = text.XRight
	at := vg.Point{X: fr.Max.X, Y: y + 3}
	if at.Y+smallSize > fr.Max.Y {
		at.Y = y - smallSize - 1
	}
	fr.FillText(s, at, shorten(s, p.BoundLabel, fr.Max.X-fr.Min.X))
}

// sign draws the small sign of a role, by which lines are told apart in grey
// print, too: a dot, a hollow square, a hollow triangle, a ring, a square.
func sign(c draw.Canvas, r Role, at vg.Point, radius vg.Length) {
	var shape draw.GlyphDrawer
	switch r {
	case Default:
		shape = draw.BoxGlyph{}
	case Reference:
		shape = draw.PyramidGlyph{}
	case Extra2:
		shape = draw.BoxGlyph{}
	default:
		shape = draw.CircleGlyph{}
	}
	c.DrawGlyph(draw.GlyphStyle{Color: r.color(), Radius: radius + 0.5, Shape: shape}, at)
	if r == Default || r == Reference || r == Extra1 {
		c.DrawGlyph(draw.GlyphStyle{Color: rgb(0xffffff), Radius: radius - 0.6, Shape: shape}, at)
	}
}
