package sweepdata

import (
	"context"
	"fmt"

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
	Workers []Strip // by worker
}

// Strip is one worker over time, a value per bucket.
type Strip struct {
	KV      []float32 // active KV blocks as a share of the worker's, mean over the bucket
	Running []int32   // most requests in a batch
	Waiting []int32   // most requests left waiting by a batch
}

// Watch runs the trace under the configuration twice: once to find out how long
// the run takes, and once more to see what its workers do.
func Watch(ctx context.Context, t *workloads.Trace, c *sim.Config) (*WorkerSeries, *sim.Result, error) {
	first := *c
	first.Sampler, first.Progress = nil, nil
	r, err := sim.Run(ctx, t, &first)
	if err != nil {
		return nil, nil, err
	}
	if r.Stopped && ctx.Err() != nil {
		return nil, nil, fmt.Errorf("workers over time: interrupted: %w", ctx.Err())
	}
	s := newSampling(c, r.EndMS)
	second := *c
	second.Sampler = s.pass
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
	blockMS  [][]float64 // by worker and bucket: active KV blocks times ms
	out      *WorkerSeries
}

func newSampling(c *sim.Config, end float64) *sampling {
	s := &sampling{end: end, width: end / SeriesBuckets, out: &WorkerSeries{}}
	s.out.Width = s.width
	for i := range c.Fleet {
		for range c.Fleet[i].Count {
			s.capacity = append(s.capacity, float64(c.Fleet[i].Engine.NumGPUBlocks))
			s.blockMS = append(s.blockMS, make([]float64, SeriesBuckets))
			s.out.Workers = append(s.out.Workers, Strip{
				KV: make([]float32, SeriesBuckets), Running: make([]int32, SeriesBuckets), Waiting: make([]int32, SeriesBuckets),
			})
		}
	}
	return s
}

// pass adds one pass to the buckets it lies in.
func (s *sampling) pass(worker int, p engine.Pass) {
	if !(s.width > 0) {
		return
	}
	strip, sums := &s.out.Workers[worker], s.blockMS[worker]
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
