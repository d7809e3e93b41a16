package verdict

import (
	"math"
	"testing"
)

// TestPaired checks the interval against values from a table of Student's t.
func TestPaired(t *testing.T) {
	d := []float64{1, 2, 3, 4, 5} // mean 3, standard error sqrt(2.5/5)
	se := math.Sqrt(0.5)
	for level, quantile := range map[float64]float64{0.90: 2.1318, 0.95: 2.7764, 0.99: 4.6041} {
		got := Paired(d, level)
		if !got.OK || math.Abs(got.Lo-(3-quantile*se)) > 1e-4*se || math.Abs(got.Hi-(3+quantile*se)) > 1e-4*se {
			t.Errorf("level %v: %+v, expected 3 -/+ %v", level, got, quantile*se)
		}
	}
	if got := Paired([]float64{2, 2, 2}, 0.95); got != (Interval{Lo: 2, Hi: 2, OK: true}) {
		t.Errorf("equal differences: %+v, expected no width", got)
	}
	if got := Paired([]float64{2}, 0.95); got.OK {
		t.Errorf("one difference: %+v, expected no interval", got)
	}
}
