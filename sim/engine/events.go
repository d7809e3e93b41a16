package engine

import (
	"math"
	"math/bits"
	"slices"
)

// Tier is a level of storage for KV blocks.
type Tier uint8

// The tiers of a worker.
const (
	OnDevice Tier = iota
	OnHost
	OnDisk
)

// Event says that the first copies of consecutive blocks became resident on a
// tier of a worker, or that their last copies were dropped.
type Event struct {
	Visible float64 // ms, when the router learns of it
	Block   uint32  // the first
	Count   int32
	Stored  bool // false: removed
	Tier    Tier
}

// Events is the stream of one worker's KV events, in the order they were
// produced. A pass decides its events at its start and makes them known at its
// end, or later where the event path lags.
type Events struct {
	On  bool    // false: nothing is recorded
	Lag float64 // ms after the end of the pass
	// Lost reports whether a pass's batch of events, counted from 1, is lost on
	// its way. The receiver notices the gap with the next batch that arrives and
	// recovers what it missed then. nil = none is.
	Lost    func(batch int64) bool
	Dropped int64 // batches lost so far

	batch   int64
	limit   uint32 // blocks from here on never appear in a prompt
	pending []Event
	first   int // pending[first:] has not been taken
	open    int // pending[open:] belongs to the pass being decided
	last    int // pending[last:open] belongs to the one before
}

// addMask notes an event of the pass being decided for the blocks of a node
// that mask names, counted from base.
func (e *Events) addMask(base uint32, mask uint64, stored bool) {
	if !e.On || mask == 0 || base >= e.limit {
		return
	}
	for mask != 0 {
		skip := bits.TrailingZeros64(mask)
		n := bits.TrailingZeros64(^(mask >> skip))
		e.add(base+uint32(skip), int32(n), stored, OnDevice)
		if skip+n >= 64 {
			return
		}
		mask &= ^uint64(0) << (skip + n)
	}
}

// addTier notes events of blocks of a lower tier.
func (e *Events) addTier(blocks []uint32, stored bool, tier Tier) {
	for _, b := range blocks {
		if e.On && b < e.limit {
			e.add(b, 1, stored, tier)
		}
	}
}

// add notes an event for n consecutive blocks. Prompts are stored forwards and
// dropped backwards, so most events extend the one before.
func (e *Events) add(block uint32, n int32, stored bool, tier Tier) {
	if k := len(e.pending) - 1; k >= e.open && e.pending[k].Stored == stored && e.pending[k].Tier == tier {
		last := &e.pending[k]
		switch {
		case stored && block == last.Block+uint32(last.Count):
			last.Count += n
			return
		case !stored && block+uint32(n) == last.Block:
			last.Block = block
			last.Count += n
			return
		}
	}
	e.pending = append(e.pending, Event{Block: block, Count: n, Stored: stored, Tier: tier})
}

// seal dates the events of the pass just decided, which ends at end.
func (e *Events) seal(end float64) {
	if e.Lost != nil && e.open < len(e.pending) {
		e.sealLossy(end)
		return
	}
	for e.last = e.open; e.open < len(e.pending); e.open++ {
		e.pending[e.open].Visible = end + e.Lag
	}
}

// sealTransfers dates the events of transfers that end at now. A pass may be
// under way, whose events become known later.
func (e *Events) sealTransfers(now float64) {
	fresh := len(e.pending) - e.open
	if fresh == 0 {
		return
	}
	at := e.open
	for at > e.first && e.pending[at-1].Visible > now+e.Lag {
		at--
	}
	rotated := append(slices.Clone(e.pending[e.open:]), e.pending[at:e.open]...)
	copy(e.pending[at:], rotated)
	for i := at; i < at+fresh; i++ {
		e.pending[i].Visible = now + e.Lag
	}
	e.open = len(e.pending)
	if at <= e.last {
		e.last += fresh
	}
}

// postpone dates the events of the pass that was sealed last anew: it ends at
// end.
func (e *Events) postpone(end float64) {
	for i := e.last; i < e.open; i++ {
		if !math.IsInf(e.pending[i].Visible, 1) {
			e.pending[i].Visible = end + e.Lag
		}
	}
}

// Renew returns the stream of an engine that takes this one's place: nothing is
// under way, and settings and counts go on.
func (e *Events) Renew(fresh Events) Events {
	fresh.On, fresh.Lag, fresh.Lost, fresh.Dropped, fresh.batch = e.On, e.Lag, e.Lost, e.Dropped, e.batch
	return fresh
}

// sealLossy dates the events of a pass where batches may be lost: never, until
// a later batch arrives and brings the missed ones along.
func (e *Events) sealLossy(end float64) {
	e.batch++
	visible := end + e.Lag
	e.last = e.open
	if e.Lost(e.batch) {
		visible = math.Inf(1)
		e.Dropped++
	} else {
		for e.last > e.first && math.IsInf(e.pending[e.last-1].Visible, 1) {
			e.last--
		}
	}
	e.open = len(e.pending)
	for i := e.last; i < e.open; i++ {
		e.pending[i].Visible = visible
	}
}

// Take returns the events that are visible at now and not yet taken. The
// slice is valid until the next call of Take or the worker's next pass.
func (e *Events) Take(now float64) []Event {
	if e.first == len(e.pending) {
		e.pending, e.first, e.open = e.pending[:0], 0, 0
		return nil
	}
	if e.first > 4096 && 2*e.first > len(e.pending) {
		n := copy(e.pending, e.pending[e.first:])
		e.pending, e.open, e.first = e.pending[:n], e.open-e.first, 0
	}
	from := e.first
	for e.first < e.open && e.pending[e.first].Visible <= now {
		e.first++
	}
	return e.pending[from:e.first]
}
