package verdict

import (
	"fmt"
	"math"
	"strings"

	"routesim/reports/format"
)

// better is for a chosen point that is shown to be better than the default: a
// win, or a trade where it makes a guard worse by enough. of returns the figures
// of any other point on the same seeds.
func (j *judge) better(f *figures, of func(int) *figures) {
	v := j.v
	v.Chosen, v.Alternative = f.point, -1
	if guard := j.broken(f); guard >= 0 {
		v.Alternative = j.bestFor(guard)
		j.trade(f, of(v.Alternative), guard)
	} else {
		j.win(f)
	}
	v.Deltas = j.strip(f)
	v.Quarters = j.quartersOf(f)
	v.Certainty = j.certainty(&f.diff[v.Objective])
}

// broken returns the guard that a point makes worse by most, and by enough to
// matter; -1 for none.
func (j *judge) broken(f *figures) int {
	worst, loss := -1, j.v.Smallest
	for _, name := range guards() {
		m := j.d.byName[name]
		d := &f.diff[m]
		if m != j.v.Objective && d.Better < 0 && d.Kind == Relative && math.Abs(d.Mean) >= loss {
			worst, loss = m, math.Abs(d.Mean)
		}
	}
	return worst
}

// bestFor returns the valid point that is best in a guard, the default where
// none is shown to be better than it.
func (j *judge) bestFor(guard int) int {
	best := j.v.Default
	for _, p := range j.v.Order {
		q := &j.v.Points[p]
		gain := (q.Mean[guard] - j.v.Points[best].Mean[guard]) * float64(j.metrics[guard].Better)
		if p != j.v.Default && q.Diff[guard].Better > 0 && gain > 0 && (j.only == nil || j.only(p)) {
			best = p
		}
	}
	return best
}

func (j *judge) win(f *figures) {
	v, m := j.v, j.v.Objective
	d := &f.diff[m]
	v.State = Win
	v.Headline = "Set " + f.knobs
	if kept := j.d.kept(f.point); kept != "" {
		v.Headline += "; leave " + kept
	}
	v.Headline += "."
	v.Evidence = fmt.Sprintf("%s %s from %s to %s (%s). %d of %d seeds agree.", j.metrics[m].Title, moves(d),
		j.u.value(m, f.base[m]), j.u.value(m, f.value[m]), j.withInterval(m, d), d.Agree, d.N)
	if second := j.second(f); second != "" {
		v.Evidence += " " + second
	}
	v.Costs = j.costSentence(f)
	if others := j.others(f.point); len(others) > 0 {
		v.Costs += fmt.Sprintf(" %s cannot be told apart from it (%s)", plural(len(others), "other point"), some(others, 6))
		if j.fewest(f.point) {
			v.Costs += "; it changes the fewest flags"
		}
		v.Costs += "."
	}
}

// withInterval is a change with its interval, as in the evidence.
func (j *judge) withInterval(m int, d *Diff) string {
	text := d.Text(j.metrics[m].Unit)
	if r := d.Range(j.metrics[m].Unit); r != "" {
		text += "; 95 % interval " + r
	}
	return text
}

// second says how the first other latency does.
func (j *judge) second(f *figures) string {
	fam := j.metrics[j.v.Objective].Family
	for _, name := range guards() {
		m := j.d.byName[name]
		if j.metrics[m].Family == fam || !f.diff[m].OK {
			continue
		}
		if f.diff[m].Shown {
			return fmt.Sprintf("%s %s by %s.", j.metrics[m].Title, moves(&f.diff[m]), unsigned(f.diff[m].quoted(j.metrics[m].Unit)))
		}
		return fmt.Sprintf("%s: no difference shown (%s).", j.metrics[m].Title, f.diff[m].Text(j.metrics[m].Unit))
	}
	return ""
}

// unsigned drops the sign that a verb stands for.
func unsigned(text string) string {
	return strings.TrimPrefix(strings.TrimPrefix(text, format.Minus), "+")
}

func (j *judge) costSentence(f *figures) string {
	costs := j.costs(f)
	if len(costs) == 0 {
		return fmt.Sprintf("Costs: nothing this sweep measured got worse by %s %% or more.", given(j.v.Smallest*costShare))
	}
	var parts []string
	for _, m := range costs {
		parts = append(parts, j.metrics[m].Title+" "+f.diff[m].Text(j.metrics[m].Unit))
	}
	const most = 4
	if n := len(parts) - most; n > 0 {
		return "Costs: " + strings.Join(parts[:most], ", ") + " and " + plural(n, "further figure") + "."
	}
	return "Costs: " + list(parts) + "."
}

