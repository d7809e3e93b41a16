package router

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"routesim/sim/engine"
)

func threshold(v float64, policy QueuePolicy) func(*Params) {
	return func(p *Params) { p.QueueThreshold, p.QueuePolicy = &v, policy }
}

// TestThresholdIsStrict checks that a worker at the threshold is not busy.
func TestThresholdIsStrict(t *testing.T) {
	for _, c := range []struct {
		tokens int32
		waits  bool
	}{{4096, false}, {4097, true}} {
		r := newRig(t, 1, threshold(0.5, FCFS))
		r.sent(&Request{Row: 100, ISL: c.tokens}, -1)
		if _, ok := r.Arrive(r.request(10), 1, -1); ok == c.waits {
			t.Errorf("with %d active tokens placed at once: %v", c.tokens, ok)
		}
	}
}

// TestThresholdZero lets a request through to every idle worker.
func TestThresholdZero(t *testing.T) {
	r := newRig(t, 2, threshold(0, FCFS))
	a, b, c := r.request(10), r.request(10), r.request(10)
	x, y := r.sent(a, -1), r.sent(b, -1)
	if x.Worker == y.Worker {
		t.Errorf("both prompts went to worker %d, expected one each", x.Worker)
	}
	if _, ok := r.Arrive(c, 0, -1); ok || r.Waiting() != 1 {
		t.Fatalf("the third prompt was placed, expected it to wait")
	}
	if q := r.Next(); q != nil {
		t.Errorf("the queue let request %d go while all are busy", q.Row)
	}
	r.PrefillDone(b)
	q := r.Next()
	if q != c {
		t.Fatalf("the queue let %v go, expected the waiting request", q)
	}
	if got := r.Admit(q, -1); got.Worker != y.Worker {
		t.Errorf("the request went to worker %d, expected %d, the idle one", got.Worker, y.Worker)
	}
	if r.Waiting() != 0 || r.Next() != nil {
		t.Error("the queue still holds something")
	}
}

// TestNoThresholdNoQueue places everything at once.
func TestNoThresholdNoQueue(t *testing.T) {
	r := newRig(t, 2, nil)
	for range 50 {
		if _, ok := r.Arrive(r.request(100_000, make([]byte, 200)...), 0, -1); !ok {
			t.Fatal("a request waits though no threshold is set")
		}
	}
}

// TestArrivalWaitsBehindBacklog checks that a free worker does not help an
// arrival past those who wait already.
func TestArrivalWaitsBehindBacklog(t *testing.T) {
	r := newRig(t, 1, threshold(0, FCFS))
	a, b, c := r.request(10), r.request(10), r.request(10)
	r.sent(a, -1)
	r.Arrive(b, 1, -1)
	r.PrefillDone(a) // the queue is not drained here
	if _, ok := r.Arrive(c, 2, -1); ok {
		t.Error("an arrival overtook the queue")
	}
	if q := r.Next(); q != b {
		t.Errorf("the queue let request %d go first, expected %d", q.Row, b.Row)
	}
}

// TestUnlimitedBudget assumes ten million batched tokens where none are known.
func TestUnlimitedBudget(t *testing.T) {
	for _, c := range []struct {
		tokens int32
		waits  bool
	}{{1_000_000, false}, {1_000_001, true}} {
		v := 0.1
		p := DefaultParams()
		p.QueueThreshold = &v
		r := New(p, Targets(engine.Unlimited), 64, 3, 0)
		r.Arrive(&Request{ISL: c.tokens}, 0, -1)
		if _, ok := r.Arrive(&Request{Row: 1, ISL: 1}, 0, -1); ok == c.waits {
			t.Errorf("with %d active tokens placed at once: %v", c.tokens, ok)
		}
	}
}

