package router

import (
	"fmt"
	"testing"

	"routesim/sim/engine"
)

// BenchmarkDecision routes requests of 96 blocks, of which a third is shared,
// over workers with some load, and books and clears each.
func BenchmarkDecision(b *testing.B) {
	const shift, blocks, inFlight = 3, 96, 256
	var requests [4 * inFlight]Request
	for i := range requests {
		q := &requests[i]
		*q = Request{Row: int32(i), Tag: int32(i), ISL: blocks*64 + 10}
		for n := range uint32(blocks >> shift) {
			node := n // shared
			if n >= blocks>>shift/3 {
				node = uint32(i+1)*blocks + n
			}
			for k := range uint32(1 << shift) {
				q.Blocks = append(q.Blocks, node<<shift+k)
			}
		}
	}
	for _, workers := range []int{4, 16, 64, 256} {
		b.Run(fmt.Sprintf("workers=%d", workers), func(b *testing.B) {
			limits := make([]int32, workers)
			for i := range limits {
				limits[i] = 8192
			}
			r := New(DefaultParams(), Targets(limits...), 64, shift, 0)
			for i := range requests {
				r.Apply(int32(i%workers), []engine.Event{{Block: requests[i].Blocks[0], Count: 1 << shift, Stored: true}})
			}
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				q := &requests[i%len(requests)]
				if _, ok := r.Arrive(q, 0, -1); !ok {
					b.Fatal("queued")
				}
				r.PrefillDone(q)
				if i++; i > inFlight {
					r.Free(&requests[(i-1-inFlight)%len(requests)])
				}
			}
		})
	}
}
