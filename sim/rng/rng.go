// Package rng makes the random draws of a run. A draw depends on nothing but
// the seed, the request it is for and its purpose, so a change that adds or
// drops a draw for one request moves no other, and two runs that differ in one
// setting can be compared request by request.
package rng

import "math/bits"

// Purpose tells apart the draws made for one request.
type Purpose uint64

// The purposes of draws.
const (
	Tie     Purpose = 1 // among workers of equal cost
	Softmax Purpose = 2 // among all workers at a temperature above 0
	Policy  Purpose = 3 // by a worker-selection policy
	First   Purpose = 4 // random and power-of-two: the worker drawn first
	Second  Purpose = 5 // power-of-two: the one it is compared with
	Loss    Purpose = 6 // of a worker's batch of KV events
	// Whether the client of a request leaves, and when.
	Cancel      Purpose = 7
	CancelAfter Purpose = 8
)

// Draw returns 64 random bits for (seed, request, purpose). The mixing is the
// finaliser of SplitMix64 (Steele, Lea and Flood, 2014) applied to each input
// in turn.
func Draw(seed uint64, request int, p Purpose) uint64 {
	x := mix(seed + 0x9E3779B97F4A7C15)
	x = mix(x ^ uint64(request)*0xD1B54A32D192ED03 + 0x9E3779B97F4A7C15)
	return mix(x ^ uint64(p)*0x8CB92BA72F3D8DD7 + 0x9E3779B97F4A7C15)
}

func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xBF58476D1CE4E5B9
	x = (x ^ x>>27) * 0x94D049BB133111EB
	return x ^ x>>31
}

// Below maps a draw to 0..n-1, for n >= 1.
func Below(draw uint64, n int) int {
	hi, _ := bits.Mul64(draw, uint64(n))
	return int(hi)
}

// Unit maps a draw to [0, 1) with 53 bits.
func Unit(draw uint64) float64 { return float64(draw>>11) * 0x1p-53 }
