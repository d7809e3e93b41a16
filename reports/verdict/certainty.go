package verdict

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"routesim/models/profile"
	"routesim/reports"
)

func numberOf(text string) float64 {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return math.NaN()
	}
	return v
}

// certainty says what the gain that is quoted rests on.
func (j *judge) certainty(d *Diff) string {
	var parts []string
	if j.v.Confirmed {
		parts = append(parts, fmt.Sprintf("These figures come from %s, run after the choice was made.", plural(d.N, "fresh seed")))
	} else {
		parts = append(parts, fmt.Sprintf("It was picked as the best of %s, which makes it look better than it is until it is run again on fresh seeds.", plural(len(j.v.Order), "point")))
	}
	parts = append(parts, j.covers(d)+j.quarterText()+".")
	return strings.Join(parts, " ")
}

// covers says which interval is quoted.
func (j *judge) covers(d *Diff) string {
	switch {
	case !d.Traffic.OK:
		return fmt.Sprintf("The interval covers the router's random choices, not another day's traffic (no interval over traffic: %s)", j.v.NoTraffic[j.v.Objective])
	case d.Interval == d.Traffic:
		return fmt.Sprintf("The interval is the one over traffic (blocks of %s), which is wider than that over the router's random choices; it does not cover another day's traffic", j.blocks.name())
	}
	return fmt.Sprintf("The interval is the one over the router's random choices, which is wider than that over traffic (blocks of %s); it does not cover another day's traffic", j.blocks.name())
}

func (j *judge) quarterText() string {
	if !j.v.Quarters.Known {
		return ""
	}
	return fmt.Sprintf("; the sign holds in %d of 4 quarters of the trace", j.v.Quarters.Held)
}

// quartersOf counts the quarters of the trace in which a point differs from the
// default as it does over all.
func (j *judge) quartersOf(f *figures) (q Quarters) {
	if j.slot[j.v.Objective] < 0 || f.point == j.v.Default {
		return q
	}
	q.Known = true
	for k := range 4 {
		diff := j.quarters[f.point][k] - j.quarters[j.v.Default][k]
		if math.IsNaN(diff) {
			return Quarters{}
		}
		if diff*f.diff[j.v.Objective].Mean > 0 {
			q.Held++
		}
	}
	return q
}

// reach says what intervals a verdict for the defaults rests on.
func (j *judge) reach() string {
	text := fmt.Sprintf("Over %s", plural(len(j.d.seeds), "seed"))
	if j.slot[j.v.Objective] >= 0 {
		return text + fmt.Sprintf(" and %s of traffic (%s); not another day's traffic.", plural(j.blocks.n, "block"), j.blocks.name())
	}
	return text + fmt.Sprintf("; not over traffic: %s.", j.v.NoTraffic[j.v.Objective])
}

