package plot

import (
	"image/color"
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Mark says what a single point stands for; each has its own shape.
type Mark uint8

// The marks of points.
const (
	Plain          Mark = iota // one of many
	MarkChosen                 // the setting that is recommended
	MarkTied                   // cannot be told apart from the chosen one
	MarkDefault                // the default settings
	MarkReference              // something everybody knows, e.g. round robin
	MarkPicked                 // named by the reader
	MarkOverloaded             // without a true value: its queue grew to the end
)

// role returns the role whose colour the mark has.
func (m Mark) role() Role {
	switch m {
	case MarkDefault:
		return Default
	case MarkReference:
		return Reference
	case MarkPicked:
		return Extra2
	}
	return Chosen
}

// color returns the mark's colour.
func (m Mark) color() color.NRGBA {
	switch m {
	case Plain:
		return rgb(0x83abc8)
	case MarkOverloaded:
		return rgb(0xa84300)
	}
	return m.role().color()
}

// radius returns the size of the mark in points.
func (m Mark) radius() vg.Length {
	switch m {
	case MarkChosen:
		return 5
	case Plain:
		return 2.2
	}
	return 3.6
}

// draw draws the mark on a ground of white, so that lines do not run through
// hollow ones.
func (m Mark) draw(c draw.Canvas, at vg.Point) { m.drawIn(c, m.color(), at) }

// drawIn draws the mark in a colour.
func (m Mark) drawIn(c draw.Canvas, paint color.Color, at vg.Point) {
	r, line := m.radius(), draw.LineStyle{Color: paint, Width: 1.5}
	shape := func(angles ...float64) {
		var pts []vg.Point
		for _, a := range angles {
			pts = append(pts, vg.Point{X: at.X + r*vg.Length(math.Cos(a*math.Pi/180)), Y: at.Y + r*vg.Length(math.Sin(a*math.Pi/180))})
		}
		fill := paint
		if m != MarkChosen && m != MarkOverloaded {
			fill = rgb(0xffffff)
		}
		c.FillPolygon(fill, pts)
		c.StrokeLines(line, append(pts, pts[0], pts[1]))
	}
	switch m {
	case MarkChosen:
		shape(0, 90, 180, 270)
	case MarkDefault:
		shape(45, 135, 225, 315)
	case MarkReference, MarkOverloaded:
		shape(90, 210, 330)
	case MarkPicked:
		shape(18, 90, 162, 234, 306)
	case MarkTied:
		c.DrawGlyph(draw.GlyphStyle{Color: line.Color, Radius: r, Shape: draw.CircleGlyph{}}, at)
		c.DrawGlyph(draw.GlyphStyle{Color: rgb(0xffffff), Radius: r - 1.4, Shape: draw.CircleGlyph{}}, at)
	default:
		c.DrawGlyph(draw.GlyphStyle{Color: line.Color, Radius: r, Shape: draw.CircleGlyph{}}, at)
	}
}

// entry returns the legend's entry of a mark.
func (m Mark) entry(name string) entry {
	return entry{name: name, sample: func(c draw.Canvas, at vg.Point) { m.draw(c, at) }, narrow: true}
}
