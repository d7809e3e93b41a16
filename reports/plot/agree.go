package plot

import (
	"fmt"
	"math"

	"routesim/reports/format"
)

// Agreement draws what was found (vertical) over what was predicted (horizontal)
// on one logarithmic scale for both axes, with a place of its own for 0: on the
// line they are equal. Pairs use Recorded for the prediction and Simulated for
// what was found; those that are not finite or below 0 are left out. things
// names what a pair is, in the singular.
func Agreement(size Size, c Caption, predicted, found, things string, pairs []Pair) (*Figure, error) {
	fonts, err := loadFaces()
	if err != nil {
		return nil, err
	}
	scale := Scale{Label: predicted, Log: true}
	shown := make([]Pair, 0, len(pairs))
	var values []float64
	for _, p := range pairs {
		if scale.finite(p.Recorded) && scale.finite(p.Simulated) {
			shown = append(shown, p)
			values = append(values, p.Recorded, p.Simulated)
		}
	}
	if len(shown) == 0 {
		return nil, fmt.Errorf("figure of %s: found no pair of values, expected at least one", found)
	}
	f := &Figure{Caption: c, size: size, fonts: fonts, x: scale.axis(values)}
	f.x.label += " (log scale)"
	f.y = f.x
	f.y.label, f.y.grid = found, true
	equal := Default.line()
	equal.Color, equal.Width = ink(), 1.2
	most := densest(shown)
	f.legend = []entry{
		{name: format.Plural(int64(len(shown)), things), line: Chosen.line(), dot: true},
		{name: "equal", line: equal},
	}
	if most > 1 {
		f.note = "Dots are larger and darker where many lie on one another, up to " + format.Count(int64(most)) + "."
	}
	f.data = func(fr *frame) {
		a, b := fr.point(math.Max(f.x.lo, 0), math.Max(f.y.lo, 0)), fr.point(f.x.hi, f.y.hi)
		fr.StrokeLine2(equal, a.X, a.Y, b.X, b.Y)
		if f.x.zero {
			z := fr.point(0, 0)
			fr.StrokeLine2(equal, z.X-4, z.Y-4, z.X+4, z.Y+4)
		}
		fr.heaps(shown)
	}
	return f, nil
}

// densest returns the largest number of equal pairs.
func densest(pairs []Pair) int {
	count, most := map[Pair]int{}, 0
	for _, p := range pairs {
		count[p]++
		most = max(most, count[p])
	}
	return most
}
