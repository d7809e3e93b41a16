package verdict

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// The shapes and the words of the states.
func (s State) mark() (shape, chip string) {
	switch s {
	case NoResult:
		return "✕", "No result"
	case Overload:
		return "▲", "Overload"
	case SLOMiss:
		return "✕", "SLO missed"
	case Capacity:
		return "◇", "Capacity"
	case Inert:
		return "○", "No effect"
	case FewSeeds:
		return "?", "Not sure"
	case Trade:
		return "⇄", "Trade-off"
	case Win:
		return "✓", "Clear win"
	case Tie:
		return "≈", "No difference shown"
	case Keep:
		return "✓", "Defaults best"
	}
	return "○", "One setting"
}

// conclude finds the state and says what there is to say.
func (j *judge) conclude() {
	j.v.Capacity = j.reading()
	j.setState()
	j.v.Notices = j.notices()
	j.v.Sentences = j.rules()
	j.v.Definitions = j.definitions()
	j.v.Outcome = j.outcomes()
	j.v.Shape, j.v.Chip = j.v.State.mark()
	if j.v.Deltas == nil && j.v.Chosen >= 0 && j.x[j.v.Chosen] != nil && j.d.defaultLoad(j.v.Chosen) {
		j.v.Deltas = j.strip(j.of(j.v.Chosen))
	}
}

// setState takes the first state that fits.
func (j *judge) setState() {
	v := j.v
	finished := slices.DeleteFunc(j.here(), func(p int) bool { return j.x[p] == nil })
	switch {
	case len(finished) == 0 || v.Default < 0 || j.x[v.Default] == nil:
		j.noResult()
	case !slices.ContainsFunc(finished, func(p int) bool { return !j.d.sat[p] }):
		j.overload(finished)
	case len(v.Order) == 0 && len(j.candidates()) > 0:
		j.unknown()
	case len(j.d.live) == 0 && v.Capacity.held():
		j.capacity()
	case j.missed():
		j.sloMiss()
	case len(j.d.load) > 0 && len(j.d.live) == 0:
		j.capacity()
	case len(j.d.live) == 0 && len(j.d.inert) > 0:
		j.inert()
	case len(j.d.live) == 0 || len(j.candidates()) == 0 && len(finished) == 1:
		j.single()
	case len(j.candidates()) == 0:
		j.alone()
	case !j.sure():
		j.fewSeeds()
	case v.Chosen != v.Default:
		j.better(j.of(v.Chosen), j.of)
		v.Rerun = j.rerun()
	case len(j.worse()) > 0 && (v.Best == v.Default || 2*len(j.worse()) > len(j.candidates())):
		j.keep()
	default:
		j.tie()
	}
	j.v.Trust = j.trust()
	j.added()
}

// here lists the points at the default's load that stand for themselves and are
// no references.
func (j *judge) here() (list []int) {
	for p := range j.v.Points {
		if !j.d.reference(p) && j.v.Points[p].Same == p && j.d.defaultLoad(p) {
			list = append(list, p)
		}
	}
	return list
}

func (j *judge) worse() (list []int) {
	for _, p := range j.v.Order {
		if j.v.Points[p].Shown < 0 {
			list = append(list, p)
		}
	}
	return list
}

// missed reports whether a share of requests has to keep the SLO and no valid
// point gets there.
func (j *judge) missed() bool {
	goal := 100 * j.s.SLA.Target
	share := j.d.byName["goodput_share"]
	known := false
	for _, p := range j.v.Order {
		mean := j.v.Points[p].Mean[share]
		if mean >= goal {
			return false
		}
		known = known || !math.IsNaN(mean)
	}
	return goal > 0 && known
}

// rerun lists what to run on fresh seeds: chosen, default, the other point of a
// trade, then the tied points, best first.
func (j *judge) rerun() (list []int) {
	for _, p := range append([]int{j.v.Chosen, j.v.Default, j.v.Alternative}, j.v.Tied...) {
		if p >= 0 && !slices.Contains(list, p) && len(list) < maxRerun {
			list = append(list, p)
		}
	}
	return list
}

