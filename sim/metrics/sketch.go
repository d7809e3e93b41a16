package metrics

import (
	"cmp"
	"math"
	"slices"

	"routesim/sim/fmath"
)

// The sketch sorts values into buckets whose bounds grow by the factor gamma:
// bucket k holds the values v with ceil(ln(v)*invGamma) = k and is reported as
// a value within alpha of all of them.
const alpha = 0.001

// The bucket widths, rounded to float64 as the formulas beside them give.
const (
	logGamma = 0x1.0624e2e91ed17p-9 // ln(gamma), gamma = 1 + 2*alpha/(1-alpha)
	invGamma = 0x1.f3fff513cbed3p+8 // 1/logGamma
	centre   = 0x1.ff7ced916872ap-1 // 2/(1+gamma)
)

// A cell is a range of values that share the exponent and the top mantissa
// bits. At 9 bits a cell is at most 0.195 % wide, less than the 0.2002 % of a
// bucket, so a cell holds at most one bucket bound and is counted in two
// halves.
const (
	mantissaBits = 9
	cellShift    = 52 - mantissaBits
	octaveCells  = 1 << mantissaBits
)

// nearBound is the distance from a bucket bound, in units of the last place,
// within which only the formula itself decides. The computed ln(v)*invGamma is
// off by less than |ln(v)|*4e-16 in terms of a relative change of v, that is by
// 1.8e-14 within the tabulated octaves; 512 units are at least 5.6e-14.
const nearBound = 512

// The table covers values from 2^firstOctave up to 2^lastOctave; others are
// counted by formula.
const (
	firstOctave = -64
	lastOctave  = 64
	exponent0   = 1023 // of 1.0 in a float64
)

// noBound marks a cell that lies within one bucket; no value reaches it.
const noBound = math.MaxInt64

// cell is one cell with the number of values counted in its halves.
type cell struct {
	bound  uint64    // bucket bound inside the cell, as the bits of a float64
	counts [2]uint32 // values below and above the bound, since the last fold
}

// sketch counts values by bucket.
type sketch struct {
	first uint64  // number of the first cell: exponent and top mantissa bits
	cells []cell  // whole octaves, ascending
	keys  []int32 // by cell: bucket of the lower half
	zeros uint64
	exact map[int32]uint64 // by bucket: values counted by formula, and folded ones
	fresh uint64           // values since the last fold, at most foldAfter
}

// foldAfter keeps the counts of a cell below 2^32. They are narrow because
// that lets the cells in use stay in the nearest cache.
const foldAfter = 1 << 31

// makeRoom folds the counts unless n more values fit.
func (s *sketch) makeRoom(n int) {
	if s.fresh += uint64(n); s.fresh > foldAfter {
		s.fold()
		s.fresh = uint64(n)
	}
}

// fold moves the counts of the cells to the map.
func (s *sketch) fold() {
	if s.exact == nil {
		s.exact = map[int32]uint64{}
	}
	for i := range s.cells {
		for side, n := range s.cells[i].counts {
			if n > 0 {
				s.exact[s.keys[i]+int32(side)] += uint64(n)
			}
		}
		s.cells[i].counts = [2]uint32{}
	}
}

// count counts one value. The same steps stand in Gaps.addPlain.
func (s *sketch) count(v float64) {
	s.makeRoom(1)
	bits := math.Float64bits(v)
	if i := bits>>cellShift - s.first; i < uint64(len(s.cells)) {
		if c := &s.cells[i]; bits-c.bound+nearBound > 2*nearBound {
			c.counts[(c.bound-bits)>>63]++
			return
		}
	}
	s.countRare(v)
}

// countRare counts a value the table does not decide, and extends the table
// when the value's octave can be tabulated.
func (s *sketch) countRare(v float64) {
	if v == 0 {
		s.zeros++
		return
	}
	if s.exact == nil {
		s.exact = map[int32]uint64{}
	}
	s.exact[bucket(v)]++
	_, e := math.Frexp(v)
	if e--; e >= firstOctave && e < lastOctave {
		s.cover(uint64(e+exponent0) << mantissaBits)
	}
}

// cover extends the table to the octave whose first cell is given.
func (s *sketch) cover(first uint64) {
	if s.cells == nil {
		s.first = first
	}
	for first < s.first {
		s.first -= octaveCells
		s.cells = slices.Insert(s.cells, 0, make([]cell, octaveCells)...)
		s.keys = slices.Insert(s.keys, 0, make([]int32, octaveCells)...)
		tabulate(s.first, s.cells[:octaveCells], s.keys[:octaveCells])
	}
	for n := uint64(len(s.cells)); first >= s.first+n; n = uint64(len(s.cells)) {
		s.cells = append(s.cells, make([]cell, octaveCells)...)
		s.keys = append(s.keys, make([]int32, octaveCells)...)
		tabulate(s.first+n, s.cells[n:], s.keys[n:])
	}
}

// tabulate fills in the bounds and the lower buckets of the octave that starts
// with the cell of the given number.
func tabulate(first uint64, cells []cell, keys []int32) {
	start, end := first<<cellShift, (first+octaveCells)<<cellShift
	for i := range cells {
		cells[i].bound = noBound
	}
	low, high := bucket(math.Float64frombits(start))-1, bucket(math.Float64frombits(end))
	for k := low; k <= high; k++ {
		b := math.Float64bits(fmath.Exp(float64(k) * logGamma))
		for _, edge := range [2]uint64{b - nearBound, b + nearBound} {
			if edge >= start && edge < end {
				i := edge>>cellShift - first
				cells[i].bound, keys[i] = b, k
			}
		}
	}
	for i := range cells {
		if cells[i].bound == noBound {
			keys[i] = bucket(math.Float64frombits((first + uint64(i)) << cellShift))
		}
	}
}

// bucket returns the bucket of a value above 0.
func bucket(v float64) int32 {
	return int32(math.Ceil(fmath.Log(v) * invGamma))
}

// keyCount is the number of values in one bucket.
type keyCount struct {
	key   int32
	count uint64
}

// valueZero stands for the values that are exactly 0.
const valueZero = math.MinInt32

// reported returns the value a bucket stands for.
func (b keyCount) reported() float64 {
	if b.key == valueZero {
		return 0
	}
	return fmath.Exp(float64(b.key)*(1/invGamma)) * centre
}

// ranked returns the bucket of the value with the given rank, counted from 0.
func ranked(buckets []keyCount, rank int64) keyCount {
	r := uint64(rank)
	for _, b := range buckets {
		if r < b.count {
			return b
		}
		r -= b.count
	}
	return buckets[len(buckets)-1]
}

// buckets lists the filled buckets in ascending order; a bucket may appear
// several times in a row.
func (s *sketch) buckets() []keyCount {
	var out []keyCount
	if s.zeros > 0 {
		out = append(out, keyCount{valueZero, s.zeros})
	}
	for i := range s.cells {
		for side, n := range s.cells[i].counts {
			if n > 0 {
				out = append(out, keyCount{s.keys[i] + int32(side), uint64(n)})
			}
		}
	}
	for k, n := range s.exact {
		out = append(out, keyCount{k, n})
	}
	slices.SortFunc(out, func(a, b keyCount) int { return cmp.Compare(a.key, b.key) })
	return out
}
