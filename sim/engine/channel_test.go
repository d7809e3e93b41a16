package engine

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// ends runs transfers through a channel of some clients and returns when each
// ends, by its number of blocks.
func ends(clients int, jobs ...job) map[int]float64 {
	c := newChannel(clients)
	for i := range jobs {
		j := jobs[i]
		j.blocks = make([]uint32, i+1)
		if j.own == 0 {
			j.own = math.Inf(1)
		}
		if j.shared == 0 {
			j.shared = math.Inf(1)
		}
		c.submit(&j)
	}
	got := map[int]float64{}
	c.advance(1e9, func(j *job) { got[len(j.blocks)] = j.end })
	return got
}

func TestChannelShares(t *testing.T) {
	for name, c := range map[string]struct {
		jobs []job
		want []float64
	}{
		"one alone":                     {[]job{{bytes: 100, own: 10}}, []float64{10}},
		"its first byte comes later":    {[]job{{bytes: 100, own: 10, ready: 3}}, []float64{13}},
		"two of one client":             {[]job{{bytes: 100, own: 10}, {bytes: 100, own: 10}}, []float64{20, 20}},
		"two clients have two links":    {[]job{{bytes: 100, own: 10}, {bytes: 100, own: 10, client: 1}}, []float64{10, 10}},
		"but share the channel":         {[]job{{bytes: 100, own: 10, shared: 10}, {bytes: 100, own: 10, shared: 10, client: 1}}, []float64{20, 20}},
		"reads and writes do not meet":  {[]job{{bytes: 100, own: 10}, {bytes: 100, own: 10, write: true}}, []float64{10, 10}},
		"the rest is faster":            {[]job{{bytes: 50, own: 10}, {bytes: 100, own: 10}}, []float64{10, 15}},
		"who waits takes nothing":       {[]job{{bytes: 100, own: 10}, {bytes: 10, own: 10, ready: 10}}, []float64{10, 11}},
		"no limit":                      {[]job{{bytes: 100, ready: 2}}, []float64{2}},
		"a share that nobody uses rots": {[]job{{bytes: 100, own: 2, shared: 20}, {bytes: 100, own: 50, shared: 20, client: 1}}, []float64{50, 10}},
	} {
		got := ends(2, c.jobs...)
		for i, want := range c.want {
			if got[i+1] != want {
				t.Errorf("%s: transfer %d ends at %v, expected %v", name, i, got[i+1], want)
			}
		}
	}
}

// TestChannelMovesAllBytes: whatever is submitted when, everything ends, nothing
// before its latency and its bytes at full rate, and never more is moved than the
// channel allows. Looking at it more often changes nothing but rounding.
func TestChannelMovesAllBytes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type offer struct {
			at float64
			job
		}
		var offers []offer
		at := 0.0
		shared := rapid.SampledFrom([]float64{5, 20, math.Inf(1)}).Draw(t, "shared")
		for range rapid.IntRange(1, 12).Draw(t, "jobs") {
			at += rapid.SampledFrom([]float64{0, 0, 0.5, 3, 40}).Draw(t, "pause")
			offers = append(offers, offer{at, job{
				client: rapid.Int32Range(0, 2).Draw(t, "client"), write: rapid.Bool().Draw(t, "write"), shared: shared,
				bytes: rapid.SampledFrom([]float64{1, 10, 33}).Draw(t, "bytes"), own: rapid.SampledFrom([]float64{1, 7, math.Inf(1)}).Draw(t, "own"),
				ready: at + rapid.SampledFrom([]float64{0, 0.1, 8}).Draw(t, "latency"),
			}})
		}
		run := func(peek bool) (ended []float64) {
			c := newChannel(3)
			ended = make([]float64, len(offers))
			done := func(j *job) { ended[len(j.blocks)] = j.end }
			for i, o := range offers {
				if peek {
					c.advance(c.now+(o.at-c.now)/3, done)
				}
				c.advance(o.at, done)
				j := o.job
				j.blocks = make([]uint32, i)
				c.submit(&j)
			}
			c.advance(1e6, done)
			if len(c.jobs) > 0 {
				t.Fatalf("%d transfers never end", len(c.jobs))
			}
			return ended
		}
		once, often := run(false), run(true)
		for i, o := range offers {
			if least := o.ready + o.bytes/min(o.own, shared); once[i] < least-1e-9 {
				t.Errorf("transfer %d ends at %v, not before %v", i, once[i], least)
			}
			if math.Abs(once[i]-often[i]) > 1e-6 {
				t.Errorf("transfer %d ends at %v, and at %v where the channel is looked at more often", i, once[i], often[i])
			}
		}
		if bytes := 0.0; !math.IsInf(shared, 1) {
			for _, o := range offers {
				if o.write {
					bytes += o.bytes
				}
			}
			if last := slices.Max(once); last < bytes/shared-1e-9 {
				t.Errorf("%v bytes are written by %v ms at %v bytes per ms", bytes, last, shared)
			}
		}
	})
}