func (j *judge) noResult() {
	v := j.v
	v.State, v.Chosen = NoResult, -1
	v.Headline = "No point finished."
	failed, texts := 0, map[string]int{}
	often := ""
	for p := range j.s.Points {
		if text := j.s.Points[p].Error; text != "" {
			failed++
			texts[text]++
			if texts[text] > texts[often] {
				often = text
			}
		}
	}
	if slices.ContainsFunc(j.x, func(x [][]float64) bool { return x != nil }) {
		v.Headline = "The default did not finish: there is nothing to compare with."
	}
	if failed == 0 {
		v.Evidence = "None was run to its end. Nothing below can be compared."
		return
	}
	v.Evidence = fmt.Sprintf("%s failed, most often: “%s”. Nothing below can be compared.", plural(failed, "point"), often)
}

// unknown is for an objective that no point has.
func (j *judge) unknown() {
	v := j.v
	v.State, v.Chosen = NoResult, -1
	v.Headline = "No verdict: no point has a figure for " + j.metrics[v.Objective].Title + "."
	v.Evidence = "Choose another objective"
	if j.metrics[v.Objective].Family == "goodput" {
		v.Evidence = "Give the bounds of an SLO"
	}
	v.Evidence += " for the same runs."
}

// overload estimates from the growth of the queue what the fleet can carry.
func (j *judge) overload(finished []int) {
	v := j.v
	v.State, v.Chosen = Overload, v.Default
	v.Headline = "This fleet cannot carry this load: no router setting helps."
	best, end, growth := -1, 0.0, 0.0
	for _, p := range finished {
		atEnd, perMinute := 0.0, 0.0
		for _, r := range j.d.runs[p] {
			atEnd += r.Queue.AtEnd / float64(len(j.d.runs[p]))
			perMinute += r.Queue.PerMinute / float64(len(j.d.runs[p]))
		}
		if !math.IsNaN(atEnd) && !math.IsNaN(perMinute) && (best < 0 || atEnd < end) {
			best, end, growth = p, atEnd, perMinute
		}
	}
	text := fmt.Sprintf("All %s end with a growing queue", plural(len(finished), "point"))
	if best >= 0 {
		text += fmt.Sprintf(" (best: %s in the system at the last arrival, %s/min)", whole(math.Round(end)), signed(number(growth), growth))
	}
	v.Evidence = text + ". Latencies would depend on the length of the trace. " + j.relief(growth)
}

// relief says how many workers or what rate would do. What leaves the system is
// what comes in less what the queue grows by.
func (j *judge) relief(perMinute float64) string {
	rate := j.arrivalRate()
	served := rate - perMinute/60
	if !(rate > 0) || !(served > 0) || !(served < rate) {
		return "Add workers or lower the rate."
	}
	workers := ""
	if n := baseNumber(j.s, "workers"); n >= 1 && !j.s.Disaggregated() {
		workers = fmt.Sprintf(" (about %s for %s req/s)", whole(math.Ceil(n*rate/served)), number(rate))
	}
	speedup := baseNumber(j.s, "arrival-speedup-ratio")
	if !(speedup > 0) {
		speedup = 1
	}
	return fmt.Sprintf("Add workers%s or lower the rate to %s×.", workers, given(math.Floor(100*speedup*served/rate)/100))
}

// arrivalRate is the mean of what comes in, in requests/s of the run.
func (j *judge) arrivalRate() float64 {
	first, last := math.Inf(1), math.Inf(-1)
	for _, a := range j.s.Requests.ArrivalMS {
		if !math.IsNaN(a) {
			first, last = math.Min(first, a), math.Max(last, a)
		}
	}
	speedup := baseNumber(j.s, "arrival-speedup-ratio")
	if !(speedup > 0) {
		speedup = 1
	}
	return float64(len(j.s.Requests.ArrivalMS)) / ((last - first) / 1000) * speedup
}

