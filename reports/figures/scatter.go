package figures

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"routesim/reports/format"
	"routesim/reports/plot"
)

// pareto draws TTFT against ITL, a dot for each point.
func (d *data) pareto(r Request) ([]Named, error) {
	if err := d.checkPoints(r.Points); err != nil {
		return nil, err
	}
	x, y := metric("p90_itl_ms"), metric("p90_ttft_ms")
	_, perY := d.unit(y)
	cloud := &plot.Cloud{
		X:     plot.Scale{Label: "\u2190 better   " + d.title(x), Free: true},
		Y:     plot.Scale{Label: "\u2193 better   " + d.title(y), Free: true},
		Front: len(d.knobAxes()) > 0, Zoom: true,
	}
	overloaded := 0
	for _, p := range d.comparable(r.Points) {
		s := plot.Spot{X: d.means[p][x], Y: d.means[p][y] / perY, Mark: d.spotMark(p, r.Points), Label: d.name(p)}
		if d.overloaded(p) {
			s.Mark, s.Label = plot.MarkOverloaded, ""
			overloaded++
		}
		cloud.Spots = append(cloud.Spots, s)
	}
	if !shows(cloud.Spots) {
		return nil, nothing("TTFT against ITL")
	}
	front := plot.Front(cloud.Spots)
	for i := range cloud.Spots { // only those that matter have a label
		s := &cloud.Spots[i]
		if s.Mark == plot.Plain && !slices.Contains(front, *s) {
			s.Label = ""
		}
	}
	slices.SortStableFunc(cloud.Spots, func(a, b plot.Spot) int { return rank(&a) - rank(&b) })
	cloud.Names = d.markNames(r.Points)
	cloud.Note = d.labelNote()
	if overloaded > 0 {
		cloud.Note += " " + format.Plural(int64(overloaded), "overloaded setting") + " at the top edge, without a true value."
	}
	finding := d.paretoFinding(front, x, y, perY)
	what := "TTFT p90 against ITL p90, a dot for each setting, with the Pareto front."
	if !cloud.Front {
		what = "TTFT p90 against ITL p90, a dot for each fleet and load."
	}
	f, err := plot.Points(r.size(), d.caption(finding, what), cloud)
	return []Named{{Name: "pareto_p90_ttft_p90_itl", Kind: Pareto, Figure: f}}, err
}

// shows reports whether any spot can be drawn.
func shows(spots []plot.Spot) bool {
	return slices.ContainsFunc(spots, func(s plot.Spot) bool { return finite(s.X) && finite(s.Y) })
}

// rank orders spots: marked ones first, then those with a label, then others.
func rank(s *plot.Spot) int {
	order := []plot.Mark{plot.MarkChosen, plot.MarkDefault, plot.MarkPicked, plot.MarkReference, plot.MarkTied}
	if i := slices.Index(order, s.Mark); i >= 0 {
		return i
	}
	if s.Label != "" {
		return len(order)
	}
	return len(order) + 1
}

// comparable lists the points that ran under the default's load, and those
// picked; where nothing but the load was varied, all that ran.
func (d *data) comparable(picked []int) (out []int) {
	for p := range d.s.Points {
		if len(d.s.Points[p].Runs) > 0 && (slices.Contains(picked, p) || d.home(p) || len(d.knobAxes()) == 0) {
			out = append(out, p)
		}
	}
	return out
}

// spotMark returns the mark of a point in a scatter.
func (d *data) spotMark(p int, picked []int) plot.Mark {
	switch {
	case slices.Contains(picked, p):
		return plot.MarkPicked
	case d.mark(p) != plot.Plain:
		return d.mark(p)
	case d.v != nil && slices.Contains(d.v.Tied, p):
		return plot.MarkTied
	}
	return plot.Plain
}

func (d *data) markNames(picked []int) []plot.MarkName {
	names := []plot.MarkName{
		{Mark: plot.MarkChosen, Name: d.chosenName()}, {Mark: plot.MarkDefault, Name: "default"}, {Mark: plot.MarkReference, Name: "round robin"},
		{Mark: plot.MarkTied, Name: "no difference from the best " + d.metrics[metric(d.s.Objective)].Title + " shown"}, {Mark: plot.Plain, Name: d.otherNames()},
		{Mark: plot.MarkOverloaded, Name: "overloaded"},
	}
	if len(picked) > 0 {
		names = append(names, plot.MarkName{Mark: plot.MarkPicked, Name: "picked"})
	}
	return names
}

// otherNames are the dots without a part: of settings, or of fleets and loads.
func (d *data) otherNames() string {
	if len(d.live) > 0 && len(d.knobAxes()) == 0 {
		return "other fleets and loads"
	}
	return "other settings"
}

func (d *data) labelNote() string {
	if len(d.live) == 0 {
		return ""
	}
	note := "Labels: " + d.names() + "."
	if knobs := d.knobAxes(); len(knobs) > 0 && len(knobs) < len(d.live) {
		note += " Points of other loads than the default's are left out."
	}
	return note
}