// others names the points tied with one.
func (j *judge) others(p int) (names []string) {
	for _, q := range j.v.Tied {
		if q != p {
			names = append(names, j.v.Points[q].Name)
		}
	}
	return names
}

// fewest reports whether no tied point changes fewer settings than p, and some
// changes more.
func (j *judge) fewest(p int) bool {
	more := false
	for _, q := range j.v.Tied {
		if j.v.Points[q].Changes < j.v.Points[p].Changes {
			return false
		}
		more = more || j.v.Points[q].Changes > j.v.Points[p].Changes
	}
	return more
}

// trade is for two points, a better in the objective, b in a guard.
func (j *judge) trade(a, b *figures, guard int) {
	v, m := j.v, j.v.Objective
	v.State = Trade
	v.Headline = fmt.Sprintf("Choose: %s for %s or %s for %s.", a.knobs, family(&j.metrics[m]), b.knobs, family(&j.metrics[guard]))
	sentence := func(f *figures) string {
		if f.point == v.Default {
			return fmt.Sprintf("%s: %s %s, %s %s.", capital(f.knobs), j.metrics[m].Title, j.u.value(m, f.value[m]), j.metrics[guard].Title, j.u.value(guard, f.value[guard]))
		}
		return fmt.Sprintf("%s: %s %s, %s %s.", capital(f.knobs), j.metrics[m].Title, f.diff[m].quoted(j.metrics[m].Unit), j.metrics[guard].Title, f.diff[guard].quoted(j.metrics[guard].Unit))
	}
	v.Evidence = sentence(a) + " " + sentence(b)
	gain := (a.value[m] - b.value[m]) * float64(j.metrics[m].Better)
	price := (b.value[guard] - a.value[guard]) * float64(j.metrics[guard].Better)
	if gain > 0 && price > 0 {
		v.Evidence += " " + j.rateOfExchange(m, guard, gain, price)
	}
	if text := j.servesMore(a, b); text != "" {
		v.Evidence += " " + text
	}
	v.Costs = j.costSentence(a)
}

// rateOfExchange says what a unit of the objective costs in a guard.
func (j *judge) rateOfExchange(m, guard int, gain, price float64) string {
	each := "Each " + map[string]string{"ms": "ms", "%": "percentage point", "": "unit"}[j.metrics[m].Unit]
	if u := j.metrics[m].Unit; u != "ms" && u != "%" && u != "" {
		each = "Each " + u
	}
	if j.u.seconds[m] {
		each, gain = "Each second", gain/1000
	}
	return fmt.Sprintf("%s of %s gained costs %s of %s between them.", each, j.metrics[m].Title, j.u.value(guard, price/gain), j.metrics[guard].Title)
}

// servesMore says which of two points serves more requests within the SLO.
func (j *judge) servesMore(a, b *figures) string {
	m := j.d.byName["goodput_share"]
	gap := a.value[m] - b.value[m]
	if math.IsNaN(gap) || gap == 0 {
		return ""
	}
	more := a
	if gap < 0 {
		more = b
	}
	return fmt.Sprintf("With SLO %s, %s serves %s pp more requests within it.", j.slo(), more.knobs, fixed(math.Abs(gap), 1))
}

// slo names the bounds of goodput.
func (j *judge) slo() string {
	var parts []string
	s := &j.s.SLA
	for _, b := range []struct {
		name string
		ms   float64
	}{{"TTFT", s.TTFT}, {"ITL", s.ITL}, {"E2E", s.E2E}} {
		switch {
		case b.ms >= 1000:
			parts = append(parts, b.name+" "+given(b.ms/1000)+" s")
		case b.ms > 0:
			parts = append(parts, b.name+" "+given(b.ms)+" ms")
		}
	}
	return strings.Join(parts, ", ")
}

func (j *judge) tie() {
	v, m := j.v, j.v.Objective
	v.State, v.Chosen = Tie, v.Default
	v.Headline = "Keep the defaults."
	tied, others := 0, j.candidates()
	for _, p := range others {
		if v.Points[p].Shown == 0 {
			tied++
		}
	}
	v.Evidence = fmt.Sprintf("%s of %s cannot be told apart from the default on %s.", count(tied), plural(len(others), "setting"), j.metrics[m].Title)
	best := v.Best
	if best == v.Default && len(v.Order) > 1 {
		best = v.Order[1]
	}
	if d := &v.Points[best].Diff[m]; best != v.Default && d.OK {
		v.Evidence += fmt.Sprintf(" Best mean%s: %s, %s (%s).", verbIf(best != v.Best, " of the others"), v.Points[best].Knobs, d.Text(j.metrics[m].Unit), j.why(best, d))
		if seen := j.visible(best); seen != "" {
			v.Evidence += " " + seen
		}
	}
	v.Certainty = j.reach()
}

