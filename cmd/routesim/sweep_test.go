package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"routesim/reports/sweepdata"
)

// sweepTrace writes a trace of n requests that share beginnings.
func writeSweepTrace(t *testing.T, n int) string {
	t.Helper()
	var b strings.Builder
	x := uint32(1)
	next := func(n uint32) uint32 { x = x*1664525 + 1013904223; return (x >> 8) % n }
	at := 0
	for range n {
		at += int(next(60))
		first, blocks := next(12), 1+next(9)
		fmt.Fprintf(&b, `{"timestamp": %d, "input_length": %d, "output_length": %d, "hash_ids": [%d`, at, 512*blocks-next(300), 1+next(60), first)
		for k := uint32(1); k < blocks; k++ {
			if k < 4 {
				fmt.Fprintf(&b, ", %d", 100*first+k)
			} else {
				fmt.Fprintf(&b, ", %d", 10000+next(100000))
			}
		}
		b.WriteString("]}\n")
	}
	name := filepath.Join(t.TempDir(), "trace.jsonl")
	if err := os.WriteFile(name, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	return name
}

// sweepArgs vary two settings of a small fleet.
func sweepArgs(trace, dir string, more ...string) []string {
	return append([]string{
		"sweep", trace, "--no-env", "-q", "--timing=dynamo-polynomial", "--workers=3", "--num-gpu-blocks=400",
		"--vary=router-kv-overlap-score-credit=0:2:1", "--vary=router-temperature=0,0.4", "--seeds=2", "-o", dir,
	}, more...)
}

// folder reads all files of a folder.
func folder(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	err := filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		rel, _ := filepath.Rel(dir, name)
		files[rel], err = os.ReadFile(name)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// sameFolders compares all files of two folders.
func sameFolders(t *testing.T, got, want string) {
	t.Helper()
	a, b := folder(t, got), folder(t, want)
	if x, y := slices.Sorted(maps.Keys(a)), slices.Sorted(maps.Keys(b)); !slices.Equal(x, y) {
		t.Errorf("the files are %v, want %v", x, y)
	}
	for name := range b {
		if !bytes.Equal(a[name], b[name]) {
			t.Errorf("%s differs", name)
		}
	}
}

// interruptAfter is a context that is cancelled once runs have been saved in a
// folder.
type interruptAfter struct {
	context.Context
	dir  string
	runs int
	off  atomic.Bool
}

func (c *interruptAfter) Err() error {
	if !c.off.Load() {
		if found, _ := filepath.Glob(filepath.Join(c.dir, "runs", "*.parquet")); len(found) < c.runs {
			return nil
		}
		c.off.Store(true)
	}
	return context.Canceled
}

// TestSweep compares the folders that a sweep leaves behind, however it came to
// its end: on one core or several, interrupted and taken up again, made from its
// own description, or in shards.
func TestSweep(t *testing.T) {
	trace := writeSweepTrace(t, 150)
	reference := filepath.Join(t.TempDir(), "reference")
	// In short mode half of the runs, and no report.
	runs, more, files := 14, []string(nil), []string{"report.html", "points.csv", "points.parquet", "sweep.yaml", "requests.parquet"}
	if testing.Short() {
		runs, more, files = 7, []string{"--shard=0/2"}, files[1:]
	}
	cores := runtime.GOMAXPROCS(1)
	code, stdout, stderr := command(context.Background(), nil, sweepArgs(trace, reference, more...)...)
	runtime.GOMAXPROCS(cores)
	if code != exitOK || !testing.Short() && !strings.Contains(stdout, "report") {
		t.Fatalf("exit code %d: %s%s", code, stdout, stderr)
	}
	names := folder(t, reference)
	for _, want := range files {
		if len(names[want]) == 0 {
			t.Errorf("no %s among %v", want, slices.Sorted(maps.Keys(names)))
		}
	}

	t.Run("cores", func(t *testing.T) {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
		dir := filepath.Join(t.TempDir(), "out")
		if code, _, stderr := command(context.Background(), nil, sweepArgs(trace, dir, more...)...); code != exitOK {
			t.Fatalf("exit code %d: %s", code, stderr)
		}
		sameFolders(t, dir, reference)
	})
	t.Run("resume", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "out")
		ctx := &interruptAfter{Context: context.Background(), dir: dir, runs: 3}
		loud := slices.DeleteFunc(sweepArgs(trace, dir, more...), func(arg string) bool { return arg == "-q" })
		code, _, stderr := command(ctx, nil, loud...)
		if code != exitInterrupt || !strings.Contains(stderr, "error: interrupted: ") || !strings.Contains(stderr, "error: go on with: routesim sweep "+trace) || !strings.Contains(stderr, "-o "+dir) {
			t.Fatalf("exit code %d: %s", code, stderr)
		}
		if n := strings.Count(stderr, " runs done"); n != 1 {
			t.Errorf("how far it came is told %d times: %s", n, stderr)
		}
		kept := modified(t, filepath.Join(dir, "runs"))
		if len(kept) < 3 || len(kept) >= runs {
			t.Fatalf("%d runs were kept, want some of %d", len(kept), runs)
		}
		s, err := sweepdata.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		done := 0
		for i := range s.Points {
			done += len(s.Points[i].Runs)
		}
		if done == 0 || done > len(kept) {
			t.Errorf("points.csv has %d runs, the folder %d", done, len(kept))
		}
		if code, _, stderr := command(context.Background(), nil, sweepArgs(trace, dir, more...)...); code != exitOK {
			t.Fatalf("exit code %d: %s", code, stderr)
		}
		for name, at := range modified(t, filepath.Join(dir, "runs")) {
			if old, ok := kept[name]; ok && !old.Equal(at) {
				t.Errorf("%s was made again", name)
			}
		}
		sameFolders(t, dir, reference)
	})
	if testing.Short() {
		t.Skip("in short mode: made again from sweep.yaml, and in shards")
	}
	t.Run("from", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "out")
		if code, _, stderr := command(context.Background(), nil, "sweep", "--from", filepath.Join(reference, "sweep.yaml"), "-q", "-o", dir); code != exitOK {
			t.Fatalf("exit code %d: %s", code, stderr)
		}
		sameFolders(t, dir, reference)
	})
	t.Run("shards", func(t *testing.T) { testShards(t, trace, reference) })
}

