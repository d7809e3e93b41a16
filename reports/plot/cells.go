package plot

import (
	"image/color"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// quietInk is the colour of numbers that say nothing.
func quietInk() color.Color { return rgb(0x5f6a75) }

// inset returns a rectangle smaller by d on each side.
func inset(r vg.Rectangle, d vg.Length) vg.Rectangle {
	r.Min.X, r.Min.Y, r.Max.X, r.Max.Y = r.Min.X+d, r.Min.Y+d, r.Max.X-d, r.Max.Y-d
	return r
}

// drawState draws a cell without a value to trust.
func drawState(c draw.Canvas, r vg.Rectangle, s CellState) {
	in := inset(r, 0.4)
	line := draw.LineStyle{Color: muted(), Width: 0.7}
	middle := vg.Point{X: (r.Min.X + r.Max.X) / 2, Y: (r.Min.Y + r.Max.Y) / 2}
	switch s {
	case CellOverloaded:
		c.SetColor(rgb(0xf5f7f9))
		c.Fill(in.Path())
		hatch(c, in, line)
	case CellFailed:
		line.Width = 1.2
		c.StrokeLine2(line, middle.X-3, middle.Y-3, middle.X+3, middle.Y+3)
		c.StrokeLine2(line, middle.X-3, middle.Y+3, middle.X+3, middle.Y-3)
	case CellMissing:
		c.DrawGlyph(draw.GlyphStyle{Color: muted(), Radius: 1, Shape: draw.CircleGlyph{}}, middle)
	}
}

// hatch fills a rectangle with diagonal lines.
func hatch(c draw.Canvas, r vg.Rectangle, line draw.LineStyle) {
	const apart = 5
	h := r.Max.Y - r.Min.Y
	for x := r.Min.X - h + apart; x < r.Max.X; x += apart {
		// from (x, bottom) rightwards up to (x+h, top), cut at the sides
		a, b := vg.Point{X: x, Y: r.Min.Y}, vg.Point{X: x + h, Y: r.Max.Y}
		if a.X < r.Min.X {
			a.Y += r.Min.X - a.X
			a.X = r.Min.X
		}
		if b.X > r.Max.X {
			b.Y -= b.X - r.Max.X
			b.X = r.Max.X
		}
		if a.X < b.X {
			c.StrokeLine2(line, a.X, a.Y, b.X, b.Y)
		}
	}
}

// drawFrame draws the frame of a cell.
func drawFrame(c draw.Canvas, r vg.Rectangle, f CellFrame) {
	line := draw.LineStyle{Color: ink(), Width: 1.1}
	switch f {
	case NoFrame:
		return
	case FrameChosen:
		line.Width = 2.4
	case FrameDefault:
		line.Width, line.Dashes = 1.3, []vg.Length{4, 2}
	case FrameTied:
		line.Dashes = []vg.Length{1.2, 1.8}
	}
	in := inset(r, line.Width/2+0.3)
	around := []vg.Point{in.Min, {X: in.Max.X, Y: in.Min.Y}, in.Max, {X: in.Min.X, Y: in.Max.Y}, in.Min, {X: in.Max.X, Y: in.Min.Y}}
	// White below, so that the frame is seen on dark cells.
	c.StrokeLines(draw.LineStyle{Color: rgb(0xffffff), Width: line.Width + 1.6}, around)
	c.StrokeLines(line, around)
}
