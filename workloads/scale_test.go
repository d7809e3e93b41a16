package workloads

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/metrics"
	"strconv"
	"testing"
	"time"
)

// writeRepeated writes a trace n times in a row as Mooncake JSONL, each time
// with fresh hash ids and after the end of the time before. Spread ids fill
// all 64 bits.
func writeRepeated(w io.Writer, t *Trace, n int, spread bool) error {
	b := bufio.NewWriterSize(w, 1<<20)
	span := t.Stats().SpanMS + 3000
	var line []byte
	for copied := range n {
		for i := range t.Len() {
			line = append(line[:0], `{"timestamp": `...)
			line = strconv.AppendFloat(line, t.Arrival(i)+float64(span*float64(copied)), 'f', -1, 64)
			line = append(line, `, "input_length": `...)
			line = strconv.AppendInt(line, int64(t.InputTokens(i)), 10)
			line = append(line, `, "output_length": `...)
			line = strconv.AppendInt(line, int64(t.OutputTokens(i)), 10)
			line = append(line, `, "hash_ids": [`...)
			for j, node := range t.Nodes(i) {
				if j > 0 {
					line = append(line, ", "...)
				}
				id := uint64(copied)*uint64(t.NumNodes()) + uint64(node)
				if spread {
					id = mix(id)
				}
				line = strconv.AppendUint(line, id, 10)
			}
			line = append(line, "]}\n"...)
			if _, err := b.Write(line); err != nil {
				return err
			}
		}
	}
	return b.Flush()
}

// TestRepeated: a repeated trace is the trace, so many times.
func TestRepeated(t *testing.T) {
	small, err := FromRows(BuilderOptions{BlockSize: 4},
		Row{Timestamp: 2, HashIDs: []uint64{7, 8}}, Row{Timestamp: 5, InputLength: 5, HashIDs: []uint64{7, 9}})
	if err != nil {
		t.Fatal(err)
	}
	for _, spread := range []bool{false, true} {
		r, w := io.Pipe()
		go func() { w.CloseWithError(writeRepeated(w, small, 3, spread)) }()
		got, err := Open("-", Options{Stdin: r, TraceBlockSize: 4})
		if err != nil {
			t.Fatal(err)
		}
		checkTrace(t, got)
		if s := fmt.Sprint(got.Len(), got.NumNodes(), got.Nodes(5), got.Arrival(5), got.InputTokens(4)); s != "6 9 [6 8] 6011 8" {
			t.Error(s)
		}
	}
}

// BenchmarkOpenRepeated reads the conversation trace a hundred times over, from
// a file and from a pipe, whose length is not known. peak-MB is the highest
// heap on the way, kept-B/request what the trace holds in the end.
func BenchmarkOpenRepeated(b *testing.B) {
	const copies = 100
	t, err := Open(conversationTrace, Options{})
	if err != nil {
		b.Fatal(err)
	}
	for _, c := range []struct {
		name          string
		spread, piped bool
	}{
		{"ids counted up, file", false, false},
		{"ids counted up, pipe", false, true},
		{"64-bit ids, file", true, false},
		{"64-bit ids, pipe", true, true},
	} {
		b.Run(c.name, func(b *testing.B) {
			path := filepath.Join(b.TempDir(), "trace.jsonl")
			f, err := os.Create(path)
			if err != nil {
				b.Fatal(err)
			}
			if err := writeRepeated(f, t, copies, c.spread); err != nil {
				b.Fatal(err)
			}
			if err := f.Close(); err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				openMeasured(b, path, c.piped)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*copies*t.Len()), "ns/request")
		})
	}
}

// openMeasured opens a trace and reports the memory that took.
func openMeasured(b *testing.B, path string, piped bool) {
	o := Options{}
	if piped {
		f, err := os.Open(path)
		if err != nil {
			b.Fatal(err)
		}
		defer f.Close()
		path, o.Stdin = "-", f
	}
	runtime.GC()
	before := heapBytes()
	peak, stop := make(chan uint64), make(chan struct{})
	go func() {
		most := uint64(0)
		for {
			select {
			case <-stop:
				peak <- most
				return
			case <-time.After(time.Millisecond):
				most = max(most, heapBytes())
			}
		}
	}()
	t, err := Open(path, o)
	if err != nil {
		b.Fatal(err)
	}
	close(stop)
	b.ReportMetric(float64(<-peak-before)/1e6, "peak-MB")
	runtime.GC()
	b.ReportMetric(float64(heapBytes()-before)/float64(t.Len()), "kept-B/request")
	runtime.KeepAlive(t)
}

// heapBytes returns the bytes of live and not yet collected objects.
func heapBytes() uint64 {
	s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

func BenchmarkDigest(b *testing.B) {
	t, err := Open(conversationTrace, Options{})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		t.Digest()
	}
}
