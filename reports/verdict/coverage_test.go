package verdict

import (
	"math"
	"testing"

	"routesim/reports/sweepdata"
)

// TestSeedsCoverage draws differences of known mean and counts how often the
// interval over seeds holds it.
func TestSeedsCoverage(t *testing.T) {
	const trials, resamples = 3000, 500
	source := stream(11)
	for _, n := range []int{6, 8, 12, 20} {
		d := newDraws(seedStream, resamples, n, n)
		covered, plain := 0, 0
		values := make([]float64, n)
		var scratch []float64
		for range trials {
			for i := range values {
				values[i] = 3 + gauss(&source)
			}
			scratch = resampled(values, &d, scratch)
			s := spreadOf(scratch, n)
			mean := meanOf(values)
			if i := s.around(mean); i.Lo <= 3 && 3 <= i.Hi {
				covered++
			}
			if f := stretch(n); mean-s.below/f <= 3 && 3 <= mean+s.above/f {
				plain++
			}
		}
		share, unstretched := 100*float64(covered)/trials, 100*float64(plain)/trials
		t.Logf("n = %d: %.1f %% covered, %.1f %% by the plain bootstrap", n, share, unstretched)
		if share < 93 || share > 97 {
			t.Errorf("n = %d: the interval covers %.1f %%, expected 93 to 97 %%", n, share)
		}
		if n == 6 && unstretched > 90 {
			t.Errorf("the plain bootstrap covers %.1f %%, expected to be too narrow", unstretched)
		}
	}
}

// hour is traffic of known kind: each request has a difficulty, of its own and
// of the minute it comes in, and the point gains more on difficult ones. The
// difficulty of traffic follows an autoregressive process with a memory of some
// minutes.
type hour struct {
	minutes int
	rows    int     // per minute, on average
	memory  float64 // correlation of one minute with the next
	strong  float64 // share of the minute in the difficulty
}

// difficulties of one hour's requests, by minute.
func (h hour) draw(s *stream) (arrivals, ttft, other []float64) {
	level := gauss(s)
	for m := range h.minutes {
		level = h.memory*level + math.Sqrt(1-h.memory*h.memory)*gauss(s)
		// Minutes also differ in how much comes in.
		n := max(1, int(float64(h.rows)*math.Exp(0.3*gauss(s))))
		for i := range n {
			d := math.Sqrt(h.strong)*level + math.Sqrt(1-h.strong)*gauss(s)
			base := 800 * math.Exp(0.5*d)
			arrivals = append(arrivals, 60_000*(float64(m)+float64(i)/float64(n)))
			ttft = append(ttft, base)
			other = append(other, base*(0.95-0.05*d)*math.Exp(0.1*gauss(s)))
		}
	}
	return arrivals, ttft, other
}

// interval of the relative difference of a percentile in one hour, with the
// difference itself.
func (h hour) interval(t *testing.T, s *stream, q *measure, draws *draws) (mean float64, i Interval) {
	t.Helper()
	arrivals, a, b := h.draw(s)
	r := sweepdata.Requests{ArrivalMS: append(arrivals, 60_000*float64(h.minutes)-0.001), InputTokens: make([]int32, len(a)+1), OutputTokens: make([]int32, len(a)+1)}
	bl := newBlocks(&r)
	if bl.why != "" || bl.n < h.minutes-1 || bl.n > h.minutes {
		t.Fatalf("found %d blocks (%s), expected about %d", bl.n, bl.why, h.minutes)
	}
	if draws.list == nil {
		*draws = newDraws(trafficStream, 200, bl.n, bl.cells)
	}
	clouds := [2][]float32{}
	whole := [2]float64{}
	for k, values := range [2][]float64{a, b} {
		l := latencies(append(values, math.NaN()))
		tl := newTally(bl)
		tl.start(l)
		tl.add(l, &r, &sweepdata.SLA{})
		tl.close()
		whole[k] = q.of(tl, bl.whole())
		for j := range draws.len() {
			clouds[k] = append(clouds[k], float32(q.of(tl, draws.at(j))))
		}
	}
	mean = Relative.diff(whole[1], whole[0])
	return mean, spreadOf(deviations(Relative, clouds[1], clouds[0], mean, nil), bl.n).around(mean)
}

func latencies(values []float64) *sweepdata.Latencies {
	l := &sweepdata.Latencies{}
	for _, v := range values {
		l.TTFT = append(l.TTFT, float32(v))
		l.ITL = append(l.ITL, float32(v))
		l.E2E = append(l.E2E, float32(v))
		l.Reused = append(l.Reused, 1)
	}
	return l
}

// TestTrafficCoverage draws many hours of traffic of the same kind and counts
// how often the interval of one of them holds the long-run difference. Blocks
// that begin anywhere cut a minute's load in two, so that a mean is covered too
// rarely; a percentile's own roughness makes up for that. What lasts for many
// minutes, blocks of one cannot see.
func TestTrafficCoverage(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates a thousand sweeps")
	}
	const trials = 120
	p90 := &measure{family: famTTFT, p: 0.9}
	mean := &measure{family: -1, num: colTTFT, den: colTTFTs}
	for _, c := range []struct {
		name   string
		h      hour
		q      *measure
		lo, hi float64 // accepted coverage in %
	}{
		{"p90, minutes independent", hour{60, 40, 0, 0.3}, p90, 93, 100},
		{"mean, minutes independent", hour{60, 40, 0, 0.3}, mean, 83, 97},
		{"p90, memory of a minute", hour{60, 40, 0.37, 0.3}, p90, 91, 100},
		{"p90, memory of five minutes", hour{60, 40, 0.82, 0.3}, p90, 73, 93},
		{"p90, ten blocks", hour{10, 100, 0, 0.3}, p90, 92, 100},
	} {
		source := stream(5)
		long := hour{20000, c.h.rows, c.h.memory, c.h.strong}
		truth := long.truth(&source, c.q)
		covered := 0
		var d draws
		for range trials {
			if _, i := c.h.interval(t, &source, c.q, &d); i.Lo <= truth && truth <= i.Hi {
				covered++
			}
		}
		share := 100 * float64(covered) / trials
		t.Logf("%s: %.1f %% covered (truth %.2f %%)", c.name, share, truth)
		if share < c.lo || share > c.hi {
			t.Errorf("%s: the interval covers %.1f %%, expected %g to %g %%", c.name, share, c.lo, c.hi)
		}
	}
}

// truth is the difference over very much traffic.
func (h hour) truth(s *stream, q *measure) float64 {
	_, a, b := h.draw(s)
	if q.family < 0 {
		return Relative.diff(meanOf(b), meanOf(a))
	}
	return Relative.diff(quantile(b, q.p), quantile(a, q.p))
}
