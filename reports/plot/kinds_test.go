package plot

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/recorder"
	"pgregory.net/rapid"
)

func ticksOf(values ...float64) (out []Tick) {
	for _, v := range values {
		out = append(out, Tick{v, strconv.FormatFloat(v, 'g', -1, 64)})
	}
	return out
}

func somePanels(n, trends int, scale, spread float64, x Scale, words []string) []Panel {
	var out []Panel
	for i := range n {
		p := Panel{Title: fmt.Sprintf("TTFT p%d, ms", 50+i), X: x, Words: words}
		for k := range trends {
			t := Trend{Role: Role(k), Dots: words != nil}
			for j, at := range x.Ticks {
				y := scale * math.Exp(spread*math.Sin(float64(i+j+3*k)))
				t.X, t.Y = append(t.X, at.Value), append(t.Y, y)
				t.Lo, t.Hi = append(t.Lo, y*0.9), append(t.Hi, y*1.1)
				t.Marks = append(t.Marks, Mark((i+j)%5))
			}
			p.Trends = append(p.Trends, t)
		}
		out = append(out, p)
	}
	return out
}

func someKeys() []Key {
	return []Key{
		{Name: "all else as chosen", Role: Chosen, Band: true}, {Name: "all else at the default", Role: Default, Band: true},
		{Name: "chosen", Mark: MarkChosen, IsMark: true}, {Name: "default", Mark: MarkDefault, IsMark: true},
	}
}

// someMap has every state and frame of cells.
func someMap(columns, rows int, limit float64, change bool) *Map {
	m := &Map{X: "router-kv-overlap-score-credit", Y: "router-prefill-load-scale", Change: change, Limit: limit, Chosen: "chosen", Low: "better  -30 %", High: "+30 %  worse"}
	for c := range columns {
		m.Columns = append(m.Columns, strconv.FormatFloat(0.25*float64(c), 'g', -1, 64))
	}
	for r := range rows {
		m.Rows = append(m.Rows, strconv.FormatFloat(float64(rows-r), 'g', -1, 64))
		var row []Cell
		for c := range columns {
			v := limit * math.Sin(float64(c)/3+float64(r)/4) * 1.2
			cell := Cell{Value: v, Text: strconv.FormatFloat(v, 'f', 1, 64), Quiet: (r+c)%3 == 0}
			switch (r*columns + c) % 11 {
			case 3:
				cell.Frame = CellFrame(1 + c%3)
			case 5:
				cell.State = CellState(1 + (r+c)%3)
			case 7:
				cell.Value = math.NaN()
			}
			row = append(row, cell)
		}
		m.Cells = append(m.Cells, row)
	}
	return m
}

func someCloud(n int, spread float64, front bool) *Cloud {
	x, y := lognormal(1, n, 28, spread), lognormal(2, n, 1.2, spread)
	c := &Cloud{
		X: Scale{Label: "\u2190 better   ITL p90, ms"}, Y: Scale{Label: "\u2193 better   TTFT p90, s"}, Front: front, Zoom: front,
		Note: "Labels: credit / scale.",
		Names: []MarkName{{MarkChosen, "chosen"}, {MarkDefault, "default"}, {MarkReference, "round robin"},
			{MarkTied, "no difference from the best shown"}, {Plain, "other settings"}, {MarkOverloaded, "overloaded"}, {MarkPicked, "picked"}},
	}
	for i := range n {
		s := Spot{X: x[i], Y: y[i], Label: fmt.Sprintf("%d / %d", i, i%7)}
		if i < 6 {
			s.Mark = []Mark{MarkChosen, MarkDefault, MarkPicked, MarkReference, MarkTied, MarkOverloaded}[i]
		}
		c.Spots = append(c.Spots, s)
	}
	return c
}

func someStrips(workers, buckets int, top float64) []StripGroup {
	var out []StripGroup
	for g, title := range []string{"KV use, share of KV blocks, mean", "running requests, most", "requests left waiting, most"} {
		group := StripGroup{Title: title, Top: top, TopLabel: strconv.FormatFloat(top, 'g', 3, 64)}
		for w := range workers {
			s := Strip{Name: "w" + strconv.Itoa(w)}
			for b := range buckets {
				s.Values = append(s.Values, float32(top*math.Max(0, math.Sin(float64(b)/20+float64(w+g)))))
			}
			group.Strips = append(group.Strips, s)
		}
		out = append(out, group)
	}
	return out
}

