package gate

import (
	"slices"
	"strings"
	"testing"
)

// TestVerdicts changes one thing at a time and checks verdict and exit code.
func TestVerdicts(t *testing.T) {
	for _, c := range []struct {
		name    string
		change  func(*lab)
		options Options
		want    Verdict
		code    int
		says    string
	}{
		{"nothing", func(*lab) {}, Options{}, Pass, 0, ""},
		{"within 1 %", func(l *lab) { shift(&l.now[0], "p90_ttft_ms", 1) }, Options{}, Pass, 0, ""},
		{"beyond 1 %", func(l *lab) { shift(&l.now[0], "p90_ttft_ms", 1.1) }, Options{}, Regression, 1, "TTFT p90"},
		{"better beyond 1 %", func(l *lab) { shift(&l.now[0], "p90_ttft_ms", -1.1) }, Options{}, Pass, 0, "run --update"},
		{"less reuse within a point", func(l *lab) { shift(&l.now[1], "reuse_share", -1) }, Options{}, Pass, 0, ""},
		{"less reuse beyond a point", func(l *lab) { shift(&l.now[1], "reuse_share", -1.01) }, Options{}, Regression, 1, "prefix reuse"},
		{"more reuse", func(l *lab) { shift(&l.now[1], "reuse_share", 9) }, Options{}, Pass, 0, "run --update"},
		{"more regret is only shown", func(l *lab) { shift(&l.now[1], "regret_blocks", 50) }, Options{}, Pass, 0, ""},
		{"SLO missed", func(l *lab) { shift(&l.now[0], "p99_ttft_ms", 801) }, Options{}, Regression, 1, "SLO"},
		{"SLO just kept", func(l *lab) { shift(&l.now[0], "p99_ttft_ms", 799) }, Options{}, Pass, 0, ""},
		{"decisions", func(l *lab) { redecide(&l.now[0], 1, 0) }, Options{}, BehaviourChanged, 3, "request 1"},
		{"decisions, allowed", func(l *lab) { redecide(&l.now[0], 1, 0) }, Options{AllowBehaviourChange: true}, BehaviourChanged, 0, "allowed"},
		{"decisions, seeds shifted", func(l *lab) { redecide(&l.now[0], 1, 0) }, Options{SkipDigests: true}, Pass, 0, ""},
		{"decisions and better", func(l *lab) { redecide(&l.now[0], 1, 0); shift(&l.now[0], "p90_ttft_ms", -50) }, Options{}, BehaviourChanged, 3, "got better"},
		{"decisions and worse", func(l *lab) { redecide(&l.now[0], 1, 0); shift(&l.now[1], "p90_ttft_ms", 50) }, Options{}, Regression, 1, "TTFT p90"},
		{"worse is never allowed", func(l *lab) { redecide(&l.now[0], 1, 0); shift(&l.now[0], "p90_ttft_ms", 50) }, Options{AllowBehaviourChange: true}, Regression, 1, ""},
		{"token times", func(l *lab) { l.now[0].Runs[1].Times = "other" }, Options{}, Pass, 0, ""},
		{"rejected", func(l *lab) { l.now[0].Runs[2].Counts = Counts{Requests: 4, Completed: 3, Rejected: 1} }, Options{}, Regression, 1, "completed; 1 rejected. Lat"},
		{"unfinished", func(l *lab) { l.now[0].Runs[2].Counts = Counts{Requests: 4, Completed: 3, Unfinished: 1} }, Options{}, Regression, 1, "completed; 1 unfinished. Lat"},
		{"never released", func(l *lab) { l.now[0].Runs[2].Counts = Counts{Requests: 4, Completed: 3} }, Options{}, Regression, 1, "completed; 1 never released. Lat"},
		{"lost and cancelled", func(l *lab) {
			l.now[0].Runs[2].Counts = Counts{Requests: 4, Completed: 1, Lost: 1, Cancelled: 2}
		}, Options{}, Regression, 1, "completed; 1 lost with crashed workers, 2 cancelled. Lat"},
		{"cannot be run", func(l *lab) { l.now[0].Problem = "no such trace" }, Options{}, Invalid, 2, "no such trace"},
		{"another trace", func(l *lab) { l.now[0].Trace.Digest = "d2" }, Options{}, Invalid, 2, "Trace: found d2, expected d1a"},
		{"another load", func(l *lab) { l.now[0].Load = "closed loop of 4 sessions" }, Options{}, Invalid, 2, "Load: found"},
		{"other seeds", func(l *lab) { l.suite.Scenarios[0].Seeds = []uint64{0, 1, 5} }, Options{}, Invalid, 2, "Seeds: found"},
		{"new scenario", func(l *lab) { l.suite.Scenarios[0].Name = "c" }, Options{}, Invalid, 2, "There is no such scenario in the baseline."},
		{"other definition", func(l *lab) { l.base.Definitions[1].Text = "something else" }, Options{}, Invalid, 2, "Definition of p90_ttft_ms"},
		{"other digest", func(l *lab) { l.base.Definitions[0].Text = "something else" }, Options{}, Invalid, 2, "Definition of decisions"},
		{"no definition", func(l *lab) { l.base.Definitions = l.base.Definitions[:1] }, Options{}, Invalid, 2, "no figure of p90_ttft_ms"},
		{"no figure now", func(l *lab) { shift(&l.now[0], "p90_ttft_ms", nan()) }, Options{}, Invalid, 2, "on one side only"},
		{"no figure for the SLO", func(l *lab) { shift(&l.now[0], "p99_ttft_ms", nan()) }, Options{}, Invalid, 2, "cannot be checked"},
		{"invalid over worse", func(l *lab) { l.now[0].Trace.Digest = "d2"; shift(&l.now[1], "p90_ttft_ms", 50) }, Options{}, Invalid, 2, ""},
		{"invalid over worse, the other way round", func(l *lab) { l.now[1].Trace.Digest = "d2"; shift(&l.now[0], "p90_ttft_ms", 50) }, Options{}, Invalid, 2, ""},
		{"a profile changed", func(l *lab) { l.now[0].Profiles[0].Text = "bb22" }, Options{}, Pass, 0, "profile h100/x aa11 -> bb22"},
		{"a setting changed", func(l *lab) { l.now[0].Settings = []Value{{"workers", "3"}, {"seeded", "1"}} }, Options{}, Pass, 0, "workers 2 -> 3"},
		{"a scenario dropped", func(l *lab) { l.suite.Scenarios, l.now = l.suite.Scenarios[:1], l.now[:1] }, Options{}, Pass, 0, "holds the scenario b"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newLab(t)
			c.change(l)
			r := l.judge(c.options)
			if r.Verdict != c.want || r.Code != c.code {
				t.Errorf("%s with code %d, expected %s with %d", r.Verdict, r.Code, c.want, c.code)
			}
			var text strings.Builder
			if err := WriteText(&text, r); err != nil {
				t.Fatal(err)
			}
			if flat := strings.Join(strings.Fields(text.String()), " "); !strings.Contains(flat, c.says) {
				t.Errorf("the report does not say %q:\n%s", c.says, text.String())
			}
		})
	}
}

