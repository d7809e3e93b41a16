package figures

import (
	"cmp"
	"math"
	"slices"

	"routesim/reports/plot"
	"routesim/reports/verdict"
)

// line is a walk along an axis: a point for each of its values, -1 for none.
type line struct {
	name   string
	role   plot.Role
	points []int
}

// lines returns the walks along an axis that are drawn: all else at the
// default, all else as at the chosen point.
func (d *data) lines(axis, m int) (out []line) {
	add := func(name string, role plot.Role, values []string) {
		l := line{name: name, role: role}
		some := 0
		for i := range d.s.Axes[axis].Values {
			p := d.at(values, axis, i)
			if l.points = append(l.points, p); p >= 0 {
				some++
			}
		}
		if some > 1 && !slices.ContainsFunc(out, func(o line) bool { return slices.Equal(o.points, l.points) }) {
			out = append(out, l)
		}
	}
	if len(d.live) < 2 {
		add("", plot.Chosen, d.defaults())
		return out
	}
	if d.load(axis) {
		if fleets := d.loadLines(axis); len(fleets) > 0 {
			return fleets
		}
	}
	others := "the other setting"
	if len(d.live) > 2 {
		others = "the others"
	}
	if c := d.chosen(); c >= 0 && c != d.s.Reference && !d.sameElsewhere(axis, d.s.Points[c].Values) {
		add(others+" as "+d.chosenAs(), plot.Chosen, d.s.Points[c].Values)
	}
	add(others+" at the default", plot.Default, d.defaults())
	if len(out) == 1 {
		out[0].role = plot.Chosen
	}
	if len(d.knobAxes()) > 2 && d.s.Axes[axis].Numbers != nil || len(out) == 0 {
		out = append(out, line{name: "best over " + others, role: plot.Extra1, points: d.bestAlong(axis, m)})
	}
	return out
}

// mostLoads is the number of lines that are told apart without effort.
const mostLoads = 5

// loadLines returns a walk along an axis of load for each value of another one,
// all settings at the default: fleets against rates. There is none without
// another one.
func (d *data) loadLines(axis int) (out []line) {
	other := slices.IndexFunc(d.live, func(a int) bool { return a != axis && d.load(a) })
	if other < 0 {
		return nil
	}
	other = d.live[other]
	a := &d.s.Axes[other]
	order := sortedValues(a, false)
	if len(order) > mostLoads { // evenly, both ends included
		var some []int
		for i := range mostLoads {
			some = append(some, order[i*(len(order)-1)/(mostLoads-1)])
		}
		order = some
	}
	for n, k := range order {
		values := d.defaults()
		values[other] = a.Values[k]
		l := line{name: verdict.Short(a.Name) + " " + a.Values[k], role: plot.Role(n)}
		for i := range d.s.Axes[axis].Values {
			l.points = append(l.points, d.at(values, axis, i))
		}
		out = append(out, l)
	}
	return out
}

// sameElsewhere reports whether values are the default's but for one axis.
func (d *data) sameElsewhere(axis int, values []string) bool {
	for i, v := range d.defaults() {
		if i != axis && slices.Contains(d.live, i) && values[i] != v {
			return false
		}
	}
	return true
}

// bestAlong returns for each value of an axis the point of the best mean.
func (d *data) bestAlong(axis, m int) []int {
	out := make([]int, len(d.s.Axes[axis].Values))
	for i, v := range d.s.Axes[axis].Values {
		out[i] = d.best(m, func(p int) bool { return d.s.Points[p].Values[axis] == v && d.home(p, axis) })
	}
	return out
}

// best returns the point of the best mean of a metric among those that keep up,
// -1 for none.
func (d *data) best(m int, among func(point int) bool) int {
	best := -1
	for p := range d.s.Points {
		if p == d.s.Reference && d.s.Points[p].Added || len(d.s.Points[p].Values) < len(d.s.Axes) || !finite(d.means[p][m]) || d.overloaded(p) || !among(p) {
			continue
		}
		if best < 0 || d.better(m, d.means[p][m], d.means[best][m]) {
			best = p
		}
	}
	return best
}

func (d *data) better(m int, a, b float64) bool {
	if d.metrics[m].Better > 0 {
		return a > b
	}
	return a < b
}

// places returns the place of each value of an axis: words stand in the order
// of a metric along a walk, the best first, and those without a value last.
func (d *data) places(axis int, l *line, m int) []int {
	order := make([]int, len(d.s.Axes[axis].Values))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		x, y := d.sortKey(l.points[a], m), d.sortKey(l.points[b], m)
		return cmp.Compare(x, y)
	})
	place := make([]int, len(order))
	for at, i := range order {
		place[i] = at
	}
	return place
}