func overlapPairs(n int) []Pair {
	out := pairs(n)
	for i := range out {
		out[i] = Pair{math.Round(out[i].Recorded), math.Round(out[i].Simulated)}
		if i%5 == 0 {
			out[i].Simulated = 0
		}
		if i%7 == 0 {
			out[i].Recorded = 0
		}
	}
	return out
}

// kinds are the figures of sweeps that the tests look at.
func kinds(t testing.TB) map[string]*Figure {
	t.Helper()
	out := map[string]*Figure{}
	keep := func(name string) func(f *Figure, err error) {
		return func(f *Figure, err error) {
			t.Helper()
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			out[name] = f
		}
	}
	x := Scale{Label: "router-prefill-load-scale (log scale)", Log: true, Ticks: ticksOf(0, 0.25, 0.5, 1, 2, 4, 8)}
	keep("panels")(Panels(PanelSize(2), caption(), 2, someKeys(), "Bands: 95 % interval.", somePanels(4, 3, 900, 0.3, x, nil)...))
	keep("words")(Panels(Single(), caption(), 1, someKeys(), "", somePanels(1, 1, 900, 0.3, Scale{Ticks: ticksOf(0, 1, 2)}, []string{"round-robin", "kv", "a long name of a mode"})...))
	keep("heatmap")(HeatMap(Size{}, caption(), someMap(11, 9, 30, true)))
	keep("heatmap-value")(HeatMap(Size{}, caption(), someMap(20, 40, 900, false)))
	keep("points")(Points(Single(), caption(), someCloud(60, 0.3, true)))
	keep("agreement")(Agreement(Square(), caption(), "predicted by the router, KV blocks", "found, KV blocks", "request", overlapPairs(500)))
	keep("strips")(Strips(StripSize(3, 8), caption(), "time, min", 58.9, "", someStrips(8, 300, 40)...))
	return out
}

