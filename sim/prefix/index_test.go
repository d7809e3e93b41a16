package prefix_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"routesim/models"
	"routesim/sim/engine"
	"routesim/sim/prefix"
)

// TestIndexEqualsTreeAndSets drives the index, the literal tree and plain sets
// with random histories in which blocks are stored after their predecessors
// and removed before them.
func TestIndexEqualsTreeAndSets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		u := drawUniverse(t)
		workers := rapid.SampledFrom([]int{1, 2, 3, 66}).Draw(t, "workers")
		v := newViews(u, workers)
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			w := int32(rapid.IntRange(0, workers-1).Draw(t, "worker"))
			path := u.drawPath(t)
			if rapid.IntRange(0, 2).Draw(t, "remove") > 0 {
				storePath(t, v, w, path)
			} else if len(path) > 0 {
				removeBelow(t, v, w, path[len(path)-1])
			}
			if err := v.check(u.drawPath(t)); err != nil {
				t.Fatal(err)
			}
		}
		for _, path := range u.paths {
			if err := v.check(path); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// storePath makes w hold a prompt, node by node.
func storePath(t *rapid.T, v *views, w int32, path []uint32) {
	for i := 0; i < len(path); {
		n := 1
		for i+n < len(path) && path[i+n]>>v.u.shift == path[i]>>v.u.shift {
			n++
		}
		from := i
		for from < i+n && v.sets[w][path[from]] && rapid.IntRange(0, 9).Draw(t, "again") > 0 {
			from++ // mostly only what is new is announced
		}
		if from < i+n {
			if err := v.store(w, path[from], int32(i+n-from)); err != nil {
				t.Fatal(err)
			}
		}
		i += n
	}
}

// removeBelow makes w drop a block and what lies behind it, the deepest first.
func removeBelow(t *rapid.T, v *views, w int32, block uint32) {
	if !v.sets[w][block] {
		return
	}
	var behind []uint32
	for c := range v.sets[w] {
		if v.u.parent[c] == block {
			behind = append(behind, c)
		}
	}
	slices.Sort(behind)
	for _, c := range behind {
		removeBelow(t, v, w, c)
	}
	if err := v.remove(w, block, 1); err != nil {
		t.Fatal(err)
	}
}

// TestIndexIgnoresRepeats stores and removes the same blocks several times:
// unique pairs count once, and removing what is not there does nothing.
func TestIndexIgnoresRepeats(t *testing.T) {
	x := prefix.NewIndex(2, 4)
	for range 5 {
		x.Set(0, 16, 10)
	}
	x.Set(1, 16, 10)
	if n := x.Blocks(); n != 20 {
		t.Errorf("10 blocks on two workers count as %d pairs, expected 20", n)
	}
	x.Clear(0, 500, 3)
	x.Clear(1, 16, 10)
	x.Clear(1, 16, 10)
	depth := []int32{7, 7}
	x.Match([]uint32{16, 17, 18}, depth)
	if depth[0] != 3 || depth[1] != 0 || x.Blocks() != 10 {
		t.Errorf("depths %v and %d pairs, expected 3, 0 and 10", depth, x.Blocks())
	}
	x.Match(nil, depth)
	if depth[0] != 0 || depth[1] != 0 {
		t.Errorf("an empty prompt has depths %v, expected 0", depth)
	}
}

// TestIndexRefusesOrphans takes no block whose predecessor in the node is
// missing, and drops what lies behind a removed one, as the tree does.
func TestIndexRefusesOrphans(t *testing.T) {
	x := prefix.NewIndex(1, 4)
	depth := make([]int32, 1)
	x.Set(0, 18, 2)
	if x.Blocks() != 0 {
		t.Errorf("%d blocks, expected none without their predecessors", x.Blocks())
	}
	x.Set(0, 16, 6)
	x.Clear(0, 18, 1)
	if x.Match([]uint32{16, 17, 18, 19, 20, 21}, depth); depth[0] != 2 || x.Blocks() != 2 {
		t.Errorf("depth %d and %d blocks, expected 2 and 2", depth[0], x.Blocks())
	}
	x.Set(0, 18, 1)
	if x.Match([]uint32{16, 17, 18, 19, 20, 21}, depth); depth[0] != 3 {
		t.Errorf("depth %d after the hole was stored again, expected 3", depth[0])
	}
}

// TestIndexFollowsEngines feeds the models from the event streams of workers
// that run random requests on small pools, and compares them with what the
// pools hold.
func TestIndexFollowsEngines(t *testing.T) {
	stored, removed := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		u := drawUniverse(t)
		f := newFleet(t, u, rapid.IntRange(1, 3).Draw(t, "workers"))
		for range rapid.IntRange(5, 60).Draw(t, "steps") {
			w := rapid.IntRange(0, len(f.workers)-1).Draw(t, "worker")
			if rapid.IntRange(0, 2).Draw(t, "pass") == 0 {
				f.enqueue(t, w, u.drawPath(t))
			} else {
				f.pass(t, w)
			}
			f.compare(t, u.drawPath(t))
		}
		stored, removed = stored+f.stored, removed+f.removed
	})
	if stored == 0 || removed == 0 {
		t.Errorf("%d stored and %d removed events, expected many of both", stored, removed)
	}
}

