package engine

import "slices"

// Work is what a worker did for a request, in tokens.
type Work struct{ PromptTokens, OutputTokens int32 }

// Work returns what was computed of a request's prompt, what came from the cache
// left out, and generated for it. Of a prompt whose blocks were given up before
// it produced a token nothing counts.
func (w *Worker) Work(s *Seq) Work {
	done := min(s.computed, s.Prompt)
	if s.Generated > 0 {
		done = s.Prompt
	}
	return Work{max(0, done-s.FirstReused), s.Generated}
}

// Resident reports whether KV of the request is on the worker.
func (s *Seq) Resident() bool { return s.computed > 0 }

// Resident returns the blocks of the pool that hold anything, cached ones that
// nobody uses included.
func (w *Worker) Resident() int64 {
	if w.sg != nil {
		return int64(w.NumGPUBlocks - w.sg.free)
	}
	return int64(w.pool.total - w.pool.free)
}

// Halt ends the worker's plan with the pass that is under way at now, as if that
// had ended. Nothing starts after it.
func (w *Worker) Halt(now float64) {
	w.Cut(now)
	w.finishPlan()
}

// Abort takes a request off the worker between two passes. It returns what was
// done for it and the blocks that it held; those that are complete stay in the
// cache. A request that the last pass finished holds none any more.
func (w *Worker) Abort(s *Seq, now float64) (done Work, blocks int32) {
	w.finishPlan()
	done = w.Work(s)
	// A prefill worker keeps the blocks of a prompt that it finished.
	if w.remove(s) || w.Role == Prefill {
		if w.offload != nil {
			w.offload.abandon(s, now)
		}
		blocks = s.blocks()
		w.Release(s, now)
	}
	return done, blocks
}

// Held returns the blocks that the request holds.
func (s *Seq) Held() int32 { return s.blocks() }

// remove takes a request out of the queue or the batch.
func (w *Worker) remove(s *Seq) bool {
	if w.sg != nil {
		if i := slices.Index(w.sg.prebuilt, s); i >= 0 {
			w.sg.prebuilt = slices.Delete(w.sg.prebuilt, i, i+1)
			return true
		}
	}
	for i := range w.waiting.n {
		if w.waiting.at(i) == s {
			w.waiting.remove(i)
			return true
		}
	}
	if i := slices.Index(w.running, s); i >= 0 {
		w.running = slices.Delete(w.running, i, i+1)
		return true
	}
	return false
}
