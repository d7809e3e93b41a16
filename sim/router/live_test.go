package router

import (
	"math"
	"slices"
	"testing"

	"routesim/sim/engine"
)

// TestDecodeBranch: a live frontend without prefill tokens takes the credit off
// the decode term, a replay does not. The figures are those measured on Dynamo:
// a prompt of 12 blocks of which 10 are cached.
func TestDecodeBranch(t *testing.T) {
	for _, c := range []struct {
		credit       float64
		live, replay float64
	}{{1, 2, 12}, {0.25, 9.5, 12}, {0, 12, 12}, {2, 0, 12}} {
		set := func(p *Params) { p.TrackPrefillTokens, p.OverlapScoreCredit = false, c.credit }
		live, _ := newLive(t, Targets(8192), func(p *Params, _ *Live) { set(p) })
		replay := newRig(t, 1, set)
		for _, x := range []struct {
			r    *rig
			want float64
		}{{live, c.live}, {replay, c.replay}} {
			q := x.r.request(12*rigBlock, 1, 2)
			q.Session, q.Worker, q.Rank = -1, -1, -1
			x.r.cached(0, q, 10)
			if got := x.r.sent(q, -1); got.Terms.Cost != x.want || got.Terms.Prefill != 0 {
				t.Errorf("credit %v: cost %v with prefill term %v, expected %v and 0 (live: %v)", c.credit, got.Terms.Cost, got.Terms.Prefill, x.want, x.r.Live != nil)
			}
		}
	}
}

// TestCreditZeroKeepsNoIndex: live, whole prompts are booked; in a replay only
// what is not cached.
func TestCreditZeroKeepsNoIndex(t *testing.T) {
	live, _ := newLive(t, Targets(8192), func(p *Params, _ *Live) { p.OverlapScoreCredit = 0 })
	replay := newRig(t, 1, func(p *Params) { p.OverlapScoreCredit = 0 })
	if live.WantsEvents() || !replay.WantsEvents() {
		t.Errorf("wants events: live %v, replay %v, expected only the replay to", live.WantsEvents(), replay.WantsEvents())
	}
	for _, r := range []*rig{live, replay} {
		q := r.request(10*rigBlock, 1, 2)
		q.Session, q.Worker, q.Rank = -1, -1, -1
		r.Apply(0, []engine.Event{{Block: q.Blocks[0], Count: 8, Stored: true}})
		r.sent(q, -1)
	}
	if a, b := live.loads.prefillTokens[0], replay.loads.prefillTokens[0]; a != 640 || b != 128 {
		t.Errorf("booked %d and %d tokens, expected 640 live and 128 in the replay", a, b)
	}
}

// TestApproximateMode: a decision makes the next equal prompt find its blocks,
// whether or not a cost led to it, until the entry's time is over.
func TestApproximateMode(t *testing.T) {
	for _, lru := range []bool{false, true} {
		r, generated := newLive(t, Targets(8192, 8192), func(_ *Params, l *Live) { l.KVEvents, l.TTLSecs, l.ApproximateLRU = false, 2, lru })
		if r.WantsEvents() {
			t.Error("approximate mode listens to KV events")
		}
		ask := func(now float64) (Choice, *Request) {
			q := r.request(10*rigBlock, 1, 2)
			q.Session, q.Worker, q.Rank, q.Whole = -1, -1, -1, q.Blocks
			c, ok := r.Arrive(q, now, -1)
			if !ok {
				t.Fatal("the request was not placed")
			}
			generated[q.Row] = 1
			r.PrefillDone(q)
			return c, q
		}
		first, q := ask(50)
		r.Free(q)
		second, q := ask(1000)
		r.Free(q)
		if first.Overlap != 0 || second.Overlap != 10 || second.Worker != first.Worker {
			t.Errorf("lru %v: %+v then %+v, expected the second to follow the first", lru, first, second)
		}
		// Renewed at 1,000 ms: alive before 3,000 ms, gone then.
		late, q := ask(2999)
		r.Free(q)
		if late.BestOverlap != 10 {
			t.Errorf("lru %v: an overlap of %v before the end of the entry", lru, late.BestOverlap)
		}
		gone, q := ask(2999 + 2001 + 100)
		r.Free(q)
		if want := 0.0; !lru && gone.BestOverlap != want || lru && gone.BestOverlap != 10 {
			t.Errorf("lru %v: an overlap of %v long after", lru, gone.BestOverlap)
		}
	}
}