// paretoFinding says what the ends of the front cost each other.
func (d *data) paretoFinding(front []plot.Spot, x, y int, perY float64) string {
	switch {
	case len(front) == 0:
		return "Every setting is overloaded"
	case len(d.knobAxes()) == 0: // no choice that one could make between settings
		return d.rangeFinding(x, y)
	case len(front) == 1:
		return fmt.Sprintf("No trade-off: %s is best for both TTFT and ITL", front[0].Label)
	}
	a, b := front[len(front)-1], front[0] // lowest TTFT, lowest ITL
	return fmt.Sprintf("%s: TTFT p90 %s, ITL p90 %s; %s: %s, %s", a.Label,
		d.write(y, a.Y*perY), d.write(x, a.X), b.Label, d.write(y, b.Y*perY), d.write(x, b.X))
}

// rangeFinding says between which values the latencies of fleets and loads lie,
// overloaded ones left out.
func (d *data) rangeFinding(x, y int) string {
	var parts []string
	for _, m := range []int{y, x} {
		lo, hi := math.Inf(1), math.Inf(-1)
		for _, p := range d.comparable(nil) {
			if v := d.means[p][m]; finite(v) && !d.overloaded(p) && p != d.s.Reference {
				lo, hi = math.Min(lo, v), math.Max(hi, v)
			}
		}
		if lo <= hi {
			parts = append(parts, d.metrics[m].Title+" "+d.write(m, lo)+" to "+d.write(m, hi))
		}
	}
	return strings.Join(parts, ", ") + " over " + d.names()
}

// balance draws how much is served from the cache against how unevenly the
// workers are used.
func (d *data) balance(r Request) ([]Named, error) {
	if err := d.checkPoints(r.Points); err != nil {
		return nil, err
	}
	x, y := metric("imbalance_busy"), metric("reuse_share")
	cloud := &plot.Cloud{
		X: plot.Scale{Label: "\u2190 better   load imbalance: busiest worker over the mean"},
		Y: plot.Scale{Label: "\u2191 better   prefix reuse, % of prompt tokens"},
	}
	cloud.X.From, cloud.X.To = 1, 1.05 // no worker is busier than all: 1 is the best
	for _, p := range d.comparable(r.Points) {
		if v := d.means[p][x]; finite(v) {
			cloud.X.To = math.Max(cloud.X.To, 1+(v-1)*1.08)
		}
		s := plot.Spot{X: d.means[p][x], Y: d.means[p][y], Mark: d.spotMark(p, r.Points)}
		if s.Mark != plot.Plain && s.Mark != plot.MarkTied {
			s.Label = d.name(p)
		}
		cloud.Spots = append(cloud.Spots, s)
	}
	if !shows(cloud.Spots) {
		return nil, nothing("reuse against imbalance")
	}
	for _, p := range []int{d.extreme(x, true), d.extreme(x, false), d.extreme(y, true), d.extreme(y, false)} {
		if p < 0 {
			continue
		}
		for i := range cloud.Spots {
			if s := &cloud.Spots[i]; s.Label == "" && s.X == d.means[p][x] && s.Y == d.means[p][y] {
				s.Label = d.name(p)
			}
		}
	}
	slices.SortStableFunc(cloud.Spots, func(a, b plot.Spot) int { return rank(&a) - rank(&b) })
	cloud.Names, cloud.Note = d.markNames(r.Points), d.labelNote()
	f, err := plot.Points(r.size(), d.caption(d.balanceFinding(x, y), "Prefix reuse against load imbalance, a dot for each setting."), cloud)
	return []Named{{Name: "balance", Kind: Balance, Figure: f}}, err
}

// extreme returns the point of the least or greatest mean of a metric, -1 for
// none.
func (d *data) extreme(m int, least bool) int {
	best := -1
	for _, p := range d.comparable(nil) {
		if p == d.s.Reference && d.s.Points[p].Added || !finite(d.means[p][m]) {
			continue
		}
		if best < 0 || least && d.means[p][m] < d.means[best][m] || !least && d.means[p][m] > d.means[best][m] {
			best = p
		}
	}
	return best
}

func (d *data) balanceFinding(x, y int) string {
	most, least := d.extreme(y, false), d.extreme(y, true)
	if most < 0 || math.Abs(d.means[most][y]-d.means[least][y]) < 0.05 {
		return "Prefix reuse is the same at every setting"
	}
	even, uneven := d.extreme(x, true), d.extreme(x, false)
	return fmt.Sprintf("Prefix reuse from %s (%s) to %s (%s), imbalance %s to %s",
		d.write(y, d.means[least][y]), d.name(least), d.write(y, d.means[most][y]), d.name(most),
		d.write(x, d.means[even][x]), d.write(x, d.means[uneven][x]))
}

// upper begins a sentence.
func upper(s string) string {
	if s == "" || s[0] < 'a' || s[0] > 'z' {
		return s
	}
	return string(s[0]-'a'+'A') + s[1:]
}
