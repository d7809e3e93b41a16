package sweep

import (
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// number is a setting of real numbers of at least 0.
func number() *Setting {
	return &Setting{Name: "scale", Number: true, Expected: "a number of at least 0", Canon: func(text string) (string, bool) {
		if text == "none" {
			return text, true
		}
		v, err := strconv.ParseFloat(text, 64)
		return strconv.FormatFloat(v, 'f', -1, 64), err == nil && v >= 0
	}}
}

// whole is a setting of whole numbers from 1 to 100.
func whole() *Setting {
	return &Setting{Name: "batch", Number: true, Whole: true, Expected: "a whole number from 1 to 100", Canon: func(text string) (string, bool) {
		v, err := strconv.Atoi(text)
		return strconv.Itoa(v), err == nil && v >= 1 && v <= 100
	}}
}

// fleet is a setting of groups separated by commas.
func fleet() *Setting {
	return &Setting{Name: "workers", Number: true, Whole: true, Words: true, Expected: "a number of workers or groups", Canon: func(text string) (string, bool) {
		for part := range strings.SplitSeq(text, ",") {
			if part == "" || part[0] < '1' || part[0] > '9' {
				return "", false
			}
		}
		return text, true
	}}
}

// word is a setting of words.
func word() *Setting {
	return &Setting{Name: "mode", Expected: "fast or slow", Canon: func(text string) (string, bool) {
		return strings.ToLower(text), strings.EqualFold(text, "fast") || strings.EqualFold(text, "slow")
	}}
}

func TestLists(t *testing.T) {
	for _, c := range []struct {
		s    *Setting
		list string
		want string
	}{
		{number(), "0,0.5,1", "0 0.5 1"},
		{number(), " 0 , 1.50 ", "0 1.5"},
		{number(), "0:2:0.5", "0 0.5 1 1.5 2"},
		{number(), "0:0.5:0.1", "0 0.1 0.2 0.3 0.4 0.5"},
		{number(), "2:0:-1", "2 1 0"},
		{number(), "0.25:0.35:0.05,1,none", "0.25 0.3 0.35 1 none"},
		{number(), "1e-1:3e-1:1E-1", "0.1 0.2 0.3"},
		{number(), "3:3:1", "3"},
		{number(), "log:0.1:10:3", "0.1 1 10"},
		{number(), "log:1:8:4", "1 2 4 8"},
		{number(), "0,log:1:100:3,1000", "0 1 10 100 1000"},
		{number(), "0:1:0.5;5", "0 0.5 1 5"},
		{whole(), "1:10:3", "1 4 7 10"},
		{whole(), "log:1:100:3", "1 10 100"},
		{word(), "fast,slow", "fast slow"},
		{word(), "FAST", "fast"},
		{fleet(), "4:8:2", "4 6 8"},
		{fleet(), "6xa,2xb", "6xa 2xb"},
		{fleet(), "6xa,2xb;8", "6xa,2xb 8"},
		{fleet(), "6xa,2xb;", "6xa,2xb"},
		{fleet(), "2x../dir/p.yaml,3", "2x../dir/p.yaml 3"},
		{fleet(), "4xa:b:c", "4xa:b:c"},
	} {
		a, err := Parse(c.s, c.list)
		if err != nil {
			t.Errorf("%s=%s: %v", c.s.Name, c.list, err)
			continue
		}
		if got := strings.Join(a.Values, " "); got != c.want {
			t.Errorf("%s=%s is %q, want %q", c.s.Name, c.list, got, c.want)
		}
	}
}

func TestBadLists(t *testing.T) {
	for _, c := range []struct {
		s    *Setting
		list string
		want string // in the error
	}{
		{number(), "0,,1", "empty value"},
		{number(), "0,x", `found "x", expected a number`},
		{number(), "-1", `found "-1"`},
		{number(), "0:1", "expected a:b:step"},
		{number(), "0:1:0.5:2", "expected a:b:step"},
		{number(), "0:1:a", "expected a:b:step"},
		{number(), "0:1:0", "a step that leads"},
		{number(), "0:1:-0.5", "a step that leads"},
		{number(), "0:1:0.3", "divides the way"},
		{number(), "-1:1:1", `contains "-1"`},
		{number(), "0:1:0.0000001", "at most"},
		{number(), "0:1e30:1", "at most"},
		{number(), "1,1.0", "found 1 again"},
		{number(), "0:1:0.5,0.5", "found 0.5 again"},
		{number(), "log:0:1:3", "above 0"},
		{number(), "log:1:10:1", "n from 2"},
		{number(), "log:1:10", "log:a:b:n"},
		{number(), "log:1:10:x", "log:a:b:n"},
		{whole(), "log:1:3:9", "again"},
		{whole(), "0.5:2.5:1", `contains "0.5"`},
		{number(), "2..1", "rises"},
		{number(), "1..1", "rises"},
		{number(), "a..1", "expected a..b"},
		{number(), "-2..1", `contains "-2"`},
		{number(), "log:0..1", "above 0"},
		{word(), "fast,fats", `found "fats", expected fast or slow`},
		{word(), "fast:slow:1", "expected fast or slow"},
		{fleet(), "6xa,xb", "separated by semicolons"},
		{number(), strings.Repeat("9", 60) + ":1:1", "expected a:b:step"},
		{number(), "1e99:2e99:1e99", "expected a:b:step"},
	} {
		_, err := Parse(c.s, c.list)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s=%s: error %v, want %q in it", c.s.Name, c.list, err, c.want)
		}
		if err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("%s=%s: the error has more than one line: %v", c.s.Name, c.list, err)
		}
	}
}

