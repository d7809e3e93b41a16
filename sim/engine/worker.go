package engine

import (
	"routesim/models"
	"routesim/workloads/chacha"
)

// SignalKind says what a pass meant for a request.
type SignalKind uint8

// The signals of a pass, in the order in which a pass reports them.
const (
	DoneSilently  SignalKind = iota // finished without producing a token in this pass
	FirstToken                      // the first token, more will follow
	DoneWithToken                   // the last token
	Refused                         // the prompt can never run here
)

// Signal tells that a pass changed what the router knows about a request.
type Signal struct {
	Seq  *Seq
	Kind SignalKind
}

// Admission records that a pass took a request from the queue.
type Admission struct {
	Row    int32
	At     float64 // ms
	Reused int32   // tokens
}

// Stats are a worker's totals over a run.
type Stats struct {
	OutputTokens  int64
	PrefillTokens int64 // new prompt tokens computed
	Committed     int64 // tokens scheduled for requests that scheduled prompt tokens
	Passes        int64
	OutOfRange    int64 // passes outside what the timing model was fitted to
	Preemptions   int64
	Evictions     int64
	BusyMS        float64
	PeakBlocks    int32
	BlockMS       float64 // active blocks times ms
	PeakRunning   int32
	PeakWaiting   int32
	Host          TierStats
	Disk          DiskStats
}

// Options are what a worker needs besides its engine settings.
type Options struct {
	Timing models.StepModel
	// Shift says that 1<<Shift consecutive block ids form a node.
	Shift uint8
	// PromptBlocks is the first block id that never appears in a prompt.
	PromptBlocks uint32
	// Hash returns the hash of a block's content and of everything before it,
	// which orders what a lower tier drops; only workers with one need it.
	Hash func(block uint32) uint64
	// HostPool is the host tier and Disks are the disks of all workers; only one that
	// shares the first, or has one of the others, needs them.
	HostPool *HostPool
	Disks    *Disks
	// Index is the worker's number among all ranks of its pool.
	Index int
	// Plain makes every pass an event of its own.
	Plain bool
	// KeepAdmissions records every admission.
	KeepAdmissions bool
	// Observe is told of every pass that is an event of its own, which with
	// Plain is every pass; nil is allowed.
	Observe func(Pass)
}

// Pass is what a worker was doing during one pass.
type Pass struct {
	Start, End float64 // ms
	Running    int32   // requests in the batch
	Waiting    int32   // requests left in the queue when the batch was complete
	Blocks     int32   // active KV blocks
}

// Worker is one inference engine: a queue, a running batch and a block pool.
//
// All decisions of a pass are made at its start; what it produced is known at
// its end. Between passes in which something can happen the worker runs ahead:
// see plan.go.
type Worker struct {
	Params
	opt     Options
	ranger  models.Ranger // nil where the timing model names no range
	pool    *pool
	sg      *sglang        // nil with another engine
	drafts  *chacha.Source // nil without speculative decoding
	offload *offload       // nil without lower tiers
	bursts  []burst        // of the pass just decided
	Events  Events
	waiting deque
	running []*Seq

	passNo  int64     // number of the last pass decided
	log     []float64 // end times of passes logBase+1 … passNo (or the plan's last)
	logBase int64
	plan    plan
	closed  bool // the head of the queue stays out until a request leaves
	inPass  bool // the last attempt at a pass had an effect

	// Of a decode worker in disaggregated serving.
	expected   []*Seq // in line for a reservation
	reserved   []*Seq // with a reservation, not activated
	submitted  int64  // requests that ever stood in line
	generation int64  // grows whenever capacity is given back

	signals    []Signal
	refused    []*Seq
	Admissions []Admission

	// Sums of the pass being decided.
	budget    int32
	batch     models.Batch
	pf        prefillPart
	victims   int // preemptions in this pass
	hits      []hold
	admitted  int
	scheduled int64
	owed      int64 // tokens that count as committed when the pass ends

	stats     Stats
	kvLevel   int32   // active blocks since kvSince
	kvSince   float64 // ms
	busySince float64 // ms, -1 while idle
}

