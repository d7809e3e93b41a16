package models

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

// bigNanos rounds s*1e9 to the nearest integer, ties to even, from the exact
// value of s.
func bigNanos(s float64) *big.Int {
	r := new(big.Rat).SetFloat64(s)
	r.Mul(r, big.NewRat(1_000_000_000, 1))
	twice := new(big.Int).Lsh(r.Num(), 1)
	q, rem := new(big.Int).QuoRem(r.Num(), r.Denom(), new(big.Int))
	twice.Lsh(rem, 1)
	if c := twice.Cmp(r.Denom()); c > 0 || c == 0 && q.Bit(0) == 1 {
		q.Add(q, big.NewInt(1))
	}
	return q
}

func bigSeconds(n *big.Int) float64 {
	whole, rest := new(big.Int).QuoRem(n, big.NewInt(1_000_000_000), new(big.Int))
	w, _ := new(big.Float).SetInt(whole).Float64()
	return w + float64(rest.Int64())/1e9
}

// bigQuantise is the rule with integers of any size.
func bigQuantise(ms, ratio float64) float64 {
	n := bigNanos(ms / 1000)
	if ratio > 0 && n.Sign() > 0 {
		n = bigNanos(bigSeconds(n) / ratio)
	}
	return bigSeconds(n) * 1000
}

// durations draws raw milliseconds of every size, often within a few last
// bits of a half nanosecond.
func durations() *rapid.Generator[float64] {
	return rapid.Custom(func(t *rapid.T) float64 {
		switch rapid.IntRange(0, 3).Draw(t, "kind") {
		case 0:
			return rapid.Float64Range(0, 100).Draw(t, "usual")
		case 1:
			return rapid.Float64Range(0, 1e12).Draw(t, "long")
		case 2:
			half := float64(rapid.Int64Range(0, 1<<40).Draw(t, "nanos")) + 0.5
			ms := half / 1e6
			for range rapid.IntRange(0, 4).Draw(t, "steps") {
				ms = math.Nextafter(ms, rapid.SampledFrom([]float64{0, math.Inf(1)}).Draw(t, "to"))
			}
			return ms
		}
		e := rapid.IntRange(-80, 60).Draw(t, "exponent")
		return math.Ldexp(1+rapid.Float64Range(0, 1).Draw(t, "mantissa"), e)
	})
}

func TestQuantiseAgreesWithBigIntegers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ms := durations().Draw(t, "ms")
		ratio := rapid.OneOf(
			rapid.SampledFrom([]float64{0, 1, 0.5, 3.7, 1000}),
			rapid.Float64Range(1e-6, 1e6),
		).Draw(t, "ratio")
		if got, want := Quantise(ms, ratio), bigQuantise(ms, ratio); got != want {
			t.Fatalf("Quantise(%v, %v) = %v, want %v", ms, ratio, got, want)
		}
	})
}

// Powers of two times odd numbers are the only exact ties there can be: s*1e9
// is half-way only if s is a multiple of 2^-10.
func TestQuantiseTiesToEven(t *testing.T) {
	for _, c := range [...]struct{ s, nanos float64 }{
		{1.0 / 1024, 976562},       // 976562.5, down to even
		{3.0 / 1024, 2929688},      // 2929687.5, up to even
		{5.0 / 1024, 4882812},      // 4882812.5
		{1 + 1.0/1024, 1000976562}, // parity of the whole nanoseconds
	} {
		if got := roundNanosOf(c.s); got != c.nanos {
			t.Errorf("%v s = %v ns, want %v", c.s, got, c.nanos)
		}
		if got := bigNanos(c.s).Int64(); float64(got) != c.nanos {
			t.Errorf("reference: %v s = %v ns, want %v", c.s, got, c.nanos)
		}
	}
}

func roundNanosOf(s float64) float64 { return math.Round(wholeNanos(s) * 1e9) }

func TestQuantiseEdges(t *testing.T) {
	for _, c := range [...]struct{ ms, ratio, want float64 }{
		{0, 1, 0}, {-5, 1, 0}, {math.NaN(), 1, 0}, {math.Inf(1), 2, math.Inf(1)},
		{math.SmallestNonzeroFloat64, 1e-300, 0},
		{0.4e-6, 0.001, 0}, // rounds to 0 ns before the ratio could save it
		{1e18, 1, 1e18},
		{999.9999999, 0, 1000}, {1999.9999999, 0, 2000},
	} {
		if got := Quantise(c.ms, c.ratio); got != c.want {
			t.Errorf("Quantise(%v, %v) = %v, want %v", c.ms, c.ratio, got, c.want)
		}
	}
}

func BenchmarkQuantise(b *testing.B) {
	for _, c := range [...]struct {
		name  string
		ratio float64
	}{{"unscaled", 1}, {"ratio", 3.7}} {
		b.Run(c.name, func(b *testing.B) {
			sum, ms := 0.0, 5.74
			for b.Loop() {
				sum += Quantise(ms, c.ratio)
				ms += 1.0 / 1024
			}
			if sum == 0 {
				b.Fatal("durations sum to nothing")
			}
		})
	}
}
