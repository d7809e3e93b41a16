package gate

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/klauspost/compress/zstd"

	"routesim/sim/router"
)

// A file of decisions is one zstd frame over the text below, then for each run
// the scenario's name, the seed and the columns of its Record. Whole numbers
// are varints; a float is a varint in steps of 1/4096 where it is one exactly,
// else its bits.
const recordsMagic = "routesim gate decisions 1\n"

// pooledMagic begins a file with prefill workers. Each of its records ends with
// 1 and the prefill worker of every decision, or with 0 where none were kept.
// Only suites with pools have such files, so that those of others stay as they
// are.
const pooledMagic = "routesim gate decisions 2\n"

// mostRecords bounds the size of an unpacked file of decisions, in bytes.
const mostRecords = 1 << 30

// WriteDecisions writes the records of a baseline. Equal records give equal
// bytes.
func WriteDecisions(w io.Writer, outcomes []Outcome) error {
	z, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedBestCompression))
	if err != nil {
		return err
	}
	if _, err := z.Write(packRecords(outcomes)); err != nil {
		return err
	}
	return z.Close()
}

// DecisionsDigest identifies the records of a baseline, whatever their packing.
func DecisionsDigest(outcomes []Outcome) string { return digestOf(packRecords(outcomes)) }

func digestOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16])
}

func packRecords(outcomes []Outcome) []byte {
	pooled := anyPrefill(outcomes)
	b := []byte(recordsMagic)
	if pooled {
		b = []byte(pooledMagic)
	}
	for i := range outcomes {
		for j := range outcomes[i].Runs {
			r := &outcomes[i].Runs[j]
			if r.Record == nil {
				continue
			}
			b = binary.AppendUvarint(b, uint64(len(outcomes[i].Name)))
			b = append(b, outcomes[i].Name...)
			b = binary.AppendUvarint(b, r.Seed)
			b = r.Record.pack(b)
			if pooled {
				b = r.Record.packPrefill(b)
			}
		}
	}
	return b
}

// anyPrefill reports whether prefill workers were kept of a run.
func anyPrefill(outcomes []Outcome) bool {
	return slices.ContainsFunc(outcomes, func(o Outcome) bool {
		return slices.ContainsFunc(o.Runs, func(r Run) bool { return r.Record != nil && r.Record.Prefill != nil })
	})
}

func (r *Record) packPrefill(b []byte) []byte {
	if r.Prefill == nil {
		return binary.AppendUvarint(b, 0)
	}
	b = binary.AppendUvarint(b, 1)
	for _, w := range r.Prefill {
		b = binary.AppendVarint(b, int64(w))
	}
	return b
}

func (r *Record) pack(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(len(r.Rows)))
	last := int32(0)
	for _, row := range r.Rows {
		b = binary.AppendVarint(b, int64(row-last))
		last = row
	}
	for _, w := range r.Workers {
		b = binary.AppendVarint(b, int64(w))
	}
	for _, o := range r.Overlaps {
		b = packFloat(b, o)
	}
	b = binary.AppendUvarint(b, uint64(r.Fleet))
	b = binary.AppendUvarint(b, uint64(len(r.Costs)))
	for _, term := range terms() {
		for i := range r.Costs {
			b = packFloat(b, *term(&r.Costs[i]))
		}
	}
	for i := range r.Costs {
		if t := &r.Costs[i]; t.Cost == sumOf(t) {
			b = append(b, 0)
		} else { // a policy whose terms do not add up
			b = binary.LittleEndian.AppendUint64(append(b, 1), math.Float64bits(t.Cost))
		}
	}
	for _, column := range [][]float32{r.TTFT, r.TPOT, r.E2E} {
		b = binary.AppendUvarint(b, uint64(len(column)))
		for _, v := range column {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
		}
	}
	return b
}

// sumOf adds up the terms of a cost as the router does.
func sumOf(t *router.Terms) float64 { return (t.Prefill + t.Decode) + t.Request }

// terms are the parts of a cost.
func terms() []func(*router.Terms) *float64 {
	return []func(*router.Terms) *float64{
		func(t *router.Terms) *float64 { return &t.Prefill },
		func(t *router.Terms) *float64 { return &t.Credit },
		func(t *router.Terms) *float64 { return &t.Decode },
		func(t *router.Terms) *float64 { return &t.Request },
	}
}

// step is the fraction in which exact floats are counted.
const step = 4096

func packFloat(b []byte, v float64) []byte {
	if n := v * step; n == math.Trunc(n) && math.Abs(n) < 1<<50 && !(n == 0 && math.Signbit(n)) {
		return binary.AppendVarint(b, int64(n)<<1)
	}
	b = binary.AppendVarint(b, 1)
	return binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
}

