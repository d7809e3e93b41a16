package engine

// TensorRT-LLM's scheduler is vLLM's with another gate. Under its policy
// guaranteed_no_evict every running request has the blocks of its whole output
// set aside, so that none is ever preempted. A prompt that is fully cached is
// not computed again.

// clampOutput cuts a request's output on its way into the queue to what the
// context limit and, with TensorRT-LLM, the pool allow.
func (w *Worker) clampOutput(s *Seq) {
	if w.Backend == VLLM {
		return
	}
	if w.MaxModelLen > 0 {
		s.Output = min(s.Output, max(0, w.MaxModelLen-s.Prompt))
	}
	if w.Backend == SGLang {
		return
	}
	if pool := int64(w.NumGPUBlocks) * int64(w.BlockSize); int64(s.Prompt) < pool {
		s.Output = int32(min(int64(s.Output), pool-int64(s.Prompt)))
	}
}

// wholeBlocks returns the blocks of a request's prompt and whole output.
func (w *Worker) wholeBlocks(s *Seq) int32 {
	bs := int64(w.BlockSize)
	return int32((int64(s.Prompt) + int64(s.Output) + bs - 1) / bs)
}

// unreserved returns the blocks that no request holds and that are not set
// aside for the rest of one that runs or, on a decode worker, is about to.
func (w *Worker) unreserved() int32 {
	n := int64(w.NumGPUBlocks) - int64(w.pool.active())
	for _, s := range w.running {
		n -= int64(max(0, w.wholeBlocks(s)-s.blocks()))
	}
	for _, s := range w.reserved {
		n -= int64(max(0, w.wholeBlocks(s)-s.blocks()))
	}
	if w.Role == Decode {
		for i := range w.waiting.n {
			if s := w.waiting.at(i); s.arrived {
				n -= int64(max(0, w.wholeBlocks(s)-s.blocks()))
			}
		}
	}
	return int32(max(0, n))
}
