package verdict

import (
	"math"

	"routesim/reports/sweepdata"
)

// The columns that are summed by block.
const (
	colBlocks = iota // 1 per block
	colRows
	colGood
	colInput  // prompt tokens
	colReused // KV blocks
	colTTFT
	colTTFTs // requests that have one
	colITL   // ms, per request
	colITLs
	colGap // ms, per token gap
	colGaps
	colE2E
	colE2Es
	columns
)

// The latencies whose distribution is kept by block.
const (
	famTTFT = iota
	famTPOT // a request's mean gap
	famE2E
	families
)

const (
	fineShift = 14                      // bits of a float32 dropped by a fine bin: 512 bins per octave
	fineBins  = 0x7f7fffff >> fineShift // all positive float32 but those near the greatest
	bodyBins  = 100                     // coarse bins that would hold all values
	spareBins = 24                      // coarse bins above the slowest of the first run
	spareStep = 64                      // fine bins in each: an eighth of an octave
	tailBins  = 400                     // the same for the slowest tenth, whose percentiles are of interest
)

// histogram counts values by coarse bin and block. A coarse bin is a run of fine
// bins with about as many values as each other one.
type histogram struct {
	low    int       // fine bin that the table begins with
	coarse []uint16  // by fine bin from low on; the last one stands for all above too
	edge   []float64 // ms, where each coarse bin begins, and the last one's end
	counts []int32   // [bin*cells+cell], later cumulated over bins and blocks
}

func fineBin(v float32) int {
	if !(v > 0) {
		return 0
	}
	return int(min(math.Float32bits(v)>>fineShift, fineBins-1))
}

func fineEdge(bin int) float64 {
	return float64(math.Float32frombits(uint32(bin) << fineShift))
}

// shape chooses the coarse bins after a sample of the values. fine is scratch.
func (h *histogram) shape(sample []float32, cells int, fine []int32) {
	low, high, total := fineBins, 0, 0
	for _, v := range sample {
		if v == v {
			low, high = min(low, fineBin(v)), max(high, fineBin(v))
			total++
		}
	}
	low = min(low, high)
	h.low, h.coarse = low, h.coarse[:0]
	clear(fine[low : high+1])
	for _, v := range sample {
		if v == v {
			fine[fineBin(v)]++
		}
	}
	h.edge = append(h.edge[:0], fineEdge(low))
	inBin, before := 0, 0
	for i := low; i <= high; i++ {
		quota := max(total/bodyBins, 1)
		if 10*before >= 9*total {
			quota = max(total/tailBins, 1)
		}
		if inBin >= quota {
			h.edge = append(h.edge, fineEdge(i))
			inBin = 0
		}
		h.coarse = append(h.coarse, uint16(len(h.edge)-1))
		inBin += int(fine[i])
		before += int(fine[i])
	}
	// Other runs may be slower.
	for i := high + 1; i <= high+spareBins*spareStep && i < fineBins; i++ {
		if (i-high-1)%spareStep == 0 {
			h.edge = append(h.edge, fineEdge(i))
		}
		h.coarse = append(h.coarse, uint16(len(h.edge)-1))
	}
	h.edge = append(h.edge, fineEdge(high+1+spareBins*spareStep))
	size := (len(h.edge) - 1) * cells
	if cap(h.counts) < size {
		h.counts = make([]int32, size)
	}
	h.counts = h.counts[:size]
	clear(h.counts)
}

func (h *histogram) bins() int { return len(h.edge) - 1 }

func (h *histogram) add(v float32, cell int32, cells int) {
	i := min(max(fineBin(v)-h.low, 0), len(h.coarse)-1)
	h.counts[int(h.coarse[i])*cells+int(cell)]++
}

// close turns the counts by bin and cell into counts up to a bin by block.
func (h *histogram) close(cells int, scratch []int32) {
	for i := cells; i < len(h.counts); i++ {
		h.counts[i] += h.counts[i-cells]
	}
	for b := range h.bins() {
		row := h.counts[b*cells : (b+1)*cells]
		copy(scratch, row)
		for c := range row {
			sum := int32(0)
			for k := range perBlock {
				sum += scratch[(c+k)%cells]
			}
			row[c] = sum
		}
	}
}

