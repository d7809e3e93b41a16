package metrics

import "math"

// literalValues is the number of values up to which the moments follow
// Welford's update value by value. In small sets of nearly equal values the
// rounding of that recurrence is visible in the standard deviation, and there
// the reported digits must be those of the recurrence. Later values are summed
// as differences from the mean of the earlier ones, which takes no division and
// is as accurate: the differences from that mean are, squared, at most as many
// times the variance of the whole set as the set is larger than its literal part.
const literalValues = 1 << 16

// moments are count, extremes, mean and the sum of squared deviations.
type moments struct {
	n        int64
	min, max float64

	mean, m2 float64 // of the literal values

	later            int64   // number of values beyond the literal ones
	shifted, squares float64 // their differences from mean, summed, and squared
}

// literal reports whether the next value belongs to the literal ones.
func (m *moments) literal() bool { return m.n < literalValues }

func (m *moments) add(v float64) {
	m.bound(v, v)
	if !m.literal() {
		d := v - m.mean
		m.addLater(1, d, float64(d*d))
		return
	}
	m.n++
	d := v - m.mean
	m.mean += d / float64(m.n)
	m.m2 += float64(d * (v - m.mean))
}

// bound widens the extremes to hold lo and hi.
func (m *moments) bound(lo, hi float64) {
	if m.n == 0 || lo < m.min {
		m.min = lo
	}
	if m.n == 0 || hi > m.max {
		m.max = hi
	}
}

// addLater adds the sums of the differences of n values from mean.
func (m *moments) addLater(n int64, shifted, squares float64) {
	m.n += n
	m.later += n
	m.shifted += shifted
	m.squares += squares
}

// result returns the mean and the population standard deviation.
func (m *moments) result() (mean, std float64) {
	n := float64(m.n)
	shift := m.shifted / n
	m2 := m.m2 + m.squares - float64(m.shifted*shift)
	return m.mean + shift, math.Sqrt(math.Max(m2, 0) / n)
}
