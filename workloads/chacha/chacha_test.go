package chacha

import (
	"math"
	"testing"
)

// TestArrivalsOfDynamo compares exponential gaps of mean 100 with the arrivals
// that Dynamo's synthetic load gives for two seeds.
func TestArrivalsOfDynamo(t *testing.T) {
	for seed, want := range map[uint64][]float64{
		42: {74.77246176406965, 153.01953951913882, 254.207536844964, 306.2785951560703},
		7:  {3.0786437168091014, 39.76362317455055, 55.153612583970286, 133.35520869913557},
	} {
		s, at := New(seed), 0.0
		for i, w := range want {
			at += -100 * math.Log(1-s.Unit())
			if math.Abs(at-w) > 1e-12*w {
				t.Errorf("seed %d: arrival %d at %v ms, expected %v", seed, i+1, at, w)
			}
		}
	}
}

// TestBelow checks the range, that all numbers have the same chance, and the
// groups that Dynamo's synthetic load draws, as far as recordings show them.
func TestBelow(t *testing.T) {
	s := New(1)
	count := make([]int, 7)
	for range 7000 {
		count[s.Below(7)]++
	}
	for k, n := range count {
		if n < 880 || n > 1120 {
			t.Errorf("%d came %d times of 7000, expected about 1000", k, n)
		}
	}
	for range 100 {
		if n := s.Below(1); n != 0 {
			t.Fatalf("%d below 1", n)
		}
	}
	seen, again, draws := map[uint32]bool{}, "", New(42)
	for range 16 {
		g := draws.Below(10)
		again += map[bool]string{true: "R", false: "."}[seen[g]]
		seen[g] = true
	}
	if want := "...R....R.RR..RR"; again != want {
		t.Errorf("groups come again at %s, expected %s", again, want)
	}
}

// TestBernoulli checks the ends and the share of successes.
func TestBernoulli(t *testing.T) {
	s := New(1)
	before := *s
	if !s.Bernoulli(1) || *s != before {
		t.Error("a certainty takes a draw or fails")
	}
	n := 0
	for range 20000 {
		if s.Bernoulli(0) {
			t.Fatal("an impossibility came true")
		}
		if s.Bernoulli(0.3) {
			n++
		}
	}
	if n < 6000-260 || n > 6000+260 { // four standard deviations
		t.Errorf("%d of 20000 draws succeed at 0.3", n)
	}
}