// quantile returns the value at rank p of some blocks together, between the
// ends of its bin in proportion; NaN where there are no values.
func (h *histogram) quantile(starts []int32, cells int, p float64) float64 {
	last := h.bins() - 1
	total := h.upTo(last, starts, cells)
	if total == 0 {
		return math.NaN()
	}
	rank := float64(p*float64(total-1)) + 0.5
	lo, hi := 0, last // the first bin with more than rank values up to it
	for lo < hi {
		mid := (lo + hi) / 2
		if float64(h.upTo(mid, starts, cells)) > rank {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	below := int64(0)
	if lo > 0 {
		below = h.upTo(lo-1, starts, cells)
	}
	in := h.upTo(lo, starts, cells) - below
	if in == 0 {
		return h.edge[lo]
	}
	return h.edge[lo] + float64((h.edge[lo+1]-h.edge[lo])*(rank-float64(below))/float64(in))
}

func (h *histogram) upTo(bin int, starts []int32, cells int) int64 {
	row := h.counts[bin*cells : (bin+1)*cells]
	sum := int64(0)
	for _, s := range starts {
		sum += int64(row[s])
	}
	return sum
}

// tally holds what a point's runs measured by block of traffic, all seeds
// together.
type tally struct {
	blocks *blocks
	hist   [families]histogram
	sums   [columns][]float64 // by cell, later by block
	fine   []int32            // scratch
	cells  []int32            // scratch
	floats []float64          // scratch
}

func newTally(b *blocks) *tally {
	t := &tally{blocks: b, fine: make([]int32, fineBins), cells: make([]int32, b.cells), floats: make([]float64, b.cells)}
	for i := range t.sums {
		t.sums[i] = make([]float64, b.cells)
	}
	return t
}

// start forgets the last point and fits the bins to the first run of the next.
func (t *tally) start(l *sweepdata.Latencies) {
	for i := range t.sums {
		clear(t.sums[i])
	}
	for f, values := range [families][]float32{l.TTFT, l.ITL, l.E2E} {
		t.hist[f].shape(values, t.blocks.cells, t.fine)
	}
}

// add counts a run.
func (t *tally) add(l *sweepdata.Latencies, r *sweepdata.Requests, sla *sweepdata.SLA) {
	n := t.blocks.cells
	for row, c := range t.blocks.cell {
		t.sums[colRows][c]++
		ttft, itl, e2e := l.TTFT[row], l.ITL[row], l.E2E[row]
		if ttft == ttft {
			t.hist[famTTFT].add(ttft, c, n)
			t.sums[colTTFT][c] += float64(ttft)
			t.sums[colTTFTs][c]++
		}
		if itl == itl {
			gaps := float64(max(r.OutputTokens[row]-1, 1))
			t.hist[famTPOT].add(itl, c, n)
			t.sums[colITL][c] += float64(itl)
			t.sums[colITLs][c]++
			t.sums[colGap][c] += float64(float64(itl) * gaps)
			t.sums[colGaps][c] += gaps
		}
		if e2e == e2e {
			t.hist[famE2E].add(e2e, c, n)
			t.sums[colE2E][c] += float64(e2e)
			t.sums[colE2Es][c]++
			t.sums[colInput][c] += float64(r.InputTokens[row])
			if reused := l.Reused[row]; reused == reused {
				t.sums[colReused][c] += float64(reused)
			}
			if meets(sla, ttft, itl, e2e) {
				t.sums[colGood][c]++
			}
		}
	}
}

// meets reports whether a completed request kept within every bound; one
// without token gaps cannot break that on ITL.
func meets(s *sweepdata.SLA, ttft, itl, e2e float32) bool {
	if s.TTFT > 0 && !(float64(ttft) <= s.TTFT) || s.E2E > 0 && !(float64(e2e) <= s.E2E) {
		return false
	}
	return !(s.ITL > 0 && float64(itl) > s.ITL)
}

// close sums the cells up to blocks.
func (t *tally) close() {
	for f := range t.hist {
		t.hist[f].close(t.blocks.cells, t.cells)
	}
	n := t.blocks.cells
	for _, sums := range t.sums {
		copy(t.floats, sums)
		for c := range sums {
			sum := 0.0
			for k := range perBlock {
				sum += t.floats[(c+k)%n]
			}
			sums[c] = sum
		}
	}
	for c := range t.sums[colBlocks] {
		t.sums[colBlocks][c] = 1
	}
}
