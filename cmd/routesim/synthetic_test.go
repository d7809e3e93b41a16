package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// syntheticArgs are a small synthetic load.
func syntheticArgs(more ...string) []string {
	return append([]string{"--no-env", "--quiet", "--timing=fixed:12,4", "--workers=3", "--request-count=40", "--input-tokens=700", "--output-tokens=6",
		"--shared-prefix-ratio=0.5", "--num-prefix-groups=4", "--turns-per-session=2", "--inter-turn-delay-ms=5"}, more...)
}

// TestSyntheticLoadOnTheCommandLine: a load is made in the place of a trace,
// and a saved run or sweep makes the same one again.
func TestSyntheticLoadOnTheCommandLine(t *testing.T) {
	if testing.Short() {
		t.Skip("in short mode: makes sweeps with all their figures")
	}
	dir := t.TempDir()
	do := func(args ...string) string {
		t.Helper()
		code, out, errs := command(context.Background(), nil, args...)
		if code != 0 {
			t.Fatalf("%v: exit code %d: %s", args, code, errs)
		}
		return out
	}
	run := filepath.Join(dir, "run")
	out := do(append([]string{"replay", "-o", run, "--request-rate=20"}, syntheticArgs()...)...)
	if !strings.HasPrefix(out, "80 requests") || !strings.Contains(out, "trace synthetic load") {
		t.Errorf("the output begins %q", out[:200])
	}
	if out := do("explain", run, "--request", "7", "--quiet"); !strings.Contains(out, "request 7") {
		t.Errorf("explain says %q", out)
	}
	first, again := filepath.Join(dir, "first"), filepath.Join(dir, "again")
	do(append([]string{"sweep", "-o", first, "--vary=request-rate=10,20", "--seeds=2", "--request-rate=20"}, syntheticArgs()...)...)
	do("sweep", "--from", filepath.Join(first, "sweep.yaml"), "-o", again, "--quiet")
	var tables [2]string
	for i, d := range []string{first, again} {
		text, err := os.ReadFile(filepath.Join(d, "points.csv"))
		if err != nil {
			t.Fatal(err)
		}
		tables[i] = string(text)
	}
	if tables[0] != tables[1] || strings.Count(tables[0], "\n") < 5 {
		t.Errorf("the sweep made again differs: %s and %s", tables[0], tables[1])
	}
	if a, b := do(append([]string{"replay", "--request-rate=20"}, syntheticArgs()...)...), do(append([]string{"replay", "--request-rate=20", "--arrival-seed=3"}, syntheticArgs()...)...); a == b {
		t.Error("another seed gives the same arrivals")
	}
}

// TestSyntheticLoadsThatAreMistakes: what is missing, or given twice, is named.
func TestSyntheticLoadsThatAreMistakes(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{append([]string{"replay", "trace.jsonl", "--request-rate=2"}, syntheticArgs()...), "found a synthetic load together with the TRACE trace.jsonl"},
		{append([]string{"replay"}, syntheticArgs()...), "found 0 of request-rate, arrival-interval-ms and replay-concurrency, expected exactly one"},
		{append([]string{"replay", "--request-rate=2", "--replay-concurrency=4"}, syntheticArgs()...), "found 2 of request-rate"},
		{[]string{"replay", "--no-env", "--request-count=5", "--input-tokens=7", "--request-rate=2"}, "found 5 without input-tokens or output-tokens"},
		{[]string{"replay", "--no-env"}, "expected a TRACE (a file, or - for standard input), or --request-count"},
		{append([]string{"validate", "--request-rate=2"}, syntheticArgs()...), "expected a TRACE: there is nothing recorded"},
		{append([]string{"compare", "--request-rate=2", "--a=--request-rate=2", "--b=--request-rate=4"}, syntheticArgs()...), "expected the same requests in both runs"},
	} {
		code, _, errs := command(context.Background(), nil, c.args...)
		if code != 2 || !strings.Contains(errs, c.want) {
			t.Errorf("%v: exit code %d: %s, expected %q", c.args, code, errs, c.want)
		}
	}
}
