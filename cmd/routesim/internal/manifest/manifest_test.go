package manifest

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"routesim/workloads"
)

func objects(t *testing.T, text string) []Object {
	t.Helper()
	list, err := Parse("m.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestObjects(t *testing.T) {
	list := objects(t, `# a comment
apiVersion: v1
kind: ConfigMap
metadata: {name: a, namespace: n}
---
---
kind: List
items:
- kind: Secret
  metadata:
    name: b
- kind: Service
---
plain text
`)
	var got []string
	for i := range list {
		got = append(got, list[i].String()+" "+list[i].Place())
	}
	want := []string{"ConfigMap n/a m.yaml:2", "Secret b m.yaml:9", "Service m.yaml:12", "a document without kind m.yaml:14"}
	if !slices.Equal(got, want) {
		t.Errorf("objects %q, expected %q", got, want)
	}
	if o := FindConfigMap(list, "n", "a"); o != &list[0] {
		t.Errorf("found %v", o)
	}
	if FindConfigMap(list, "", "a") == nil || FindConfigMap(list, "other", "a") != nil || FindConfigMap(list, "n", "b") != nil {
		t.Error("a ConfigMap is found by its name, kind and namespace")
	}
}

// Empty documents, end markers and directives part documents and hide none.
func TestDocuments(t *testing.T) {
	for text, want := range map[string]string{
		"kind: A\n---\n---\nkind: B\n":                             "A m.yaml:1, B m.yaml:4",
		"---\n# only a comment\n---\nkind: A\n":                    "A m.yaml:4",
		"---\n---\nkind: A\n...\n---\nkind: B\n...\n":              "A m.yaml:3, B m.yaml:6",
		"%YAML 1.2\n---\nkind: A\n---\n":                           "A m.yaml:3",
		"--- # a comment\nkind: A\n--- {kind: B}\n":                "A m.yaml:2, B m.yaml:3",
		"kind: A\r\n---\r\nkind: B\r\n":                            "A m.yaml:1, B m.yaml:3",
		"kind: A\ntext: |\n  --- no marker\n  ...\n---\nkind: B\n": "A m.yaml:1, B m.yaml:6",
		"kind: A\nx: ---y\n---z: 1\n":                              "A m.yaml:1",
		"kind: A":                                                  "A m.yaml:1", "": "", "---": "",
	} {
		var got []string
		for _, o := range objects(t, text) {
			got = append(got, o.Kind+" "+o.Place())
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("%q has %q, expected %q", text, got, want)
		}
	}
	if _, err := Parse("m.yaml", []byte("a: 1\n---\n---\nb: [\n")); err == nil || !strings.HasPrefix(err.Error(), "m.yaml:4: ") {
		t.Errorf("error %v", err)
	}
}

func TestUnique(t *testing.T) {
	twice := "kind: A\nmetadata: {name: x}\n---\nkind: A\nmetadata: {name: x}\n"
	if err := Unique(objects(t, twice)); err == nil || err.Error() != "m.yaml:4: metadata.name: found A x, which m.yaml:1 has too, expected each object once" {
		t.Errorf("error %v", err)
	}
	for _, other := range []string{"kind: B\nmetadata: {name: x}", "kind: A\nmetadata: {name: y}", "kind: A\nmetadata: {name: x, namespace: n}", "apiVersion: g/v1\nkind: A\nmetadata: {name: x}", "kind: A"} {
		if err := Unique(objects(t, "kind: A\nmetadata: {name: x}\n---\n"+other+"\n")); err != nil {
			t.Errorf("%s: %v", other, err)
		}
	}
}

func TestNodes(t *testing.T) {
	root := objects(t, `map: &m {a: 1, b: two}
list: [x, !!str 7, ~]
block: |
  first
  second
folded: >-
  one
  two
merged:
  <<: *m
  b: own
several:
  <<: [*m, {c: 3}]
alias: *m
gone: *nothing
empty:
`)[0].Node
	text := func(keys ...string) string {
		s, ok := root.Get(keys...).Text()
		if !ok {
			return "?"
		}
		return s
	}
	for path, want := range map[string]string{
		"map.a": "1", "map.b": "two", "block": "first\nsecond\n", "folded": "one two", "merged.a": "1", "merged.b": "own",
		"several.c": "3", "several.b": "two", "alias.b": "two", "map": "?", "list": "?", "gone": "?", "empty": "?", "map.a.z": "?", "absent.x": "?",
	} {
		if got := text(strings.Split(path, ".")...); got != want {
			t.Errorf("%s is %q, expected %q", path, got, want)
		}
	}
	items, ok := root.Get("list").Items()
	if !ok || len(items) != 3 || items[2].Exists() {
		t.Errorf("the list has the items %v, %v", items, ok)
	}
	if s, _ := items[1].Text(); s != "7" {
		t.Errorf("the second item is %q", s)
	}
	if _, ok := root.Get("map").Items(); ok {
		t.Error("a mapping is no list")
	}
	if _, ok := root.Get("list").Entries(); ok {
		t.Error("a list is no mapping")
	}
	if e, ok := root.Get("empty").Entries(); !ok || len(e) != 0 {
		t.Error("an absent value is an empty mapping")
	}
	for path, want := range map[string]int{"block": 4, "folded": 7, "map": 1} {
		if got := root.Get(path).TextLine(); got != want {
			t.Errorf("the text of %s begins in line %d, expected %d", path, got, want)
		}
	}
	if !root.Get("block").KeepsLines() || root.Get("folded").KeepsLines() {
		t.Error("only a literal block keeps its lines")
	}
	for path, want := range map[string]string{"map": "a mapping", "list": "a list", "block": "a text", "gone": "nothing", "empty": "nothing"} {
		if got := root.Get(path).Kind(); got != want {
			t.Errorf("%s is %s, expected %s", path, got, want)
		}
	}
}

// Aliases that lead to themselves or multiply end, and soon.
func TestAliasesEnd(t *testing.T) {
	laughs := "a0: &a0 {x: 1}\n"
	for i := 1; i < 12; i++ {
		prev := "*a" + string(rune('0'+i-1))
		laughs += "a" + string(rune('0'+i)) + ": &a" + string(rune('0'+i)) + " {<<: [" + strings.TrimSuffix(strings.Repeat(prev+", ", 9), ", ") + "]}\n"
	}
	for _, text := range []string{"a: &a *a\n", "a: &a {<<: *a}\n", "a: &a [*a]\nb: {<<: *a}\n", laughs} {
		start := time.Now()
		list, err := Parse("m.yaml", []byte(text))
		if err != nil {
			continue
		}
		entries, _ := list[0].Entries()
		for _, e := range entries {
			e.Value.Entries()
			e.Value.Items()
			e.Value.Get("x").Text()
		}
		if d := time.Since(start); d > 5*time.Second {
			t.Errorf("%.40q took %v", text, d)
		}
	}
}

func TestSyntaxErrors(t *testing.T) {
	for text, want := range map[string]string{
		"a: [1,\n":             "m.yaml:1: expected valid YAML: ",
		"a: 1\na: 2\n":         "m.yaml:2: expected valid YAML: ",
		"x: {{ .Values.y }}\n": "",
		"a: 'b\n":              "m.yaml:1: expected valid YAML: ",
	} {
		_, err := Parse("m.yaml", []byte(text))
		if err == nil && want == "" {
			continue // a template may be YAML by chance
		}
		if err == nil || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: error %v, expected %q", text, err, want)
		}
	}
}

