package yamltext

import (
	"fmt"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"pgregory.net/rapid"
)

// lines nests n mappings by indentation.
func lines(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	return b.String()
}

// keys is a flat mapping.
func keys(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "key%d: 1\n", i)
	}
	return b.String()
}

func TestCheckRefusesWhatExplodes(t *testing.T) {
	for name, text := range map[string]string{
		"brackets":       strings.Repeat("[", 100_000),
		"braces":         strings.Repeat("{a: ", 100_000),
		"brackets below": "a: 1\nb:\n  - c: " + strings.Repeat("[", 100_000),
		"after a quote":  `a: "b" ` + "\nb: it's\nc: " + strings.Repeat("[", 100_000),
		"dashes":         strings.Repeat("- ", 100_000),
		"question marks": strings.Repeat("? ", 100_000),
		"tags":           strings.Repeat("!a ", 100_000),
		"anchors":        strings.Repeat("&a ", 100_000),
		"anchors down":   strings.Repeat("&a\n", 100_000),
		"colons":         strings.Repeat("a: ", 100_000),
		"indents":        lines(300),
		"flat":           keys(MaxKeys + 1),
		"flat flow":      "{" + strings.ReplaceAll(keys(MaxKeys+1), "\n", ", ") + "}",
		"long":           strings.Repeat("# comment\n", MaxBytes/10+1),
	} {
		t.Run(name, func(t *testing.T) {
			f := Check([]byte(text))
			if f == nil || f.Found == "" || f.Want == "" {
				t.Fatalf("found %v, expected a fault", f)
			}
			if name == "brackets below" && f.Line != 3 {
				t.Errorf("found line %d, expected 3", f.Line)
			}
		})
	}
}

func TestCheckAcceptsWhatPeopleWrite(t *testing.T) {
	for name, text := range map[string]string{
		"empty":        "",
		"brackets":     strings.Repeat("[", MaxDepth-1) + strings.Repeat("]", MaxDepth-1),
		"siblings":     strings.Repeat("- [[[1]]]\n- {a: {b: 1}}\n", 5000),
		"quoted":       `a: "` + strings.Repeat("[", 500) + "\"\nb: '" + strings.Repeat("{", 500) + "'\n",
		"block scalar": "a: |\n" + strings.Repeat("  if (x[ { - - - ? a: b:\n", 500) + "b: 1\n",
		"plain scalar": "a: x" + strings.Repeat("[", 500) + "\nb: [x]\n",
		"comments":     "a: 1 # " + strings.Repeat("[", 500) + "\n",
		"many maps":    strings.Repeat("- a: 1\n  b: 2\n  c:\n    d: 1\n", 3000),
		"documents":    strings.Repeat("---\na: 1\n", 3000),
		"keys":         keys(MaxKeys),
		"indents":      lines(MaxDepth - 1),
	} {
		t.Run(name, func(t *testing.T) {
			if f := Check([]byte(text)); f != nil {
				t.Errorf("found %+v, expected none", *f)
			}
		})
	}
}

func TestFirstAlias(t *testing.T) {
	for text, want := range map[string]int{"a: 1\n": 0, "a: &x 1\nb: *x\n": 2, "a: '*x'\n": 0} {
		if got := FirstAlias([]byte(text)); got != want {
			t.Errorf("%q: found %d, expected %d", text, got, want)
		}
	}
}

// TestCheckAcceptsWhatIsMarshalled holds the scan to values that are no deeper
// than its bound, in both styles.
func TestCheckAcceptsWhatIsMarshalled(t *testing.T) {
	var value func(depth int) *rapid.Generator[any]
	value = func(depth int) *rapid.Generator[any] {
		leaf := rapid.Map(rapid.SampledFrom([]string{"", "a", "[", "{", "- -", "? ", "it's", "\"", "a: b", "# c", "x\ny [", "&a", "*b"}), func(s string) any { return s })
		if depth == 0 {
			return leaf
		}
		return rapid.OneOf(leaf,
			rapid.Map(rapid.SliceOfN(value(depth-1), 0, 4), func(l []any) any { return l }),
			rapid.Map(rapid.MapOfN(rapid.SampledFrom([]string{"k", "l", "[", "it's"}), value(depth-1), 0, 3), func(m map[string]any) any { return m }))
	}
	rapid.Check(t, func(t *rapid.T) {
		v := value(5).Draw(t, "value")
		for _, flow := range []bool{false, true} {
			text, err := yaml.MarshalWithOptions(v, yaml.Flow(flow))
			if err != nil {
				t.Skip(err)
			}
			if f := Check(text); f != nil {
				t.Errorf("%s: found %+v, expected none", text, *f)
			}
		}
	})
}

func FuzzCheck(f *testing.F) {
	for _, text := range []string{"a: [1, {b: c}]\n", "- - - x", "? a\n: b", "a: |\n  [\n", "]]]", "&a *b !c"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if fault := Check(text); fault != nil && (fault.Found == "" || fault.Want == "") {
			t.Errorf("found %+v, expected words", *fault)
		}
	})
}
