package reports

import (
	"bytes"
	"strings"
	"testing"
)

// TestReadSummary reads back a document and writes the same one again.
func TestReadSummary(t *testing.T) {
	trace, c, r := slaCase(t)
	empty := Summarize(plainTrace(t, 2), testConfig(t, 2), build(2, never(), never()))
	for _, s := range []*Summary{Summarize(trace, c, r), empty} {
		s.Routesim.Config = map[string]any{"workers": 1.0}
		var first, second bytes.Buffer
		if err := s.Write(&first); err != nil {
			t.Fatal(err)
		}
		got, err := ReadSummary(first.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		if err := got.Write(&second); err != nil {
			t.Fatal(err)
		}
		if first.String() != second.String() {
			t.Errorf("read and written again:\n%s\nexpected\n%s", second.String(), first.String())
		}
	}
}

// TestReadSummaryErrors says what is wrong with a document.
func TestReadSummaryErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                                   "malformed JSON",
		"{}":                                 `no key "routesim"`,
		`{"routesim":1}`:                     "routesim: found a number, expected keys with values (is it",
		`{"routesim":{"version":7}}`:         "routesim: version: found a number, expected a text (is it",
		`[]`:                                 "found malformed JSON (found a list, expected keys with values), expected a summary.json",
		`{"routesim":{}}`:                    `num_requests: found "missing", expected a number`,
		`{"routesim":{},"num_requests":"x"}`: `num_requests: found`,
	} {
		if _, err := ReadSummary([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, expected %q", text, err, want)
		}
	}
}
