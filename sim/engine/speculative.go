package engine

import (
	"fmt"
	"strings"

	"routesim/models/numeral"
	"routesim/workloads/chacha"
)

// Speculative decoding: in every pass a request drafts some tokens ahead, and
// emits its next token and the drafts that are accepted, up to the first that is
// not. All of them come at the end of the pass.

// MaxDraft is the most tokens that can be drafted ahead.
const MaxDraft = 5

// Draft are the settings of speculative decoding.
type Draft struct {
	Tokens int32 // drafted ahead per pass, 0 = none
	// Accept is the chance of each draft, given that those before it were
	// accepted.
	Accept [MaxDraft]float64
	Seed   uint64
}

// DefaultDraft returns Dynamo's defaults; nothing is drafted.
func DefaultDraft() Draft { return Draft{Accept: [MaxDraft]float64{0.85, 0.3}, Seed: 42} }

// newDrafts returns the draws of a worker's rank, nil without speculation.
func newDrafts(p *Params, index int) *chacha.Source {
	if p.Draft.Tokens == 0 {
		return nil
	}
	return chacha.New(p.Draft.Seed + uint64(index))
}

// burst is the tokens of one request in one pass.
type burst struct {
	seq *Seq
	n   int32
}

// postponeBursts moves the tokens of the pass just decided to end.
func (w *Worker) postponeBursts(end float64) {
	for _, b := range w.bursts {
		for i := len(b.seq.early) - int(b.n); i < len(b.seq.early); i++ {
			b.seq.early[i] = end
		}
	}
}

// ready reports whether a running request produces tokens in this pass.
func (w *Worker) ready(s *Seq) bool {
	return s.computed >= s.length() && s.remaining(w.MaxModelLen) > 0
}

// reserveDrafts takes the blocks for the tokens that ready requests may emit,
// preempting running requests until the pool can supply them. It reports false
// where not even one request alone can have its blocks: it would be computed and
// preempted for ever.
func (w *Worker) reserveDrafts() bool {
	for i := 0; i < len(w.running); {
		s := w.running[i]
		most := s.length() + min(w.Draft.Tokens+1, s.remaining(w.MaxModelLen))
		fresh := ceilDiv(most, w.BlockSize) - s.blocks()
		if !w.ready(s) || fresh <= 0 || w.pool.reserve(s, nil, fresh) {
			i++
			continue
		}
		alone := len(w.running) == 1
		victim := len(w.running) - 1
		if w.Preemption == FIFO {
			victim = 0
		}
		w.running[victim].pass = -1 // its part in this pass has been computed
		w.preempt(victim)
		if alone {
			return false
		}
		i = 0
	}
	return true
}

// drawBurst draws how many tokens a request emits.
func (w *Worker) drawBurst(s *Seq) int32 {
	n := int32(1)
	for n <= w.Draft.Tokens && w.drafts.Bernoulli(w.Draft.Accept[n-1]) {
		n++
	}
	return min(n, s.remaining(w.MaxModelLen))
}

// emitBurst gives a request the tokens of the pass, and gives back the blocks
// that the drafts which were not accepted would have filled.
func (w *Worker) emitBurst(s *Seq) {
	end, n := w.log[len(w.log)-1], w.drawBurst(s)
	w.bursts = append(w.bursts, burst{s, n})
	for range n {
		s.early = append(s.early, end)
		s.Generated++
		w.stats.OutputTokens++
	}
	s.segStart, s.lastPass = w.passNo, w.passNo-1
	s.computed = s.length() - 1
	w.sealBlocks(s)
	if excess := s.blocks() - ceilDiv(s.computed, w.BlockSize); excess > 0 {
		s.private -= excess
		w.pool.free += excess
	}
}

// ParseAcceptRates reads the chances of drafts, separated by commas. Those that
// are not given are 0.
func ParseAcceptRates(text string) (rates [MaxDraft]float64, err error) {
	words := strings.Split(text, ",")
	if len(words) > MaxDraft {
		return rates, fmt.Errorf("found %d numbers, expected at most %d", len(words), MaxDraft)
	}
	for i, word := range words {
		v, ok := numeral.Real(strings.TrimSpace(word))
		if !ok || !(v >= 0 && v <= 1) {
			return rates, fmt.Errorf("found %q, expected a number from 0 to 1", word)
		}
		rates[i] = v
	}
	return rates, nil
}
