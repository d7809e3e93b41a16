package plot

import (
	"fmt"
	"math"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Cell is a field of a heat map.
type Cell struct {
	Value float64 // decides the colour; NaN for none
	Text  string  // printed in the cell where all texts fit
	// Quiet says that no difference from the default is shown.
	Quiet bool // in brackets, and grey where that can be read
	State CellState
	Frame CellFrame
}

// CellState says why a cell has no value to trust.
type CellState uint8

// The states of a cell.
const (
	CellFine       CellState = iota
	CellOverloaded           // the queue grew to the end: hatched
	CellFailed               // could not be run: a cross
	CellMissing              // not run: a dot
)

// CellFrame marks a cell.
type CellFrame uint8

// The frames of cells.
const (
	NoFrame      CellFrame = iota
	FrameTied              // dotted
	FrameDefault           // dashed
	FrameChosen            // thick
)

// Map is a heat map: a column for each value of one setting, a row for each of
// another.
type Map struct {
	X, Y          string   // names of the settings
	Columns, Rows []string // their values, rows from top to bottom
	Cells         [][]Cell // by row and column
	// Change says that values are changes about 0, better below 0; otherwise
	// they are shown from the least to the greatest.
	Change bool
	Limit  float64 // of a change: the value of the last colour
	// Chosen names the cell with the thick frame.
	Chosen string
	// Low and High are the labels of the ends of the colour bar.
	Low, High string
}

// MapSize is the size of a heat map with so many rows.
func MapSize(rows int) Size {
	return Size{7.6 * vg.Inch, min(9, 1.6+0.32*vg.Length(max(rows, 3))) * vg.Inch, 200}
}

// mostCells is the number of cells of a heat map up to which texts are printed.
const mostCells = 800

// HeatMap draws a map. The zero size is MapSize of its rows.
func HeatMap(size Size, c Caption, m *Map) (*Figure, error) {
	if len(m.Columns) == 0 || len(m.Rows) == 0 || len(m.Cells) != len(m.Rows) {
		return nil, fmt.Errorf("heat map: found %d columns, %d rows and %d rows of cells, expected at least 1 of each", len(m.Columns), len(m.Rows), len(m.Cells))
	}
	for i := range m.Cells {
		if len(m.Cells[i]) != len(m.Columns) {
			return nil, fmt.Errorf("heat map: found %d cells in row %d, expected %d", len(m.Cells[i]), i+1, len(m.Columns))
		}
	}
	if size == (Size{}) {
		size = MapSize(len(m.Rows))
	}
	fonts, err := loadFaces()
	if err != nil {
		return nil, err
	}
	d := &drawnMap{Map: m, fonts: fonts, size: size}
	d.measure()
	f := &Figure{Caption: c, size: size, fonts: fonts, legend: d.legend(), body: d.draw}
	return f, nil
}

// drawnMap is a heat map with its scale worked out.
type drawnMap struct {
	*Map
	fonts  *faces
	size   Size
	lo, hi float64 // of the values shown
}

func (d *drawnMap) measure() {
	d.lo, d.hi = math.Inf(1), math.Inf(-1)
	for _, row := range d.Cells {
		for i := range row {
			if v := row[i].Value; row[i].State == CellFine && !math.IsNaN(v) && !math.IsInf(v, 0) {
				d.lo, d.hi = math.Min(d.lo, v), math.Max(d.hi, v)
			}
		}
	}
}

// step returns the place of a value among the colours.
func (d *drawnMap) step(v float64, steps int) int {
	at := 0.5
	switch {
	case d.Change && d.Limit > 0:
		at = (v + d.Limit) / (2 * d.Limit)
	case d.hi > d.lo:
		at = (v - d.lo) / (d.hi - d.lo)
	}
	return max(0, min(steps-1, int(math.Floor(at*float64(steps)))))
}

// colors returns the steps of colour, from better to worse or from less to more.
func (d *drawnMap) colors() []uint32 {
	if d.Change {
		return diverging()
	}
	return sequential()
}

func diverging() []uint32 {
	return []uint32{0x1c6aa8, 0x4a90c6, 0x85b5dc, 0xb5d2ea, 0xd9e7f3, 0xeef1f3, 0xfae5d6, 0xf6c9a6, 0xeda46e, 0xd97b36, 0xb4530f}
}

func sequential() []uint32 {
	return []uint32{0xeef2f5, 0xd3e0ea, 0xafc8da, 0x83abc8, 0x548bb3, 0x2c6a98, 0x0f4570}
}

// inkOn returns black or white, whichever can be read on a colour.
func inkOn(c uint32) uint32 {
	if l := luminance(c); 1.05/(l+0.05) > (l+0.05)/0.05 {
		return 0xffffff
	}
	return 0x0d1116
}

// luminance returns the relative luminance of a colour after WCAG 2, from 0 to
// 1.
func luminance(c uint32) float64 {
	channel := func(shift uint) float64 {
		v := float64(c>>shift&255) / 255
		if v <= 0.04045 {
			return v / 12.92
		}
		return math.Pow((v+0.055)/1.055, 2.4)
	}
	return float64(0.2126*channel(16)) + float64(0.7152*channel(8)) + float64(0.0722*channel(0))
}

// legend explains the frames and states that occur.
func (d *drawnMap) legend() (out []entry) {
	frames, states, quiet := map[CellFrame]bool{}, map[CellState]bool{}, false
	for _, row := range d.Cells {
		for i := range row {
			frames[row[i].Frame], states[row[i].State] = true, true
			quiet = quiet || row[i].Quiet && row[i].State == CellFine
		}
	}
	box := func(name string, cell Cell) {
		out = append(out, entry{name: name, narrow: true, sample: func(c draw.Canvas, at vg.Point) {
			r := vg.Rectangle{Min: vg.Point{X: at.X - 6, Y: at.Y - 5}, Max: vg.Point{X: at.X + 6, Y: at.Y + 5}}
			drawState(c, r, cell.State)
			drawFrame(c, r, cell.Frame)
		}})
	}
	for _, f := range []struct {
		frame CellFrame
		name  string
	}{{FrameChosen, d.Chosen}, {FrameTied, "no difference from the best shown"}, {FrameDefault, "default"}} {
		if frames[f.frame] {
			box(f.name, Cell{Frame: f.frame})
		}
	}
	for _, s := range []struct {
		state CellState
		name  string
	}{{CellOverloaded, "overloaded"}, {CellFailed, "failed"}, {CellMissing, "not run"}} {
		if states[s.state] {
			box(s.name, Cell{State: s.state})
		}
	}
	if quiet {
		out = append(out, entry{name: "no difference from the default shown", narrow: true, sample: func(c draw.Canvas, at vg.Point) {
			s := d.fonts.style(noteSize, quietInk())
			s.XAlign = text.XCenter
			c.FillText(s, vg.Point{X: at.X, Y: at.Y - 3}, "(0)")
		}})
	}
	return out
}

// draw draws the map below its colour bar.
func (d *drawnMap) draw(c draw.Canvas, area vg.Rectangle) {
	small := d.fonts.style(smallSize, ink())
	left := area.Min.X
	widest := vg.Length(0)
	for _, label := range d.Rows {
		widest = max(widest, small.Width(label))
	}
	widest = min(widest, (area.Max.X-area.Min.X)*0.3)
	top := area.Max.Y - 2.4*smallSize
	d.bar(c, vg.Rectangle{Min: vg.Point{X: left, Y: top}, Max: vg.Point{X: area.Max.X, Y: area.Max.Y}})
	grid := vg.Rectangle{
		Min: vg.Point{X: left + widest + gap + 2, Y: area.Min.Y + 3.6*smallSize},
		Max: vg.Point{X: area.Max.X, Y: top - 0.5*smallSize},
	}
	w, h := (grid.Max.X-grid.Min.X)/vg.Length(len(d.Columns)), (grid.Max.Y-grid.Min.Y)/vg.Length(len(d.Rows))
	words := d.wordsFit(w, h)
	for r := range d.Rows {
		for k := range d.Columns {
			d.cell(c, cellBox(grid, w, h, r, k), &d.Cells[r][k], words)
		}
	}
	for r := range d.Rows { // frames lie on top of their neighbours
		for k := range d.Columns {
			drawFrame(c, cellBox(grid, w, h, r, k), d.Cells[r][k].Frame)
		}
	}
	d.labels(c, grid, w, h, widest)
}

func cellBox(grid vg.Rectangle, w, h vg.Length, r, k int) vg.Rectangle {
	return vg.Rectangle{
		Min: vg.Point{X: grid.Min.X + vg.Length(k)*w, Y: grid.Max.Y - vg.Length(r+1)*h},
		Max: vg.Point{X: grid.Min.X + vg.Length(k+1)*w, Y: grid.Max.Y - vg.Length(r)*h},
	}
}

// wordsFit reports whether the texts of all cells can be printed.
func (d *drawnMap) wordsFit(w, h vg.Length) bool {
	if len(d.Columns)*len(d.Rows) > mostCells || h < noteSize+2 {
		return false
	}
	s := d.fonts.style(noteSize, ink())
	for _, row := range d.Cells {
		for i := range row {
			if s.Width(row[i].words()) > w-3 {
				return false
			}
		}
	}
	return true
}

// words returns what is printed in a cell.
func (c *Cell) words() string {
	if c.Quiet && c.Text != "" {
		return "(" + c.Text + ")"
	}
	return c.Text
}

func (d *drawnMap) cell(c draw.Canvas, r vg.Rectangle, cell *Cell, words bool) {
	if cell.State != CellFine || math.IsNaN(cell.Value) || math.IsInf(cell.Value, 0) {
		state := cell.State
		if state == CellFine {
			state = CellMissing
		}
		drawState(c, r, state)
		return
	}
	colors := d.colors()
	ground := colors[d.step(cell.Value, len(colors))]
	c.SetColor(rgb(ground))
	c.Fill(inset(r, 0.4).Path())
	if !words || cell.Text == "" {
		return
	}
	s := d.fonts.style(noteSize, rgb(inkOn(ground)))
	if cell.Quiet && luminance(ground) > 0.6 { // elsewhere grey could not be read
		s.Color = quietInk()
	}
	s.XAlign = text.XCenter
	c.FillText(s, vg.Point{X: (r.Min.X + r.Max.X) / 2, Y: (r.Min.Y+r.Max.Y)/2 - 0.36*noteSize}, cell.words())
}

// labels writes the values along two sides, as many as there is room for, and
// the names of the settings.
func (d *drawnMap) labels(c draw.Canvas, grid vg.Rectangle, w, h, widest vg.Length) {
	s := d.fonts.style(smallSize, ink())
	right := s
	right.XAlign = text.XRight
	every := int(math.Ceil(float64(smallSize * lineHeight / h)))
	for r, label := range d.Rows {
		if r%every == 0 {
			y := grid.Max.Y - (vg.Length(r)+0.5)*h - 0.36*smallSize
			c.FillText(right, vg.Point{X: grid.Min.X - gap, Y: y}, shorten(right, label, widest))
		}
	}
	most := vg.Length(0)
	for _, label := range d.Columns {
		most = max(most, s.Width(label))
	}
	every = int(math.Ceil(float64((most + gap) / w)))
	s.XAlign = text.XCenter
	for k, label := range d.Columns {
		if k%every != 0 {
			continue
		}
		x := grid.Min.X + (vg.Length(k)+0.5)*w
		label = shorten(s, label, grid.Max.X-grid.Min.X)
		half := s.Width(label) / 2
		x = min(max(x, grid.Min.X+half), d.size.Width-half-1)
		c.FillText(s, vg.Point{X: x, Y: grid.Min.Y - 1.2*smallSize}, label)
	}
	name := d.fonts.style(labelSize, ink())
	name.XAlign = text.XCenter
	c.FillText(name, vg.Point{X: (grid.Min.X + grid.Max.X) / 2, Y: grid.Min.Y - 1.3*smallSize - 1.3*labelSize}, shorten(name, d.X, grid.Max.X-grid.Min.X))
}

// bar writes the name of the vertical setting at the left and draws the colours
// with the labels of their ends at the right.
func (d *drawnMap) bar(c draw.Canvas, r vg.Rectangle) {
	colors := d.colors()
	s := d.fonts.style(smallSize, ink())
	side := vg.Length(13)
	if r.Max.X-r.Min.X < 6*vg.Inch {
		side = 9
	}
	width := side*vg.Length(len(colors)) + s.Width(d.Low) + s.Width(d.High) + 2*gap
	x := max(r.Max.X-width, r.Min.X)
	y := r.Min.Y + 3
	c.FillText(s, vg.Point{X: x, Y: y}, d.Low)
	x += s.Width(d.Low) + gap
	for _, col := range colors {
		c.SetColor(rgb(col))
		c.Fill(vg.Rectangle{Min: vg.Point{X: x, Y: y - 2}, Max: vg.Point{X: x + side - 0.6, Y: y + smallSize}}.Path())
		x += side
	}
	c.FillText(s, vg.Point{X: x + gap, Y: y}, d.High)
	if room := r.Max.X - width - r.Min.X - gap; room > 20 {
		name := d.fonts.style(labelSize, ink())
		c.FillText(name, vg.Point{X: r.Min.X, Y: y}, shorten(name, d.Y, room))
	}
}
