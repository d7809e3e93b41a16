package router

import (
	"slices"
	"testing"

	"routesim/sim/engine"
)

// TestRestartSwitchesTheQueue: requests that wait enter the classes of the new
// settings by what the new router believes, and leave in their order.
func TestRestartSwitchesTheQueue(t *testing.T) {
	zero, tokens := 0.0, int64(0)
	p := DefaultParams()
	l := DefaultLive()
	p.Live, p.QueueThreshold = &l, &zero
	r := New(p, Targets(1000), 64, 6, 1)
	after := p
	after.QueueThreshold = nil
	after.Classes = &Profile{
		DefaultFamily: "f", Buckets: []Bucket{{Name: "short"}, {MinTokens: 500, Name: "long"}},
		Classes: []Class{
			{Name: "long", Family: "f", Bucket: "long", Quantum: 1_000_000, BusyTokens: &tokens, Order: WSPT},
			{Name: "short", Family: "f", Bucket: "short", Quantum: 1, BusyTokens: &tokens},
		},
	}
	r.SwitchAtRestart(after)
	list := make([]*Request, 5)
	for i, isl := range []int32{640, 64, 900, 128, 800} {
		r.SetNow(float64(i))
		list[i] = request(int32(i), isl)
		r.Arrive(list[i], float64(i), -1)
		if q := r.Next(); q != nil {
			r.Admit(q, -1)
		}
	}
	if r.Waiting() != 4 {
		t.Fatalf("%d wait, expected all but the first", r.Waiting())
	}
	r.SetNow(10)
	if lost := r.Restart(true); lost != 1 || r.Waiting() != 4 {
		t.Fatalf("%d bookings lost, %d wait", lost, r.Waiting())
	}
	var order []int32
	for {
		q := r.Next()
		if q == nil {
			break
		}
		order = append(order, q.Row)
		r.Admit(q, -1)
		r.PrefillDone(q)
	}
	// The shorter of the two long ones first, then the short ones as they came.
	if want := []int32{4, 2, 1, 3}; !slices.Equal(order, want) {
		t.Errorf("they leave as %v, expected %v", order, want)
	}
	for _, q := range list {
		r.Free(q)
	}
	if !r.Idle() {
		t.Error("load is left")
	}
}

// TestRestartFindsTheIndex: a router that kept no index recovers one from the
// workers where its new settings ask for it.
func TestRestartFindsTheIndex(t *testing.T) {
	for _, reset := range []bool{false, true} {
		p := DefaultParams()
		l := DefaultLive()
		p.Live, p.OverlapScoreCredit = &l, 0
		r := New(p, Targets(1000, 1000), 64, 6, 1)
		if r.WantsEvents() {
			t.Fatal("a router without credit listens")
		}
		after := p
		after.OverlapScoreCredit = 1
		r.SwitchAtRestart(after)
		if !r.WantsEvents() {
			t.Fatal("nobody listens for the restart")
		}
		q := request(0, 640)
		r.Apply(1, []engine.Event{{Block: q.Blocks[0], Count: 10, Stored: true}})
		if c, _ := r.Arrive(q, 1, -1); c.BestOverlap != 0 {
			t.Errorf("an overlap of %v before the restart", c.BestOverlap)
		}
		r.Restart(reset)
		q = request(1, 640)
		q.Blocks = request(0, 640).Blocks
		if c, _ := r.Arrive(q, 2, -1); (c.BestOverlap == 10) == reset {
			t.Errorf("reset %v: an overlap of %v after the restart", reset, c.BestOverlap)
		}
	}
}

// request is a request for a prompt of its own.
func request(row, isl int32) *Request {
	q := &Request{Row: row, ISL: isl, Session: -1, Worker: -1, Rank: -1}
	for i := range isl / 64 {
		q.Blocks = append(q.Blocks, uint32(row)<<6+uint32(i))
	}
	return q
}
