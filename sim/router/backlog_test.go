package router

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

// TestDecayVectors writes the two formulas out by hand.
func TestDecayVectors(t *testing.T) {
	const ms = 1_000_000
	type load struct {
		tokens, duration int64 // ms, -1 = unknown
	}
	for _, c := range []struct {
		name  string
		loads []load
		at    int64 // ms
		want  int64
	}{
		{"nothing", nil, 5, 0},
		{"at the start", []load{{1000, 100}}, 0, 1000},
		{"a quarter on", []load{{1000, 100}}, 25, 750},
		{"floor of what is gone", []load{{1000, 300}}, 1, 997}, // 3.33 gone
		{"over, and into the next", []load{{1000, 100}, {500, 50}}, 120, 300},
		{"never below 0", []load{{1000, 100}, {500, 50}}, 1000, 0},
		{"takes no time", []load{{1000, 0}, {500, 50}}, 0, 500},
		{"one unknown: only the anchor fades", []load{{1000, 100}, {500, -1}}, 120, 500},
		{"one unknown, ceiling of what is left", []load{{1000, 300}, {500, -1}}, 1, 1497}, // 996.67 left
		{"unknown anchor", []load{{1000, -1}, {500, 50}}, 120, 1500},
		{"one unknown, anchor of no time", []load{{1000, 0}, {500, -1}}, 0, 500},
	} {
		d := newDecay(1)
		sum := int64(0)
		for i, l := range c.loads {
			ns := l.duration * ms
			if l.duration < 0 {
				ns = -1
			}
			d.add(0, prefillLoad{int32(i), l.tokens, ns}, 0)
			sum += l.tokens
		}
		if got := d.at(0, sum, c.at*ms); got != c.want {
			t.Errorf("%s: %d tokens, expected %d", c.name, got, c.want)
		}
	}
}

// TestDecayAnchors: the load behind a removed anchor starts then; another one
// that leaves moves the anchor's start by its duration, at most to now.
func TestDecayAnchors(t *testing.T) {
	d := newDecay(1)
	d.add(0, prefillLoad{1, 100, 1000}, 0)
	d.add(0, prefillLoad{2, 100, 300}, 100)
	d.add(0, prefillLoad{3, 100, 5000}, 100)
	d.remove(0, 2, 400)
	if q := &d.queues[0]; q.start != 300 || len(q.loads) != 2 {
		t.Errorf("start %d after the second load left, expected 300", q.start)
	}
	d.remove(0, 3, 600)
	if q := &d.queues[0]; q.start != 600 {
		t.Errorf("start %d after the third load left, expected now", q.start)
	}
	d.add(0, prefillLoad{4, 100, 5000}, 700)
	d.remove(0, 1, 800)
	if q := &d.queues[0]; q.start != 800 || q.loads[0].row != 4 {
		t.Errorf("start %d after the anchor left, expected now", q.start)
	}
	d.remove(0, 9, 900) // unknown: nothing happens
	d.remove(0, 4, 900)
	if d.at(0, 0, 1000) != 0 {
		t.Error("something is left")
	}
}

// TestDecayIsExact holds the first formula against rational arithmetic.
func TestDecayIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		anchor := rapid.Int64Range(0, 1<<31).Draw(t, "anchor")
		other := rapid.Int64Range(0, 1<<31).Draw(t, "other")
		duration := rapid.Int64Range(1, 1<<50).Draw(t, "duration")
		elapsed := rapid.Int64Range(0, 1<<50).Draw(t, "elapsed")
		d := newDecay(1)
		d.add(0, prefillLoad{1, anchor, duration}, 0)
		d.add(0, prefillLoad{2, other, 1}, 0)
		gone := new(big.Int).Mul(big.NewInt(anchor), big.NewInt(elapsed))
		gone.Quo(gone, big.NewInt(duration))
		want := new(big.Int).Sub(big.NewInt(anchor+other), gone)
		if want.Sign() < 0 {
			want.SetInt64(0)
		}
		if got := d.at(0, anchor+other, elapsed); big.NewInt(got).Cmp(want) != 0 {
			t.Fatalf("%d tokens, expected %v", got, want)
		}
	})
}

// TestDecayingLoadFreesTheQueue: under live semantics a timer every 100 ms
// notices that the backlog fell below the threshold.
func TestDecayingLoadFreesTheQueue(t *testing.T) {
	half := 0.5
	targets := Targets(8192)
	targets[0].PrefillMS = func(tokens, prefix int64) float64 { return float64(tokens) / 10 }
	r, _ := newLive(t, targets, func(p *Params, _ *Live) { p.PrefillLoadModel, p.QueueThreshold = true, &half })
	a, b := plain(0), plain(1)
	a.ISL, b.ISL = 8192, 8192
	arrive := func(q *Request, at float64) *Request {
		r.Arrive(q, at, -1)
		return r.Next()
	}
	if q := arrive(a, 0); q != a {
		t.Fatal("the first request waits")
	}
	r.Admit(a, -1)
	if q := arrive(b, 10); q != nil {
		t.Fatal("the second request does not wait")
	}
	at := 0.0
	for q := (*Request)(nil); q == nil; q = r.Next() {
		if at = r.NextTimer(false); math.IsInf(at, 1) || at > 10_000 {
			t.Fatal("the second request never goes")
		}
		r.SetNow(at)
		r.Tick()
	}
	// 8192 tokens in 819.2 ms: 4,092 are left at 410 ms, and the timer is at 500.
	if at != 500 {
		t.Errorf("it goes at %v ms, expected 500", at)
	}
}
