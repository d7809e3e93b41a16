package gate

import (
	"math"

	"routesim/reports/verdict"
)

// paired returns the interval of the mean of paired differences at a level such
// as 0.999; NaN with fewer than two differences.
func paired(differences []float64, level float64) (lo, hi float64) {
	i := verdict.Paired(differences, level)
	if !i.OK {
		return math.NaN(), math.NaN()
	}
	return i.Lo, i.Hi
}
