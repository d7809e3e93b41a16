package figures

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"strings"

	"routesim/reports/plot"
	"routesim/reports/sweepdata"
	"routesim/reports/verdict"
)

// The ends of the colours of changes: fixed, so that maps can be compared.
const (
	limitPercent = 30
	limitPoints  = 10
)

// heatMaps draws maps over the first two settings that matter, or over the one
// asked for and the first other.
func (d *data) heatMaps(r Request) (out []Named, err error) {
	x, y := d.mapAxes()
	if r.Axis != "" {
		axes, err := d.axes(r.Axis)
		if err != nil {
			return nil, err
		}
		if x = axes[0]; x == y {
			if y = d.live[0]; x == y {
				y = d.live[1]
			}
		}
		if x == y {
			return nil, fmt.Errorf("axis %s: found no second axis that changed anything, expected one", r.Axis)
		}
	}
	metrics := d.mapMetrics()
	if r.Metric != "" {
		m := sweepdata.MetricIndex(r.Metric)
		if m < 0 {
			return nil, fmt.Errorf("metric: found %q, expected the name of a metric", r.Metric)
		}
		metrics = []int{m}
	}
	for _, m := range metrics {
		if !d.known(m) {
			if r.Metric != "" {
				return nil, fmt.Errorf("metric %s: found no value of it, expected at least one", r.Metric)
			}
			continue
		}
		views := []bool{true, false}
		if d.s.Default < 0 || d.metrics[m].Better == 0 || d.load(x) && d.load(y) {
			views = views[1:]
		} else if r.Metric == "" && m != metrics[0] {
			views = views[:1]
		}
		for _, change := range views {
			n, err := d.heatMap(x, y, m, change, r)
			if err != nil {
				return nil, err
			}
			out = append(out, n)
		}
	}
	if r.Axis == "" && !(d.load(x) && d.load(y)) {
		loads, err := d.loadMaps(metrics[:1], r)
		return append(out, loads...), err
	}
	return out, nil
}

// loadMaps draws a map over the first two axes of load, if there are two.
func (d *data) loadMaps(metrics []int, r Request) (out []Named, err error) {
	var loads []int
	for _, a := range d.live {
		if d.load(a) {
			loads = append(loads, a)
		}
	}
	if len(loads) < 2 || !d.known(metrics[0]) {
		return nil, nil
	}
	n, err := d.heatMap(loads[0], loads[1], metrics[0], false, r)
	n.Name += "_load"
	return []Named{n}, err
}

// mapAxes returns the two axes of a map: settings before loads.
func (d *data) mapAxes() (x, y int) {
	order := d.knobAxes()
	for _, a := range d.live {
		if d.load(a) {
			order = append(order, a)
		}
	}
	return order[0], order[1]
}

// mapMetrics are the metrics of which maps are drawn, the objective first.
func (d *data) mapMetrics() []int {
	list := []int{metric(d.s.Objective)}
	for _, name := range []string{"p90_ttft_ms", "p90_itl_ms", "goodput_share", "reuse_share", "imbalance_busy"} {
		if m := metric(name); !slices.Contains(list, m) {
			list = append(list, m)
		}
	}
	return list
}

