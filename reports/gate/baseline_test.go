package gate

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"routesim/sim/router"
)

func baselineText(t *testing.T, b *Baseline) string {
	t.Helper()
	var text strings.Builder
	if err := b.Write(&text); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

// TestBaselineRoundTrip reads back what was written, decisions included.
func TestBaselineRoundTrip(t *testing.T) {
	l := newLab(t)
	l.base.Outcomes[0].SLA = "TTFT 100 ms"
	text := baselineText(t, l.base)
	got, err := ParseBaseline("b.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	if err := WriteDecisions(&packed, l.base.Outcomes); err != nil {
		t.Fatal(err)
	}
	if err := got.ReadDecisions(packed.Bytes()); err != nil {
		t.Fatal(err)
	}
	got.File = ""
	if d := cmp.Diff(l.base, got, cmpopts.EquateNaNs()); d != "" {
		t.Errorf("what was read differs from what was written:\n%s", d)
	}
	if again := baselineText(t, got); again != text {
		t.Errorf("written again:\n%s\nexpected\n%s", again, text)
	}
}

// TestBaselineIsNarrow keeps figures of metrics that no scenario looks at out.
func TestBaselineIsNarrow(t *testing.T) {
	text := baselineText(t, newLab(t).base)
	for name, want := range map[string]int{"p90_ttft_ms: ": 7, "p99_ttft_ms": 0, "mean_itl_ms": 0, "reuse_share: ": 7} {
		if n := strings.Count(text, name); n != want {
			t.Errorf("%s stands there %d times, expected %d", name, n, want)
		}
	}
}

// TestOneFigureIsOneLine changes a figure and counts the lines that differ.
func TestOneFigureIsOneLine(t *testing.T) {
	a, b := newLab(t), newLab(t)
	b.base.Outcomes[1].Runs[2].Values[a.suite.Scenarios[1].Checks[0].Metric]++
	x, y := strings.Split(baselineText(t, a.base), "\n"), strings.Split(baselineText(t, b.base), "\n")
	differ := 0
	for i := range x {
		if x[i] != y[i] {
			differ++
		}
	}
	if len(x) != len(y) || differ != 1 {
		t.Errorf("%d lines differ, expected 1", differ)
	}
}

// TestBaselineErrors names file and line.
func TestBaselineErrors(t *testing.T) {
	whole := baselineText(t, newLab(t).base)
	for _, c := range []struct{ from, to, want string }{
		{"gate: 1", "gate: 9", "b.yaml:2: gate: found 9, expected 1"},
		{"\ngate: 1", "\n", "found no key gate"},
		{"routesim: \"1.0\"", "rutesim: 1", "b.yaml:3: rutesim: found an unknown key"},
		{"seed: 1", "seed: 0", "the seed 0 again"},
		{"- name: b", "- name: a", "the scenario a again"},
		{"seed: 0", "seed: -1", "expected a whole number from 0"},
		{"p90_ttft_ms: 100\n", "p90_ttft_ms: fast\n", "found fast, expected a number"},
		{"requests: 4", "requests: many", "found many, expected a whole number"},
		{"    load:", "    laod:", "found an unknown key"},
		{"        times: \"tim0a\"\n", "", "a run that lacks one of seed, decisions and times"},
	} {
		if !strings.Contains(whole, c.from) {
			t.Fatalf("the baseline does not hold %q:\n%s", c.from, whole)
		}
		_, err := ParseBaseline("b.yaml", []byte(strings.Replace(whole, c.from, c.to, 1)))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q for %q: %v, expected %q", c.to, c.from, err, c.want)
		}
	}
}

