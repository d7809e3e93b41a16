package router

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// threeClasses is a family with two buckets and an explicit class.
func threeClasses(change func(*Profile)) *Profile {
	zero := int64(0)
	p := &Profile{
		DefaultFamily: "std",
		Buckets:       []Bucket{{0, "short"}, {500, "long"}},
		Classes: []Class{
			{Name: "short", Family: "std", Bucket: "short", Order: WSPT, Quantum: 300, BusyTokens: &zero},
			{Name: "long", Family: "std", Bucket: "long", Quantum: 100, BusyTokens: &zero},
			{Name: "vip", Quantum: 700, BusyTokens: &zero},
		},
	}
	if change != nil {
		change(p)
	}
	return p
}

// TestClassOf resolves names, families and buckets.
func TestClassOf(t *testing.T) {
	p := DefaultParams()
	p.Classes = threeClasses(func(p *Profile) {
		p.Classes = append(p.Classes, Class{Name: "a", Family: "other", Bucket: "short", Quantum: 1}, Class{Name: "b", Family: "other", Bucket: "long", Quantum: 1})
	})
	if err := p.Validate(); err != nil {
		t.Fatal(err)
	}
	k := newClasses(&p)
	for _, c := range []struct {
		name     string
		uncached int64
		want     string
	}{
		{"", 0, "short"}, {"", 499, "short"}, {"", 500, "long"}, {"vip", 9999, "vip"}, {"other", 3, "a"}, {"other", 500, "b"},
		{"std", 500, "long"}, {"nobody", 3, "short"},
		{"long", 3, "short"}, // the name of a matrix class names no class
	} {
		if got := k.classOf(c.name, c.uncached).Name; got != c.want {
			t.Errorf("%q with %d uncached tokens: class %s, expected %s", c.name, c.uncached, got, c.want)
		}
	}
}

// ring is the arbitration between classes, written down step by step.
type ring struct {
	names            []string
	quantum, deficit []int64
	costs            [][]int64 // waiting, in order
	cursor, carry    int
}

func (g *ring) pop(blocked bool) int {
	n := len(g.names)
	waiting := 0
	for _, c := range g.costs {
		waiting += len(c)
	}
	if waiting == 0 { // 1
		g.carry = -1
		return -1
	}
	dispatchable := func(c int) bool { return !blocked && len(g.costs[c]) > 0 }
	if c := g.carry; c >= 0 { // 2
		g.carry = -1
		if dispatchable(c) && g.costs[c][0] <= g.deficit[c] {
			return g.take(c)
		}
		if len(g.costs[c]) == 0 {
			g.deficit[c] = 0
		}
	}
	for i := range n { // 3
		c := (g.cursor + i) % n
		if !dispatchable(c) {
			if len(g.costs[c]) == 0 {
				g.deficit[c] = 0
			}
			continue
		}
		if g.costs[c][0] <= g.deficit[c] {
			return g.take(c)
		}
		g.deficit[c] += g.quantum[c]
		if g.costs[c][0] <= g.deficit[c] {
			return g.take(c)
		}
	}
	rounds := int64(-1) // 4
	for c := range n {
		if dispatchable(c) {
			need := g.costs[c][0] - g.deficit[c]
			k := need / g.quantum[c]
			if need%g.quantum[c] > 0 {
				k++
			}
			if rounds < 0 || k < rounds {
				rounds = k
			}
		}
	}
	if rounds < 0 {
		return -1
	}
	for c := range n {
		if dispatchable(c) {
			g.deficit[c] += g.quantum[c] * rounds
		}
	}
	for i := range n { // 5
		if c := (g.cursor + i) % n; dispatchable(c) && g.costs[c][0] <= g.deficit[c] {
			return g.take(c)
		}
	}
	panic("no class")
}

