package workloads

import (
	"math"
	"slices"
	"strconv"
)

// DefaultBlockSize is the number of tokens per hash id in the public Mooncake
// traces.
const DefaultBlockSize = int32(512)

// BuilderOptions say how the rows given to a Builder are to be read.
type BuilderOptions struct {
	Format     string // reported by Trace.Format; "" = "mooncake", or "mooncake-delta" with Delta
	File       string // names the input in problems; "" = "rows"
	BlockSize  int32  // tokens per hash id, 0 = DefaultBlockSize
	Delta      bool   // a later turn's row holds only its new tokens
	ClosedLoop bool   // timestamps may be missing
}

// Row is one request as a program states it. The zero value of a field means
// that the row does not have it, except for Timestamp (0 ms; absent is NoTime)
// and OutputLength (no tokens).
type Row struct {
	Line           int32    // 1-based, 0 = the line after the previous row's
	Timestamp      float64  // ms
	InputLength    int32    // tokens, 0 = all of HashIDs
	OutputLength   int32    // tokens
	HashIDs        []uint64 // one per block of prompt tokens
	OutputTokenIDs []uint32 // the generated tokens, nil = not recorded
	RequestID      string
	SessionID      string
	ParentSession  string   // the session whose sub-agent this one is, "" for none
	Delay          *float64 // ms after the completion of the session's previous turn
	Priority       int32
	StrictPriority uint32
	PolicyClass    string
	Route          *Route // nil = the row names no worker and no keys
	PrefillRoute   *Route // nil = the row names no prefill worker
	Taints         Taints
}

// Builder collects rows into a Trace. It checks each row by the rules of the
// format before anything of the row is kept, so a refused row leaves no mark.
type Builder struct {
	o    BuilderOptions
	t    *Trace
	file int32 // index into t.files
	in   interner

	sess    *sessionBuilder
	reqIDs  nameTable
	reqRow  []int32 // row by request name number
	classes nameTable
	taints  map[string]int32 // set by what it says
	raw     rawRow           // reused by Add
}

// NewBuilder starts an empty trace.
func NewBuilder(o BuilderOptions) *Builder {
	if o.BlockSize == 0 {
		o.BlockSize = DefaultBlockSize
	}
	if o.Format == "" {
		o.Format = FormatMooncake
		if o.Delta {
			o.Format = FormatDelta
		}
	}
	if o.File == "" {
		o.File = "rows"
	}
	t := &Trace{format: o.Format, blockSize: o.BlockSize, delta: o.Delta, nodeOff: []int64{0}}
	t.files = []string{o.File}
	return &Builder{o: o, t: t}
}

// FromRows builds a trace from rows.
func FromRows(o BuilderOptions, rows ...Row) (*Trace, error) {
	b := NewBuilder(o)
	for _, r := range rows {
		if err := b.Add(r); err != nil {
			return nil, err
		}
	}
	return b.Build()
}

// Add appends a row, or returns a *Problem and leaves the trace as it was.
func (b *Builder) Add(r Row) error {
	raw := &b.raw
	raw.reset()
	raw.line = r.Line
	if raw.line == 0 {
		raw.line = 1
		if n := b.t.Len(); n > 0 {
			raw.line = b.t.line[n-1] + 1
		}
	}
	if !math.IsNaN(r.Timestamp) {
		raw.set(fTimestamp)
		raw.timestamp = r.Timestamp
	}
	if r.InputLength != 0 {
		raw.set(fInput)
		raw.input = int64(r.InputLength)
	}
	raw.set(fOutput | fHashIDs)
	raw.output = int64(r.OutputLength)
	raw.ids = append(raw.ids, r.HashIDs...)
	if r.OutputTokenIDs != nil {
		raw.set(fTokens)
		raw.tokens = append(raw.tokens, r.OutputTokenIDs...)
	}
	raw.setText(fRequest, &raw.request, r.RequestID)
	raw.setText(fSession, &raw.session, r.SessionID)
	raw.setText(fParent, &raw.parent, r.ParentSession)
	raw.setText(fClass, &raw.class, r.PolicyClass)
	if r.Delay != nil {
		raw.set(fDelay)
		raw.delay = *r.Delay
	}
	raw.priority, raw.strict = r.Priority, r.StrictPriority
	if r.Route != nil {
		raw.setRoute(r.Route)
	}
	if r.PrefillRoute != nil {
		raw.setPrefillRoute(r.PrefillRoute)
	}
	raw.taints = Taints{slices.Clone(r.Taints.Required), slices.Clone(r.Taints.Preferred)}
	if p := b.add(raw); p != nil {
		return p
	}
	return nil
}

