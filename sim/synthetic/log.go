package synthetic

import (
	"math"
	"math/big"
)

// precision of the logarithm before it is rounded, in bits. Twice that of a
// binary64 number leaves no doubt about the last bit in practice.
const precision = 128

// ln2 is the natural logarithm of 2 to the precision above.
const ln2 = "0.693147180559945309417232121458176568075500134360255254120680009493393621969694715605863326996418687"

// log returns the natural logarithm of x > 0, rounded to the nearest number. The
// gaps of a load are compared with those of another program, and a difference in
// the last bit would stay in every later arrival.
//
//	ln(m * 2^k) = k ln 2 + 2 (s + s^3/3 + s^5/5 + ...), s = (m-1)/(m+1)
func log(x float64) float64 {
	fraction, exponent := math.Frexp(x) // fraction in [0.5, 1)
	if fraction < math.Sqrt2/2 {
		fraction, exponent = 2*fraction, exponent-1
	}
	wide := func(v float64) *big.Float { return new(big.Float).SetPrec(precision).SetFloat64(v) }
	m := wide(fraction)
	s := new(big.Float).Quo(new(big.Float).Sub(m, wide(1)), new(big.Float).Add(m, wide(1)))
	square := new(big.Float).Mul(s, s)
	sum, power := wide(0), s
	for i := 1; power.Sign() != 0; i += 2 {
		term := new(big.Float).Quo(power, wide(float64(i)))
		if sum.Sign() != 0 && term.MantExp(nil) < sum.MantExp(nil)-precision {
			break
		}
		sum.Add(sum, term)
		power = new(big.Float).Mul(power, square)
	}
	two, _ := new(big.Float).SetPrec(precision).SetString(ln2)
	sum.Mul(sum, wide(2))
	sum.Add(sum, two.Mul(two, wide(float64(exponent))))
	y, _ := sum.Float64()
	return y
}
