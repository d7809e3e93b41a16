package workloads

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/klauspost/compress/zstd"
)

const conversationTrace = "../testdata/traces/mooncake_conversation.jsonl.zst"

// BenchmarkOpen reads the whole conversation trace, plain and packed.
func BenchmarkOpen(b *testing.B) {
	plain, size := unpacked(b)
	for _, c := range []struct{ name, path string }{{"plain", plain}, {"zstd", conversationTrace}} {
		b.Run(c.name, func(b *testing.B) {
			rows := 0
			b.SetBytes(size)
			b.ReportAllocs()
			for b.Loop() {
				t, err := Open(c.path, Options{})
				if err != nil {
					b.Fatal(err)
				}
				rows = t.Len()
			}
			b.ReportMetric(float64(rows)*float64(b.N)/b.Elapsed().Seconds(), "requests/s")
		})
	}
}

// unpacked writes the conversation trace without compression and returns its
// path and size in bytes.
func unpacked(b *testing.B) (string, int64) {
	b.Helper()
	in, err := os.Open(conversationTrace)
	if err != nil {
		b.Fatal(err)
	}
	defer in.Close()
	z, err := zstd.NewReader(in)
	if err != nil {
		b.Fatal(err)
	}
	defer z.Close()
	path := filepath.Join(b.TempDir(), "conversation.jsonl")
	out, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	size, err := io.Copy(out, z)
	if err == nil {
		err = out.Close()
	}
	if err != nil {
		b.Fatal(err)
	}
	return path, size
}
