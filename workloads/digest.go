package workloads

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"math"
)

// Digest returns the SHA-256, in hexadecimal, of everything in the trace that
// can change a run: arrivals, lengths, prompts as interned, turns with their
// delays, queue fields and generated tokens. The file's name, its format, line
// numbers, the names of requests and sessions, recorded outcomes, and how hash
// ids are spelled do not enter.
func (t *Trace) Digest() string {
	d := digester{h: sha256.New(), buf: make([]byte, 0, 32<<10)}
	d.text("routesim trace 1")
	d.word(uint64(t.Len()))
	d.word(uint64(t.blockSize))
	d.flag(t.delta)
	for _, x := range t.arrival {
		d.float(x)
	}
	halves(&d, t.isl)
	halves(&d, t.osl)
	halves(&d, t.nodes)
	d.flag(t.MultiTurn())
	if t.MultiTurn() {
		halves(&d, t.sessions.session)
		for _, x := range t.sessions.delay {
			d.float(x)
		}
	}
	d.queue(t.queue)
	d.flag(t.outputs != nil)
	if t.outputs != nil {
		for _, at := range t.outputs.off {
			d.word(uint64(at))
		}
		halves(&d, t.outputs.tokens)
	}
	halves(&d, t.ids)
	d.route(t.route)
	d.prefillRoute(t.prefillRoute)
	d.taints(t.taints)
	d.parents(t.parents)
	d.flush()
	return hex.EncodeToString(d.h.Sum(nil))
}

// digester feeds values to a hash in little-endian form. Lengths come before
// variable parts, so different traces never feed the same bytes.
type digester struct {
	h   hash.Hash
	buf []byte
}

func (d *digester) flush() {
	d.h.Write(d.buf)
	d.buf = d.buf[:0]
}

func (d *digester) room() {
	if len(d.buf)+8 > cap(d.buf) {
		d.flush()
	}
}

func (d *digester) word(x uint64) {
	d.room()
	d.buf = binary.LittleEndian.AppendUint64(d.buf, x)
}

// halves feeds a column of 32-bit values, a buffer at a time.
func halves[T ~int32 | ~uint32](d *digester, xs []T) {
	for len(xs) > 0 {
		d.room()
		at := len(d.buf)
		n := min(len(xs), (cap(d.buf)-at)/4)
		d.buf = d.buf[:at+4*n]
		for i, x := range xs[:n] {
			binary.LittleEndian.PutUint32(d.buf[at+4*i:], uint32(x))
		}
		xs = xs[n:]
	}
}

func (d *digester) float(x float64) {
	if math.IsNaN(x) {
		x = NoTime // absent times are one value, whatever their bits
	}
	d.word(math.Float64bits(x + 0))
}

func (d *digester) flag(b bool) {
	d.room()
	x := byte(0)
	if b {
		x = 1
	}
	d.buf = append(d.buf, x)
}

func (d *digester) text(s string) {
	d.word(uint64(len(s)))
	d.flush()
	d.h.Write([]byte(s))
}

func (d *digester) queue(q *queueColumns) {
	d.flag(q != nil)
	if q == nil {
		return
	}
	halves(d, q.priority)
	halves(d, q.strict)
	halves(d, q.class)
	d.word(uint64(len(q.names)))
	for _, name := range q.names {
		d.text(name)
	}
}
