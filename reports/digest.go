package reports

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"math"

	"routesim/sim"
	"routesim/workloads"
)

// rankOfWorker is the data-parallel rank of a decision: workers have one rank
// each.
const rankOfWorker = 0

// DecisionDigest returns the SHA-256 over the routing decisions of a run, in
// routing order. A decision is 20 bytes, little-endian: the request's row (32
// bits), the worker (32), the data-parallel rank (32) and the bits of the
// overlap in blocks that the router believed the worker to hold, as a binary64;
// 0 in round-robin mode. In disaggregated serving the worker is the one that
// decodes, the overlap that of the other, and the prefill worker follows (32).
func DecisionDigest(r *sim.Result) [32]byte {
	h := sha256.New()
	buf := make([]byte, 0, digestChunk+64)
	for _, row := range r.Routed {
		q := &r.Requests[row]
		overlap := q.Decision.Overlap
		if math.IsNaN(overlap) {
			overlap = 0
		}
		buf = binary.LittleEndian.AppendUint32(buf, uint32(row))
		buf = binary.LittleEndian.AppendUint32(buf, uint32(q.Worker))
		buf = binary.LittleEndian.AppendUint32(buf, rankOfWorker)
		buf = binary.LittleEndian.AppendUint64(buf, math.Float64bits(overlap))
		if r.Handoffs != nil {
			buf = binary.LittleEndian.AppendUint32(buf, uint32(r.Handoffs[row].PrefillWorker))
		}
		buf = flush(h, buf, digestChunk)
	}
	flush(h, buf, 0)
	return [32]byte(h.Sum(nil))
}

// digestChunk is the number of bytes collected before hashing them.
const digestChunk = 1 << 14

// flush hashes buf when it holds more than limit bytes and returns what is
// left.
func flush(h hash.Hash, buf []byte, limit int) []byte {
	if len(buf) <= limit {
		return buf
	}
	h.Write(buf)
	return buf[:0]
}

// TraceDigest returns the SHA-256 over what a trace says, whatever the file it
// was read from looks like. It starts with the block size (32 bits) and 1 or 0
// for delta prompts (32). A row is, little-endian: the bits of its arrival in
// ms (64), prompt and output tokens (32 each), session (32), turn (32), the
// bits of its delay in ms (64), priority jump and strict tier (32 each), the
// length and the bytes of its queue class, the number of its trace blocks (32)
// and the number of each, in order of first appearance (32); then the number of
// recorded output tokens (32) and the tokens (32 each).
func TraceDigest(t *workloads.Trace) [32]byte {
	h := sha256.New()
	le := binary.LittleEndian
	buf := make([]byte, 0, 2*digestChunk)
	buf = le.AppendUint32(buf, uint32(t.BlockSize()))
	delta := uint32(0)
	if t.Delta() {
		delta = 1
	}
	buf = le.AppendUint32(buf, delta)
	for i := range t.Len() {
		buf = le.AppendUint64(buf, canonical(t.Arrival(i)))
		buf = le.AppendUint32(buf, uint32(t.InputTokens(i)))
		buf = le.AppendUint32(buf, uint32(t.OutputTokens(i)))
		buf = le.AppendUint32(buf, uint32(t.Session(i)))
		buf = le.AppendUint32(buf, uint32(t.Turn(i)))
		buf = le.AppendUint64(buf, canonical(t.Delay(i)))
		jump, strict := t.Priority(i)
		buf = le.AppendUint32(buf, uint32(jump))
		buf = le.AppendUint32(buf, strict)
		class := t.PolicyClass(i)
		buf = le.AppendUint32(buf, uint32(len(class)))
		buf = append(buf, class...)
		for _, words := range [2][]uint32{blocksOf(t, i), t.OutputTokenIDs(i)} {
			buf = le.AppendUint32(buf, uint32(len(words)))
			for _, w := range words {
				buf = le.AppendUint32(buf, w)
			}
			buf = flush(h, buf, digestChunk)
		}
	}
	flush(h, buf, 0)
	return [32]byte(h.Sum(nil))
}

// blocksOf returns the trace blocks of row i by the ids that say the most.
func blocksOf(t *workloads.Trace, i int) []uint32 {
	if ids := t.BlockIDs(i); ids != nil {
		return ids
	}
	return t.Nodes(i)
}

// canonical returns the bits of v, the same for every NaN and for both zeros.
func canonical(v float64) uint64 {
	switch {
	case math.IsNaN(v):
		return math.MaxUint64
	case v == 0:
		return 0
	}
	return math.Float64bits(v)
}