// add checks raw and appends it.
func (b *Builder) add(raw *rawRow) *Problem {
	if p := b.checkRow(raw); p != nil {
		return p
	}
	s, p := b.placeTurn(raw)
	if p != nil {
		return p
	}
	if p := b.checkRoom(raw); p != nil {
		return p
	}
	if p := b.keepRequestID(raw); p != nil {
		return p
	}
	t := b.t
	row := int32(len(t.isl))
	t.line = append(room(t.line, 1), raw.line)
	at := NoTime
	if raw.has(fTimestamp) {
		at = raw.timestamp
	}
	t.arrival = append(room(t.arrival, 1), at)
	t.isl = append(room(t.isl, 1), int32(raw.input))
	t.osl = append(room(t.osl, 1), int32(raw.output))
	if t.file != nil {
		t.file = append(room(t.file, 1), b.file)
	}
	b.keepBlocks(raw)
	b.keepTokens(raw, row)
	b.keepQueue(raw, row)
	b.keepRoute(raw, row)
	b.keepTaints(raw, row)
	b.keepParent(raw, row)
	b.sess.keep(s, row, at)
	return nil
}

// keepBlocks interns the prompt. Ids beyond the prompt's end are numbered too:
// numbers are given in order of appearance in the file, and recorded output
// tokens may equal them.
func (b *Builder) keepBlocks(raw *rawRow) {
	need := blocksFor(raw.input, b.o.BlockSize)
	nodes := room(b.t.nodes, need)
	at := len(nodes)
	nodes = nodes[:at+need]
	b.in.prompt(raw.ids[:need], nodes[at:])
	for _, id := range raw.ids[need:] {
		b.in.ids.intern(id)
	}
	b.t.nodes = nodes
	b.t.nodeOff = append(room(b.t.nodeOff, 1), int64(len(nodes)))
}

// blocksFor returns the number of blocks of size tokens that n tokens touch.
func blocksFor(n int64, size int32) int { return int((n + int64(size) - 1) / int64(size)) }

func (b *Builder) keepTokens(raw *rawRow, row int32) {
	c := b.t.outputs
	if c == nil {
		if len(raw.tokens) == 0 {
			return
		}
		c = &outputColumns{off: make([]int64, row+1)}
		b.t.outputs = c
	}
	c.tokens = append(room(c.tokens, len(raw.tokens)), raw.tokens...)
	c.off = append(room(c.off, 1), int64(len(c.tokens)))
}

func (b *Builder) keepQueue(raw *rawRow, row int32) {
	c := b.t.queue
	if c == nil {
		if raw.priority == 0 && raw.strict == 0 && len(raw.class) == 0 {
			return
		}
		b.classes.intern(nil)
		c = &queueColumns{priority: make([]int32, row), strict: make([]uint32, row), class: make([]int32, row), names: []string{""}}
		b.t.queue = c
	}
	n, fresh := b.classes.intern(raw.class)
	if fresh {
		c.names = append(c.names, string(raw.class))
	}
	c.priority = append(room(c.priority, 1), raw.priority)
	c.strict = append(room(c.strict, 1), raw.strict)
	c.class = append(room(c.class, 1), n)
}

// keepRequestID is the last check, since it keeps what it looked up.
func (b *Builder) keepRequestID(raw *rawRow) *Problem {
	row := int32(b.t.Len())
	if raw.has(fRequest) {
		n, fresh := b.reqIDs.intern(raw.request)
		if !fresh {
			first := int(b.reqRow[n])
			return b.problem(raw, "request_id", strconv.Quote(string(raw.request)),
				"a name that no other row has (it is the row at "+b.t.File(first)+":"+
					strconv.Itoa(int(b.t.line[first]))+"; give each request its own name)")
		}
		b.reqRow = append(room(b.reqRow, 1), row)
		if b.t.reqID == nil {
			b.t.reqID = &textColumn{off: make([]int64, row+1)}
		}
	}
	if b.t.reqID != nil {
		b.t.reqID.add(raw.request)
	}
	return nil
}

// Build returns the trace. The builder must not be used afterwards.
func (b *Builder) Build() (*Trace, error) {
	if b.t.Len() == 0 {
		return nil, &Problem{File: b.o.File, Found: "no requests", Want: "at least one row"}
	}
	return b.finish(), nil
}

func (b *Builder) finish() *Trace {
	t := b.t
	t.numNode, t.numID = b.in.nodes.n, b.in.ids.n
	t.nodeBlock = b.in.nodes.blocks()
	if t.delta || t.outputs != nil {
		t.ids = make([]uint32, len(t.nodes))
		for i, n := range t.nodes {
			t.ids[i] = t.nodeBlock[n]
		}
	}
	if b.sess != nil {
		t.sessions = b.sess.columns()
	}
	return t
}