func modified(t *testing.T, dir string) map[string]time.Time {
	t.Helper()
	out := map[string]time.Time{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && strings.HasSuffix(e.Name(), ".parquet") && e.Name()[0] != '.' {
			out[e.Name()] = info.ModTime()
		}
	}
	return out
}

// process is the program as a process of its own: this test binary, which is
// the program under another name (see TestMain).
func process(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Args = append([]string{"routesim"}, args...)
	return cmd
}

// testShards makes a sweep in four processes, kills one of them halfway, runs
// that one again, and joins the four folders.
func testShards(t *testing.T, trace, reference string) {
	root := t.TempDir()
	var parts []string
	var running []*exec.Cmd
	for i := range 4 {
		dir := filepath.Join(root, fmt.Sprint("part-", i))
		parts = append(parts, dir)
		cmd := process(t, sweepArgs(trace, dir, fmt.Sprintf("--shard=%d/4", i))...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		running = append(running, cmd)
	}
	victim := filepath.Join(parts[2], "runs")
	for begin := time.Now(); time.Since(begin) < time.Minute; time.Sleep(time.Millisecond) {
		if found, _ := filepath.Glob(filepath.Join(victim, "*.parquet")); len(found) > 0 {
			break
		}
	}
	running[2].Process.Kill()
	for i, cmd := range running {
		if err := cmd.Wait(); err != nil && i != 2 {
			t.Fatalf("shard %d: %v", i, err)
		}
	}
	kept := modified(t, victim)
	if len(kept) == 0 || len(kept) > 4 {
		t.Fatalf("the killed shard left %d runs", len(kept))
	}
	// A run that was not finished is taken away, whatever the kill has hit.
	for name := range kept {
		if len(kept) == 4 {
			if err := os.Remove(filepath.Join(victim, name)); err != nil {
				t.Fatal(err)
			}
			delete(kept, name)
			break
		}
	}
	out := filepath.Join(root, "early")
	if code, _, stderr := command(context.Background(), nil, append([]string{"sweep", "merge", "-q", "-o", out}, parts...)...); code != exitFailed || !strings.Contains(stderr, "missing: point ") || !strings.Contains(stderr, "runs are missing") {
		t.Errorf("joined with runs missing: exit code %d: %s", code, stderr)
	}
	if output, err := process(t, sweepArgs(trace, parts[2], "--shard=2/4")...).CombinedOutput(); err != nil {
		t.Fatalf("run again: %v: %s", err, output)
	}
	for name, at := range modified(t, victim) {
		if old, ok := kept[name]; ok && !old.Equal(at) {
			t.Errorf("%s was made again", name)
		}
	}
	merged := filepath.Join(root, "merged")
	if output, err := process(t, append([]string{"sweep", "merge", "-q", "-o", merged}, parts...)...).CombinedOutput(); err != nil {
		t.Fatalf("merge: %v: %s", err, output)
	}
	sameFolders(t, merged, reference)
	refuseUnlike(t, trace, parts)
}

// refuseUnlike joins folders that do not belong together.
func refuseUnlike(t *testing.T, trace string, parts []string) {
	other := filepath.Join(t.TempDir(), "other")
	if code, _, stderr := command(context.Background(), nil, sweepArgs(trace, other, "--shard=1/4", "--block-size=128")...); code != exitOK {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	out := filepath.Join(t.TempDir(), "out")
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{parts[0], other}, "other: setting block-size: found 128, expected 64 as in " + parts[0]},
		{[]string{parts[0], parts[0]}, "found the folder twice"},
		{[]string{parts[0], "--trace=testdata/traces/small.jsonl"}, "found the trace of digest"},
		{[]string{parts[0], filepath.Join(parts[0], "runs")}, "found no sweep.yaml"},
	} {
		code, _, stderr := command(context.Background(), nil, append([]string{"sweep", "merge", "-q", "-o", out}, c.args...)...)
		if code != exitUsage || !strings.Contains(stderr, c.want) {
			t.Errorf("%v: exit code %d: %s; want %q", c.args, code, stderr, c.want)
		}
	}
	if code, _, stderr := command(context.Background(), nil, "sweep", "merge", parts[0], parts[1], "-o", parts[1]); code != exitUsage || !strings.Contains(stderr, "one of the folders") {
		t.Errorf("joined into a part: exit code %d: %s", code, stderr)
	}
}

