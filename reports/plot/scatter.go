package plot

import (
	"fmt"
	"image/color"
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"routesim/reports/format"
)

// Pair is one thing measured twice.
type Pair struct{ Recorded, Simulated float64 }

// Scatter draws simulated over recorded values on one scale for both axes: on
// the diagonal they are equal. A pair with a value that is not finite is left
// out. With log, so is one with a value that is not above 0.
func Scatter(size Size, c Caption, what, unit string, log bool, pairs []Pair) (*Figure, error) {
	fonts, err := loadFaces()
	if err != nil {
		return nil, err
	}
	shown := make([]Pair, 0, len(pairs))
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, p := range pairs {
		if least := math.Min(p.Recorded, p.Simulated); math.IsNaN(least) || math.IsInf(p.Recorded+p.Simulated, 0) || log && least <= 0 {
			continue
		}
		shown = append(shown, p)
		lo, hi = math.Min(lo, math.Min(p.Recorded, p.Simulated)), math.Max(hi, math.Max(p.Recorded, p.Simulated))
	}
	if len(shown) == 0 {
		return nil, fmt.Errorf("scatter of %s: found no pair of values, expected at least one", what)
	}
	f := &Figure{Caption: c, size: size, fonts: fonts}
	if log {
		f.x = logAxis(fmt.Sprintf("recorded %s, %s (log scale)", what, unit), lo, hi)
	} else {
		f.x = linearAxis(fmt.Sprintf("recorded %s, %s", what, unit), lo, hi)
	}
	f.y = f.x
	f.y.label, f.y.grid = fmt.Sprintf("simulated %s, %s", what, unit), true
	equal := Default.line()
	equal.Color, equal.Width = ink(), 1.2 // seen on the dots, too
	f.legend = []entry{
		{name: format.Plural(int64(len(shown)), "request"), line: Chosen.line(), dot: true},
		{name: "equal", line: equal},
	}
	f.data = func(fr *frame) {
		fr.dots(shown)
		fr.StrokeLine2(equal, fr.Min.X, fr.Min.Y, fr.Max.X, fr.Max.Y)
	}
	return f, nil
}

// linearAxis returns an axis from 0, or from the least value where all lie far
// from it, with a margin at the other end.
func linearAxis(label string, lo, hi float64) axis {
	if lo > 0 && lo < 0.7*hi {
		lo = 0
	}
	if hi-lo < 0.02*math.Abs(hi+lo)/2 || hi == lo {
		d := math.Max(math.Abs(hi)*0.1, 1)
		lo, hi = lo-d, hi+d
	}
	pad := 0.04 * (hi - lo)
	if lo != 0 {
		lo -= pad
	}
	hi += pad
	return axis{label: label, lo: lo, hi: hi, ticks: linearTicks(lo, hi)}
}

// fewPairs are drawn by larger and darker dots than the thousands of a trace.
const fewPairs = 500

// dots draws the pairs, one dot for all that would cover each other: where many
// lie the dots are darker.
func (f *frame) dots(pairs []Pair) {
	type spot struct{ x, y int } // whole points
	count := map[spot]int{}
	var first []vg.Point
	var order []spot
	for _, p := range pairs {
		at := vg.Point{X: f.X(f.x.at(math.Max(p.Recorded, f.x.lo))), Y: f.Y(f.y.at(math.Max(p.Simulated, f.y.lo)))}
		s := spot{int(math.Floor(float64(at.X))), int(math.Floor(float64(at.Y)))}
		if count[s] == 0 {
			order, first = append(order, s), append(first, at)
		}
		count[s]++
	}
	base, least, radius := Chosen.color(), 0.3, vg.Length(1.5)
	if len(pairs) <= fewPairs {
		least, radius = 0.65, 2.2
	}
	for i, s := range order {
		alpha := math.Min(least+0.12*math.Log2(float64(count[s])), 0.9)
		f.DrawGlyph(draw.GlyphStyle{
			Color: color.NRGBA{base.R, base.G, base.B, uint8(255 * alpha)}, Radius: radius, Shape: draw.CircleGlyph{},
		}, first[i])
	}
}
