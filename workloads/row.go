package workloads

import (
	"fmt"
	"math"
	"strconv"
)

// fields is a set of the fields of a row.
type fields uint32

const (
	fTimestamp fields = 1 << iota
	fInput
	fOutput
	fHashIDs
	fTokens
	fSession
	fDelay
	fRequest
	fPriority
	fStrict
	fClass
	fWorker
	fRank
	fDevice
	fPrefillWorker
	fPrefillRank
	fRequired
	fPreferred
	fParent
)

// rawRow is one row as written, with its buffers reused from row to row. Texts
// may point into the reader's buffer.
type rawRow struct {
	line      int32
	present   fields
	timestamp float64 // ms
	delay     float64 // ms
	input     int64   // tokens
	output    int64   // tokens
	ids       []uint64
	tokens    []uint32
	session   []byte
	parent    []byte
	request   []byte
	class     []byte
	priority  int32
	strict    uint32
	worker    int32
	rank      int32
	keys      []uint64 // of the device

	prefillWorker, prefillRank int32
	taints                     Taints
}

func (r *rawRow) reset() {
	*r = rawRow{ids: r.ids[:0], tokens: r.tokens[:0], keys: r.keys[:0]}
}

func (r *rawRow) has(f fields) bool { return r.present&f != 0 }

func (r *rawRow) set(f fields) { r.present |= f }

// setText sets a text field unless s is "".
func (r *rawRow) setText(f fields, to *[]byte, s string) {
	if s != "" {
		r.set(f)
		*to = []byte(s)
	}
}

func (b *Builder) problem(raw *rawRow, field, found, want string) *Problem {
	return &Problem{File: b.t.files[b.file], Line: int(raw.line), Field: field, Found: found, Want: want}
}

// nothing stands for an absent value in a problem.
const nothing = "nothing"

// checkRow applies the rules that a row must keep by itself, and fills in the
// prompt length where the row leaves it to its hash ids.
func (b *Builder) checkRow(raw *rawRow) *Problem {
	if !raw.has(fOutput) {
		return b.problem(raw, "output_length", nothing, "the number of output tokens, 0 or more")
	}
	if !raw.has(fHashIDs) {
		return b.problem(raw, "hash_ids", nothing, "a list of block ids, one per "+strconv.Itoa(int(b.o.BlockSize))+" prompt tokens")
	}
	if raw.has(fTimestamp) && (math.IsNaN(raw.timestamp) || math.IsInf(raw.timestamp, 0)) {
		return b.problem(raw, "timestamp", fmt.Sprint(raw.timestamp), "a finite number of milliseconds")
	}
	if raw.output < 0 || raw.output > math.MaxInt32 {
		return b.problem(raw, "output_length", strconv.FormatInt(raw.output, 10), "0 to 2147483647 tokens")
	}
	if p := b.checkPrompt(raw); p != nil {
		return p
	}
	if raw.has(fTokens) && int64(len(raw.tokens)) != raw.output {
		return b.problem(raw, "output_token_ids", strconv.Itoa(len(raw.tokens))+" tokens",
			fmt.Sprintf("%d, as output_length says", raw.output))
	}
	return nil
}

func (b *Builder) checkPrompt(raw *rawRow) *Problem {
	size := int64(b.o.BlockSize)
	room := int64(len(raw.ids)) * size
	if !raw.has(fInput) {
		raw.input = room
		if room == 0 {
			return b.problem(raw, "hash_ids", "an empty list and no input_length", "a prompt of at least one token")
		}
	}
	if raw.input <= 0 || raw.input > math.MaxInt32 {
		return b.problem(raw, "input_length", strconv.FormatInt(raw.input, 10), "1 to 2147483647 tokens")
	}
	if raw.input > room {
		return b.problem(raw, "input_length", strconv.FormatInt(raw.input, 10),
			fmt.Sprintf("at most %d, since %d hash_ids of %d tokens hold no more (is the trace block size right?)",
				room, len(raw.ids), size))
	}
	return nil
}

// checkRoom refuses what the 32-bit columns cannot hold.
func (b *Builder) checkRoom(raw *rawRow) *Problem {
	if b.t.Len() >= math.MaxInt32-1 {
		return b.problem(raw, "", "row 2147483647", "fewer rows (split the trace)")
	}
	// A node number plus one must fit too.
	if uint64(b.in.nodes.n)+uint64(len(raw.ids)) >= math.MaxUint32-1 || uint64(b.in.ids.n)+uint64(len(raw.ids)) >= math.MaxUint32-1 {
		return b.problem(raw, "hash_ids", "more than 4294967293 distinct blocks", "fewer (split the trace)")
	}
	return nil
}
