package page

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"routesim/reports/sweepdata"
)

// explore is the section that the reader works with.
type explore struct {
	Shape    string
	Families []pick
	Stats    []pick
	Change   bool // against the default at first, else values
	Along    []pick
	Held     []heldAxis
	Figures  []figure
	Key      bool   // of the map
	Ties     string // what a dotted frame says
	Wide     bool   // the map takes the whole width
	Absent   string
	Point    int
	Name     string
	Panel    []panelRow
	Block    block
	Alone    string
	Steps    []stepRow
	StepHead string
}

// heldAxis is a further axis of a grid, held at one value.
type heldAxis struct {
	Axis   int
	Title  string
	Values []pick
}

// stepRow is a value of the one live axis with the gain to the one before.
type stepRow struct{ Value, Metric, Gain string }

func (m *model) explore() (explore, error) {
	e := explore{Shape: string(m.shape), Point: m.focus()}
	e.Families, e.Stats = m.picks()
	v := &view{metric: m.v.Objective, chosen: -1, held: m.held()}
	v.change = !m.onlyLoad() && m.anyChange(v.metric)
	e.Change = v.change
	switch m.shape {
	case grid:
		m.exploreGrid(&e, v)
	case oneNumber:
		second := m.metric("itl", "p90")
		if m.m[v.metric].Family == "itl" {
			second = m.metric("ttft", "p90")
		}
		for i, k := range []int{v.metric, second} {
			id := "line" + strconv.Itoa(i)
			e.Figures = append(e.Figures, figure{Box: "box-" + id, Title: familyName(&m.m[k]), Note: "along " + m.axes[m.live[0]].Title + ". Band: 95 % interval of the difference to the default. The axis need not start at 0.", Plot: m.family(id, k).svg()})
		}
		e.StepHead, e.Steps = m.gains(v.metric)
	case oneWord:
		e.Figures = append(e.Figures, figure{Box: "box-rows", Title: m.m[v.metric].Title, Note: "by " + m.axes[m.live[0]].Title + ", best first. Bar: 95 % interval of the difference to the default. The axis need not start at 0.", Plot: m.rows(v.metric).svg()})
	case scattered:
		for _, a := range m.live[:min(len(m.live), mostKnobs)] {
			p := m.knob(a, v.metric)
			e.Figures = append(e.Figures, figure{Box: "box-" + p.id, Title: m.m[v.metric].Title, Note: "over " + m.axes[a].Title + ", with a running median", Plot: p.svg(), Narrow: true})
		}
	default:
		e.Absent = "Nothing but the seed of the router's draws was varied, so there is nothing to plot against."
		if len(m.axes) > 0 {
			e.Absent = "No varied setting changed a decision, so there is nothing to plot against. The notices above say why."
		}
	}
	if e.Point < 0 {
		return e, nil
	}
	e.Name, e.Panel, e.Alone = m.name(e.Point), m.panel(e.Point), m.alone(e.Point)
	var err error
	e.Block, err = m.block(e.Point)
	return e, err
}

// familyName is the title of a plot of a latency's statistics.
func familyName(me *measure) string {
	switch me.Family {
	case "ttft", "itl", "tpot", "e2e":
		return familyTitle(me.Family)
	}
	return me.Title
}

func (m *model) exploreGrid(e *explore, v *view) {
	v.along = m.maps[0]
	h := m.heat(v)
	me := &m.m[v.metric]
	size := heatLayout(&m.axes[m.maps[0]], &m.axes[m.maps[1]])
	e.Key, e.Wide = true, size.wide
	e.Ties = "tied with the best " + m.m[m.v.Objective].Title
	note := "values"
	if me.Unit != "" {
		note += " in " + me.Unit
	}
	note += "; darker is more."
	if v.change {
		note = "against the default, in " + me.changeUnit() + ". Blue is better; grey: no difference shown."
	}
	e.Figures = []figure{
		{Box: "box-heat", Title: me.Title, Note: note, Plot: h.svg()},
		{Box: "box-slice", Title: me.Title, Note: "along one setting. Band: 95 % interval of the difference to the default. The axis need not start at 0.", Plot: m.slice(v).svg()},
	}
	for _, a := range m.live {
		e.Along = append(e.Along, pick{Key: strconv.Itoa(a), Title: shortAxis(m.axes[a].Name), On: a == v.along})
		if a == m.maps[0] || a == m.maps[1] {
			continue
		}
		h := heldAxis{Axis: a, Title: shortAxis(m.axes[a].Name)}
		for i, t := range m.axes[a].Values {
			h.Values = append(h.Values, pick{Key: strconv.Itoa(i), Title: t, On: v.held[a] == i})
		}
		e.Held = append(e.Held, h)
	}
}