func (g *ring) take(c int) int { // 6
	cost := g.costs[c][0]
	g.costs[c] = g.costs[c][1:]
	g.cursor = (c + 1) % len(g.names)
	g.deficit[c] = max(0, g.deficit[c]-cost)
	g.carry = -1
	if len(g.costs[c]) == 0 {
		g.deficit[c] = 0
	} else if g.deficit[c] > 0 {
		g.carry = c
	}
	return c
}

// TestArbitration compares the order of classes with the steps written down, in
// both semantics, with calls in between that find everything blocked.
func TestArbitration(t *testing.T) {
	blocked := 0
	rapid.Check(t, func(t *rapid.T) {
		p := DefaultParams()
		if rapid.Bool().Draw(t, "live") {
			p = liveParams(nil)
		}
		p.Classes = threeClasses(func(x *Profile) {
			for i := range x.Classes {
				x.Classes[i].Order = FCFS
				x.Classes[i].Quantum = rapid.Int64Range(1, 900).Draw(t, "quantum")
			}
		})
		r := New(p, Targets(8192), 64, 3, 0)
		r.Generated = func(*Request) int32 { return 0 }
		busy := plain(1000)
		r.Arrive(busy, 0, -1)
		if p.Live != nil {
			r.Admit(r.Next(), -1)
		}
		g := &ring{costs: make([][]int64, 3), deficit: make([]int64, 3), carry: -1}
		for _, c := range p.Classes.Classes {
			g.names, g.quantum = append(g.names, c.Name), append(g.quantum, c.Quantum)
		}
		if p.Live != nil {
			// The request that did not wait went through the ring too.
			g.costs[0] = []int64{10}
			g.pop(false)
		}
		rows := [3][]int32{}
		for row := range int32(rapid.IntRange(1, 25).Draw(t, "requests")) {
			q := plain(row)
			q.ISL = rapid.Int32Range(1, 1500).Draw(t, "isl")
			c := 0
			if q.ISL >= 500 {
				c = 1
			}
			if rapid.IntRange(0, 3).Draw(t, "vip") == 0 {
				q.Class, c = "vip", 2
			}
			if _, ok := r.Arrive(q, float64(row), -1); ok {
				t.Fatal("a request did not wait")
			}
			if p.Live != nil && r.Next() != nil {
				t.Fatal("a request was let go")
			}
			g.costs[c] = append(g.costs[c], int64(q.ISL))
			rows[c] = append(rows[c], row)
			if p.Live != nil {
				g.pop(true)
			}
		}
		r.Free(busy)
		for r.Waiting() > 0 {
			q := r.Next()
			c := g.pop(false)
			if q.Row != rows[c][0] {
				t.Fatalf("request %d was let go, expected %d of class %s", q.Row, rows[c][0], g.names[c])
			}
			rows[c] = rows[c][1:]
			if rapid.Bool().Draw(t, "blocked call") {
				r.Admit(q, -1) // its tokens make the one target busy
				if r.Next() != nil {
					t.Fatal("a request was let go though all are busy")
				}
				g.pop(true)
				r.Free(q)
				blocked++
			} else {
				q.overlap = nil
			}
		}
	})
	if blocked == 0 {
		t.Error("no call found everything blocked")
	}
}

