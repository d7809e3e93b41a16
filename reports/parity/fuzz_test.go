package parity

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// FuzzLoad reads anything as a recording: it is refused in one line, named
// unsupported, or compared.
func FuzzLoad(f *testing.F) {
	for _, pattern := range []string{
		filepath.Join(goldenDir, "engine", "[0-9]*.json"),
		filepath.Join(goldenDir, "random", "random_0*.json.gz"),
		filepath.Join("testdata", "unsupported", "*.json"),
	} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			f.Fatalf("%s: %d files, %v", pattern, len(files), err)
		}
		for _, file := range files {
			text, err := readFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(string(text))
		}
	}
	f.Add(recordingText(kvScenario))
	f.Add(recordingText(`, "mode": "round_robin", "offset": -5, "limit": 9`))
	f.Add("[]")
	f.Add("")
	dir := f.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "tiny.jsonl"), []byte(traceRows), 0o644); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		g, err := parse(filepath.Join(dir, "fuzz.json"), []byte(text), nil)
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("an error of several lines: %q", err)
			}
			return
		}
		if !small(g) {
			return
		}
		r := g.Check(context.Background())
		switch {
		case r.Status == Unsupported && r.Unsupported == "":
			t.Error("unsupported without a reason")
		case r.Status == Different && len(r.Kinds) == 0 && r.Failure == "":
			t.Error("different without a difference")
		case r.Status == Equal && (len(r.Kinds) > 0 || r.MismatchedRows > 0):
			t.Errorf("equal with %v", r.Kinds)
		}
	})
}

// small keeps the fuzzer away from runs that are only long.
func small(g *Golden) bool {
	if g.unsupported != "" {
		return true
	}
	tokens := 0
	for i := range g.trace.Len() {
		tokens += int(g.trace.InputTokens(i)) + int(g.trace.OutputTokens(i))
	}
	return tokens < 20000 && g.settings.config.Workers() < 100
}
