package engine

import "testing"

// testPool is host memory of some blocks of 10 bytes for two ranks, which move 10
// bytes per ms each way, and 15 together.
func testPool(blocks int32) *HostPool {
	p := Params{BlockSize: 10, Host: HostOffload{Blocks: blocks, Shared: true, BytesPerToken: 1,
		D2HGBPerSecond: 1e-5, H2DGBPerSecond: 1e-5, SharedD2HGBPerSecond: 1.5e-5, SharedH2DGBPerSecond: 1.5e-5}}
	pool := NewHostPool(&p, 2, func(b uint32) uint64 { return uint64(b) })
	pool.members[0].set, pool.members[1].set = p.Host, p.Host
	return pool
}

// put has a rank store blocks from now on.
func (p *HostPool) put(t *testing.T, rank int32, now float64, blocks ...uint32) *store {
	t.Helper()
	p.advance(now)
	if _, ok := p.cache.write(blocks, blocks, rank); !ok {
		t.Fatalf("no room for %v", blocks)
	}
	j := &store{blocks: blocks, order: p.order()}
	p.submit(rank, now, &job{write: true, blocks: blocks, order: j.order, store: j})
	return j
}

// TestHostPoolOfAll: two ranks that store at once share the pool's rate, each
// hears of its own transfers alone, and of the other's that there was one.
func TestHostPoolOfAll(t *testing.T) {
	p := testPool(8)
	a, b := p.put(t, 0, 0, 1, 2, 3), p.put(t, 1, 0, 4, 5, 6)
	if at := p.next(0); at != 4 {
		t.Errorf("rank 0 is to look at %v ms, expected 30 bytes at 7.5 per ms", at)
	}
	p.advance(10)
	if !a.landed || !b.landed || a.ended {
		t.Error("what has ended is not there, or is known to a rank that did not ask")
	}
	done, progress := p.take(0, 10)
	if len(done) != 1 || done[0].store != a || done[0].end != 4 || !progress {
		t.Errorf("rank 0 hears of %d transfers, progress %v, expected its own", len(done), progress)
	}
	if at := p.next(0); p.next(1) != 10 || at <= 1e300 {
		t.Errorf("rank 0 is to look at %v, rank 1 at %v, expected never and now", at, p.next(1))
	}
	p.cache.pin([]uint32{1, 4})
	l := &load{blocks: []uint32{1, 4}}
	p.submit(0, 20, &job{blocks: l.blocks, load: l})
	p.cancel(0, l, 21)
	if done, _ := p.take(0, 100); len(done) != 0 || p.cache.idle != 6 {
		t.Errorf("%d transfers ended and %d blocks are free to go, expected none and all 6", len(done), p.cache.idle)
	}
	if c := p.Content(); c != (HostContent{8, 6, 6}) {
		t.Errorf("the pool holds %+v", c)
	}
}

// TestHostPoolTellsAll: every rank that publishes the pool hears of what comes and
// goes, and looks at once where it is idle; what a rank that is gone was storing
// arrives, what it kept for its disk is free.
func TestHostPoolTellsAll(t *testing.T) {
	p := testPool(4)
	var feeds [2]Events
	for i := range feeds {
		feeds[i] = Events{On: true, limit: 100}
		p.members[i].feed = &feeds[i]
	}
	p.members[0].keeps = true
	p.put(t, 0, 0, 1, 2)
	p.advance(5)
	if len(feeds[1].pending) != 1 || p.next(1) != 5 {
		t.Errorf("rank 1 heard of %v and is to look at %v", feeds[1].pending, p.next(1))
	}
	if p.cache.idle != 0 {
		t.Error("blocks that are to go on to a disk may be dropped")
	}
	p.put(t, 0, 6, 3)
	p.leave(0)
	p.advance(20)
	if p.cache.idle != 3 || p.next(0) > 20 {
		t.Errorf("%d of 3 blocks can go when the rank that stored them is gone", p.cache.idle)
	}
}