// trust says how good the model of the workers is.
func (j *judge) trust() string {
	var parts []string
	for i := range j.s.Profiles {
		p := &j.s.Profiles[i]
		text := "Worker model " + p.ID + ": never compared with servers."
		if e := p.HeldOut; e != nil {
			text = fmt.Sprintf("Worker model %s: median error against servers TTFT %s %%, TPOT %s %% (%s).", p.ID, given(e.TTFT[0]), given(e.TPOT[0]), HeldOutRuns(p))
		}
		if !slices.Contains(parts, text) {
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, " ")
}

// HeldOutRuns says which runs of servers the error of a worker model is over:
// those that its calibration left out, or all of them, each by numbers fitted to
// the other half; and of what they were.
func HeldOutRuns(f *reports.ProfileFacts) string {
	of := ""
	if f.Runs != "" {
		of = " of " + f.Runs
	}
	list, err := profile.Calibrations()
	if err == nil && strings.Contains(list[f.Calibration].Note, "two-fold cross-validation") {
		return plural(f.HeldOut.Runs, "run") + of + ", two-fold cross-validation"
	}
	return plural(f.HeldOut.Runs, "held-out run") + of
}

// modelError is the largest known error in % of the latency that is judged, 0
// where none is known.
func (j *judge) modelError() (worst float64) {
	for i := range j.s.Profiles {
		e := j.s.Profiles[i].HeldOut
		if e == nil {
			continue
		}
		switch j.metrics[j.v.Objective].Family {
		case "ttft":
			worst = math.Max(worst, e.TTFT[0])
		case "itl", "tpot":
			worst = math.Max(worst, e.TPOT[0])
		default:
			worst = math.Max(worst, math.Max(e.TTFT[0], e.TPOT[0]))
		}
	}
	return worst
}

// added are the sentences that any state may have.
func (j *judge) added() {
	v := j.v
	v.Added = nil
	if v.Chosen < 0 || v.Chosen >= len(j.s.Points) || v.State == NoResult {
		return
	}
	add := func(format string, args ...any) { v.Added = append(v.Added, fmt.Sprintf(format, args...)) }
	if v.Chosen != v.Default {
		for _, a := range j.atEdge(v.Chosen) {
			add("The best value of %s is the last one tried (%s): widen the range.", j.s.Axes[a].Name, j.s.Points[v.Chosen].Values[a])
		}
	}
	for a := range j.s.Axes {
		axis := &j.s.Axes[a]
		if x := numberOf(j.s.Points[v.Chosen].Values[a]); x > axis.Documented {
			add("%s above %s is accepted by Dynamo but not documented.", axis.Name, given(axis.Documented))
		}
	}
	if v.Chosen == v.Default || j.x[v.Chosen] == nil || !j.d.defaultLoad(v.Chosen) {
		j.addReference(add)
		return
	}
	d := &v.Points[v.Chosen].Diff[v.Objective]
	for _, row := range v.Deltas {
		if row.Metric == v.Objective {
			d = &row.Diff
		}
	}
	if e := j.modelError(); e > 0 && d.OK && d.Kind == Relative && e > math.Abs(d.Mean) {
		add("Profile error %s %%: larger than the gain, so trust the direction, not the size.", given(e))
	}
	m := j.d.byName["completed"]
	if a, b := v.Points[v.Default].Mean[m], v.Points[v.Chosen].Mean[m]; a != b {
		add("Different numbers of requests completed (%s and %s): latencies are not of the same work.", whole(a), whole(b))
	}
	if j.d.sat[v.Default] {
		add("The queue of the default grows to the end of the trace: its latencies depend on the trace's length.")
	}
	j.addReference(add)
}

// addReference tells of a round robin that beats all settings tried.
func (j *judge) addReference(add func(string, ...any)) {
	v := j.v
	if v.Reference < 0 || v.Reference == v.Default || j.x[v.Reference] == nil || v.Best < 0 {
		return
	}
	q := &v.Points[v.Reference]
	if d := &q.Diff[v.Objective]; q.Status == Compare && d.Better > 0 && j.ahead(v.Reference, v.Best) < 0 {
		add("Round robin has a better %s than every setting tried: %s against the default.", j.metrics[v.Objective].Title, d.quoted(j.metrics[v.Objective].Unit))
	}
}

// atEdge lists the axes on which a point has the last value tried, no tied point
// lies further inside, and the setting goes on: 0 is the end of most.
func (j *judge) atEdge(p int) (axes []int) {
	for _, a := range j.d.live {
		axis := &j.s.Axes[a]
		x := numberOf(j.s.Points[p].Values[a])
		if len(axis.Numbers) < 2 || j.d.atBase(p, a) {
			continue
		}
		lo, hi := slices.Min(axis.Numbers), slices.Max(axis.Numbers)
		if x != hi && (x != lo || x == 0) {
			continue
		}
		inside := slices.ContainsFunc(j.v.Tied, func(q int) bool {
			return j.d.agree(p, q, slices.DeleteFunc(slices.Clone(j.d.live), func(b int) bool { return b == a })) && numberOf(j.s.Points[q].Values[a]) != x
		})
		if !inside {
			axes = append(axes, a)
		}
	}
	return axes
}
