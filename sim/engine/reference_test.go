package engine_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"routesim/models"
	"routesim/sim/engine"
	"routesim/sim/internal/reference"
)

// TestWorkerEqualsReference runs random requests on small pools through a
// worker and through the rules written down literally, pass by pass, and
// compares ends, signals, admissions, what the pool holds and what is told of
// it.
func TestWorkerEqualsReference(t *testing.T) {
	evictions, victims := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		x := newTwin(t)
		for range rapid.IntRange(5, 120).Draw(t, "steps") {
			if rapid.IntRange(0, 2).Draw(t, "arrival") == 0 {
				x.enqueue(t)
			} else if !x.pass(t) {
				break
			}
		}
		st := x.w.Stats(x.now)
		evictions, victims = evictions+int(st.Evictions), victims+int(st.Preemptions)
	})
	if evictions == 0 || victims == 0 {
		t.Errorf("%d evictions and %d preemptions, expected many of both", evictions, victims)
	}
}

// weighing is a timing model in which every figure of a batch counts.
type weighing struct{}

// Step implements models.StepModel.
func (weighing) Step(b *models.Batch) (prefill, decode float64) {
	prefill = float64(b.PrefillSeqs + 3*b.PrefillContext + 7*b.PrefillPrefix + 11*b.PrefillPairs)
	decode = float64(13*b.DecodeSeqs + 17*b.DecodeContext + 19*b.ScheduledTokens)
	return prefill / 1024, decode / 1024
}

// DecodeRun implements models.StepModel.
func (m weighing) DecodeRun(start float64, seqs, context int64, ends []float64) {
	for i := range ends {
		_, d := m.Step(&models.Batch{DecodeSeqs: seqs, DecodeContext: context + int64(i)*seqs, ScheduledTokens: seqs})
		start += d
		ends[i] = start
	}
}

// twin is a worker beside the reference engine.
type twin struct {
	w       *engine.Worker
	ref     *reference.Engine
	now     float64
	nodes   uint32 // blocks per node
	answers uint32
	paths   [][]uint32
	seqs    []*engine.Seq
	refs    []*reference.Request
	told    map[uint32]bool // resident blocks by the worker's events
	refTold map[int]bool
}

func newTwin(t *rapid.T) *twin {
	p := engine.DefaultParams()
	p.BlockSize = rapid.SampledFrom([]int32{1, 2, 5}).Draw(t, "block size")
	p.NumGPUBlocks = rapid.Int32Range(4, 40).Draw(t, "pool")
	p.MaxNumSeqs = rapid.SampledFrom([]int32{256, 1, 3}).Draw(t, "max seqs")
	p.MaxNumBatchedTokens = rapid.SampledFrom([]int32{8192, 40, 7, 2}).Draw(t, "budget")
	p.EnableChunkedPrefill = rapid.IntRange(0, 5).Draw(t, "chunking") > 0
	p.EnablePrefixCaching = rapid.IntRange(0, 9).Draw(t, "caching") > 0
	if rapid.Bool().Draw(t, "fifo") {
		p.Preemption = engine.FIFO
	}
	if rapid.IntRange(0, 5).Draw(t, "limited") == 0 {
		p.MaxModelLen = rapid.Int32Range(4, 60).Draw(t, "context limit")
	}
	timing := weighing{}
	shift := rapid.SampledFrom([]uint8{0, 2, 6, 7}).Draw(t, "shift")
	x := &twin{nodes: 1 << shift, answers: answerBlocks, told: map[uint32]bool{}, refTold: map[int]bool{}}
	x.w = engine.NewWorker(p, engine.Options{Timing: timing, Shift: shift, PromptBlocks: answerBlocks, Plain: true})
	x.w.Events.On = true
	x.ref = reference.NewEngine(p, timing)
	// Prompts: four that fork after two nodes, one of its own.
	for end := range uint32(4) {
		x.paths = append(x.paths, x.path(0, 1, 2+end, 6))
	}
	x.paths = append(x.paths, x.path(10, 11, 12, 13))
	return x
}

// path lists the blocks of consecutive nodes.
func (x *twin) path(nodes ...uint32) (b []uint32) {
	for i, n := range nodes {
		if i == 3 {
			n += 100 * nodes[2] // after another history it is another node
		}
		for k := range min(x.nodes, 9) {
			b = append(b, n*x.nodes+k)
		}
	}
	return b
}

