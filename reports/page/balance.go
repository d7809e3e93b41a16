package page

import (
	"fmt"
	"math"
	"strconv"

	"routesim/reports/format"
	"routesim/reports/sweepdata"
)

// overlapPlot draws how often the router's prediction of the cached part of a
// prompt met what was found, on a logarithmic scale of colours.
func overlapPlot(g *overlapGrid) *canvas {
	c := newCanvas("overlap", 366, 250)
	x := scale{lo: 0, hi: 100, a: 50, b: c.w - 12}
	y := scale{lo: 0, hi: 100, a: c.h - 44, b: 12}
	b := box{x.a, x.b, y.b, y.a}
	cw, ch := (x.b-x.a)/overlapCells, (y.a-y.b)/overlapCells
	for i := range overlapCells {
		for j := range overlapCells {
			n := g.n[i][j]
			if n == 0 {
				continue
			}
			q := 0
			if g.most > 1 {
				q = int(math.Min(6, math.Floor(math.Log(float64(n))/math.Log(float64(g.most))*6)))
			}
			c.b.WriteString(`<rect`)
			c.attrs("class", "o q"+strconv.Itoa(max(q, 1)), "x", x.a+float64(float64(i)*cw), "y", y.a-float64(float64(j+1)*ch), "width", cw-0.6, "height", ch-0.6,
				"data-t", fmt.Sprintf("predicted %s %%, found %s %%: %s", tenthsOf(i), tenthsOf(j), requests(int64(n))))
			c.b.WriteString(`/>`)
		}
	}
	c.line("diag", x.a, y.a, x.b, y.b)
	var ticks []tick
	for _, v := range []float64{0, 25, 50, 75, 100} {
		ticks = append(ticks, tick{v, number(v, count)})
	}
	for _, t := range ticks {
		c.text("tk", "end", b.l-7, y.at(t.v)+4, 0, t.text)
	}
	c.xAxis(b, ticks, x.at, "overlap predicted (% of the prompt)")
	c.text("ax", "middle", 13, (b.t+b.b)/2, -90, "overlap found (%)")
	c.name = fmt.Sprintf("Overlap predicted by the router against overlap found at admission, %s.", requests(int64(g.total)))
	return c
}

// tenthsOf names a cell's range of shares in %.
func tenthsOf(i int) string {
	at := func(i int) string { return strconv.FormatFloat(100*float64(i)/overlapCells, 'f', 0, 64) }
	return at(i) + "–" + at(i+1)
}

func requests(n int64) string { return pretty(format.Plural(n, "request")) }

// step is a row of the waterfall.
type step struct {
	label      string
	from, to   float64 // %
	total      bool
	unknown    bool
	text, note string
}

// waterfallSteps follow the reusable part of the prompts from what an endless
// cache would hold to what was served.
func (m *model) waterfallSteps(p int) []step {
	at := func(name string) float64 { return m.mean(p, sweepdata.MetricIndex(name)) }
	top, best, picked, served := at("ceiling_share"), at("best_share"), at("chosen_share"), at("reuse_share")
	list := []step{
		{label: "endless cache", to: top, total: true},
		{label: "capacity and split", from: best, to: top, note: "evicted, or never on one worker"},
		{label: "choice of worker", from: picked, to: best, note: "another worker held more"},
		{label: "while waiting", from: served, to: picked, note: "evicted or stored between choice and admission"},
		{label: "served", to: served, total: true},
	}
	for i := range list {
		s := &list[i]
		if math.IsNaN(s.from) || math.IsNaN(s.to) {
			s.unknown, s.text = true, missing
			continue
		}
		if s.total {
			s.text = number(s.to, oneDecimal) + hard + "%"
		} else {
			s.text = change(-tenths(s.to-s.from), "pp")
		}
	}
	return list
}

// waterfall draws the steps as bars from zero.
func (m *model) waterfall(p int) *canvas {
	list := m.waterfallSteps(p)
	most := 0.0
	for _, s := range list {
		if s.unknown {
			return nil
		}
		most = math.Max(most, math.Max(s.from, s.to))
	}
	if most == 0 {
		most = 1
	}
	c := newCanvas("waterfall", 366, 250)
	x := scale{lo: 0, hi: most, a: 132, b: c.w - 72}
	b := box{x.a, x.b, 6, c.h - 44}
	ticks := x.ticks(4)
	for _, t := range ticks {
		c.line("gl", x.at(t.v), b.t, x.at(t.v), b.b)
	}
	row := (b.b - b.t) / float64(len(list))
	for i, s := range list {
		y := b.t + float64((float64(i)+0.5)*row)
		lo, hi := x.at(math.Min(s.from, s.to)), x.at(math.Max(s.from, s.to))
		class := "wt"
		if !s.total {
			class = "wl"
			if s.from > s.to {
				class = "wg"
			}
		}
		tip := s.label + ": " + s.text
		if s.note != "" {
			tip += ", " + s.note
		}
		c.text("", "end", x.a-9, y+4, 0, s.label)
		c.draw("rect", class, "x", lo, "y", y-9, "width", math.Max(hi-lo, 1.5), "height", 18.0, "rx", 1.5, "data-t", tip)
		c.text("st", "start", math.Max(hi, lo+1.5)+6, y+4, 0, s.text)
	}
	c.xAxis(b, ticks, x.at, "prompt tokens from cache (%)")
	c.name = "Where reuse is lost: "
	for i, s := range list {
		if i > 0 {
			c.name += ", "
		}
		c.name += s.label + " " + s.text
	}
	c.name += "."
	return c
}