// TestSweepNamesFailedPoints: a combination that cannot be run is that point's
// error and stops no other.
func TestSweepNamesFailedPoints(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	code, _, stderr := command(context.Background(), nil, "sweep", "testdata/traces/small.jsonl", "--no-env", "-q", "--workers=2",
		"--vary=sla-e2e-ms=none,500", "--vary=sla-ttft-ms=none,100", "--seeds=1", "-o", dir)
	if code != exitFailed || !strings.Contains(stderr, "(sla-e2e-ms=500 sla-ttft-ms=100), seed 0: sla-e2e-ms: found together with") || !strings.Contains(stderr, "error: 1 of 5 runs failed") {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	s, err := sweepdata.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	done, failed := 0, 0
	for i := range s.Points {
		done += len(s.Points[i].Runs)
		failed += len(s.Points[i].Failed)
	}
	if done != 4 || failed != 1 || s.Objective != "goodput_share" {
		t.Errorf("%d runs done, %d failed, objective %s", done, failed, s.Objective)
	}
}

// TestSweepCommandMakesItAgain: the command that a sweep notes makes the same
// sweep without the environment and the working order it was given in.
func TestSweepCommandMakesItAgain(t *testing.T) {
	first, second := filepath.Join(t.TempDir(), "first"), filepath.Join(t.TempDir(), "second")
	config := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(config, []byte("workers: 3\nrouter-temperature: 0.9\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	sys := system{nil, io.Discard, io.Discard, []string{"DYN_ROUTER_TEMPERATURE=0.2", "DYN_ROUTER_MODE=kv"}}
	// A shard without runs: the points alone are of interest.
	args := []string{
		"sweep", "--no-router-assume-kv-reuse", "testdata/traces/small.jsonl", "--config", config, "--track_active_blocks", "--vary", "workers=2xh100/llama-3.1-70b/tp4,1;",
		"--vary=router_prefill_load_scale=0:2:1", "--seeds=3", "--shard=99/100", "--objective=p50_itl_ms", "--sla-e2e-ms=900", "--sla-target=12.5", "-q",
	}
	if code := run(context.Background(), append(args, "-o", first), sys); code != exitOK {
		t.Fatalf("exit code %d", code)
	}
	a, err := sweepdata.Open(first)
	if err != nil {
		t.Fatal(err)
	}
	if a.Base["router-temperature"] != 0.2 || a.SLA.Target != 0.125 || len(a.Points) != 5 {
		t.Fatalf("unexpected sweep: %v, %v, %d points", a.Base["router-temperature"], a.SLA, len(a.Points))
	}
	sys.environ = []string{"DYN_ROUTER_TEMPERATURE=0.7"}
	if code := run(context.Background(), append(slices.Clone(a.Command[1:]), "--shard=99/100", "-q", "-o", second), sys); code != exitOK {
		t.Fatalf("%v: exit code %d", a.Command, code)
	}
	sameFolders(t, second, first)
}
