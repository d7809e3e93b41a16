package engine

import "fmt"

// StuckError says that a worker cannot go on with the requests it has.
type StuckError struct {
	AtMS     float64
	Row      int32 // trace row of the request that cannot go on
	Prompt   int32 // tokens
	Length   int32 // prompt and generated tokens
	InFlight int
	Has      int32 // KV blocks of the request
	Used     int32 // KV blocks of the pool in use, its own among them
	Params   Params
}

// Alone reports whether the request could not go on if it had the worker to
// itself.
func (e *StuckError) Alone() bool {
	p := &e.Params
	return e.Used == e.Has || p.Backend != SGLang && (e.blocks() > p.NumGPUBlocks || e.overBudget())
}

// blocks returns the KV blocks of the request.
func (e *StuckError) blocks() int32 { return ceilDiv(e.Length, e.Params.BlockSize) }

// overBudget reports whether the prompt can never be computed in one pass and may
// not be in several.
func (e *StuckError) overBudget() bool {
	return !e.Params.EnableChunkedPrefill && e.Prompt > e.Params.MaxNumBatchedTokens
}

// overChunk returns the tokens of the request's next chunk of prefill where they
// exceed what SGLang computes in one pass, else 0.
func (e *StuckError) overChunk() int64 {
	p := &e.Params
	chunk := min(int64(e.blocks())*int64(p.BlockSize), int64(p.SGLang.ChunkedPrefillSize))
	if p.Backend != SGLang || e.blocks() >= p.NumGPUBlocks || chunk <= int64(p.SGLang.MaxPrefillTokens) {
		return 0
	}
	return chunk
}

// Error names the numbers that collide and what to change.
func (e *StuckError) Error() string {
	return fmt.Sprintf("stuck at %v ms with %d requests in flight: ", e.AtMS, e.InFlight) + e.cause()
}

func (e *StuckError) cause() string {
	p := &e.Params
	made := e.Length - e.Prompt
	switch {
	case e.overChunk() > 0:
		return fmt.Sprintf("a chunk of %d tokens (prompt %d, chunked-prefill-size %d) exceeds max-prefill-tokens %d; raise it or lower chunked-prefill-size",
			e.overChunk(), e.Prompt, p.SGLang.ChunkedPrefillSize, p.SGLang.MaxPrefillTokens)
	case p.Backend == SGLang && e.Used == e.Has:
		return fmt.Sprintf("the request needs %d tokens of KV cache (prompt %d and %d generated) and more for its output, and the pool has %d (%d pages of %d); raise num-gpu-blocks, use a larger block size or lower max-model-len",
			e.Length, e.Prompt, made, int64(p.NumGPUBlocks)*int64(p.BlockSize), p.NumGPUBlocks, p.BlockSize)
	case p.Backend == SGLang:
		return fmt.Sprintf("the request needs %d pages (prompt %d and %d generated tokens, page size %d) and more for its output, it has %d, and %d of the pool's %d are in use; raise num-gpu-blocks",
			e.blocks(), e.Prompt, made, p.BlockSize, e.Has, e.Used, p.NumGPUBlocks)
	case e.blocks() > p.NumGPUBlocks:
		return fmt.Sprintf("the request needs %d KV blocks (prompt %d and %d generated tokens, block size %d) and the pool has %d; raise num-gpu-blocks or lower max-model-len",
			e.blocks(), e.Prompt, made, p.BlockSize, p.NumGPUBlocks)
	case e.overBudget():
		return fmt.Sprintf("chunked prefill is off and the prompt of %d tokens exceeds max-num-batched-tokens %d; raise it or enable chunked prefill",
			e.Prompt, p.MaxNumBatchedTokens)
	case p.Draft.Tokens > 0 && e.Used == e.Has:
		return fmt.Sprintf("the %d tokens of the request (prompt %d) and the next ones with %d drafts need more than the pool's %d KV blocks of %d; raise num-gpu-blocks or lower aic-nextn",
			e.Length, e.Prompt, p.Draft.Tokens, p.NumGPUBlocks, p.BlockSize)
	}
	return fmt.Sprintf("the request needs %d KV blocks (prompt %d and %d generated tokens, block size %d), and %d of the pool's %d are held by %s; raise num-gpu-blocks",
		e.blocks(), e.Prompt, made, p.BlockSize, e.Used, p.NumGPUBlocks, p.Role.holders())
}

// holders says which requests keep blocks on a worker of a role while none runs
// there and those that wait in the queue have none. With SGLang they may have some.
func (r Role) holders() string {
	switch r {
	case Prefill:
		return "prompts that wait for a decode worker"
	case Decode:
		return "requests that wait for their prompts' KV"
	}
	return "requests that wait as well"
}

// Stuck says why a worker that runs no pass does not go on with the requests it
// has; nil where it has none.
func (w *Worker) Stuck(now float64) *StuckError {
	s := w.oldest()
	if s == nil {
		return nil
	}
	return &StuckError{
		AtMS: now, InFlight: w.InFlight() + len(w.expected) + len(w.reserved), Params: w.Params,
		Row: s.Row, Prompt: s.Prompt, Length: s.length(), Has: s.blocks(), Used: w.active(),
	}
}

// oldest returns the request that waits first, else the one that runs first, else
// the first in line for a reservation, nil where there is none.
func (w *Worker) oldest() *Seq {
	switch {
	case w.waiting.n > 0:
		return w.waiting.at(0)
	case len(w.running) > 0:
		return w.running[0]
	case len(w.expected) > 0:
		return w.expected[0]
	}
	return nil
}
