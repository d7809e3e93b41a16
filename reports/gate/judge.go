package gate

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"routesim/reports/format"
	"routesim/reports/sweepdata"
)

// Level is the level of the intervals over seeds. A suite of a few scenarios
// looks at dozens of metrics at each change: at 95 % one of them would seem
// worse by luck every other time.
const Level = 0.999

// enoughSeeds is the number of seeds from which the interval is narrow enough to
// rely on: with fewer, Student's t is far from the normal distribution.
const enoughSeeds = 6

// Judge compares what the scenarios of a suite gave with a baseline. now has an
// outcome per scenario, in the suite's order.
func Judge(s *Suite, base *Baseline, now []Outcome, version string, o Options) *Report {
	r := &Report{
		Suite: s.File, Before: "baseline", After: "now", VersionBefore: base.Version, VersionAfter: version,
	}
	if o.Before != "" {
		r.Before = o.Before
	}
	if o.After != "" {
		r.After = o.After
	}
	j := &judge{options: o, base: base, metrics: sweepdata.Metrics()}
	for i := range now {
		res := j.scenario(&s.Scenarios[i], &now[i])
		r.Scenarios = append(r.Scenarios, res)
		r.Verdict = max(r.Verdict, res.Verdict)
	}
	for i := range base.Outcomes {
		if o.Partial {
			break
		}
		name := base.Outcomes[i].Name
		if !slices.ContainsFunc(s.Scenarios, func(x Scenario) bool { return x.Name == name }) {
			r.Notes = append(r.Notes, fmt.Sprintf("The baseline holds the scenario %s, which the suite does not have; an update drops it.", name))
		}
	}
	if base.Version != version {
		was, is := "The baseline", "this"
		if o.Before != "" {
			was, is = r.Before, r.After
		}
		r.Notes = append(r.Notes, fmt.Sprintf("%s is of routesim %s, %s is of %s.", was, base.Version, is, version))
	}
	r.Notes = append(r.Notes, j.standings(r, now)...)
	r.finish(o)
	return r
}

// standings say which routers decided and what of them is not checked against
// Dynamo, of each side where both are known and differ.
func (j *judge) standings(r *Report, now []Outcome) []string {
	after := Standings(now)
	before := after
	if j.options.Before != "" { // results that were kept: a baseline does not know
		before = Standings(j.base.Outcomes)
	}
	if slices.Equal(before, after) {
		return after
	}
	var out []string
	for _, text := range before {
		out = append(out, r.Before+": "+text)
	}
	for _, text := range after {
		out = append(out, r.After+": "+text)
	}
	return out
}

// Standings say of outcomes which routers are live ones, and what of them is not
// checked against Dynamo: each text once, with the scenarios it is true of unless
// it is true of all.
func Standings(list []Outcome) (out []string) {
	for _, of := range []func(*Outcome) string{
		func(o *Outcome) string {
			if o.Semantics == "" {
				return ""
			}
			return "Router semantics: " + o.Semantics + "."
		},
		func(o *Outcome) string { return o.Unchecked },
	} {
		var texts []string
		names := map[string][]string{}
		for i := range list {
			if text := of(&list[i]); text != "" {
				if names[text] == nil {
					texts = append(texts, text)
				}
				names[text] = append(names[text], list[i].Name)
			}
		}
		for _, text := range texts {
			if who := names[text]; len(who) < len(list) {
				text = strings.Join(who, ", ") + ": " + text
			}
			out = append(out, text)
		}
	}
	return out
}

// Missing is the report where there is nothing to compare with.
func Missing(s *Suite, problem, version string, o Options) *Report {
	r := &Report{Verdict: Invalid, Suite: s.File, Before: "baseline", After: "now", VersionAfter: version, Problem: problem}
	r.finish(o)
	return r
}

