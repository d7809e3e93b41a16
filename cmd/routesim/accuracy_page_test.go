package main

import (
	"os"
	"strings"
	"testing"
)

// TestReadmeShowsTheAccuracyTable holds the rows of the README's table of
// errors to the page that the program writes.
func TestReadmeShowsTheAccuracyTable(t *testing.T) {
	read := func(path string) string {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	readme, page := read("../../README.md"), read("../../models/published/ACCURACY.md")
	_, tables, found := strings.Cut(page, "## Rows not used")
	tables, _, more := strings.Cut(tables, "A rate marked")
	if !found || !more {
		t.Fatal("the page has no tables of rows used and not used")
	}
	rows := 0
	for _, line := range strings.Split(tables, "\n") {
		if strings.HasPrefix(line, "|") {
			if rows++; !strings.Contains(readme, line) {
				t.Errorf("README lacks the row %s", line)
			}
		}
	}
	if rows < 6 {
		t.Errorf("found %d rows, expected the heads and at least a group each", rows)
	}
}
