package page

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"routesim/reports/sweepdata"
	"routesim/reports/verdict"
)

// shape says which pictures fit the swept settings.
type shape string

const (
	noAxis    shape = "none"    // nothing varied but seeds, or settings without effect
	oneNumber shape = "number"  // a line along a setting
	oneWord   shape = "word"    // a row per value
	grid      shape = "grid"    // a map of two settings, further ones held
	scattered shape = "scatter" // no grid: a picture per setting
)

// model is a sweep with its verdict, prepared for drawing.
type model struct {
	s     *sweepdata.Sweep
	v     *verdict.Verdict
	x     *Extras
	m     []measure
	axes  []axis
	place [][]int // by axis: place in drawing order of the value at a place in the sweep
	vals  [][]int // by point and axis: place of its value in drawing order, -1 for none
	live  []int   // axes that changed decisions
	shape shape
	maps  []int // the axes of the map, x and y
	front []bool
	// rounded holds the figures by metric and point, in the unit and with the
	// digits of the data block.
	rounded [][]float64
}

func newModel(s *sweepdata.Sweep, v *verdict.Verdict, x *Extras) *model {
	m := &model{s: s, v: v, x: x}
	m.m = measures(func(metric int) float64 {
		for _, p := range append([]int{v.Default, v.Chosen, v.Best}, v.Order...) {
			if p >= 0 && p < len(v.Points) && metric < len(v.Points[p].Mean) {
				return v.Points[p].Mean[metric]
			}
		}
		return math.NaN()
	})
	m.round()
	for i := range s.Axes {
		a := &s.Axes[i]
		ax, place := newAxis(a.Name, axisUnit(a.Name, a.Unit), a.Values, a.Numbers, a.Base)
		m.axes, m.place = append(m.axes, ax), append(m.place, place)
		if a.Inert == "" && len(a.Values) > 1 {
			m.live = append(m.live, i)
		}
	}
	for i := range s.Points {
		row := make([]int, len(s.Axes))
		for a := range s.Axes {
			row[a] = -1
			if a < len(s.Points[i].Values) {
				if at := slices.Index(s.Axes[a].Values, s.Points[i].Values[a]); at >= 0 {
					row[a] = m.place[a][at]
				}
			}
		}
		m.vals = append(m.vals, row)
	}
	m.shape = m.findShape()
	m.front = m.findFront(m.metric("ttft", "p90"), m.metric("itl", "p90"))
	return m
}

// findShape tells a grid from scattered points: most combinations of a grid's
// values are there.
func (m *model) findShape() shape {
	cells := 1
	for _, a := range m.live {
		cells = min(cells*len(m.axes[a].Values), 1<<20)
	}
	seen := map[string]bool{}
	for i := range m.s.Points {
		if !m.s.Points[i].Added {
			seen[m.key(m.vals[i])] = true
		}
	}
	switch {
	case len(m.live) == 0:
		return noAxis
	case len(m.live) == 1 && m.axes[m.live[0]].Numbers != nil:
		return oneNumber
	case len(m.live) == 1:
		return oneWord
	case float64(len(seen)) < 0.6*float64(cells):
		return scattered
	}
	m.maps = []int{m.live[0], m.live[1]}
	if len(m.axes[m.maps[1]].Values) > len(m.axes[m.maps[0]].Values) {
		m.maps[0], m.maps[1] = m.maps[1], m.maps[0]
	}
	return grid
}

// key names the combination of live values.
func (m *model) key(vals []int) string {
	var b strings.Builder
	for _, a := range m.live {
		b.WriteString(px(float64(vals[a])) + ",")
	}
	return b.String()
}

// metric is the place of a latency's statistic, -1 for none.
func (m *model) metric(family, stat string) int {
	return sweepdata.MetricIndex(stat + "_" + family + "_ms")
}

// mean is a point's figure in the metric's own unit, NaN where there is none.
func (m *model) mean(p, metric int) float64 {
	if p < 0 || metric < 0 || p >= len(m.v.Points) || metric >= len(m.v.Points[p].Mean) {
		return math.NaN()
	}
	return m.v.Points[p].Mean[metric]
}

// shown is mean in the unit that the page shows, as the data block has it, so
// that the program and the script draw the same.
func (m *model) shown(p, metric int) float64 {
	if p < 0 || metric < 0 || p >= len(m.rounded[metric]) {
		return math.NaN()
	}
	return m.rounded[metric][p]
}

// round fills in what shown returns.
func (m *model) round() {
	m.rounded = make([][]float64, len(m.m))
	for k := range m.m {
		m.rounded[k] = make([]float64, len(m.s.Points))
		for p := range m.rounded[k] {
			m.rounded[k][p] = math.NaN()
			if v, err := strconv.ParseFloat(encode(m.mean(p, k)*m.m[k].Scale, m.m[k].Kind), 64); err == nil {
				m.rounded[k][p] = v
			}
		}
	}
}