// TestDecisionsBelongToBaseline refuses the decisions of another baseline, and
// the verdict stands without reasons.
func TestDecisionsBelongToBaseline(t *testing.T) {
	l := newLab(t)
	b, err := ParseBaseline("b.yaml", []byte(baselineText(t, l.base)))
	if err != nil {
		t.Fatal(err)
	}
	other := []Outcome{outcomeOf("a", 3, nil)}
	redecide(&other[0], 0, 1)
	var packed bytes.Buffer
	if err := WriteDecisions(&packed, other); err != nil {
		t.Fatal(err)
	}
	if err := b.ReadDecisions(packed.Bytes()); err == nil || !strings.Contains(err.Error(), "expected "+l.base.Decisions) {
		t.Errorf("%v, expected the digest to differ", err)
	}
	if err := b.ReadDecisions([]byte("no zstd")); err == nil {
		t.Error("a damaged file was read")
	}
	redecide(&l.now[0], 0, 1)
	l.base = b
	r := l.judge(Options{})
	if s := r.Scenarios[0]; s.Verdict != BehaviourChanged || s.Divergence != nil || len(s.Notes) != 1 {
		t.Errorf("%+v, expected a change of behaviour without a reason", s)
	}
}

// TestUpdateSaysWhatChanges lists what a new baseline changes.
func TestUpdateSaysWhatChanges(t *testing.T) {
	say := func(old, b *Baseline) string {
		var text strings.Builder
		if err := WriteUpdate(&text, old, b); err != nil {
			t.Fatal(err)
		}
		return text.String()
	}
	l := newLab(t)
	if got := say(l.base, l.base); got != "nothing changes\n" {
		t.Errorf("%q for the same baseline", got)
	}
	if got := say(nil, l.base); got != "a: added (4 requests, 3 seeds)\nb: added (4 requests, 3 seeds)\n" {
		t.Errorf("%q for a new baseline", got)
	}
	redecide(&l.now[0], 0, 1)
	shift(&l.now[0], "p90_ttft_ms", 10)
	l.now[0].Load, l.now[0].Settings = "closed loop", []Value{{"workers", "5"}}
	b := NewBaseline(l.suite, "2.0", l.now)
	b.Outcomes[1].Name = "c"
	want := `routesim: 1.0 -> 2.0
a: load: open loop, arrivals sped up by 1 -> closed loop
a: workers: 2 -> 5
a: decisions of 1 of 3 seeds
a: p90_ttft_ms: 100 ms -> 110 ms (+10.0 %)
c: added (4 requests, 3 seeds)
b: dropped
`
	if d := cmp.Diff(want, say(l.base, b)); d != "" {
		t.Error(d)
	}
}

// TestIncompleteIsNoBaseline refuses lost requests and failed scenarios.
func TestIncompleteIsNoBaseline(t *testing.T) {
	l := newLab(t)
	if err := CheckComplete(l.now); err != nil {
		t.Error(err)
	}
	l.now[1].Runs[1].Counts = Counts{Requests: 4, Completed: 2, Rejected: 1}
	if err := CheckComplete(l.now); err == nil || !strings.Contains(err.Error(), "scenario b, seed 1: found 2 of 4 requests completed (1 rejected, 1 never released)") {
		t.Errorf("%v", err)
	}
	l.now[1].Problem = "no trace"
	if err := CheckComplete(l.now); err == nil || !strings.Contains(err.Error(), "no trace") {
		t.Errorf("%v", err)
	}
}

