package plot

import (
	"fmt"
	"math"

	"gonum.org/v1/plot/vg"
)

// Axis names an axis of a line figure.
type Axis struct {
	Label string // with the unit
	Log   bool   // logarithmic; values must be above 0
}

// Curve is a line through points with a name.
type Curve struct {
	Name string
	Role Role
	X, Y []float64 // of equal length; points that are not finite are left out
}

// points returns the drawable points of a curve.
func (c *Curve) points(x, y Axis) (xs, ys []float64) {
	ok := func(v float64, a Axis) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) && (!a.Log || v > 0) }
	for i := range min(len(c.X), len(c.Y)) {
		if ok(c.X[i], x) && ok(c.Y[i], y) {
			xs, ys = append(xs, c.X[i]), append(ys, c.Y[i])
		}
	}
	return xs, ys
}

// Lines draws curves over common axes. A curve without points is left out; one
// with a single point is a dot.
func Lines(size Size, c Caption, x, y Axis, curves ...Curve) (*Figure, error) {
	if len(curves) > mostLines {
		return nil, fmt.Errorf("figure of %s: found %d curves, expected at most %d", y.Label, len(curves), mostLines)
	}
	fonts, err := loadFaces()
	if err != nil {
		return nil, err
	}
	f := &Figure{Caption: c, size: size, fonts: fonts}
	type drawn struct {
		role   Role
		xs, ys []float64
	}
	var all []drawn
	xr, yr := newExtent(), newExtent()
	for i := range curves {
		xs, ys := curves[i].points(x, y)
		if len(xs) == 0 {
			continue
		}
		xr.add(xs)
		yr.add(ys)
		all = append(all, drawn{curves[i].Role, xs, ys})
		f.legend = append(f.legend, entry{name: curves[i].Name, line: curves[i].Role.line()})
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("figure of %s: found no point, expected at least one", y.Label)
	}
	f.x, f.y = xr.axis(x), yr.axis(y)
	f.y.grid = true
	f.data = func(fr *frame) {
		for i := len(all) - 1; i >= 0; i-- { // the first on top
			d := &all[i]
			line := make([]vg.Point, len(d.xs))
			for k := range d.xs {
				line[k] = fr.point(d.xs[k], d.ys[k])
			}
			if len(line) == 1 {
				fr.marker(d.role, line[0])
				continue
			}
			fr.StrokeLines(d.role.line(), line)
		}
	}
	return f, nil
}

// extent is the range of values that an axis must show.
type extent struct{ lo, hi float64 }

func newExtent() *extent { return &extent{math.Inf(1), math.Inf(-1)} }

func (e *extent) add(values []float64) {
	for _, v := range values {
		e.lo, e.hi = math.Min(e.lo, v), math.Max(e.hi, v)
	}
}

func (e *extent) axis(a Axis) axis {
	if a.Log {
		return logAxis(a.Label+" (log scale)", e.lo, e.hi)
	}
	return linearAxis(a.Label, e.lo, e.hi)
}

// point returns where a pair of values lies. What a logarithmic axis cannot
// show lies at its end.
func (f *frame) point(x, y float64) vg.Point {
	return vg.Point{X: f.X(f.x.at(f.x.shown(x))), Y: f.Y(f.y.at(f.y.shown(y)))}
}

// shown returns the value itself, or the end of the axis below which it lies.
func (a *axis) shown(v float64) float64 {
	if a.zero && v <= 0 {
		return v
	}
	return math.Max(v, a.lo)
}