func (d *data) heatMap(x, y, m int, change bool, r Request) (Named, error) {
	ax, ay := &d.s.Axes[x], &d.s.Axes[y]
	columns, rows := sortedValues(ax, false), sortedValues(ay, true)
	h := &plot.Map{X: ax.Name, Y: ay.Name, Chosen: d.chosenName(), Change: change, Limit: limitPercent}
	for _, k := range columns {
		h.Columns = append(h.Columns, ax.Values[k])
	}
	for _, k := range rows {
		h.Rows = append(h.Rows, ay.Values[k])
		var cells []plot.Cell
		for _, c := range columns {
			cells = append(cells, d.cell(d.cellPoint(x, y, c, k, m), m, change, len(columns)))
		}
		h.Cells = append(h.Cells, cells)
	}
	if unit := d.changeUnit(m); change {
		if unit == " pp" {
			h.Limit = limitPoints
		}
		// Colours run from better to worse whatever the metric's direction.
		h.Low, h.High = "better  "+percent(-h.Limit, 0, unit), percent(h.Limit, 0, unit)+"  worse"
		if d.metrics[m].Better > 0 {
			h.Low, h.High = "better  "+percent(h.Limit, 0, unit), percent(-h.Limit, 0, unit)+"  worse"
		}
	} else {
		h.Low, h.High = d.ends(h.Cells, m)
	}
	size := plot.Size{}
	if r.Readme {
		size = plot.Readme()
	}
	view := "value"
	if change {
		view = "change"
	}
	c := d.caption(d.mapFinding(m, x, y), fmt.Sprintf("Heat map of %s over %s and %s.", d.metrics[m].Title, ax.Name, ay.Name))
	c.Subtitle = d.mapWords(m, change, x, y) + "; " + c.Subtitle
	f, err := plot.HeatMap(size, c, h)
	return Named{Name: fmt.Sprintf("heatmap_%s_%s", d.metrics[m].Name, view), Kind: HeatMap, Figure: f}, err
}

// sortedValues returns the places of an axis' values in ascending order of the
// numbers, or as typed.
func sortedValues(a *sweepdata.Axis, down bool) []int {
	out := make([]int, len(a.Values))
	for i := range out {
		out[i] = i
	}
	if a.Numbers != nil {
		slices.SortStableFunc(out, func(i, k int) int {
			if down {
				i, k = k, i
			}
			return cmp.Compare(a.Numbers[i], a.Numbers[k])
		})
	}
	return out
}

// cellPoint returns the point of a cell: with more than two settings that
// matter, the best over the others.
func (d *data) cellPoint(x, y, i, k, m int) int {
	if len(d.live) == 2 {
		return d.at(d.defaults(), x, i, y, k)
	}
	vx, vy := d.s.Axes[x].Values[i], d.s.Axes[y].Values[k]
	is := func(p int) bool {
		return len(d.s.Points[p].Values) == len(d.s.Axes) && d.s.Points[p].Values[x] == vx && d.s.Points[p].Values[y] == vy && d.home(p, x, y)
	}
	if best := d.best(m, is); best >= 0 {
		return best
	}
	for p := range d.s.Points {
		if is(p) {
			return p
		}
	}
	return -1
}

func (d *data) cell(p, m int, change bool, columns int) plot.Cell {
	c := plot.Cell{Value: math.NaN(), State: plot.CellMissing}
	if p < 0 {
		return c
	}
	switch {
	case p == d.chosen():
		c.Frame = plot.FrameChosen
	case p == d.s.Default:
		c.Frame = plot.FrameDefault
	case m == metric(d.s.Objective) && d.v != nil && slices.Contains(d.v.Tied, p): // ties are of the objective
		c.Frame = plot.FrameTied
	}
	point := &d.s.Points[p]
	switch {
	case len(point.Runs) == 0 && point.Error != "":
		c.State = plot.CellFailed
	case d.overloaded(p):
		c.State = plot.CellOverloaded
	case len(point.Runs) > 0 && finite(d.means[p][m]):
		c.State = plot.CellFine
		d.fill(&c, p, m, change, columns)
	}
	return c
}

// fill gives a cell its value and text.
func (d *data) fill(c *plot.Cell, p, m int, asChange bool, columns int) {
	if !asChange {
		_, per := d.unit(m)
		c.Value = d.means[p][m]
		c.Text = d.bare(m, c.Value/per)
		return
	}
	diff := d.change(p, m)
	if !diff.ok {
		c.State = plot.CellMissing
		return
	}
	decimals := 1
	if columns > 12 {
		decimals = 0
	}
	c.Value, c.Text = diff.mean, percent(diff.mean, decimals, "")
	c.Quiet = diff.judged && !diff.shown && p != d.s.Default
	if d.metrics[m].Better > 0 {
		c.Value = -c.Value
	}
}

