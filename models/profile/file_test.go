package profile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// document text of a shipped profile, to be broken by the tests.
func formatted(t testing.TB, name string) string {
	t.Helper()
	text, err := lookup(t, name).Format()
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestFilesReadBack(t *testing.T) {
	all := shipped(t)
	rapid.Check(t, func(t *rapid.T) {
		p := all[rapid.IntRange(0, len(all)-1).Draw(t, "profile")]
		text, err := p.Format()
		if err != nil {
			t.Fatal(err)
		}
		got, err := Parse("p.yaml", text)
		if err != nil {
			t.Fatal(err)
		}
		want := *p
		want.CalibrationID, want.ContextSource = got.CalibrationID, got.ContextSource
		want.Calibration.Basis, want.Calibration.Note, want.Calibration.Runs = "", "", nil
		want.Calibration.HeldOut, want.Calibration.Train, want.Calibration.Unadjusted = nil, nil, nil
		if len(want.Flags) == 0 && len(got.Flags) == 0 {
			want.Flags = got.Flags
		}
		if !reflect.DeepEqual(*got, want) {
			t.Fatalf("got %+v\nwant %+v", *got, want)
		}
	})
}

func TestPathsAreFiles(t *testing.T) {
	for name, want := range map[string]bool{
		"my.yaml": true, "my.yml": true, "my.json": true, "./mine": true, "../mine": true, "/mine": true,
		"h100/llama-3.1-8b/tp1": false, "h100": false, ".": false,
	} {
		_, err := Load(name)
		if got := errors.Is(err, fs.ErrNotExist); got != want {
			t.Errorf("%s: taken for a file: %v, want %v (%v)", name, got, want, err)
		}
	}
}

func TestLoad(t *testing.T) {
	path := filepath.Join(t.TempDir(), "my.yaml")
	if err := os.WriteFile(path, []byte(formatted(t, "h100/llama-3.1-8b/tp1")), 0o644); err != nil {
		t.Fatal(err)
	}
	p, err := Load(path)
	if err != nil || p.ID != "h100_sxm/vllm/llama-3.1-8b/tp1/bf16/kv-bf16" {
		t.Errorf("file: %v, %v", p, err)
	}
	if c, err := p.KVCapacity(Settings{MaxNumSeqs: 128}); err != nil || !c.Recomputed || c.Tokens <= p.KVCapacityTokens {
		t.Errorf("capacity of a file's profile: %+v, %v", c, err)
	}
	if p, err = Load("h100/llama-3.1-8b/tp1"); err != nil || p.CalibrationID != "vllm-h100" {
		t.Errorf("name: %v, %v", p, err)
	}
	if _, err = Load(filepath.Join(t.TempDir(), "none.yml")); err == nil {
		t.Error("no file: no error")
	}
}

// A file may leave out what has a usual value or is only for the reader.
func TestOptionalKeys(t *testing.T) {
	text := formatted(t, "h100/llama-3.1-8b/tp1")
	for _, key := range []string{"id", "grade", "flags", "kv_capacity_basis", "fit_error_pct"} {
		text = withoutKey(text, key)
	}
	p, err := Parse("p.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if p.ID != "h100_sxm/vllm/llama-3.1-8b/tp1/bf16/kv-bf16" || p.Grade != "C" || p.FitError != nil {
		t.Errorf("got %s", p.Summary())
	}
	if c, err := p.KVCapacity(Settings{}); err != nil || c.Tokens != p.KVCapacityTokens {
		t.Errorf("capacity without a basis: %+v, %v", c, err)
	}
	if _, err := p.KVCapacity(Settings{Utilization: 0.8}); err == nil || !strings.Contains(err.Error(), "found no kv_capacity_basis") {
		t.Errorf("other utilization without a basis: %v", err)
	}
}

// withoutKey cuts a top-level key and what is below it out of a YAML text.
func withoutKey(text, key string) string {
	var kept []string
	inside := false
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, " ") {
			inside = strings.HasPrefix(line, key+":")
		}
		if !inside {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "")
}

