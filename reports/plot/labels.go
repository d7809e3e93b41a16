package plot

import (
	"math"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

const (
	mostLabels = 8  // of a scatter
	labelApart = 12 // pt between two labelled points
)

// labelSpots labels the first spots that have a label and a free place for it:
// no text on another or on a spot, and none outside.
func (f *frame) labelSpots(spots, front []Spot) {
	stairs := f.along(front)
	s := f.fonts.style(smallSize, ink())
	var taken []vg.Rectangle // texts
	var named []vg.Point
	for i := range spots {
		if spots[i].Label == "" || len(named) == mostLabels {
			continue
		}
		at := f.spot(&spots[i])
		if near(named, at, labelApart) {
			continue
		}
		if r, ok := f.freePlace(s, spots, i, taken, stairs); ok {
			taken, named = append(taken, r), append(named, at)
			s.Color = ink()
			f.lead(at, r, spots[i].Mark)
			f.FillText(s, vg.Point{X: r.Min.X + 1, Y: r.Min.Y + 2}, spots[i].Label)
		}
	}
}

func near(all []vg.Point, at vg.Point, apart float64) bool {
	for _, p := range all {
		if math.Hypot(float64(p.X-at.X), float64(p.Y-at.Y)) < apart {
			return true
		}
	}
	return false
}

// freePlace returns the best of some places about a spot for its label, which are
// ever farther away.
func (f *frame) freePlace(s text.Style, spots []Spot, i int, taken []vg.Rectangle, stairs []vg.Point) (best vg.Rectangle, ok bool) {
	at := f.spot(&spots[i])
	w, h := s.Width(spots[i].Label)+2, vg.Length(smallSize+2.5)
	d := spots[i].Mark.radius() + 3
	least := math.Inf(1)
	places := []vg.Point{ // the lower left corner
		{X: at.X + d, Y: at.Y - h/2}, {X: at.X - d - w, Y: at.Y - h/2},
		{X: at.X - w/2, Y: at.Y + d}, {X: at.X - w/2, Y: at.Y - d - h},
		{X: at.X + d, Y: at.Y + 2}, {X: at.X + d, Y: at.Y - 2 - h},
		{X: at.X - d - w, Y: at.Y + 2}, {X: at.X - d - w, Y: at.Y - 2 - h},
		{X: at.X + 2.5*d, Y: at.Y + 1.5*d}, {X: at.X + 2.5*d, Y: at.Y - 1.5*d - h},
	}
	for _, far := range []vg.Length{4, 6, 9, 13} {
		places = append(places, vg.Point{X: at.X + far*d, Y: at.Y + far*d/2}, vg.Point{X: at.X + far*d, Y: at.Y - far*d/2 - h},
			vg.Point{X: at.X - far*d - w, Y: at.Y + far*d/2}, vg.Point{X: at.X - far*d - w, Y: at.Y - far*d/2 - h},
			vg.Point{X: at.X - w/2, Y: at.Y + far*d}, vg.Point{X: at.X - w/2, Y: at.Y - far*d - h})
	}
	for k, p := range places {
		r := vg.Rectangle{Min: p, Max: vg.Point{X: p.X + w, Y: p.Y + h}}
		if r.Min.X < f.Min.X || r.Max.X > f.Max.X || r.Min.Y < f.Min.Y || r.Max.Y > f.Max.Y || overlapsAny(r, taken) {
			continue
		}
		cost := 0.1 * float64(k)
		for _, q := range stairs {
			if q.X > r.Min.X && q.X < r.Max.X && q.Y > r.Min.Y && q.Y < r.Max.Y {
				cost += 0.5
			}
		}
		for j := range spots {
			if j == i {
				continue
			}
			q := f.spot(&spots[j])
			if reach := spots[j].Mark.radius(); q.X+reach > r.Min.X && q.X-reach < r.Max.X && q.Y+reach > r.Min.Y && q.Y-reach < r.Max.Y {
				cost = math.Inf(1)
			}
		}
		if cost < least {
			best, least = r, cost
		}
	}
	return best, !math.IsInf(least, 1)
}

// along returns places along the front, close enough to tell whether a label
// lies on it.
func (f *frame) along(front []Spot) (out []vg.Point) {
	line := f.stairs(front)
	for i := 1; i < len(line); i++ {
		a, b := line[i-1], line[i]
		n := max(1, int(math.Hypot(float64(b.X-a.X), float64(b.Y-a.Y))/4))
		for k := range n + 1 {
			part := vg.Length(k) / vg.Length(n)
			out = append(out, vg.Point{X: a.X + part*(b.X-a.X), Y: a.Y + part*(b.Y-a.Y)})
		}
	}
	return out
}

func overlapsAny(r vg.Rectangle, all []vg.Rectangle) bool {
	for _, o := range all {
		if r.Min.X < o.Max.X && o.Min.X < r.Max.X && r.Min.Y < o.Max.Y && o.Min.Y < r.Max.Y {
			return true
		}
	}
	return false
}

// lead joins a spot with a label that does not stand beside it.
func (f *frame) lead(at vg.Point, r vg.Rectangle, m Mark) {
	x, y := min(max(at.X, r.Min.X), r.Max.X), min(max(at.Y, r.Min.Y), r.Max.Y)
	if math.Hypot(float64(x-at.X), float64(y-at.Y)) > float64(m.radius())+6 {
		f.StrokeLine2(draw.LineStyle{Color: muted(), Width: 0.5}, at.X, at.Y, x, y)
	}
}