// fleet runs workers pass by pass and tells the views what they report.
type fleet struct {
	v       *views
	workers []*engine.Worker
	now     []float64
	answer  uint32 // the next id of a block with generated tokens
	stored  int    // events
	removed int
}

// answerLimit lies above every block of a universe.
const answerLimit = 1 << 20

// fleetBlock is the block size in tokens.
const fleetBlock = 2

func newFleet(t *rapid.T, u *universe, n int) *fleet {
	f := &fleet{v: newViews(u, n), now: make([]float64, n), answer: answerLimit}
	timing, err := models.NewFixed(10, 5, models.TimingOptions{CapacityTokens: 1000, SpeedupRatio: 1, DecodeSpeedupRatio: 1})
	if err != nil {
		t.Fatal(err)
	}
	for range n {
		p := engine.DefaultParams()
		p.BlockSize = fleetBlock
		p.NumGPUBlocks = rapid.Int32Range(3, 40).Draw(t, "pool")
		p.MaxNumBatchedTokens = rapid.SampledFrom([]int32{3, 16, 8192}).Draw(t, "budget")
		if rapid.Bool().Draw(t, "fifo") {
			p.Preemption = engine.FIFO
		}
		w := engine.NewWorker(p, engine.Options{
			Timing: timing, Shift: u.shift, PromptBlocks: answerLimit, Plain: rapid.Bool().Draw(t, "plain"),
		})
		w.Events.On = true
		f.workers = append(f.workers, w)
	}
	return f
}

// enqueue sends a request for a prompt to a worker.
func (f *fleet) enqueue(t *rapid.T, w int, path []uint32) {
	prompt := int32(len(path))*fleetBlock + rapid.Int32Range(0, fleetBlock-1).Draw(t, "tail")
	if prompt == 0 {
		prompt = 1
	}
	answer := rapid.Int32Range(0, 8).Draw(t, "answer")
	if need := prompt + answer + fleetBlock; need/fleetBlock > f.workers[w].NumGPUBlocks {
		return // would get stuck or be refused
	}
	s := &engine.Seq{}
	s.Reset(0, prompt, answer)
	s.Blocks = append(s.Blocks, path...)
	f.answer = (f.answer>>f.v.u.shift + 1) << f.v.u.shift
	for len(s.Blocks) < int(prompt+answer)/fleetBlock {
		s.Blocks = append(s.Blocks, f.answer)
		f.answer++
	}
	f.workers[w].Enqueue(s, f.now[w], false)
}

// pass runs a worker to the end of its next pass and hands out its events.
func (f *fleet) pass(t *rapid.T, w int) {
	worker := f.workers[w]
	if !worker.HasWork() {
		return
	}
	end, err := worker.Start(f.now[w])
	if err != nil {
		t.Fatal(err)
	}
	f.now[w] = end
	worker.Commit(end, false)
	for _, e := range worker.Events.Take(end) {
		if e.Stored {
			f.stored++
		} else {
			f.removed++
		}
		f.apply(t, int32(w), e)
	}
}

// apply cuts an event at the bounds of nodes, behind which the next id need
// not be the next block.
func (f *fleet) apply(t *rapid.T, w int32, e engine.Event) {
	size := uint32(1) << f.v.u.shift
	var runs [][2]uint32
	for b, left := e.Block, uint32(e.Count); left > 0; {
		n := min(left, size-b%size)
		runs = append(runs, [2]uint32{b, n})
		b, left = b+n, left-n
	}
	if !e.Stored {
		slices.Reverse(runs)
	}
	for _, r := range runs {
		change := f.v.remove
		if e.Stored {
			change = f.v.store
		}
		if err := change(w, r[0], int32(r[1])); err != nil {
			t.Fatalf("event %+v: %v", e, err)
		}
	}
}

// compare checks the views against each other and against the pools.
func (f *fleet) compare(t *rapid.T, path []uint32) {
	if err := f.v.check(path); err != nil {
		t.Fatal(err)
	}
	depth := make([]int32, len(f.workers))
	f.v.index.Match(path, depth)
	for i, w := range f.workers {
		if held := w.Held(path); held != depth[i] {
			t.Fatalf("worker %d holds %d leading blocks of %v, the index says %d", i, held, path, depth[i])
		}
	}
}