// onlyLoad tells whether just the load was varied: each point is then the
// default of its load, and there is no change to see.
func (m *model) onlyLoad() bool {
	c := m.v.Capacity
	if c == nil {
		return false
	}
	for _, a := range m.live {
		if !slices.Contains(c.Axes, a) {
			return false
		}
	}
	return true
}

// anyChange tells whether the map of changes has something to show.
func (m *model) anyChange(metric int) bool {
	for p := range m.s.Points {
		if _, ok := m.moved(p, metric); ok && p != m.v.Points[p].Base {
			return true
		}
	}
	return false
}

// gains lists what each further step along the one axis brings.
func (m *model) gains(metric int) (head string, rows []stepRow) {
	me := &m.m[metric]
	last := math.NaN()
	for _, s := range m.along(m.live[0], m.held(), metric) {
		r := stepRow{Value: m.axes[m.live[0]].Values[s.at], Metric: missing, Gain: missing}
		if s.off {
			r.Metric = "saturated"
		} else if !math.IsNaN(s.v) {
			r.Metric = number(s.v, me.Kind) + hard + me.Unit
			v := m.mean(s.p, metric)
			if !math.IsNaN(last) && last != 0 {
				r.Gain = change(tenths((v-last)/math.Abs(last)*100), "%")
				if me.points() {
					r.Gain = change(tenths(v-last), "pp")
				}
			}
			last = v
		}
		rows = append(rows, r)
	}
	return me.Title, rows
}

// tradeoff is the plot of TTFT against ITL.
func (m *model) tradeoff() figure {
	f := figure{Box: "box-pareto", Title: "TTFT against ITL", Note: "Blue dots are on the Pareto front: no other point is better in both."}
	if names := m.liveNames(); names != "" {
		f.Note += " Labels read " + names + "."
	}
	p := m.scatter(&scatterSpec{id: "pareto", w: 553, h: 372, x: m.metric("ttft", "p90"), y: m.metric("itl", "p90"), front: true, names: true})
	if p == nil {
		f.Absent = "No point has both figures and keeps up with its load."
		return f
	}
	f.Plot = p.svg()
	return f
}

func (m *model) liveNames() string {
	var list []string
	for _, a := range m.live {
		list = append(list, shortAxis(m.axes[a].Name))
	}
	return strings.Join(list, " / ")
}

// goodput is the plot of requests within the SLA against the rate, or against
// the first numeric setting.
func (m *model) goodput() figure {
	f := figure{Box: "box-goodput", Title: "Goodput"}
	k := sweepdata.MetricIndex("goodput_share")
	if sla := m.s.SLA; sla.TTFT == 0 && sla.ITL == 0 && sla.E2E == 0 || !m.known(k) {
		f.Absent = "Give bounds, such as --sla-ttft-ms 2000 --sla-itl-ms 40, to see goodput."
		return f
	}
	a := -1
	for _, b := range m.live {
		if m.axes[b].Numbers != nil && (a < 0 || m.axes[b].Name == "arrival-speedup-ratio") {
			a = b
		}
	}
	if a < 0 || m.shape == scattered {
		f.Absent = "Goodput is drawn against the rate or a numeric setting of a grid; there is none here. The table has its figures."
		return f
	}
	f.Title = "Goodput against " + m.axes[a].Title
	f.Note = "Share of all requests within " + m.slaText() + "; those that did not complete count as missed."
	s := &lineSpec{id: "goodput", w: 553, h: 372, x: &m.axes[a], title: "goodput (% of requests)", fixed: true, target: math.NaN()}
	seen := map[string]bool{}
	for _, l := range []struct {
		p, line int
		part    string
	}{{m.v.Chosen, 1, m.v.Part()}, {m.v.Alternative, 3, "alternative"}, {m.v.Default, 0, "default"}} {
		if l.p < 0 || l.p == m.v.Default && l.part == m.v.Part() || seen[m.heldName(a, m.vals[l.p])] {
			continue
		}
		name := m.heldName(a, m.vals[l.p])
		seen[name] = true
		list := m.along(a, m.vals[l.p], k)
		for i := range list {
			list[i].lo, list[i].hi = clamp(list[i].lo), clamp(list[i].hi)
			list[i].off = false
		}
		s.list = append(s.list, series{l.line, join(name, l.part), list})
	}
	if t := m.s.SLA.Target; t > 0 {
		s.target, s.goal = t*100, "target "+typed(t*100)+hard+"%"
	}
	p := lines(s)
	p.name = f.Title + ", for the " + m.v.Part() + " and the default point."
	f.Plot = p.svg()
	return f
}

