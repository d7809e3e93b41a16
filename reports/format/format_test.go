package format

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestFormats(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{Count(0), "0"}, {Count(999), "999"}, {Count(1000), "1,000"}, {Count(12031), "12,031"},
		{Count(-1234567), "-1,234,567"}, {Count(math.MinInt64), "-9,223,372,036,854,775,808"},
		{Sig(0), "0"}, {Sig(0.554), "0.554"}, {Sig(28.5), "28.5"}, {Sig(28.54), "28.5"}, {Sig(1240), "1,240"},
		{Sig(9.996), "10.0"}, {Sig(99.96), "100"}, {Sig(999.6), "1,000"}, {Sig(12031.4), "12,031"},
		{Sig(0.01234), "0.0123"}, {Sig(0.00000123), "1.23e-06"}, {Sig(-2.345), "-2.35"}, {Sig(math.NaN()), "-"},
		{Sig(math.Inf(1)), "-"}, {Sig(1), "1.00"}, {Sig(0.9999), "1.00"},
		{Fixed(-0.04, 1), "0.0"}, {Fixed(1234.56, 1), "1,234.6"}, {Fixed(1e30, 0), "1e+30"}, {Fixed(math.NaN(), 1), "-"},
		{Percent(0.8667), "86.7"}, {Percent(1), "100.0"},
		{Change(2, 1), "-50.0 %"}, {Change(1, 1.186), "+18.6 %"}, {Change(1, 1), "0.0 %"}, {Change(0, 1), "-"}, {Change(2, 19.98), "+899.0 %"}, {Change(2, 24.6), "12.3x"},
		{Change(1, math.NaN()), "-"}, {Change(-2, -1), "+50.0 %"}, {Change(1, 1.00001), "0.0 %"},
		{Points(0.284, 0.254), "-3.0 pp"}, {Points(math.NaN(), 1), "-"},
		{Duration(3537000), "58m57s"}, {Duration(7500000), "2h05m"}, {Duration(12.34), "12.3 ms"}, {Duration(2500), "2.50 s"},
		{Duration(59990), "1m00s"}, {Duration(math.NaN()), "-"}, {Duration(0), "0 ms"}, {Duration(3599600), "1h00m"},
		{Plural(1, "request"), "1 request"}, {Plural(12031, "request"), "12,031 requests"},
	} {
		if c.got != c.want {
			t.Errorf("found %q, expected %q", c.got, c.want)
		}
	}
}

// TestSigKeepsTheValue reads back what was written: half a unit of the third
// digit, or of the last whole one, is the most it may be off.
func TestSigKeepsTheValue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := math.Exp(rapid.Float64Range(math.Log(1e-9), math.Log(1e9)).Draw(t, "log"))
		s := Sig(v)
		back, err := strconv.ParseFloat(strings.ReplaceAll(s, ",", ""), 64)
		if err != nil {
			t.Fatal(err)
		}
		unit := math.Min(math.Pow10(int(math.Floor(math.Log10(v)))-2), 1)
		if math.Abs(back-v) > 0.5001*unit {
			t.Fatalf("%v is written %q", v, s)
		}
		if v >= 0.001 && v < 999 && len(strings.TrimLeft(strings.ReplaceAll(s, ".", ""), "0")) != 3 {
			t.Fatalf("%v is written %q, expected three digits", v, s)
		}
	})
}

func TestTypeset(t *testing.T) {
	for text, want := range map[string]string{"-12,031": "\u221212\u202f031", "0.5": "0.5", "-1.5 %": "\u22121.5 %"} {
		if got := Typeset(text); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// TestWords: a line never ends between a number and its unit.
func TestWords(t *testing.T) {
	got := Words("TTFT 6.60 s, of  the others\n2.26 s -> 15 ms; a share of 5 %. I s it, +0.1 pp (3 %)")
	want := []string{"TTFT", "6.60 s,", "of", "the", "others", "2.26 s", "->", "15 ms;", "a", "share", "of", "5 %.", "I", "s", "it,", "+0.1 pp", "(3 %)"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, expected %q", got, want)
	}
}
