package verdict

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"routesim/reports/sweepdata"
)

const (
	creditAxis = "router-kv-overlap-score-credit"
	scaleAxis  = "router-prefill-load-scale"
	ruleTTFT   = "p90_ttft_ms"
	ruleITL    = "p90_itl_ms"
)

// rules says of each rule of thumb for tuning whether it held here.
func (j *judge) rules() []Sentence {
	if j.v.Default < 0 || j.x[j.v.Default] == nil {
		return nil
	}
	return []Sentence{
		j.raiseCredit(), j.lowerCredit(), j.raiseScale(), j.lowerScale(), j.leaveScale(),
	}
}

// stop is a point on the line along one axis, all else at the default.
type stop struct {
	point int
	value float64
	text  string
}

// line lists the points along an axis by value, with why there are none.
func (j *judge) line(axis string) (stops []stop, why string) {
	a := slices.IndexFunc(j.s.Axes, func(x sweepdata.Axis) bool { return x.Name == axis })
	switch {
	case a < 0:
		return nil, "no run varied " + axis + "."
	case j.s.Axes[a].Inert != "":
		return nil, fmt.Sprintf("no decision changed with %s: %s.", axis, strings.TrimRight(j.s.Axes[a].Inert, "."))
	}
	for _, p := range j.here() {
		status := j.v.Points[p].Status
		if status != Valid && p != j.v.Default {
			continue
		}
		others := slices.DeleteFunc(slices.Clone(j.d.live), func(b int) bool { return b == a })
		x := numberOf(j.s.Points[p].Values[a])
		if j.d.agree(p, j.v.Default, others) && !math.IsNaN(x) {
			stops = append(stops, stop{p, x, j.s.Points[p].Values[a]})
		}
	}
	slices.SortStableFunc(stops, func(a, b stop) int {
		switch {
		case a.value < b.value:
			return -1
		case a.value > b.value:
			return 1
		}
		return a.point - b.point
	})
	switch {
	case len(stops) < 2:
		return stops, fmt.Sprintf("no two values of %s were run with all else at the default.", axis)
	case len(j.d.seeds) < minGroups:
		return stops, j.unsure()
	}
	return stops, ""
}

// between is the difference of a metric from one point to another.
func (j *judge) between(metric string, from, to int) *Diff {
	d, _ := newWorker(j).compare(j.d.byName[metric], to, from)
	return &d
}

// say writes a difference for evidence.
func (j *judge) say(metric string, d *Diff) string {
	m := &j.metrics[j.d.byName[metric]]
	text := m.Title + " " + d.quoted(m.Unit)
	if d.OK && !d.Shown {
		text += ", no difference shown"
	}
	return text
}

// unsure is why nothing is shown with as few seeds.
func (j *judge) unsure() string {
	return fmt.Sprintf("with fewer than %d seeds no difference can be shown.", minGroups)
}

func (j *judge) untested(text, why string) Sentence {
	if why == j.unsure() {
		return Sentence{Text: text, Held: NotShown, Evidence: capitalFirst(why)}
	}
	return Sentence{Text: text, Held: NotTested, Evidence: capitalFirst(why)}
}

// price says what another latency pays for a step, "" where none is shown.
func (j *judge) price(metric string, from, to int) string {
	d := j.between(metric, from, to)
	if d.Better >= 0 {
		return ""
	}
	return "; but " + j.say(metric, d)
}

func held(yes bool) Held {
	if yes {
		return Holds
	}
	return HoldsNot
}

func (j *judge) raiseCredit() Sentence {
	const text = "Raise the overlap credit to lower TTFT."
	stops, why := j.line(creditAxis)
	if why != "" {
		return j.untested(text, why)
	}
	from, to := stops[0], stops[j.documented(stops, creditAxis)]
	if from.point == to.point {
		return j.untested(text, "only one documented value of "+creditAxis+" was run with all else at the default.")
	}
	d := j.between(ruleTTFT, from.point, to.point)
	return Sentence{
		Text: text, Held: held(d.Better > 0), Points: []int{from.point, to.point},
		Evidence: fmt.Sprintf("From %s to %s: %s%s.", from.text, to.text, j.say(ruleTTFT, d), j.price(ruleITL, from.point, to.point)),
	}
}

