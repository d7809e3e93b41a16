package verdict

import (
	"math"
	"testing"

	"routesim/reports/sweepdata"
)

// BenchmarkJudge judges a grid of 11 by 9 points, 6 seeds of 12,031 requests.
func BenchmarkJudge(b *testing.B) {
	credits := axis(credit, "1", "0", "0.2", "0.4", "0.6", "0.8", "1", "1.2", "1.4", "1.6", "1.8", "2")
	scales := axis(scale, "1", "0.25", "0.5", "0.75", "1", "2", "4", "8", "12", "16")
	l := lab{
		axes: []sweepdata.Axis{credits, scales}, rows: 12031, seconds: 3537, seeds: 6, sla: sweepdata.SLA{TTFT: 2000, ITL: 40},
		of: func(v []string) effect { return effect{ttft: 1 + 0.01*math.Abs(numberOf(v[1])-8), noise: 0.005} },
	}
	s := l.sweep(b)
	kept := map[[2]uint64]*sweepdata.Latencies{}
	for p := range s.Points {
		for _, seed := range s.Seeds {
			kept[[2]uint64{uint64(p), seed}] = l.run(s, p, seed)
		}
	}
	s.Load = func(p int, seed uint64) (*sweepdata.Latencies, error) { return kept[[2]uint64{uint64(p), seed}], nil }
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Judge(s, Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
