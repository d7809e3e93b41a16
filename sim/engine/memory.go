package engine

import "math/bits"

// memory knows which pieces of the device's memory a copy to a lower tier still
// reads. Such a piece can be taken for another block, but a pass that computes in
// it waits for the copy, and the block is not copied itself before that has ended.
// Free pieces are stacked: what was given back last is taken first, and what has
// to be evicted for a request goes to its first blocks, as in the block pool of
// Dynamo's replay (aisimulate, vllm_block_pool.rs).
type memory struct {
	free   []*store         // who reads each free piece, nil = nobody; the top is the last
	copies map[int32]*store // who reads a cached copy, by its place
	taken  []*store         // of the reservation being made, the first block's last
	until  float64          // ms, when those end that read what was taken last
}

func newMemory(pieces int32) *memory {
	return &memory{free: make([]*store, pieces), copies: map[int32]*store{}}
}

// draw begins a reservation with the top n free pieces.
func (m *memory) draw(n int32) {
	top := len(m.free) - int(n)
	m.taken = append(m.taken[:0], m.free[top:]...)
	m.free = m.free[:top]
}

// vacate adds the pieces of copies that are evicted, the highest first.
func (m *memory) vacate(extent int32, gone uint64, shift uint8) {
	for gone != 0 {
		i := 63 - bits.LeadingZeros64(gone)
		gone &^= 1 << i
		at := extent<<shift | int32(i)
		m.taken = append(m.taken, m.copies[at])
		delete(m.copies, at)
	}
}

// give ends a reservation: the request has its pieces.
func (m *memory) give(s *Seq) {
	m.until = 0
	for i := len(m.taken) - 1; i >= 0; i-- {
		j := m.taken[i].reading()
		if j != nil {
			m.until = max(m.until, j.end)
		}
		s.pieces = append(s.pieces, j)
	}
}

// fill notes that a request's next pieces hold these copies of an extent now.
func (m *memory) fill(s *Seq, extent int32, mask uint64, shift uint8) {
	n := 0
	for ; mask != 0; mask &= mask - 1 {
		if j := s.pieces[n].reading(); j != nil {
			m.copies[extent<<shift|int32(bits.TrailingZeros64(mask))] = j
		}
		n++
	}
	s.pieces = append(s.pieces[:0], s.pieces[n:]...)
}

// giveBack frees the pieces of a request that hold no copies, the last first.
func (m *memory) giveBack(s *Seq) {
	for i := len(s.pieces) - 1; i >= 0; i-- {
		m.free = append(m.free, s.pieces[i].reading())
	}
	s.pieces = s.pieces[:0]
}

// busy reports whether one of the copies is being read.
func (m *memory) busy(copies []hold, shift uint8) bool {
	for _, h := range copies {
		for mask := h.mask; mask != 0; mask &= mask - 1 {
			if m.copies[h.extent<<shift|int32(bits.TrailingZeros64(mask))].reading() != nil {
				return true
			}
		}
	}
	return false
}

// readBy notes who reads copies from now on.
func (m *memory) readBy(j *store, copies []hold, shift uint8) {
	for _, h := range copies {
		for mask := h.mask; mask != 0; mask &= mask - 1 {
			m.copies[h.extent<<shift|int32(bits.TrailingZeros64(mask))] = j
		}
	}
}
