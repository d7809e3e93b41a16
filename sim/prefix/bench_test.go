package prefix

import (
	"fmt"
	"testing"
)

const (
	benchShift  = 3  // blocks of 64 tokens in trace blocks of 512
	benchNodes  = 24 // trace blocks of a prompt: the mean of the conversation trace
	benchShared = 6  // leading ones that all prompts of a group share
	benchGroups = 100
	benchEach   = 10 // prompts of a group
)

// benchPrompts are prompts that share heads in groups.
func benchPrompts() [][]uint32 {
	var prompts [][]uint32
	next := uint32(0)
	for range benchGroups {
		head := next
		next += benchShared
		for range benchEach {
			var blocks []uint32
			for n := range uint32(benchNodes) {
				node := head + n
				if n >= benchShared {
					node = next
					next++
				}
				for b := range uint32(1 << benchShift) {
					blocks = append(blocks, node<<benchShift+b)
				}
			}
			prompts = append(prompts, blocks)
		}
	}
	return prompts
}

// store records that a worker holds a prompt, node by node.
func store(x *Index, worker int32, blocks []uint32) {
	for i := 0; i < len(blocks); i += 1 << benchShift {
		x.Set(worker, blocks[i], 1<<benchShift)
	}
}

// BenchmarkMatch looks up prompts of which every fourth worker holds some.
func BenchmarkMatch(b *testing.B) {
	prompts := benchPrompts()
	for _, workers := range []int{4, 16, 64, 256} {
		b.Run(fmt.Sprintf("workers=%d", workers), func(b *testing.B) {
			x := NewIndex(workers, benchShift)
			for i, p := range prompts {
				for w := i % 4; w < workers; w += 4 {
					store(x, int32(w), p)
				}
			}
			depth := make([]int32, workers)
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				x.Match(prompts[i%len(prompts)], depth)
				i++
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(benchNodes<<benchShift), "ns/block")
		})
	}
}

// BenchmarkStoreAndRemove stores prompts and removes the ones stored a while
// before, tail first, as a full cache does.
func BenchmarkStoreAndRemove(b *testing.B) {
	prompts := benchPrompts()
	x := NewIndex(16, benchShift)
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		w := int32(i % 16)
		store(x, w, prompts[i%len(prompts)])
		if i >= 500 {
			old := prompts[(i-500)%len(prompts)]
			w := int32((i - 500) % 16)
			for k := len(old) - 1<<benchShift; k >= 0; k -= 1 << benchShift {
				x.Clear(w, old[k], 1<<benchShift)
			}
		}
		i++
	}
}
