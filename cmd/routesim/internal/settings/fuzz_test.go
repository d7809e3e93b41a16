package settings

import (
	"strings"
	"testing"
)

// oneLine fails unless an error is a single line; nil is fine.
func oneLine(t *testing.T, err error) {
	t.Helper()
	if err != nil && strings.Contains(strings.TrimRight(err.Error(), "\n"), "\n") {
		t.Errorf("an error of several lines: %s", err)
	}
}

func FuzzConfigFile(f *testing.F) {
	for _, s := range []string{
		"workers: 4\nrouter-temperature: 0.5 # warm\n", "workers: [1]\n", "a: 1\na: 2\n", "- a\n", "? x\n: 1\n", "workers: &a 3\nblock-size: *a\n",
		"{workers: 3}", "workers: !!int 3\n", "--- \n---\n", "\t", "workers: |\n  3\n", "router:\n  disk_cache_hit_weight: 0.5\n", policyExample, "worker_selection:\n  instances: [{name: a, type: thunderagent, parameters: {}}]\n", "policy_classes: [{}]\n", "models: {a: 3}\n", "<<: {a: 1}\n", "\"workers\": \"3\"\n",
	} {
		f.Add(s)
	}
	table := NewTable()
	f.Fuzz(func(t *testing.T, text string) {
		m, err := parseMapping("f.yaml", []byte(text))
		oneLine(t, err)
		if err != nil {
			return
		}
		_, err = table.settingsOf(m)
		oneLine(t, err)
		_, _, err = table.policyOf(m)
		oneLine(t, err)
	})
}

func FuzzEngineDictionary(f *testing.F) {
	for _, s := range []string{
		`{"engine":{"block_size":32},"dp_size":1}`, `{"block_size":1.5}`, `{"engine":null}`, `{"engine":3}`, `{"engine":{"engine":{}}}`,
		`{"timing_model":{"type":"fixed","prefill_ms":1,"decode_ms":2}}`, `{"a":`, `[]`, `{"x\n":1}`, `{"engine":{"max_num_seqs":null}} x`,
	} {
		f.Add(s)
	}
	table := NewTable()
	f.Fuzz(func(t *testing.T, text string) {
		given, err := table.dictOf("extra-engine-args", "", []byte(text))
		oneLine(t, err)
		for i := range given {
			if _, ok := given[i].Setting.Kind.Parse(given[i].Text); ok && given[i].Setting.Dict == "" {
				t.Error("a value for a setting without a key in the dictionary")
			}
		}
	})
}

func FuzzValues(f *testing.F) {
	for _, s := range []string{"1", "-0", "1e9", "none", "true", "kv_router", "fixed:1,2", "table:x", "0x1", "1_0", "∞"} {
		f.Add(s)
	}
	table := NewTable()
	f.Fuzz(func(t *testing.T, text string) {
		for _, s := range table.All() {
			v, ok := s.Kind.Parse(text)
			if !ok {
				continue
			}
			again, ok := s.Kind.Parse(v.Text)
			if !ok || again != v {
				t.Errorf("%s: %q gives %+v, and that gives %+v", s.Name, text, v, again)
			}
			if s.Ref != nil {
				var r Run
				store(s.Ref(&r), v)
				if got := s.Get(&r); got.Text != v.Text {
					t.Errorf("%s: stored %q, read %q", s.Name, v.Text, got.Text)
				}
			}
		}
	})
}
