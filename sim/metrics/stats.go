package metrics

import "math"

// Stats are the statistics reported of a set of values, in the unit of the
// values; all but N are NaN when the set is empty. Std is the population
// standard deviation.
type Stats struct {
	N                                               int64
	Mean, Min, Max, Median, P75, P90, P95, P99, Std float64
}

// Exact returns the statistics of values, finite and at least 0, which it sorts. A percentile is one
// of the values: no interpolation.
func Exact(values []float64) Stats {
	n := len(values)
	if n == 0 {
		nan := math.NaN()
		return Stats{Mean: nan, Min: nan, Max: nan, Median: nan, P75: nan, P90: nan, P95: nan, P99: nan, Std: nan}
	}
	s := Stats{N: int64(n)}
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	s.Mean = sum / float64(n)
	squares := 0.0
	for _, v := range values {
		squares += float64((v - s.Mean) * (v - s.Mean))
	}
	s.Std = math.Sqrt(squares / float64(n))
	sortValues(values)
	s.Min, s.Max = values[0], values[n-1]
	s.percentiles(func(p float64) float64 { return Percentile(values, p) })
	return s
}

// Percentile returns the element at round((m-1)*p/100), halves away from zero,
// of m ascending values, NaN when there is none.
func Percentile(ascending []float64, p float64) float64 {
	if len(ascending) == 0 {
		return math.NaN()
	}
	return ascending[int(math.Round(float64(len(ascending)-1)*p/100))]
}

func (s *Stats) percentiles(at func(p float64) float64) {
	s.Median, s.P75, s.P90, s.P95, s.P99 = at(50), at(75), at(90), at(95), at(99)
}