// NewWorker returns an idle worker with an empty pool.
func NewWorker(p Params, o Options) *Worker {
	w := &Worker{Params: p, opt: o, busySince: -1}
	w.Events.limit = o.PromptBlocks
	w.drafts = newDrafts(&w.Params, o.Index)
	w.offload = newOffload(&w.Params, &o)
	w.opt.Plain = w.opt.Plain || w.drafts != nil || w.offload != nil
	w.ranger, _ = o.Timing.(models.Ranger)
	if p.Backend == SGLang {
		w.sg = newSGLang(&w.Params)
	} else {
		w.pool = newPool(p.NumGPUBlocks, o.Shift, &w.Events)
		if w.offload != nil {
			w.pool.memory = newMemory(p.NumGPUBlocks)
		}
	}
	return w
}

// HasWork reports whether a pass could be started.
func (w *Worker) HasWork() bool {
	if w.offload != nil {
		return len(w.running) > 0 || w.schedulable()
	}
	return len(w.running) > 0 || (w.waiting.n > 0 && w.Role != Decode) || w.Role == Decode && w.canAdmit()
}

// InFlight returns the number of requests that wait or run.
func (w *Worker) InFlight() int { return w.waiting.n + len(w.running) }

// Enqueue appends a request to the queue at time now; a decode worker computes
// its prompt as any other worker would. The worker may be in the
// middle of a planned run of passes; it then reports when the pass that is
// under way ends, so that the caller can move the worker's next event there.
// begun says whether a pass that starts at now has started already.
func (w *Worker) Enqueue(s *Seq, now float64, begun bool) (end float64, moved bool) {
	w.clampOutput(s)
	if w.Role == Decode {
		w.submitted++
		s.order, s.local = w.submitted, true
	}
	w.waiting.pushBack(s)
	w.stats.PeakWaiting = max(w.stats.PeakWaiting, int32(w.waiting.n))
	if w.plan.n == 0 || w.closed {
		return 0, false
	}
	return w.cutPlan(now, begun), true
}

// active returns the blocks that somebody holds.
func (w *Worker) active() int32 {
	if w.sg != nil {
		return w.sg.active(&w.Params)
	}
	return w.pool.active()
}

// Held returns how many of the leading blocks the pool holds.
func (w *Worker) Held(blocks []uint32) int32 {
	if w.sg != nil {
		return w.sg.tree.depth(blocks)
	}
	return w.pool.held(blocks)
}

// Signals returns what the last pass changed, in reporting order. The slice is
// valid until the next Start.
func (w *Worker) Signals() []Signal { return w.signals }

// TokenTimes calls f with the times of the request's tokens, stretch by
// stretch in order. A request that was never interrupted has one stretch.
func (w *Worker) TokenTimes(s *Seq, f func(times []float64)) {
	if len(s.early) > 0 {
		f(s.early)
	}
	if s.lastPass >= s.segStart && s.Generated > int32(len(s.early)) {
		f(w.log[s.segStart-w.logBase-1 : s.lastPass-w.logBase])
	}
}

// Each calls f for every request that waits or runs.
func (w *Worker) Each(f func(s *Seq)) {
	for i := 0; i < w.waiting.n; i++ {
		f(w.waiting.at(i))
	}
	for _, s := range w.running {
		f(s)
	}
}

// Stats returns the totals up to now (ms).
func (w *Worker) Stats(now float64) Stats {
	s := w.stats
	s.BlockMS += float64(float64(w.kvLevel) * (now - w.kvSince))
	if w.sg != nil {
		s.Evictions = w.sg.evictions
	} else {
		s.Evictions = w.pool.evictions
	}
	if w.busySince >= 0 {
		s.BusyMS += now - w.busySince
	}
	if w.offload != nil {
		s.Host = w.offload.stats
		if d := w.offload.disk; d != nil {
			s.Disk = d.stats
		}
	}
	return s
}

