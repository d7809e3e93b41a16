package main

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"routesim/reports/sweepdata"
)

// tour returns the command lines of the README's tour, without their remarks,
// and the trace that they name.
func tour(t *testing.T) (lines []string, trace string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "\n## Tour\n")
	_, rest, _ = strings.Cut(rest, "```\n")
	block, _, found := strings.Cut(rest, "```\n")
	if !found {
		t.Fatal("README.md has no tour")
	}
	for _, line := range strings.Split(strings.TrimSpace(block), "\n") {
		line, _, _ = strings.Cut(line, "#")
		if path, ok := strings.CutPrefix(line, "TRACE="); ok {
			trace = strings.TrimSpace(path)
			continue
		}
		lines = append(lines, strings.TrimSpace(line))
	}
	return lines, trace
}

// TestTour: every line of the tour can be typed as it stands. The files that it
// names are there, nothing stands for something else, and it runs, here with a
// small trace. Two commands that take long have tests of their own.
func TestTour(t *testing.T) {
	if testing.Short() {
		t.Skip("makes sweeps with all their figures")
	}
	lines, trace := tour(t)
	small, err := filepath.Abs("testdata/traces/small.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(root)
	if _, err := os.Stat(trace); err != nil || len(lines) < 15 {
		t.Fatalf("%d lines, the trace %q: %v", len(lines), trace, err)
	}
	placeholder := regexp.MustCompile(`\b[A-Z]{3,}\b`)
	dir := t.TempDir()
	for _, line := range lines {
		line = strings.ReplaceAll(line, "$TRACE", small)
		if bad := placeholder.FindString(strings.ReplaceAll(line, small, "")); bad != "" {
			t.Errorf("%s: %s stands for something else", line, bad)
		}
		words, err := shellWords(line)
		if err != nil || words[0] != "routesim" {
			t.Fatalf("%s: %v", line, err)
		}
		for i, w := range words {
			switch {
			case w == "out" || w == "tune" || w == "modes":
				words[i] = filepath.Join(dir, w)
			case strings.HasPrefix(w, "testdata/") || strings.HasPrefix(w, "cmd/"):
				if _, err := os.Stat(w); err != nil {
					t.Errorf("%s: %v", line, err)
				}
			}
		}
		if words[1] == "gate" || words[1] == "parity" {
			continue
		}
		if code, _, stderr := command(context.Background(), nil, words[1:]...); code != exitOK {
			t.Errorf("%s: exit code %d: %s", line, code, stderr)
		}
	}
}

// TestDefinitionsNameEveryEnd: what can become of a request is explained under
// the name of its column.
func TestDefinitionsNameEveryEnd(t *testing.T) {
	for _, m := range sweepdata.Metrics() {
		if m.Family == "requests" && m.Name != "completed_share" && !strings.Contains(definitions, "\n  "+m.Name+" ") {
			t.Errorf("routesim definitions does not explain %s", m.Name)
		}
	}
}
