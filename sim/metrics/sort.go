package metrics

import (
	"math"
	"slices"
)

const (
	digitBits   = 11 // six digits make up 64 bits
	digitValues = 1 << digitBits
	fewValues   = 1 << 10 // below it comparing is as fast
)

// sortValues sorts finite values of at least 0, whose bit patterns ascend with
// them, digit by digit from the lowest.
func sortValues(values []float64) {
	if len(values) < fewValues {
		slices.Sort(values)
		return
	}
	from, to := make([]uint64, len(values)), make([]uint64, len(values))
	for i, v := range values {
		from[i] = math.Float64bits(v)
	}
	for shift := 0; shift < 64; shift += digitBits {
		var start [digitValues]int
		for _, b := range from {
			start[b>>shift&(digitValues-1)]++
		}
		if start[from[0]>>shift&(digitValues-1)] == len(from) {
			continue // all alike in this digit
		}
		sum := 0
		for d, n := range start {
			start[d] = sum
			sum += n
		}
		for _, b := range from {
			d := b >> shift & (digitValues - 1)
			to[start[d]] = b
			start[d]++
		}
		from, to = to, from
	}
	for i, b := range from {
		values[i] = math.Float64frombits(b)
	}
}