func (j *judge) inert() {
	v := j.v
	v.State, v.Chosen = Inert, v.Default
	var names, causes, remedies []string
	values := 0
	for _, a := range j.d.inert {
		axis := &j.s.Axes[a]
		names = append(names, axis.Name)
		causes = append(causes, strings.TrimRight(axis.Inert, "."))
		values = max(values, len(axis.Values))
		if r := strings.TrimRight(axis.Remedy, "."); r != "" && !slices.Contains(remedies, r) {
			remedies = append(remedies, r)
		}
	}
	what := plural(values, "value")
	if len(names) > 1 {
		what = plural(len(j.s.Points), "point")
		for i := range causes {
			causes[i] = names[i] + ": " + causes[i]
		}
	}
	v.Headline = fmt.Sprintf("%s changed nothing: %s, the same %s decisions.", list(names), what, count(j.decisions()))
	v.Evidence = fmt.Sprintf("Cause: %s. This says nothing about %s strength on other traffic.", strings.Join(slices.Compact(causes), "; "), verb(len(names), "its", "their"))
	if len(remedies) > 0 {
		v.Evidence += " To test " + verb(len(names), "it", "them") + ": " + strings.Join(remedies, "; ") + "."
	}
}

// decisions is the number of requests routed in the default point's first run.
func (j *judge) decisions() (n int) {
	for _, w := range j.d.runs[j.v.Default][0].Workers {
		n += int(w.Requests)
	}
	return n
}

func (j *judge) capacity() {
	v := j.v
	v.State, v.Chosen = Capacity, v.Default
	for _, i := range []int{v.Capacity.Smallest, v.Capacity.Fastest} {
		if i >= 0 && v.Capacity.Loads[i].Best >= 0 {
			v.Chosen = v.Capacity.Loads[i].Best
			break
		}
	}
	v.Headline = v.Capacity.Headline
	held := 0
	for i := range v.Capacity.Loads {
		if v.Capacity.Loads[i].Holds {
			held++
		}
	}
	what := j.loadNoun()
	if what == "fleet or load" {
		what = "combination"
	}
	v.Evidence = fmt.Sprintf("%s of %s tried %s.", count(held), plural(len(v.Capacity.Loads), what), verb(held, "holds", "hold"))
}

// loadNoun says what the axes of load vary: the fleet, the load, or both.
func (j *judge) loadNoun() string {
	fleets := 0
	for _, a := range j.d.load {
		if name := j.s.Axes[a].Name; strings.HasSuffix(name, "workers") || name == "profile" || name == "timing" {
			fleets++
		}
	}
	switch fleets {
	case 0:
		return "load"
	case len(j.d.load):
		return "fleet"
	}
	return "fleet or load"
}

func (j *judge) single() {
	v := j.v
	v.State, v.Chosen = Single, v.Default
	v.Headline = "One setting was run; nothing to compare."
	if slices.ContainsFunc(v.Points, func(p Judged) bool { return p.Status == OtherLoad }) {
		v.Headline = "One setting was run at the default's load; nothing to compare there."
	}
	m := v.Objective
	if mean := v.Points[v.Default].Mean[m]; !math.IsNaN(mean) {
		v.Evidence = fmt.Sprintf("%s is %s, over %s.", j.metrics[m].Title, j.u.value(m, mean), plural(len(j.d.seeds), "seed"))
	}
}

// alone is for a default that is the only point to do all of the work.
func (j *judge) alone() {
	v := j.v
	v.State, v.Chosen = Tie, v.Default
	v.Headline = "Keep the defaults."
	counts := map[Status]int{}
	for _, p := range j.here() {
		counts[v.Points[p].Status]++
	}
	var parts []string
	for _, s := range []struct {
		status Status
		text   string
	}{{Failed, "failed"}, {NotRun, "not run to the end"}, {Saturated, "saturated"}, {Incomplete, "completing fewer requests"}} {
		if n := counts[s.status]; n > 0 {
			parts = append(parts, count(n)+" "+s.text)
		}
	}
	v.Evidence = "No other setting did the same work: " + list(parts) + "."
}
