package verdict

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// mostLoads is how many loads are listed.
const mostLoads = 12

// describe puts the reading into words.
func (j *judge) describe(r *Reading) {
	var heads []string
	if j.loadAxis(workersAxis) {
		heads = append(heads, j.fleets(r))
	}
	if i := j.leastGPUs(r); i >= 0 {
		heads = append(heads, fmt.Sprintf("Of the pools tried, the fewest GPUs that %s: %s.", j.served(false), j.fleetText(&r.Loads[i])))
	}
	if j.loadAxis(rateAxis) {
		heads = append(heads, j.fastest(r))
	}
	if len(heads) == 0 {
		heads = append(heads, "Only the load or the machines were varied: compare the readings.")
	}
	r.Headline = strings.Join(heads, " ")
	for i := range r.Loads {
		if i == mostLoads {
			r.Text = append(r.Text, fmt.Sprintf("%s in the table of points.", capital("the rest")))
			break
		}
		r.Text = append(r.Text, j.loadText(&r.Loads[i]))
	}
}

// served says what a fleet that holds does.
func (j *judge) served(one bool) string {
	if j.s.SLA.Target > 0 {
		return fmt.Sprintf("serve%s %s %% of requests within %s", verbIf(one, "s"), given(100*j.s.SLA.Target), j.slo())
	}
	return "keep" + verbIf(one, "s") + " up with"
}

// fleets names the smallest fleet that holds at each rate, neighbouring rates
// with the same fleet together.
func (j *judge) fleets(r *Reading) string {
	var rates []float64
	for i := range r.Loads {
		if l := &r.Loads[i]; j.plain(l, workersAxis, rateAxis) && !slices.Contains(rates, l.Rate) {
			rates = append(rates, l.Rate)
		}
	}
	slices.Sort(rates)
	type answer struct {
		fleet    string
		smallest bool // of those tried
		from, to float64
	}
	var answers []answer
	found := false
	for _, rate := range rates {
		asked := func(l *Load) bool { return l.Rate == rate && j.plain(l, workersAxis, rateAxis) }
		a := answer{fleet: "none tried", from: rate, to: rate}
		if i := j.holding(r, workersAxis, fewest, asked); i >= 0 {
			found = true
			a.fleet = j.fleetText(&r.Loads[i])
			a.smallest = !slices.ContainsFunc(r.Loads, func(o Load) bool { return asked(&o) && o.Workers < r.Loads[i].Workers })
		}
		if n := len(answers); n > 0 && answers[n-1].fleet == a.fleet {
			answers[n-1].to = rate
			continue
		}
		answers = append(answers, a)
	}
	what := j.served(true)
	if j.s.SLA.Target == 0 {
		what += " this load"
	}
	if !found {
		return "No fleet tried " + what + "."
	}
	var parts []string
	for i, a := range answers {
		text := a.fleet
		if len(rates) > 1 {
			text += " at " + given(a.from) + "×"
			if a.to > a.from {
				text += " to " + given(a.to) + "×"
			}
			text += verbIf(i == 0, " the rate")
		}
		parts = append(parts, text+verbIf(a.smallest, " (the smallest tried)"))
	}
	return fmt.Sprintf("Smallest fleet that %s: %s.", what, strings.Join(parts, "; "))
}

// fleetText is a fleet with its GPUs: 24 workers × 4 H100 = 96 GPUs.
func (j *judge) fleetText(l *Load) string {
	name := l.Name
	if j.loadAxis(workersAxis) && !math.IsNaN(l.Workers) {
		name = plural(int(l.Workers), "worker")
		if n := int(l.Workers); l.GPUs > 0 && l.GPUs%n == 0 && j.s.GPUName() != "" && !j.loadAxis("profile") && !j.s.Disaggregated() {
			return fmt.Sprintf("%s × %d %s = %s", name, l.GPUs/n, j.s.GPUName(), plural(l.GPUs, "GPU"))
		}
	}
	return name + gpuText(l)
}

// gpuText is the number of GPUs in brackets, "" where it is not known.
func gpuText(l *Load) string {
	if l.GPUs == 0 {
		return ""
	}
	return " (" + plural(l.GPUs, "GPU") + ")"
}

// leastGPUs is the place of the load with the fewest GPUs that holds at the
// default's load, where the sizes of pools were varied; -1 for none.
func (j *judge) leastGPUs(r *Reading) int {
	least := -1
	if !j.loadAxis("prefill-workers") && !j.loadAxis("decode-workers") {
		return least
	}
	for i := range r.Loads {
		l := &r.Loads[i]
		if l.Holds && l.GPUs > 0 && j.plain(l, "prefill-workers", "decode-workers") && (least < 0 || l.GPUs < r.Loads[least].GPUs) {
			least = i
		}
	}
	return least
}

// fastest names the highest rate that the default's fleet holds.
func (j *judge) fastest(r *Reading) string {
	fleet, one := "This fleet", true
	if j.s.Disaggregated() {
		fleet, one = j.s.WorkersText(), false
	} else if n := baseNumber(j.s, workersAxis); n >= 1 {
		fleet, one = plural(int(n), "worker"), n == 1
	}
	hold, never := "hold"+verbIf(one, "s"), "at no rate tried"
	if !j.loadAxis(workersAxis) { // no other sentence says what holding is
		hold = j.served(one)
		if j.s.SLA.Target == 0 {
			never = "no rate tried"
		}
	}
	if r.Fastest < 0 {
		return fmt.Sprintf("%s %s %s.", fleet, hold, never)
	}
	l := &r.Loads[r.Fastest]
	highest := !slices.ContainsFunc(r.Loads, func(o Load) bool { return j.plain(&o, rateAxis) && o.Rate > l.Rate })
	return fmt.Sprintf("%s %s up to %s× the rate%s.", fleet, hold, given(l.Rate), verbIf(highest, " (the highest tried)"))
}

// loadText is one load in a sentence.
func (j *judge) loadText(l *Load) string {
	text := l.Name + gpuText(l) + ": "
	if l.Saturated {
		return text + "the queue grows to the end."
	}
	var parts []string
	if !math.IsNaN(l.TTFT) {
		parts = append(parts, "TTFT p90 "+j.u.value(j.d.byName["p90_ttft_ms"], l.TTFT))
	}
	if !math.IsNaN(l.ITL) {
		parts = append(parts, "ITL p90 "+j.u.value(j.d.byName["p90_itl_ms"], l.ITL))
	}
	if !math.IsNaN(l.Within) {
		parts = append(parts, kept(l.Within)+" % within the SLO")
	}
	if l.Best >= 0 && j.v.Points[l.Best].Changes > 0 {
		q := &j.v.Points[l.Best]
		if d := &q.Diff[j.v.Objective]; d.OK && d.Better > 0 {
			parts = append(parts, fmt.Sprintf("best with %s (%s against the defaults at this load)", q.Knobs, d.Text(j.metrics[j.v.Objective].Unit)))
		}
	}
	if len(parts) == 0 {
		return text + "no run that can be compared."
	}
	return text + strings.Join(parts, ", ") + "."
}

func capitalFirst(text string) string {
	if text == "" {
		return text
	}
	return strings.ToUpper(text[:1]) + text[1:]
}
