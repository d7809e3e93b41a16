package plot

import (
	"fmt"
	"math"
	"slices"
	"sort"

	"gonum.org/v1/plot/vg"

	"routesim/reports/format"
	"routesim/sim/metrics"
)

// Series is a set of values with a name.
type Series struct {
	Name   string
	Role   Role
	Values []float64 // ms; those that are not finite are left out
}

// sorted returns the finite values in ascending order.
func (s *Series) sorted() []float64 {
	out := make([]float64, 0, len(s.Values))
	for _, v := range s.Values {
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			out = append(out, v)
		}
	}
	slices.Sort(out)
	return out
}

const msPerSecond = 1000

// mostLines is the number of lines in one figure that can still be told apart.
const mostLines = int(roles)

// spread is what the axes of a CDF must show.
type spread struct {
	values [][]float64 // by series, ascending
	lo, hi float64     // least value above 0, greatest value
	p99    float64     // the greatest of any series
	zeros  bool
}

func measure(what string, bound float64, series []Series) (*spread, error) {
	s := &spread{lo: math.Inf(1)}
	for i := range series {
		v := series[i].sorted()
		if len(v) == 0 {
			return nil, fmt.Errorf("CDF of %s: found no value of %q, expected at least one", what, series[i].Name)
		}
		s.values = append(s.values, v)
		s.hi, s.p99 = math.Max(s.hi, v[len(v)-1]), math.Max(s.p99, metrics.Percentile(v, 99))
		s.zeros = s.zeros || v[0] <= 0
		if above := sort.Search(len(v), func(i int) bool { return v[i] > 0 }); above < len(v) {
			s.lo = math.Min(s.lo, v[above])
		}
	}
	if bound > 0 {
		s.lo, s.hi = math.Min(s.lo, bound), math.Max(s.hi, bound)
	}
	if s.hi <= 0 { // nothing above 0
		s.lo, s.hi = 1, 10
	}
	return s, nil
}

// CDF draws the cumulative distributions of latencies in ms over a logarithmic
// axis: what share of the requests were at most so slow. what names the latency,
// bound is a limit in ms to mark, 0 for none.
func CDF(size Size, c Caption, what string, bound float64, series ...Series) (*Figure, error) {
	if len(series) == 0 || len(series) > mostLines {
		return nil, fmt.Errorf("CDF of %s: found %d series, expected 1 to %d", what, len(series), mostLines)
	}
	fonts, err := loadFaces()
	if err != nil {
		return nil, err
	}
	all, err := measure(what, bound, series)
	if err != nil {
		return nil, err
	}
	name, unit := "ms", 1.0
	if all.p99 >= msPerSecond {
		name, unit = "s", msPerSecond
	}
	note := "log scale"
	if all.zeros {
		note = "log scale, 0 at the left edge"
	}
	f := &Figure{Caption: c, size: size, fonts: fonts}
	f.x = logAxis(fmt.Sprintf("%s, %s (%s)", what, name, note), all.lo/unit, all.hi/unit)
	f.y = axis{label: "share of requests at or below, %", lo: 0, hi: 100, grid: true}
	marks := []float64{0, 25, 50, 75, 90, 100}
	if size.Height < 4*vg.Inch { // 90 would touch 100
		marks = []float64{0, 25, 50, 75, 100}
	}
	for _, v := range marks {
		f.y.ticks = append(f.y.ticks, tick{v, format.Fixed(v, 0)})
	}
	for i, s := range series {
		p90 := metrics.Percentile(all.values[i], 90) / unit
		f.legend = append(f.legend, entry{name: fmt.Sprintf("%s (p90 %s %s)", s.Name, format.Sig(p90), name), line: s.Role.line()})
	}
	f.data = func(fr *frame) {
		if bound > 0 {
			fr.limit(bound/unit, name)
		}
		for i := len(series) - 1; i >= 0; i-- { // the first on top
			fr.StrokeLines(series[i].Role.line(), fr.cumulative(all.values[i], unit))
		}
	}
	return f, nil
}

// mostDecades is the longest range a logarithmic axis shows; what is smaller
// lies at its left end.
const mostDecades = 12

// logAxis returns a logarithmic axis with a margin at both ends.
func logAxis(label string, lo, hi float64) axis {
	lo = math.Max(lo, hi/math.Pow10(mostDecades))
	if hi < lo*1.02 { // all alike: no zoom on nothing
		lo, hi = lo/1.2, hi*1.2
	}
	pad := math.Pow(hi/lo, 0.04)
	lo, hi = lo/pad, hi*pad
	return axis{label: label, lo: lo, hi: hi, log: true, ticks: logTicks(lo, hi)}
}

// shares returns the shares at which a distribution is drawn: even steps up to
// 0.9875, closer ones at the slow end. Each percentile named elsewhere is among
// them.
func shares() []float64 {
	out := make([]float64, 0, 88)
	for i := range 80 {
		out = append(out, float64(i)/80)
	}
	return append(out, 0.99, 0.9925, 0.995, 0.9975, 0.998, 0.999, 1)
}

// cumulative returns the line of a distribution of ascending values; values
// that a logarithmic axis cannot show lie at its left end.
func (f *frame) cumulative(values []float64, unit float64) []vg.Point {
	var out []vg.Point
	add := func(v, share float64) {
		out = append(out, vg.Point{X: f.X(f.x.at(math.Max(v/unit, f.x.lo))), Y: f.Y(f.y.at(100 * share))})
	}
	grid := shares()
	if len(values) > len(grid) {
		for _, s := range grid {
			add(metrics.Percentile(values, 100*s), s)
		}
		return out
	}
	for i, v := range values { // few: every step
		add(v, float64(i)/float64(len(values)))
		add(v, float64(i+1)/float64(len(values)))
	}
	return out
}

// limit marks a bound on the horizontal axis.
func (f *frame) limit(v float64, unit string) {
	x := f.X(f.x.at(v))
	s := f.fonts.style(smallSize, muted())
	line := Default.line()
	line.Color, line.Width, line.Dashes = muted(), 0.75, []vg.Length{3, 2}
	f.StrokeLine2(line, x, f.Min.Y, x, f.Max.Y)
	label := fmt.Sprintf("bound %v %s", v, unit)
	at := vg.Point{X: x + 3, Y: f.Min.Y + 4}
	if at.X+s.Width(label) > f.Max.X {
		at.X = x - 3 - s.Width(label)
	}
	f.FillText(s, at, label)
}
