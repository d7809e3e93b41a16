package engine

import "sort"

// Backlog is what a worker's requests have yet to do.
type Backlog struct {
	PrefillTokens int64 // prompt tokens that no pass has taken up, cached ones left out
	DecodeTokens  int64 // output tokens still to be generated
	Running       int64 // requests
	Waiting       int64 // requests
	UsedBlocks    int64 // KV blocks in use
}

// GeneratedBy returns the tokens that one of the worker's requests has by now:
// those of passes that ended before now and, with ended, of one that ends at
// now.
func (w *Worker) GeneratedBy(s *Seq, now float64, ended bool) int32 {
	over := func(end float64) bool { return end < now || end == now && ended }
	if w.plan.n > 0 && s.blocks() > 0 {
		planned := w.log[w.plan.first-w.logBase-1:]
		return s.Generated + int32(sort.Search(len(planned), func(i int) bool { return !over(planned[i]) }))
	}
	if w.drafts != nil {
		return s.Generated - w.burstUnder(s, over)
	}
	if n := len(w.log); n > 0 && s.Generated > 0 && s.lastPass == w.passNo && !over(w.log[n-1]) {
		return s.Generated - 1 // by the pass under way
	}
	return s.Generated
}

// burstUnder returns the tokens of a request's burst in the pass under way.
func (w *Worker) burstUnder(s *Seq, over func(end float64) bool) int32 {
	if n := len(w.log); n > 0 && !over(w.log[n-1]) {
		for _, b := range w.bursts {
			if b.seq == s {
				return b.n
			}
		}
	}
	return 0
}

// Used returns the KV blocks in use after the last pass that was decided.
func (w *Worker) Used() int64 { return int64(w.active()) }

// Backlog returns what is left to do as of now; a pass under way counts as done.
func (w *Worker) Backlog(now float64) (b Backlog) {
	for i := 0; i < w.waiting.n; i++ {
		s := w.waiting.at(i)
		if s.arrived {
			b.DecodeTokens += int64(s.remaining(w.MaxModelLen))
			continue
		}
		held := w.Held(s.Blocks[:min(int(s.Prompt/w.BlockSize), len(s.Blocks))])
		b.PrefillTokens += int64(s.Prompt - held*w.BlockSize)
		b.DecodeTokens += int64(s.remaining(w.MaxModelLen))
	}
	for _, s := range w.running {
		b.PrefillTokens += int64(max(0, s.Prompt-s.computed))
		b.DecodeTokens += int64(max(0, s.Output-w.GeneratedBy(s, now, true)))
	}
	for _, line := range [...][]*Seq{w.expected, w.reserved} {
		for _, s := range line {
			b.DecodeTokens += int64(s.remaining(w.MaxModelLen))
		}
		b.Waiting += int64(len(line))
	}
	b.Running, b.Waiting, b.UsedBlocks = int64(len(w.running)), b.Waiting+int64(w.waiting.n), w.Used()
	return b
}
