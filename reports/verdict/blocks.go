package verdict

import (
	"fmt"
	"math"

	"routesim/reports/format"
	"routesim/reports/sweepdata"
)

const (
	blockMS  = 60_000 // of recorded arrivals, the least length of a block
	perBlock = 4      // places in a block's length where another may start
	// maxBlocks bounds the work on long traces, whose blocks are longer.
	maxBlocks = 240
	// rowsPerBlock is the least number of requests in a block of a trace
	// without arrival times.
	rowsPerBlock = 5
)

// blocks cut a trace into cells of equal duration. A block is perBlock cells
// that follow each other; the last cell is followed by the first, so that all
// cells are in as many blocks.
type blocks struct {
	n     int     // blocks that the trace is long
	cells int     // n * perBlock
	ms    float64 // length of a block, 0 where blocks are made of rows
	cell  []int32 // by row
	why   string  // there are too few, "" where there are enough
}

// newBlocks cuts by recorded arrival. A request without one belongs with the
// row before it.
func newBlocks(r *sweepdata.Requests) *blocks {
	rows := len(r.InputTokens)
	first, last := math.Inf(1), math.Inf(-1)
	for _, a := range r.ArrivalMS {
		if !math.IsNaN(a) && !math.IsInf(a, 0) {
			first, last = math.Min(first, a), math.Max(last, a)
		}
	}
	if !(last > first) || len(r.ArrivalMS) != rows {
		return rowBlocks(rows)
	}
	b := &blocks{n: min(int((last-first)/blockMS), maxBlocks)}
	if b.n < minGroups {
		b.why = fmt.Sprintf("the arrivals span %s, less than %d blocks of %d s", format.Duration(last-first), minGroups, blockMS/1000)
		return b
	}
	b.cells = b.n * perBlock
	b.ms = (last - first) / float64(b.n)
	b.cell = make([]int32, rows)
	previous := int32(0)
	for i, a := range r.ArrivalMS {
		if !math.IsNaN(a) && !math.IsInf(a, 0) {
			previous = int32(min(int((a-first)/(last-first)*float64(b.cells)), b.cells-1))
		}
		b.cell[i] = previous
	}
	return b
}

// rowBlocks cuts a trace without arrival times into runs of rows.
func rowBlocks(rows int) *blocks {
	b := &blocks{n: min(rows/(rowsPerBlock*perBlock), maxBlocks/perBlock)}
	if b.n < minGroups {
		b.why = fmt.Sprintf("the trace has %s and no arrival times, too few for %d blocks", format.Plural(int64(rows), "request"), minGroups)
		return b
	}
	b.cells = b.n * perBlock
	b.cell = make([]int32, rows)
	for i := range b.cell {
		b.cell[i] = int32(i * b.cells / rows)
	}
	return b
}

// name says what a block is: 60 s of arrivals.
func (b *blocks) name() string {
	if b.ms == 0 {
		return "neighbouring requests"
	}
	return fmt.Sprintf("%s s of arrivals", given(b.ms/1000))
}

// whole returns the blocks that make up the trace, and quarter those of one of
// its quarters.
func (b *blocks) whole() []int32 { return b.between(0, b.n) }

func (b *blocks) quarter(q int) []int32 { return b.between(q*b.n/4, (q+1)*b.n/4) }

func (b *blocks) between(from, to int) (list []int32) {
	for i := from; i < to; i++ {
		list = append(list, int32(i*perBlock))
	}
	return list
}
