package metrics

import "math"

// Dist is a distribution of finite values of at least 0: exact count, least
// and greatest value, mean and population standard deviation, and percentiles
// within 0.1 % from a logarithmic sketch. The zero value is empty and ready for
// use.
type Dist struct {
	moments
	sketch
}

// Add adds one value.
func (d *Dist) Add(v float64) {
	d.moments.add(v)
	d.sketch.count(v)
}

// Count returns the number of values.
func (d *Dist) Count() int64 { return d.n }

// Min returns the least value, NaN when there is none.
func (d *Dist) Min() float64 { return d.unlessEmpty(d.min) }

// Max returns the greatest value, NaN when there is none.
func (d *Dist) Max() float64 { return d.unlessEmpty(d.max) }

// Mean returns the arithmetic mean, NaN when there is no value.
func (d *Dist) Mean() float64 {
	mean, _ := d.moments.result()
	return d.unlessEmpty(mean)
}

// Std returns the population standard deviation, NaN when there is no value.
func (d *Dist) Std() float64 {
	_, std := d.moments.result()
	return d.unlessEmpty(std)
}

// Percentile returns percentile p (0 to 100), NaN when there is no value. A
// sketched value may lie outside [Min, Max] by 0.1 %; a single value is
// returned as it is.
func (d *Dist) Percentile(p float64) float64 { return d.percentile(d.sketch.buckets(), p) }

// Stats returns the reported statistics.
func (d *Dist) Stats() Stats {
	s := Stats{N: d.n, Mean: d.Mean(), Min: d.Min(), Max: d.Max(), Std: d.Std()}
	buckets := d.sketch.buckets()
	s.percentiles(func(p float64) float64 { return d.percentile(buckets, p) })
	return s
}

func (d *Dist) percentile(buckets []keyCount, p float64) float64 {
	if d.n <= 1 {
		return d.Mean()
	}
	last := float64(d.n - 1)
	r := math.Round(last * p / 100)
	q := 1.0
	if r < last {
		q = (r + 0.5) / last
	}
	return ranked(buckets, int64(q*last)).reported()
}

func (d *Dist) unlessEmpty(v float64) float64 {
	if d.n == 0 {
		return math.NaN()
	}
	return v
}
