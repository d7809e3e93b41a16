package parity

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// traceRows is a small trace; line 1 and 2 arrive together.
const traceRows = `{"timestamp": 0, "input_length": 100, "output_length": 2, "hash_ids": [1]}
{"timestamp": 10, "input_length": 200, "output_length": 3, "hash_ids": [1]}
{"timestamp": 10, "input_length": 300, "output_length": 1, "hash_ids": [2]}
{"timestamp": 30, "input_length": 400, "output_length": 4, "hash_ids": [2]}
`

// recordingText is a recording of lines 1 and 2 of traceRows with the given
// scenario keys beside the trace.
func recordingText(scenario string) string {
	return fmt.Sprintf(`{"scenario": {"trace": "tiny.jsonl"%s}, "oracle": "x", "elapsed_s": 1, "summary": {"num_requests": 2}, "rows": [
{"line": 0, "worker": 1, "prefill_worker": null, "cost": 6.5, "cached_blocks": 0.0, "picks": 1, "arrival_ms": 0.0, "first_admit_ms": 0.0, "first_token_ms": 1.5, "last_token_ms": 3.5, "reused_tokens": 0, "output_length": 3, "status": "completed"},
{"line": 1, "worker": 0, "prefill_worker": null, "cost": 8.25, "cached_blocks": 0.0, "picks": 1, "arrival_ms": 0.0, "first_admit_ms": 0.0, "first_token_ms": 1.75, "last_token_ms": 1.75, "reused_tokens": 0, "output_length": 1, "status": "completed"}]}`, scenario)
}

const kvScenario = `, "mode": "kv_router", "offset": 1, "limit": 2, "replay": {"num_workers": 2}, "router": {}`

func writeFile(t *testing.T, text string, path ...string) string {
	t.Helper()
	name := filepath.Join(path...)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return name
}

func gzipped(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func zstandard(t *testing.T, text string) string {
	t.Helper()
	z, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	return string(z.EncodeAll([]byte(text), nil))
}

func TestLoadFindsTheTrace(t *testing.T) {
	for name, place := range map[string]func(t *testing.T, dir string){
		"beside":          func(t *testing.T, dir string) { writeFile(t, traceRows, dir, "golden", "tiny.jsonl") },
		"parent's traces": func(t *testing.T, dir string) { writeFile(t, traceRows, dir, "traces", "tiny.jsonl") },
		"named folder":    func(t *testing.T, dir string) { writeFile(t, traceRows, dir, "other", "tiny.jsonl") },
		"gzip":            func(t *testing.T, dir string) { writeFile(t, gzipped(t, traceRows), dir, "traces", "tiny.jsonl.gz") },
		"zstd":            func(t *testing.T, dir string) { writeFile(t, zstandard(t, traceRows), dir, "other", "tiny.jsonl.zst") },
		"no last newline": func(t *testing.T, dir string) {
			writeFile(t, strings.TrimSpace(traceRows), dir, "golden", "tiny.jsonl")
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			place(t, dir)
			path := writeFile(t, gzipped(t, recordingText(kvScenario)), dir, "golden", "a.json.gz")
			g, err := Load(path, []string{filepath.Join(dir, "other")})
			if err != nil {
				t.Fatal(err)
			}
			if g.Name != "a" || g.unsupported != "" {
				t.Errorf("name %q, unsupported %q", g.Name, g.unsupported)
			}
			if g.trace.Len() != 2 || g.trace.InputTokens(0) != 200 || g.trace.InputTokens(1) != 300 {
				t.Errorf("offset 1 and limit 2 kept %d rows, the first of %d tokens", g.trace.Len(), g.trace.InputTokens(0))
			}
			if g.rows[0] != 0 || g.rows[1] != 1 {
				t.Errorf("rows %v, expected 0 and 1", g.rows)
			}
			c, err := g.runConfig(Options{Plain: true})
			if err != nil {
				t.Fatal(err)
			}
			if !c.Plain || c.Force[0] != 1 || c.Force[1] != 0 {
				t.Errorf("plain %v, forced %v", c.Plain, c.Force)
			}
		})
	}
}

