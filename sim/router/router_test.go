package router

import (
	"testing"

	"routesim/sim/engine"
)

// rig drives a router the way the simulator does, with prompts named by trace
// blocks of eight KV blocks of 64 tokens.
type rig struct {
	t *testing.T
	*Router
	paths map[string]uint32 // node by the ids up to it
	rows  int32
}

const rigShift, rigBlock = 3, 64

func newRig(t *testing.T, workers int, change func(*Params)) *rig {
	t.Helper()
	p := DefaultParams()
	if change != nil {
		change(&p)
	}
	if err := p.Validate(); err != nil {
		t.Fatal(err)
	}
	limits := make([]int32, workers)
	for i := range limits {
		limits[i] = 8192
	}
	return &rig{t: t, Router: New(p, Targets(limits...), rigBlock, rigShift, 0), paths: map[string]uint32{}}
}

// request makes a request for a prompt of isl tokens over the given trace
// blocks.
func (r *rig) request(isl int32, ids ...byte) *Request {
	q := &Request{Row: r.rows, ISL: isl}
	r.rows++
	for i := range isl / rigBlock {
		key := string(ids[:i>>rigShift+1])
		node, ok := r.paths[key]
		if !ok {
			node = uint32(len(r.paths))
			r.paths[key] = node
		}
		q.Blocks = append(q.Blocks, node<<rigShift+uint32(i&(1<<rigShift-1)))
	}
	return q
}

// costs returns every worker's cost for a request without booking it.
func (r *rig) costsOf(q *Request) []float64 {
	if q.overlap == nil {
		q.overlap = make([]int32, len(r.costs))
		r.belief.events.Match(q.Blocks, q.overlap)
	}
	r.evaluate(q)
	out := make([]float64, len(r.costs))
	for i, c := range r.costs {
		out[i] = c.Cost
	}
	return out
}

// sent places a request at once, on a given worker or on the router's choice.
func (r *rig) sent(q *Request, worker int32) Choice {
	r.t.Helper()
	q.overlap = nil
	c, ok := r.Arrive(q, 0, worker)
	if !ok {
		r.t.Fatalf("request %d waits, expected it to be placed", q.Row)
	}
	return c
}

// cached tells the router that a worker holds the first n blocks of a prompt.
func (r *rig) cached(worker int32, q *Request, n int) {
	for i := 0; i < n; i++ {
		r.Apply(worker, []engine.Event{{Block: q.Blocks[i], Count: 1, Stored: true}})
	}
}

func sameCosts(t *testing.T, what string, got []float64, want ...float64) {
	t.Helper()
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%s: costs %v, expected %v", what, got, want)
			return
		}
	}
}

// TestWorkedExample follows a logged run of two workers, decision by decision.
func TestWorkedExample(t *testing.T) {
	r := newRig(t, 2, nil)
	first := r.request(1000, 1, 2)
	sameCosts(t, "0 ms", r.costsOf(first), 30.625, 30.625)
	r.sent(first, 0)
	second := r.request(1024, 1, 3)
	sameCosts(t, "5 ms", r.costsOf(second), 54.625, 32)
	if c := r.sent(second, -1); c.Worker != 1 || c.MinCost != 32 || c.Tied != 1 {
		t.Errorf("5 ms: %+v, expected worker 1 at cost 32", c)
	}
	r.cached(0, first, 15)
	r.cached(1, second, 16)
	for _, q := range []*Request{first, second} {
		r.PrefillDone(q)
		r.Free(q)
	}
	if !r.Idle() {
		t.Fatal("the router holds load after both requests ended")
	}

	third := r.request(1500, 1, 2, 4)
	sameCosts(t, "2000 ms", r.costsOf(third), 31.4375, 23.4375-8+23)
	r.sent(third, 0) // books 1500 - 15*64 = 540 tokens
	fourth := r.request(1536, 1, 2, 5)
	sameCosts(t, "2003 ms", r.costsOf(fourth), 48.4375, 40)
	if c := r.sent(fourth, -1); c.Worker != 1 || c.Overlap != 8 || c.BestOverlap != 15 {
		t.Errorf("2003 ms: %+v, expected worker 1 with 8 of 15 blocks", c)
	}
	fifth := r.request(700, 1, 6)
	sameCosts(t, "2010 ms", r.costsOf(fifth), 36.375, 44.9375)
}

// TestSharedPrefixInPrefill is the row of the example in which the only other
// request is still in prefill.
func TestSharedPrefixInPrefill(t *testing.T) {
	r := newRig(t, 2, nil)
	r.sent(r.request(512, 7), 1)
	c := r.sent(r.request(513, 7, 8), 1)
	want := Terms{Prefill: 16.015625, Decode: 8, Cost: 24.015625}
	if c.Terms != want {
		t.Errorf("terms %+v, expected %+v", c.Terms, want)
	}
}

// TestSingleCosts checks single numbers on an empty cluster.
func TestSingleCosts(t *testing.T) {
	r := newRig(t, 1, nil)
	long := make([]byte, 14)
	for i := range long {
		long[i] = byte(i)
	}
	for _, c := range []struct {
		isl  int32
		want float64
	}{{6758, 210.59375}, {63, 0.984375}, {64, 2}, {1, 0.015625}, {36, 0.5625}, {0, 0}} {
		if got := r.costsOf(r.request(c.isl, long...))[0]; got != c.want {
			t.Errorf("prompt of %d tokens: cost %v, expected %v", c.isl, got, c.want)
		}
	}
}

// TestPrefillStage checks the prefill term alone, as a stage without decode
// term has it.
func TestPrefillStage(t *testing.T) {
	r := newRig(t, 1, func(p *Params) { p.TrackActiveBlocks = false })
	r.sent(r.request(1674, 90, 91, 92, 93), 0)
	ids := []byte{1, 2, 3, 4, 5, 6, 7}
	q := r.request(3417, ids...)
	r.cached(0, q, 33)
	sameCosts(t, "with a backlog", r.costsOf(q), 46.546875)
}

// TestBlockSizeOne matches token by token.
func TestBlockSizeOne(t *testing.T) {
	r := New(DefaultParams(), Targets(8192, 8192), 1, 0, 0)
	short := &Request{Row: 0, ISL: 5, Blocks: []uint32{0, 1, 2, 3, 4}}
	long := &Request{Row: 1, ISL: 7, Blocks: []uint32{0, 1, 2, 3, 10, 11, 12}}
	r.Apply(0, []engine.Event{{Block: short.Blocks[0], Count: 5, Stored: true}})
	c, _ := r.Arrive(long, 0, 0)
	if c.Overlap != 4 || long.booking.prefill != 3 {
		t.Errorf("overlap %v and %d uncached tokens, expected 4 and 3", c.Overlap, long.booking.prefill)
	}
}
