package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"routesim/cmd/routesim/internal/settings"
	"routesim/reports/sweepdata"
)

// smallSweep makes a part of a sweep, so that there is nothing to judge, and
// returns the end of standard error.
func smallSweep(t *testing.T, dir string, more ...string) string {
	t.Helper()
	args := append([]string{"sweep", "testdata/traces/small.jsonl", "--no-env", "--timing=fixed:10,1", "--workers=2", "--seeds=1", "--shard=0/2", "-o", dir}, more...)
	code, _, stderr := command(context.Background(), nil, args...)
	if code != exitOK {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	return stderr
}

// TestSweepDamagedRun: a damaged run is made again by the sweep's own command,
// and named where parts are joined.
func TestSweepDamagedRun(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	const vary = "--vary=router-temperature=0,1,2"
	smallSweep(t, dir, vary)
	files, err := filepath.Glob(filepath.Join(dir, "runs", "*.parquet"))
	if err != nil || len(files) != 2 {
		t.Fatalf("%d runs, want 2 (%v)", len(files), err)
	}
	name := files[0]
	whole, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	flipped := func(at int) []byte {
		bad := bytes.Clone(whole)
		bad[at] ^= 0x55
		return bad
	}
	for what, bad := range map[string][]byte{
		"first byte": flipped(0), "a page": flipped(60), "the footer": flipped(len(whole) - 200), "its length": flipped(len(whole) - 6),
		"cut": whole[:len(whole)/2], "empty": nil, "no table": []byte("PAR1 and nothing else PAR1"),
	} {
		if err := os.WriteFile(name, bad, 0o644); err != nil {
			t.Fatal(err)
		}
		code, _, stderr := command(context.Background(), nil, "sweep", "merge", dir, "-q", "-o", filepath.Join(t.TempDir(), "joined"))
		if code != exitUsage || !strings.Contains(stderr, "error: "+name+": ") || !strings.Contains(stderr, "run the sweep again") {
			t.Errorf("%s: merge: exit code %d: %s", what, code, stderr)
		}
		if stderr := smallSweep(t, dir, vary); !strings.Contains(stderr, "2 of 2 runs done, 1 of them before") {
			t.Errorf("%s: %s", what, stderr)
		}
		if again, err := os.ReadFile(name); err != nil || !bytes.Equal(again, whole) {
			t.Errorf("%s: the run made again differs (%v)", what, err)
		}
	}
}

// TestSweepStaleReport: the report and the plots of another sweep do not stay
// beside a new one's tables; those of the same sweep do, and so do other files.
func TestSweepStaleReport(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	smallSweep(t, dir, "--vary=router-temperature=0,1")
	own := []string{"report.html", "plots/cdf_ttft.png", "plots/workers.svg", "plots/knob_ttft_router-temperature.png"}
	others := []string{"notes.html", "plots/mine.png", "plots/cdf_ttft.pdf", "plots/workersort.svg"}
	if err := os.MkdirAll(filepath.Join(dir, "plots"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range append(own, others...) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	there := func(names []string) (n int) {
		for _, name := range names {
			if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
				n++
			}
		}
		return n
	}
	smallSweep(t, dir, "--vary=router-temperature=0,1")
	if there(own) != len(own) || there(others) != len(others) {
		t.Error("the same sweep removed files")
	}
	smallSweep(t, dir, "--vary=router-temperature=0,1,2")
	if there(own) != 0 || there(others) != len(others) {
		t.Errorf("another sweep left %d of its files and %d of %d other ones", there(own), there(others), len(others))
	}
}

// TestSweepAndRunApart: a run and a sweep do not write into each other's folder.
func TestSweepAndRunApart(t *testing.T) {
	sweep, run := filepath.Join(t.TempDir(), "sweep"), filepath.Join(t.TempDir(), "run")
	smallSweep(t, sweep, "--vary=router-temperature=0,1")
	replay := func(dir string) (int, string) {
		code, _, stderr := command(context.Background(), nil, "replay", "testdata/traces/small.jsonl", "--no-env", "-q", "--timing=fixed:10,1", "--workers=2", "-o", dir)
		return code, stderr
	}
	for range 2 { // its own folder is overwritten
		if code, stderr := replay(run); code != exitOK {
			t.Fatal(stderr)
		}
	}
	before := folder(t, sweep)
	if code, stderr := replay(sweep); code != exitUsage || !strings.Contains(stderr, "found a sweep's folder") || !strings.Contains(stderr, "choose another DIR") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	for name, text := range folder(t, sweep) {
		if !bytes.Equal(text, before[name]) {
			t.Errorf("%s was changed", name)
		}
	}
	code, _, stderr := command(context.Background(), nil, "sweep", "testdata/traces/small.jsonl", "--no-env", "-q", "--vary=router-temperature=0,1", "-o", run)
	if code != exitUsage || !strings.Contains(stderr, "found a run's folder") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}

// TestSweepShardCount: a number of shards that was given is one, or an error.
func TestSweepShardCount(t *testing.T) {
	for _, count := range []string{"0", "-1"} {
		code, _, stderr := command(context.Background(), nil, "sweep", "testdata/traces/small.jsonl", "--vary=workers=1,2", "--shard-count="+count, "-o", filepath.Join(t.TempDir(), "out"))
		if code != exitUsage || !strings.Contains(stderr, "error: --shard-count: found "+count) {
			t.Errorf("%s: exit code %d: %s", count, code, stderr)
		}
	}
}

// TestSweepFromLacksSetting: every setting must be in sweep.yaml, as one that is
// not would silently be another version's default.
func TestSweepFromLacksSetting(t *testing.T) {
	if testing.Short() {
		t.Skip("in short mode: sweeps once per setting")
	}
	dir := filepath.Join(t.TempDir(), "out")
	smallSweep(t, dir, "--vary=router-temperature=0,1")
	text, err := os.ReadFile(filepath.Join(dir, sweepdata.ConfigFile))
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "less.yaml")
	for _, s := range settings.NewTable().All() {
		line := "\n  " + s.Name + ": "
		at := bytes.LastIndex(text, []byte(line))
		if s.Support != settings.Honoured || at < 0 {
			continue
		}
		end := at + 1 + bytes.IndexByte(text[at+1:], '\n')
		if err := os.WriteFile(name, append(bytes.Clone(text[:at]), text[end:]...), 0o644); err != nil {
			t.Fatal(err)
		}
		code, _, stderr := command(context.Background(), nil, "sweep", "--from", name, "-o", filepath.Join(t.TempDir(), "again"))
		if code != exitUsage || !strings.Contains(stderr, name+": settings."+s.Name+": found nothing") {
			t.Errorf("%s: exit code %d: %s", s.Name, code, stderr)
		}
	}
}

// TestSweepPlansLinearly: four times the points take about four times as long to
// plan, not sixteen times.
func TestSweepPlansLinearly(t *testing.T) {
	if testing.Short() {
		t.Skip("measures planning, not races")
	}
	plan := func(n int) time.Duration {
		var b strings.Builder
		b.WriteString("router-temperature\n")
		for i := range n {
			fmt.Fprintf(&b, "%.6f\n", float64(i)/1e6)
		}
		dir := t.TempDir()
		name := filepath.Join(dir, "points.csv")
		if err := os.WriteFile(name, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		smallSweep(t, filepath.Join(dir, "out"), "-q", "--points="+name, fmt.Sprintf("--shard=0/%d", n+2))
		return time.Since(began)
	}
	few := plan(1500)
	if many := plan(6000); many > 10*few {
		t.Errorf("6000 points took %v, 1500 took %v", many, few)
	}
}
