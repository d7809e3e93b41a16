package settings

import (
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"
)

// resolveWith resolves command line arguments beside other sources.
func resolveWith(t *testing.T, in Input, args ...string) (*Resolved, error) {
	t.Helper()
	table := NewTable()
	fs := pflag.NewFlagSet("test", pflag.ContinueOnError)
	rec := table.Flags(fs)
	if err := fs.Parse(args); err != nil {
		return nil, FlagError(fs, err)
	}
	if len(in.Flags) == 0 {
		in.Flags = rec.Given
	}
	return table.Resolve(in)
}

func mustResolve(t *testing.T, in Input, args ...string) *Resolved {
	t.Helper()
	r, err := resolveWith(t, in, args...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// value returns the printed value and origin of a setting.
func value(t *testing.T, r *Resolved, name string) (text, origin string) {
	t.Helper()
	for _, e := range r.Entries() {
		if e.Name == name {
			return e.Text, e.Origin
		}
	}
	t.Fatalf("no setting %s", name)
	return "", ""
}

func wantValue(t *testing.T, r *Resolved, name, text, origin string) {
	t.Helper()
	gotText, gotOrigin := value(t, r, name)
	if gotText != text || gotOrigin != origin {
		t.Errorf("%s = %s (%s), want %s (%s)", name, gotText, gotOrigin, text, origin)
	}
}

func writeFile(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// sample returns a value that differs from the default and a value outside the
// range. Both follow from the kind alone, so that every new setting is covered.
func sample(t *testing.T, s *Setting) (good, bad string) {
	t.Helper()
	switch k := s.Kind.(type) {
	case Real:
		if k.Max == 1 {
			return "0.125", "1.5"
		}
		return "3.25", "-1"
	case Int:
		if s.Default == "128" {
			return "64", "-1"
		}
		return "128", "-1"
	case FleetKind:
		return "6xh100/llama-3.1-70b/tp4,2xa100/llama-3.1-70b/tp4@max_num_seqs=64", "0"
	case Bool:
		if s.Default == "true" {
			return "false", "maybe"
		}
		return "true", "maybe"
	case Choice:
		return k.Words[len(k.Words)-1], "nonsense"
	case Word:
		if s.Name == "timing" {
			return "fixed:20,8", "guess"
		}
		if s.Name == "faults" {
			return "crash:0@5-9", "crash"
		}
		return "x", ""
	}
	t.Fatalf("%s: kind %T has no sample: add one here", s.Name, s.Kind)
	return "", ""
}

// companions are what a sample of a setting needs beside it.
func companions(t *testing.T, s *Setting) []string {
	key := func() string {
		path := filepath.Join(t.TempDir(), "key")
		if err := os.WriteFile(path, make([]byte, 32), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	switch s.Name {
	case "router-conditional-disagg-config":
		return []string{"--router-conditional-disagg"}
	case "request-count":
		return []string{"--input-tokens=70", "--output-tokens=5", "--request-rate=2"}
	case "router-block-size":
		return []string{"--block-size=128"}
	case "worker-selection-policy", "router-prefill-policy", "router-decode-policy":
		return []string{"--router-policy-config=" + writeFile(t, "policy.yaml", "worker_selection:\n  instances:\n    - {name: x, type: thunderagent}\n")}
	case "router-tracking-hash":
		return []string{"--router-tracking-key-file=" + key(), "--router-tracking-key-id=k"}
	case "router-tracking-key-id":
		return []string{"--router-tracking-hash=keyed-xxh3-v1", "--router-tracking-key-file=" + key()}
	case "router-tracking-key-file":
		return []string{"--router-tracking-hash=keyed-xxh3-v1", "--router-tracking-key-id=k"}
	}
	return nil
}

// goodSample is sample, with a real file where the setting names one.
func goodSample(t *testing.T, s *Setting) string {
	good, _ := sample(t, s)
	switch s.Name {
	case "router-policy-config", "router-restart-policy-config":
		return writeFile(t, "policy.yaml", "router:\n  disk_cache_hit_weight: 0.5\n")
	case "router-tracking-key-file":
		return writeFile(t, "key", strings.Repeat("k", 32))
	case "aic-nextn-accept-rates":
		return "0.9,0.5"
	case "prefill-engine-args", "decode-engine-args":
		return `{"engine": {"max_num_seqs": 7}}`
	case "kv-events-config":
		return `{"enable_kv_cache_events": true}`
	case "router-conditional-disagg-config":
		return `{}`
	case "kv-transfer-domain":
		return "zone"
	case "prefill-router-args":
		return `{"router-mode": "random"}`
	}
	return good
}

// TestEverySetting derives its cases from the table: a new setting is tested
// without being named here, and one that cannot be tested fails.
func TestEverySetting(t *testing.T) {
	for _, s := range NewTable().All() {
		t.Run(s.Name, func(t *testing.T) {
			if _, ok := s.Kind.Parse(s.Default); !ok {
				t.Fatalf("the default %q is not a value of the setting", s.Default)
			}
			if s.Support != Honoured {
				if s.Support != Inert && s.Why == "" {
					t.Error("no reason why it is not honoured")
				}
				return
			}
			if s.Ref == nil || s.NoFlag {
				t.Fatal("an honoured setting needs a field and a flag")
			}
			checkHelp(t, s)
			good := goodSample(t, s)
			checkFlag(t, s, good)
			checkFile(t, s, good)
			checkEnvironment(t, s, good)
			checkRange(t, s)
		})
	}
}

func checkHelp(t *testing.T, s *Setting) {
	if len(s.Help) < 10 || !strings.HasSuffix(s.Help, ".") || s.Group == "" {
		t.Errorf("help %q of group %q: want a sentence and a group", s.Help, s.Group)
	}
	usage := NewTable().Usage()
	if !strings.Contains(usage, "--"+s.Name) && !strings.Contains(usage, "--[no-]"+s.Name) {
		t.Error("not in the usage text")
	}
	for _, line := range strings.Split(s.usage(), "\n") {
		if len(line) > helpWidth {
			t.Errorf("help line too wide: %s", line)
		}
	}
	if !regexp.MustCompile(`^[a-z0-9-]+$`).MatchString(s.Name) {
		t.Error("the name is not kebab case")
	}
}

func checkFlag(t *testing.T, s *Setting, good string) {
	for _, name := range s.Spellings() {
		for _, spelled := range []string{name, snake(name)} {
			r := mustResolve(t, Input{}, append(companions(t, s), "--"+spelled+"="+good)...)
			wantValue(t, r, s.Name, canonical(s, good), "flag --"+name)
		}
	}
	if _, ok := s.Kind.(Bool); ok {
		r := mustResolve(t, Input{}, "--"+s.Name, "--no-"+s.Name)
		wantValue(t, r, s.Name, "false", "flag --no-"+s.Name)
		r = mustResolve(t, Input{}, "--no-"+s.Name, "--"+s.Name)
		wantValue(t, r, s.Name, "true", "flag --"+s.Name)
	}
}

func canonical(s *Setting, text string) string {
	v, _ := s.Kind.Parse(text)
	return v.Text
}

func checkFile(t *testing.T, s *Setting, good string) {
	for _, key := range []string{s.Name, snake(s.Name)} {
		file := writeFile(t, "c.yaml", "# comment\n"+key+": "+good+"\n")
		r := mustResolve(t, Input{ConfigFile: file}, companions(t, s)...)
		wantValue(t, r, s.Name, canonical(s, good), "file "+file+":2")
	}
	_, bad := sample(t, s)
	if bad == "" {
		return
	}
	file := writeFile(t, "c.yaml", "\n"+s.Name+": "+bad+"\n")
	_, err := resolveWith(t, Input{ConfigFile: file})
	want := file + ":2: " + s.Name + refusal(s, bad)
	if err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
}

func checkEnvironment(t *testing.T, s *Setting, good string) {
	for _, name := range s.Env {
		environ := []string{name + "=" + good}
		r := mustResolve(t, Input{Environ: environ}, companions(t, s)...)
		wantValue(t, r, s.Name, canonical(s, good), "environment "+name)
		if diff := cmp.Diff([]Variable{{name, good, s.Name}}, r.Environment); diff != "" {
			t.Errorf("environment: %s", diff)
		}
		_, bad := sample(t, s)
		if bad == "" {
			continue
		}
		_, err := resolveWith(t, Input{Environ: []string{name + "=" + bad}})
		want := name + refusal(s, bad)
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// refusal is what an error says after the place of a value that is none.
func refusal(s *Setting, text string) string {
	if k, ok := s.Kind.(Word); ok {
		if e := k.wrongPart(text); e != nil {
			return ": " + e.Error()
		}
	}
	return ": found " + show(text) + ", expected " + s.Kind.Expected()
}

func checkRange(t *testing.T, s *Setting) {
	bad := []string{"nonsense!"}
	switch k := s.Kind.(type) {
	case Real:
		bad = append(bad, "NaN", "Inf", "-0.001", "1e400", "0x1p-2", "1_0", "1,5", "true")
		if k.Above {
			bad = append(bad, "0")
		}
		if k.Max < math.MaxFloat64 {
			bad = append(bad, FormatReal(k.Max*1.0000001))
		}
		if !k.Optional {
			bad = append(bad, "", None)
		}
	case Int:
		bad = append(bad, "-1", "1.5", "abc", "1e3", "0x10", "9223372036854775808", "64.0", " 64")
		if k.Min > 0 {
			bad = append(bad, "0")
		}
		if k.Max < math.MaxInt64 {
			bad = append(bad, "9223372036854775807")
		}
		if !k.Optional {
			bad = append(bad, "", None)
		}
	case Bool, Choice:
		bad = append(bad, "2", "none of them")
		if _, ok := k.Parse(None); !ok {
			bad = append(bad, "")
		}
	case Word:
		if k.Check == nil {
			return
		}
		bad = []string{"non sense!"}
	}
	for _, b := range bad {
		_, err := resolveWith(t, Input{}, "--"+s.Name+"="+b)
		if err == nil || !strings.HasPrefix(err.Error(), "--"+s.Name+refusal(s, b)) {
			t.Errorf("%q: got %v", b, err)
		}
	}
}

// TestDeepYAMLIsRefused keeps settings and policy files from the parser that it
// could not take.
func TestDeepYAMLIsRefused(t *testing.T) {
	_, err := parseMapping("c.yaml", []byte("workers: 1\nseed: "+strings.Repeat("- ", 100_000)))
	if want := "c.yaml:2: found YAML nested deeper than 64 levels, expected fewer"; err == nil || err.Error() != want {
		t.Errorf("found %v, expected %s", err, want)
	}
}
