package models

import "math"

// nanosPerSecond is exact in binary64.
const nanosPerSecond = 1e9

// integerBits is 2^52: adding it to and taking it from a value in [0, 2^52)
// leaves that value rounded to the nearest integer, ties to even.
const integerBits = 1 << 52

// unitRatioExact bounds, in seconds, the durations that a speed-up of exactly
// 1 cannot change: below it a second has more than twice the resolution that
// telling nanoseconds apart needs, so rounding again finds the same number.
const unitRatioExact = 1 << 20

// Quantise turns a raw duration in ms into one of whole nanoseconds, again in
// ms, after dividing it by a speed-up ratio (0 and 1 leave it as it is).
//
// The rule, each step one binary64 operation: s = ms/1000; N is s*1e9 rounded
// to the nearest integer, ties to even, from the exact value of s; with a
// ratio and N > 0, N is rounded once more from sec(N)/ratio; the result is
// sec(N)*1000, where sec(N) = whole seconds + remaining nanoseconds/1e9.
//
// Negative durations and NaN give 0; +Inf stays.
func Quantise(ms, ratio float64) float64 {
	s := wholeNanos(ms / 1000)
	if ratio > 0 && s > 0 && (ratio != 1 || s >= unitRatioExact) {
		s = wholeNanos(s / ratio)
	}
	return s * 1000
}

// wholeNanos rounds a duration in seconds to whole nanoseconds.
func wholeNanos(s float64) float64 {
	if s >= 0 && s < 1 {
		return roundNanos(s) / nanosPerSecond
	}
	return wholeNanosLong(s)
}

// wholeNanosLong is wholeNanos for anything but a fraction of a second.
// A thousand million is even, so ties of the whole and of the fraction agree.
func wholeNanosLong(s float64) float64 {
	if !(s > 0) {
		return 0
	}
	if s >= integerBits { // an integer already, or infinite
		return s
	}
	whole := math.Floor(s)
	n := roundNanos(s - whole)
	if n == nanosPerSecond {
		return whole + 1
	}
	return whole + n/nanosPerSecond
}

// roundNanos returns s*1e9 for s in [0, 1) rounded to the nearest integer,
// ties to even, as if the product had not been rounded before.
//
// The rounded product lies on the same side of every half-way point as the
// exact one, or on the point itself, because those points are representable.
// Only in the latter case does the lost part of the product decide.
func roundNanos(s float64) float64 {
	p := float64(s * nanosPerSecond)
	n := float64(p+integerBits) - integerBits
	if math.Abs(p-n) == 0.5 {
		return roundHalfway(s, p, n)
	}
	return n
}

// roundHalfway decides a product that was rounded to a half-way point p;
// tied is p rounded to even.
func roundHalfway(s, p, tied float64) float64 {
	switch lost := math.FMA(s, nanosPerSecond, -p); {
	case lost > 0:
		return p + 0.5
	case lost < 0:
		return p - 0.5
	}
	return tied
}
