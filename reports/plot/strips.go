package plot

import (
	"fmt"
	"math"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Strip is one row over time: its values in buckets of equal length.
type Strip struct {
	Name   string
	Values []float32
}

// StripGroup is a quantity of several workers over time, on one scale.
type StripGroup struct {
	Title string // with the unit
	Top   float64
	// TopLabel is the label of the greatest value.
	TopLabel string
	Strips   []Strip
}

// StripSize is the size of a figure of so many groups of strips.
func StripSize(groups, strips int) Size {
	per := max(0.62+stripHeight(strips)*float64(strips)/72, 1)
	return Size{7 * vg.Inch, vg.Length(1.0+float64(groups)*per) * vg.Inch, 200}
}

// stripHeight returns the height of a strip in points.
func stripHeight(strips int) float64 {
	return math.Max(4.5, math.Min(14, 150/float64(max(strips, 1))))
}

// Strips draws quantities over time, a strip for each worker: the darker the
// more. end is the time at the right edge, with its unit in the label.
func Strips(size Size, c Caption, label string, end float64, note string, groups ...StripGroup) (*Figure, error) {
	if len(groups) == 0 || len(groups[0].Strips) == 0 {
		return nil, fmt.Errorf("figure of strips: found none, expected at least one")
	}
	if !(end > 0) {
		return nil, fmt.Errorf("figure of strips: found a run of no length, expected one that takes time")
	}
	fonts, err := loadFaces()
	if err != nil {
		return nil, err
	}
	f := &Figure{Caption: c, size: size, fonts: fonts, note: note}
	d := &drawnStrips{groups: groups, fonts: fonts, x: axis{label: label, lo: 0, hi: end, ticks: linearTicks(0, end)}}
	f.body = d.draw
	return f, nil
}

type drawnStrips struct {
	groups []StripGroup
	fonts  *faces
	x      axis
}

func (d *drawnStrips) draw(c draw.Canvas, area vg.Rectangle) {
	s := d.fonts.style(smallSize, ink())
	widest := vg.Length(0)
	for _, g := range d.groups {
		for i := range g.Strips {
			widest = max(widest, s.Width(g.Strips[i].Name))
		}
	}
	widest = min(widest, 0.3*(area.Max.X-area.Min.X))
	const axisRoom = 3.8 * smallSize
	h := (area.Max.Y - area.Min.Y - axisRoom) / vg.Length(len(d.groups))
	for i := range d.groups {
		top := area.Max.Y - vg.Length(i)*h
		r := vg.Rectangle{
			Min: vg.Point{X: area.Min.X + widest + gap + 2, Y: top - h + 3},
			Max: vg.Point{X: area.Max.X - 0.6*edge, Y: top - 1.9*smallSize},
		}
		d.heading(c, &d.groups[i], area, top)
		d.strips(c, &d.groups[i], r, widest)
		if i == len(d.groups)-1 {
			fr := &frame{Canvas: c, fonts: d.fonts, x: &d.x, y: &axis{hi: 1}, left: area.Min.X - gap}
			fr.Rectangle = r
			fr.axes()
		}
	}
}

// heading writes the title of a group and its scale of colours.
func (d *drawnStrips) heading(c draw.Canvas, g *StripGroup, area vg.Rectangle, top vg.Length) {
	y := top - 1.35*smallSize
	s := d.fonts.style(smallSize, ink())
	colors := sequential()
	const side = 13
	width := side*vg.Length(len(colors)) + s.Width("0") + s.Width(g.TopLabel) + 2*gap
	x := area.Max.X - width
	title := d.fonts.bold(smallSize, ink())
	c.FillText(title, vg.Point{X: area.Min.X, Y: y}, shorten(title, g.Title, x-area.Min.X-2*gap))
	c.FillText(s, vg.Point{X: x, Y: y}, "0")
	x += s.Width("0") + gap
	for _, col := range colors {
		c.SetColor(rgb(col))
		c.Fill(vg.Rectangle{Min: vg.Point{X: x, Y: y - 1}, Max: vg.Point{X: x + side - 0.6, Y: y + 7.5}}.Path())
		x += side
	}
	c.FillText(s, vg.Point{X: x + gap, Y: y}, g.TopLabel)
}

// strips draws the strips of a group. Neighbouring buckets of one colour are
// one box, and all boxes of one colour are one path.
func (d *drawnStrips) strips(c draw.Canvas, g *StripGroup, r vg.Rectangle, widest vg.Length) {
	colors := sequential()
	paths := make([]vg.Path, len(colors))
	h := (r.Max.Y - r.Min.Y) / vg.Length(len(g.Strips))
	space := min(h*0.12, 1.5)
	name := d.fonts.style(smallSize, ink())
	name.XAlign = text.XRight
	every := int(math.Ceil(float64(smallSize * 1.15 / h)))
	for i := range g.Strips {
		strip := &g.Strips[i]
		low, high := r.Max.Y-vg.Length(i+1)*h+space/2, r.Max.Y-vg.Length(i)*h-space/2
		w := (r.Max.X - r.Min.X) / vg.Length(max(len(strip.Values), 1))
		for from := 0; from < len(strip.Values); {
			step, to := g.step(strip.Values[from]), from+1
			for to < len(strip.Values) && g.step(strip.Values[to]) == step {
				to++
			}
			x0, x1 := r.Min.X+vg.Length(from)*w, r.Min.X+vg.Length(to)*w
			p := &paths[step]
			p.Move(vg.Point{X: x0, Y: low})
			p.Line(vg.Point{X: x1, Y: low})
			p.Line(vg.Point{X: x1, Y: high})
			p.Line(vg.Point{X: x0, Y: high})
			p.Close()
			from = to
		}
		if i%every == 0 {
			c.FillText(name, vg.Point{X: r.Min.X - gap, Y: (low+high)/2 - 0.36*smallSize}, shorten(name, strip.Name, widest))
		}
	}
	for i, p := range paths {
		if len(p) > 0 {
			c.SetColor(rgb(colors[i]))
			c.Fill(p)
		}
	}
}

// step returns the colour of a value. Only what is nothing has the lightest.
func (g *StripGroup) step(v float32) int {
	n := len(sequential())
	if !(v > 0) || !(g.Top > 0) {
		return 0
	}
	return 1 + min(n-2, int(math.Floor(float64(v)/g.Top*float64(n-1))))
}