func clamp(v float64) float64 { return math.Min(math.Max(v, 0), 100) }

func (m *model) slaText() string {
	var parts []string
	for k, f := range cdfFamilies {
		if b := m.bound(k); b > 0 {
			me := &m.m[m.metric(f, "p90")]
			name := familyTitle(f)
			if f == "tpot" { // as the setting of the bound is called
				name = "mean ITL"
			}
			parts = append(parts, name+" ≤ "+typed(b*me.Scale)+hard+me.Unit)
		}
	}
	return strings.Join(parts, " and ")
}

func (m *model) cdfFigure(k int, all map[int]*distribution) figure {
	f := figure{Box: "box-cdf" + strconv.Itoa(k), Title: familyTitle(cdfFamilies[k]), Narrow: true}
	if cdfFamilies[k] == "tpot" {
		f.Note = "mean gap between a request's tokens"
	}
	if p := m.cdf(k, all); p != nil {
		f.Plot = p.svg()
		return f
	}
	f.Absent = "No latencies of single requests were kept."
	return f
}

// cache is the row of plots of reuse and balance.
func (m *model) cache() ([]figure, error) {
	p := m.focus()
	balance := figure{Box: "box-balance", Title: "Reuse against imbalance", Note: plural(len(m.dots(sweepdata.MetricIndex("imbalance_busy"), sweepdata.MetricIndex("reuse_share"), nil)), "point", "points"), Narrow: true}
	if c := m.scatter(&scatterSpec{id: "balance", w: 366, h: 250, x: sweepdata.MetricIndex("imbalance_busy"), y: sweepdata.MetricIndex("reuse_share")}); c != nil {
		balance.Plot = c.svg()
	} else {
		balance.Absent = "No point has both figures."
	}
	over := figure{Box: "box-overlap", Title: "Predicted against found overlap", Narrow: true}
	g, err := m.overlap(p)
	if err != nil {
		return nil, err
	}
	if g != nil && !math.IsNaN(m.blockSize()) {
		over.Note = fmt.Sprintf("%s point; the prediction was right for %s %% of the requests", m.part(p), number(100*float64(g.exact)/float64(g.total), oneDecimal))
		over.Plot = overlapPlot(g).svg()
	} else {
		over.Absent = "The router predicted no overlap, or single requests were not kept."
	}
	fall := figure{Box: "box-waterfall", Title: "Where reuse is lost", Note: m.part(p) + " point, mean over seeds", Narrow: true}
	if c := m.waterfall(p); p >= 0 && c != nil {
		fall.Plot = c.svg()
	} else {
		fall.Absent = "No request completed."
	}
	return []figure{balance, over, fall}, nil
}

// part says which point a picture is of.
func (m *model) part(p int) string {
	switch {
	case p == m.v.Default:
		return "default"
	case p == m.v.Chosen:
		return m.v.Part()
	}
	return "best"
}

// workers are the strips of the default and the chosen point.
func (m *model) workers() (list []figure, note string, runs []*strips) {
	var highest [3]uint16
	for i := range m.x.Series {
		s := m.reduceStrips(&m.x.Series[i])
		if s == nil {
			continue
		}
		runs = append(runs, s)
		for g := range highest {
			highest[g] = max(highest[g], s.Highest[g])
		}
	}
	if len(runs) == 0 {
		note = m.x.NoSeries
		if note == "" {
			note = "Workers over time were not recorded."
		}
		return nil, note, nil
	}
	for i, s := range runs {
		f := figure{Box: "box-workers" + strconv.Itoa(i), Title: s.Name, Note: fmt.Sprintf("seed %d; %s", s.Seed, busiest(s)), Plot: workerPlot(s, i, highest).svg()}
		list = append(list, f)
		if len(s.Shown) < s.Of {
			note = fmt.Sprintf("%d of %d workers: the 8 busiest, the 8 idlest and the median.", len(s.Shown), s.Of)
		}
	}
	return list, note, runs
}

// blocks are the flags to paste: of the chosen point, and in a trade of the
// alternative, too.
func (m *model) blocks() ([]block, error) {
	var out []block
	for _, p := range []int{m.v.Chosen, m.v.Alternative} {
		if p >= 0 {
			b, err := m.block(p)
			if err != nil {
				return nil, err
			}
			if m.v.Alternative >= 0 {
				b.Title = m.name(p)
			}
			b.Label = m.v.Label
			out = append(out, b)
		}
	}
	return out, nil
}