// TestQueueLimits: usage is compared before the request is added, times the
// targets; a replay ends there, a live router turns the request away.
func TestQueueLimits(t *testing.T) {
	two, zero, tokens := int64(2), int64(0), int64(300)
	for _, c := range []struct {
		name  string
		set   func(*Class)
		waits int // requests that wait before one is too many
	}{
		{"requests", func(c *Class) { c.RequestLimit = &two }, 4},
		{"tokens", func(c *Class) { c.TokenLimit = &tokens }, 6},
		{"zero", func(c *Class) { c.RequestLimit = &zero }, 0},
	} {
		for _, live := range []bool{false, true} {
			p := DefaultParams()
			if live {
				p = liveParams(nil)
			}
			p.Classes = threeClasses(func(x *Profile) { c.set(&x.Classes[0]) })
			r := New(p, Targets(8192, 8192), 64, 3, 0)
			r.Generated = func(*Request) int32 { return 0 }
			placed, waits := 0, 0
			var refused *Request
			for row := range int32(20) {
				q := plain(row)
				q.ISL = 100
				_, ok := r.Arrive(q, float64(row), -1)
				if live && !ok && q.Refusal == Accepted {
					for n := r.Next(); n != nil; n = r.Next() {
						r.Admit(n, -1)
						placed++
					}
				}
				if ok {
					placed++
				}
				if waits = r.Waiting(); q.Refusal != Accepted || r.Err() != nil {
					refused = q
					break
				}
			}
			if refused == nil || placed != 2 || waits != c.waits {
				t.Errorf("%s, live %v: %d placed and %d waiting before the first refusal, expected 2 and %d", c.name, live, placed, waits, c.waits)
				continue
			}
			var limit *LimitError
			if live && (refused.Refusal != QueueFull || r.Err() != nil) || !live && !errors.As(r.Err(), &limit) {
				t.Errorf("%s, live %v: refusal %v, error %v", c.name, live, refused.Refusal, r.Err())
			}
		}
	}
}

// TestLanes: live, a request bound to a busy target blocks nobody else, and one
// bound to a free target goes though others wait.
func TestLanes(t *testing.T) {
	zero := 0.0
	r, _ := newLive(t, Targets(8192, 8192), func(p *Params, _ *Live) { p.QueueThreshold = &zero })
	var placed []string
	arrive := func(row, pin int32) {
		q := plain(row)
		q.Worker = pin
		r.Arrive(q, float64(row), -1)
		for n := r.Next(); n != nil; n = r.Next() {
			placed = append(placed, fmt.Sprintf("%d on %d", n.Row, r.Admit(n, -1).Worker))
		}
	}
	arrive(0, 0)
	arrive(1, 0)  // waits for target 0
	arrive(2, -1) // passes it: target 1 is free
	arrive(3, -1) // waits: all are busy
	arrive(4, 1)  // waits for target 1
	if want := []string{"0 on 0", "2 on 1"}; !slices.Equal(placed, want) {
		t.Fatalf("placed %v, expected %v", placed, want)
	}
	first := r.live.active[1]
	r.Free(first) // target 1 is free: the shared head came first
	for n := r.Next(); n != nil; n = r.Next() {
		placed = append(placed, fmt.Sprintf("%d on %d", n.Row, r.Admit(n, -1).Worker))
	}
	if want := []string{"0 on 0", "2 on 1", "3 on 1"}; !slices.Equal(placed, want) {
		t.Errorf("placed %v, expected %v", placed, want)
	}
}

// TestOverlapRefresh: live, a request that waited long is scored by what is
// cached when it goes; a replay never looks again.
func TestOverlapRefresh(t *testing.T) {
	zero := 0.0
	for _, c := range []struct {
		live  bool
		after float64 // s
		want  float64
	}{{false, 10, 0}, {true, 10, 8}, {true, 20, 0}, {true, 0, 0}} {
		var r *rig
		if c.live {
			r, _ = newLive(t, Targets(8192), func(p *Params, l *Live) { p.QueueThreshold, l.OverlapRefreshSecs = &zero, c.after })
		} else {
			r = newRig(t, 1, func(p *Params) { p.QueueThreshold = &zero })
		}
		busy := plain(100)
		r.Arrive(busy, 0, -1)
		if c.live {
			r.Admit(r.Next(), -1)
		}
		q := r.request(10*rigBlock, 1, 2)
		q.Session, q.Worker, q.Rank = -1, -1, -1
		r.Arrive(q, 0, -1)
		r.cached(0, q, 8)
		r.SetNow(10_000)
		r.Free(busy)
		if got := r.Admit(r.Next(), -1); got.Overlap != c.want {
			t.Errorf("live %v, refresh after %v s: an overlap of %v, expected %v", c.live, c.after, got.Overlap, c.want)
		}
	}
}
