package fmath

import (
	"math/big"
	"testing"
)

func TestPowersAgainstSquareRoots(t *testing.T) {
	const precision = 200
	root := big.NewFloat(2).SetPrec(precision)
	for range 5 { // 2^(1/32)
		root = new(big.Float).SetPrec(precision).Sqrt(root)
	}
	power := big.NewFloat(1).SetPrec(precision)
	for j, got := range powers {
		high, _ := power.Float64()
		rest := new(big.Float).SetPrec(precision).Sub(power, big.NewFloat(high))
		low, _ := rest.Float64()
		if got != [2]float64{high, low} {
			t.Errorf("2^(%d/32): got %v, want %v", j, got, [2]float64{high, low})
		}
		power.Mul(power, root)
	}
}
