package router

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// liveParams returns live settings, changed.
func liveParams(change func(*Params, *Live)) Params {
	p, l := DefaultParams(), DefaultLive()
	p.Live = &l
	if change != nil {
		change(&p, &l)
	}
	return p
}

// newLive returns a rig whose router is live and whose requests generate what
// the test says, by row.
func newLive(t *testing.T, targets []Target, change func(*Params, *Live)) (*rig, map[int32]int32) {
	t.Helper()
	p := liveParams(change)
	if err := p.Validate(); err != nil {
		t.Fatal(err)
	}
	generated := map[int32]int32{}
	r := New(p, targets, rigBlock, rigShift, 0)
	r.Generated = func(q *Request) int32 { return generated[q.Row] }
	return &rig{t: t, Router: r, paths: map[string]uint32{}}, generated
}

// plain is a request that names nothing.
func plain(row int32) *Request { return &Request{Row: row, ISL: 10, Session: -1, Worker: -1, Rank: -1} }

// TestModesAgainstTheirRules holds every mode against its rule in words.
func TestModesAgainstTheirRules(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		mode := Mode(rapid.IntRange(int(RoundRobin), int(DeviceAwareWeighted)).Draw(t, "mode"))
		n := rapid.IntRange(1, 5).Draw(t, "workers")
		limits := make([]int32, n)
		targets := Targets(limits...)
		cpus := 0
		for i := range targets {
			if targets[i].CPU = rapid.Bool().Draw(t, "cpu"); targets[i].CPU {
				cpus++
			}
		}
		ratio := int64(rapid.IntRange(1, 3).Draw(t, "ratio"))
		r := New(liveParams(func(p *Params, l *Live) { p.Mode, l.EncoderRatio = mode, ratio }), targets, 64, 3, 7)
		load := make([]int, n)
		var active []*Request
		turn := 0
		least := func(among func(int) bool) (set []int) {
			for w := range load {
				switch {
				case !among(w):
				case len(set) == 0 || load[w] < load[set[0]]:
					set = []int{w}
				case load[w] == load[set[0]]:
					set = append(set, w)
				}
			}
			return set
		}
		for row := range int32(40) {
			if len(active) > 0 && rapid.Bool().Draw(t, "free") {
				i := rapid.IntRange(0, len(active)-1).Draw(t, "which")
				r.Free(active[i])
				load[active[i].booking.worker]--
				active = append(active[:i], active[i+1:]...)
			}
			q := plain(row)
			if mode == Direct {
				q.Worker = int32(rapid.IntRange(0, n-1).Draw(t, "named"))
			}
			c, ok := r.Arrive(q, float64(row), -1)
			if !ok || !math.IsNaN(c.Terms.Cost) {
				t.Fatalf("%v: %+v, placed %v", mode, c, ok)
			}
			w := int(c.Worker)
			var may []int
			switch mode {
			case RoundRobin:
				may = []int{turn % n}
				turn++
			case Direct:
				may = []int{int(q.Worker)}
			case LeastLoaded:
				may = least(func(int) bool { return true })
			case DeviceAwareWeighted:
				a, c := 0, 0
				for w, x := range load {
					if targets[w].CPU {
						c += x
					} else {
						a += x
					}
				}
				may = least(func(int) bool { return true })
				if cpus > 0 && cpus < n {
					cpu := c < a*cpus/(int(ratio)*(n-cpus))
					may = least(func(w int) bool { return targets[w].CPU == cpu })
				}
			case PowerOfTwo:
				// The chosen one is no more loaded than some other.
				most := 0
				for v := range load {
					if v != w {
						most = max(most, load[v])
					}
				}
				if n == 1 || load[w] <= most {
					may = []int{w}
				}
			default:
				may = []int{w}
			}
			good := false
			for _, v := range may {
				good = good || v == w
			}
			if !good {
				t.Fatalf("%v chose worker %d, expected one of %v (loads %v)", mode, w, may, load)
			}
			load[w]++
			active = append(active, q)
		}
		for _, q := range active {
			r.Free(q)
		}
		if !r.Idle() {
			t.Fatal("loads are left at the end")
		}
	})
}

// TestModesSpread checks that random modes use every worker about evenly, and
// that power of two keeps loads closer together than random does.
func TestModesSpread(t *testing.T) {
	spread := map[Mode]int64{}
	for _, mode := range []Mode{Random, PowerOfTwo, LeastLoaded} {
		r := New(liveParams(func(p *Params, _ *Live) { p.Mode = mode }), Targets(1, 1, 1, 1), 64, 3, 1)
		for row := range int32(4000) {
			r.Arrive(plain(row), 0, -1)
		}
		lo, hi := int64(math.MaxInt64), int64(0)
		for _, n := range r.loads.requests {
			lo, hi = min(lo, n), max(hi, n)
		}
		spread[mode] = hi - lo
		if lo < 850 || hi > 1150 {
			t.Errorf("%v: loads %v", mode, r.loads.requests)
		}
	}
	if !(spread[LeastLoaded] <= 1 && spread[PowerOfTwo] <= 8 && spread[PowerOfTwo] < spread[Random]) {
		t.Errorf("spreads %v", spread)
	}
}

// TestDeviceKeys: whoever holds all keys serves, at no load; nobody does before
// it was sent them.
func TestDeviceKeys(t *testing.T) {
	r := New(liveParams(func(p *Params, _ *Live) { p.Mode = DeviceAwareWeighted }), Targets(1, 1, 1), 64, 3, 3)
	a := plain(0)
	a.Device = []uint64{7, 9}
	first, _ := r.Arrive(a, 0, -1)
	for row := range int32(20) {
		q := plain(row + 1)
		q.Device = []uint64{9, 7}[:1+row%2]
		if c, _ := r.Arrive(q, 0, -1); c.Worker != first.Worker {
			t.Fatalf("request %d went to worker %d, expected %d, which holds the keys", row, c.Worker, first.Worker)
		}
	}
	if n := r.loads.requests[first.Worker]; n != 1 {
		t.Errorf("%d requests count as load, expected the first only", n)
	}
	q := plain(50)
	q.Device = []uint64{7, 8}
	if c, _ := r.Arrive(q, 0, -1); c.Worker == first.Worker {
		t.Error("a worker without one of the keys served for its keys")
	}
}

// TestModesNeedNoIndex: only kv listens to KV events.
func TestModesNeedNoIndex(t *testing.T) {
	for mode := range Modes() {
		p := liveParams(func(p *Params, _ *Live) { p.Mode = Mode(mode) })
		if Mode(mode).InReplay() && mode > 0 {
			p.Live = nil
		}
		if got := New(p, Targets(1, 1), 64, 3, 0).WantsEvents(); got != (Mode(mode) == KV) {
			t.Errorf("%v wants KV events: %v", Mode(mode), got)
		}
	}
}

// TestDirectNeedsAWorker: a row without one ends the run, one with a worker that
// does not exist is refused.
func TestDirectNeedsAWorker(t *testing.T) {
	direct := func(p *Params, _ *Live) { p.Mode = Direct }
	r := New(liveParams(direct), Targets(1, 1), 64, 3, 0)
	q := plain(0)
	q.Worker = 5
	if _, ok := r.Arrive(q, 0, -1); ok || q.Refusal != NoEndpoint || r.Err() != nil {
		t.Errorf("refusal %v, error %v", q.Refusal, r.Err())
	}
	if _, ok := r.Arrive(plain(1), 0, -1); ok || r.Err() == nil || !strings.Contains(r.Err().Error(), "no worker_id in request 1") {
		t.Errorf("error %v", r.Err())
	}
}
