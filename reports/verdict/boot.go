package verdict

import (
	"math"
	"math/bits"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// The resamples of a sweep do not depend on anything but their number, so that
// every point is judged on the same ones.
const (
	seedStream    uint64 = 0x5eed5
	trafficStream uint64 = 0x7aff1c
)

const (
	tail      = 0.025 // either side of a 95 % interval
	minGroups = 6     // replicates or blocks below which no 95 % statement holds
)

// stream is the generator SplitMix64 (Steele, Lea and Flood, 2014).
type stream uint64

func (s *stream) next() uint64 {
	*s += 0x9E3779B97F4A7C15
	x := uint64(*s)
	x = (x ^ x>>30) * 0xBF58476D1CE4E5B9
	x = (x ^ x>>27) * 0x94D049BB133111EB
	return x ^ x>>31
}

// below returns a number of 0..n-1.
func (s *stream) below(n int) int {
	hi, _ := bits.Mul64(s.next(), uint64(n))
	return int(hi)
}

// draws are resamples: count numbers of 0..from-1 for each.
type draws struct {
	count int
	list  []int32
}

func newDraws(id uint64, resamples, count, from int) draws {
	d := draws{count, make([]int32, resamples*count)}
	s := stream(id)
	for i := range d.list {
		d.list[i] = int32(s.below(from))
	}
	return d
}

func (d *draws) len() int { return len(d.list) / max(d.count, 1) }

// at returns resample r.
func (d *draws) at(r int) []int32 { return d.list[r*d.count : (r+1)*d.count] }

// stretch is what the ends of a percentile interval have to be moved by, away
// from the mean, because a bootstrap of n values is too narrow: it has the
// spread of the values without the correction for their own mean, and the
// tails of the normal distribution where those of Student's t belong.
func stretch(n int) float64 {
	return math.Sqrt(float64(n)/float64(n-1)) * student(n-1, 1-tail) / normal(1-tail)
}

// student and normal are quantiles.
func student(df int, p float64) float64 {
	return distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(df)}.Quantile(p)
}

func normal(p float64) float64 { return distuv.UnitNormal.Quantile(p) }

// twoSided is the probability, under Student's t, of a mean at least as many
// standard errors from 0.
func twoSided(mean, se float64, df int) float64 {
	switch {
	case df < 1:
		return 1
	case se == 0 && mean == 0:
		return 1
	case se == 0:
		return 0
	}
	return 2 * distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(df)}.CDF(-math.Abs(mean/se))
}

// resampled returns the means of values over each resample, less their mean.
func resampled(values []float64, d *draws, into []float64) []float64 {
	mean := meanOf(values)
	into = into[:0]
	for r := range d.len() {
		sum := 0.0
		for _, i := range d.at(r) {
			sum += values[i]
		}
		into = append(into, sum/float64(d.count)-mean)
	}
	return into
}

// spreadOf makes an interval of deviations, which it reorders. n is the number
// of independent groups behind them.
func spreadOf(deviations []float64, n int) spread {
	if n < 2 || len(deviations) == 0 {
		return spread{}
	}
	f := stretch(n)
	lo := quantile(deviations, tail)
	hi := quantile(deviations, 1-tail)
	return spread{below: math.Max(-lo*f, 0), above: math.Max(hi*f, 0), ok: true}
}

func (s spread) around(mean float64) Interval {
	if !s.ok {
		return Interval{}
	}
	return Interval{Lo: mean - s.below, Hi: mean + s.above, OK: true}
}

func (i Interval) excludes0() bool { return i.OK && (i.Lo > 0 || i.Hi < 0) }
func (i Interval) width() float64  { return i.Hi - i.Lo }

// quantile returns the value at rank p, between neighbours if need be. It
// reorders values.
func quantile(values []float64, p float64) float64 {
	n := len(values)
	if n == 0 {
		return math.NaN()
	}
	h := p * float64(n-1)
	k := int(h)
	low := nth(values, k)
	if k+1 >= n {
		return low
	}
	high := slices.Min(values[k+1:]) // nth leaves no smaller value behind k
	return low + float64((high-low)*(h-float64(k)))
}

// nth returns the value that would stand at place k if values were sorted, and
// leaves none smaller behind it and none greater before it.
func nth(values []float64, k int) float64 {
	lo, hi := 0, len(values)-1
	for lo < hi {
		pivot := values[(lo+hi)/2]
		i, j := lo, hi
		for i <= j {
			for values[i] < pivot {
				i++
			}
			for values[j] > pivot {
				j--
			}
			if i <= j {
				values[i], values[j] = values[j], values[i]
				i++
				j--
			}
		}
		switch {
		case k <= j:
			hi = j
		case k >= i:
			lo = i
		default:
			return values[k]
		}
	}
	return values[k]
}

func meanOf(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

// errorOf is the standard error of the mean of n values, from their spread.
func errorOf(values []float64) float64 {
	n := len(values)
	if n < 2 {
		return math.NaN()
	}
	mean, squares := meanOf(values), 0.0
	for _, v := range values {
		squares += float64((v - mean) * (v - mean))
	}
	return math.Sqrt(squares / float64(n-1) / float64(n))
}

// holm corrects p-values for their number (Holm, 1979): the smallest counts as
// often as there are values, the next once less, and none is below one before.
func holm(p []float64) []float64 {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case p[a] < p[b]:
			return -1
		case p[a] > p[b]:
			return 1
		}
		return a - b
	})
	out, least := make([]float64, len(p)), 0.0
	for rank, i := range order {
		least = math.Max(least, math.Min(1, p[i]*float64(len(p)-rank)))
		out[i] = least
	}
	return out
}