// order lets requests queue up behind a busy worker and returns the rows in
// the order in which they are let go.
func order(t *testing.T, policy QueuePolicy, at []float64, q ...*Request) (rows []int32) {
	t.Helper()
	r := newRig(t, 1, threshold(0, policy))
	busy := &Request{Row: 1000, ISL: 10}
	r.sent(busy, -1)
	for i := range q {
		q[i].Row = int32(i)
		if _, ok := r.Arrive(q[i], at[i], -1); ok {
			t.Fatalf("request %d did not wait", i)
		}
	}
	r.Free(busy)
	for next := r.Next(); next != nil; next = r.Next() {
		rows = append(rows, next.Row)
		r.Admit(next, -1)
		r.Free(next)
	}
	return rows
}

// TestOrders checks the three orders and what priorities do to them.
func TestOrders(t *testing.T) {
	ask := func(isl, priority int32, strict uint32) *Request {
		return &Request{ISL: isl, Priority: priority, StrictPriority: strict}
	}
	for _, c := range []struct {
		name   string
		policy QueuePolicy
		at     []float64
		q      []*Request
		want   []int32
	}{
		{"fcfs", FCFS, []float64{1, 2, 3}, []*Request{ask(9, 0, 0), ask(1, 0, 0), ask(5, 0, 0)}, []int32{0, 1, 2}},
		{"fcfs at one time", FCFS, []float64{1, 1, 1}, []*Request{ask(9, 0, 0), ask(1, 0, 0), ask(5, 0, 0)}, []int32{0, 1, 2}},
		{"lcfs", LCFS, []float64{1, 2, 3}, []*Request{ask(9, 0, 0), ask(1, 0, 0), ask(5, 0, 0)}, []int32{2, 1, 0}},
		{"wspt", WSPT, []float64{1, 2, 3}, []*Request{ask(9, 0, 0), ask(1, 0, 0), ask(5, 0, 0)}, []int32{1, 2, 0}},
		{"priority 3, 2.9 s later", FCFS, []float64{0, 2900}, []*Request{ask(5, 0, 0), ask(5, 3, 0)}, []int32{1, 0}},
		{"priority 3, 3.1 s later", FCFS, []float64{0, 3100}, []*Request{ask(5, 0, 0), ask(5, 3, 0)}, []int32{0, 1}},
		{"negative priority", FCFS, []float64{0, 1}, []*Request{ask(5, -100, 0), ask(5, 0, 0)}, []int32{0, 1}},
		{"negative priority, lcfs", LCFS, []float64{0, 1}, []*Request{ask(5, -100, 0), ask(5, 0, 0)}, []int32{1, 0}},
		{"priority 3, lcfs", LCFS, []float64{0, 2900}, []*Request{ask(5, 3, 0), ask(5, 0, 0)}, []int32{0, 1}},
		{"priority 1 halves the size, wspt", WSPT, []float64{0, 1}, []*Request{ask(10, 0, 0), ask(19, 1, 0)}, []int32{1, 0}},
		{"an equal score, wspt", WSPT, []float64{0, 1}, []*Request{ask(10, 0, 0), ask(20, 1, 0)}, []int32{0, 1}},
		{"strict tier first", FCFS, []float64{0, 1, 2}, []*Request{ask(5, 1_000_000, 0), ask(5, 0, 1), ask(5, 0, 4_000_000_000)}, []int32{2, 1, 0}},
	} {
		if got := order(t, c.policy, c.at, c.q...); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, expected %v", c.name, got, c.want)
		}
	}
}

// TestShortestByUncachedTokens weighs what the best worker has not cached, as
// of the arrival.
func TestShortestByUncachedTokens(t *testing.T) {
	r := newRig(t, 2, threshold(0, WSPT))
	busy := []*Request{{Row: 1000, ISL: 10}, {Row: 1001, ISL: 10}}
	r.sent(busy[0], 0)
	r.sent(busy[1], 1)
	long, short := r.request(1024, 1, 2), r.request(200, 9)
	r.cached(1, long, 15) // 64 tokens are left
	r.Arrive(short, 0, -1)
	r.Arrive(long, 1, -1)
	r.Apply(1, []engine.Event{{Block: long.Blocks[8], Count: 7}}) // too late for the order
	r.Free(busy[1])
	if q := r.Next(); q != long {
		t.Fatalf("request of %d tokens first, expected the one with 64 left to compute", q.ISL)
	}
	if c := r.Admit(long, -1); c.Worker != 1 || c.Overlap != 15 {
		t.Errorf("%+v, expected worker 1 with the 15 blocks seen at arrival", c)
	}
}