// TestCompletionFirst looks at no latency of runs that lost requests, however
// good it is.
func TestCompletionFirst(t *testing.T) {
	l := newLab(t)
	l.now[0].Runs[0].Counts.Completed = 3
	shift(&l.now[0], "p90_ttft_ms", -90)
	r := l.judge(Options{})
	if s := r.Scenarios[0]; s.Verdict != Regression || len(s.Rows) != 0 || len(s.Bounds) != 0 || len(s.Improved) != 0 {
		t.Errorf("%+v, expected a regression without metrics", s)
	}
	if s := r.Scenarios[1]; s.Verdict != Pass || len(s.Rows) != 3 {
		t.Errorf("%+v, expected the other scenario to pass", s)
	}
}

// TestInterval lets draws that cancel out pass and a steady change not.
func TestInterval(t *testing.T) {
	noisy := func(l *lab, by ...float64) {
		for i := range l.now[0].Runs {
			l.now[0].Runs[i].Values[l.suite.Scenarios[0].Checks[0].Metric] += by[i]
		}
	}
	l := newLab(t)
	noisy(l, 30, -10, 12)
	r := l.judge(Options{})
	if row := r.Scenarios[0].Rows[0]; row.State != Unshown || r.Verdict != Pass || !(row.Lo < 0 && row.Hi > 0) {
		t.Errorf("%+v and %s, expected noise", row, r.Verdict)
	}
	if n := r.Scenarios[0].Notes; len(n) != 1 || !strings.Contains(n[0], "TTFT p90 moved beyond the tolerance, which 3 seeds cannot tell from luck") {
		t.Errorf("notes %q, expected a word about three seeds", n)
	}
	l = newLab(t)
	noisy(l, 10, 10.1, 10.2)
	r = l.judge(Options{})
	if row := r.Scenarios[0].Rows[0]; row.State != Worse || r.Verdict != Regression || !(row.Lo > 0) {
		t.Errorf("%+v and %s, expected worse", row, r.Verdict)
	}
	// With one seed there is no interval: the tolerance decides alone.
	l.suite.Scenarios[0].Seeds = l.suite.Scenarios[0].Seeds[:1]
	l.base.Outcomes[0].Runs, l.now[0].Runs = l.base.Outcomes[0].Runs[:1], l.now[0].Runs[:1]
	r = l.judge(Options{})
	if row := r.Scenarios[0].Rows[0]; row.State != Worse || row.Lo == row.Lo {
		t.Errorf("%+v, expected worse without an interval", row)
	}
}