// TestKindsAreGolden compares with figures that were looked at and found good.
func TestKindsAreGolden(t *testing.T) {
	if testing.Short() {
		t.Skip("draws every kind of picture; run without -short")
	}
	var got strings.Builder
	first, second := kinds(t), kinds(t)
	for _, name := range slices.Sorted(maps.Keys(first)) {
		text := svg(t, first[name])
		if !bytes.Equal(text, svg(t, second[name])) {
			t.Errorf("%s: the second SVG differs", name)
		}
		fmt.Fprintf(&got, "%x  %s\n", sha256.Sum256(text), name)
	}
	const path = "testdata/kinds.sha256"
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(path, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got.String() != string(want) {
		t.Errorf("found\n%sexpected\n%s; look at the figures before UPDATE=1", got.String(), want)
	}
	for _, name := range []string{"panels", "strips"} {
		_, a := picture(t, first[name])
		_, b := picture(t, second[name])
		if !bytes.Equal(a, b) {
			t.Errorf("%s: the second PNG differs", name)
		}
	}
}

// TestKindsStayInside draws and looks at every text.
func TestKindsStayInside(t *testing.T) {
	for name, f := range kinds(t) {
		t.Run(name, func(t *testing.T) {
			checkBoxes(t, f)
			if text := string(svg(t, f)); strings.Contains(text, "NaN") || strings.Contains(text, "Inf") {
				t.Error("not a number in the figure")
			}
		})
	}
}

// TestKindsTextsDoNotOverlap draws all kinds of data.
func TestKindsTextsDoNotOverlap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.StringMatching(`[A-Za-z0-9,.%() ]{0,160}`)
		c := Caption{Title: words.Draw(t, "title"), Subtitle: words.Draw(t, "subtitle")}
		scale, spread := math.Exp(rapid.Float64Range(-6, 12).Draw(t, "scale")), rapid.Float64Range(0, 2).Draw(t, "spread")
		readme := rapid.Bool().Draw(t, "readme")
		size := func(s Size) Size {
			if readme {
				return Readme()
			}
			return s
		}
		var f *Figure
		var err error
		switch kind := rapid.SampledFrom([]string{"panels", "words", "heatmap", "points", "agreement", "strips"}).Draw(t, "kind"); kind {
		case "panels", "words":
			n, columns := rapid.IntRange(1, 4).Draw(t, "panels"), rapid.IntRange(1, 2).Draw(t, "columns")
			x := Scale{Label: "router-kv-overlap-score-credit", Log: rapid.Bool().Draw(t, "log")}
			var names []string
			for i := range rapid.IntRange(1, 11).Draw(t, "values") {
				x.Ticks = append(x.Ticks, Tick{float64(i) * scale, strconv.FormatFloat(float64(i)*scale, 'g', 4, 64)})
				names = append(names, rapid.StringMatching(`[a-z-]{1,40}`).Draw(t, "word"))
			}
			if kind == "words" {
				for i := range x.Ticks {
					x.Ticks[i].Value = float64(i)
				}
				if x.Log = false; len(names) > 6 {
					x.Ticks, names = x.Ticks[:6], names[:6]
				}
			} else {
				names = nil
			}
			s := PanelSize((n + columns - 1) / columns)
			if n == 1 {
				s = size(Single())
			}
			p := somePanels(n, rapid.IntRange(1, 3).Draw(t, "trends"), scale, spread, x, names)
			p[0].Bound, p[0].BoundLabel = rapid.SampledFrom([]float64{0, scale, scale * 2}).Draw(t, "bound"), "target 90 %"
			f, err = Panels(s, c, columns, someKeys(), words.Draw(t, "note"), p...)
		case "heatmap":
			columns, rows := rapid.IntRange(1, 40).Draw(t, "columns"), rapid.IntRange(1, 40).Draw(t, "rows")
			m := someMap(columns, rows, scale, rapid.Bool().Draw(t, "change"))
			m.Y = rapid.StringMatching(`[a-z-]{1,60}`).Draw(t, "name")
			f, err = HeatMap(Size{}, c, m)
		case "points":
			f, err = Points(size(Single()), c, someCloud(rapid.IntRange(1, 200).Draw(t, "n"), spread, rapid.Bool().Draw(t, "front")))
		case "agreement":
			f, err = Agreement(size(Square()), c, "predicted", "found, KV blocks", "request", overlapPairs(rapid.IntRange(1, 300).Draw(t, "n")))
		case "strips":
			n := rapid.IntRange(1, 64).Draw(t, "workers")
			f, err = Strips(StripSize(3, n), c, "time, min", scale, words.Draw(t, "note"), someStrips(n, 50, scale)...)
		}
		if err != nil {
			t.Fatal(err)
		}
		checkBoxes(t, f)
	})
}

// TestFrontIsNotBeaten compares with the definition.
func TestFrontIsNotBeaten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 40).Draw(t, "n")
		var all []Spot
		for range n {
			all = append(all, Spot{X: float64(rapid.IntRange(0, 9).Draw(t, "x")), Y: float64(rapid.IntRange(0, 9).Draw(t, "y"))})
		}
		on := func(s Spot) bool {
			return !slices.ContainsFunc(all, func(o Spot) bool { return o.X <= s.X && o.Y <= s.Y && (o.X < s.X || o.Y < s.Y) })
		}
		front := Front(all)
		for _, s := range all {
			if got := slices.Contains(front, s); got != on(s) {
				t.Fatalf("%v: on the front %v, expected %v", s, got, on(s))
			}
		}
	})
}

// TestZeroHasItsPlace: 0 lies left of all others, which keep their order.
func TestZeroHasItsPlace(t *testing.T) {
	s := Scale{Log: true}
	a := s.axis([]float64{0, 0.25, 8, 1})
	last := -1.0
	for _, v := range []float64{0, 0.25, 1, 8} {
		at := a.at(v)
		if at <= last || at < 0 || at > 1 {
			t.Errorf("%v lies at %v after %v", v, at, last)
		}
		last = at
	}
	if d := a.at(8) - a.at(1) - 1.5*(a.at(1)-a.at(0.25)); math.Abs(d) > 1e-9 {
		t.Errorf("equal ratios differ by %v", d)
	}
	if a.ticks[0].value != 0 || a.ticks[0].label != "0" {
		t.Errorf("the first tick is %v", a.ticks[0])
	}
}