// TestPredictOnRoute: beside KV events a decision counts at once; the larger of
// the two overlaps is used.
func TestPredictOnRoute(t *testing.T) {
	ttl := 5.0
	for _, predicted := range []*float64{nil, &ttl} {
		r, _ := newLive(t, Targets(8192), func(_ *Params, l *Live) { l.PredictedTTLSecs = predicted })
		var got []float64
		for i, at := range []float64{0, 10, 6000} {
			q := r.request(10*rigBlock, 1, 2)
			q.Session, q.Worker, q.Rank = -1, -1, -1
			if i == 1 {
				r.cached(0, q, 4)
			}
			c, _ := r.Arrive(q, at, -1)
			got = append(got, c.Overlap)
		}
		want := []float64{0, 4, 4}
		if predicted != nil {
			want = []float64{0, 10, 4}
		}
		if !slices.Equal(got, want) {
			t.Errorf("predicted %v: overlaps %v, expected %v", predicted != nil, got, want)
		}
	}
}

// TestSessionAffinity walks through the life of a binding.
func TestSessionAffinity(t *testing.T) {
	for _, soft := range []bool{false, true} {
		r, _ := newLive(t, Targets(8192, 8192), func(_ *Params, l *Live) { l.AffinityTTLSecs, l.AffinitySoft = 10, soft })
		ask := func(at float64, session int32) (*Request, int32) {
			q := plain(r.rows)
			r.rows++
			q.ISL, q.Session = 64_000, session
			c, ok := r.Arrive(q, at, -1)
			if !ok {
				return q, -1
			}
			return q, c.Worker
		}
		a, w := ask(0, 1)
		if _, v := ask(1, 2); v == w {
			t.Fatal("another session goes to the idle worker")
		}
		b, v := ask(2, 1) // though w now carries as much as the other
		if _, x := ask(3, 1); v != w || x != w {
			t.Errorf("soft %v: the session moved", soft)
		}
		r.SetNow(5000)
		r.Free(a)
		r.Free(b)
		// One is still running, so the idle time has not begun.
		if _, x := ask(100_000, 1); x != w {
			t.Errorf("soft %v: the session moved though a request of it runs", soft)
		}
		// A worker that is gone: hard forgets the binding, soft keeps it.
		r.absent[w] = true
		if _, x := ask(100_001, 1); x != 1-w {
			t.Errorf("soft %v: sent to %d though %d is gone", soft, x, w)
		}
		r.absent[w] = false
		want := 1 - w
		if soft {
			want = w
		}
		if _, x := ask(100_002, 1); x != want {
			t.Errorf("soft %v: sent to %d after the worker came back, expected %d", soft, x, want)
		}
	}
	// An idle session is released after its time.
	r, _ := newLive(t, Targets(8192, 8192), func(_ *Params, l *Live) { l.AffinityTTLSecs = 10 })
	q := plain(0)
	q.Session = 4
	r.Arrive(q, 0, -1)
	r.SetNow(1000)
	r.Free(q)
	r.now = 10_999
	if r.bound(q) == nil {
		t.Error("released before its idle time was over")
	}
	if r.now = 11_000; r.bound(q) != nil {
		t.Error("still bound after its idle time")
	}
}

// TestSubAgents: sub-agents of one parent share a binding, the parent has its own.
func TestSubAgents(t *testing.T) {
	r, _ := newLive(t, Targets(8192, 8192, 8192), func(_ *Params, l *Live) { l.AffinityTTLSecs = 10 })
	ask := func(at float64, session, group int32) int32 {
		q := plain(r.rows)
		r.rows++
		q.ISL, q.Session, q.Group = 64_000, session, group
		c, _ := r.Arrive(q, at, -1)
		return c.Worker
	}
	parent, first, other := ask(0, 1, 0), ask(1, 2, 1), ask(2, 3, 2)
	if parent == first || first == other || parent == other {
		t.Fatalf("the parent goes to %d, sub-agents of it and of another to %d and %d", parent, first, other)
	}
	for i := range int32(4) { // each of a session of its own
		if w := ask(float64(3+i), 4+i, 1); w != first {
			t.Errorf("a sub-agent goes to %d, its sibling went to %d", w, first)
		}
	}
	if w := ask(10, 1, 0); w != parent {
		t.Errorf("the parent moved to %d", w)
	}
	if w := ask(11, 2, 0); w == first {
		t.Error("a session without a parent is bound as if it had one")
	}
}

