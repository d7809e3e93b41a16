package sim

import "math"

// tokenBook sums up the times of all tokens: the gaps between them and a hash
// of them per request. Every simulated token passes here and nothing that
// happens later depends on it, so that a long run hands the times over in
// batches to a goroutine that works beside it. One goroutine takes the batches
// in order: the sums are those of a run without it.
type tokenBook struct {
	res   *Result
	open  *tokenBatch      // being filled
	full  chan *tokenBatch // nil until the first batch is full
	empty chan *tokenBatch // batches to fill again
	done  chan struct{}
}

// tokenBatch holds the token times of requests that ended one after the other.
type tokenBatch struct {
	times []float64 // ms, of all its requests
	ends  []tokenEnd
}

// tokenEnd says whose the times up to a place of the batch are.
type tokenEnd struct {
	at    int32
	row   int32
	group int32 // of the worker
}

// batchTimes is the number of times that a batch is handed over with.
const batchTimes = 1 << 14

// add notes the last of the open batch's times, those after the request noted before, as the
// request's in a row.
func (b *tokenBook) add(row, group int) {
	t := b.open
	t.ends = append(t.ends, tokenEnd{int32(len(t.times)), int32(row), int32(group)})
	if len(t.times) < batchTimes {
		return
	}
	if b.full == nil {
		b.start()
	}
	b.full <- t
	b.open = <-b.empty
}

// start sets the goroutine to work.
func (b *tokenBook) start() {
	b.full, b.empty, b.done = make(chan *tokenBatch, 1), make(chan *tokenBatch, 2), make(chan struct{})
	b.empty <- &tokenBatch{}
	b.empty <- &tokenBatch{}
	go func() {
		for t := range b.full {
			b.sum(t)
			b.empty <- t
		}
		close(b.done)
	}()
}

// close ends the account, after which the result holds all of it.
func (b *tokenBook) close() {
	if b.full != nil {
		close(b.full)
		<-b.done
		b.full = nil
	}
	b.sum(b.open)
}

// sum enters the times of a batch into the result and empties it.
func (b *tokenBook) sum(t *tokenBatch) {
	from := int32(0)
	for _, e := range t.ends {
		times := t.times[from:e.at]
		from = e.at
		b.res.Gaps.AddTimes(times)
		if b.res.GroupGaps != nil {
			b.res.GroupGaps[e.group].AddTimes(times)
		}
		b.res.Requests[e.row].TokenHash = tokenHash(times)
	}
	t.times, t.ends = t.times[:0], t.ends[:0]
}

// tokenHash is a hash of token times, a multiply-and-shift chain.
func tokenHash(times []float64) uint64 {
	const seed, prime = 0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93
	hash := uint64(seed)
	for _, t := range times {
		hash = (hash ^ math.Float64bits(t)) * prime
		hash ^= hash >> 29
	}
	return hash
}
