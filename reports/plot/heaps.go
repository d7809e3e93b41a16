package plot

import (
	"image/color"
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// heaps draws pairs as dots whose area and darkness grow with the number of
// pairs that lie within two points of one another.
func (f *frame) heaps(pairs []Pair) {
	type spot struct{ x, y int }
	const grain = 2 // pt
	index := map[spot]int{}
	type heap struct {
		x, y float64 // sums of the places
		n    int
	}
	var all []heap
	for _, p := range pairs {
		at := f.point(p.Recorded, p.Simulated)
		s := spot{int(math.Floor(float64(at.X) / grain)), int(math.Floor(float64(at.Y) / grain))}
		i, ok := index[s]
		if !ok {
			i = len(all)
			index[s] = i
			all = append(all, heap{})
		}
		all[i].x, all[i].y, all[i].n = all[i].x+float64(at.X), all[i].y+float64(at.Y), all[i].n+1
	}
	base := Chosen.color()
	for _, h := range all {
		size := math.Log10(float64(h.n))
		f.DrawGlyph(draw.GlyphStyle{
			Color:  color.NRGBA{base.R, base.G, base.B, uint8(math.Min(115+40*size, 235))},
			Radius: vg.Length(math.Min(1.5+size, 6)), Shape: draw.CircleGlyph{},
		}, vg.Point{X: vg.Length(h.x / float64(h.n)), Y: vg.Length(h.y / float64(h.n))})
	}
}
