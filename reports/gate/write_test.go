package gate

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the expected outputs anew")

// reportOf is a report with something of everything.
func reportOf(t *testing.T) *Report {
	t.Helper()
	l := newLab(t)
	l.suite = suiteOf(t, strings.Replace(twoScenarios, "  - {name: b", "  - {name: c, trace: c.jsonl}\n  - {name: d, trace: d.jsonl}\n  - {name: b", 1))
	outcomes := func() []Outcome {
		return []Outcome{outcomeOf("a", 3, nil), outcomeOf("c", 3, nil), outcomeOf("d", 3, nil), outcomeOf("b", 3, nil)}
	}
	l.base, l.now = NewBaseline(l.suite, "1.0", outcomes()), outcomes()
	redecide(&l.now[0], 2, 1)
	l.now[0].Runs[0].Record.Costs[5].Prefill = 12.5
	l.now[0].Runs[0].Record.Costs[5].Cost = 19.5
	l.now[0].Runs[0].Record.TTFT[2] = 55
	l.now[0].Settings = []Value{{"workers", "2"}, {"router-temperature", "0.5"}}
	shift(&l.now[0], "p90_ttft_ms", 12)
	shift(&l.now[0], "reuse_share", 3)
	l.now[1].Runs[1].Counts = Counts{Requests: 4, Completed: 2, Rejected: 1}
	l.now[2].Trace.Digest = "d|2<x>"
	return l.judge(Options{})
}

