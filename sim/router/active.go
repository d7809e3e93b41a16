package router

import "slices"

// activeSet holds the prompts of one worker's active requests and counts their
// distinct blocks. Prompts are kept in lexicographic order of their blocks: the
// longest prefix that a prompt shares with any other is the one it shares with
// a neighbour, and a prompt brings as many new blocks as it is longer than that.
type activeSet struct {
	prompts []activePrompt
	blocks  int64 // distinct blocks
}

type activePrompt struct {
	blocks []uint32
	row    int32 // tells equal prompts apart
}

// before reports whether a stands before b in the order, where the two share
// exactly n leading blocks.
func (a *activePrompt) before(b *activePrompt, n int) bool {
	switch {
	case n < len(a.blocks) && n < len(b.blocks):
		return a.blocks[n] < b.blocks[n]
	case len(a.blocks) != len(b.blocks):
		return len(a.blocks) < len(b.blocks)
	}
	return a.row < b.row
}

// place returns where p is or belongs in the order. All prompts between two
// that share n blocks with p share at least n with it too, so those are not
// compared again.
func (s *activeSet) place(p *activePrompt) int {
	lo, hi := 0, len(s.prompts)
	below, above := 0, 0 // blocks shared with the last prompt found to stand before and after
	for lo < hi {
		mid := (lo + hi) / 2
		q := &s.prompts[mid]
		skip := min(below, above)
		n := skip + commonPrefix(q.blocks[skip:], p.blocks[skip:])
		if q.before(p, n) {
			lo, below = mid+1, n
		} else {
			hi, above = mid, n
		}
	}
	return lo
}

// shared returns the longest prefix of blocks that one of the neighbours before
// and from place i on holds.
func (s *activeSet) shared(blocks []uint32, i int) (n int) {
	if i > 0 {
		n = commonPrefix(blocks, s.prompts[i-1].blocks)
	}
	if i < len(s.prompts) {
		n = max(n, commonPrefix(blocks, s.prompts[i].blocks))
	}
	return n
}

func commonPrefix(a, b []uint32) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

// held returns the longest prefix of blocks that an active request holds.
func (s *activeSet) held(blocks []uint32) int {
	p := activePrompt{blocks: blocks}
	return s.shared(blocks, s.place(&p))
}

// add enters a prompt. Its blocks must not change until remove.
func (s *activeSet) add(blocks []uint32, row int32) {
	p := activePrompt{blocks, row}
	i := s.place(&p)
	s.blocks += int64(len(blocks) - s.shared(blocks, i))
	s.prompts = slices.Insert(s.prompts, i, p)
}

// remove takes out a prompt that was added.
func (s *activeSet) remove(blocks []uint32, row int32) {
	p := activePrompt{blocks, row}
	i := s.place(&p)
	s.prompts = slices.Delete(s.prompts, i, i+1)
	s.blocks -= int64(len(blocks) - s.shared(blocks, i))
}
