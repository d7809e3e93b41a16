package engine

import (
	"fmt"
	"testing"

	"routesim/models"
)

// benchBatch returns k requests of a prompt that nobody shares.
func benchBatch(k int, blockSize int32) []*Seq {
	batch := make([]*Seq, k)
	next := uint32(0)
	for i := range batch {
		s := &Seq{}
		s.Reset(int32(i), 1000, 1000)
		for range (s.Prompt + s.Output) / blockSize {
			s.Blocks = append(s.Blocks, next)
			next++
		}
		batch[i] = s
	}
	return batch
}

// BenchmarkBatch measures a batch of requests from their arrival to their end,
// with quiet passes in stretches and one by one.
func BenchmarkBatch(b *testing.B) {
	p := DefaultParams()
	timing, err := models.NewPolynomial(models.TimingOptions{CapacityTokens: 1 << 20, SpeedupRatio: 1, DecodeSpeedupRatio: 1})
	if err != nil {
		b.Fatal(err)
	}
	for _, plain := range []bool{false, true} {
		for _, k := range []int{1, 16, 128} {
			b.Run(fmt.Sprintf("plain=%v/batch=%d", plain, k), func(b *testing.B) {
				w := NewWorker(p, Options{Timing: timing, Shift: 3, PromptBlocks: 1 << 30, Plain: plain})
				batch, now := benchBatch(k, p.BlockSize), 0.0
				b.ReportAllocs()
				for b.Loop() {
					for i, s := range batch {
						blocks := s.Blocks
						s.Blocks = nil
						s.Reset(int32(i), 1000, 1000)
						s.Blocks = blocks
						w.Enqueue(s, now, false)
					}
					for w.HasWork() {
						if now, err = w.Start(now); err != nil {
							b.Fatal(err)
						}
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(w.Stats(now).Passes), "ns/pass")
			})
		}
	}
}

// BenchmarkPrefill measures whole requests of one output token on a pool that
// is full of earlier prompts, a third of each shared with the one before.
func BenchmarkPrefill(b *testing.B) {
	p := DefaultParams()
	timing, err := models.NewPolynomial(models.TimingOptions{CapacityTokens: 1 << 20, SpeedupRatio: 1, DecodeSpeedupRatio: 1})
	if err != nil {
		b.Fatal(err)
	}
	w := NewWorker(p, Options{Timing: timing, Shift: 3, PromptBlocks: 1<<32 - 1})
	w.Events.On = true
	const blocks = 96
	s, now, row := &Seq{}, 0.0, uint32(0)
	b.ReportAllocs()
	for b.Loop() {
		own := s.Blocks[:0]
		s.Reset(int32(row), blocks*p.BlockSize+10, 1)
		for i := range uint32(blocks) {
			first := row * blocks
			if i < blocks/3 {
				first = row / 8 * 8 * blocks
			}
			own = append(own, first+i)
		}
		s.Blocks = own
		w.Enqueue(s, now, false)
		for w.HasWork() {
			if now, err = w.Start(now); err != nil {
				b.Fatal(err)
			}
		}
		w.Events.Take(now)
		row++
	}
}
