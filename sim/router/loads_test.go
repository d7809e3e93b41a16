package router

import (
	"flag"
	"os"
	"testing"

	"pgregory.net/rapid"

	"routesim/sim/engine"
)

// TestMain makes the property tests repeatable; the flags still override it.
func TestMain(m *testing.M) {
	for _, f := range [][2]string{{"rapid.seed", "20250803"}, {"rapid.checks", "200"}, {"rapid.nofailfile", "true"}} {
		if err := flag.Set(f[0], f[1]); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

// TestActiveBlocksCountOnce follows two requests that share ten blocks.
func TestActiveBlocksCountOnce(t *testing.T) {
	r := newRig(t, 1, nil)
	blocks := func(own uint32) (b []uint32) {
		for i := range uint32(10) {
			b = append(b, i)
		}
		return append(b, own)
	}
	a, b := &Request{Row: 1, ISL: 704, Blocks: blocks(100)}, &Request{Row: 2, ISL: 704, Blocks: blocks(200)}
	r.sent(a, 0)
	r.sent(b, 0)
	if n := r.loads.activeBlocks(0); n != 12 {
		t.Errorf("%d active blocks, expected 12", n)
	}
	c := &Request{Row: 3, ISL: 704, Blocks: blocks(300)}
	if r.costsOf(c); r.costs[0].Decode != 13 {
		t.Errorf("a third request would make %v active blocks, expected 13", r.costs[0].Decode)
	}
	same := &Request{Row: 4, ISL: 704, Blocks: blocks(200)}
	if r.costsOf(same); r.costs[0].Decode != 12 {
		t.Errorf("an equal request would make %v active blocks, expected 12", r.costs[0].Decode)
	}
	r.Free(a)
	if n := r.loads.activeBlocks(0); n != 11 {
		t.Errorf("%d active blocks after the first ended, expected 11", n)
	}
	r.Free(b)
	if n := r.loads.activeBlocks(0); n != 0 || !r.Idle() {
		t.Errorf("%d active blocks after both ended, expected 0", n)
	}
}

// TestPrefillIsChargedToFirstToken books the uncached part until the first
// token, and the blocks until the end.
func TestPrefillIsChargedToFirstToken(t *testing.T) {
	r := newRig(t, 1, nil)
	q := r.request(1000, 1, 2)
	r.cached(0, q, 5)
	r.sent(q, 0)
	if a, b := r.loads.prefillTokens[0], r.loads.activeBlocks(0); a != 1000-5*64 || b != 15 {
		t.Errorf("booked %d tokens and %d blocks, expected 680 and 15", a, b)
	}
	for range 2 { // the second call changes nothing
		r.PrefillDone(q)
		if a, b := r.loads.prefillTokens[0], r.loads.activeBlocks(0); a != 0 || b != 15 {
			t.Errorf("%d tokens and %d blocks after the first token, expected 0 and 15", a, b)
		}
	}
	r.Free(q)
	if !r.Idle() {
		t.Error("the router holds load after the request ended")
	}
}

// TestEndWithoutFirstToken clears the prefill load of a request whose only
// output is its last.
func TestEndWithoutFirstToken(t *testing.T) {
	r := newRig(t, 1, nil)
	q := r.request(1000, 1, 2)
	r.sent(q, 0)
	r.Free(q)
	if !r.Idle() {
		t.Error("the router holds load after the request ended")
	}
}

// TestBookingIgnoresCredit books by the cache even where the cost does not see
// it, and as if the worker had cached more than the prompt.
func TestBookingIgnoresCredit(t *testing.T) {
	for _, credit := range []float64{0, 0.5, 2} {
		r := newRig(t, 1, func(p *Params) { p.OverlapScoreCredit = credit })
		q := r.request(1000, 1, 2)
		r.cached(0, q, 10)
		c := r.sent(q, 0)
		if q.booking.prefill != 360 || c.Overlap != 10 {
			t.Errorf("credit %v: booked %d tokens over %v blocks, expected 360 and 10", credit, q.booking.prefill, c.Overlap)
		}
	}
}

// TestTrackingSwitches checks what is booked without one of the signals.
func TestTrackingSwitches(t *testing.T) {
	for _, c := range []struct {
		name           string
		change         func(*Params)
		tokens, blocks int64
	}{
		{"everything", func(*Params) {}, 2000, 15},
		{"no active blocks", func(p *Params) { p.TrackActiveBlocks = false }, 2000, 0},
		{"no reuse", func(p *Params) { p.AssumeKVReuse = false }, 2000, 30},
		{"no prefill tokens", func(p *Params) { p.TrackPrefillTokens = false }, 0, 15},
	} {
		r := newRig(t, 1, c.change)
		a, b := r.request(1000, 1, 2), r.request(1000, 1, 2)
		r.sent(a, 0)
		r.sent(b, 0)
		if x, y, n := r.loads.prefillTokens[0], r.loads.activeBlocks(0), r.loads.requests[0]; x != c.tokens || y != c.blocks || n != 2 {
			t.Errorf("%s: %d tokens, %d blocks, %d requests, expected %d, %d and 2", c.name, x, y, n, c.tokens, c.blocks)
		}
		r.Free(a)
		r.Free(b)
		if !r.Idle() {
			t.Errorf("%s: the router holds load after both ended", c.name)
		}
	}
}

// TestActiveIsNotCached keeps the two prefixes apart: cached but idle blocks
// count as new, active but unreported ones as held.
func TestActiveIsNotCached(t *testing.T) {
	r := newRig(t, 1, nil)
	q := r.request(1024, 1, 2)
	r.cached(0, q, 16)
	if r.costsOf(q); r.costs[0].Decode != 16 || r.costs[0].Credit != 16 {
		t.Errorf("%+v, expected 16 new blocks and a credit of 16", r.costs[0])
	}
	r.Apply(0, []engine.Event{{Block: q.Blocks[0], Count: 8}, {Block: q.Blocks[8], Count: 8}})
	q.overlap = nil
	r.sent(q, 0)
	again := r.request(1024, 1, 2)
	if r.costsOf(again); r.costs[0].Decode != 16 || r.costs[0].Credit != 0 {
		t.Errorf("%+v, expected the 16 active blocks only and no credit", r.costs[0])
	}
}

// TestActiveSetEqualsCounts compares the sorted prompts with a count per block.
func TestActiveSetEqualsCounts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s activeSet
		refs := map[uint32]int{}
		type active struct {
			blocks []uint32
			row    int32
		}
		var all []active
		// A block is named by all contents up to it.
		draw := func() (path []uint32) {
			id := uint32(1)
			for range rapid.IntRange(0, 6).Draw(t, "length") {
				id = 3*id + uint32(rapid.IntRange(0, 2).Draw(t, "content"))
				path = append(path, id)
			}
			return path
		}
		for row := range int32(rapid.IntRange(1, 60).Draw(t, "steps")) {
			if len(all) > 0 && rapid.IntRange(0, 2).Draw(t, "remove") == 0 {
				i := rapid.IntRange(0, len(all)-1).Draw(t, "which")
				s.remove(all[i].blocks, all[i].row)
				for _, b := range all[i].blocks {
					if refs[b]--; refs[b] == 0 {
						delete(refs, b)
					}
				}
				all = append(all[:i], all[i+1:]...)
			} else if p := draw(); len(p) > 0 {
				s.add(p, row)
				all = append(all, active{p, row})
				for _, b := range p {
					refs[b]++
				}
			}
			if s.blocks != int64(len(refs)) {
				t.Fatalf("%d distinct blocks, expected %d", s.blocks, len(refs))
			}
			p := draw()
			want := 0
			for want < len(p) && refs[p[want]] > 0 {
				want++
			}
			if got := s.held(p); got != want {
				t.Fatalf("%d leading blocks of %v are active, expected %d", got, p, want)
			}
		}
	})
}
