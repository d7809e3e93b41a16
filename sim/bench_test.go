package sim

import (
	"context"
	"fmt"
	"testing"

	"routesim/models"
	"routesim/sim/router"
	"routesim/workloads"
)

const conversation = "../testdata/traces/mooncake_conversation.jsonl.zst"

// BenchmarkRun replays the full conversation trace.
func BenchmarkRun(b *testing.B) {
	t, err := workloads.Open(conversation, workloads.Options{})
	if err != nil {
		b.Fatal(err)
	}
	timing, err := models.NewPolynomial(models.TimingOptions{CapacityTokens: 16384 * 64, SpeedupRatio: 1, DecodeSpeedupRatio: 1})
	if err != nil {
		b.Fatal(err)
	}
	for _, mode := range []router.Mode{router.KV, router.RoundRobin} {
		for _, workers := range []int{4, 8, 16, 64} {
			b.Run(fmt.Sprintf("router=%v/workers=%d", mode, workers), func(b *testing.B) {
				c := DefaultConfig(workers, timing)
				c.Router.Mode = mode
				passes := int64(0)
				b.ReportAllocs()
				for b.Loop() {
					r, err := Run(context.Background(), t, &c)
					if err != nil {
						b.Fatal(err)
					}
					passes = 0
					for _, w := range r.Workers {
						passes += w.Passes
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(passes), "ns/pass")
				b.ReportMetric(float64(t.Len())*float64(b.N)/b.Elapsed().Seconds(), "requests/s")
			})
		}
	}
}
