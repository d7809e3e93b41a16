package plot

import (
	"bytes"
	"encoding/xml"
	"image"
	"image/color"
	"image/png"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/recorder"
	"pgregory.net/rapid"
)

func caption() Caption {
	return Caption{Title: "KV-aware routing: TTFT p90 0.887 s against 1.09 s with round robin", Subtitle: "conversation_trace.jsonl, 12,031 requests, 4 workers, seed 0"}
}

// lognormal draws n values about a median.
func lognormal(seed uint64, n int, median, spread float64) []float64 {
	rng := rand.New(rand.NewPCG(seed, 1))
	out := make([]float64, n)
	for i := range out {
		out[i] = median * math.Exp(spread*rng.NormFloat64())
	}
	return out
}

func fiveSeries() []Series {
	names := [...]string{"credit 1, scale 8", "default", "round robin", "a policy with quite a long name", "random"}
	var out []Series
	for i, name := range names {
		out = append(out, Series{name, Role(i), lognormal(uint64(i), 2000, 300*float64(i+1), 0.4*float64(i+1))})
	}
	return out
}

func pairs(n int) []Pair {
	recorded, noise := lognormal(7, n, 400, 0.8), lognormal(8, n, 1.05, 0.2)
	out := make([]Pair, n)
	for i := range out {
		out[i] = Pair{recorded[i], recorded[i] * noise[i]}
	}
	return out
}

// figures are the figures that the tests look at.
func figures(t testing.TB) map[string]*Figure {
	t.Helper()
	out := map[string]*Figure{}
	keep := func(name string, f *Figure, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		out[name] = f
	}
	two := fiveSeries()[:2]
	f, err := CDF(Single(), caption(), "time to first token (TTFT)", 2000, two...)
	keep("cdf", f, err)
	f, err = CDF(Readme(), caption(), "time to first token (TTFT)", 0, fiveSeries()...)
	keep("cdf-readme", f, err)
	f, err = CDF(Single(), Caption{Title: "few values"}, "TTFT", 0, Series{"a", Chosen, []float64{0, 12, 13, 14}}, Series{"b", Reference, []float64{7}})
	keep("cdf-few", f, err)
	f, err = Scatter(Square(), caption(), "TTFT", "ms", true, pairs(400))
	keep("scatter", f, err)
	f, err = Scatter(Square(), caption(), "cached tokens", "tokens", false, pairs(400))
	keep("scatter-linear", f, err)
	return out
}

