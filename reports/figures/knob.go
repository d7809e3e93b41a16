package figures

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"

	"routesim/reports/format"
	"routesim/reports/plot"
	"routesim/reports/sweepdata"
	"routesim/reports/verdict"
)

// mostTicks is the number of values of an axis up to which each is a mark.
const mostTicks = 11

// knobFamilies are the latencies drawn against every setting.
func knobFamilies() []string { return []string{"ttft", "itl"} }

// knobs draws latencies against each setting.
func (d *data) knobs(r Request) (out []Named, err error) {
	axes, err := d.axes(r.Axis)
	if err != nil {
		return nil, err
	}
	families, single := knobFamilies(), -1
	if r.Metric != "" {
		if single = sweepdata.MetricIndex(r.Metric); single >= 0 {
			families = []string{r.Metric}
		} else if families = []string{r.Metric}; !d.family(r.Metric) {
			return nil, fmt.Errorf("metric: found %q, expected the name of a metric or of its family", r.Metric)
		}
	}
	var none nothing
	for _, a := range axes {
		for _, f := range families {
			metrics := []int{single}
			if single < 0 {
				metrics = d.familyMetrics(f)
			}
			n, err := d.knob(a, f, metrics, r)
			if errors.As(err, &none) {
				continue
			}
			if err != nil {
				return nil, err
			}
			out = append(out, n)
		}
	}
	if len(out) == 0 {
		return nil, none
	}
	return out, nil
}

// family reports whether some metric is of the family.
func (d *data) family(name string) bool {
	return slices.ContainsFunc(d.metrics, func(m sweepdata.Metric) bool { return m.Family == name })
}

// familyMetrics are the figures of a family that are drawn: of latencies the
// mean and three percentiles, otherwise at most four.
func (d *data) familyMetrics(family string) (out []int) {
	for _, s := range []string{"mean", "p50", "p95", "p99"} {
		if m := sweepdata.MetricIndex(s + "_" + family + "_ms"); m >= 0 {
			out = append(out, m)
		}
	}
	for m := range d.metrics {
		if len(out) < 4 && d.metrics[m].Family == family && !slices.Contains(out, m) && d.known(m) {
			out = append(out, m)
		}
	}
	return out
}

// known reports whether any point has a value of a metric.
func (d *data) known(m int) bool {
	return slices.ContainsFunc(d.means, func(row []float64) bool { return finite(row[m]) })
}

// axes returns the axis of a name, or all that changed a decision.
func (d *data) axes(name string) ([]int, error) {
	if name == "" {
		return d.live, nil
	}
	for i := range d.s.Axes {
		if d.s.Axes[i].Name == name {
			if len(d.s.Axes[i].Values) < 2 {
				return nil, fmt.Errorf("axis %s: found one value, expected at least two", name)
			}
			return []int{i}, nil
		}
	}
	return nil, fmt.Errorf("axis: found %q, expected the name of an axis of the sweep", name)
}

// scale returns the horizontal scale of an axis.
func (d *data) scale(axis int) plot.Scale {
	a := &d.s.Axes[axis]
	s := plot.Scale{Label: a.Name, Log: geometric(a.Numbers)}
	if a.Unit != "" {
		s.Label += ", " + a.Unit
	}
	if s.Log {
		s.Label += " (log scale)"
	}
	if len(a.Values) <= mostTicks {
		for i := range a.Numbers {
			s.Ticks = append(s.Ticks, plot.Tick{Value: a.Numbers[i], Label: a.Values[i]})
		}
		slices.SortFunc(s.Ticks, func(a, b plot.Tick) int { return cmp.Compare(a.Value, b.Value) })
	}
	return s
}

