package parity

import (
	"bytes"
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRecordingsAreReproduced replays every recording of the tree, in a short
// run only those of at most a hundred requests.
func TestRecordingsAreReproduced(t *testing.T) {
	n := 0
	err := filepath.WalkDir(goldenDir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !isRecording(e.Name()) {
			return err
		}
		n++
		t.Run(baseName(path), func(t *testing.T) {
			t.Parallel()
			g, err := Load(path, nil)
			if err != nil {
				t.Fatal(err)
			}
			if testing.Short() && len(g.records) > 100 {
				t.Skip("a long recording")
			}
			checkEqual(t, g.Check(context.Background()))
			if len(g.records) <= 1000 {
				checkEqual(t, g.CheckWith(context.Background(), Options{Plain: true}))
			}
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if n < 150 {
		t.Errorf("found %d recordings, expected at least 150", n)
	}
}

func checkEqual(t *testing.T, r Report) {
	t.Helper()
	if r.Status == Equal {
		return
	}
	var b strings.Builder
	if err := r.WriteText(&b, true); err != nil {
		t.Fatal(err)
	}
	t.Error(b.String())
}

func TestUnsupportedRecordingsSayWhy(t *testing.T) {
	for name, want := range map[string]string{
		"65_agentic_mooncake": "agentic_mooncake",
	} {
		g, err := Load(filepath.Join("testdata", "unsupported", name+".json"), nil)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		r := g.Check(context.Background())
		if r.Status != Unsupported || !strings.Contains(r.Unsupported, want) || r.Rows == 0 || len(r.Compared) != 0 {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

func runAll(t *testing.T, o RunOptions, paths ...string) (out, notes string, exit int, err error) {
	t.Helper()
	var w, n bytes.Buffer
	o.Notes = &n
	exit, err = RunAll(context.Background(), &w, paths, o)
	return w.String(), n.String(), exit, err
}

func TestRunAllExitCodes(t *testing.T) {
	equal := filepath.Join(goldenDir, "engine", "01_basic.json")
	unsupported := filepath.Join("testdata", "unsupported", "65_agentic_mooncake.json")
	text, err := os.ReadFile(equal)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	different := writeFile(t, strings.Replace(string(text), `"first_admit_ms": 0.0`, `"first_admit_ms": 0.5`, 1), dir, "d.json")
	broken := writeFile(t, "{", dir, "broken.json")
	index := writeFile(t, "[]", dir, "index.json")
	for _, c := range []struct {
		name   string
		o      RunOptions
		paths  []string
		exit   int
		lines  int
		failed bool
	}{
		{"equal", RunOptions{}, []string{equal}, ExitEqual, 1, false},
		{"different", RunOptions{}, []string{equal, different}, ExitDifferent, 2, false},
		{"unsupported", RunOptions{}, []string{unsupported, equal}, ExitDifferent, 2, false},
		{"unsupported allowed", RunOptions{AllowUnsupported: true}, []string{unsupported, equal}, ExitEqual, 2, false},
		{"different in spite of the allowance", RunOptions{AllowUnsupported: true}, []string{different}, ExitDifferent, 1, false},
		{"unusable", RunOptions{}, []string{broken, different}, ExitUnusable, 1, true},
		{"absent", RunOptions{}, []string{filepath.Join(dir, "none.json")}, ExitUnusable, 0, true},
		{"nothing", RunOptions{}, nil, ExitUnusable, 0, true},
		{"an index", RunOptions{}, []string{index, equal}, ExitEqual, 1, false},
		{"a folder", RunOptions{}, []string{filepath.Dir(unsupported)}, ExitDifferent, 1, false},
		{"an empty folder", RunOptions{}, []string{t.TempDir()}, ExitUnusable, 0, true},
	} {
		out, notes, exit, err := runAll(t, c.o, c.paths...)
		if exit != c.exit || strings.Count(out, "\n") != c.lines || (err != nil) != c.failed {
			t.Errorf("%s: exit %d, error %v, output\n%s", c.name, exit, err, out)
		}
		if c.name == "an index" && !strings.Contains(notes, "left out") {
			t.Errorf("no word about the index: %q", notes)
		}
	}
}

func TestRunAllWritesText(t *testing.T) {
	out, _, _, _ := runAll(t, RunOptions{}, filepath.Join(goldenDir, "engine", "01_basic.json"))
	for _, want := range []string{"equal", "01_basic", "2 rows", "first_token_ms 2", "admissions 2", "summary "} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in %q", want, out)
		}
	}
}

func TestRunAllWritesJSON(t *testing.T) {
	out, _, _, err := runAll(t, RunOptions{JSON: true}, filepath.Join(goldenDir, "engine", "01_basic.json"),
		filepath.Join("testdata", "unsupported", "65_agentic_mooncake.json"))
	if err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(strings.NewReader(out))
	var equal, not map[string]any
	if err := d.Decode(&equal); err != nil {
		t.Fatal(err)
	}
	if err := d.Decode(&not); err != nil {
		t.Fatal(err)
	}
	compared := equal["compared"].(map[string]any)
	if equal["golden"] != "01_basic" || equal["status"] != "equal" || equal["rows"] != 2.0 || equal["mismatched_rows"] != 0.0 ||
		len(equal["kinds"].(map[string]any)) != 0 || compared["last_token_ms"] != 2.0 || equal["unsupported"] != "" {
		t.Errorf("%v", equal)
	}
	if not["status"] != "unsupported" || not["unsupported"] == "" {
		t.Errorf("%v", not)
	}
}

func TestVerboseShowsTheFirstDifferences(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(goldenDir, "engine", "01_basic.json"))
	if err != nil {
		t.Fatal(err)
	}
	path := writeFile(t, strings.Replace(string(text), `"first_admit_ms": 32.105859`, `"first_admit_ms": 32`, 1), t.TempDir(), "d.json")
	out, _, _, _ := runAll(t, RunOptions{Verbose: true}, path)
	for _, want := range []string{"line 1: first_admit_ms: expected 32, got 32.105859", "request 0:", "first_admit_ms=32(got 32.105859)"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
}

// TestWhatASoftStopHidesIsNotBlamed cuts a recording short: nothing says where
// the requests under way at the stop had gone.
func TestWhatASoftStopHidesIsNotBlamed(t *testing.T) {
	g, err := Load(filepath.Join(goldenDir, "kv-temp05.json.gz"), nil)
	if err != nil {
		t.Fatal(err)
	}
	stop := 100000.0
	g.settings.config.MaxSimTimeMS = &stop
	n := 0
	for i, r := range g.records {
		if last, ok := number(r["last_token_ms"]); ok && last <= stop {
			g.records[n], g.rows[n] = r, g.rows[i]
			n++
		}
	}
	g.records, g.rows = g.records[:n], g.rows[:n]
	r := g.Check(context.Background())
	if n == 0 || r.Status != Unsupported || !strings.Contains(r.Unsupported, "soft stop") {
		t.Errorf("%d requests: %s %s %v", n, r.Status, r.Unsupported, r.Kinds)
	}
	g.settings.config.MaxSimTimeMS = nil
	if r := g.Check(context.Background()); r.Status != Different {
		t.Errorf("without a stop: %s", r.Status)
	}
}

func TestAStuckEngineIsADifference(t *testing.T) {
	path := writeFile(t, `{"options": {"trace_block_size": 4}, "extra_engine_args": {"engine": {"block_size": 4, "max_num_batched_tokens": 4, "enable_chunked_prefill": false}},
		"trace": [{"timestamp": 0, "input_length": 8, "output_length": 1, "hash_ids": [1, 2]}], "expected": {"requests": [], "summary": {}}}`, t.TempDir(), "stuck.json")
	out, _, exit, err := runAll(t, RunOptions{}, path)
	if err != nil || exit != ExitDifferent || !strings.Contains(out, "stuck: ") {
		t.Errorf("exit %d, error %v, output %s", exit, err, out)
	}
}

func TestACancelledRunIsNoComparison(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var w bytes.Buffer
	exit, err := RunAll(ctx, &w, []string{filepath.Join(goldenDir, "engine", "01_basic.json")}, RunOptions{})
	if exit != ExitUnusable || err == nil || w.Len() != 0 {
		t.Errorf("exit %d, error %v, output %s", exit, err, w.String())
	}
}