// TestBusyThresholds: comparisons are strict, and a worker leaves only when all
// its ranks are marked.
func TestBusyThresholds(t *testing.T) {
	frac, blocks := 0.5, 0.25
	two := Targets(8192, 8192)
	ranks := []Target{{Worker: 0, Rank: 0, BatchLimit: 8192, KVBlocks: 100}, {Worker: 0, Rank: 1, BatchLimit: 8192, KVBlocks: 100}, {Worker: 1, Rank: 0, BatchLimit: 8192, KVBlocks: 100}}
	for _, c := range []struct {
		name    string
		targets []Target
		set     func(*Live)
		tokens  []int64
		blocks  []int64
		over    []bool
	}{
		{"none", two, func(*Live) {}, []int64{1 << 40, 1 << 40}, []int64{0, 0}, []bool{false, false}},
		{"at the threshold", two, func(l *Live) { l.ActivePrefillTokensThreshold = 4096 }, []int64{4096, 0}, []int64{0, 0}, []bool{false, false}},
		{"above it", two, func(l *Live) { l.ActivePrefillTokensThreshold = 4096 }, []int64{4097, 0}, []int64{0, 0}, []bool{true, false}},
		{"zero", two, func(l *Live) { l.ActivePrefillTokensThreshold = 0 }, []int64{1, 0}, []int64{0, 0}, []bool{true, false}},
		{"at the fraction", two, func(l *Live) { l.ActivePrefillTokensThresholdFrac = &frac }, []int64{4096, 4097}, []int64{0, 0}, []bool{false, true}},
		{"active blocks", two, func(l *Live) { l.ActiveDecodeBlocksThreshold = &blocks }, []int64{0, 0}, []int64{4096, 4097}, []bool{false, true}},
		{"one rank of two", ranks, func(l *Live) { l.ActivePrefillTokensThreshold = 10 }, []int64{11, 10, 11}, []int64{0, 0, 0}, []bool{false, false, true}},
		{"both ranks, by different rules", ranks, func(l *Live) { l.ActivePrefillTokensThreshold, l.ActiveDecodeBlocksThreshold = 10, &blocks },
			[]int64{11, 0, 0}, []int64{0, 26, 25}, []bool{true, true, false}},
	} {
		r, _ := newLive(t, c.targets, func(_ *Params, l *Live) { c.set(l) })
		for w := range c.targets {
			r.loads.prefillTokens[w], r.loads.private[w] = c.tokens[w], c.blocks[w]
			r.signal(int32(w))
		}
		r.markOverload()
		if !slices.Equal(r.over, c.over) {
			t.Errorf("%s: %v, expected %v", c.name, r.over, c.over)
		}
	}
}

// TestOverloadClears: the mark by blocks stays until the engine's own figure is
// below the threshold too, and everybody marked means a refusal.
func TestOverloadClears(t *testing.T) {
	f := 0.5
	targets := []Target{{Worker: 0, BatchLimit: 8192, KVBlocks: 10}}
	r, _ := newLive(t, targets, func(_ *Params, l *Live) { l.ActiveDecodeBlocksThreshold = &f })
	ask := func(row int32) *Request {
		q := plain(row)
		r.Arrive(q, float64(row), -1)
		return q
	}
	r.Report(0, 6)
	if q := ask(1); q.Refusal != Overloaded {
		t.Errorf("refusal %v, expected that all are overloaded", q.Refusal)
	}
	r.Report(0, 5)
	if q := ask(2); q.Refusal != Accepted {
		t.Errorf("refusal %v after both figures fell", q.Refusal)
	}
	big := r.request(6*rigBlock, 1)
	big.Session, big.Worker, big.Rank = -1, -1, -1
	r.Arrive(big, 3, -1)
	if q := ask(4); q.Refusal != Overloaded {
		t.Error("the router's own count of blocks does not mark")
	}
	r.Free(big)
	if q := ask(5); q.Refusal != Accepted {
		t.Error("still marked after the load went")
	}
	if r.Counters.Refused != 2 {
		t.Errorf("%d refusals were counted, expected 2", r.Counters.Refused)
	}
}

