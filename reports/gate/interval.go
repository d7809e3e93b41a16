package gate

import (
	"math"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// paired returns the interval of the mean of paired differences at a level such
// as 0.999, after Student's t; NaN with fewer than two differences. Where all
// are equal it has no width.
func paired(differences []float64, level float64) (lo, hi float64) {
	n := len(differences)
	if n < 2 {
		return math.NaN(), math.NaN()
	}
	mean, deviation := stat.MeanStdDev(differences, nil)
	quantile := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(n - 1)}.Quantile((1 + level) / 2)
	half := quantile * stat.StdErr(deviation, float64(n))
	return mean - half, mean + half
}
