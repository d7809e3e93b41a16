package sweepdata

import (
	"bufio"
	"bytes"
	"testing"

	"github.com/goccy/go-yaml"
	"pgregory.net/rapid"
)

// TestPointsAsYAML: the list of points is written as the YAML library writes it.
func TestPointsAsYAML(t *testing.T) {
	odd := []string{"0.5", "1e-05", "none", "true", "null", "6xa,2xb@x=1", "a: b", "# c", "- d", "'e", `"f`, "{g}", " h ", "~", "3xp;4xq", "ü", `{"a":[1]}`}
	rapid.Check(t, func(t *rapid.T) {
		axes := rapid.IntRange(1, 3).Draw(t, "axes")
		s := &Sweep{Design: "points"}
		var list [][]string
		for range rapid.IntRange(1, 5).Draw(t, "points") {
			values := rapid.SliceOfN(rapid.SampledFrom(odd), axes, axes).Draw(t, "values")
			s.Points, list = append(s.Points, Point{Values: values}), append(list, values)
		}
		s.Points = append(s.Points, Point{Values: list[0], Added: true})
		want, err := yaml.MarshalWithOptions(struct{ Points [][]string }{list}, yaml.IndentSequence(true))
		if err != nil {
			t.Fatal(err)
		}
		got := bytes.NewBufferString("points:\n")
		w := bufio.NewWriter(got)
		if err := s.writeValues(w); err != nil {
			t.Fatal(err)
		}
		if w.Flush(); !bytes.Equal(got.Bytes(), want) {
			t.Fatalf("written as\n%s\nexpected\n%s", got, want)
		}
	})
}

// TestOnePoint: a description without its other points is still one.
func TestOnePoint(t *testing.T) {
	s := sampleSweep("points")
	var b bytes.Buffer
	if err := s.writeConfig(&b); err != nil {
		t.Fatal(err)
	}
	all, err := ParseConfig("sweep.yaml", b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	one, err := ParseConfig("sweep.yaml", onePoint(b.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	if len(all.Points) < 2 || len(one.Points) != 1 || len(one.Axes) != len(all.Axes) || one.ends.def != all.ends.def || len(one.Base) != len(all.Base) {
		t.Errorf("found %d points of %d, %d axes of %d", len(one.Points), len(all.Points), len(one.Axes), len(all.Axes))
	}
	if got := onePoint([]byte("points: []\n")); string(got) != "points: []\n" {
		t.Errorf("cut to %q", got)
	}
}
