package plot

import (
	"testing"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/recorder"
)

// TestOverloadStandsAtTheWorseEnd: a value of the setting without a true value
// stands at the top of a latency and at the bottom of a share of success, side by
// side with those of other lines.
func TestOverloadStandsAtTheWorseEnd(t *testing.T) {
	for _, words := range [][]string{nil, {"a", "b"}} {
		for _, more := range []bool{false, true} {
			p := Panel{Y: Scale{From: 0, To: 100}, MoreIsBetter: more, Words: words, Trends: []Trend{
				{Role: Chosen, X: []float64{0, 1}, Y: []float64{50, 60}, Over: []float64{1}},
				{Role: Default, X: []float64{0, 1}, Y: []float64{50, 60}, Over: []float64{1}},
			}}
			d, err := newDrawnPanel(&p)
			if err != nil {
				t.Fatal(err)
			}
			c := draw.NewCanvas(new(recorder.Canvas), 200, 100)
			fr := &frame{Canvas: c, x: &d.x, y: &d.y}
			a, b := d.edge(fr, &p.Trends[0], 1), d.edge(fr, &p.Trends[1], 1)
			across, other, along, end := a.Y, b.Y, b.X-a.X, fr.Max.Y
			if more {
				end = fr.Min.Y
			}
			if words != nil { // turned: from the left to the right
				if across, other, along, end = a.X, b.X, a.Y-b.Y, fr.Max.X; more {
					end = fr.Min.X
				}
			}
			if across != end || other != end || along != apart {
				t.Errorf("words %v, more is better %v: found it at %v, %v apart, expected %v, %v apart", words, more, across, along, end, vg.Length(apart))
			}
		}
	}
}
