package figures

import (
	"fmt"
	"slices"
	"strings"

	"routesim/reports/format"
	"routesim/reports/plot"
	"routesim/reports/verdict"
)

// goodput draws the share of requests within the SLA against a setting: the
// rate or the fleet where they were varied, otherwise the first that matters.
func (d *data) goodput(r Request) ([]Named, error) {
	axis := d.live[0]
	for _, name := range []string{"workers", "arrival-speedup-ratio"} {
		if i := slices.IndexFunc(d.live, func(a int) bool { return d.s.Axes[a].Name == name }); i >= 0 {
			axis = d.live[i]
		}
	}
	if r.Axis != "" {
		axes, err := d.axes(r.Axis)
		if err != nil {
			return nil, err
		}
		axis = axes[0]
	}
	m := metric("goodput_share")
	p := plot.Panel{Title: d.slo(), X: d.scale(axis), Y: plot.Scale{From: 0, To: 100}, MoreIsBetter: true}
	if p.X.Label = d.s.Axes[axis].Name; p.X.Log {
		p.X.Label += " (log scale)"
	}
	p.Title = "requests within " + d.slo() + ", %"
	if d.s.Axes[axis].Numbers == nil {
		p.Words = d.s.Axes[axis].Values
	}
	if d.grid() {
		lines := d.lines(axis, m)
		place := d.places(axis, &lines[0], m)
		p.Words = arranged(p.Words, place)
		for _, l := range lines {
			t := d.trend(&l, axis, m, place)
			for i := range t.Lo {
				t.Lo[i], t.Hi[i] = max(t.Lo[i], 0), min(t.Hi[i], 100)
			}
			t.Dots = p.Words != nil
			p.Trends = append(p.Trends, t)
		}
	} else {
		p.Trends = d.scattered(axis, m)
	}
	if !slices.ContainsFunc(p.Trends, func(t plot.Trend) bool { return slices.ContainsFunc(t.Y, finite) }) {
		return nil, nothing("goodput against " + d.s.Axes[axis].Name)
	}
	if t := d.target(); t > 0 {
		p.Bound, p.BoundLabel = t, "target "+format.Fixed(t, 0)+" %"
	}
	c := d.caption(d.defaultLoad(axis)+d.goodputFinding(axis, m), fmt.Sprintf("Share of requests within %s against %s.", d.slo(), d.s.Axes[axis].Name))
	f, err := plot.Panels(r.size(), c, 1, d.knobKeys(axis, m), d.bandNote([]plot.Panel{p}), p)
	return []Named{{Name: "goodput_" + d.s.Axes[axis].Name, Kind: Goodput, Figure: f}}, err
}

// defaultLoad names the value of the other axis of load that a finding is about,
// "" where there is none.
func (d *data) defaultLoad(axis int) string {
	if !d.load(axis) {
		return ""
	}
	for _, a := range d.live {
		if a != axis && d.load(a) {
			return upper(verdict.Short(d.s.Axes[a].Name)) + " " + d.defaults()[a] + ": "
		}
	}
	return ""
}

// target returns the share of requests in % that shall keep within the SLA, 0
// for none.
func (d *data) target() float64 { return 100 * d.s.SLA.Target }

// slo writes the bounds: TTFT 2 s and ITL 40 ms.
func (d *data) slo() string {
	var parts []string
	for _, b := range []struct {
		name string
		ms   float64
	}{{"TTFT", d.s.SLA.TTFT}, {"ITL", d.s.SLA.ITL}, {"E2E", d.s.SLA.E2E}} {
		if b.ms <= 0 {
			continue
		}
		if b.ms >= 1000 {
			parts = append(parts, fmt.Sprintf("%s %v s", b.name, b.ms/1000))
		} else {
			parts = append(parts, fmt.Sprintf("%s %v ms", b.name, b.ms))
		}
	}
	if len(parts) == 0 {
		return "the SLA"
	}
	return strings.Join(parts, " and ")
}

// goodputFinding says how far the target is kept, or where most requests are
// within the SLA.
func (d *data) goodputFinding(axis, m int) string {
	name := verdict.Short(d.s.Axes[axis].Name)
	among, rest := d.alongDefault(axis), ""
	if len(d.live) > 1 {
		rest = " (all else at the default)"
	}
	if len(among) < 2 {
		among, rest = d.bestAlong(axis, m), ""
	}
	among = slices.DeleteFunc(among, func(p int) bool { return p < 0 || !finite(d.means[p][m]) })
	if len(among) == 0 {
		return "Requests within the SLA against " + name
	}
	value := func(p int) string { return d.s.Points[p].Values[axis] }
	t := d.target()
	if met := slices.DeleteFunc(slices.Clone(among), func(p int) bool { return d.means[p][m] < t || d.overloaded(p) }); t > 0 && d.s.Axes[axis].Numbers != nil {
		switch {
		case len(met) == 0:
			best := slices.MaxFunc(among, func(a, b int) int { return compare(d.means[a][m], d.means[b][m]) })
			return fmt.Sprintf("No %s keeps %s %% of requests within the SLA; closest: %s with %s%s", name, format.Fixed(t, 0), value(best), d.write(m, d.means[best][m]), rest)
		case len(met) < len(among):
			return fmt.Sprintf("%s %% of requests are within the SLA at %s %s%s", format.Fixed(t, 0), name, listed(met, value), rest)
		}
		return fmt.Sprintf("At least %s %% of requests are within the SLA at every %s tried%s", format.Fixed(t, 0), name, rest)
	}
	best := slices.MaxFunc(among, func(a, b int) int { return compare(d.means[a][m], d.means[b][m]) })
	return fmt.Sprintf("Most requests are within the SLA at %s %s: %s%s", name, value(best), d.write(m, d.means[best][m]), rest)
}

func compare(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// listed names the values of points: up to three, or the first and the last.
func listed(points []int, value func(int) string) string {
	var words []string
	for _, p := range points {
		words = append(words, value(p))
	}
	if len(words) > 3 {
		return words[0] + " to " + words[len(words)-1]
	}
	return strings.Join(words, ", ")
}
