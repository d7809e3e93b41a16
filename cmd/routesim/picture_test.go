package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestWordsOfTheFinding(t *testing.T) {
	for _, c := range []struct {
		base, other float64
		want        string
	}{
		{5330, 2560, "52.0 % below round-robin"},
		{2560, 5330, "108.2 % above round-robin"},
		{7, 7, "as in round-robin"},
	} {
		if got := against(c.base, c.other, "round-robin"); got != c.want {
			t.Errorf("%v, %v: %q, want %q", c.base, c.other, got, c.want)
		}
	}
}

// The picture is of both runs, and the same bytes each time.
func TestComparisonPicture(t *testing.T) {
	var pictures [2][]byte
	for i := range pictures {
		dir := t.TempDir()
		code, _, stderr := command(t.Context(), nil, "compare", "testdata/traces/small.jsonl", "--workers=2", "--quiet", "-o", dir)
		if code != exitOK {
			t.Fatalf("exit code %d: %s", code, stderr)
		}
		svg, err := os.ReadFile(filepath.Join(dir, "ttft.svg"))
		if err != nil {
			t.Fatal(err)
		}
		for _, words := range []string{"kv: TTFT p90", "round-robin (p90", "6 requests (open loop), 2 workers"} {
			if !strings.Contains(string(svg), words) {
				t.Errorf("the picture does not say %q", words)
			}
		}
		if pictures[i], err = os.ReadFile(filepath.Join(dir, "ttft.png")); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.HasPrefix(pictures[0], []byte("\x89PNG")) || !bytes.Equal(pictures[0], pictures[1]) {
		t.Errorf("pictures of %d and %d bytes differ or are no PNG", len(pictures[0]), len(pictures[1]))
	}
}
