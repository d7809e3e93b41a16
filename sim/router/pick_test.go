package router

import (
	"math"
	"testing"

	"routesim/sim/rng"
)

// withCosts returns a router that is about to pick among workers of the given
// costs.
func withCosts(temperature float64, costs ...float64) *Router {
	r := &Router{costs: make([]Terms, len(costs))}
	r.Temperature = temperature
	for i, c := range costs {
		r.costs[i].Cost = c
	}
	r.scan()
	return r
}

// shares returns how often each worker is picked over many requests.
func shares(r *Router, n int) []float64 {
	out := make([]float64, len(r.costs))
	for row := range n {
		out[r.pick(int32(row))] += 1 / float64(n)
	}
	return out
}

// TestSoftmaxShares compares shares with published probabilities. 20,000 draws
// have a standard deviation of at most 0.0035.
func TestSoftmaxShares(t *testing.T) {
	for _, c := range []struct {
		temperature float64
		costs, want []float64
	}{
		{1, []float64{0, 5, 10}, []float64{.5065, .3072, .1863}},
		{0.5, []float64{0, 5, 10}, []float64{.6652, .2447, .0900}},
		{1e-9, []float64{0, 5, 10}, []float64{1, 0, 0}},
		{0, []float64{0, 5, 10}, []float64{1, 0, 0}},
		{0.7, []float64{4, 4, 4}, []float64{1. / 3, 1. / 3, 1. / 3}},
		{0, []float64{4, 4, 4}, []float64{1. / 3, 1. / 3, 1. / 3}},
		{0, []float64{9, 4, 4, 4.0000000000000009}, []float64{0, .5, .5, 0}},
		{1, []float64{100, 101}, []float64{.7311, .2689}},
		{1, []float64{0, 10}, []float64{.7311, .2689}},
		{1, []float64{3, 3 + 1e-9}, []float64{.7311, .2689}},
		{0.2, []float64{10, 0}, []float64{.0067, .9933}},
		{2, []float64{0, 1}, []float64{.6225, .3775}},
		{1, []float64{-1e308, 1e308}, []float64{.7311, .2689}},
		{0.2, []float64{0, 1, 1000}, []float64{.5, .5, .0034}},
		{1, []float64{42}, []float64{1}},
	} {
		got := shares(withCosts(c.temperature, c.costs...), 20000)
		for i := range got {
			if math.IsNaN(got[i]) || math.Abs(got[i]-c.want[i]) > 0.014 {
				t.Errorf("temperature %v, costs %v: shares %.4f, expected %.4f", c.temperature, c.costs, got, c.want)
				break
			}
		}
	}
}

// softmaxOf computes the probabilities of costs normalised by their range.
func softmaxOf(tau float64, costs []float64) []float64 {
	lo, hi := costs[0], costs[0]
	for _, c := range costs {
		lo, hi = math.Min(lo, c), math.Max(hi, c)
	}
	p, sum := make([]float64, len(costs)), 0.0
	for i, c := range costs {
		p[i] = math.Exp(-(c - lo) / ((hi - lo) * tau))
		sum += p[i]
	}
	for i := range p {
		p[i] /= sum
	}
	return p
}

// TestSoftmaxEnds checks the draws at both ends of [0, 1).
func TestSoftmaxEnds(t *testing.T) {
	r := withCosts(1, 0, 5, 10)
	if a, b := r.softmax(0), r.softmax(math.Nextafter(1, 0)); a != 0 || b != 2 {
		t.Errorf("the lowest draw picks %d and the highest %d, expected 0 and 2", a, b)
	}
	if got := withCosts(1, 3, 3).softmax(0.5); got != 0 {
		t.Errorf("a draw of exactly the first share picks %d, expected 0", got)
	}
	// The first worker whose running share reaches the draw.
	p := softmaxOf(1, []float64{0, 5, 10})
	for _, c := range []struct {
		u    float64
		want int32
	}{{p[0] - 1e-9, 0}, {p[0] + 1e-9, 1}, {p[0] + p[1] - 1e-9, 1}, {p[0] + p[1] + 1e-9, 2}} {
		if got := r.softmax(c.u); got != c.want {
			t.Errorf("draw %v picks %d, expected %d", c.u, got, c.want)
		}
	}
}

