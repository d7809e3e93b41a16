package page

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"routesim/reports/sweepdata"
)

// shares are the shares of requests at which distributions are kept: dense
// enough to draw, and with the percentiles that are named elsewhere.
func shares() []float64 {
	out := []float64{0.001, 0.0025, 0.005}
	for i := 1; i <= 98; i++ {
		if i <= 4 || i >= 90 || i%2 == 0 || i == 25 || i == 75 {
			out = append(out, float64(i)/100)
		}
	}
	return append(out, 0.985, 0.99, 0.9925, 0.995, 0.9975, 0.999, 1)
}

// quantiles picks the values at the shares: the smallest that at least that
// share of all values does not exceed.
func quantiles(sorted []float32, shares []float64) []float64 {
	out := make([]float64, len(shares))
	for i, s := range shares {
		at := int(math.Ceil(float64(s*float64(len(sorted)))-1e-9)) - 1
		out[i] = float64(sorted[min(max(at, 0), len(sorted)-1)])
	}
	return out
}

// distribution holds a point's quantiles of TTFT, TPOT and E2E in ms, nil where
// nothing completed, over the requests of all seeds.
type distribution [3][]float64

const (
	// Up to keepAll points, all have their distribution kept, else keepSome of
	// them: those with a part in the verdict first.
	keepAll  = 200
	keepSome = 40
)