// level notes the number of active blocks from now on. The integral moves only
// where the level does, so that it does not depend on how passes are grouped.
func (w *Worker) level(blocks int32, now float64) {
	if blocks == w.kvLevel {
		return
	}
	w.stats.BlockMS += float64(float64(w.kvLevel) * (now - w.kvSince))
	w.kvSince, w.kvLevel = now, blocks
	w.stats.PeakBlocks = max(w.stats.PeakBlocks, blocks)
}

// Idle tells the worker that its last pass ended at now and no other starts.
func (w *Worker) Idle(now float64) {
	w.commitTokens()
	if w.busySince >= 0 {
		w.stats.BusyMS += now - w.busySince
		w.busySince = -1
	}
	w.level(w.active(), now)
}

// commitTokens counts the prefill tokens of a pass that has ended.
func (w *Worker) commitTokens() {
	w.stats.Committed += w.owed
	w.owed = 0
}

// emit notes that pass p gives s a token.
func (w *Worker) emit(s *Seq, p int64) {
	if s.Generated == 0 {
		s.segStart = p
	} else if s.lastPass != p-1 {
		w.keepTimes(s)
		s.segStart = p
	}
	s.lastPass = p
	s.Generated++
	w.stats.OutputTokens++
}

// keepTimes copies the times of the current stretch out of the pass log.
func (w *Worker) keepTimes(s *Seq) {
	if s.Generated > int32(len(s.early)) {
		s.early = append(s.early, w.log[s.segStart-w.logBase-1:s.lastPass-w.logBase]...)
	}
}

// trimLog drops the end times that no running request needs any more.
func (w *Worker) trimLog() {
	if len(w.log) < 4096 {
		return
	}
	oldest := w.passNo + 1
	for _, s := range w.running {
		if s.Generated > int32(len(s.early)) {
			oldest = min(oldest, s.segStart)
		}
	}
	drop := oldest - w.logBase - 1
	if 2*drop < int64(len(w.log)) {
		return
	}
	n := copy(w.log, w.log[drop:])
	w.log = w.log[:n]
	w.logBase += drop
}

// deque is a queue of requests that also takes returns at its front.
type deque struct {
	buf   []*Seq // length is a power of two
	first int
	n     int
}

func (d *deque) at(i int) *Seq { return d.buf[(d.first+i)&(len(d.buf)-1)] }

func (d *deque) set(i int, s *Seq) { d.buf[(d.first+i)&(len(d.buf)-1)] = s }

func (d *deque) grow() {
	if d.n < len(d.buf) {
		return
	}
	buf := make([]*Seq, max(16, 2*len(d.buf)))
	for i := 0; i < d.n; i++ {
		buf[i] = d.at(i)
	}
	d.buf, d.first = buf, 0
}

func (d *deque) pushBack(s *Seq) {
	d.grow()
	d.buf[(d.first+d.n)&(len(d.buf)-1)] = s
	d.n++
}

func (d *deque) pushFront(s *Seq) {
	d.grow()
	d.first = (d.first - 1) & (len(d.buf) - 1)
	d.buf[d.first] = s
	d.n++
}

func (d *deque) popFront() *Seq {
	s := d.buf[d.first]
	d.buf[d.first] = nil
	d.first = (d.first + 1) & (len(d.buf) - 1)
	d.n--
	return s
}

// insertBefore puts s before the first element that comes after it, or at the
// end.
func (d *deque) insertBefore(s *Seq, after func(other *Seq) bool) {
	d.pushBack(s)
	i := d.n - 1
	for k := 0; k < i; k++ {
		if after(d.at(k)) {
			for ; i > k; i-- {
				d.set(i, d.at(i-1))
			}
			d.set(k, s)
			return
		}
	}
}

// remove takes out element i, counted from the front.
func (d *deque) remove(i int) {
	s := d.at(i)
	for ; i > 0; i-- {
		d.buf[(d.first+i)&(len(d.buf)-1)] = d.at(i - 1)
	}
	d.buf[d.first] = s
	d.popFront()
}