// geometric reports whether values above 0 span a factor of 16 in equal ratios.
func geometric(values []float64) bool {
	var up []float64
	for _, v := range values {
		if v < 0 {
			return false
		}
		if v > 0 {
			up = append(up, v)
		}
	}
	slices.Sort(up)
	if len(up) < 3 || up[len(up)-1]/up[0] < 16 {
		return false
	}
	ratio := math.Pow(up[len(up)-1]/up[0], 1/float64(len(up)-1))
	for i := 1; i < len(up); i++ {
		if r := up[i] / up[i-1]; math.Abs(r-ratio) > 0.3*ratio {
			return false
		}
	}
	return true
}

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
	others := "the other setting"
	if len(d.live) > 2 {
		others = "the others"
	}
	if c := d.chosen(); c >= 0 && c != d.s.Reference && !d.sameElsewhere(axis, d.s.Points[c].Values) {
		add(others+" as chosen", plot.Chosen, d.s.Points[c].Values)
	}
	add(others+" at the default", plot.Default, d.defaults())
	if len(out) == 1 {
		out[0].role = plot.Chosen
	}
	if len(d.live) > 2 || len(out) == 0 {
		out = append(out, line{name: "best over " + others, role: plot.Extra1, points: d.bestAlong(axis, m)})
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
		out[i] = d.best(m, func(p int) bool { return d.s.Points[p].Values[axis] == v })
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

// knob draws the metrics of a family against an axis, a panel for each.
func (d *data) knob(axis int, family string, metrics []int, r Request) (Named, error) {
	var panels []plot.Panel
	for _, m := range metrics {
		if !d.known(m) {
			continue
		}
		p := plot.Panel{Title: d.title(m), X: d.scale(axis)}
		if d.s.Axes[axis].Numbers == nil {
			p.Words = d.s.Axes[axis].Values
		}
		if d.grid() {
			lines := d.lines(axis, m)
			place := d.places(axis, &lines[0], metrics[0])
			p.Words = arranged(p.Words, place)
			for _, l := range lines {
				t := d.trend(&l, axis, m, place)
				t.Dots = p.Words != nil
				p.Trends = append(p.Trends, t)
			}
		} else {
			p.Trends = d.scattered(axis, m)
		}
		if slices.ContainsFunc(p.Trends, func(t plot.Trend) bool { return slices.ContainsFunc(t.Y, finite) }) {
			panels = append(panels, p)
		}
	}
	if len(panels) == 0 {
		return Named{}, nothing(d.familyTitle(family) + " against " + d.s.Axes[axis].Name)
	}
	columns := min(2, len(panels))
	rows := (len(panels) + columns - 1) / columns
	size := plot.PanelSize(rows)
	if rows == 1 {
		size = plot.Single()
	}
	if r.Readme {
		size = plot.Readme()
	}
	lead := metrics[len(metrics)/2]
	if len(metrics) == 4 {
		lead = metrics[2] // p95
	}
	c := d.caption(d.knobFinding(axis, lead), fmt.Sprintf("%s against %s.", d.familyTitle(family), d.s.Axes[axis].Name))
	f, err := plot.Panels(size, c, columns, d.knobKeys(axis, lead), d.bandNote(panels), panels...)
	return Named{Name: fmt.Sprintf("knob_%s_%s", family, d.s.Axes[axis].Name), Kind: Knob, Figure: f}, err
}

func (d *data) familyTitle(family string) string {
	switch family {
	case "ttft", "itl", "tpot", "e2e":
		return map[string]string{"ttft": "TTFT", "itl": "ITL", "tpot": "TPOT", "e2e": "E2E"}[family] + " (mean and percentiles)"
	}
	if m := sweepdata.MetricIndex(family); m >= 0 {
		return d.metrics[m].Title
	}
	return family
}

// caption puts a finding and what was run together.
func (d *data) caption(finding, what string) plot.Caption {
	return plot.Caption{Title: unbroken(finding), Subtitle: d.subtitle(), Alt: what + " " + finding + "."}
}

// unbroken keeps numbers and their units on one line.
func unbroken(text string) string {
	return regexp.MustCompile(`(\d) (%|pp|ms|s|min)\b|(\d) (%)`).ReplaceAllString(text, "$1$3\u00a0$2$4")
}

// bandNote explains the intervals of panels that have any.
func (d *data) bandNote(panels []plot.Panel) string {
	for i := range panels {
		for k := range panels[i].Trends {
			if slices.ContainsFunc(panels[i].Trends[k].Lo, finite) {
				what := "Bands"
				if panels[i].Words != nil {
					what = "Bars"
				}
				return what + ": 95 % interval of the mean over " + format.Plural(int64(len(d.s.Seeds)), "seed") + " (the router's random choices)."
			}
		}
	}
	return ""
}

// knobKeys is the legend of a figure against an axis.
func (d *data) knobKeys(axis, m int) (keys []plot.Key) {
	words := d.s.Axes[axis].Numbers == nil
	marks := map[plot.Mark]bool{}
	over := false
	if !d.grid() {
		keys = append(keys, plot.Key{Name: "running median", Role: plot.Chosen})
		return append(keys, plot.Key{Name: "a point", Mark: plot.Plain, IsMark: true})
	}
	for _, l := range d.lines(axis, m) {
		if l.name != "" && !words {
			keys = append(keys, plot.Key{Name: l.name, Role: l.role, Band: len(d.s.Seeds) > 1})
		}
		for _, p := range l.points {
			if p >= 0 {
				marks[d.mark(p)] = true
				over = over || d.overloaded(p)
			}
		}
	}
	for _, k := range []struct {
		mark plot.Mark
		name string
	}{{plot.MarkChosen, d.chosenName()}, {plot.MarkDefault, "default"}} {
		if marks[k.mark] {
			keys = append(keys, plot.Key{Name: k.name, Mark: k.mark, IsMark: true})
		}
	}
	if over {
		keys = append(keys, plot.Key{Name: "overloaded: no true value", Mark: plot.MarkOverloaded, IsMark: true})
	}
	return keys
}

// chosenName names the chosen point in a legend.
func (d *data) chosenName() string {
	if d.chosen() == d.s.Default {
		return "chosen (the default)"
	}
	return "chosen"
}

// knobFinding says what the setting does to a metric, all else at the default.
func (d *data) knobFinding(axis, m int) string {
	name, title := verdict.Short(d.s.Axes[axis].Name), d.metrics[m].Title
	among := d.alongDefault(axis)
	best := d.best(m, func(p int) bool { return slices.Contains(among, p) })
	if best < 0 {
		if best = d.best(m, func(int) bool { return true }); best < 0 {
			return fmt.Sprintf("%s against %s: overloaded throughout", title, name)
		}
		return fmt.Sprintf("%s is best at %s %s: %s", title, name, d.s.Points[best].Values[axis], d.write(m, d.means[best][m]))
	}
	value := d.s.Points[best].Values[axis]
	base := d.base(best)
	switch c := d.change(best, m); {
	case best == base:
		return fmt.Sprintf("%s is best at the default %s %s: %s", title, name, value, d.write(m, d.means[best][m]))
	case !c.ok:
		return fmt.Sprintf("%s is best at %s %s: %s", title, name, value, d.write(m, d.means[best][m]))
	case c.judged && !c.shown:
		return d.noneBetter(among, m, name)
	default:
		return fmt.Sprintf("%s is best at %s %s: %s, %s against the default", title, name, value, d.write(m, d.means[best][m]), percent(c.mean, 1, d.changeUnit(m)))
	}
}

// noneBetter says that no value of a setting is shown to be better than the
// default, and which is shown to be worst.
func (d *data) noneBetter(among []int, m int, name string) string {
	worst := -1
	for _, p := range among {
		if c := d.change(p, m); c.ok && c.shown && !d.overloaded(p) && (worst < 0 || d.better(m, d.means[worst][m], d.means[p][m])) {
			worst = p
		}
	}
	if worst < 0 {
		return fmt.Sprintf("%s: no difference shown for any %s", d.metrics[m].Title, name)
	}
	value := ""
	for a := range d.s.Axes {
		if verdict.Short(d.s.Axes[a].Name) == name {
			value = d.s.Points[worst].Values[a]
		}
	}
	return fmt.Sprintf("%s: no %s is shown to beat the default; %s is worst, %s", d.metrics[m].Title, name, value, percent(d.change(worst, m).mean, 1, d.changeUnit(m)))
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
	pts.Role, pts.Dots = plot.Default, true
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
