package workloads

import "math"

// decodeRow reads a Mooncake row of any shape into r, or says what is wrong
// with it.
func (d *decoder) decodeRow(line []byte, r *rawRow) *Problem {
	d.reset(line)
	var seen fields
	return d.row(func(key string) *Problem {
		f := fieldOf(key)
		if f == 0 {
			return d.skip()
		}
		if p := once(&seen, f, key); p != nil {
			return p
		}
		if d.null() {
			return nil
		}
		r.set(f)
		return d.field(f, key, r)
	})
}

const (
	wantMS     = "a finite number of milliseconds"
	wantTokens = "a whole number of tokens, 0 to 2147483647, without quotes, fraction or exponent"
	wantText   = "a text in quotes"
	wantIndex  = "a whole number from 0 to 2147483647"
)

func (d *decoder) field(f fields, key string, r *rawRow) (p *Problem) {
	var n uint64
	switch f {
	case fTimestamp:
		r.timestamp, p = d.float(key, wantMS)
	case fDelay:
		r.delay, p = d.float(key, wantMS)
	case fInput:
		n, p = d.uint(key, math.MaxInt64, wantTokens)
		r.input = int64(n)
	case fOutput:
		n, p = d.uint(key, math.MaxInt64, wantTokens)
		r.output = int64(n)
	case fHashIDs:
		r.ids, p = d.uints(r.ids, key, math.MaxUint64)
	case fTokens:
		var ids []uint64
		ids, p = d.uints(nil, key, math.MaxUint32)
		for _, id := range ids {
			r.tokens = append(r.tokens, uint32(id))
		}
	case fSession:
		r.session, p = d.text(key, wantText)
	case fParent:
		r.parent, p = d.text(key, wantText)
	case fRequest:
		r.request, p = d.text(key, wantText)
	case fClass:
		r.class, p = d.text(key, wantText)
	case fPriority:
		r.priority, p = d.int32(key)
	case fWorker:
		n, p = d.uint(key, math.MaxInt32, wantIndex)
		r.worker = int32(n)
	case fRank:
		n, p = d.uint(key, math.MaxInt32, wantIndex)
		r.rank = int32(n)
	case fPrefillWorker:
		n, p = d.uint(key, math.MaxInt32, wantIndex)
		r.prefillWorker = int32(n)
	case fPrefillRank:
		n, p = d.uint(key, math.MaxInt32, wantIndex)
		r.prefillRank = int32(n)
	case fDevice:
		r.keys, p = d.uints(r.keys, key, math.MaxUint64)
	case fRequired:
		r.taints.Required, p = d.taintList(key)
	case fPreferred:
		r.taints.Preferred, p = d.taintWeights(key)
	case fStrict:
		n, p = d.uint(key, math.MaxUint32, "a whole number from 0 to 4294967295")
		r.strict = uint32(n)
	}
	return p
}

// int32 reads a signed 32-bit integer.
func (d *decoder) int32(field string) (int32, *Problem) {
	const want = "a whole number from -2147483648 to 2147483647"
	v, p := d.number(field, want)
	if p != nil {
		return 0, p
	}
	digits, neg := v, v[0] == '-'
	if neg {
		digits = v[1:]
	}
	n, ok := parseUint(digits)
	switch {
	case !ok || neg && (n == 0 || n > 1<<31) || !neg && n >= 1<<31:
		return 0, &Problem{Field: field, Found: excerpt(v), Want: want}
	case neg:
		return int32(-int64(n)), nil
	}
	return int32(n), nil
}

// readMooncake reads the rows of one file into b.
func readMooncake(src *source, b *Builder) *Problem {
	var d decoder
	raw := &b.raw
	for {
		line, p := src.next()
		if line == nil || p != nil {
			return p
		}
		raw.reset()
		raw.line = int32(src.line())
		if !scanRow(line, raw) {
			raw.reset()
			raw.line = int32(src.line())
			p = d.decodeRow(line, raw)
		}
		if p == nil {
			p = b.add(raw)
		}
		if p = src.judge(p); p != nil {
			return p
		}
		if b.t.Len() == rowsToGuess {
			b.reserve(src.share())
		}
	}
}

// rowsToGuess is the number of rows from which the size of a trace is guessed.
const rowsToGuess = 512

// reserve makes room for a trace of which the rows so far are the given share,
// so that slabs need not grow step by step. A wrong guess costs address space
// or another step, nothing else.
func (b *Builder) reserve(share float64) {
	if !(share > 0 && share < 1) {
		return
	}
	t := b.t
	more := func(n int) int { return int(float64(n) * (1.05/share - 1)) }
	rows := more(t.Len())
	t.line, t.arrival = room(t.line, rows), room(t.arrival, rows)
	t.isl, t.osl = room(t.isl, rows), room(t.osl, rows)
	t.nodeOff = room(t.nodeOff, rows)
	t.nodes = room(t.nodes, more(len(t.nodes)))
	// The share of blocks seen for the first time falls as the trace goes on.
	fresh := more(int(b.in.nodes.n)) * 3 / 4
	b.in.nodes.first = room(b.in.nodes.first, fresh)
	if s := &b.in.ids.sparse; len(s.keys) > int(b.in.ids.n)/2 {
		s.keys, s.vals = room(s.keys, fresh), room(s.vals, fresh)
	} else {
		b.in.ids.direct = room(b.in.ids.direct, fresh)
	}
}
