package verdict

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"routesim/reports/sweepdata"
)

// completionTolerance is how many percentage points of requests a point may
// complete less than the default and still do the same work.
const completionTolerance = 0.1

// design knows how the points of a sweep hang together.
type design struct {
	s      *sweepdata.Sweep
	load   []int // axes
	live   []int // axes of settings that changed a decision
	inert  []int // axes of settings that changed none
	seeds  []uint64
	runs   [][]*sweepdata.Run // by point and seed; nil for points that miss one
	sat    []bool             // by point
	byName map[string]int     // metric
}

func newDesign(s *sweepdata.Sweep, metrics []sweepdata.Metric) *design {
	d := &design{s: s, runs: make([][]*sweepdata.Run, len(s.Points)), sat: make([]bool, len(s.Points)), byName: map[string]int{}}
	for i := range metrics {
		d.byName[metrics[i].Name] = i
	}
	for a := range s.Axes {
		switch {
		case sweepdata.Loads(s.Axes[a].Name):
			d.load = append(d.load, a)
		case s.Axes[a].Inert != "":
			d.inert = append(d.inert, a)
		default:
			d.live = append(d.live, a)
		}
	}
	d.seeds = seedsOf(s)
	for i := range s.Points {
		d.runs[i] = pick(&s.Points[i], d.seeds)
		for _, r := range s.Points[i].Runs {
			d.sat[i] = d.sat[i] || r.Saturated
		}
	}
	return d
}

// seedsOf returns the seeds of the default point, or of the one with most runs
// where that has none.
func seedsOf(s *sweepdata.Sweep) (seeds []uint64) {
	from := s.Default
	if from < 0 || from >= len(s.Points) || len(s.Points[from].Runs) == 0 {
		from = -1
		for i := range s.Points {
			if n := len(s.Points[i].Runs); n > 0 && (from < 0 || n > len(s.Points[from].Runs)) {
				from = i
			}
		}
	}
	if from < 0 {
		return nil
	}
	for _, r := range s.Points[from].Runs {
		seeds = append(seeds, r.Seed)
	}
	return seeds
}

// pick returns the runs of a point with all the seeds, in their order, nil where
// one is missing.
func pick(p *sweepdata.Point, seeds []uint64) []*sweepdata.Run {
	if len(seeds) == 0 {
		return nil
	}
	out := make([]*sweepdata.Run, 0, len(seeds))
	for _, seed := range seeds {
		i := slices.IndexFunc(p.Runs, func(r sweepdata.Run) bool { return r.Seed == seed })
		if i < 0 {
			return nil
		}
		out = append(out, &p.Runs[i])
	}
	return out
}

// same reports whether two values of an axis are alike: 1 and 1.0 are.
func same(a, b string) bool {
	if a == b {
		return true
	}
	x, err := strconv.ParseFloat(a, 64)
	y, err2 := strconv.ParseFloat(b, 64)
	return err == nil && err2 == nil && x == y
}

// atBase reports whether a point has the default's value on an axis.
func (d *design) atBase(p, axis int) bool {
	return same(d.s.Points[p].Values[axis], d.s.Axes[axis].Base)
}

// agree reports whether two points have the same values on some axes.
func (d *design) agree(p, q int, axes []int) bool {
	return !slices.ContainsFunc(axes, func(a int) bool { return !same(d.s.Points[p].Values[a], d.s.Points[q].Values[a]) })
}

// changes counts the settings in which a point differs from the default.
func (d *design) changes(p int) (n int) {
	for _, a := range d.live {
		if !d.atBase(p, a) {
			n++
		}
	}
	return n
}

// reference reports whether a point was only run to compare with.
func (d *design) reference(p int) bool {
	return p == d.s.Reference && p != d.s.Default && d.s.Points[p].Added
}

// defaultLoad reports whether a point does the default's work.
func (d *design) defaultLoad(p int) bool {
	return !slices.ContainsFunc(d.load, func(a int) bool { return !d.atBase(p, a) })
}

// base returns the point that a point is compared with: of its load, with all
// else at the default.
func (d *design) base(p int) int {
	if d.defaultLoad(p) {
		return d.s.Default
	}
	for q := range d.s.Points {
		if d.runs[q] != nil && !d.reference(q) && d.agree(p, q, d.load) && d.changes(q) == 0 {
			return q
		}
	}
	return -1
}

// keeper returns the point that stands for all that differ from p in inert
// settings only: a finished one, with most of them at the default.
func (d *design) keeper(p int) int {
	if len(d.inert) == 0 || d.reference(p) {
		return p
	}
	best, most := p, -1
	for q := range d.s.Points {
		if d.reference(q) || !d.agree(p, q, d.live) || !d.agree(p, q, d.load) {
			continue
		}
		score := 0
		for _, a := range d.inert {
			if d.atBase(q, a) {
				score++
			}
		}
		if d.runs[q] != nil {
			score += len(d.inert) + 1
		}
		if q == d.s.Default {
			score += 2 * (len(d.inert) + 1)
		}
		if score > most {
			best, most = q, score
		}
	}
	return best
}

// status says what part a point takes. least is the share of requests in % that
// it has to complete.
func (d *design) status(p, same int, mean []float64, least float64) Status {
	switch {
	case d.s.Points[p].Error != "":
		return Failed
	case d.runs[p] == nil:
		return NotRun
	case d.reference(p):
		return Compare
	case same != p:
		return Folded
	case !d.defaultLoad(p):
		return OtherLoad
	case d.sat[p]:
		return Saturated
	case mean[d.byName["completed_share"]] < least:
		return Incomplete
	}
	return Valid
}

// name is what a point is called: its values on the axes that matter.
func (d *design) name(p int) string {
	if d.reference(p) {
		return "round robin"
	}
	var parts []string
	for a := range d.s.Axes {
		if !slices.Contains(d.inert, a) || len(d.live) == 0 {
			parts = append(parts, d.s.Points[p].Values[a])
		}
	}
	if len(parts) == 0 {
		return "default"
	}
	return strings.Join(parts, "/")
}

// knobs names what a point changes: router-prefill-load-scale 8.
func (d *design) knobs(p int) string {
	if d.reference(p) {
		return "round robin"
	}
	var parts []string
	for a := range d.s.Axes {
		if !slices.Contains(d.inert, a) && !d.atBase(p, a) {
			parts = append(parts, d.s.Axes[a].Name+" "+d.s.Points[p].Values[a])
		}
	}
	if len(parts) == 0 {
		return "the defaults"
	}
	return list(parts)
}

// kept names the settings that a point leaves at the default, with their values.
func (d *design) kept(p int) string {
	var parts []string
	for _, a := range d.live {
		if d.atBase(p, a) {
			parts = append(parts, d.s.Axes[a].Name+" at "+d.s.Axes[a].Base)
		}
	}
	return list(parts)
}

// distance is how far a point is from the default: on each axis the number of
// values between them as a share of all, 1 for another word.
func (d *design) distance(p int) (sum float64) {
	for _, a := range d.live {
		axis := &d.s.Axes[a]
		if d.atBase(p, a) {
			continue
		}
		v, err := strconv.ParseFloat(d.s.Points[p].Values[a], 64)
		b, err2 := strconv.ParseFloat(axis.Base, 64)
		if axis.Numbers == nil || err != nil || err2 != nil {
			sum++
			continue
		}
		between := 0
		for _, x := range axis.Numbers {
			if x == v || x > math.Min(v, b) && x < math.Max(v, b) {
				between++
			}
		}
		sum += float64(max(between, 1)) / float64(max(len(axis.Numbers), 1))
	}
	return sum
}