func svg(t testing.TB, f *Figure) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := f.WriteSVG(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func picture(t testing.TB, f *Figure) (image.Image, []byte) {
	t.Helper()
	var b bytes.Buffer
	if err := f.WritePNG(&b); err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(bytes.NewReader(b.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	return img, b.Bytes()
}

func TestBytesRepeat(t *testing.T) {
	if testing.Short() {
		t.Skip("draws every kind of picture twice; run without -short")
	}
	second := figures(t)
	for name, f := range figures(t) {
		if !bytes.Equal(svg(t, f), svg(t, second[name])) {
			t.Errorf("%s: the second SVG differs", name)
		}
		_, a := picture(t, f)
		_, b := picture(t, second[name])
		if !bytes.Equal(a, b) {
			t.Errorf("%s: the second PNG differs", name)
		}
	}
}

// TestGolden compares with figures that were looked at and found good.
func TestGolden(t *testing.T) {
	for _, name := range []string{"cdf", "cdf-few", "scatter"} {
		got := svg(t, figures(t)[name])
		path := "testdata/" + name + ".svg"
		if os.Getenv("UPDATE") != "" {
			if err := os.WriteFile(path, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s differs; look at it before UPDATE=1", path)
		}
	}
}

func TestSVGIsWellFormedText(t *testing.T) {
	c := caption()
	c.Title = `a < b & "c" </svg><script>`
	f, err := CDF(Single(), c, "TTFT", 0, Series{"<x> & y", Chosen, []float64{1, 2}})
	if err != nil {
		t.Fatal(err)
	}
	d := xml.NewDecoder(bytes.NewReader(svg(t, f)))
	var text strings.Builder
	for {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		switch e := token.(type) {
		case xml.CharData:
			text.Write(e)
		case xml.StartElement:
			if e.Name.Local == "script" || e.Name.Local == "image" {
				t.Errorf("element %s", e.Name.Local)
			}
		}
	}
	for _, want := range []string{c.Title, "<x> & y"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("text %q is missing", want)
		}
	}
}

func TestPNG(t *testing.T) {
	for name, want := range map[string]image.Point{"cdf": {1400, 880}, "cdf-readme": {832, 528}, "scatter": {1080, 1120}} {
		img, _ := picture(t, figures(t)[name])
		if got := img.Bounds().Size(); got != want {
			t.Errorf("%s: found %v pixels, expected %v", name, got, want)
		}
		if corner := color.NRGBAModel.Convert(img.At(1, 1)).(color.NRGBA); corner != rgb(0xffffff) {
			t.Errorf("%s: the ground is %v", name, corner)
		}
		seen := map[color.NRGBA]int{}
		for y := range want.Y {
			for x := range want.X {
				seen[color.NRGBAModel.Convert(img.At(x, y)).(color.NRGBA)]++
			}
		}
		for _, c := range []color.NRGBA{Chosen.color(), ink().(color.NRGBA)} {
			if seen[c] < 50 {
				t.Errorf("%s: found %d pixels of %v", name, seen[c], c)
			}
		}
	}
}

// box is a text with the area it covers.
type box struct {
	text string
	vg.Rectangle
}

// boxes draws a figure and returns its texts.
func boxes(f *Figure) []box {
	var r recorder.Canvas
	f.draw(draw.NewCanvas(&r, f.size.Width, f.size.Height))
	var out []box
	for _, action := range r.Actions {
		if a, ok := action.(*recorder.FillString); ok {
			face := f.fonts.handler.Cache().Lookup(a.Font, a.Size)
			e := face.Extents()
			out = append(out, box{a.String, vg.Rectangle{
				Min: vg.Point{X: a.Point.X, Y: a.Point.Y - e.Descent*0.8},
				Max: vg.Point{X: a.Point.X + face.Width(a.String), Y: a.Point.Y + 0.75*a.Size},
			}})
		}
	}
	return out
}

func checkBoxes(t interface{ Fatalf(string, ...any) }, f *Figure) {
	all := boxes(f)
	if len(all) < 5 {
		t.Fatalf("found %d texts", len(all))
	}
	for i, a := range all {
		if a.Min.X < 0 || a.Min.Y < 0 || a.Max.X > f.size.Width || a.Max.Y > f.size.Height {
			t.Fatalf("%q leaves the figure: %v", a.text, a.Rectangle)
		}
		for _, b := range all[:i] {
			if a.Min.X < b.Max.X && b.Min.X < a.Max.X && a.Min.Y < b.Max.Y && b.Min.Y < a.Max.Y {
				t.Fatalf("%q and %q overlap", a.text, b.text)
			}
		}
	}
}

func TestTextsDoNotOverlap(t *testing.T) {
	for name, f := range figures(t) {
		t.Run(name, func(t *testing.T) { checkBoxes(t, f) })
	}
}

func TestTextsDoNotOverlapWhateverIsDrawn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := []Size{Single(), Square(), Readme()}[rapid.IntRange(0, 2).Draw(t, "size")]
		words := rapid.StringMatching(`[A-Za-z0-9,.%() ]{0,160}`)
		c := Caption{Title: words.Draw(t, "title"), Subtitle: words.Draw(t, "subtitle")}
		median := math.Exp(rapid.Float64Range(-6, 14).Draw(t, "median"))
		spread := rapid.Float64Range(0, 3).Draw(t, "spread")
		n := rapid.IntRange(1, 300).Draw(t, "n")
		var f *Figure
		var err error
		if rapid.Bool().Draw(t, "scatter") {
			x, y := lognormal(1, n, median, spread), lognormal(2, n, median, spread)
			all := make([]Pair, n)
			for i := range all {
				all[i] = Pair{x[i], y[i]}
			}
			f, err = Scatter(size, c, "TTFT", "ms", rapid.Bool().Draw(t, "log"), all)
		} else {
			series := make([]Series, rapid.IntRange(1, mostLines).Draw(t, "series"))
			for i := range series {
				series[i] = Series{rapid.StringMatching(`[a-z ]{1,60}`).Draw(t, "name"), Role(i), lognormal(uint64(i), n, median, spread)}
			}
			f, err = CDF(size, c, "time to first token (TTFT)", rapid.SampledFrom([]float64{0, median, median * 100}).Draw(t, "bound"), series...)
		}
		if err != nil {
			t.Fatal(err)
		}
		checkBoxes(t, f)
	})
}

func TestTicks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lo := math.Exp(rapid.Float64Range(-9, 14).Draw(t, "low"))
		hi := lo * math.Exp(rapid.Float64Range(0.01, 16).Draw(t, "range"))
		for name, ticks := range map[string][]tick{"linear": linearTicks(lo, hi), "log": logTicks(lo, hi)} {
			labelled := map[string]bool{}
			last := math.Inf(-1)
			for _, k := range ticks {
				if k.value < lo*(1-1e-6)-1e-9 || k.value > hi*(1+1e-6) || k.value <= last {
					t.Fatalf("%s: tick at %v between %v and %v after %v", name, k.value, lo, hi, last)
				}
				last = k.value
				if k.label != "" {
					if labelled[k.label] {
						t.Fatalf("%s: the label %q appears twice", name, k.label)
					}
					labelled[k.label] = true
				}
			}
			if len(labelled) < 2 || len(labelled) > 9 {
				t.Fatalf("%s: found %d labels from %v to %v", name, len(labelled), lo, hi)
			}
		}
	})
}