func (j *judge) lowerCredit() Sentence {
	const text = "Lower the overlap credit to spread load and lower ITL."
	stops, why := j.line(creditAxis)
	if why != "" {
		return j.untested(text, why)
	}
	from, to := stops[j.documented(stops, creditAxis)], stops[0]
	if from.point == to.point {
		return j.untested(text, "only one documented value of "+creditAxis+" was run with all else at the default.")
	}
	itl := j.between(ruleITL, from.point, to.point)
	load := j.between("imbalance_busy", from.point, to.point)
	return Sentence{
		Text: text, Held: held(itl.Better > 0 && load.Better >= 0), Points: []int{from.point, to.point},
		Evidence: fmt.Sprintf("From %s to %s: %s; %s%s.%s", from.text, to.text, j.say(ruleITL, itl), j.say("imbalance_busy", load),
			j.price(ruleTTFT, from.point, to.point), halves(itl.Better > 0, load.Better >= 0)),
	}
}

// halves says which half of the sentence on the credit failed.
func halves(itl, load bool) string {
	switch {
	case itl && load:
		return ""
	case itl:
		return " ITL was lowered, but load was not spread."
	case load:
		return " The half on ITL failed: it was not lowered."
	}
	return " Both halves failed."
}

// documented is the place of the highest value that is documented, the last one
// where there is no bound.
func (j *judge) documented(stops []stop, axis string) int {
	a := slices.IndexFunc(j.s.Axes, func(x sweepdata.Axis) bool { return x.Name == axis })
	last := 0
	for i := range stops {
		if !(stops[i].value > j.s.Axes[a].Documented) {
			last = i
		}
	}
	return last
}

// pickOf returns, of some points, the best in a metric against a base, and its
// difference, which counts as shown only if it would for the best of as many.
func (j *judge) pickOf(metric string, base int, stops []stop) (best stop, d *Diff) {
	m := j.d.byName[metric]
	w := newWorker(j)
	for i, s := range stops {
		diff, e := w.compare(m, s.point, base)
		if diff.Better != 0 && j.chance(&diff, e)*float64(len(stops)) >= level {
			diff.Better, diff.Shown = 0, false
		}
		if i == 0 || diff.OK && (diff.Mean-d.Mean)*float64(j.metrics[m].Better) > 0 {
			best, d = s, &diff
		}
	}
	return best, d
}

// base is the stop of the default point.
func (j *judge) baseStop(stops []stop) stop {
	i := slices.IndexFunc(stops, func(s stop) bool { return s.point == j.v.Default })
	if i < 0 {
		return stop{point: -1}
	}
	return stops[i]
}

// beyond are the stops on one side of a value.
func beyond(stops []stop, value float64, above bool) (out []stop) {
	for _, s := range stops {
		if s.value != value && (s.value > value) == above {
			out = append(out, s)
		}
	}
	return out
}

func (j *judge) raiseScale() Sentence {
	const text = "Raise the prefill scale when long prompts saturate workers."
	stops, why := j.line(scaleAxis)
	if why != "" {
		return j.untested(text, why)
	}
	base := j.baseStop(stops)
	above := beyond(stops, base.value, true)
	if base.point < 0 || len(above) == 0 {
		return j.untested(text, "no value above the default was run with all else at the default.")
	}
	best, d := j.pickOf(ruleTTFT, base.point, above)
	evidence := fmt.Sprintf("From %s to %s: %s%s", base.text, best.text, j.say(ruleTTFT, d), j.price(ruleITL, base.point, best.point))
	points := []int{base.point, best.point}
	if waiting, known := j.mostWaiting(); known && waiting == 0 {
		return Sentence{Text: text, Held: NotTested, Points: points, Evidence: "No worker ever left a request waiting, so nothing saturates here. " + evidence + "."}
	} else if known {
		evidence += fmt.Sprintf("; up to %s waited at a worker", plural(int(waiting), "request"))
	}
	return Sentence{Text: text, Held: held(d.Better > 0), Points: points, Evidence: fmt.Sprintf("%s; the longest tenth of the prompts brings %s %% of their tokens.", evidence, fixed(100*longShare(j.s.Requests.InputTokens), 1))}
}

