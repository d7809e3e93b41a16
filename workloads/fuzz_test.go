package workloads

import (
	"os"
	"strings"
	"testing"
)

// seed adds the head of a real file, one case per message, and a few rows of
// every shape.
func seed(f *testing.F, fixture, format string) {
	f.Helper()
	head, err := os.ReadFile("../testdata/traces/fixtures/" + fixture)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(head), false)
	f.Add(string(head), true)
	for _, c := range badTraces() {
		if c.format == format || c.format == "" {
			f.Add(c.text, len(c.text)%2 == 0)
		}
	}
	f.Add(someRows(20), false)
	f.Add(`{"session_id":"a","timestamp":1,"output_length":1,"hash_ids":[1]}`+"\n"+
		`{"session_id":"a","delay":2,"output_length":1,"hash_ids":[1],"output_token_ids":[0]}`+"\n"+goodRow, true)
	f.Add(taintRow, false)
}

// taintRow speaks of taints.
const taintRow = `{"timestamp":1,"output_length":1,"hash_ids":[1],"required_taints":["b","a"],"preferred_taints":{"a":-1.5,"b":2e3}}`

// fuzzOpen reads a text in every way there is: it must give a sound trace, or a
// problem on one line; skipping must end in the same rows without the bad ones.
func fuzzOpen(f *testing.F, format string) {
	f.Fuzz(func(t *testing.T, text string, closed bool) {
		o := Options{Format: format, ClosedLoop: closed}
		tr, err := openText(text, o)
		o.OnError = SkipRow
		skipping, errSkipping := openText(text, o)
		if err != nil {
			checkProblem(t, err)
		} else {
			checkTrace(t, tr)
			if errSkipping != nil || len(skipping.Skipped()) != 0 || skipping.Digest() != tr.Digest() {
				t.Fatalf("a clean trace is read differently where bad rows are skipped: %v", errSkipping)
			}
		}
		if errSkipping != nil {
			checkProblem(t, errSkipping)
			return
		}
		checkTrace(t, skipping)
		for i := range skipping.Skipped() {
			checkProblem(t, &skipping.Skipped()[i])
		}
		if err != nil && (len(skipping.Skipped()) == 0 || skipping.Skipped()[0].Error() != err.Error()) {
			t.Fatalf("fails with %v, but skips %v", err, skipping.Skipped())
		}
	})
}

func checkProblem(t *testing.T, err error) {
	t.Helper()
	p, ok := err.(*Problem)
	if !ok || p.File != "-" || p.Found == "" || p.Want == "" {
		t.Fatalf("%#v does not say what is wrong", err)
	}
	for _, r := range p.Error() {
		if r < ' ' || r == 0x7f {
			t.Fatalf("%q is not one clean line", p.Error())
		}
	}
}

func FuzzMooncake(f *testing.F) {
	seed(f, "mooncake_tiny.jsonl", FormatMooncake)
	fuzzOpen(f, FormatMooncake)
}

func FuzzDelta(f *testing.F) {
	seed(f, "mooncake-delta.jsonl", FormatDelta)
	fuzzOpen(f, FormatDelta)
}

func FuzzDynamo(f *testing.F) {
	seed(f, "dynamo-standard.jsonl", FormatDynamo)
	fuzzOpen(f, FormatDynamo)
}

// FuzzDetect lets the reader find out the format.
func FuzzDetect(f *testing.F) {
	for _, fixture := range []string{"agentic-mooncake.jsonl", "applied-compute-agentic.jsonl", "dynamo-agentic.jsonl", "weka.json"} {
		seed(f, fixture, "")
	}
	fuzzOpen(f, "")
}

// FuzzDifferential holds the scanner to the decoder.
func FuzzDifferential(f *testing.F) {
	for _, c := range badTraces() {
		for line := range strings.Lines(c.text) {
			f.Add(line)
		}
	}
	for line := range strings.Lines(someRows(30)) {
		f.Add(line)
	}
	f.Add(taintRow)
	f.Fuzz(func(t *testing.T, line string) { checkScan(t, line) })
}