// ends are the labels of the least and the greatest value of a map.
func (d *data) ends(cells [][]plot.Cell, m int) (low, high string) {
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, row := range cells {
		for i := range row {
			if v := row[i].Value; row[i].State == plot.CellFine && finite(v) {
				lo, hi = math.Min(lo, v), math.Max(hi, v)
			}
		}
	}
	if lo > hi {
		return "", ""
	}
	return d.write(m, lo), d.write(m, hi)
}

// mapWords says what the cells of a map are.
func (d *data) mapWords(m int, change bool, x, y int) string {
	words := d.title(m)
	if change {
		words = d.metrics[m].Title + ", change against the default in" + d.changeUnit(m)
		for i := range d.s.Points {
			if b := d.base(i); b >= 0 && b != d.s.Default {
				words += " at the same load"
				break
			}
		}
	}
	var best, fixed []string
	for _, a := range d.live {
		switch {
		case a == x || a == y:
		case d.load(a):
			fixed = append(fixed, verdict.Short(d.s.Axes[a].Name)+" "+d.defaults()[a])
		default:
			best = append(best, verdict.Short(d.s.Axes[a].Name))
		}
	}
	if len(best) > 0 {
		words += ", best over " + strings.Join(best, ", ")
	}
	if len(fixed) > 0 {
		words += ", " + strings.Join(fixed, ", ")
	}
	return words
}

// mapFinding names the best point and what it gains.
func (d *data) mapFinding(m, x, y int) string {
	title := upper(d.metrics[m].Title)
	best := d.best(m, func(p int) bool { return d.home(p, x, y) })
	if best < 0 {
		return title + ": every setting is overloaded"
	}
	if all := d.ran(func(p int) bool { return d.home(p, x, y) }); d.alike(all, m) {
		return fmt.Sprintf("%s is the same at every setting: %s", title, d.write(m, d.means[best][m]))
	}
	if d.load(x) || d.load(y) {
		worst := best
		for _, i := range sortedValues(&d.s.Axes[x], false) {
			for _, k := range sortedValues(&d.s.Axes[y], false) {
				if p := d.cellPoint(x, y, i, k, m); p >= 0 && finite(d.means[p][m]) && !d.overloaded(p) && d.better(m, d.means[worst][m], d.means[p][m]) {
					worst = p
				}
			}
		}
		return fmt.Sprintf("%s from %s (%s) to %s (%s)", title, d.write(m, d.means[best][m]), d.point(best), d.write(m, d.means[worst][m]), d.point(worst))
	}
	if d.metrics[m].Better == 0 {
		return fmt.Sprintf("%s over %s", title, d.names())
	}
	name := d.point(best)
	c := d.change(best, m)
	switch {
	case best == d.s.Default:
		return fmt.Sprintf("%s is best at the default: %s", title, d.write(m, d.means[best][m]))
	case c.ok && c.judged && !c.shown:
		return fmt.Sprintf("%s: no setting is shown to differ from the default (best mean: %s, %s)", title, name, percent(c.mean, 1, d.changeUnit(m)))
	case c.ok:
		return fmt.Sprintf("%s is best at %s: %s, %s against the default", title, name, d.write(m, d.means[best][m]), percent(c.mean, 1, d.changeUnit(m)))
	}
	return fmt.Sprintf("%s is best at %s: %s", title, name, d.write(m, d.means[best][m]))
}

// ran lists the points of the design that ran and keep up.
func (d *data) ran(among func(point int) bool) (out []int) {
	for p := range d.s.Points {
		if !d.s.Points[p].Added && len(d.s.Points[p].Runs) > 0 && !d.overloaded(p) && among(p) {
			out = append(out, p)
		}
	}
	return out
}

// point names a point with its settings: credit 1, scale 8.
func (d *data) point(p int) string {
	if p == d.s.Reference && d.s.Points[p].Added {
		return "round robin"
	}
	words := ""
	for _, a := range d.live {
		if words != "" {
			words += ", "
		}
		words += verdict.Short(d.s.Axes[a].Name) + " " + d.s.Points[p].Values[a]
	}
	if words == "" {
		return d.s.Points[p].ID
	}
	return words
}
