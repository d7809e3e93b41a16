package sweepdata

import (
	"context"
	"fmt"
	"math"
	"testing"
	"time"

	"routesim/models"
	"routesim/sim"
	"routesim/sim/engine"
	"routesim/workloads"
)

func conversation(t testing.TB) *workloads.Trace {
	t.Helper()
	trace, err := workloads.Open("../../testdata/traces/mooncake_conversation.jsonl.zst", workloads.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return trace
}

func fleet(t testing.TB, workers int) *sim.Config {
	t.Helper()
	timing, err := models.NewPolynomial(models.TimingOptions{CapacityTokens: 16384 * 64, SpeedupRatio: 1, DecodeSpeedupRatio: 1})
	if err != nil {
		t.Fatal(err)
	}
	c := sim.DefaultConfig(workers, timing)
	return &c
}

// TestSeriesAgreesWithTotals compares what the buckets add up to with the
// totals that the simulator keeps without them.
func TestSeriesAgreesWithTotals(t *testing.T) {
	if testing.Short() {
		t.Skip("replays an hour of traffic nine times; run without -short")
	}
	trace := conversation(t)
	for _, c := range []*sim.Config{fleet(t, 8), fleet(t, 3), closedLoop(t)} {
		start := time.Now()
		s, watched, err := Watch(context.Background(), trace, c)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%d workers: %v", c.Workers(), time.Since(start))
		plain, err := sim.Run(context.Background(), trace, c)
		if err != nil {
			t.Fatal(err)
		}
		if watched.TokenDigest != plain.TokenDigest {
			t.Error("a watched run differs from one that is not")
		}
		if len(s.Workers) != c.Workers() || math.Abs(s.Width*SeriesBuckets-plain.EndMS) > 1e-6*plain.EndMS {
			t.Fatalf("found %d workers and buckets of %v ms", len(s.Workers), s.Width)
		}
		for w := range s.Workers {
			checkStrip(t, &s.Workers[w], &plain.Workers[w], float64(c.Fleet[0].Engine.NumGPUBlocks))
		}
	}
}

func closedLoop(t *testing.T) *sim.Config {
	c := fleet(t, 2)
	c.Concurrency = 40
	c.Fleet[0].Engine.NumGPUBlocks = 4000 // preempts
	end := 400000.0
	c.MaxSimTimeMS = &end
	return c
}

func checkStrip(t *testing.T, s *Strip, w *sim.Worker, capacity float64) {
	t.Helper()
	sum, top := 0.0, float32(0)
	var running, waiting int32
	for b := range s.KV {
		sum += float64(s.KV[b])
		top = max(top, s.KV[b])
		running, waiting = max(running, s.Running[b]), max(waiting, s.Waiting[b])
	}
	if got := sum / SeriesBuckets * capacity; math.Abs(got-w.MeanBlocks) > 1e-4*w.MeanBlocks {
		t.Errorf("mean KV blocks: found %v, expected %v", got, w.MeanBlocks)
	}
	if float64(top)*capacity > float64(w.PeakBlocks)*(1+1e-6) || top <= 0 {
		t.Errorf("a mean of %v blocks, but never more than %d", float64(top)*capacity, w.PeakBlocks)
	}
	if running != w.PeakRunning {
		t.Errorf("most running: found %d, expected %d", running, w.PeakRunning)
	}
	if waiting > w.PeakWaiting {
		t.Errorf("most waiting: found %d, expected at most %d", waiting, w.PeakWaiting)
	}
}

// TestPassesAgreeWithRequests adds up the passes of each worker and compares
// with what its requests recorded: time in the batch, and who waits when.
func TestPassesAgreeWithRequests(t *testing.T) {
	trace, c := conversation(t), fleet(t, 4)
	passes := make([][]engine.Pass, c.Workers())
	c.Sampler = func(w int, p engine.Pass) { passes[w] = append(passes[w], p) }
	r, err := sim.Run(context.Background(), trace, c)
	if err != nil {
		t.Fatal(err)
	}
	inBatch := make([]float64, c.Workers())
	byWorker := make([][]*sim.Request, c.Workers())
	for i := range r.Requests {
		q := &r.Requests[i]
		if q.Admissions > 1 {
			t.Fatal("found a preempted request, expected none in this run")
		}
		inBatch[q.Worker] += q.Terminal - q.FirstAdmit
		byWorker[q.Worker] = append(byWorker[q.Worker], q)
	}
	waits := 0
	for w, all := range passes {
		if got := int64(len(all)); got != r.Workers[w].Passes {
			t.Errorf("worker %d: told of %d passes, expected %d", w, got, r.Workers[w].Passes)
		}
		sum, last := 0.0, 0.0
		for i, p := range all {
			sum += float64(p.Running) * (p.End - p.Start)
			if p.Start < last || p.End < p.Start {
				t.Fatalf("worker %d: a pass from %v to %v after %v", w, p.Start, p.End, last)
			}
			last = p.End
			if i%9973 != 0 && (p.Waiting == 0 || i%97 != 0) {
				continue
			}
			want := int32(0)
			for _, q := range byWorker[w] {
				if q.Dispatched <= p.Start && q.FirstAdmit > p.Start {
					want++
				}
			}
			waits += int(want)
			if p.Waiting != want {
				t.Fatalf("worker %d at %v ms: %d wait, expected %d", w, p.Start, p.Waiting, want)
			}
		}
		if math.Abs(sum-inBatch[w]) > 1e-6*inBatch[w] {
			t.Errorf("worker %d: %v ms in batches, expected %v", w, sum, inBatch[w])
		}
	}
	if waits == 0 {
		t.Error("nobody waited in the passes looked at")
	}
}

func TestWatchOfNothing(t *testing.T) {
	c := fleet(t, 2)
	end := -1.0
	c.MaxSimTimeMS = &end
	s, _, err := Watch(context.Background(), conversation(t), c)
	if err != nil {
		t.Fatal(err)
	}
	if s.Width != 0 || len(s.Workers) != 2 || s.Workers[1].KV[299] != 0 {
		t.Errorf("found buckets of %v ms of %d workers", s.Width, len(s.Workers))
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, _, err := Watch(ctx, conversation(t), fleet(t, 2)); err == nil {
		t.Error("interrupted: found no error")
	}
}

func BenchmarkWatch(b *testing.B) {
	trace, c := conversation(b), fleet(b, 8)
	for b.Loop() {
		if _, _, err := Watch(context.Background(), trace, c); err != nil {
			b.Fatal(err)
		}
	}
}

// TestSeriesOfPools compares the strips of pools of every shape, and of
// data-parallel ranks, with the totals that each rank has of its own.
func TestSeriesOfPools(t *testing.T) {
	trace := conversation(t)
	for _, k := range []struct{ prefill, decode, prefillRanks, decodeRanks int }{
		{2, 1, 1, 1}, {3, 2, 1, 1}, {1, 3, 1, 1}, {2, 2, 1, 1}, {2, 1, 2, 1}, {1, 2, 1, 2}, {0, 2, 1, 2},
	} {
		c := fleet(t, k.decode)
		end := 60000.0
		c.MaxSimTimeMS = &end
		c.Fleet[0].Engine.DPSize = int32(k.decodeRanks)
		if k.prefill > 0 {
			pool := fleet(t, k.prefill).Fleet[0]
			pool.Engine.DPSize, pool.Engine.NumGPUBlocks = int32(k.prefillRanks), pool.Engine.NumGPUBlocks/2
			c.Prefill = []sim.Group{pool}
		}
		s, r, err := Watch(context.Background(), trace, c)
		if err != nil {
			t.Fatalf("%+v: %v", k, err)
		}
		if s.Prefill != k.prefill*k.prefillRanks || len(s.Workers) != s.Prefill+k.decode*k.decodeRanks {
			t.Fatalf("%+v: found %d strips, %d of prefill", k, len(s.Workers), s.Prefill)
		}
		for i := range s.Prefill {
			if got, want := s.Label(i), fmt.Sprintf("p%d", i); got != want {
				t.Errorf("%+v: found the label %s, expected %s", k, got, want)
			}
			checkPoolStrip(t, &s.Workers[i], &r.Prefill[i])
		}
		letter := "w"
		if k.prefill > 0 {
			letter = "d"
		}
		for i := range r.Workers {
			if got, want := s.Label(s.Prefill+i), fmt.Sprintf("%s%d", letter, i); got != want {
				t.Errorf("%+v: found the label %s, expected %s", k, got, want)
			}
			checkPoolStrip(t, &s.Workers[s.Prefill+i], &r.Workers[i])
		}
	}
}

// checkPoolStrip compares the peak of a strip with its own rank's. Blocks come
// free between the passes of a pool's worker, so that means differ.
func checkPoolStrip(t *testing.T, s *Strip, w *sim.Worker) {
	t.Helper()
	running, busy := int32(0), false
	for b := range s.KV {
		running, busy = max(running, s.Running[b]), busy || s.KV[b] > 0
	}
	if running != w.PeakRunning || busy != (w.Passes > 0) {
		t.Errorf("found at most %d requests running and busy %v, expected %d in %d passes", running, busy, w.PeakRunning, w.Passes)
	}
}
