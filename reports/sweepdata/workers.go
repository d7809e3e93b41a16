package sweepdata

import (
	"context"
	"fmt"
	"strconv"

	"routesim/reports"
	"routesim/sim"
	"routesim/sim/engine"
	"routesim/workloads"
)

// SeriesBuckets is the number of buckets of a WorkerSeries.
const SeriesBuckets = 300

// WorkerSeries is what the workers of one run were doing over time, in buckets
// of equal length from the start of the run to its end.
type WorkerSeries struct {
	Width   float64 // of a bucket in ms; 0 where the run took no time
	Prefill int     // the first so many are ranks of the prefill pool; 0 = one pool
	Workers []Strip // by rank: of the prefill pool, then of the fleet
}

// Label names an entry of Workers: w0, w1, ... or, where there are two pools, p0,
// p1, ... for prefill and d0, d1, ... for decode.
func (s *WorkerSeries) Label(i int) string {
	pool := sim.DecodePool
	switch {
	case s.Prefill == 0:
		pool = sim.Aggregated
	case i < s.Prefill:
		pool = sim.PrefillPool
	default:
		i -= s.Prefill
	}
	return reports.Letter(pool) + strconv.Itoa(i)
}

// Strip is one rank of a worker over time, a value per bucket.
type Strip struct {
	KV      []float32 // active KV blocks as a share of the rank's, mean over the bucket
	Running []int32   // most requests in a batch
	Waiting []int32   // most requests left waiting by a batch
}

// Watch runs the trace under the configuration twice: once to find out how long
// the run takes, and once more to see what its workers do.
func Watch(ctx context.Context, t *workloads.Trace, c *sim.Config) (*WorkerSeries, *sim.Result, error) {
	first := *c
	first.Sampler, first.PrefillSampler, first.Progress = nil, nil, nil
	r, err := sim.Run(ctx, t, &first)
	if err != nil {
		return nil, nil, err
	}
	if r.Stopped && ctx.Err() != nil {
		return nil, nil, fmt.Errorf("workers over time: interrupted: %w", ctx.Err())
	}
	s := newSampling(c, r.EndMS)
	second := *c
	second.PrefillSampler = s.pass
	second.Sampler = func(rank int, p engine.Pass) { s.pass(s.out.Prefill+rank, p) }
	if r, err = sim.Run(ctx, t, &second); err != nil {
		return nil, nil, err
	}
	if ctx.Err() != nil {
		return nil, nil, fmt.Errorf("workers over time: interrupted: %w", ctx.Err())
	}
	return s.series(), r, nil
}

// sampling collects the passes of a run of known length.
type sampling struct {
	width    float64
	end      float64 // ms
	capacity []float64
	blockMS  [][]float64 // by entry and bucket: active KV blocks times ms
	out      *WorkerSeries
}

func newSampling(c *sim.Config, end float64) *sampling {
	s := &sampling{end: end, width: end / SeriesBuckets, out: &WorkerSeries{}}
	s.out.Width = s.width
	s.add(c.Prefill)
	s.out.Prefill = len(s.out.Workers)
	s.add(c.Fleet)
	return s
}

// add makes room for the ranks of a pool.
func (s *sampling) add(groups []sim.Group) {
	for i := range groups {
		for range groups[i].Count * groups[i].Ranks() {
			s.capacity = append(s.capacity, float64(groups[i].Engine.NumGPUBlocks))
			s.blockMS = append(s.blockMS, make([]float64, SeriesBuckets))
			s.out.Workers = append(s.out.Workers, Strip{
				KV: make([]float32, SeriesBuckets), Running: make([]int32, SeriesBuckets), Waiting: make([]int32, SeriesBuckets),
			})
		}
	}
}

// pass adds one pass of an entry of the series to the buckets it lies in.
func (s *sampling) pass(entry int, p engine.Pass) {
	if !(s.width > 0) {
		return
	}
	strip, sums := &s.out.Workers[entry], s.blockMS[entry]
	from, to := p.Start, min(p.End, s.end)
	for b := s.bucket(from); b < SeriesBuckets; b++ {
		strip.Running[b] = max(strip.Running[b], p.Running)
		strip.Waiting[b] = max(strip.Waiting[b], p.Waiting)
		edge := float64(b+1) * s.width
		if to <= edge || b == SeriesBuckets-1 {
			sums[b] += float64(float64(p.Blocks) * max(to-from, 0))
			return
		}
		sums[b] += float64(float64(p.Blocks) * max(edge-from, 0))
		from = edge
	}
}

func (s *sampling) bucket(at float64) int {
	return min(int(at/s.width), SeriesBuckets-1)
}

// series returns what was collected.
func (s *sampling) series() *WorkerSeries {
	if s.width > 0 {
		for w := range s.out.Workers {
			for b, sum := range s.blockMS[w] {
				s.out.Workers[w].KV[b] = float32(sum / s.width / s.capacity[w])
			}
		}
	}
	return s.out
}