// TestExpiry: a booking without a token since the scan before is dropped, new
// and living ones are not, and a later end changes nothing.
func TestExpiry(t *testing.T) {
	r, generated := newLive(t, Targets(8192), func(_ *Params, l *Live) { l.ExpirySecs = 100 })
	tick := func(at float64) bool {
		if next := r.NextTimer(false); next != at {
			t.Fatalf("the next timer is at %v, expected %v", next, at)
		}
		r.SetNow(at)
		return r.Tick()
	}
	dead, alive := plain(0), plain(1)
	r.Arrive(dead, 99_000, -1)
	r.Arrive(alive, 99_000, -1)
	if tick(100_000) {
		t.Error("new bookings were dropped")
	}
	generated[1] = 5
	if !tick(200_000) || r.Counters.Expired != 1 || r.loads.requests[0] != 1 {
		t.Errorf("%d expired, %d left, expected the one without tokens to go", r.Counters.Expired, r.loads.requests[0])
	}
	r.PrefillDone(dead)
	r.Free(dead)
	if r.loads.requests[0] != 1 {
		t.Error("an expired booking was freed again")
	}
	r.Free(alive)
	if !r.Idle() || !math.IsInf(r.NextTimer(false), 1) {
		t.Error("something is left")
	}
}

// TestRestart: bookings are lost and their ends do nothing; the index of KV
// events stays unless it is reset.
func TestRestart(t *testing.T) {
	for _, reset := range []bool{false, true} {
		r, _ := newLive(t, Targets(8192, 8192), nil)
		q := r.request(10*rigBlock, 1, 2)
		q.Session, q.Worker, q.Rank = -1, -1, -1
		r.cached(1, q, 10)
		r.sent(q, -1)
		r.SetNow(500)
		if lost := r.Restart(reset); lost != 1 || !r.Idle() {
			t.Errorf("%d bookings lost, idle %v", lost, r.Idle())
		}
		r.PrefillDone(q)
		r.Free(q)
		if !r.Idle() {
			t.Error("the end of a lost booking changed the loads")
		}
		again := r.request(10*rigBlock, 1, 2)
		again.Session, again.Worker, again.Rank = -1, -1, -1
		c := r.sent(again, -1)
		if want := map[bool]float64{false: 10, true: 0}[reset]; c.BestOverlap != want {
			t.Errorf("reset %v: an overlap of %v, expected %v", reset, c.BestOverlap, want)
		}
	}
}

// TestReplicas: a router that hears of another's bookings has the same loads.
func TestReplicas(t *testing.T) {
	a, _ := newLive(t, Targets(8192, 8192), nil)
	b, _ := newLive(t, Targets(8192, 8192), nil)
	q := a.request(10*rigBlock, 1, 2)
	q.Session, q.Worker, q.Rank = -1, -1, -1
	a.sent(q, 1)
	same := func(when string) {
		t.Helper()
		if !slices.Equal(a.loads.prefillTokens, b.loads.prefillTokens) || !slices.Equal(a.loads.requests, b.loads.requests) ||
			a.loads.activeBlocks(1) != b.loads.activeBlocks(1) {
			t.Errorf("%s: loads differ", when)
		}
	}
	add := a.Message(q, SyncAdd)
	clear(q.Blocks) // the request's buffer is used again while the message is under way
	b.Hear(&add)
	if b.loads.activeBlocks(1) != 10 {
		t.Errorf("%d blocks heard of, expected 10", b.loads.activeBlocks(1))
	}
	same("add")
	m := a.Message(q, SyncPrefillDone)
	b.Hear(&m)
	if b.loads.prefillTokens[1] != 0 {
		t.Error("a first token was not heard of")
	}
	m = a.Message(q, SyncFree)
	b.Hear(&m)
	b.Hear(&m) // once more than it should come
	if !b.Idle() {
		t.Error("an end was not heard of")
	}
}