// ReadDecisions reads a file of decisions into the runs of the baseline that it
// belongs to, and fails unless it is the one that the baseline names.
func (b *Baseline) ReadDecisions(packed []byte) error {
	z, err := zstd.NewReader(bytes.NewReader(packed), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(mostRecords))
	if err != nil {
		return err
	}
	defer z.Close()
	text, err := io.ReadAll(io.LimitReader(z, mostRecords))
	if err != nil {
		return fmt.Errorf("found a damaged file (%w), expected one that routesim gate --update wrote", err)
	}
	if got := digestOf(text); got != b.Decisions {
		return fmt.Errorf("found decisions of the digest %s, expected %s, those of the baseline", got, b.Decisions)
	}
	return unpackRecords(text, func(name string, seed uint64, r *Record) {
		for i := range b.Outcomes {
			for j := range b.Outcomes[i].Runs {
				if run := &b.Outcomes[i].Runs[j]; b.Outcomes[i].Name == name && run.Seed == seed {
					run.Record = r
				}
			}
		}
	})
}

// unpackRecords calls f for every record of an unpacked file.
func unpackRecords(text []byte, f func(name string, seed uint64, r *Record)) error {
	rest, ok := bytes.CutPrefix(text, []byte(recordsMagic))
	pooled := false
	if !ok {
		rest, pooled = bytes.CutPrefix(text, []byte(pooledMagic))
	}
	if !ok && !pooled {
		return fmt.Errorf("found no %q at its beginning, expected a file that routesim gate --update wrote", recordsMagic[:len(recordsMagic)-1])
	}
	u := &unpacker{rest: rest}
	for len(u.rest) > 0 && !u.bad {
		name := string(u.take(u.length(1)))
		seed := u.uvarint()
		r := u.record()
		if pooled {
			u.prefill(r)
		}
		if !u.bad {
			f(name, seed, r)
		}
	}
	if u.bad {
		return fmt.Errorf("found a record that ends early, expected a file that routesim gate --update wrote")
	}
	return nil
}

// unpacker reads what pack wrote. Once something is wrong it reads zeros.
type unpacker struct {
	rest []byte
	bad  bool
}

func (u *unpacker) uvarint() uint64 {
	v, n := binary.Uvarint(u.rest)
	if n <= 0 {
		u.bad, u.rest = true, nil
		return 0
	}
	u.rest = u.rest[n:]
	return v
}

func (u *unpacker) varint() int64 {
	v, n := binary.Varint(u.rest)
	if n <= 0 {
		u.bad, u.rest = true, nil
		return 0
	}
	u.rest = u.rest[n:]
	return v
}

// length reads a number of things of at least size bytes each that follow.
func (u *unpacker) length(size int) int {
	n := u.uvarint()
	if n > uint64(len(u.rest)/size) {
		u.bad, u.rest = true, nil
		return 0
	}
	return int(n)
}

func (u *unpacker) take(n int) []byte {
	if n > len(u.rest) {
		u.bad, u.rest = true, nil
		return make([]byte, n)
	}
	out := u.rest[:n]
	u.rest = u.rest[n:]
	return out
}

func (u *unpacker) float() float64 {
	v := u.varint()
	if v&1 == 0 {
		return float64(v>>1) / step
	}
	return math.Float64frombits(binary.LittleEndian.Uint64(u.take(8)))
}

func (u *unpacker) record() *Record {
	n := u.length(3)
	r := &Record{Rows: make([]int32, n), Workers: make([]int32, n), Overlaps: make([]float64, n)}
	last := int32(0)
	for i := range r.Rows {
		last += int32(u.varint())
		r.Rows[i] = last
	}
	for i := range r.Workers {
		r.Workers[i] = int32(u.varint())
	}
	for i := range r.Overlaps {
		r.Overlaps[i] = u.float()
	}
	fleet := u.uvarint()
	costs := u.length(5)
	if fleet > uint64(costs) || (costs > 0 && (fleet == 0 || costs%int(fleet) != 0)) {
		u.bad, u.rest = true, nil
		return r
	}
	r.Fleet, r.Costs = int(fleet), make([]router.Terms, costs)
	for _, term := range terms() {
		for i := range r.Costs {
			*term(&r.Costs[i]) = u.float()
		}
	}
	for i := range r.Costs {
		t := &r.Costs[i]
		if t.Cost = sumOf(t); u.take(1)[0] != 0 {
			t.Cost = math.Float64frombits(binary.LittleEndian.Uint64(u.take(8)))
		}
	}
	for _, column := range []*[]float32{&r.TTFT, &r.TPOT, &r.E2E} {
		*column = make([]float32, u.length(4))
		for i := range *column {
			(*column)[i] = math.Float32frombits(binary.LittleEndian.Uint32(u.take(4)))
		}
	}
	return r
}

// prefill reads the prefill workers of a record, which follow it in a file with
// pools.
func (u *unpacker) prefill(r *Record) {
	if u.uvarint() == 0 {
		return
	}
	r.Prefill = make([]int32, len(r.Rows))
	for i := range r.Prefill {
		r.Prefill[i] = int32(u.varint())
	}
}
