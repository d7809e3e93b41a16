// Package format writes numbers the way all outputs for people show them:
// three significant digits, one unit per metric, ASCII thousands, "-" for
// what is not there.
package format

import (
	"math"
	"strconv"
	"strings"
)

// Missing stands for a figure that does not exist.
const Missing = "-"

// The signs proper of numbers that are not copied.
const (
	Minus  = "\u2212"
	Narrow = "\u202f" // narrow no-break space, between thousands
)

// Typeset puts the signs proper into a number that this package wrote.
func Typeset(number string) string { return signs.Replace(number) }

var signs = strings.NewReplacer("-", Minus, ",", Narrow)

// Count writes a whole number exactly, with thousands set apart: 12,031.
func Count(n int64) string {
	s := strconv.FormatInt(n, 10)
	sign := ""
	if n < 0 {
		sign, s = "-", s[1:]
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return sign + s
}

// Sig writes v with three significant digits, and never fewer than its whole
// digits: 0.554, 28.5, 1,240, 12,031.
func Sig(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return Missing
	}
	a := math.Abs(v)
	if a == 0 {
		return "0"
	}
	if a < 0.001 {
		return strconv.FormatFloat(v, 'g', 3, 64)
	}
	// Rounding may add a digit: 9.996 has two whole digits once rounded.
	decimals := 0
	for decimals < 5 && math.Round(a*math.Pow10(decimals+1)) < 1000 {
		decimals++
	}
	return Fixed(v, decimals)
}

// Fixed writes v with a number of decimals and thousands set apart.
func Fixed(v float64, decimals int) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return Missing
	}
	s := strconv.FormatFloat(math.Abs(v), 'f', decimals, 64)
	whole, rest, found := strings.Cut(s, ".")
	n, err := strconv.ParseInt(whole, 10, 64)
	if err != nil { // beyond 64 bits: as it is
		return strconv.FormatFloat(v, 'g', 3, 64)
	}
	s = Count(n)
	if found {
		s += "." + rest
	}
	if v < 0 && strings.Trim(s, "0.,") != "" {
		s = "-" + s
	}
	return s
}

// Percent writes a share of 1 in percent with one decimal and no sign: 86.7.
func Percent(share float64) string { return Fixed(share*100, 1) }

// Success writes a share of success, given in percent, with one decimal, rounded
// down: what misses 95 % is not 95.0 %, and not quite all is not 100.
func Success(percent float64) string { return Fixed(math.Floor(percent*10)/10, 1) }

// Change writes a relative change in percent with sign and one decimal: -18.6 %,
// or as a factor from tenfold on: 12.3x. It is Missing when there is no base to compare with.
func Change(from, to float64) string {
	if from == 0 || math.IsNaN(from) || math.IsNaN(to) || math.IsInf(from, 0) || math.IsInf(to, 0) {
		return Missing
	}
	if factor := to / from; factor >= 10 {
		return Sig(factor) + "x"
	}
	return signed((to-from)/math.Abs(from)*100, 1) + " %"
}

// Points writes the difference of two shares of 1 in percentage points.
func Points(from, to float64) string {
	if math.IsNaN(from) || math.IsNaN(to) {
		return Missing
	}
	return signed((to-from)*100, 1) + " pp"
}

func signed(v float64, decimals int) string {
	s := Fixed(v, decimals)
	if v > 0 && strings.Trim(s, "0.,") != "" {
		s = "+" + s
	}
	return s
}

// Duration writes a time in ms as hours, minutes and seconds: 58m57s, 2h05m, or
// in seconds and ms below a minute.
func Duration(ms float64) string {
	switch s := ms / 1000; {
	case math.IsNaN(ms) || math.IsInf(ms, 0):
		return Missing
	case s < 1:
		return Sig(ms) + " ms"
	case s < 59.95:
		return Sig(s) + " s"
	case s < 3599.5:
		n := int64(math.Round(s))
		return strconv.FormatInt(n/60, 10) + "m" + twoDigits(n%60) + "s"
	default:
		n := int64(math.Round(s / 60))
		return Count(n/60) + "h" + twoDigits(n%60) + "m"
	}
}

func twoDigits(n int64) string {
	if n < 10 {
		return "0" + strconv.FormatInt(n, 10)
	}
	return strconv.FormatInt(n, 10)
}

// Plural writes a count with the noun it counts: 1 request, 12,031 requests.
func Plural(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return Count(n) + " " + noun + "s"
}