func TestHeldFiles(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "maps.yaml")
	write := func(name, text string) {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(file, `kind: Service
metadata: {name: s}
---
kind: ConfigMap
metadata: {name: p, namespace: n}
data:
  x.yaml: |
    one
    two
  y: "a"
  z: {}
`)
	name, text, err := ReadFile(Held{file, "n/p", "x.yaml"}.String())
	if err != nil || name != file || string(text) != strings.Repeat("\n", 7)+"one\ntwo\n" {
		t.Errorf("%s %q %v", name, text, err)
	}
	if _, text, err = ReadFile(file + "#p/y"); err != nil || strings.TrimLeft(string(text), "\n") != "a" {
		t.Errorf("%q %v", text, err)
	}
	for path, want := range map[string]string{
		file + "#q/x.yaml":        "found no ConfigMap q",
		file + "#n/q/x.yaml":      "found no ConfigMap n/q",
		file + "#p/w":             "maps.yaml:4: data.w: found no such key in ConfigMap n/p, expected one of its keys (x.yaml, y, z)",
		file + "#p/z":             "maps.yaml:11: data.z: found a mapping, expected a text",
		file + "#p":               "no such file",
		dir + "/absent.yaml#p/x":  "no such file",
		dir + "/absent.yaml":      "no such file",
		filepath.Join(dir, "bad"): "no such file",
	} {
		if _, _, err := ReadFile(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, expected %q", path, err, want)
		}
	}
	// A file whose own name looks like that is read itself.
	odd := filepath.Join(dir, "odd#p")
	if err := os.Mkdir(odd, 0o755); err != nil {
		t.Fatal(err)
	}
	write(filepath.Join(odd, "x"), "itself")
	if name, text, err := ReadFile(odd + "/x"); err != nil || name != odd+"/x" || string(text) != "itself" {
		t.Errorf("%s %q %v", name, text, err)
	}
}

func TestFolders(t *testing.T) {
	dir := t.TempDir()
	var p *workloads.Problem
	if _, err := Load(dir); !errors.As(err, &p) {
		t.Errorf("error %v of an empty folder", err)
	}
	for name, text := range map[string]string{"b.yml": "kind: B\n", "a.YAML": "kind: A\n", "c.txt": "{", "d.json": "{"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "e.yaml"), 0o755); err != nil {
		t.Fatal(err)
	}
	list, err := Load(dir)
	if err != nil || len(list) != 2 || list[0].Kind != "A" || list[1].Kind != "B" {
		t.Errorf("%v %v", list, err)
	}
	big := filepath.Join(dir, "big.yaml")
	f, err := os.Create(big)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Truncate(maxBytes + 1); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(dir); !errors.As(err, &p) || !strings.Contains(err.Error(), "expected a manifest of at most") {
		t.Errorf("error %v", err)
	}
}

// TestDeepYAMLIsRefused counts lines over all documents of a file.
func TestDeepYAMLIsRefused(t *testing.T) {
	_, err := Parse("m.yaml", []byte("a: 1\n---\nb: 1\nc: "+strings.Repeat("[", 100_000)))
	if want := "m.yaml:4: found YAML nested deeper than 64 levels, expected fewer"; err == nil || err.Error() != want {
		t.Errorf("found %v, expected %s", err, want)
	}
}
