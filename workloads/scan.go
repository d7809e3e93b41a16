package workloads

import (
	"encoding/binary"
	"math/bits"
	"strconv"
)

// scanner reads the usual shape of a Mooncake row without building a tree: flat
// objects whose texts hold no escapes and only ASCII. Anything else, right or
// wrong, it leaves to the decoder; what it accepts, the decoder reads alike.
type scanner struct {
	s []byte // one line with its newline, which nothing reads past: s[p] always exists
	p int
}

// scanRow reads line, which ends in its only newline, into r. False means that the
// decoder must look at it.
func scanRow(line []byte, r *rawRow) bool {
	c := scanner{s: line}
	var seen fields
	c.space()
	if !c.is('{') {
		return false
	}
	for {
		c.space()
		key, ok := c.text()
		if !ok {
			return false
		}
		c.space()
		if !c.is(':') {
			return false
		}
		c.space()
		f := fieldOf(string(key))
		if f != 0 && seen&f != 0 {
			return false
		}
		seen |= f
		if !c.value(f, r) {
			return false
		}
		c.space()
		if c.is(',') {
			continue
		}
		if !c.is('}') {
			return false
		}
		c.space()
		return c.p == len(c.s)-1
	}
}

// fieldOf returns the field that a key names, 0 if the format knows none.
func fieldOf(key string) fields {
	switch key {
	case "timestamp", "created_time":
		return fTimestamp
	case "input_length", "input_tokens":
		return fInput
	case "output_length", "output_tokens":
		return fOutput
	case "hash_ids":
		return fHashIDs
	case "output_token_ids":
		return fTokens
	case "session_id":
		return fSession
	case "delay", "delay_ms":
		return fDelay
	case "request_id":
		return fRequest
	case "priority":
		return fPriority
	case "strict_priority":
		return fStrict
	case "policy_class":
		return fClass
	case "worker_id":
		return fWorker
	case "dp_rank":
		return fRank
	case "device_keys":
		return fDevice
	case "prefill_worker_id":
		return fPrefillWorker
	case "prefill_dp_rank":
		return fPrefillRank
	case "required_taints":
		return fRequired
	case "preferred_taints":
		return fPreferred
	case "parent_session_id":
		return fParent
	}
	return 0
}

// value reads the value of field f into r.
func (c *scanner) value(f fields, r *rawRow) bool {
	if c.s[c.p] == 'n' {
		return c.word("null")
	}
	r.set(f)
	ok := false
	switch f {
	case fTimestamp:
		r.timestamp, ok = c.float()
	case fDelay:
		r.delay, ok = c.float()
	case fInput:
		r.input, ok = c.count()
	case fOutput:
		r.output, ok = c.count()
	case fHashIDs:
		ok = c.hashIDs(r)
	case fTokens:
		ok = c.tokenIDs(r)
	case fSession:
		r.session, ok = c.text()
	case fParent:
		r.parent, ok = c.text()
	case fRequest:
		r.request, ok = c.text()
	case fClass:
		r.class, ok = c.text()
	case fPriority:
		r.priority, ok = c.int32()
	case fWorker:
		r.worker, ok = c.index()
	case fRank:
		r.rank, ok = c.index()
	case fPrefillWorker:
		r.prefillWorker, ok = c.index()
	case fPrefillRank:
		r.prefillRank, ok = c.index()
	case fDevice:
		at := len(r.ids)
		ok = c.hashIDs(r)
		r.keys = append(r.keys, r.ids[at:]...)
		r.ids = r.ids[:at]
	case fStrict:
		var n uint64
		n, ok = c.digits()
		ok = ok && n>>32 == 0
		r.strict = uint32(n)
	case fRequired, fPreferred:
		// Too rare for a reader of their own.
	default:
		ok = c.other()
	}
	return ok
}

// space skips white space up to the final newline.
func (c *scanner) space() {
	for c.s[c.p] == ' ' || c.s[c.p] == '\t' || c.s[c.p] == '\r' {
		c.p++
	}
}

func (c *scanner) is(b byte) bool {
	if c.s[c.p] == b {
		c.p++
		return true
	}
	return false
}

func (c *scanner) word(w string) bool {
	if len(c.s)-c.p < len(w) || string(c.s[c.p:c.p+len(w)]) != w {
		return false
	}
	c.p += len(w)
	return true
}

// text reads a quoted text of plain ASCII.
func (c *scanner) text() ([]byte, bool) {
	if !c.is('"') {
		return nil, false
	}
	from := c.p
	for ; ; c.p++ {
		switch b := c.s[c.p]; {
		case b == '"':
			c.p++
			return c.s[from : c.p-1 : c.p-1], true
		case b < ' ' || b == '\\' || b >= 0x80:
			return nil, false
		}
	}
}

