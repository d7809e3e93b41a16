package figures

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"

	"routesim/reports/format"
	"routesim/reports/plot"
	"routesim/reports/sweepdata"
	"routesim/reports/verdict"
)

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
	return plot.Caption{Title: unbroken(finding), Subtitle: unbroken(d.subtitle()), Alt: what + " " + finding + "."}
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
		if l.name != "" {
			keys = append(keys, plot.Key{Name: l.name, Role: l.role, Band: len(d.s.Seeds) > 1 && !words, Sign: words})
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
	}{{plot.MarkChosen, d.chosenName()}, {plot.MarkDefault, "default"}, {plot.MarkReference, "round robin"}} {
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
		return d.part() + " (the default)"
	}
	return d.part()
}

// chosenAs ends "the other settings as ...".
func (d *data) chosenAs() string {
	if d.part() == "chosen" {
		return "chosen"
	}
	return "in the " + d.part() + " point"
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
	if d.alike(among, m) {
		return fmt.Sprintf("%s is the same at every %s: %s", title, name, d.write(m, d.means[best][m]))
	}
	if d.load(axis) {
		return d.loadFinding(axis, m, among)
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

// alike reports whether points have one mean of a metric.
func (d *data) alike(points []int, m int) bool {
	return !slices.ContainsFunc(points, func(p int) bool { return d.means[p][m] != d.means[points[0]][m] })
}

// loadFinding says how a metric goes from one end of a load to the other.
func (d *data) loadFinding(axis, m int, along []int) string {
	name := verdict.Short(d.s.Axes[axis].Name)
	along = slices.DeleteFunc(along, func(p int) bool { return !finite(d.means[p][m]) || d.overloaded(p) })
	if d.s.Axes[axis].Numbers != nil {
		number := func(p int) float64 {
			return d.s.Axes[axis].Numbers[slices.Index(d.s.Axes[axis].Values, d.s.Points[p].Values[axis])]
		}
		slices.SortFunc(along, func(a, b int) int { return cmp.Compare(number(a), number(b)) })
	}
	first, last := along[0], along[len(along)-1]
	if first == last {
		return fmt.Sprintf("%s %s at %s %s; overloaded elsewhere", d.metrics[m].Title, d.write(m, d.means[first][m]), name, d.s.Points[first].Values[axis])
	}
	return fmt.Sprintf("%s %s at %s %s, %s at %s", d.metrics[m].Title, d.write(m, d.means[first][m]), name, d.s.Points[first].Values[axis],
		d.write(m, d.means[last][m]), d.s.Points[last].Values[axis])
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