func TestTickLabels(t *testing.T) {
	for _, c := range []struct {
		ticks []tick
		want  string
	}{
		{linearTicks(0, 2900), "0 500 1,000 1,500 2,000 2,500"},
		{linearTicks(0, 1), "0.0 0.2 0.4 0.6 0.8 1.0"},
		{linearTicks(0.31, 0.34), "0.310 0.315 0.320 0.325 0.330 0.335 0.340"},
		{logTicks(20, 700), "20 50 100 200 500"},
		{logTicks(0.02, 5), "0.03 0.1 0.3 1 3"},
		{logTicks(0.0003, 90), "0.001 0.01 0.1 1 10"},
		{logTicks(7, 14), "8 10 12 14"},
	} {
		var got []string
		for _, k := range c.ticks {
			if k.label != "" {
				got = append(got, k.label)
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("found %s, expected %s", strings.Join(got, " "), c.want)
		}
	}
}

// TestCDFPassesThroughPercentiles reads the drawn line.
func TestCDFPassesThroughPercentiles(t *testing.T) {
	values := lognormal(3, 5000, 300, 0.7)
	f, err := CDF(Single(), caption(), "TTFT", 0, Series{"kv", Chosen, values})
	if err != nil {
		t.Fatal(err)
	}
	fr := &frame{x: &f.x, y: &f.y}
	fr.Max = vg.Point{X: 1000, Y: 100}
	ascending := (&Series{Values: values}).sorted()
	unit := 1.0
	if strings.Contains(f.x.label, ", s") {
		unit = msPerSecond
	}
	line := fr.cumulative(ascending, unit)
	for _, p := range []float64{50, 75, 90, 95, 99, 99.9, 100} {
		want := 1000 * f.x.at(ascending[int(math.Round(4999*p/100))]/unit)
		found := false
		for _, at := range line {
			found = found || math.Abs(float64(at.Y)-p) < 1e-9 && math.Abs(float64(at.X)-want) < 1e-9
		}
		if !found {
			t.Errorf("p%v is not on the line", p)
		}
	}
	for i := 1; i < len(line); i++ {
		if line[i].X < line[i-1].X || line[i].Y < line[i-1].Y {
			t.Fatalf("the line falls back at point %d", i)
		}
	}
}

func TestRefusals(t *testing.T) {
	nan := math.NaN()
	if _, err := CDF(Single(), caption(), "TTFT", 0); err == nil {
		t.Error("no series: found no error")
	}
	if _, err := CDF(Single(), caption(), "TTFT", 0, append(fiveSeries(), Series{})...); err == nil {
		t.Error("six series: found no error")
	}
	_, err := CDF(Single(), caption(), "TTFT", 0, Series{"kv", Chosen, []float64{nan}})
	if err == nil || !strings.Contains(err.Error(), `found no value of "kv"`) {
		t.Errorf("no value: found %v", err)
	}
	if _, err := Scatter(Square(), caption(), "TTFT", "ms", true, []Pair{{nan, 1}, {0, 5}, {3, -1}}); err == nil {
		t.Error("no pair: found no error")
	}
}

func TestExtremesCanBeDrawn(t *testing.T) {
	for _, values := range [][]float64{{0}, {5}, {5, 5, 5}, {1e-300, 1e300}, {0, 0, 1e9}} {
		f, err := CDF(Single(), caption(), "TTFT", 0, Series{"kv", Chosen, values})
		if err != nil {
			t.Fatal(err)
		}
		if text := string(svg(t, f)); strings.Contains(text, "NaN") || strings.Contains(text, "Inf") {
			t.Errorf("%v: not a number", values)
		}
		f, err = Scatter(Square(), caption(), "tokens", "tokens", false, []Pair{{values[0], values[len(values)-1]}})
		if err != nil {
			t.Fatal(err)
		}
		if text := string(svg(t, f)); strings.Contains(text, "NaN") || strings.Contains(text, "Inf") {
			t.Errorf("%v: not a number in the scatter", values)
		}
	}
}

func BenchmarkPNG(b *testing.B) {
	f := figures(b)["cdf"]
	for b.Loop() {
		if err := f.WritePNG(io.Discard); err != nil {
			b.Fatal(err)
		}
	}
}
