package workloads

import (
	"bytes"
	"cmp"
	"math"
	"slices"
	"strconv"
)

// dynamoRow is one finished request of a Dynamo request trace.
type dynamoRow struct {
	start, end uint64 // ms since the epoch
	file, line int32
	input      int32 // tokens
	output     int32 // tokens
	blocks     int64 // where its block numbers begin in the slab
	name       int32 // number of its request id

	decodeRank, prefillRank     int32
	decodeWorker, prefillWorker uint64
	cached                      int64   // tokens
	ttft, itl, total            float64 // ms
}

// dynamoReader collects the rows of all shards. They are written in the order
// in which requests end, so nothing is final before the last one is read.
type dynamoReader struct {
	o     Options
	paths []string
	size  int32 // tokens per hash, 0 until the first row told
	rows  []dynamoRow
	slab  []uint32 // block numbers, ceil(input/size) per row
	ids   idTable
	names nameTable
	owner []int32 // row by name number
	d     decoder
	ev    dynamoEvent
}

func newDynamoReader(o Options, paths []string) *dynamoReader {
	return &dynamoReader{o: o, paths: paths, size: o.TraceBlockSize}
}

// read reads the rows of file number file.
func (r *dynamoReader) read(src *source, file int32) *Problem {
	for {
		line, p := src.next()
		if line == nil || p != nil {
			return p
		}
		p = r.d.decodeEvent(line, &r.ev)
		if p == nil && r.ev.kind == "request_end" {
			p = r.add(file, int32(src.line()))
		}
		if p = src.judge(p); p != nil {
			return p
		}
	}
}

// add checks the event read last and keeps it.
func (r *dynamoReader) add(file, line int32) *Problem {
	ev := &r.ev
	if p := ev.complete(); p != nil {
		return p
	}
	if p := r.checkBlockSize(ev.blockSize); p != nil {
		return p
	}
	if p := ev.checkLengths(); p != nil {
		return p
	}
	if len(r.rows) >= math.MaxInt32-1 || uint64(r.ids.n)+uint64(len(ev.hashes)) >= math.MaxUint32-1 {
		return &Problem{Found: "more rows or blocks than 32 bits can number", Want: "fewer (split the trace)", fatal: true}
	}
	name, fresh := r.names.intern(ev.id)
	if !fresh {
		first := r.rows[r.owner[name]]
		return &Problem{Field: "request.request_id", Found: strconv.Quote(string(ev.id)),
			Want: "a name that no other request has (it is also at " + r.paths[first.file] + ":" + strconv.Itoa(int(first.line)) +
				"; was a shard given twice?)"}
	}
	r.owner = append(room(r.owner, 1), int32(len(r.rows)))
	r.size = int32(ev.blockSize)
	row := ev.row
	row.file, row.line, row.name, row.blocks = file, line, name, int64(len(r.slab))
	row.input, row.output = int32(ev.input), int32(ev.output)
	row.start, row.end = ev.start(), ev.finish()
	r.rows = append(room(r.rows, 1), row)
	need := blocksFor(int64(ev.input), r.size)
	r.slab = room(r.slab, need)
	for _, h := range ev.hashes[:need] {
		r.slab = append(r.slab, r.ids.intern(h))
	}
	return nil
}

// checkBlockSize refuses a second block size in a trace.
func (r *dynamoReader) checkBlockSize(n uint64) *Problem {
	const field = "request.replay.trace_block_size"
	found := strconv.FormatUint(n, 10)
	switch {
	case n == 0 || n > math.MaxInt32:
		return &Problem{Field: field, Found: found, Want: "1 to 2147483647 tokens"}
	case r.size == 0 || uint64(r.size) == n:
		return nil
	case len(r.rows) == 0:
		return &Problem{Field: field, Found: found, fatal: true,
			Want: strconv.Itoa(int(r.size)) + ", the trace block size that was asked for (leave it out: the rows name their own)"}
	}
	return &Problem{Field: field, Found: found, fatal: true,
		Want: strconv.Itoa(int(r.size)) + ", the block size of the rows before (mixed block sizes are not supported)"}
}

// merge puts the rows of all shards into the order of their start, end and id,
// and returns them as a builder's trace; nil if there are none.
func (r *dynamoReader) merge() *Builder {
	if len(r.rows) == 0 {
		return nil
	}
	order := make([]int32, len(r.rows))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int {
		x, y := &r.rows[a], &r.rows[b]
		return cmp.Or(cmp.Compare(x.start, y.start), cmp.Compare(x.end, y.end),
			bytes.Compare(r.names.names.bytes(int(x.name)), r.names.names.bytes(int(y.name))))
	})
	b := NewBuilder(BuilderOptions{Format: FormatDynamo, File: r.paths[0], BlockSize: r.size})
	t := b.t
	n := len(order)
	t.files = r.paths
	t.line, t.arrival = make([]int32, n), make([]float64, n)
	t.isl, t.osl = make([]int32, n), make([]int32, n)
	t.nodes, t.nodeOff = make([]uint32, 0, len(r.slab)), make([]int64, 1, n+1)
	t.reqID = &textColumn{}
	if len(r.paths) > 1 {
		t.file = make([]int32, n)
	}
	t.recorded = newRecorded(n)
	first := r.rows[order[0]].start
	for i, at := range order {
		row := &r.rows[at]
		t.line[i], t.arrival[i] = row.line, float64(row.start-first)
		t.isl[i], t.osl[i] = row.input, row.output
		if t.file != nil {
			t.file[i] = row.file
		}
		t.reqID.add(r.names.names.bytes(int(row.name)))
		parent := root
		for _, block := range r.slab[row.blocks:][:blocksFor(int64(row.input), r.size)] {
			parent = b.in.nodes.intern(parent, block)
			t.nodes = append(t.nodes, parent-1)
		}
		t.nodeOff = append(t.nodeOff, int64(len(t.nodes)))
		t.recorded.set(i, row)
	}
	b.in.ids.n = r.ids.n
	return b
}

func newRecorded(n int) *Recorded {
	return &Recorded{
		DecodeWorker: make([]uint64, n), DecodeRank: make([]int32, n),
		PrefillWorker: make([]uint64, n), PrefillRank: make([]int32, n),
		CachedTokens: make([]int64, n), TTFTMS: make([]float64, n),
		AvgITLMS: make([]float64, n), TotalMS: make([]float64, n),
	}
}

func (c *Recorded) set(i int, r *dynamoRow) {
	c.DecodeWorker[i], c.DecodeRank[i] = r.decodeWorker, r.decodeRank
	c.PrefillWorker[i], c.PrefillRank[i] = r.prefillWorker, r.prefillRank
	c.CachedTokens[i], c.TTFTMS[i] = r.cached, r.ttft
	c.AvgITLMS[i], c.TotalMS[i] = r.itl, r.total
}