// broken lists texts to replace in a good file, and the error each makes.
var broken = []struct{ from, to, want string }{
	{"  time: ms\n", "", "p.yaml:2: units.time: found no such key"},
	{"time: ms", "time: s", `p.yaml:4: units.time: found "s", expected ms`},
	{"time: ms", "time: ms\n  power: W", "p.yaml:5: units.power: found an unknown key"},
	{"decode_ms: [", "decode_ms: [-", "step.decode_ms[0]: found -"},
	{"T_ms: [", "T_ms: [9999, ", "step.T_ms: found 57 values, expected 56, one per knot"},
	{"T_knots: [1, 2", "T_knots: [1, 1", "T_knots: found 1 tokens at place 2, expected 2"},
	{"T_knots: [1, ", "T_knots: [", "T_knots: found 55 token counts"},
	{"logits_ms: [", "logits_ms: [1, ", "step.logits_ms: found 3 numbers, expected 2"},
	{"  step_ms: ", "  step_ms: -", "engine_calibration.step_ms: found -"},
	{"gpu_time_scale: 0.9989", "gpu_time_scale: 0", "engine_calibration.gpu_time_scale: found 0, expected a number above 0"},
	{"gpu_time_scale: 0.9989", "gpu_time_scale: .nan", "engine_calibration.gpu_time_scale: found NaN"},
	{"  request_ms: 0.264\n", "", "engine_calibration.request_ms: found no such key"},
	{"  request_ms:", "  request_m:", "engine_calibration.request_m: found an unknown key (did you mean engine_calibration.request_ms?)"},
	{"engine: vllm", "engine: tgi", `engine: found "tgi", expected vllm, sglang, trtllm`},
	{"model: llama-3.1-8b", "model: other", `id: found "h100_sxm/vllm/llama-3.1-8b/tp1/bf16/kv-bf16", expected "h100_sxm/vllm/other/tp1/bf16/kv-bf16"`},
	{"gpu: h100_sxm", "gpu: a/b", `gpu: found "a/b"`},
	{"tp: 1", "tp: 0", "tp: found 0"},
	{"tp: 1", "tp: many", "found unusable YAML"},
	{"grade: A", "grade: S", `grade: found "S"`},
	{"max_model_len: 131072", "max_model_len: 0", "max_model_len: found 0"},
	{"kv_capacity_tokens: 421184", "kv_capacity_tokens: -1", "kv_capacity_tokens: found -1"},
	{"kv_bytes_per_token_per_gpu: 131072", "kv_bytes_per_token_per_gpu: 5", "kv_bytes_per_token_per_gpu: found 5, expected from 131072"},
	{"  max_num_seqs: 1024", "  max_num_seqs: 1024\n  max_num_tokens: 5", "kv_capacity_basis.max_num_tokens: found a setting of trtllm"},
	{"gpu_memory_utilization: 0.9", "gpu_memory_utilization: 90", "kv_capacity_basis.gpu_memory_utilization: found 90"},
	{"  step_tokens: 32768", "  step_tokens: 0", "range.step_tokens: found 0"},
	{"schema: routesim-profile/1", "schema: 2", `p.yaml:1: schema: found "2", expected routesim-profile/1`},
	{"tp: 1", "tp: 1\ntp: 1", "tp"},
	{"tp: 1", "tp: &a 1", "found an anchor"},
	{"range:\n", "range: &r\n", "found an anchor"},
	{"mixed: [", "mixed: [-", "fit_error_pct.mixed: found [-"},
	{"provenance:\n", "provenance: 5\nother:\n", "other"},
	{"schema:", "\tschema:", "p.yaml:1: found unusable YAML"},
}

func TestBrokenFiles(t *testing.T) {
	good := formatted(t, "h100/llama-3.1-8b/tp1")
	for _, c := range broken {
		if !strings.Contains(good, c.from) {
			t.Errorf("%q is not in the file", c.from)
			continue
		}
		p, err := Parse("p.yaml", []byte(strings.Replace(good, c.from, c.to, 1)))
		if err == nil || p != nil {
			t.Errorf("%q for %q: no error", c.to, c.from)
			continue
		}
		if text := err.Error(); !strings.Contains(text, c.want) || strings.Contains(text, "\n") || !strings.HasPrefix(text, "p.yaml:") {
			t.Errorf("%q for %q: %v\nwant %q in it", c.to, c.from, err, c.want)
		}
	}
	for _, text := range []string{"", "5", "[1]", "a: b\n---\nc: d", "{", "schema: routesim-profile/1"} {
		if p, err := Parse("p.yaml", []byte(text)); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v, %v", text, p, err)
		}
	}
}

// A knot at which the time falls is named with its token count and line.
func TestFallingKnot(t *testing.T) {
	p := *lookup(t, "h100/llama-3.1-8b/tp1")
	text := formatted(t, "h100/llama-3.1-8b/tp1")
	p.Coefficients.TokensMS = append([]float64(nil), p.Coefficients.TokensMS...)
	p.Coefficients.TokensMS[7] = 0.5 * p.Coefficients.TokensMS[6]
	if err := p.Check(); err == nil || !strings.Contains(err.Error(), "at 8 tokens after") {
		t.Errorf("got error %v", err)
	}
	if _, err := p.Format(); err == nil {
		t.Error("a falling knot was written")
	}
	at := strings.Index(text, "  T_ms: [")
	end := at + strings.Index(text[at:], ",")
	_, err := Parse("p.yaml", []byte(text[:at]+"  T_ms: [1e6"+text[end:]))
	line := strings.Count(text[:at], "\n") + 1
	if want := "p.yaml:" + strconv.Itoa(line) + ": step.T_ms: found "; err == nil || !strings.HasPrefix(err.Error(), want) || !strings.Contains(err.Error(), "at 2 tokens after 1e+06 ms at 1") {
		t.Errorf("got error %v, want %q", err, want)
	}
}

func FuzzParse(f *testing.F) {
	for _, name := range []string{"h100/llama-3.1-8b/tp1", "h200/deepseek-v3/trtllm", "h20/qwen3-8b/tp1"} {
		f.Add(formatted(f, name))
	}
	good := formatted(f, "h100/llama-3.1-8b/tp1")
	for _, c := range broken {
		f.Add(strings.Replace(good, c.from, c.to, 1))
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := Parse("p.yaml", []byte(text))
		if err != nil {
			if p != nil || strings.ContainsAny(err.Error(), "\r\n") || !strings.HasPrefix(err.Error(), "p.yaml") {
				t.Fatalf("bad failure: %q", err)
			}
			return
		}
		if _, err := p.StepModel(1); err != nil {
			t.Fatalf("accepted, but: %v", err)
		}
		again, err := p.Format()
		if err != nil {
			t.Fatalf("accepted, but cannot be written: %v", err)
		}
		if _, err := Parse("p.yaml", again); err != nil {
			t.Fatalf("written, but cannot be read: %v\n%s", err, again)
		}
	})
}

// TestDeepYAMLIsRefused keeps what it could not take from the parser.
func TestDeepYAMLIsRefused(t *testing.T) {
	_, err := Parse("p.yaml", []byte("schema: 1\nstep: "+strings.Repeat("{a: ", 100_000)))
	if want := "p.yaml:2: found YAML nested deeper than 64 levels, expected fewer"; err == nil || err.Error() != want {
		t.Errorf("found %v, expected %s", err, want)
	}
}