// TestRecordRoundTrip packs and unpacks random records bit by bit.
func TestRecordRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		float := rapid.OneOf(rapid.Float64(), rapid.Map(rapid.IntRange(0, 1<<20), func(n int) float64 { return float64(n) / 64 }),
			rapid.SampledFrom([]float64{0, math.Copysign(0, -1), math.Inf(1), math.NaN(), 1e300}))
		n, fleet := rapid.IntRange(0, 5).Draw(t, "n"), rapid.IntRange(1, 3).Draw(t, "fleet")
		want := &Record{Fleet: fleet}
		for range n {
			want.Rows = append(want.Rows, rapid.Int32Min(0).Draw(t, "row"))
			want.Workers = append(want.Workers, rapid.Int32Min(-1).Draw(t, "worker"))
			want.Overlaps = append(want.Overlaps, float.Draw(t, "overlap"))
			want.TTFT = append(want.TTFT, rapid.Float32().Draw(t, "ttft"))
			for range fleet {
				c := router.Terms{Prefill: float.Draw(t, "p"), Credit: float.Draw(t, "c"), Decode: float.Draw(t, "d"), Request: float.Draw(t, "r")}
				if c.Cost = sumOf(&c); rapid.Bool().Draw(t, "odd") {
					c.Cost = 3
				}
				want.Costs = append(want.Costs, c)
			}
		}
		if n == 0 {
			want.Fleet = 0
		}
		o := []Outcome{{Name: "x", Runs: []Run{{Seed: 5, Record: want}}}}
		found := 0
		err := unpackRecords(packRecords(o), func(name string, seed uint64, got *Record) {
			found++
			if name != "x" || seed != 5 || !bytes.Equal(got.pack(nil), want.pack(nil)) {
				t.Errorf("%s %d %+v, expected %+v", name, seed, got, want)
			}
			if d := cmp.Diff(want, got, cmpopts.EquateNaNs(), cmpopts.EquateEmpty()); d != "" {
				t.Error(d)
			}
		})
		if err != nil || found != 1 {
			t.Fatalf("%d records, %v", found, err)
		}
	})
}

// FuzzBaseline reads anything without panic; what reads well is written the
// same way again and again.
func FuzzBaseline(f *testing.F) {
	var text bytes.Buffer
	s, err := ParseSuite("gate.yaml", []byte(twoScenarios))
	if err != nil {
		f.Fatal(err)
	}
	if err := NewBaseline(s, "1.0", []Outcome{outcomeOf("a", 2, nil), outcomeOf("b", 2, nil)}).Write(&text); err != nil {
		f.Fatal(err)
	}
	f.Add(text.Bytes())
	f.Add([]byte("gate: 1\nroutesim: x\ndecisions: y\ndefinitions: {}\nscenarios: []\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		b, err := ParseBaseline("b.yaml", text)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "b.yaml") {
				t.Errorf("%v does not name the file", err)
			}
			return
		}
		var first, second strings.Builder
		if err := b.Write(&first); err != nil {
			t.Fatal(err)
		}
		again, err := ParseBaseline("b.yaml", []byte(first.String()))
		if err != nil {
			t.Fatalf("%v in what was written:\n%s", err, first.String())
		}
		if err := again.Write(&second); err != nil {
			t.Fatal(err)
		}
		if first.String() != second.String() {
			t.Errorf("written once:\n%s\nand again:\n%s", first.String(), second.String())
		}
	})
}

// FuzzDecisions unpacks anything without panic and without asking for more
// memory than the text justifies.
func FuzzDecisions(f *testing.F) {
	f.Add(packRecords([]Outcome{outcomeOf("a", 2, nil)})[len(recordsMagic):])
	f.Add([]byte{1, 'a', 0, 0xff, 0xff, 0xff, 0x0f})
	f.Fuzz(func(t *testing.T, text []byte) {
		whole := slices.Concat([]byte(recordsMagic), text)
		err := unpackRecords(whole, func(_ string, _ uint64, r *Record) {
			if len(r.Rows)*3+len(r.Costs)*5 > len(text) {
				t.Errorf("%d decisions and %d costs from %d bytes", len(r.Rows), len(r.Costs), len(text))
			}
			for i := range r.Rows {
				r.Table(i)
			}
		})
		if err != nil && strings.Contains(err.Error(), "\n") {
			t.Error(err)
		}
	})
}

// TestReplaceable tells baselines, damaged ones too, from files that someone
// still needs.
func TestReplaceable(t *testing.T) {
	var written strings.Builder
	if err := newLab(t).base.Write(&written); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]bool{
		"": true, "\n": true, written.String(): true, written.String()[:200] + "<<<<<<< HEAD\n": true,
		strings.TrimPrefix(written.String(), headline+" Do not edit.\n"): true,
		twoScenarios: false, "{\"timestamp\": 0}\n": false, "notes": false,
	} {
		if got := Replaceable("b.yaml", []byte(text)); got != want {
			t.Errorf("%.60q: found %v, expected %v", text, got, want)
		}
	}
}