func (x *twin) enqueue(t *rapid.T) {
	path := rapid.SampledFrom(x.paths).Draw(t, "prompt")
	path = path[:rapid.IntRange(0, min(len(path), int(x.w.NumGPUBlocks)+1)).Draw(t, "blocks")]
	bs := x.w.BlockSize
	isl := max(1, int32(len(path))*bs+rapid.Int32Range(0, bs-1).Draw(t, "tail"))
	path = path[:isl/bs]
	s := &engine.Seq{}
	s.Reset(int32(len(x.seqs)), isl, rapid.Int32Range(0, 12).Draw(t, "answer"))
	s.Blocks = append(s.Blocks, path...)
	x.answers = (x.answers/x.nodes + 1) * x.nodes
	for len(s.Blocks) < int((isl+s.Output)/bs) {
		s.Blocks = append(s.Blocks, x.answers)
		x.answers++
	}
	r := &reference.Request{Row: len(x.seqs), Prompt: int(isl), Output: int(s.Output)}
	for _, b := range s.Blocks {
		r.IDs = append(r.IDs, int(b))
	}
	x.seqs, x.refs = append(x.seqs, s), append(x.refs, r)
	x.w.Enqueue(s, x.now, false)
	x.ref.Enqueue(r)
}

// pass runs one pass on both. It reports false where they are stuck.
func (x *twin) pass(t *rapid.T) bool {
	if x.w.HasWork() != (x.ref.InFlight() > 0) || x.w.InFlight() != x.ref.InFlight() {
		t.Fatalf("%d requests in flight, expected %d", x.w.InFlight(), x.ref.InFlight())
	}
	if !x.w.HasWork() {
		x.now += 1000
		return true
	}
	end, err := x.w.Start(x.now)
	want := x.ref.Pass(x.now)
	if want.Stuck || err != nil {
		if want.Stuck != (err != nil) {
			t.Fatalf("at %v ms: error %v, expected stuck: %v", x.now, err, want.Stuck)
		}
		return false
	}
	var got, wants []string
	for _, s := range x.w.Signals() {
		got = append(got, fmt.Sprint(s.Seq.Row, s.Kind))
	}
	for _, s := range want.Signals {
		wants = append(wants, fmt.Sprint(s.Request.Row, s.Kind))
	}
	if end != want.End || fmt.Sprint(got) != fmt.Sprint(wants) {
		t.Fatalf("pass at %v ends at %v with signals %v, expected %v and %v", x.now, end, got, want.End, wants)
	}
	x.now = end
	x.compareEvents(t, want.Events)
	x.compareRequests(t)
	return true
}

// compareEvents holds the worker's events against the reference's: what is
// resident afterwards, and what the pool holds of every prompt.
func (x *twin) compareEvents(t *rapid.T, events []reference.Event) {
	for _, e := range x.w.Events.Take(x.now) {
		for i := range e.Count {
			if b := e.Block + uint32(i); x.told[b] == e.Stored {
				t.Fatalf("event %+v repeats what is known of block %d", e, b)
			} else {
				x.told[b] = e.Stored
			}
		}
	}
	for _, e := range events {
		x.refTold[e.ID] = e.Stored
	}
	for _, path := range x.paths {
		ids := make([]int, len(path))
		for i, b := range path {
			ids[i] = int(b)
			if x.told[b] != x.refTold[int(b)] {
				t.Fatalf("block %d is told as resident: %v, expected %v", b, x.told[b], x.refTold[int(b)])
			}
		}
		if held, want := x.w.Held(path), x.ref.Pool.Held(ids); held != int32(want) {
			t.Fatalf("%d leading blocks of %v are held, expected %d", held, path, want)
		}
	}
}

// compareRequests compares the tokens and admissions of every request.
func (x *twin) compareRequests(t *rapid.T) {
	for i, s := range x.seqs {
		r := x.refs[i]
		first, reused := 0.0, int32(0)
		for k, a := range r.Admissions {
			if k == 0 {
				first = a.At
			}
			reused = max(reused, a.Reused)
		}
		if int(s.Generated) != r.Generated || int(s.Admissions) != len(r.Admissions) || s.FirstAdmit != first || s.MaxReused != reused {
			t.Fatalf("request %d: %d tokens, %d admissions, first at %v, %d reused; expected %d, %d, %v, %d",
				i, s.Generated, s.Admissions, s.FirstAdmit, s.MaxReused, r.Generated, len(r.Admissions), first, reused)
		}
	}
	st := x.w.Stats(x.now)
	if int(st.Evictions) != x.ref.Pool.Evictions || int(st.PeakWaiting) != x.ref.PeakWaiting {
		t.Fatalf("%d evictions and at most %d waiting, expected %d and %d", st.Evictions, st.PeakWaiting, x.ref.Pool.Evictions, x.ref.PeakWaiting)
	}
}