// finish sets exit code and advice.
func (r *Report) finish(o Options) {
	r.Code = r.Verdict.ExitCode()
	improved := false
	for i := range r.Scenarios {
		improved = improved || len(r.Scenarios[i].Improved) > 0
	}
	allowed := r.Verdict == BehaviourChanged && o.AllowBehaviourChange
	if allowed {
		r.Code = 0
	}
	if o.Update == "" {
		return
	}
	switch {
	case r.Problem != "":
		r.Advice = append(r.Advice, "Write one: "+o.Update)
	case r.Verdict == Invalid:
		r.Advice = append(r.Advice, "Mend what is invalid, or write the baseline anew where it no longer fits: "+o.Update)
	case r.Verdict == BehaviourChanged && improved:
		r.Advice = append(r.Advice, "Something got better beyond its tolerance. To keep it, run --update: "+o.Update)
	case allowed:
		r.Advice = append(r.Advice, "Changes of behaviour are allowed here. To record this one, run --update: "+o.Update)
	case r.Verdict == BehaviourChanged:
		r.Advice = append(r.Advice, "If the change is meant, run --update: "+o.Update)
	case improved:
		r.Advice = append(r.Advice, "Something got better beyond its tolerance. To keep it, run --update: "+o.Update)
	}
}

// judge compares scenario by scenario.
type judge struct {
	options Options
	base    *Baseline
	metrics []sweepdata.Metric
}

func (j *judge) scenario(s *Scenario, now *Outcome) Result {
	res := Result{Name: s.Name, Line: s.Line, Trace: now.Trace, Seeds: s.Seeds}
	at := slices.IndexFunc(j.base.Outcomes, func(o Outcome) bool { return o.Name == s.Name })
	switch {
	case now.Problem != "":
		res.Problems = append(res.Problems, "The scenario cannot be run: "+now.Problem)
	case at < 0:
		res.Problems = append(res.Problems, fmt.Sprintf("There is no such scenario in %s.", j.beforeName()))
	}
	if len(res.Problems) > 0 {
		res.Verdict = Invalid
		return res
	}
	before := &j.base.Outcomes[at]
	if res.Problems = j.unlike(s, before, now); len(res.Problems) > 0 {
		res.Verdict = Invalid
		return res
	}
	res.Changes = append(changes(before.Settings, now.Settings, ""), changes(before.Profiles, now.Profiles, "profile ")...)
	if res.Problems = incomplete(before, now); len(res.Problems) > 0 {
		res.Verdict = Regression
	} else {
		j.compare(&res, s, before, now)
	}
	j.decisions(&res, before, now)
	if len(res.ChangedSeeds) > 0 {
		res.Verdict = max(res.Verdict, BehaviourChanged)
	}
	return res
}

// unlike says what makes a comparison unfair.
func (j *judge) unlike(s *Scenario, before, now *Outcome) (out []string) {
	differ := func(what, a, b string) {
		if a != b {
			out = append(out, fmt.Sprintf("%s: found %s, expected %s as in %s.", what, quote(b), quote(a), j.beforeName()))
		}
	}
	differ("Trace", before.Trace.Digest, now.Trace.Digest)
	differ("Load", before.Load, now.Load)
	goodput := false
	for _, c := range s.Checks {
		m := &j.metrics[c.Metric]
		goodput = goodput || m.Family == "goodput"
		out = append(out, j.defined(m.Name, definition(m))...)
	}
	out = append(out, j.defined("decisions", decisionsDefinition)...)
	if goodput {
		differ("SLA of goodput", before.SLA, now.SLA)
	}
	var a, b []string
	for i := range before.Runs {
		a = append(a, fmt.Sprint(before.Runs[i].Seed))
	}
	for _, seed := range s.Seeds {
		b = append(b, fmt.Sprint(seed))
	}
	differ("Seeds", strings.Join(a, " "), strings.Join(b, " "))
	return out
}

// beforeName names the earlier side.
func (j *judge) beforeName() string {
	if j.options.Before != "" {
		return j.options.Before
	}
	return "the baseline"
}

// defined says whether a metric means what it meant.
func (j *judge) defined(name, text string) []string {
	for _, d := range j.base.Definitions {
		switch {
		case d.Name != name:
		case d.Text == text:
			return nil
		default:
			return []string{fmt.Sprintf("Definition of %s: found %q, expected %q as in %s.", name, text, d.Text, j.beforeName())}
		}
	}
	return []string{fmt.Sprintf("There is no figure of %s in %s.", name, j.beforeName())}
}

// changes lists what differs between two lists of values.
func changes(before, after []Value, prefix string) (out []Value) {
	of := func(list []Value, name string) (string, bool) {
		for _, v := range list {
			if v.Name == name {
				return v.Text, true
			}
		}
		return "default", false
	}
	short := func(text string) string {
		if prefix != "" && len(text) > 12 {
			return text[:12]
		}
		return text
	}
	for _, b := range after {
		if a, _ := of(before, b.Name); a != b.Text {
			if prefix != "" && a == "default" {
				a = "none"
			}
			out = append(out, Value{prefix + b.Name, short(a) + " -> " + short(b.Text)})
		}
	}
	for _, a := range before {
		if _, ok := of(after, a.Name); !ok {
			b := "default"
			if prefix != "" {
				b = "none"
			}
			out = append(out, Value{prefix + a.Name, short(a.Text) + " -> " + b})
		}
	}
	return out
}