// keptPoints lists the points whose distributions are kept, important ones
// first.
func (m *model) keptPoints() []int {
	list := []int{m.v.Default, m.v.Chosen, m.v.Alternative, m.v.Reference}
	list = append(list, m.v.Tied...)
	for p, f := range m.front {
		if f {
			list = append(list, p)
		}
	}
	most := keepSome
	if len(m.s.Points) <= keepAll {
		list, most = append(list, m.distinct()...), keepAll
	}
	var out []int
	for _, p := range list {
		if p >= 0 && len(out) < most && len(m.s.Points[p].Runs) > 0 && !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	return out
}

// distributions reads the runs of the points whose distributions are kept.
func (m *model) distributions() (map[int]*distribution, error) {
	out := map[int]*distribution{}
	if m.s.Load == nil {
		return out, nil
	}
	grid := shares()
	for _, p := range m.keptPoints() {
		var pooled [3][]float32
		for i := range m.s.Points[p].Runs {
			l, err := m.s.Load(p, m.s.Points[p].Runs[i].Seed)
			if err != nil {
				return nil, err
			}
			for k, list := range [3][]float32{l.TTFT, l.ITL, l.E2E} {
				for _, v := range list {
					if v == v {
						pooled[k] = append(pooled[k], v)
					}
				}
			}
		}
		d := &distribution{}
		for k := range pooled {
			if len(pooled[k]) > 0 {
				slices.Sort(pooled[k])
				d[k] = quantiles(pooled[k], grid)
			}
		}
		out[p] = d
	}
	return out, nil
}

// cdfFamilies are the latencies that a request has one of: those with a
// distribution over requests.
var cdfFamilies = [3]string{"ttft", "tpot", "e2e"}

func familyTitle(f string) string {
	switch f {
	case "ttft":
		return "TTFT"
	case "itl":
		return "ITL"
	case "tpot":
		return "TPOT"
	}
	return "E2E"
}

// curve is one line of a distribution plot.
type curve struct {
	p, line int
	name    string
}

// curves are the points whose distributions are drawn at first.
func (m *model) curves() []curve {
	var out []curve
	add := func(p, line int, part string) {
		if p < 0 || slices.ContainsFunc(out, func(c curve) bool { return c.p == p }) {
			return
		}
		out = append(out, curve{p, line, join(m.v.Points[p].Name, part)})
	}
	if m.v.Chosen != m.v.Default {
		add(m.v.Chosen, 1, m.v.Part())
	}
	add(m.v.Alternative, 3, "alternative")
	add(m.v.Default, 0, "default")
	if m.v.Reference >= 0 {
		add(m.v.Reference, 2, "")
	}
	return out
}

// bound is the SLA's bound of a latency in ms, 0 for none.
func (m *model) bound(k int) float64 {
	return [3]float64{m.s.SLA.TTFT, m.s.SLA.ITL, m.s.SLA.E2E}[k]
}

// cdf draws the distribution of one latency.
func (m *model) cdf(k int, all map[int]*distribution) *canvas {
	f := cdfFamilies[k]
	me := &m.m[m.metric(f, "p90")]
	c := newCanvas("cdf"+strconv.Itoa(k), 366, 250)
	x := scale{log: true, lo: math.Inf(1), a: 48, b: c.w - 10}
	for _, l := range m.curves() {
		if d := all[l.p]; d != nil && d[k] != nil {
			x.lo, x.hi = math.Min(x.lo, d[k][3]*me.Scale), math.Max(x.hi, d[k][len(d[k])-2]*me.Scale)
		}
	}
	if !(x.lo <= x.hi) || !(x.hi > 0) {
		return nil
	}
	x.lo = math.Max(x.lo, x.hi/1e4)
	if x.hi < x.lo*1.02 {
		x.lo, x.hi = x.lo*0.98, x.hi*1.02
	}
	y := scale{lo: 0, hi: 100, a: c.h - 44, b: 12}
	b := box{x.a, x.b, y.b, y.a}
	var yt []tick
	for _, v := range []float64{0, 25, 50, 75, 90, 100} {
		yt = append(yt, tick{v, number(v, count)})
	}
	c.frame(b, x.ticks(4), x.at, y, yt, familyTitle(f)+" ("+me.Unit+"), log scale", "requests (%)")
	if s := m.bound(k) * me.Scale; s > x.lo && s < x.hi {
		c.line("slo", x.at(s), b.t, x.at(s), b.b)
		anchor, dx, text := "start", 5.0, "SLO "+typed(s)+hard+me.Unit
		if x.at(s)+dx+width(text, 12.5) > b.r {
			anchor, dx = "end", -5
		}
		y := b.b - 8
		if m.early(k, s, me.Scale, all) {
			y = b.t + 13
		}
		c.text("goal", anchor, x.at(s)+dx, y, 0, text)
	}
	grid := shares()
	curves := m.curves()
	for i := len(curves) - 1; i >= 0; i-- {
		if d := all[curves[i].p]; d != nil && d[k] != nil {
			c.draw("path", "ln l"+strconv.Itoa(curves[i].line), "d", cdfPath(d[k], grid, me.Scale, x, y))
		}
	}
	c.name = fmt.Sprintf("Share of requests by %s.", familyTitle(f))
	return c
}

// early tells whether a bound, in the unit shown, lies before the median of the
// first curve: there is room above the curve then, and below it otherwise.
func (m *model) early(k int, bound, unit float64, all map[int]*distribution) bool {
	list := m.curves()
	if len(list) == 0 || all[list[0].p] == nil || all[list[0].p][k] == nil {
		return false
	}
	return bound < all[list[0].p][k][slices.Index(shares(), 0.5)]*unit
}

// cdfPath runs along a distribution, cut at the ends of the axis.
func cdfPath(values, shares []float64, unit float64, x, y scale) string {
	var points []point
	for i, v := range values {
		if v = v * unit; v >= x.lo*(1-1e-9) && v <= x.hi*(1+1e-9) {
			points = append(points, point{x.at(v), y.at(shares[i] * 100)})
		}
	}
	return path(points)
}

// overlapGrid counts the requests of a point's first run by predicted and found
// overlap, in tenths of the prompt; most is the largest cell.
type overlapGrid struct {
	n     [overlapCells][overlapCells]int
	most  int
	total int
	exact int // predicted within half a block of what was found
}

const overlapCells = 14

func (m *model) overlap(p int) (*overlapGrid, error) {
	if m.s.Load == nil || p < 0 || len(m.s.Points[p].Runs) == 0 {
		return nil, nil
	}
	l, err := m.s.Load(p, m.s.Points[p].Runs[0].Seed)
	if err != nil {
		return nil, err
	}
	return m.countOverlap(l), nil
}

func (m *model) countOverlap(l *sweepdata.Latencies) *overlapGrid {
	g := &overlapGrid{}
	block := m.blockSize()
	for i := range l.Reused {
		if i >= len(l.Predicted) || i >= len(m.s.Requests.InputTokens) || l.Predicted[i] != l.Predicted[i] || l.Reused[i] != l.Reused[i] {
			continue
		}
		blocks := float64(m.s.Requests.InputTokens[i]) / block
		if !(blocks > 0) {
			continue
		}
		at := func(v float32) int {
			return min(max(int(float64(v)/blocks*overlapCells), 0), overlapCells-1)
		}
		x, y := at(l.Predicted[i]), at(l.Reused[i])
		g.n[x][y]++
		g.most = max(g.most, g.n[x][y])
		g.total++
		if math.Abs(float64(l.Predicted[i]-l.Reused[i])) <= 0.5 {
			g.exact++
		}
	}
	if g.total == 0 {
		return nil
	}
	return g
}

// blockSize is the number of tokens of a KV block at the default point.
func (m *model) blockSize() float64 {
	for _, p := range m.s.Profiles {
		if p.BlockSize > 0 {
			return float64(p.BlockSize)
		}
	}
	if n, err := strconv.ParseFloat(fmt.Sprint(m.s.Base["block-size"]), 64); err == nil && n > 0 {
		return n
	}
	return math.NaN()
}
