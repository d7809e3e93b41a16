package plot

import (
	"fmt"
	"io"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"

	"routesim/sim/fmath"
)

// Caption is what a figure says about itself.
type Caption struct {
	Title    string // the finding, not the axes
	Subtitle string // trace, fleet, seeds, version
	Alt      string // one sentence for readers who do not see the figure
}

// Figure is a drawing ready to be written.
type Figure struct {
	Caption
	size   Size
	fonts  *faces
	legend []entry
	x, y   axis
	data   func(f *frame)
}

// entry is an item of the legend.
type entry struct {
	name string
	line draw.LineStyle
	dot  bool // a marker of the line's colour instead of the line

	shape draw.GlyphDrawer // of the marker; nil: a small circle
}

// axis is one axis of a figure.
type axis struct {
	label  string
	lo, hi float64
	log    bool
	ticks  []tick
	grid   bool
}

// at returns where v lies between the ends of the axis, from 0 to 1.
func (a *axis) at(v float64) float64 {
	if a.log {
		return fmath.Log(v/a.lo) / fmath.Log(a.hi/a.lo)
	}
	return (v - a.lo) / (a.hi - a.lo)
}

// WriteSVG writes the figure as SVG, with text as text.
func (f *Figure) WriteSVG(w io.Writer) error {
	c := vgsvg.New(f.size.Width, f.size.Height)
	f.draw(draw.New(c))
	if _, err := c.WriteTo(w); err != nil {
		return fmt.Errorf("SVG: %w", err)
	}
	return nil
}

// WritePNG writes the figure as PNG.
func (f *Figure) WritePNG(w io.Writer) error {
	c := vgimg.NewWith(vgimg.UseWH(f.size.Width, f.size.Height), vgimg.UseDPI(f.size.DPI))
	f.draw(draw.New(c))
	if _, err := (vgimg.PngCanvas{Canvas: c}).WriteTo(w); err != nil {
		return fmt.Errorf("PNG: %w", err)
	}
	return nil
}

// frame is the area of the data on a canvas.
type frame struct {
	draw.Canvas
	fonts *faces
	x, y  *axis
}

// The margins around the data in inches, and between texts in points.
const (
	leftMargin   = 0.62
	rightMargin  = 0.25
	bottomMargin = 0.55
	edge         = 10
	gap          = 4
)

func (f *Figure) draw(c draw.Canvas) {
	c.SetColor(rgb(0xffffff))
	c.Fill(c.Rectangle.Path())
	top := f.header(c)
	fr := &frame{Canvas: c, fonts: f.fonts, x: &f.x, y: &f.y}
	fr.Min.X += max(leftMargin*vg.Inch, f.widestLabel()+gap+1+edge/2)
	fr.Max.X -= rightMargin * vg.Inch
	fr.Min.Y += bottomMargin * vg.Inch
	fr.Max.Y = top
	fr.axes()
	f.data(fr)
}

// widestLabel returns the width of the vertical axis' labels.
func (f *Figure) widestLabel() vg.Length {
	style, w := f.fonts.style(smallSize, ink()), vg.Length(0)
	for _, t := range f.y.ticks {
		w = max(w, style.Width(t.label))
	}
	return w
}

// header writes title, subtitle and legend, and the label of the vertical axis
// above its end. It returns the height left for the data.
func (f *Figure) header(c draw.Canvas) vg.Length {
	y := c.Max.Y - edge
	width := c.Max.X - c.Min.X - 2*edge
	write := func(s text.Style, lines []string) {
		for _, line := range lines {
			y -= s.Font.Size
			c.FillText(s, vg.Point{X: c.Min.X + edge, Y: y}, line)
			y -= s.Font.Size * (lineHeight - 1)
		}
	}
	title := f.fonts.bold(titleSize, ink())
	write(title, wrap(title, f.Title, width, 2))
	small := f.fonts.style(smallSize, muted())
	write(small, wrap(small, f.Subtitle, width, 2))
	y = f.legendRows(c, y-gap)
	label := f.fonts.style(smallSize, muted())
	y -= gap + label.Font.Size
	c.FillText(label, vg.Point{X: c.Min.X + edge, Y: y}, shorten(label, f.y.label, width))
	return y - gap - labelSize/2
}

// legendRows writes the legend from left to right, in as many rows as it takes.
func (f *Figure) legendRows(c draw.Canvas, y vg.Length) vg.Length {
	const sample, space = 26, 5
	style := f.fonts.style(smallSize, ink())
	x := c.Min.X + edge
	if len(f.legend) > 0 {
		y -= smallSize
	}
	for _, e := range f.legend {
		name := shorten(style, e.name, c.Max.X-c.Min.X-2*edge-sample-space)
		w := sample + space + style.Width(name)
		if x > c.Min.X+edge && x+w > c.Max.X-edge {
			x = c.Min.X + edge
			y -= smallSize * 1.5
		}
		middle := y + 0.33*smallSize
		if e.dot {
			g := draw.GlyphStyle{Color: e.line.Color, Radius: 2, Shape: draw.CircleGlyph{}}
			if e.shape != nil {
				g.Radius, g.Shape = 3, e.shape
			}
			c.DrawGlyph(g, vg.Point{X: x + sample/2, Y: middle})
		} else {
			c.StrokeLine2(e.line, x, middle, x+sample, middle)
		}
		c.FillText(style, vg.Point{X: x + sample + space, Y: y}, name)
		x += w + 16
	}
	return y
}

// axes draws grid, axis lines, ticks and labels. A label of the vertical axis
// that would touch the one below it is left out.
func (f *frame) axes() {
	tickStyle := f.fonts.style(smallSize, ink())
	line := draw.LineStyle{Color: muted(), Width: 0.75}
	below := f.Min.Y - smallSize*lineHeight
	for _, t := range f.y.ticks {
		y := f.Y(f.y.at(t.value))
		if t.label == "" {
			continue
		}
		if f.y.grid {
			f.StrokeLine2(draw.LineStyle{Color: grid(), Width: 0.5}, f.Min.X, y, f.Max.X, y)
		}
		if y < below+smallSize*lineHeight {
			continue
		}
		below = y
		s := tickStyle
		s.XAlign, s.YAlign = text.XRight, text.YCenter
		// Digits have no descenders: their middle lies above that of the line.
		f.FillText(s, vg.Point{X: f.Min.X - gap - 1, Y: y + 0.1*smallSize}, t.label)
	}
	f.StrokeLine2(line, f.Min.X, f.Min.Y, f.Max.X, f.Min.Y)
	f.xTicks(line)
	label := f.fonts.style(labelSize, ink())
	label.XAlign = text.XCenter
	f.FillText(label, vg.Point{X: f.Center().X, Y: f.Min.Y - 6 - smallSize*lineHeight - labelSize*1.25}, f.x.label)
}

// xTicks draws the ticks of the horizontal axis. A label that would touch the
// one before it is left out.
func (f *frame) xTicks(line draw.LineStyle) {
	style := f.fonts.style(smallSize, ink())
	style.XAlign, style.YAlign = text.XCenter, text.YTop
	end := vg.Length(0)
	for _, t := range f.x.ticks {
		x := f.X(f.x.at(t.value))
		length := vg.Length(2)
		half := style.Width(t.label) / 2
		middle := min(x, f.Max.X+rightMargin*vg.Inch-half-1) // inside the figure
		if t.label != "" && middle-half > end+gap {
			length = 4
			f.FillText(style, vg.Point{X: middle, Y: f.Min.Y - 6}, t.label)
			end = middle + half
		}
		f.StrokeLine2(line, x, f.Min.Y, x, f.Min.Y-length)
	}
}
