package plot

import (
	"math"

	"routesim/reports/format"
)

// tick is a mark on an axis; one without a label is a minor one.
type tick struct {
	value float64
	label string
}

// linearTicks returns at most seven labelled ticks at steps of 1, 2 or 5 times
// a power of ten.
func linearTicks(lo, hi float64) []tick {
	const most = 7
	for exp := math.Floor(math.Log10((hi-lo)/most)) - 1; ; exp++ {
		for _, m := range [...]float64{1, 2, 5} {
			step := m * math.Pow(10, exp)
			first, last := math.Ceil(lo/step-1e-9), math.Floor(hi/step+1e-9)
			if last-first+1 > most {
				continue
			}
			decimals := int(math.Max(0, -exp))
			var out []tick
			for k := first; k <= last; k++ {
				// k*step in decimal, not as the product rounds.
				v := k * m
				if exp < 0 {
					v /= math.Pow(10, -exp)
				} else {
					v *= math.Pow(10, exp)
				}
				out = append(out, tick{v, format.Fixed(v, decimals)})
			}
			return out
		}
	}
}

// logTicks returns ticks at 1-2-5, 1-3 or 1 times powers of ten, as the range
// is short or long, with unlabelled ones at the other whole multiples.
func logTicks(lo, hi float64) []tick {
	decades := math.Log10(hi / lo)
	labelled := func(m int) bool { return m == 1 }
	switch {
	case decades <= 1.6:
		labelled = func(m int) bool { return m == 1 || m == 2 || m == 5 }
	case decades <= 3.2:
		labelled = func(m int) bool { return m == 1 || m == 3 }
	}
	var out []tick
	count := 0
	for exp := math.Floor(math.Log10(lo)); exp <= math.Ceil(math.Log10(hi)); exp++ {
		for m := 1; m <= 9; m++ {
			v := scaled(m, exp)
			if v < lo*(1-1e-9) || v > hi*(1+1e-9) {
				continue
			}
			t := tick{value: v}
			if labelled(m) {
				t.label = powerLabel(v, exp)
				count++
			}
			out = append(out, t)
		}
	}
	if count < 3 {
		return linearTicks(lo, hi)
	}
	return out
}

// scaled returns m*10^exp, rounded once.
func scaled(m int, exp float64) float64 {
	if exp < 0 {
		return float64(m) / math.Pow(10, -exp)
	}
	return float64(m) * math.Pow(10, exp)
}

func powerLabel(v, exp float64) string {
	if exp < -4 || exp > 6 {
		return format.Sig(v)
	}
	return format.Fixed(v, int(math.Max(0, -exp)))
}
