package plot

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"routesim/reports/format"
)

// Spot is a point of a scatter, with a label if it may have one.
type Spot struct {
	X, Y  float64
	Mark  Mark
	Label string // "" for none
}

// Cloud describes a scatter of spots.
type Cloud struct {
	X, Y  Scale
	Spots []Spot // the important ones first: they are labelled first and drawn on top
	// Front joins the spots that no other beats in both X and Y, where less is
	// better.
	Front bool
	// Zoom shows the front and the marked spots only, and says how many lie
	// outside.
	Zoom bool
	// Names explain the marks, in the order of the legend.
	Names []MarkName
	Note  string // under the axes, "" for none
}

// MarkName explains a mark.
type MarkName struct {
	Mark Mark
	Name string
}

// Points draws a scatter. Spots that are not finite are left out.
func Points(size Size, c Caption, cloud *Cloud) (*Figure, error) {
	fonts, err := loadFaces()
	if err != nil {
		return nil, err
	}
	var shown []Spot
	for _, s := range cloud.Spots {
		if cloud.X.finite(s.X) && cloud.Y.finite(s.Y) {
			shown = append(shown, s)
		}
	}
	if len(shown) == 0 {
		return nil, fmt.Errorf("scatter of %s: found no point, expected at least one", cloud.Y.Label)
	}
	var front []Spot
	if cloud.Front {
		front = Front(shown)
	}
	f := &Figure{Caption: c, size: size, fonts: fonts, note: cloud.Note}
	inside, overloaded := shown, 0
	if cloud.Zoom {
		if near := zoomed(shown, front); len(near) >= min(fewest, len(shown)) {
			inside = near
		}
	}
	for _, s := range inside {
		if s.Mark == MarkOverloaded {
			overloaded++
		}
	}
	var xs, ys []float64
	for _, s := range inside {
		if s.Mark != MarkOverloaded || len(inside) == overloaded {
			xs, ys = append(xs, s.X), append(ys, s.Y)
		}
	}
	f.x, f.y = cloud.X.axis(xs), cloud.Y.axis(ys)
	f.y.grid = true
	f.note = join(f.note, outsiders(shown, inside, cloud.Names))
	if f.x.cut() && cloud.X.From == 0 || f.y.cut() && cloud.Y.From == 0 {
		f.note = join(f.note, "The axes need not begin at 0.")
	}
	for _, n := range cloud.Names {
		if slices.ContainsFunc(inside, func(s Spot) bool { return s.Mark == n.Mark }) {
			f.legend = append(f.legend, n.Mark.entry(n.Name))
		}
	}
	if len(front) > 1 {
		f.legend = append(f.legend, entry{name: "Pareto front", line: frontLine()})
	}
	f.data = func(fr *frame) {
		fr.front(front)
		for _, s := range slices.Backward(inside) {
			s.Mark.draw(fr.Canvas, fr.spot(&s))
		}
		fr.labelSpots(inside, front)
	}
	return f, nil
}

// spot returns where a spot lies. Overloaded ones, which have no true value, lie
// at the top edge.
func (f *frame) spot(s *Spot) vg.Point {
	at := f.point(s.X, s.Y)
	if s.Mark == MarkOverloaded {
		at.X, at.Y = min(max(at.X, f.Min.X), f.Max.X), f.Max.Y
	}
	return at
}

// outsiders says how many spots lie outside, and which of them everybody knows.
func outsiders(all, inside []Spot, names []MarkName) string {
	out := len(all) - len(inside)
	if out == 0 {
		return ""
	}
	text := format.Plural(int64(out), "worse point") + " lie outside"
	if out == 1 {
		text = "1 worse point lies outside"
	}
	is := func(s Spot) bool { return s.Mark == MarkReference }
	if slices.ContainsFunc(all, is) && !slices.ContainsFunc(inside, is) {
		for _, n := range names {
			if n.Mark == MarkReference {
				text += ", " + n.Name + " among them"
			}
		}
	}
	return text + "."
}

func join(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + " " + b
}

func frontLine() draw.LineStyle {
	return draw.LineStyle{Color: Chosen.color(), Width: 1.1, Dashes: []vg.Length{2, 1.5}}
}

// Front returns the spots that no other beats in both X and Y, where less is
// better, by increasing X. Overloaded spots are not among them.
func Front(all []Spot) []Spot {
	var out []Spot
	for _, s := range all {
		if s.Mark != MarkOverloaded {
			out = append(out, s)
		}
	}
	slices.SortStableFunc(out, func(a, b Spot) int {
		switch {
		case a.X != b.X:
			return order(a.X, b.X)
		default:
			return order(a.Y, b.Y)
		}
	})
	kept, least := out[:0], math.Inf(1)
	for _, s := range out {
		if s.Y < least {
			kept, least = append(kept, s), s.Y
		}
	}
	return kept
}

func order(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// fewest is the number of spots below which there is nothing to zoom to.
const fewest = 3

// zoomed returns the spots within the reach of the front and the marked spots,
// extended by a fifth. References and overloaded spots do not extend it.
func zoomed(all, front []Spot) []Spot {
	x, y := newExtent(), newExtent()
	for _, s := range front {
		x.add([]float64{s.X})
		y.add([]float64{s.Y})
	}
	for _, s := range all {
		switch s.Mark {
		case MarkChosen, MarkDefault, MarkTied, MarkPicked:
			x.add([]float64{s.X})
			y.add([]float64{s.Y})
		}
	}
	if x.hi < x.lo {
		return all
	}
	limit := func(e *extent) (lo, hi float64) {
		d := math.Max(0.2*(e.hi-e.lo), 0.02*math.Abs(e.hi+e.lo)/2)
		return e.lo - d, e.hi + d
	}
	x0, x1 := limit(x)
	y0, y1 := limit(y)
	var out []Spot
	for _, s := range all {
		if s.Mark == MarkOverloaded || s.X >= x0 && s.X <= x1 && s.Y >= y0 && s.Y <= y1 {
			out = append(out, s)
		}
	}
	return out
}

// front draws the front as stairs: between two settings nothing better than
// the worse of both is known.
func (f *frame) front(front []Spot) {
	if line := f.stairs(front); len(line) > 1 {
		f.StrokeLines(frontLine(), line)
	}
}

func (f *frame) stairs(front []Spot) (line []vg.Point) {
	for i, s := range front {
		at := f.point(s.X, s.Y)
		if i > 0 {
			line = append(line, vg.Point{X: at.X, Y: line[len(line)-1].Y})
		}
		line = append(line, at)
	}
	return line
}
