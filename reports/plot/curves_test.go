package plot

import (
	"bytes"
	"image/color"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"
	"pgregory.net/rapid"
)

func fiveCurves(n int, scale float64) []Curve {
	names := [...]string{"512 tokens each", "4,096 tokens each", "32,768 tokens each", "the hardware's floor", "another"}
	var out []Curve
	for i, name := range names {
		c := Curve{Name: name, Role: Role(i)}
		for k := range n {
			c.X, c.Y = append(c.X, math.Pow(2, float64(k))), append(c.Y, scale*float64(i+1)*(1+0.1*float64(k*k)))
		}
		out = append(out, c)
	}
	return out
}

func fiveGroups(n int, median, spread float64) []Group {
	var out []Group
	for i, name := range [...]string{"h100_sxm vllm", "h200_sxm vllm", "b200_sxm vllm", "a100_sxm vllm", "others"} {
		x, y := lognormal(uint64(i), n, median, spread), lognormal(uint64(i+9), n, 1.02, 0.1)
		g := Group{Name: name, Role: Role(i)}
		for k := range x {
			g.Pairs = append(g.Pairs, Pair{x[k], x[k] * y[k]})
		}
		out = append(out, g)
	}
	return out
}

func TestLinesAndGroupsTextsDoNotOverlap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := []Size{Single(), Square(), Readme()}[rapid.IntRange(0, 2).Draw(t, "size")]
		words := rapid.StringMatching(`[A-Za-z0-9,.%() ]{0,160}`)
		c := Caption{Title: words.Draw(t, "title"), Subtitle: words.Draw(t, "subtitle")}
		n, scale := rapid.IntRange(1, 16).Draw(t, "n"), math.Exp(rapid.Float64Range(-6, 12).Draw(t, "scale"))
		var f *Figure
		var err error
		if rapid.Bool().Draw(t, "lines") {
			log := rapid.Bool().Draw(t, "log")
			f, err = Lines(size, c, Axis{"sequences", log}, Axis{"step time, ms", log}, fiveCurves(n, scale)[:rapid.IntRange(1, mostLines).Draw(t, "curves")]...)
		} else {
			f, err = Groups(size, c, "TTFT", "ms", 0.1, fiveGroups(n, scale, rapid.Float64Range(0, 3).Draw(t, "spread"))...)
		}
		if err != nil {
			t.Fatal(err)
		}
		checkBoxes(t, f)
	})
}

// TestLabelsMovedInsideDoNotTouch draws wide labels at the right edge, where the
// last one is moved to the left to stay inside the figure.
func TestLabelsMovedInsideDoNotTouch(t *testing.T) {
	for _, size := range []Size{Single(), Square(), Readme()} {
		for _, spread := range []float64{2, 5, 10, 30, 100, 1000} {
			for hi := 1e7; hi < 2e10; hi *= 1.07 {
				f, err := Scatter(size, Caption{Title: "title", Subtitle: "subtitle"}, "TTFT", "ms", true, []Pair{{hi / spread, hi / spread}, {hi, hi}})
				if err != nil {
					t.Fatal(err)
				}
				checkBoxes(t, f)
			}
		}
	}
}

// TestCrowdedLabelsAreLeftOut draws logarithmic axes over short ranges, whose
// ticks stand closer at the upper end than their labels are high.
func TestCrowdedLabelsAreLeftOut(t *testing.T) {
	if testing.Short() {
		t.Skip("draws a thousand figures")
	}
	for curves := 1; curves <= mostLines; curves++ {
		for n := 1; n <= 16; n++ {
			for scale := 0.01; scale < 1e4; scale *= 1.9 {
				f, err := Lines(Readme(), Caption{Title: strings.Repeat("long title ", 12), Subtitle: strings.Repeat("long subtitle ", 10)},
					Axis{"sequences", true}, Axis{"step time, ms", true}, fiveCurves(n, scale)[:curves]...)
				if err != nil {
					t.Fatal(err)
				}
				checkBoxes(t, f)
			}
		}
	}
}

func TestCurvesRepeatAndAreDrawn(t *testing.T) {
	lines := func() *Figure {
		f, err := Lines(Single(), caption(), Axis{"sequences", true}, Axis{"step time, ms", true}, fiveCurves(10, 5)...)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	groups := func() *Figure {
		f, err := Groups(Square(), caption(), "TTFT", "ms", 0.1, fiveGroups(40, 300, 1)...)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	for name, figure := range map[string]func() *Figure{"lines": lines, "groups": groups} {
		if !bytes.Equal(svg(t, figure()), svg(t, figure())) {
			t.Errorf("%s: the second SVG differs", name)
		}
		img, first := picture(t, figure())
		_, second := picture(t, figure())
		if !bytes.Equal(first, second) {
			t.Errorf("%s: the second PNG differs", name)
		}
		seen := map[color.NRGBA]int{}
		for y := range img.Bounds().Dy() {
			for x := range img.Bounds().Dx() {
				seen[color.NRGBAModel.Convert(img.At(x, y)).(color.NRGBA)]++
			}
		}
		for r := range roles {
			if seen[r.color()] < 50 {
				t.Errorf("%s: found %d pixels of role %d", name, seen[r.color()], r)
			}
		}
	}
}

// A ratio line passes through pairs of that ratio and stays on the axes.
func TestRatioLine(t *testing.T) {
	f, err := Groups(Square(), caption(), "TTFT", "ms", 0.25, Group{"a", Chosen, []Pair{{10, 10}, {1000, 800}}})
	if err != nil {
		t.Fatal(err)
	}
	fr := &frame{x: &f.x, y: &f.y}
	fr.Max = vg.Point{X: 100, Y: 100}
	a, b := fr.point(20, 25), fr.point(200, 250)
	if slope := (b.Y - a.Y) / (b.X - a.X); math.Abs(float64(slope)-1) > 1e-9 {
		t.Errorf("equal ratios lie on a line of slope %v", slope)
	}
	if d := fr.point(200, 250).Y - fr.point(200, 200).Y; d <= 0 {
		t.Errorf("a larger prediction lies %v above", d)
	}
}

func TestCurveRefusals(t *testing.T) {
	nan := math.NaN()
	if _, err := Lines(Single(), caption(), Axis{"x", true}, Axis{"y", true}, Curve{"a", Chosen, []float64{0, nan}, []float64{1, 1}}); err == nil {
		t.Error("no point: found no error")
	}
	if _, err := Lines(Single(), caption(), Axis{}, Axis{}, append(fiveCurves(2, 1), Curve{})...); err == nil || !strings.Contains(err.Error(), "6 curves") {
		t.Errorf("six curves: found %v", err)
	}
	if _, err := Groups(Square(), caption(), "TTFT", "ms", 0.1, Group{"a", Chosen, []Pair{{0, 1}, {nan, 1}, {1, math.Inf(1)}}}); err == nil {
		t.Error("no pair: found no error")
	}
	if _, err := Groups(Square(), caption(), "TTFT", "ms", 0.1, append(fiveGroups(1, 1, 1), Group{})...); err == nil {
		t.Error("six groups: found no error")
	}
	f, err := Lines(Single(), caption(), Axis{"x", true}, Axis{"y", false}, Curve{"a", Chosen, []float64{1, 2, 3}, []float64{5, nan, 5}})
	if err != nil {
		t.Fatal(err)
	}
	if text := string(svg(t, f)); strings.Contains(text, "NaN") || strings.Contains(text, "Inf") {
		t.Error("not a number in the figure")
	}
}