func TestCut(t *testing.T) {
	if name, list, err := Cut("workers=4xa@b=c,2"); name != "workers" || list != "4xa@b=c,2" || err != nil {
		t.Errorf("got %q %q %v", name, list, err)
	}
	for _, text := range []string{"", "workers", "workers=", "=4", " = "} {
		if _, _, err := Cut(text); err == nil {
			t.Errorf("%q: no error", text)
		}
	}
}

// TestRangesAreExact compares ranges with rational arithmetic: every value is
// the first plus a multiple of the step, and both ends are among them.
func TestRangesAreExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		places := rapid.IntRange(0, 6).Draw(t, "places")
		unit := func(n int64) string { return decimal{big.NewInt(n), places}.String() }
		a, step, n := rapid.Int64Range(0, 1000).Draw(t, "a"), rapid.Int64Range(1, 50).Draw(t, "step"), rapid.Int64Range(0, 40).Draw(t, "n")
		list := unit(a) + ":" + unit(a+n*step) + ":" + unit(step)
		axis, err := Parse(number(), list)
		if err != nil {
			t.Fatalf("%s: %v", list, err)
		}
		if int64(len(axis.Values)) != n+1 {
			t.Fatalf("%s has %d values, want %d", list, len(axis.Values), n+1)
		}
		for i, text := range axis.Values {
			got, ok := new(big.Rat).SetString(text)
			want := new(big.Rat).SetFrac(big.NewInt(a+int64(i)*step), new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(places)), nil))
			if !ok || got.Cmp(want) != 0 {
				t.Fatalf("%s: value %d is %s, want %s", list, i, text, want.FloatString(places))
			}
			if strings.Contains(text, ".") && strings.HasSuffix(text, "0") || len(text) > 12 {
				t.Fatalf("%s: value %d is written %s", list, i, text)
			}
		}
	})
}

// TestLogRangesRise: both ends as typed, and equal ratios in between.
func TestLogRangesRise(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := rapid.IntRange(1, 500).Draw(t, "a")
		b := a * rapid.IntRange(2, 1000).Draw(t, "factor")
		n := rapid.IntRange(2, 12).Draw(t, "n")
		axis, err := Parse(number(), fmt.Sprintf("log:%d:%d:%d", a, b, n))
		if err != nil {
			t.Fatal(err)
		}
		v := Numbers(axis.Values)
		if len(v) != n || v[0] != float64(a) || v[n-1] != float64(b) {
			t.Fatalf("got %v", v)
		}
		for i := 2; i < n; i++ {
			if r := (v[i] / v[i-1]) / (v[1] / v[0]); r < 1-1e-4 || r > 1+1e-4 {
				t.Fatalf("ratios differ by %v in %v", r, v)
			}
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"0,1", "0:2:0.5", "log:1:100:5", "0..2", "6xa,2xb;8", "a:b:c", "1e5:2e5:1e4", "none", "-1:1:.5", ";", "log:", "..", "0:1:1e-40"} {
		for kind := range 4 {
			f.Add(kind, s)
		}
	}
	f.Fuzz(func(t *testing.T, kind int, list string) {
		s := []*Setting{number(), whole(), fleet(), word()}[uint(kind)%4]
		if strings.Count(list, ":") > 20 || len(list) > 200 {
			t.Skip()
		}
		a, err := Parse(s, list)
		if err != nil {
			return
		}
		if a.Range == nil && len(a.Values) == 0 {
			t.Errorf("%q has no values", list)
		}
		for i, v := range a.Values {
			if canon, ok := s.Canon(v); !ok || canon != v {
				t.Errorf("%q: the value %q is not canonical", list, v)
			}
			if i < 1000 && slices.Index(a.Values, v) != i {
				t.Errorf("%q: the value %q twice", list, v)
			}
		}
		if a.Range != nil {
			if _, err := Draw([]*Axis{a}, 3, 1); err != nil {
				t.Errorf("%q: %v", list, err)
			}
		}
	})
}