// digits reads an unsigned integer below 2^64. A fraction or an exponent is
// left for the caller to stumble over.
func (c *scanner) digits() (uint64, bool) {
	s, p := c.s, c.p
	n := uint64(0)
	for p+8 <= len(s) {
		more, size := leadingDigits(binary.LittleEndian.Uint64(s[p:]))
		n = n*pow10[size] + more
		if p += size; size < 8 {
			break
		}
	}
	for d := s[p] - '0'; d <= 9; d = s[p] - '0' {
		n = n*10 + uint64(d)
		p++
	}
	size := p - c.p
	if size == 0 || size > 20 || size > 1 && s[c.p] == '0' {
		return 0, false
	}
	// Twenty digits fit if they begin with 1 and n did not wrap around: what
	// wraps is below 2*10^19 - 2^64.
	if size == 20 && (s[c.p] != '1' || n < 1e19) {
		return 0, false
	}
	c.p = p
	return n, true
}

var pow10 = [...]uint64{1, 10, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8}

func (c *scanner) count() (int64, bool) {
	n, ok := c.digits()
	return int64(n), ok && n>>63 == 0
}

// index reads the number of a worker or a rank.
func (c *scanner) index() (int32, bool) {
	n, ok := c.digits()
	return int32(n), ok && n>>31 == 0
}

func (c *scanner) int32() (int32, bool) {
	neg := c.is('-')
	n, ok := c.digits()
	// Minus zero is no integer for the decoder, and the ends of the range are
	// rare enough to be left to it.
	if !ok || n>>31 != 0 || neg && n == 0 {
		return 0, false
	}
	if neg {
		return -int32(n), true
	}
	return int32(n), true
}

// float reads a JSON number.
func (c *scanner) float() (float64, bool) {
	from := c.p
	neg := c.is('-')
	n, ok := c.digits()
	if !ok {
		return 0, false
	}
	if b := c.s[c.p]; b != '.' && b != 'e' && b != 'E' && n <= 1<<53 {
		if neg {
			return -float64(n), true
		}
		return float64(n), true
	}
	if c.is('.') && !c.run() {
		return 0, false
	}
	if c.is('e') || c.is('E') {
		if !c.is('+') {
			c.is('-')
		}
		if !c.run() {
			return 0, false
		}
	}
	x, err := strconv.ParseFloat(string(c.s[from:c.p]), 64)
	return x, err == nil
}

// run reads one or more digits.
func (c *scanner) run() bool {
	from := c.p
	for c.s[c.p]-'0' <= 9 {
		c.p++
	}
	return c.p > from
}

// hashIDs reads a list of unsigned integers. Nearly all of a trace is such
// lists, hence the hand-made loop.
func (c *scanner) hashIDs(r *rawRow) bool {
	if !c.is('[') {
		return false
	}
	c.space()
	if c.is(']') {
		return true
	}
	s, p, ids := c.s, c.p, r.ids
	for {
		n, size := uint64(0), 8
		if p+8 <= len(s) {
			n, size = leadingDigits(binary.LittleEndian.Uint64(s[p:]))
		}
		if size < 8 {
			if size == 0 || size > 1 && s[p] == '0' {
				return false
			}
			p += size
		} else {
			c.p = p
			var ok bool
			if n, ok = c.digits(); !ok {
				return false
			}
			p = c.p
		}
		ids = append(ids, n)
		if s[p] == ',' && s[p+1] == ' ' {
			p += 2
			continue
		}
		c.p = p
		c.space()
		if c.is(']') {
			r.ids = ids
			return true
		}
		if !c.is(',') {
			return false
		}
		c.space()
		p = c.p
	}
}

// leadingDigits reads the digits that eight bytes begin with (the first byte
// lowest) and returns their value and number.
func leadingDigits(w uint64) (n uint64, size int) {
	const each = 0x0101010101010101 // times a byte: that byte in each place
	w ^= '0' * each                 // a digit is now its value, anything else is above 9
	other := (w | (w&^(0x80*each) + 0x76*each)) & (0x80 * each)
	size = bits.TrailingZeros64(other) / 8
	w <<= 64 - 8*size // leading zeros before the digits
	// Pairs, then fours, then all eight, the more significant ones lower.
	w = (w*10 + w>>8) & 0x00ff00ff00ff00ff
	w = (w*100 + w>>16) & 0x0000ffff0000ffff
	return (w*10000 + w>>32) & 0xffffffff, size
}

func (c *scanner) tokenIDs(r *rawRow) bool {
	at := len(r.ids)
	if !c.hashIDs(r) {
		return false
	}
	for _, n := range r.ids[at:] {
		if n>>32 != 0 {
			return false
		}
		r.tokens = append(r.tokens, uint32(n))
	}
	r.ids = r.ids[:at]
	return true
}

// other skips the value of a key that the format does not know.
func (c *scanner) other() bool {
	switch b := c.s[c.p]; {
	case b == '"':
		_, ok := c.text()
		return ok
	case b == 't':
		return c.word("true")
	case b == 'f':
		return c.word("false")
	case b == '-' || b-'0' <= 9:
		_, ok := c.float()
		return ok
	}
	return false
}
