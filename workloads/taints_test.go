package workloads

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestTaints: rows before and after one that speaks of taints do not; order and
// repetition in the file do not matter.
func TestTaints(t *testing.T) {
	const row = `{"timestamp":0,"input_length":3,"output_length":1,"hash_ids":[1]`
	text := row + "}\n" +
		row + `,"required_taints":["b","a","b"],"preferred_taints":{"z":-2,"c":0.5}}` + "\n" +
		row + `,"required_taints":[],"preferred_taints":null}` + "\n" +
		row + `,"preferred_taints":{"c":0.5,"z":-2.0},"required_taints":["a","b"]}` + "\n" +
		row + `,"preferred_taints":{"c":0.25}}` + "\n"
	tr, err := OpenAll([]string{"-"}, Options{Stdin: strings.NewReader(text)})
	if err != nil {
		t.Fatal(err)
	}
	both := Taints{[]string{"a", "b"}, []PreferredTaint{{"c", 0.5}, {"z", -2}}}
	want := []Taints{{}, both, {}, both, {nil, []PreferredTaint{{"c", 0.25}}}}
	for i := range want {
		if d := cmp.Diff(want[i], tr.TaintsOf(i)); d != "" {
			t.Errorf("row %d: %s", i, d)
		}
	}
	if len(tr.taints.sets) != 3 {
		t.Errorf("%d sets are kept, want 3", len(tr.taints.sets))
	}
	if d := cmp.Diff([]string{"a", "b", "c", "z"}, tr.TaintNames()); d != "" {
		t.Error(d)
	}
}

func TestValidTaint(t *testing.T) {
	for _, name := range []string{"a", "gpu=h100", "zone/eu-1.b:c_d", "ü", "大", "a\"b", "{}", "~"} {
		if !ValidTaint(name) {
			t.Errorf("%q is refused", name)
		}
	}
	for _, name := range []string{"", " ", "a b", "a+b", "a,b", "a@b", "a\tb", "a\u00a0b", "a\u3000", "\x00", "a\xff", "\u200b"} {
		if ValidTaint(name) {
			t.Errorf("%q is a name", name)
		}
	}
}