// TestColorsOfChanges: better is blue whatever its size, 0 is the middle.
func TestColorsOfChanges(t *testing.T) {
	d := &drawnMap{Map: &Map{Change: true, Limit: 30}}
	for _, c := range []struct {
		v    float64
		want int
	}{{-100, 0}, {-30, 0}, {-28, 0}, {-27, 0}, {-2.7, 5}, {0, 5}, {2.7, 5}, {3, 6}, {29, 10}, {30, 10}, {500, 10}} {
		if got := d.step(c.v, 11); got != c.want {
			t.Errorf("%v: found step %d, expected %d", c.v, got, c.want)
		}
	}
	for _, colors := range [][]uint32{diverging(), sequential()} {
		for _, ground := range colors {
			if r := contrast(ground, inkOn(ground)); r < 4.5 {
				t.Errorf("text on %06x has a contrast of %.2f", ground, r)
			}
		}
	}
}

func contrast(a, b uint32) float64 {
	luminance := func(c uint32) float64 {
		sum := 0.0
		for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
			v := float64(c>>(16-8*i)&255) / 255
			if v <= 0.04045 {
				v /= 12.92
			} else {
				v = math.Pow((v+0.055)/1.055, 2.4)
			}
			sum += weight * v
		}
		return sum
	}
	x, y := luminance(a), luminance(b)
	return (math.Max(x, y) + 0.05) / (math.Min(x, y) + 0.05)
}

// TestStripsShowWhatIsThere counts the buckets of each colour in the drawing.
func TestStripsShowWhatIsThere(t *testing.T) {
	g := StripGroup{Top: 6, Strips: []Strip{{Values: []float32{0, 0, 1, 6, 6, 6, 0, 3}}}}
	for i, want := range []int{0, 0, 2, 6, 6, 6, 0, 4} {
		if got := g.step(g.Strips[0].Values[i]); got != want {
			t.Errorf("%v: found step %d, expected %d", g.Strips[0].Values[i], got, want)
		}
	}
	if g.step(float32(math.NaN())) != 0 || (&StripGroup{}).step(3) != 0 {
		t.Error("what is not there is drawn")
	}
}

func TestKindRefusals(t *testing.T) {
	nan := math.NaN()
	for name, err := range map[string]error{
		"no panel":    second(Panels(Single(), caption(), 1, nil, "")),
		"no value":    second(Panels(Single(), caption(), 1, nil, "", Panel{Trends: []Trend{{X: []float64{1}, Y: []float64{nan}}}})),
		"no row":      second(HeatMap(Size{}, caption(), &Map{Columns: []string{"1"}})),
		"uneven rows": second(HeatMap(Size{}, caption(), &Map{Columns: []string{"1", "2"}, Rows: []string{"1"}, Cells: [][]Cell{{{}}}})),
		"no point":    second(Points(Single(), caption(), &Cloud{Spots: []Spot{{X: nan}}})),
		"no pair":     second(Agreement(Square(), caption(), "a", "b", "request", []Pair{{-1, 2}, {nan, 1}})),
		"no strip":    second(Strips(Single(), caption(), "time", 1, "")),
		"no time":     second(Strips(Single(), caption(), "time", 0, "", someStrips(1, 1, 1)...)),
	} {
		if err == nil {
			t.Errorf("%s: found no error", name)
		}
	}
}

func second(_ *Figure, err error) error { return err }

// TestLabelsKeepClear: no label covers a marked spot or leaves the axes.
func TestLabelsKeepClear(t *testing.T) {
	f, err := Points(Single(), caption(), someCloud(150, 0.5, false))
	if err != nil {
		t.Fatal(err)
	}
	var r recorder.Canvas
	f.draw(draw.NewCanvas(&r, f.size.Width, f.size.Height))
	labels := 0
	for _, b := range boxes(f) {
		if strings.Contains(b.text, " / ") && !strings.Contains(b.text, "Labels") {
			labels++
			if b.Max.X > f.size.Width-rightMargin*vg.Inch+1 {
				t.Errorf("%q stands outside the axes", b.text)
			}
		}
	}
	if labels < 3 || labels > mostLabels {
		t.Errorf("found %d labels", labels)
	}
}
