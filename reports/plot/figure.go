package plot

import (
	"fmt"
	"io"
	"math"

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

	// body draws what is not one pair of axes, into the area given; nil: the
	// axes and the data above.
	body func(c draw.Canvas, area vg.Rectangle)
	note string // under the axes, "" for none
}

// entry is an item of the legend.
type entry struct {
	name string
	line draw.LineStyle
	dot  bool // a marker of the line's colour instead of the line

	shape draw.GlyphDrawer // of the marker; nil: a small circle

	sample func(c draw.Canvas, at vg.Point) // draws the sample about a point, nil: as above
	narrow bool                             // the sample is no wider than a marker
}

// axis is one axis of a figure.
type axis struct {
	label  string
	lo, hi float64
	log    bool
	ticks  []tick
	grid   bool
	zero   bool // logarithmic, with a place of its own for 0
}

// The place of 0 on a logarithmic axis, and where the others begin, as shares
// of the axis.
const (
	zeroPlace  = 0.035
	zeroEnd    = 0.07 // of the place of 0: the break
	zeroOthers = 0.11
)

// at returns where v lies between the ends of the axis, from 0 to 1.
func (a *axis) at(v float64) float64 {
	if a.zero {
		if v <= 0 {
			return zeroPlace
		}
		return zeroOthers + float64((1-zeroOthers)*(fmath.Log(math.Max(v, a.lo)/a.lo)/fmath.Log(a.hi/a.lo)))
	}
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
	left  vg.Length // labels end right of it
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
	bottom := f.footer(c)
	if f.body != nil {
		f.body(c, vg.Rectangle{Min: vg.Point{X: c.Min.X + edge, Y: bottom}, Max: vg.Point{X: c.Max.X - edge, Y: top}})
		return
	}
	fr := &frame{Canvas: c, fonts: f.fonts, x: &f.x, y: &f.y}
	fr.Min.X += max(leftMargin*vg.Inch, f.widestLabel()+gap+1+edge/2)
	fr.Max.X -= rightMargin * vg.Inch
	fr.Min.Y = bottom + bottomMargin*vg.Inch
	fr.Max.Y = top
	fr.axes()
	f.data(fr)
}

// footer writes the note at the lower edge and returns the height above it.
func (f *Figure) footer(c draw.Canvas) vg.Length {
	if f.note == "" {
		return c.Min.Y
	}
	s := f.fonts.style(noteSize, muted())
	lines := wrap(s, f.note, c.Max.X-c.Min.X-2*edge, 2)
	y := c.Min.Y + edge/2 + vg.Length(len(lines)-1)*noteSize*lineHeight
	for i, line := range lines {
		c.FillText(s, vg.Point{X: c.Min.X + edge, Y: y - vg.Length(i)*noteSize*lineHeight}, line)
	}
	return y + noteSize
}

// widestLabel returns the width of the vertical axis' labels.
func (f *Figure) widestLabel() vg.Length {
	return f.fonts.widest(f.y.ticks)
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
	write(small, wrap(small, f.Subtitle, width, 3))
	y = f.legendRows(c, y-gap)
	if f.y.label == "" {
		return y - gap
	}
	label := f.fonts.style(smallSize, muted())
	y -= 1.7*gap + label.Font.Size
	c.FillText(label, vg.Point{X: c.Min.X + edge, Y: y}, shorten(label, f.y.label, width))
	return y - gap - labelSize/2
}

// legendRows writes the legend from left to right, in as many rows as it takes.
func (f *Figure) legendRows(c draw.Canvas, y vg.Length) vg.Length {
	const space = 5
	style := f.fonts.style(smallSize, ink())
	x := c.Min.X + edge
	if len(f.legend) > 0 {
		y -= smallSize
	}
	for _, e := range f.legend {
		sample := vg.Length(26)
		if e.narrow {
			sample = 11
		}
		name := shorten(style, e.name, c.Max.X-c.Min.X-2*edge-sample-space)
		w := sample + space + style.Width(name)
		if x > c.Min.X+edge && x+w > c.Max.X-edge {
			x = c.Min.X + edge
			y -= smallSize * 1.5
		}
		middle := y + 0.33*smallSize
		if e.sample != nil {
			e.sample(c, vg.Point{X: x + sample/2, Y: middle})
		} else if e.dot {
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
	below := f.Min.Y - smallSize*lineHeight - 0.1
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
	f.breaks(line)
	label := f.fonts.style(labelSize, ink())
	label.XAlign = text.XCenter
	if f.x.label == "" {
		return
	}
	f.FillText(label, vg.Point{X: f.Center().X, Y: f.Min.Y - 6 - smallSize*lineHeight - labelSize*1.25}, shorten(label, f.x.label, f.Max.X-f.Min.X))
}

// breaks marks where a logarithmic axis leaves out what lies between 0 and its
// least value.
func (f *frame) breaks(line draw.LineStyle) {
	if f.x.zero {
		x := f.X(zeroEnd)
		for _, dx := range [...]vg.Length{-1.5, 1.5} {
			f.StrokeLine2(line, x+dx-1.5, f.Min.Y-3, x+dx+1.5, f.Min.Y+3)
		}
	}
	if f.y.zero {
		y := f.Y(zeroEnd)
		for _, dy := range [...]vg.Length{-1.5, 1.5} {
			f.StrokeLine2(line, f.Min.X-3, y+dy-1.5, f.Min.X+3, y+dy+1.5)
		}
	}
}

// xTicks draws the ticks of the horizontal axis. A label that would touch the
// one before it is left out.
func (f *frame) xTicks(line draw.LineStyle) {
	style := f.fonts.style(smallSize, ink())
	style.XAlign, style.YAlign = text.XCenter, text.YTop
	end := f.left
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