// incomplete says which runs served fewer requests than they should.
func incomplete(before, now *Outcome) (out []string) {
	for i := range now.Runs {
		c := &now.Runs[i].Counts
		if c.Complete() || !before.Runs[i].Counts.Complete() && c.Completed >= before.Runs[i].Counts.Completed {
			continue
		}
		out = append(out, fmt.Sprintf("Seed %d: %s of %s completed; %s. Latencies are not compared.",
			now.Runs[i].Seed, format.Count(c.Completed), format.Plural(c.Requests, "request"), c.short()))
	}
	return out
}

// compare judges metrics and bounds.
func (j *judge) compare(res *Result, s *Scenario, before, now *Outcome) {
	var unshown []string
	for _, c := range s.Checks {
		row := j.row(c, before, now)
		res.Rows = append(res.Rows, row)
		switch row.State {
		case Worse:
			res.Verdict = max(res.Verdict, Regression)
		case Unlike:
			res.Verdict = Invalid
			res.Problems = append(res.Problems, fmt.Sprintf("%s has a figure on one side only.", row.Title))
		case Better:
			res.Improved = append(res.Improved, row.Name)
		case Unshown:
			unshown = append(unshown, row.Title)
		}
	}
	if n := len(s.Seeds); len(unshown) > 0 && n < enoughSeeds {
		res.Notes = append(res.Notes, fmt.Sprintf("%s moved beyond the tolerance, which %d seeds cannot tell from luck: use %d or more.",
			strings.Join(unshown, ", "), n, enoughSeeds))
	}
	for _, b := range s.Bounds {
		m := &j.metrics[b.Metric]
		row := BoundRow{Name: m.Name, Title: m.Title, Unit: m.Unit, Value: meanAt(now, b.Metric), Bound: b}
		switch {
		case math.IsNaN(row.Value):
			row.State = NoFigure
			res.Verdict = Invalid
			res.Problems = append(res.Problems, fmt.Sprintf("The bound on %s cannot be checked: there is no figure.", m.Title))
		case row.Value > b.AtMost || row.Value < b.AtLeast:
			row.State = Worse
			res.Verdict = max(res.Verdict, Regression)
		}
		res.Bounds = append(res.Bounds, row)
	}
}

// meanAt is the mean of a metric over the runs of an outcome.
func meanAt(o *Outcome, metric int) float64 {
	sum := 0.0
	for i := range o.Runs {
		sum += o.Runs[i].Values[metric]
	}
	return sum / float64(len(o.Runs))
}

// row compares one metric.
func (j *judge) row(c Check, before, now *Outcome) Row {
	m := &j.metrics[c.Metric]
	row := Row{
		Metric: c.Metric, Name: m.Name, Title: m.Title, Unit: m.Unit, Tolerance: c.Tolerance, Direction: c.Direction,
		Before: meanAt(before, c.Metric), After: meanAt(now, c.Metric),
	}
	var d []float64
	for i := range now.Runs {
		d = append(d, now.Runs[i].Values[c.Metric]-before.Runs[i].Values[c.Metric])
	}
	for _, v := range d {
		row.Change += v / float64(len(d))
	}
	row.Lo, row.Hi = paired(d, Level)
	switch {
	case math.IsNaN(row.Before) && math.IsNaN(row.After):
		row.State = NoFigure
	case math.IsNaN(row.Before) || math.IsNaN(row.After):
		row.State = Unlike
	default:
		row.State = row.judge()
	}
	return row
}

// judge says what a change means.
func (r *Row) judge() State {
	allowed := r.Tolerance.Value
	if r.Tolerance.Relative {
		allowed = float64(r.Tolerance.Value * math.Abs(r.Before))
	}
	switch {
	case r.Direction == Info:
		return Shown
	case math.Abs(r.Change) <= allowed:
		return Within
	case r.Lo <= 0 && r.Hi >= 0: // false without an interval
		return Unshown
	case r.Direction == Same || (r.Change > 0) == (r.Direction == Lower):
		return Worse
	}
	return Better
}
