package numeral

import (
	"math"
	"testing"
)

func TestReal(t *testing.T) {
	for text, want := range map[string]float64{"0": 0, "-0": 0, "1.5": 1.5, "+2": 2, ".5": 0.5, "5.": 5, "1e3": 1000, "-1E-2": -0.01, "1e-400": 0} {
		v, ok := Real(text)
		if !ok || v != want || math.Signbit(v) != (want < 0) {
			t.Errorf("%q reads %v, %v, expected %v", text, v, ok, want)
		}
	}
	for _, text := range []string{"", " 1", "1 ", "1_0", "0x10", "0X1p4", "1e400", "-1e400", "inf", "-Inf", "infinity", "nan", "NaN", "1,5", "1e", "ten", "1.2.3", "--1", "٣"} {
		if v, ok := Real(text); ok {
			t.Errorf("%q reads %v, expected no number", text, v)
		}
	}
}
