package plot

import (
	"fmt"
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Group is a set of pairs with a name.
type Group struct {
	Name  string
	Role  Role
	Pairs []Pair
}

// shape returns the role's marker, so that groups can be told apart in grey
// print, too.
func (r Role) shape() draw.GlyphDrawer {
	return [roles]draw.GlyphDrawer{draw.CircleGlyph{}, draw.SquareGlyph{}, draw.TriangleGlyph{}, draw.PlusGlyph{}, draw.CrossGlyph{}}[r]
}

// marker draws the role's marker.
func (f *frame) marker(r Role, at vg.Point) {
	f.DrawGlyph(draw.GlyphStyle{Color: r.color(), Radius: 3, Shape: r.shape()}, at)
}

// Groups draws predicted over measured values of several groups on one
// logarithmic scale for both axes: on the diagonal they are equal, between the
// thin lines they differ by at most the band, a share of 1. Pairs with a value
// that is not finite or not above 0 are left out.
func Groups(size Size, c Caption, what, unit string, band float64, groups ...Group) (*Figure, error) {
	if len(groups) > mostLines {
		return nil, fmt.Errorf("figure of %s: found %d groups, expected at most %d", what, len(groups), mostLines)
	}
	fonts, err := loadFaces()
	if err != nil {
		return nil, err
	}
	f := &Figure{Caption: c, size: size, fonts: fonts}
	both := newExtent()
	shown := make([][]Pair, len(groups))
	for i := range groups {
		for _, p := range groups[i].Pairs {
			if p.Recorded > 0 && p.Simulated > 0 && !math.IsInf(p.Recorded+p.Simulated, 0) {
				shown[i] = append(shown[i], p)
				both.add([]float64{p.Recorded, p.Simulated})
			}
		}
		if n := len(shown[i]); n > 0 {
			f.legend = append(f.legend, entry{name: fmt.Sprintf("%s (%d)", groups[i].Name, n), line: groups[i].Role.line(), dot: true, shape: groups[i].Role.shape()})
		}
	}
	if both.hi <= 0 {
		return nil, fmt.Errorf("figure of %s: found no pair of values, expected at least one", what)
	}
	equal := Default.line()
	equal.Color, equal.Width = ink(), 1.2
	edge := draw.LineStyle{Color: muted(), Width: 0.6, Dashes: []vg.Length{3, 2}}
	f.legend = append(f.legend, entry{name: "equal", line: equal}, entry{name: fmt.Sprintf("off by %.0f %%", 100*band), line: edge})
	f.x = logAxis(fmt.Sprintf("measured %s, %s (log scale)", what, unit), both.lo, both.hi)
	f.y = f.x
	f.y.label, f.y.grid = fmt.Sprintf("predicted %s, %s", what, unit), true
	f.data = func(fr *frame) {
		fr.ratio(edge, 1+band)
		fr.ratio(edge, 1/(1+band))
		fr.ratio(equal, 1)
		for i := len(shown) - 1; i >= 0; i-- { // the first on top
			for _, p := range shown[i] {
				fr.marker(groups[i].Role, fr.point(p.Recorded, p.Simulated))
			}
		}
	}
	return f, nil
}

// ratio draws the line on which the vertical value is a multiple of the
// horizontal one, as far as the axes reach.
func (f *frame) ratio(line draw.LineStyle, times float64) {
	from, to := f.x.lo*math.Max(1, 1/times), f.x.hi*math.Min(1, 1/times)
	if from < to {
		a, b := f.point(from, from*times), f.point(to, to*times)
		f.StrokeLine2(line, a.X, a.Y, b.X, b.Y)
	}
}