// sortKey is less for better means.
func (d *data) sortKey(point, m int) float64 {
	switch {
	case point < 0 || !finite(d.means[point][m]) || d.overloaded(point):
		return math.Inf(1)
	case d.metrics[m].Better > 0:
		return -d.means[point][m]
	}
	return d.means[point][m]
}

// arranged puts words in their places.
func arranged(words []string, place []int) []string {
	if words == nil {
		return nil
	}
	out := make([]string, len(words))
	for i, at := range place {
		out[at] = words[i]
	}
	return out
}

// trend turns a walk into what is drawn of a metric.
func (d *data) trend(l *line, axis, m int, place []int) plot.Trend {
	_, per := d.unit(m)
	t := plot.Trend{Role: l.role}
	nan := math.NaN()
	for i, p := range l.points {
		x := float64(place[i])
		if n := d.s.Axes[axis].Numbers; n != nil {
			x = n[i]
		}
		y, lo, hi, mark := nan, nan, nan, plot.Plain
		if p >= 0 && d.overloaded(p) {
			t.Over = append(t.Over, x)
		} else if p >= 0 {
			y = d.means[p][m] / per
			if b := verdict.Paired(d.values(&d.s.Points[p], m), 0.95); b.OK {
				lo, hi = b.Lo/per, b.Hi/per
				if lo < 0 && y >= 0 {
					lo = 0
				}
			}
			mark = d.mark(p)
		}
		t.X, t.Y, t.Lo, t.Hi = append(t.X, x), append(t.Y, y), append(t.Lo, lo), append(t.Hi, hi)
		t.Marks = append(t.Marks, mark)
	}
	sortTrend(&t)
	return t
}

// sortTrend orders a trend by its setting.
func sortTrend(t *plot.Trend) {
	order := make([]int, len(t.X))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(t.X[a], t.X[b]) })
	pick := func(v []float64) []float64 {
		if v == nil {
			return nil
		}
		out := make([]float64, len(v))
		for i, k := range order {
			out[i] = v[k]
		}
		return out
	}
	t.X, t.Y, t.Lo, t.Hi = pick(t.X), pick(t.Y), pick(t.Lo), pick(t.Hi)
	if t.Marks != nil {
		marks := make([]plot.Mark, len(t.Marks))
		for i, k := range order {
			marks[i] = t.Marks[k]
		}
		t.Marks = marks
	}
}

// mark returns the mark of a point.
func (d *data) mark(p int) plot.Mark {
	switch {
	case p == d.chosen():
		return plot.MarkChosen
	case p == d.s.Default:
		return plot.MarkDefault
	case p == d.s.Reference:
		return plot.MarkReference
	}
	return plot.Plain
}

// alongDefault returns the points along an axis with all else at the default.
func (d *data) alongDefault(axis int) (out []int) {
	for i := range d.s.Axes[axis].Values {
		if p := d.at(d.defaults(), axis, i); p >= 0 {
			out = append(out, p)
		}
	}
	return out
}

// scattered returns the points over an axis, and their running median.
func (d *data) scattered(axis, m int) []plot.Trend {
	_, per := d.unit(m)
	var pts plot.Trend
	a := &d.s.Axes[axis]
	for p := range d.s.Points {
		i := slices.Index(a.Values, d.s.Points[p].Values[axis])
		if d.s.Points[p].Added || i < 0 || !finite(d.means[p][m]) {
			continue
		}
		x := float64(i)
		if a.Numbers != nil {
			x = a.Numbers[i]
		}
		if d.overloaded(p) {
			pts.Over = append(pts.Over, x)
			continue
		}
		pts.X, pts.Y = append(pts.X, x), append(pts.Y, d.means[p][m]/per)
	}
	pts.Dots, pts.Plain = true, true
	sortTrend(&pts)
	if len(pts.X) < 7 || a.Numbers == nil {
		return []plot.Trend{pts}
	}
	median := plot.Trend{Role: plot.Chosen}
	half := max(2, len(pts.X)/10)
	for i := range pts.X {
		lo, hi := max(0, i-half), min(len(pts.X), i+half+1)
		window := slices.Clone(pts.Y[lo:hi])
		slices.Sort(window)
		median.X, median.Y = append(median.X, pts.X[i]), append(median.Y, window[len(window)/2])
	}
	return []plot.Trend{median, pts}
}
