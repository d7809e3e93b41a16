package reports

import (
	"io"
	"math/rand/v2"
	"testing"

	"routesim/sim"
	"routesim/workloads"
)

// large is a run of n completed requests on eight workers.
func large(b *testing.B, n int) (*workloads.Trace, *sim.Config, *sim.Result) {
	rng := rand.New(rand.NewPCG(1, 2))
	rows := make([]workloads.Row, n)
	requests := make([]sim.Request, n)
	for i := range rows {
		at := float64(i/3) * 900
		ids := make([]uint64, 24)
		for j := range ids {
			ids[j] = uint64(i*24 + j)
		}
		rows[i] = workloads.Row{Timestamp: at, InputLength: 24 * 512, OutputLength: 300, HashIDs: ids}
		first := at + 900*rng.Float64()
		q := done(at, at+30, first, first+7, first+300*(6+rng.Float64()), 24*512, 300, 512)
		q.Worker = int32(rng.IntN(8))
		q.Decision = sim.Decision{Cost: 9, MinCost: 9, Tied: 1, Overlap: 8, BestOverlap: 8, ChosenHeld: 8, BestHeld: 8, CeilingHeld: 8}
		requests[i] = q
	}
	r := build(8, requests...)
	for range n {
		times := []float64{0}
		for range 40 {
			times = append(times, times[len(times)-1]+5+3*rng.Float64())
		}
		r.Gaps.AddTimes(times)
	}
	return testTrace(b, rows...), testConfig(b, 8), r
}

func BenchmarkSummarize(b *testing.B) {
	trace, c, r := large(b, 12031)
	b.ReportAllocs()
	for b.Loop() {
		Summarize(trace, c, r)
	}
}

func BenchmarkTraceDigest(b *testing.B) {
	trace, _, _ := large(b, 12031)
	for b.Loop() {
		TraceDigest(trace)
	}
}

func BenchmarkWriteSummary(b *testing.B) {
	s := Summarize(large(b, 12031))
	for b.Loop() {
		if err := s.Write(io.Discard); err != nil {
			b.Fatal(err)
		}
	}
}
