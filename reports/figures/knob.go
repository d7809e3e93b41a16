package figures

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"routesim/reports/plot"
	"routesim/reports/sweepdata"
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
			if r.Readme && len(metrics) > 2 { // two panels are all that can be read
				metrics = []int{metrics[1], metrics[2]}
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
// mean, p50, the lead and p99, otherwise at most four.
func (d *data) familyMetrics(family string) (out []int) {
	statistics := []string{"mean", "p50", d.lead(), "p99"}
	for _, s := range slices.Compact(statistics) {
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

// lead is the statistic that titles are about: the objective's, where that is a
// percentile of a latency above the median.
func (d *data) lead() string {
	for _, s := range []string{"p95", "p99"} {
		if strings.HasPrefix(d.s.Objective, s+"_") {
			return s
		}
	}
	return "p90"
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
	if m := sweepdata.MetricIndex(d.lead() + "_" + family + "_ms"); slices.Contains(metrics, m) {
		lead = m
	}
	c := d.caption(d.defaultLoad(axis)+d.knobFinding(axis, lead), fmt.Sprintf("%s against %s.", d.familyTitle(family), d.s.Axes[axis].Name))
	f, err := plot.Panels(size, c, columns, d.knobKeys(axis, lead), d.bandNote(panels), panels...)
	return Named{Name: fmt.Sprintf("knob_%s_%s", family, d.s.Axes[axis].Name), Kind: Knob, Figure: f}, err
}
