package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestReadmeSaysWhatAReaderWouldOvertrust: where the README states the speed it
// names the runs that are slower, and a recorded fleet that is the program's own
// is called so.
func TestReadmeSaysWhatAReaderWouldOvertrust(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	rest, found := strings.Join(strings.Fields(string(text)), " "), 0
	for {
		_, after, more := strings.Cut(rest, "a fraction of a second")
		if !more {
			break
		}
		found, rest = found+1, after
		if !strings.Contains(after[:min(len(after), 40)], "host") {
			t.Errorf("a fraction of a second%.60s: does not say that host tiers take longer", after)
		}
	}
	if found < 2 {
		t.Errorf("found the speed %d times, expected it at the head and under Speed", found)
	}
	for line := range strings.Lines(string(text)) {
		if strings.Contains(line, "validate testdata/recorded") && !strings.Contains(line, "routesim's own") {
			t.Errorf("%s: does not say who recorded it", line)
		}
	}
}

// TestErrorSaysOfWhichRuns: the stated error of a profile comes with what its
// runs were, in the terminal and in the machine-readable summary.
func TestErrorSaysOfWhichRuns(t *testing.T) {
	for _, c := range []struct {
		profile, says string
		borrowed      bool
		unlike        []string
	}{
		{"h100/llama-3.1-70b/tp4", "(28 runs of llama-3.1-70b fp8 tp2/4/8, none in bf16, prompts up to 8,192 tokens,", false, []string{"weight_dtype"}},
		{"h100/llama-3.1-70b/tp4/fp8", "(28 runs of llama-3.1-70b fp8 tp2/4/8, prompts up to 8,192 tokens,", false, []string{}},
		{"h200/qwen3-32b/tp2", "(31 runs of another model, llama-3.1-70b fp8 tp1/2/4/8)", true, []string{"model"}},
	} {
		args := []string{"replay", "--no-env", "--quiet", "--request-count=20", "--input-tokens=500", "--output-tokens=10", "--request-rate=5", "--profile=" + c.profile}
		_, table, stderr := command(context.Background(), nil, args...)
		if line := strings.Join(strings.Fields(table), " "); !strings.Contains(line, c.says) {
			t.Errorf("%s: the terminal lacks %q: %s%s", c.profile, c.says, line, stderr)
		}
		_, text, _ := command(context.Background(), nil, append(args, "--format=json")...)
		var doc struct {
			Routesim struct {
				Profile []struct {
					Grade    string
					Borrowed *bool    `json:"calibration_borrowed"`
					Unlike   []string `json:"calibration_unlike"`
					Runs     string   `json:"calibration_runs"`
				}
			}
		}
		if err := json.Unmarshal([]byte(text), &doc); err != nil || len(doc.Routesim.Profile) != 1 {
			t.Fatalf("%v: %s", err, text)
		}
		p := doc.Routesim.Profile[0]
		if p.Grade != "A" || p.Borrowed == nil || *p.Borrowed != c.borrowed || !slices.Equal(p.Unlike, c.unlike) || p.Unlike == nil || !strings.Contains(c.says, strings.Split(p.Runs, ", prompts")[0]) {
			t.Errorf("%s: the summary has %+v", c.profile, p)
		}
	}
}
