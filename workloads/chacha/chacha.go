// Package chacha draws the numbers that Dynamo's replay draws where a run can
// depend on them exactly: ChaCha with 12 rounds, a 64-bit block counter and a
// key that a small seed is stretched to, as the standard generator of Rust's
// rand crate does it.
package chacha

import (
	"encoding/binary"
	"math/bits"
)

// Source is one stream of draws.
type Source struct {
	key   [8]uint32
	block uint64 // the next one
	words [16]uint32
	next  int // word to hand out
}

// rounds is the number of ChaCha's rounds.
const rounds = 12

// New returns the stream of a seed. The key's words are the outputs of a
// permuted congruential generator (PCG32) that starts at the seed.
func New(seed uint64) *Source {
	s := &Source{next: 16}
	for i := range s.key {
		seed = seed*6364136223846793005 + 11634580027462260723
		s.key[i] = bits.RotateLeft32(uint32((seed>>18^seed)>>27), -int(seed>>59))
	}
	return s
}

// Uint64 draws 64 bits: two words, the low one first.
func (s *Source) Uint64() uint64 {
	low := s.word()
	return uint64(s.word())<<32 | uint64(low)
}

// Unit draws a number of [0, 1) with 53 bits.
func (s *Source) Unit() float64 { return float64(s.Uint64()>>11) / (1 << 53) }

// Below draws a number below n > 0: the high word of a word times n. Where the
// low word says that it may be biased, another draw may raise it by one.
func (s *Source) Below(n uint32) uint32 {
	hi, lo := bits.Mul32(s.word(), n)
	if lo > -n {
		more, _ := bits.Mul32(s.word(), n)
		if lo+more < lo {
			hi++
		}
	}
	return hi
}

// Bernoulli draws true with probability p. A certainty takes no draw.
func (s *Source) Bernoulli(p float64) bool {
	return p >= 1 || s.Uint64() < uint64(p*(1<<64))
}

func (s *Source) word() uint32 {
	if s.next == len(s.words) {
		s.fill()
	}
	s.next++
	return s.words[s.next-1]
}

// fill computes the next block.
func (s *Source) fill() {
	var in [16]uint32
	const name = "expand 32-byte k"
	for i := range 4 {
		in[i] = binary.LittleEndian.Uint32([]byte(name[4*i : 4*i+4]))
	}
	copy(in[4:12], s.key[:])
	in[12], in[13] = uint32(s.block), uint32(s.block>>32)
	x := in
	for range rounds / 2 {
		for i := range 4 { // columns
			quarter(&x, i, 4+i, 8+i, 12+i)
		}
		for i := range 4 { // diagonals
			quarter(&x, i, 4+(i+1)%4, 8+(i+2)%4, 12+(i+3)%4)
		}
	}
	for i := range x {
		s.words[i] = x[i] + in[i]
	}
	s.block++
	s.next = 0
}

// quarter is ChaCha's quarter round.
func quarter(x *[16]uint32, a, b, c, d int) {
	x[a] += x[b]
	x[d] = bits.RotateLeft32(x[d]^x[a], 16)
	x[c] += x[d]
	x[b] = bits.RotateLeft32(x[b]^x[c], 12)
	x[a] += x[b]
	x[d] = bits.RotateLeft32(x[d]^x[a], 8)
	x[c] += x[d]
	x[b] = bits.RotateLeft32(x[b]^x[c], 7)
}