// TestOutputs compares every output with what is expected. go test -update
// writes them anew.
func TestOutputs(t *testing.T) {
	for name, write := range map[string]func(io.Writer, *Report) error{
		"gate.txt": WriteText, "gate.md": WriteMarkdown, "gate.xml": WriteJUnit, "gate.json": WriteJSON, "gate.html": WriteHTML,
		"github.txt": WriteGitHub, "gitlab.json": WriteGitLab,
	} {
		t.Run(name, func(t *testing.T) {
			r := reportOf(t)
			for i := range r.Scenarios { // pictures have tests of their own
				r.Scenarios[i].before = nil
			}
			var got bytes.Buffer
			if err := write(&got, r); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join("testdata", name)
			if *update {
				if err := os.WriteFile(path, got.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(string(want), got.String()); d != "" {
				t.Errorf("%s (-want +got):\n%s", name, d)
			}
		})
	}
}

// TestMachineFormats reads XML and JSON back, and checks what programs rely on.
func TestMachineFormats(t *testing.T) {
	r := reportOf(t)
	var text bytes.Buffer
	if err := WriteJUnit(&text, r); err != nil {
		t.Fatal(err)
	}
	var suites junitSuites
	if err := xml.Unmarshal(text.Bytes(), &suites); err != nil {
		t.Fatal(err)
	}
	kinds, tests := map[string]int{}, 0
	for _, s := range suites.Suites {
		for _, c := range s.Cases {
			tests++
			if c.Failure != nil {
				kinds[c.Failure.Type]++
			}
		}
	}
	if d := cmp.Diff(map[string]int{"REGRESSION": 2, "BEHAVIOUR_CHANGED": 1, "INVALID": 1}, kinds); d != "" || suites.Failures != 4 || suites.Tests != tests {
		t.Errorf("failures %v, %d of %d: %s", kinds, suites.Failures, suites.Tests, d)
	}
	text.Reset()
	if err := WriteJSON(&text, r); err != nil {
		t.Fatal(err)
	}
	var out struct {
		Verdict   string
		ExitCode  int `json:"exit_code"`
		Scenarios []struct {
			Verdict string
			First   *struct {
				Before struct{ Costs []map[string]float64 }
				After  struct{ Costs []map[string]float64 }
			} `json:"first_different_decision"`
		}
	}
	if err := json.Unmarshal(text.Bytes(), &out); err != nil {
		t.Fatal(err)
	}
	f := out.Scenarios[0].First
	if out.Verdict != "INVALID" || out.ExitCode != 2 || f == nil || f.Before.Costs[1]["cost"] != 9.25 || f.After.Costs[1]["cost"] != 19.5 {
		t.Errorf("%+v", out)
	}
}

// TestAllowedChangeIsNoFailure shows an allowed change without failing on it.
func TestAllowedChangeIsNoFailure(t *testing.T) {
	l := newLab(t)
	redecide(&l.now[0], 1, 0)
	for allow, want := range map[bool][3]string{false: {`failures="1"`, "::error ", `"minor"`}, true: {`failures="0"`, "::warning ", `"info"`}} {
		r := l.judge(Options{AllowBehaviourChange: allow})
		for i, write := range []func(io.Writer, *Report) error{WriteJUnit, WriteGitHub, WriteGitLab} {
			var text strings.Builder
			if err := write(&text, r); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(text.String(), want[i]) {
				t.Errorf("allowed %v: expected %s in\n%s", allow, want[i], text.String())
			}
		}
	}
}

// TestHTMLHasCurves draws both distributions of a scenario that changed, and
// needs nothing from elsewhere.
func TestHTMLHasCurves(t *testing.T) {
	var text strings.Builder
	if err := WriteHTML(&text, reportOf(t)); err != nil {
		t.Fatal(err)
	}
	page := text.String()
	for _, want := range []string{"<svg", "baseline (p90", "now (p90"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(page, "<script") || strings.Contains(page, "src=") || strings.Contains(page, "<?xml") || strings.Count(page, "<svg") != 2 {
		t.Errorf("the page has a script, an image from elsewhere, an XML declaration or %d pictures, expected 2", strings.Count(page, "<svg"))
	}
}

// TestMissingBaseline says how to make one, in every output.
func TestMissingBaseline(t *testing.T) {
	r := Missing(&Suite{File: "gate.yaml"}, "There is no baseline.", "1.0", Options{Update: "routesim gate --update"})
	if r.Code != 2 || r.Verdict != Invalid {
		t.Errorf("%+v", r)
	}
	for name, write := range map[string]func(io.Writer, *Report) error{
		"text": WriteText, "markdown": WriteMarkdown, "junit": WriteJUnit, "json": WriteJSON, "html": WriteHTML, "github": WriteGitHub, "gitlab": WriteGitLab,
	} {
		var text strings.Builder
		if err := write(&text, r); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(text.String(), "routesim gate --update") || !strings.Contains(text.String(), "INVALID") {
			t.Errorf("%s does not say how to make one:\n%s", name, text.String())
		}
	}
}

// TestCommentFits keeps a report of many changed scenarios within what a
// comment takes, and text within a terminal.
func TestCommentFits(t *testing.T) {
	r := reportOf(t)
	for len(r.Scenarios) < 300 {
		r.Scenarios = append(r.Scenarios, r.Scenarios[0])
	}
	var md, text strings.Builder
	if err := WriteMarkdown(&md, r); err != nil {
		t.Fatal(err)
	}
	if n := utf8.RuneCountInString(md.String()); n > 65_536 || !strings.Contains(md.String(), "more did not fit here") {
		t.Errorf("%d characters, expected at most 65,536 and a word about the rest", n)
	}
	if err := WriteText(&text, reportOf(t)); err != nil {
		t.Fatal(err)
	}
	for line := range strings.SplitSeq(text.String(), "\n") {
		if len(line) > 2*width || strings.ContainsFunc(line, func(r rune) bool { return r >= 0x80 }) {
			t.Errorf("line of %d columns: %s", len(line), line)
		}
	}
}

// TestMarkdownEscapes keeps names from becoming markup.
func TestMarkdownEscapes(t *testing.T) {
	var md strings.Builder
	if err := WriteMarkdown(&md, reportOf(t)); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(md.String(), "d|2<x>") || !strings.Contains(md.String(), `d\|2&lt;x&gt;`) {
		t.Errorf("the digest is not escaped:\n%s", md.String())
	}
}

// TestCurvesNameTheProfile: a picture of milliseconds says what they are
// modelled on.
func TestCurvesNameTheProfile(t *testing.T) {
	r := reportOf(t)
	drawn := 0
	for i := range r.Scenarios {
		text, err := r.Scenarios[i].curves(r)
		if err != nil {
			t.Fatal(err)
		}
		if text == "" {
			continue
		}
		if drawn++; !strings.Contains(string(text), "h100/x") {
			t.Errorf("%s: the picture names no profile: %.600s", r.Scenarios[i].Name, text)
		}
	}
	if drawn == 0 {
		t.Error("no picture drawn")
	}
}