// TestDirections checks what each direction takes for the worse.
func TestDirections(t *testing.T) {
	for _, c := range []struct {
		d        Direction
		up, down State
	}{{Lower, Worse, Better}, {Higher, Better, Worse}, {Same, Worse, Worse}, {Info, Shown, Shown}} {
		for _, by := range []float64{5, -5} {
			r := Row{Before: 100, Change: by, Lo: by, Hi: by, Tolerance: Tolerance{Relative: true, Value: 0.01}, Direction: c.d}
			want := c.up
			if by < 0 {
				want = c.down
			}
			if got := r.judge(); got != want {
				t.Errorf("%s, %v: %s, expected %s", c.d, by, got, want)
			}
		}
	}
	zero := Row{Before: 0, Change: 1e-9, Lo: nan(), Hi: nan(), Tolerance: Tolerance{Relative: true, Value: 0.5}, Direction: Lower}
	if got := zero.judge(); got != Worse {
		t.Errorf("%s, expected no share of nothing to be allowed", got)
	}
}

// TestPaired checks the interval against a table of Student's t.
func TestPaired(t *testing.T) {
	lo, hi := paired([]float64{1, 2, 3, 4, 5}, 0.95) // mean 3, error sqrt(0.5), quantile 2.7764
	if d := 2.7764 * 0.70711; !(near(lo, 3-d) && near(hi, 3+d)) {
		t.Errorf("%v to %v, expected 3 -/+ %v", lo, hi, d)
	}
	if lo, hi := paired([]float64{2, 2, 2}, 0.999); lo != 2 || hi != 2 {
		t.Errorf("%v to %v, expected 2 to 2", lo, hi)
	}
}

func near(a, b float64) bool { return a-b < 1e-3 && b-a < 1e-3 }

// TestVerdictOrder keeps the precedence and the codes.
func TestVerdictOrder(t *testing.T) {
	if !(Invalid > Regression && Regression > BehaviourChanged && BehaviourChanged > Pass) {
		t.Error("the verdicts are not in the order of their precedence")
	}
	var codes []int
	for v := Pass; v <= Invalid; v++ {
		codes = append(codes, v.ExitCode())
	}
	if !slices.Equal(codes, []int{0, 3, 1, 2}) {
		t.Errorf("exit codes %v, expected 0 3 1 2", codes)
	}
}