// diff is the paired difference of a point to the one it is compared with.
func (m *model) diff(p, metric int) verdict.Diff {
	if p < 0 || metric < 0 || p >= len(m.v.Points) || metric >= len(m.v.Points[p].Diff) {
		return verdict.Diff{}
	}
	return m.v.Points[p].Diff[metric]
}

// moved is the change in tenths of % or pp, and whether there is one to show.
func (m *model) moved(p, metric int) (int64, bool) {
	d := m.diff(p, metric)
	if !d.OK || d.Kind == verdict.Plain {
		return 0, false
	}
	return tenths(d.Mean), true
}

// bounds is the interval of a point's difference, laid around the value of the
// point it is compared with, in the unit shown.
func (m *model) bounds(p, metric int) (lo, hi float64, ok bool) {
	d := m.diff(p, metric)
	if !d.OK || !d.Interval.OK || d.Kind == verdict.Plain {
		return 0, 0, false
	}
	base := m.shown(m.v.Points[p].Base, metric)
	if math.IsNaN(base) {
		return 0, 0, false
	}
	l, h := float64(tenths(d.Lo))/10, float64(tenths(d.Hi))/10
	if d.Kind == verdict.Relative {
		l, h = float64(base*l/100), float64(base*h/100)
	}
	return base + l, base + h, true
}

// status is a letter for what part a point takes.
func (m *model) status(p int) byte {
	switch m.v.Points[p].Status {
	case verdict.Failed:
		return 'f'
	case verdict.NotRun:
		return 'n'
	case verdict.Saturated:
		return 's'
	case verdict.Incomplete:
		return 'i'
	case verdict.Folded:
		return 'd'
	case verdict.OtherLoad:
		return 'o'
	case verdict.Compare:
		return 'r'
	}
	return 'v'
}

// comparable tells whether a point's latencies may stand in lines and fronts.
func (m *model) comparable(p int) bool {
	return strings.IndexByte("vodr", m.status(p)) >= 0
}

// roleOf is the part a point takes in pictures.
func (m *model) roleOf(p int) role {
	switch {
	case p >= 0 && p != m.v.Default && (p == m.v.Chosen || p == m.v.Alternative):
		return chosen
	case p == m.v.Default:
		return standard
	case p == m.v.Reference:
		return reference
	case m.front != nil && m.front[p]:
		return onFront
	}
	return other
}

// distinct lists the points that stand for themselves, the compared one last.
func (m *model) distinct() []int {
	var out []int
	for p := range m.s.Points {
		if m.status(p) != 'd' {
			out = append(out, p)
		}
	}
	return out
}

// at finds the point with given places on the live axes: one that stands for
// itself where several differ in settings without effect.
func (m *model) at(vals []int) int {
	found := -1
	for p := range m.vals {
		if p == m.v.Reference && m.s.Points[p].Added {
			continue
		}
		same := true
		for _, a := range m.live {
			same = same && m.vals[p][a] == vals[a]
		}
		if same && (found < 0 || m.status(found) == 'd' && m.status(p) != 'd') {
			found = p
		}
	}
	return found
}

// name is a point's name with the part it takes.
func (m *model) name(p int) string {
	if p < 0 || p >= len(m.v.Points) {
		return ""
	}
	n := m.v.Points[p].Name
	switch {
	case p == m.v.Default && p == m.v.Chosen:
		return join(n, m.kept())
	case p == m.v.Default:
		return join(n, "default")
	case p == m.v.Chosen:
		return join(n, m.v.Part())
	case p == m.v.Alternative:
		return join(n, "alternative")
	}
	return n
}

// kept is the part of a default that is the chosen point.
func (m *model) kept() string {
	if m.v.Part() == "chosen" {
		return "default, kept"
	}
	return "default, " + m.v.Part()
}

// capital begins a title.
func capital(word string) string { return strings.ToUpper(word[:1]) + word[1:] }

func join(name, part string) string {
	switch {
	case part == "":
		return name
	case name == "" || name == part:
		return part
	}
	return name + " (" + part + ")"
}

// findFront marks the points that no other is better than in both metrics.
func (m *model) findFront(x, y int) []bool {
	out := make([]bool, len(m.s.Points))
	for p := range out {
		out[p] = m.onFront(p, x, y)
	}
	return out
}

func (m *model) onFront(p, x, y int) bool {
	if !m.candidate(p, x, y) {
		return false
	}
	px, py := m.shown(p, x), m.shown(p, y)
	for q := range m.s.Points {
		if q == p || !m.candidate(q, x, y) {
			continue
		}
		qx, qy := m.shown(q, x), m.shown(q, y)
		if qx <= px && qy <= py && (qx < px || qy < py) {
			return false
		}
	}
	return true
}

// candidate tells whether a point can be on a front.
func (m *model) candidate(p, x, y int) bool {
	return m.status(p) == 'v' && !math.IsNaN(m.shown(p, x)) && !math.IsNaN(m.shown(p, y))
}
