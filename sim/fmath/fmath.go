// Package fmath computes exponentials and logarithms with the same bits on
// every machine. The standard library's versions are free to use assembly and
// fused multiply-adds; here each step is one binary64 operation, so that
// results that depend on a last bit repeat everywhere.
//
// Log and Log1p follow the argument reduction and the minimax polynomial
// published with FreeBSD's msun (FDLIBM), Tanh the rational approximation of
// the Cephes library, Exp the table-driven method of P. T. P. Tang (1989).
// Errors stay below 1 ulp.
package fmath

import "math"

// ln(2) in two parts: the high one has 21 trailing zero bits, so that its
// product with an exponent is exact.
const (
	ln2High = 6.93147180369123816490e-01
	ln2Low  = 1.90821492927058770002e-10
)

// Exp returns e to the power x.
//
// With n the multiple of ln(2)/32 nearest to x and r the rest,
// e^x = 2^(n/32) * e^r: a table of 32 powers, then a short Taylor series.
func Exp(x float64) float64 {
	const (
		overflow  = 7.09782712893383973096e+02  // the largest x with a finite result
		underflow = -7.45133219101941108420e+02 // the smallest x with a result above 0
		tiny      = 1.0 / (1 << 54)             // below it 1+x rounds to 1
	)
	switch {
	case math.IsNaN(x) || x > overflow:
		return x * math.Inf(1) // NaN stays NaN
	case x < underflow:
		return 0
	case -tiny < x && x < tiny:
		return 1
	}
	high, low, e := expParts(x)
	sum := high + low
	if -1022 < e && e < 1023 {
		return sum * math.Float64frombits(uint64(e+1023)<<52)
	}
	return math.Ldexp(sum, e)
}

// expParts returns e^x as (high+low) * 2^e, good to about 2^-58 relative; high
// is the larger part.
func expParts(x float64) (high, low float64, e int) {
	n := roundEven(float64(x * (32 / math.Ln2)))
	r := (x - float64(n*(ln2High/32))) - float64(n*(ln2Low/32))
	k := int(n)
	power := &powers[k&31]
	return power[0], power[1] + float64(power[0]*expm1Series(r)), k >> 5
}

// roundEven rounds |x| < 2^51 to the nearest integer, ties to even: in the
// middle of [2^52, 2^53) the numbers are the integers.
func roundEven(x float64) float64 {
	const middle = 1.5 * (1 << 52)
	return float64(x+middle) - middle
}

// expm1Series returns e^r - 1 for |r| up to ln(2)/64; the first term left out
// is below 2^-67.
func expm1Series(r float64) float64 {
	t := float64(r * r)
	low := 1.0/2 + float64(r*(1.0/6))
	mid := 1.0/24 + float64(r*(1.0/120))
	high := 1.0/720 + float64(r*(1.0/5040))
	return r + float64(t*(low+float64(t*(mid+float64(t*high)))))
}

// Log returns the natural logarithm of x.
func Log(x float64) float64 {
	switch {
	case math.IsNaN(x) || math.IsInf(x, 1):
		return x
	case x < 0:
		return math.NaN()
	case x == 0:
		return math.Inf(-1)
	}
	m, e := math.Frexp(x) // x = m * 2^e, 0.5 <= m < 1
	if m < math.Sqrt2/2 {
		m *= 2
		e--
	}
	f, k := m-1, float64(e)
	half := float64(0.5 * float64(f*f))
	s := f / (2 + f)
	tail := float64(s*(half+atanhTail(s))) + float64(k*ln2Low)
	return float64(k*ln2High) - ((half - tail) - f)
}

// atanhTail returns R with log(1+f) = f - f*f/2 + s*(f*f/2+R), where
// s = f/(2+f): what is left of 2*atanh(s) after its first term.
func atanhTail(s float64) float64 {
	const (
		l1 = 6.666666666666735130e-01
		l2 = 3.999999999940941908e-01
		l3 = 2.857142874366239149e-01
		l4 = 2.222219843214978396e-01
		l5 = 1.818357216161805012e-01
		l6 = 1.531383769920937332e-01
		l7 = 1.479819860511658591e-01
	)
	z := float64(s * s)
	w := float64(z * z)
	odd := float64(z * (float64(w*(float64(w*(float64(w*l7)+l5))+l3)) + l1))
	even := float64(w * (float64(w*(float64(w*l6)+l4)) + l2))
	return odd + even
}

// Log1p returns the natural logarithm of 1+x, accurate also for tiny x.
func Log1p(x float64) float64 {
	switch {
	case x < -1 || math.IsNaN(x):
		return math.NaN()
	case x == -1:
		return math.Inf(-1)
	case math.IsInf(x, 1):
		return x
	case math.Abs(x) < 1.0/(1<<54):
		return x
	case math.Abs(x) < 1.0/(1<<29):
		return x - float64(float64(x*x)*0.5)
	}
	const low, high = math.Sqrt2/2 - 1, math.Sqrt2 - 1
	if low < x && x < high {
		return log1pReduced(x, 0, 0)
	}
	sum := 1 + x
	var lost float64 // what rounding took from 1+x
	if x > 1 {
		lost = 1 - (sum - x)
	} else {
		lost = x - (sum - 1)
	}
	m, e := math.Frexp(sum)
	if m < math.Sqrt2/2 {
		m *= 2
		e--
	}
	return log1pReduced(m-1, float64(e), lost/sum)
}

// log1pReduced returns log(1+f) + k*ln(2) + lost.
func log1pReduced(f, k, lost float64) float64 {
	half := float64(0.5 * float64(f*f))
	s := f / (2 + f)
	tail := float64(s*(half+atanhTail(s))) + (float64(k*ln2Low) + lost)
	return float64(k*ln2High) - ((half - tail) - f)
}

// Tanh returns the hyperbolic tangent of x.
func Tanh(x float64) float64 {
	const one = 0.5 * 8.8029691931113054295988e+01 // ln(2^127)/2: the result is 1 beyond it
	switch a := math.Abs(x); {
	case math.IsNaN(x):
		return x
	case a > one:
		return math.Copysign(1, x)
	case a >= 0.625:
		return math.Copysign(tanhLarge(a), x)
	case x == 0:
		return x // keeps the sign of zero
	}
	const (
		p0, p1, p2 = -9.64399179425052238628e-1, -9.92877231001918586564e1, -1.61468768441708447952e3
		q0, q1, q2 = 1.12811678491632931402e2, 2.23548839060100448583e3, 4.84406305325125486048e3
	)
	z := float64(x * x)
	above := float64(z*(float64(z*p0)+p1)) + p2
	below := float64(z*(float64(z*(z+q0))+q1)) + q2
	return x + float64(float64(x*z)*above)/below
}

// tanhLarge returns 1 - 2/(e^2x + 1) for x from 0.625 to 45, carrying what
// rounding takes from the denominator and the quotient.
func tanhLarge(x float64) float64 {
	high, low, e := expParts(2 * x)
	scale := math.Float64frombits(uint64(e+1023) << 52)
	power := float64((high + low) * scale)
	lost := float64(low*scale) - (power - float64(high*scale))
	d := power + 1 // power >= 3.4
	lost += 1 - (d - power)
	q := 2 / d
	rest := (math.FMA(-q, d, 2) - float64(q*lost)) / d
	near := 1 - q
	return near + (((1 - near) - q) - rest)
}
