package sweep

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func axis(t testing.TB, s *Setting, list string) *Axis {
	t.Helper()
	a, err := Parse(s, list)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestGrid(t *testing.T) {
	d, err := Grid([]*Axis{axis(t, number(), "0,1"), axis(t, word(), "fast,slow"), axis(t, whole(), "1:3:1")})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(d.Points[:4], len(d.Points)), "[[0 fast 1] [0 fast 2] [0 fast 3] [0 slow 1]] 12"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if d, err := Grid(nil); err != nil || len(d.Points) != 1 {
		t.Errorf("no axes: %v %v, want one point", d, err)
	}
	if _, err := Grid([]*Axis{axis(t, number(), "0..1")}); err == nil || !strings.Contains(err.Error(), "--sample") {
		t.Errorf("a range: %v", err)
	}
	long := axis(t, number(), "1:2000:1")
	if _, err := Grid([]*Axis{long, long}); err == nil {
		t.Error("4,000,000 points: no error")
	}
}

// TestSampleUsesEachPartOnce: a Latin hypercube has one point in each of the n
// equal parts of every axis.
func TestSampleUsesEachPartOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 200).Draw(t, "n")
		seed := rapid.Uint64().Draw(t, "seed")
		axes := []*Axis{axisOf(t, number(), "0..4"), axisOf(t, number(), "log:0.001..1000"), axisOf(t, number(), "0.5..1.5")}
		d, err := Draw(axes, n, seed)
		if err != nil {
			t.Fatal(err)
		}
		if len(d.Points)+d.Repeated != n || d.Repeated > 0 {
			t.Fatalf("%d points, want %d", len(d.Points), n)
		}
		for j, part := range []func(float64) float64{
			func(v float64) float64 { return v / 4 },
			func(v float64) float64 { return (math.Log10(v) + 3) / 6 },
			func(v float64) float64 { return v - 0.5 },
		} {
			used := make([]int, n)
			for _, p := range d.Points {
				x := part(Numbers(p[j : j+1])[0])
				if x < 0 || x > 1 {
					t.Fatalf("axis %d: %s lies outside its range", j, p[j])
				}
				used[min(int(x*float64(n)), n-1)]++
			}
			for k, times := range used {
				// Rounding to a decimal may move a value over the edge of its part.
				if times > 2 {
					t.Fatalf("axis %d: part %d of %d was used %d times", j, k, n, times)
				}
			}
		}
	})
}

func axisOf(t *rapid.T, s *Setting, list string) *Axis {
	a, err := Parse(s, list)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestSampleOfListsAndWholeNumbers(t *testing.T) {
	d, err := Draw([]*Axis{axis(t, word(), "fast,slow"), axis(t, whole(), "1..100")}, 100, 7)
	if err != nil {
		t.Fatal(err)
	}
	words, numbers := map[string]int{}, map[string]int{}
	for _, p := range d.Points {
		words[p[0]]++
		numbers[p[1]]++
	}
	if words["fast"] != 50 || words["slow"] != 50 || len(numbers) != 100 {
		t.Errorf("got %v and %d numbers, want each word 50 times and each number once", words, len(numbers))
	}
	if v := d.Axes[1].Values; v[0] != "1" || v[99] != "100" || !slices.IsSorted(Numbers(v)) {
		t.Errorf("the axis is not sorted: %v", v)
	}
	few, err := Draw([]*Axis{axis(t, whole(), "1..3")}, 12, 7)
	if err != nil || len(few.Points) != 3 || few.Repeated != 9 {
		t.Errorf("got %d points and %d repeated (%v), want 3 and 9", len(few.Points), few.Repeated, err)
	}
}

func TestSampleDependsOnSeedOnly(t *testing.T) {
	draw := func(seed uint64) string {
		d, err := Draw([]*Axis{axis(t, number(), "0..1"), axis(t, number(), "0..9")}, 20, seed)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(d.Points)
	}
	if draw(1) != draw(1) {
		t.Error("one seed drew two samples")
	}
	if draw(1) == draw(2) {
		t.Error("two seeds drew one sample")
	}
}

func TestParseSample(t *testing.T) {
	if n, err := ParseSample("lhs:40"); n != 40 || err != nil {
		t.Errorf("got %d %v", n, err)
	}
	for _, text := range []string{"", "40", "lhs", "lhs:", "lhs:0", "lhs:-1", "lhs:x", "sobol:4", "lhs:99999999"} {
		if _, err := ParseSample(text); err == nil {
			t.Errorf("%q: no error", text)
		}
	}
}

// find looks up the settings of the tests.
func find(name string) (*Setting, error) {
	for _, s := range []*Setting{number(), whole(), word(), fleet()} {
		if s.Name == name {
			return s, nil
		}
	}
	return nil, errors.New("unknown setting")
}

func TestReadTable(t *testing.T) {
	d, err := ReadTable("p.csv", strings.NewReader("\ufeffscale, mode,workers\n1.0,fast,\"6xa,2xb\"\n\n0.5,slow,4\n10,slow,4\n"), find)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprintf("%q", d.Points), `[["1" "fast" "6xa,2xb"] ["0.5" "slow" "4"] ["10" "slow" "4"]]`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, want := fmt.Sprint(d.Axes[0].Values, d.Axes[1].Values), "[0.5 1 10] [fast slow]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestBadTables(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "p.csv: found an empty file"},
		{"scale\n", "p.csv: found no points"},
		{"scael\n1\n", `p.csv:1: column 1: found "scael" (unknown setting)`},
		{"scale,scale\n1,1\n", "p.csv:1: column 2: found scale again"},
		{"scale,mode\n1,fast\n2\n", "p.csv:3: found 1 fields, expected 2"},
		{"scale,mode\n1,fast\n2,fats\n", `p.csv:3: mode: found "fats", expected fast or slow`},
		{"scale\n1\n\n-1\n", `p.csv:4: scale: found "-1"`},
		{"scale\n\"\"\n", `p.csv:2: scale: found ""`},
		{"scale,mode\n1,fast\n1.0,fast\n", "p.csv:3: found the point of line 2 again"},
		{"scale\n\"1\n", "p.csv:"},
	} {
		_, err := ReadTable("p.csv", strings.NewReader(c.text), find)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: error %v, want %q", c.text, err, c.want)
		}
	}
}

func FuzzReadTable(f *testing.F) {
	for _, s := range []string{"", "scale\n1\n", "scale,mode\n1,fast\n2,slow\n", "workers\n\"6xa,2xb\"\n", "scale\n\"1", "\ufeffscale\r\n1\r\n", "mode\nFAST\nfast\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, err := ReadTable("p.csv", strings.NewReader(text), find)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "p.csv") {
				t.Errorf("the error names no file: %v", err)
			}
			return
		}
		for _, p := range d.Points {
			for j, v := range p {
				if !slices.Contains(d.Axes[j].Values, v) {
					t.Errorf("the axis %s lacks %s", d.Axes[j].Name, v)
				}
			}
		}
	})
}

func TestNumbers(t *testing.T) {
	if v := Numbers([]string{"1", "0.5", "1e-05"}); len(v) != 3 || v[2] != 1e-5 {
		t.Errorf("got %v", v)
	}
	for _, text := range []string{"none", "auto", "0x10", "inf", "NaN", "", "6xa"} {
		if v := Numbers([]string{"1", text}); v != nil {
			t.Errorf("%q: got %v, want nil", text, v)
		}
	}
	if v, err := strconv.ParseFloat(round(0.333333333, false), 64); err != nil || v != 0.333333 {
		t.Errorf("rounded to %v", v)
	}
}
