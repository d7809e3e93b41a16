package engine

// Seq is one request on a worker, from its arrival there to its end.
type Seq struct {
	Row    int32    // the request's row in the trace
	Tag    int32    // the caller's own name for it
	Prompt int32    // P, prompt tokens
	Output int32    // O, requested output tokens
	Blocks []uint32 // identities of all complete blocks of prompt and output

	Generated int32 // G, tokens produced so far
	computed  int32 // C, tokens whose KV is in the pool
	holds     []hold
	sealed    int32 // leading blocks that are cached copies, shared or its own
	private   int32 // blocks after them that nobody else can use yet
	preempted bool  // at least once
	named     int32 // leading blocks whose identity the engine knows

	// SGLang: the node of the cache that holds the sealed blocks, and the tokens
	// of the blocks the request counts on.
	node      int32
	allocated int32

	// Offload to lower tiers: where the request is, its leading blocks that were on
	// the device before a load, the tokens that it is scheduled with after one, and
	// its leading blocks that were looked at for offload.
	loading   loading
	overtaken bool // at least once since it was enqueued
	asleep    bool // and not to be looked at again before a transfer has ended
	bypass    bool // it does without the disk
	rounds    int  // how often in a row it had blocks brought from there
	onDevice  int32
	restored  int32
	offloaded int32
	stored    *store   // the last one
	pieces    []*store // of memory that it has for its private blocks, by who reads them

	// Disaggregated serving: the worker's count of submissions when the request
	// came, whether its prompt's KV came from elsewhere and it has not run yet, and
	// the state of capacity when a reservation was last tried.
	order   int64
	arrived bool
	tried   int64
	local   bool // on a decode worker: its prompt is computed there

	// Admission record.
	FirstAdmit  float64 // ms, start of the pass
	FirstReused int32   // tokens
	HostReused  int32   // those among them that were brought back from the host
	MaxReused   int32
	Admissions  int32

	// Token times: the passes from segStart to lastPass each gave one token;
	// times of earlier, interrupted stretches are kept in early.
	segStart int64
	lastPass int64
	early    []float64

	allocPass int64 // fast path: the planned pass that starts the next block

	// What the current pass scheduled for this request, so that it can be taken
	// back when the request falls victim to a later one.
	pass   int64
	tokens int32
	part   prefillPart
}

// prefillPart is a request's share in the prefill sums of a pass.
type prefillPart struct {
	seqs, context, prefix, pairs int64
	tokens                       int64 // all tokens of the request in the pass
}

// Reset prepares a new or used Seq for a request, keeping its buffers.
func (s *Seq) Reset(row, prompt, output int32) {
	*s = Seq{
		Row: row, Prompt: prompt, Output: output,
		Blocks: s.Blocks[:0], holds: s.holds[:0], early: s.early[:0], pieces: s.pieces[:0],
		pass: -1, lastPass: -1,
	}
}

// blocks returns the physical blocks the request holds.
func (s *Seq) blocks() int32 { return s.sealed + s.private }

// length returns L, the tokens of the request so far.
func (s *Seq) length() int32 { return s.Prompt + s.Generated }

// remaining returns the tokens still to be generated under a context limit.
func (s *Seq) remaining(maxModelLen int32) int32 {
	rem := s.Output - s.Generated
	if maxModelLen > 0 {
		rem = min(rem, max(0, maxModelLen-s.length()))
	}
	return rem
}

// ceilDiv returns ceil(a/b) for a >= 0, b > 0.
func ceilDiv(a, b int32) int32 { return int32((int64(a) + int64(b) - 1) / int64(b)) }