// TestTiesAreUniform sends 10,000 requests to four idle, empty workers.
func TestTiesAreUniform(t *testing.T) {
	r := newRig(t, 4, nil)
	var count [4]int
	for range 10000 {
		q := r.request(1000, 1, 2)
		c := r.sent(q, -1)
		if c.Tied != 4 {
			t.Fatalf("%d workers tie, expected 4", c.Tied)
		}
		count[c.Worker]++
		r.PrefillDone(q)
		r.Free(q)
	}
	for w, n := range count {
		if n < 2500-170 || n > 2500+170 { // four standard deviations
			t.Errorf("worker %d got %d of 10000 ties, expected 2500 (all: %v)", w, n, count)
		}
	}
}

// TestShortPromptsSpread sends prompts without a complete block to eight
// workers, one at a time and all at once.
func TestShortPromptsSpread(t *testing.T) {
	for _, together := range []bool{false, true} {
		r := newRig(t, 8, nil)
		var count [8]int
		for range 1000 {
			q := r.request(10)
			c := r.sent(q, -1)
			count[c.Worker]++
			if !together {
				r.Free(q)
			}
		}
		for w, n := range count {
			if n > 170 {
				t.Errorf("worker %d got %d of 1000 short prompts, expected at most 170", w, n)
			}
		}
	}
}

// TestDrawDependsOnRequestOnly compares two runs in which other requests draw
// differently: where the same workers tie for a request, it goes to the same
// one.
func TestDrawDependsOnRequestOnly(t *testing.T) {
	a := newRig(t, 4, nil)
	b := newRig(t, 4, func(p *Params) { p.PrefillLoadScale, p.OverlapScoreCredit = 3, 0.5 })
	c := New(DefaultParams(), Targets(1, 1, 1, 1), rigBlock, rigShift, 1)
	differ := 0
	for i := range 500 {
		qa, qb, qc := a.request(100, 1), b.request(100, 1), &Request{Row: int32(i), ISL: 100}
		if i%3 == 0 { // in one run only, nobody ties here
			a.loads.prefillTokens = []int64{5, 1, 5, 5}
		} else {
			a.loads.prefillTokens = []int64{0, 0, 0, 0}
		}
		x, y := a.sent(qa, -1), b.sent(qb, -1)
		z, _ := c.Arrive(qc, 0, -1)
		if x.Tied == y.Tied && x.Worker != y.Worker {
			t.Fatalf("request %d goes to %d in one run and to %d in another, with the same ties", i, x.Worker, y.Worker)
		}
		if x.Tied == 4 && x.Worker != z.Worker {
			differ++
		}
		a.loads.prefillTokens[x.Worker] = 0
		qa.booking.prefill = 0
		a.Free(qa)
		b.Free(qb)
		c.Free(qc)
	}
	if differ == 0 {
		t.Error("another seed draws the same workers")
	}
}

// TestDrawsByHand checks that the tie draw is the one documented: the n-th of
// the tied workers in order of their numbers.
func TestDrawsByHand(t *testing.T) {
	r := withCosts(0, 7, 3, 9, 3, 3)
	tied := []int32{1, 3, 4}
	for row := range int32(200) {
		want := tied[rng.Below(rng.Draw(0, int(row), rng.Tie), 3)]
		if got := r.pick(row); got != want {
			t.Fatalf("request %d goes to %d, expected %d", row, got, want)
		}
	}
}

// TestChances checks the shares by hand and against the worker that is drawn.
func TestChances(t *testing.T) {
	chances := func(temperature float64, costs ...float64) []float64 {
		r := withCosts(temperature, costs...)
		r.scan()
		return r.chances()
	}
	if got := chances(0, 7, 3, 9, 3); got[0] != 0 || got[1] != 0.5 || got[2] != 0 || got[3] != 0.5 {
		t.Errorf("shares at temperature 0: %v, want half for each of the two of least cost", got)
	}
	got, sum := chances(0.5, 7, 3, 9, 3), 0.0
	for _, p := range got {
		sum += p
	}
	if want := math.Exp(-2); math.Abs(got[2]/got[1]-want) > 1e-15 || math.Abs(sum-1) > 1e-15 {
		t.Errorf("the costliest has %v of the cheapest's share, want exp(-1/0.5) = %v; sum %v", got[2]/got[1], want, sum)
	}
	for _, p := range chances(2, 4, 4) {
		if p != 0.5 {
			t.Errorf("equal costs: share %v, want 0.5", p)
		}
	}
}