// mostWaiting is the most requests that a worker left waiting at the default.
func (j *judge) mostWaiting() (most int64, known bool) {
	i := sweepdata.CounterIndex("peak_waiting")
	for _, r := range j.d.runs[j.v.Default] {
		if i >= 0 && i < len(r.Counters) {
			most, known = max(most, r.Counters[i]), true
		}
	}
	return most, known
}

// longShare is the share of all prompt tokens in the longest tenth of the
// prompts.
func longShare(tokens []int32) float64 {
	sorted := slices.Clone(tokens)
	slices.Sort(sorted)
	long, all := 0.0, 0.0
	for i, n := range sorted {
		all += float64(n)
		if 10*i >= 9*len(sorted) {
			long += float64(n)
		}
	}
	if all == 0 {
		return 0
	}
	return long / all
}

func (j *judge) lowerScale() Sentence {
	const text = "Lower the prefill scale when decode dominates."
	stops, why := j.line(scaleAxis)
	if why != "" {
		return j.untested(text, why)
	}
	base := j.baseStop(stops)
	below := beyond(stops, base.value, false)
	if base.point < 0 || len(below) == 0 {
		return j.untested(text, "no value below the default was run with all else at the default.")
	}
	best, d := j.pickOf(ruleITL, base.point, below)
	points := []int{base.point, best.point}
	evidence := fmt.Sprintf("From %s to %s: %s%s", base.text, best.text, j.say(ruleITL, d), j.price(ruleTTFT, base.point, best.point))
	mean := j.v.Points[j.v.Default].Mean
	share := 1 - mean[j.d.byName["mean_ttft_ms"]]/mean[j.d.byName["mean_e2e_ms"]]
	if math.IsNaN(share) {
		return Sentence{Text: text, Held: NotTested, Points: points, Evidence: "How long requests decode is not known. " + evidence + "."}
	}
	spent := fmt.Sprintf("requests spend %s %% of their time after the first token", fixed(100*share, 1))
	if share < 0.5 {
		return Sentence{Text: text, Held: NotTested, Points: points, Evidence: fmt.Sprintf("Decode does not dominate: %s. %s.", spent, evidence)}
	}
	return Sentence{Text: text, Held: held(d.Better > 0), Points: points, Evidence: fmt.Sprintf("%s; %s.", evidence, spent)}
}

func (j *judge) leaveScale() Sentence {
	const text = "Most deployments should leave the prefill scale at 1.0."
	stops, why := j.line(scaleAxis)
	if why != "" {
		return j.untested(text, why)
	}
	i := slices.IndexFunc(stops, func(s stop) bool { return s.value == 1 })
	if i < 0 {
		return j.untested(text, "1 was not run with all else at the default.")
	}
	one := stops[i]
	metric := j.metrics[j.v.Objective].Name
	best, d := j.pickOf(metric, one.point, slices.Delete(slices.Clone(stops), i, i+1))
	better := d.Better > 0 && j.enough(d)
	word := "Best other value"
	if better {
		word = "Better"
	}
	return Sentence{
		Text: text, Held: held(!better), Points: []int{one.point, best.point},
		Evidence: fmt.Sprintf("%s: %s, %s.", word, best.text, j.say(metric, d)),
	}
}