func TestLoadNamesWhatIsWrong(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, traceRows, dir, "tiny.jsonl")
	writeFile(t, traceRows+"{\"timestamp\": 40}\n", dir, "broken.jsonl")
	for name, c := range map[string]struct{ text, want string }{
		"no JSON":        {"{\n\"scenario\": nope}", "a.json:2: found"},
		"text behind":    {recordingText(kvScenario) + " {}", "text after the recording"},
		"a list":         {"[]", "found a list, expected a recording"},
		"no trace":       {strings.Replace(recordingText(kvScenario), "tiny.jsonl", "gone.jsonl", 1), "found no gone.jsonl"},
		"no mode":        {recordingText(``), "scenario.mode: found null"},
		"number of text": {recordingText(`, "mode": "kv_router", "replay": {"num_workers": "two"}`), `options.num_workers: found "two", expected a whole number`},
		"half a worker":  {recordingText(`, "mode": "kv_router", "replay": {"num_workers": 1.5}`), `options.num_workers: found 1.5, expected a whole number`},
		"flag of number": {recordingText(`, "mode": "kv_router", "router": {"router_assume_kv_reuse": 1}`), "router.router_assume_kv_reuse: found 1, expected true or false"},
		"no workers":     {recordingText(`, "mode": "kv_router", "replay": {"num_workers": 0}`), "workers: found 0"},
		"no concurrency": {recordingText(`, "mode": "kv_router", "replay": {"replay_concurrency": 0}`), "replay_concurrency: found 0, expected at least 1"},
		"bad trace row": {strings.Replace(recordingText(`, "mode": "round_robin", "offset": 3`), "tiny", "broken", 1),
			"broken.jsonl:5: "},
		"rows are no list": {`{"scenario": {"trace": "tiny.jsonl", "mode": "round_robin"}, "rows": 3, "summary": {}}`, "rows: found 3"},
		"no trace at all":  {`{"expected": {"requests": [], "summary": {}}}`, "trace: found null"},
		"short column row": {`{"columns": ["line"], "trace": [], "expected": {"rows": [[1, 2]], "summary": {}}}`, "expected 1 values, one per column"},
	} {
		t.Run(name, func(t *testing.T) {
			path := writeFile(t, c.text, dir, "a.json")
			_, err := Load(path, nil)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, expected one with %q", err, c.want)
			}
			if err != nil && strings.Contains(err.Error(), "\n") {
				t.Errorf("error of several lines: %q", err)
			}
		})
	}
}

func TestLoadReadsColumns(t *testing.T) {
	path := writeFile(t, `{"name": "c", "columns": ["line", "output_length"], "trace": [
		{"timestamp": 0, "input_length": 9, "output_length": 2, "hash_ids": [18446744073709551615]}],
		"expected": {"rows": [[0, 2]], "summary": {}}}`, t.TempDir(), "c.json")
	g, err := Load(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if v, ok := number(g.records[0]["output_length"]); !ok || v != 2 {
		t.Errorf("records %v", g.records)
	}
}

func TestForcedWorkersMustExist(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, traceRows, dir, "tiny.jsonl")
	for _, worker := range []string{"2", "-1", "0.5", `"w"`} {
		text := strings.Replace(recordingText(kvScenario), `"worker": 1`, `"worker": `+worker, 1)
		g, err := Load(writeFile(t, text, dir, "a.json"), nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := g.runConfig(Options{}); err == nil || !strings.Contains(err.Error(), "expected a worker from 0 to 1") {
			t.Errorf("worker %s: error %v", worker, err)
		}
	}
}

func TestRecordsWithoutLineAreMatched(t *testing.T) {
	const trace = `[
		{"timestamp": 5, "input_length": 10, "output_length": 2, "hash_ids": [1]},
		{"timestamp": 0, "input_length": 10, "output_length": 2, "hash_ids": [2]},
		{"timestamp": 0, "input_length": 20, "output_length": 2, "hash_ids": [3]}]`
	for name, c := range map[string]struct {
		requests string
		want     []int32
	}{
		"by lengths, earliest first": {`{"input_length": 20, "requested_output_length": 2}, {"input_length": 10, "requested_output_length": 2}, {"input_length": 10, "requested_output_length": 2}`, []int32{2, 1, 0}},
		"what is left":               {`{"input_length": 21, "requested_output_length": 2}, {"input_length": 10, "requested_output_length": 2}, {"input_length": 10, "requested_output_length": 2}`, []int32{2, 1, 0}},
		"by session":                 {`{"session_id": "request_3", "turn_index": 0}, {"session_id": "request_1", "turn_index": 0}`, []int32{2, 0}},
		"line before session":        {`{"line": 0, "session_id": "request_3", "turn_index": 0}`, []int32{0}},
		"no such line":               {`{"line": 7}, {"line": 1}`, []int32{2, 1}},
		"a line twice":               {`{"line": 1}, {"line": 1}`, []int32{1, 2}},
		"more records than rows":     {`{}, {}, {}, {}`, []int32{1, 2, 0, -1}},
	} {
		t.Run(name, func(t *testing.T) {
			text := fmt.Sprintf(`{"options": {"replay_concurrency": 1}, "trace": %s, "expected": {"requests": [%s], "summary": {}}}`, trace, c.requests)
			g, err := Load(writeFile(t, text, t.TempDir(), "a.json"), nil)
			if err != nil {
				t.Fatal(err)
			}
			if fmt.Sprint(g.rows) != fmt.Sprint(c.want) {
				t.Errorf("rows %v, expected %v", g.rows, c.want)
			}
		})
	}
}