func verbIf(condition bool, text string) string {
	if condition {
		return text
	}
	return ""
}

// why says what keeps a difference from counting.
func (j *judge) why(p int, d *Diff) string {
	unit := j.metrics[j.v.Objective].Unit
	text := "no interval"
	if r := d.Range(unit); r != "" {
		text = "interval " + r
	}
	switch {
	case !d.Shown:
		return text + ", includes 0"
	case j.v.Points[p].Shown == 0:
		return text + ", too near 0 for the best of " + plural(len(j.candidates()), "setting")
	case d.Better < 0:
		return text + ", worse"
	}
	return text + ", smaller than " + given(j.v.Smallest) + verbIf(d.Kind == Relative, " %") + verbIf(d.Kind == Share, " pp")
}

// visible says what effect would have been seen at a point.
func (j *judge) visible(p int) string {
	d := &j.v.Points[p].Diff[j.v.Objective]
	if d.Kind == Plain {
		return ""
	}
	e := j.errors[p]
	strict := 1 - level/2/float64(max(len(j.candidates()), 1))
	least := e.seeds * student(len(j.d.seeds)-1, strict)
	if !math.IsNaN(e.traffic) {
		least = math.Max(least, e.traffic*student(j.blocks.n-1, strict))
	}
	if !(least > 0) || math.IsInf(least, 0) {
		return ""
	}
	unit := map[Kind]string{Relative: "%", Share: "pp"}[d.Kind]
	return fmt.Sprintf("An effect of %s %s or more would have been seen.", fixed(math.Ceil(10*math.Max(least, j.v.Smallest))/10, 1), unit)
}

func (j *judge) keep() {
	v, m := j.v, j.v.Objective
	v.State, v.Chosen = Keep, v.Default
	v.Headline = "Keep the defaults: they are best here."
	worse := j.worse()
	last := worse[len(worse)-1]
	v.Evidence = fmt.Sprintf("%s %s worse; the worst, %s, by %s.", plural(len(worse), "setting"), verb(len(worse), "is", "are"),
		v.Points[last].Knobs, unsigned(v.Points[last].Diff[m].quoted(j.metrics[m].Unit)))
	if n := len(j.candidates()) - len(worse); n > 0 {
		v.Evidence += fmt.Sprintf(" %s cannot be told apart from them.", plural(n, "other"))
	}
	v.Certainty = j.reach()
}

func (j *judge) fewSeeds() {
	v, m := j.v, j.v.Objective
	v.State = FewSeeds
	if v.Chosen != v.Default {
		v.Label = ToTry
	}
	knobs := v.Points[v.Chosen].Knobs
	n := len(j.d.seeds)
	if n >= minGroups {
		v.Headline = fmt.Sprintf("Probably %s; not enough traffic to be sure.", knobs)
		v.Evidence = fmt.Sprintf("Too few blocks of traffic: %s. With fewer than %d blocks no 95 %% statement about traffic holds.", j.blocks.why, minGroups)
	} else {
		v.Headline = fmt.Sprintf("Probably %s; not enough seeds to be sure.", knobs)
		v.Evidence = "One run each: differences cannot be told from chance."
	}
	if d := &v.Points[v.Best].Diff[m]; v.Best != v.Default && d.OK {
		change := fmt.Sprintf("%s %s", v.Points[v.Best].Knobs, d.Text(j.metrics[m].Unit))
		if n > 1 {
			change = fmt.Sprintf("%d of %d seeds point the same way (%s: mean %s).", d.Agree, d.N, v.Points[v.Best].Knobs, d.Text(j.metrics[m].Unit))
		} else {
			change = fmt.Sprintf("Best %s: %s.", j.metrics[m].Title, change)
		}
		if n == 1 || n >= minGroups {
			v.Evidence += " " + change
		} else {
			v.Evidence = change
		}
	} else if n > 1 && n < minGroups {
		v.Evidence = fmt.Sprintf("No setting has a better mean of %s over %d seeds.", j.metrics[m].Title, n)
	}
	if n < minGroups {
		if n > 1 {
			v.Evidence += fmt.Sprintf(" With fewer than %d seeds no 95 %% statement holds.", minGroups)
		}
		v.MoreSeeds = j.moreSeeds()
		v.Evidence += AddSeeds + v.MoreSeeds + " (only the new ones run)."
	}
}

func capital(text string) string {
	if rest, ok := strings.CutPrefix(text, "the "); ok {
		return "The " + rest
	}
	return text
}