// TestQueueIsStable pops in the order of tier, score and arrival, whatever the
// history of pushes and pops.
func TestQueueIsStable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var q queue
		var model []waiter
		pushed := int64(0)
		for range rapid.IntRange(1, 200).Draw(t, "steps") {
			if len(model) == 0 || rapid.IntRange(0, 2).Draw(t, "push") > 0 {
				w := waiter{
					strict: rapid.Uint32Range(0, 2).Draw(t, "strict"),
					score:  float64(rapid.IntRange(-2, 2).Draw(t, "score")),
					req:    &Request{},
					seq:    pushed,
				}
				pushed++
				q.push(w)
				model = append(model, w)
				continue
			}
			best := 0
			for i, w := range model {
				b := model[best]
				if w.strict > b.strict || w.strict == b.strict && w.score > b.score {
					best = i
				}
			}
			if got := q.pop(); got.req != model[best].req {
				t.Fatal("another request than the first of the best was popped")
			}
			model = slices.Delete(model, best, best+1)
		}
	})
}

// TestLongPromptsDrain sends 64 prompts of 8,500 tokens at a threshold of four
// batches: 32 go out, each first token lets more go, and none is left.
func TestLongPromptsDrain(t *testing.T) {
	r := newRig(t, 8, threshold(4, FCFS))
	var out []*Request
	for i := range 64 {
		q := &Request{Row: int32(i), ISL: 8500}
		if _, ok := r.Arrive(q, 0, -1); ok {
			out = append(out, q)
		}
	}
	if len(out) != 32 || r.Waiting() != 32 {
		t.Fatalf("%d placed and %d waiting, expected 32 and 32", len(out), r.Waiting())
	}
	for done := 0; done < len(out); done++ {
		r.PrefillDone(out[done])
		for q := r.Next(); q != nil; q = r.Next() {
			r.Admit(q, -1)
			out = append(out, q)
		}
	}
	if len(out) != 64 || r.Waiting() != 0 {
		t.Errorf("%d placed and %d waiting at the end, expected 64 and 0", len(out), r.Waiting())
	}
	for _, q := range out {
		r.Free(q)
	}
	if !r.Idle() {
		t.Error("the router holds load after all requests ended")
	}
}

// TestRemoveKeepsTheOrder: whoever leaves the queue, the others come out in the
// order of a sort.
func TestRemoveKeepsTheOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var q queue
		var left []waiter
		for i := range rapid.IntRange(0, 30).Draw(t, "waiters") {
			w := waiter{strict: rapid.Uint32Range(0, 2).Draw(t, "strict"), score: float64(rapid.IntRange(0, 3).Draw(t, "score")), seq: int64(i), req: &Request{Row: int32(i)}}
			q.push(w)
			left = append(left, w)
			if len(left) > 0 && rapid.IntRange(0, 2).Draw(t, "leave") == 0 {
				k := rapid.IntRange(0, len(left)-1).Draw(t, "who")
				if got := q.remove(q.find(left[k].req)); got.req != left[k].req {
					t.Fatalf("request %d left for %d", got.req.Row, left[k].req.Row)
				}
				left = slices.Delete(left, k, k+1)
			}
		}
		slices.SortFunc(left, func(a, b waiter) int {
			if a.before(&b) {
				return -1
			}
			return 1
		})
		for _, w := range left {
			if got := q.pop(); got.req != w.req {
				t.Fatalf("request %d comes out, expected %d", got.req.Row, w.req.Row)
			}
		}
		if len(q.heap) > 0 || q.find(&Request{}) != -1 {
			t.Fatal("somebody is left")
		}
	})
}
