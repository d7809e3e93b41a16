// Package metrics accumulates the latencies of a run the way Dynamo's replay
// reports them: exact moments and a logarithmic sketch for token gaps, exact
// order statistics for per-request latencies.
package metrics

import "math"

// msPerSecond turns a gap in ms into a rate per second.
const msPerSecond = 1000

// Gaps holds the two distributions over token gaps: the inter-token latency in
// ms and its inverse, the tokens per second a user sees. The zero value is
// empty and ready for use.
type Gaps struct {
	ITL  Dist // ms
	Rate Dist // tokens/s, gaps above 0 only

	shortest, longest float64 // of the gaps above 0, in ms
}

// AddGap adds one gap in ms; a negative one counts as 0.
func (g *Gaps) AddGap(ms float64) {
	if !(ms > 0) {
		g.ITL.Add(0)
		return
	}
	if g.shortest == 0 || ms < g.shortest {
		g.shortest = ms
	}
	g.longest = max(g.longest, ms)
	g.ITL.Add(ms)
	g.Rate.Add(msPerSecond / ms)
}

// AddTimes adds the len(times)-1 gaps between one request's token times, which
// are in ms and ascend. The moments depend on the order of the calls in their
// last digits; percentiles do not.
func (g *Gaps) AddTimes(times []float64) {
	for len(times) > 1 {
		if !g.ITL.literal() && !g.Rate.literal() {
			g.ITL.makeRoom(len(times))
			g.Rate.makeRoom(len(times))
			times = times[g.addPlain(times):]
			if len(times) < 2 {
				return
			}
		}
		g.AddGap(times[1] - times[0])
		times = times[1:]
	}
}

// addPlain does the work of AddGap for the leading gaps that are above 0, past
// the literal moments and in the tables of both sketches, and returns their
// number. It calls nothing, so that its state stays in registers: every
// simulated token passes here.
func (g *Gaps) addPlain(times []float64) int {
	shortest, longest := g.shortest, g.longest
	gapMean, rateMean := g.ITL.mean, g.Rate.mean
	var gapSum, gapSquares, rateSum, rateSquares float64
	gapCells, gapFirst := g.ITL.cells, g.ITL.first
	rateCells, rateFirst := g.Rate.cells, g.Rate.first
	n := 0
	prev := times[0]
	for _, t := range times[1:] {
		gap := t - prev
		rate := msPerSecond / gap
		gapBits, rateBits := math.Float64bits(gap), math.Float64bits(rate)
		i, j := gapBits>>cellShift-gapFirst, rateBits>>cellShift-rateFirst
		if i >= uint64(len(gapCells)) || j >= uint64(len(rateCells)) {
			break // zero and negative gaps too
		}
		c, d := &gapCells[i], &rateCells[j]
		if gapBits-c.bound+nearBound <= 2*nearBound || rateBits-d.bound+nearBound <= 2*nearBound {
			break
		}
		c.counts[(c.bound-gapBits)>>63]++
		d.counts[(d.bound-rateBits)>>63]++
		prev = t
		n++
		if gap < shortest {
			shortest = gap
		}
		if gap > longest {
			longest = gap
		}
		x, y := gap-gapMean, rate-rateMean
		gapSum += x
		gapSquares += float64(x * x)
		rateSum += y
		rateSquares += float64(y * y)
	}
	g.shortest, g.longest = shortest, longest
	g.ITL.bound(shortest, longest)
	g.Rate.bound(msPerSecond/longest, msPerSecond/shortest)
	g.ITL.addLater(int64(n), gapSum, gapSquares)
	g.Rate.addLater(int64(n), rateSum, rateSquares)
	return n
}
