package engine

import "routesim/models"

// outcome is how the scheduling of one request ended.
type outcome uint8

const (
	done          outcome = iota
	blocked               // no budget, or no blocks, for it in this pass
	selfPreempted         // it was its own victim
)

// Start begins the next pass at now, or a run of passes in which nothing can
// happen, and returns when it ends. It fails if the worker can make no
// progress with the requests it has.
func (w *Worker) Start(now float64) (end float64, err error) {
	w.finishPlan()
	w.commitTokens()
	if w.busySince < 0 {
		w.busySince = now
	}
	w.signals = w.signals[:0]
	if !w.opt.Plain {
		if end, ok := w.startPlan(now); ok {
			return end, nil
		}
	}
	for try := 0; ; try++ {
		end, effect, again := w.attempt(now)
		if effect {
			return end, nil
		}
		if !again || try >= mostRetries {
			return end, w.giveUpAt(now)
		}
	}
}

// startPass decides one pass: which requests get how many tokens, what enters
// and leaves the pool, which tokens come out. It reports whether the pass had
// any effect.
func (w *Worker) startPass(now float64) (end float64, effect bool) {
	w.passNo++
	w.stats.Passes++
	w.budget = w.MaxNumBatchedTokens
	w.batch, w.pf = models.Batch{}, prefillPart{}
	w.victims, w.admitted, w.scheduled = 0, 0, 0
	w.refused = w.refused[:0]
	w.bursts = w.bursts[:0]

	if w.offload != nil {
		w.offload.begun = 0
	}
	w.scheduleRunning(now)
	decoding := w.waiting.n > 0 && w.onlyDecodes()
	if w.victims == 0 {
		if w.offload != nil {
			w.admitOffload(now)
		} else {
			w.admit(now)
		}
	}
	possible := true
	if w.drafts != nil {
		w.dropSilent() // what they give back is there for the drafts
		possible = w.reserveDrafts()
	}
	w.stats.PeakRunning = max(w.stats.PeakRunning, int32(len(w.running)))
	w.level(w.pool.active(), now)

	start := now
	if w.offload != nil {
		start = w.transfers(now)
	}
	done := w.countBatch()
	prefill, decode := w.opt.Timing.Step(&w.batch)
	if w.ranger != nil && w.scheduled > 0 && !w.ranger.InRange(&w.batch) {
		w.stats.OutOfRange++
	}
	end = (start + prefill) + decode
	w.log = append(w.log, end)
	if w.opt.Observe != nil {
		w.opt.Observe(Pass{Start: now, End: end, Running: int32(len(w.running)), Waiting: int32(w.waiting.n), Blocks: w.kvLevel})
	}
	w.emitTokens(done)
	w.Events.seal(end)
	w.stats.PrefillTokens += w.pf.context - w.pf.prefix
	w.owed = w.pf.tokens

	// A queue that stayed shut in a pass of decodes stays shut until something
	// leaves: no budget, slot or block comes back before.
	w.closed = decoding && w.admitted == 0 && w.victims == 0 && len(w.signals) == 0 && w.waiting.n > 0

	if !possible || end == now && w.scheduled == 0 && w.victims == 0 && w.admitted == 0 && len(w.signals) == 0 && !w.beganLoads() {
		w.stats.Passes--
		return end, false
	}
	return end, true
}

// scheduleRunning gives the running requests their tokens, in order of
// admission.
func (w *Worker) scheduleRunning(now float64) {
	for i := 0; i < len(w.running) && w.budget > 0; {
		// A victim that stood before i shifts the list, so that the request
		// after i is passed over: vLLM's own quirk in fifo mode.
		switch w.schedule(w.running[i], 0, nil) {
		case blocked:
			return
		case done:
			i++
		}
	}
}

// onlyDecodes reports whether every running request got one token and computes
// no prompt.
func (w *Worker) onlyDecodes() bool {
	for _, s := range w.running {
		if s.pass != w.passNo || s.tokens != 1 || s.part.seqs > 0 {
			return false
		}
	}
	return true
}

// admit takes requests from the head of the queue while they fit.
func (w *Worker) admit(now float64) {
	for int32(len(w.running)) < w.MaxNumSeqs && w.waiting.n > 0 {
		at := 0
		if w.Role == Decode {
			if at = w.nextToAdmit(); at < 0 {
				return
			} else if s := w.waiting.at(at); s.arrived {
				w.waiting.remove(at)
				w.run(s, now)
				if w.budget == 0 {
					return
				}
				continue
			}
		}
		s := w.waiting.at(at)
		if w.neverFits(s) {
			w.waiting.remove(at)
			w.refused = append(w.refused, s)
			continue
		}
		cached, hits, ok := w.gate(s)
		if !ok {
			return
		}
		before := w.budget
		if w.schedule(s, cached, hits) != done {
			return
		}
		// Its claims may have cost others their place; they wait before it now.
		w.waiting.remove(at + w.victims)
		w.running = append(w.running, s)
		w.noteAdmission(s, now, cached)
		if w.victims > 0 || w.budget == before && w.budget == 0 {
			return
		}
	}
}

// neverFits reports whether a request must be rejected: its prompt reaches the
// context limit, or it is new and outgrows the whole pool.
func (w *Worker) neverFits(s *Seq) bool {
	if w.MaxModelLen > 0 && s.Prompt >= w.MaxModelLen {
		return true
	}
	if w.Backend == TRTLLM {
		return w.wholeBlocks(s) > w.NumGPUBlocks
	}
	return !s.preempted && ceilDiv(s.length(), w.BlockSize) > w.NumGPUBlocks
}

// gate looks up the request's cached prefix and decides whether there is room.
// Room is asked for the whole request even where only a chunk is scheduled, and
// cached blocks that nobody uses do not count as found.
func (w *Worker) gate(s *Seq) (cached int32, hits []hold, ok bool) {
	found, inUse := w.find(s)
	if w.Backend == TRTLLM {
		return found * w.BlockSize, w.hits, w.wholeBlocks(s)-inUse <= w.unreserved()
	}
	cached, ok = w.room(s, found, inUse)
	return cached, w.hits, ok
}

// find looks up the request's cached prefix; the claims on it are in w.hits.
func (w *Worker) find(s *Seq) (found, inUse int32) {
	w.hits = w.hits[:0]
	if w.EnablePrefixCaching {
		w.hits, found, inUse = w.pool.lookup(s.Blocks[:w.known(s)], w.hits)
	}
	return found, inUse
}

// known returns how many of the request's blocks have an identity. A block that
// was completed by a token not computed yet has none before the request is
// admitted with that token.
func (w *Worker) known(s *Seq) int32 {
	known := s.length() / w.BlockSize
	if s.preempted {
		known = min(known, s.named)
	}
	return known
}

// room decides whether there is room for a request of whose prefix the given
// blocks are cached, some of them in use, and returns the tokens it may reuse.
func (w *Worker) room(s *Seq, found, inUse int32) (cached int32, ok bool) {
	length, bs := s.length(), w.BlockSize
	cached, used := found*bs, inUse*bs
	if s.remaining(w.MaxModelLen) > 0 {
		// The last token must be computed to produce the next one, and with it
		// its whole block.
		limit := (length - 1) / bs * bs
		if cached > limit {
			w.hits = trim(w.hits)
		}
		cached, used = min(cached, limit), min(used, limit)
		if w.drafts != nil && cached >= bs {
			w.hits = trim(w.hits)
			cached -= bs
			used = min(used, cached)
		}
	}
	need := ceilDiv(length, bs) - used/bs
	return cached, need <= w.NumGPUBlocks-w.pool.active()
}

func (w *Worker) noteAdmission(s *Seq, now float64, cached int32) {
	if s.Admissions == 0 {
		s.FirstAdmit, s.FirstReused = now, cached
	}
	s.MaxReused = max(s.MaxReused, cached)
	s.Admissions++
	s.named = max(s.named, s.length()/w.BlockSize)
	w.admitted++
	if w.opt.KeepAdmissions {
		w.Admissions = append(w.Admissions, Admission{Row: s.Row, At: now, Reused: cached})
	}
}

// schedule gives a request as many tokens as the budget allows, and the blocks
// for them. hits are the blocks behind the cached tokens of a new request.
func (w *Worker) schedule(s *Seq, cached int32, hits []hold) outcome {
	before := s.computed + cached
	promptBefore := min(before, s.Prompt)
	rest, promptRest := s.length()-before, s.Prompt-promptBefore
	if !w.EnableChunkedPrefill && promptRest > 0 && promptRest > w.budget {
		return blocked
	}
	take := min(rest, w.budget)
	if take == 0 && rest > 0 {
		return blocked
	}
	after := before + take
	if held := s.blocks(); ceilDiv(after, w.BlockSize) > held {
		if got := w.allocate(s, hits, ceilDiv(after, w.BlockSize)-held-cached/w.BlockSize); got != done {
			return got
		}
	}
	s.computed = after
	w.sealBlocks(s)

	s.pass, s.tokens, s.part = w.passNo, take, prefillPart{}
	if fresh := int64(min(after, s.Prompt) - promptBefore); fresh > 0 {
		b := int64(promptBefore)
		s.part = prefillPart{
			seqs: 1, context: b + fresh, prefix: b,
			pairs: fresh*b + fresh*(fresh+1)/2, tokens: int64(take),
		}
		if w.Role == Decode && !s.local { // what it computes anew takes no prefill time
			s.part = prefillPart{tokens: int64(take)}
		}
	}
	w.pf.add(s.part, 1)
	w.budget -= take
	w.scheduled += int64(take)
	return done
}

func (a *prefillPart) add(b prefillPart, sign int64) {
	a.seqs += sign * b.seqs
	a.context += sign * b.context
	a.prefix += sign * b.prefix
	a.pairs += sign * b.pairs
	a.tokens += sign * b.tokens
}

// allocate pins the hits and takes fresh blocks, preempting running requests
// until the pool can supply them.
func (w *Worker) allocate(s *Seq, hits []hold, fresh int32) outcome {
	for {
		if w.pool.reserve(s, hits, fresh) {
			if w.offload != nil {
				w.offload.notBefore = max(w.offload.notBefore, w.pool.memory.until)
			}
			return done
		}
		if len(w.running) == 0 {
			return blocked
		}
		i := len(w.running) - 1
		if w.Preemption == FIFO {
			i = 0
		}
		victim := w.running[i]
		w.preempt(i)
		if victim == s {
			return selfPreempted
		}
	}
}

// preempt takes running request i off the batch and puts it back at the front
// of the queue, with all its blocks given up.
func (w *Worker) preempt(i int) {
	s := w.running[i]
	w.running = append(w.running[:i], w.running[i+1:]...)
	if w.offload != nil {
		w.offload.preempted(s)
	}
	w.giveUp(s)
	s.named = max(s.named, s.computed/w.BlockSize)
	s.computed, s.preempted = 0, true
	w.keepTimes(s)
	s.segStart, s.lastPass = w.passNo, w.passNo-1
	if s.pass == w.passNo {
		w.budget += s.tokens
		w.scheduled -= int64(s.tokens)
		w.pf.add(s.part, -1)
		s.pass = -1
	}
	w.waiting.pushFront(s)
	w.victims++
	w.generation++
	w.stats.Preemptions++
	w.stats.PeakWaiting = max(w.stats.PeakWaiting, int32(w.waiting.n))
}

// sealBlocks turns the request's blocks that are complete by now into cached
// copies, visible at once to the requests scheduled after it.
func (w *Worker) sealBlocks(s *Seq) {
	if !w.EnablePrefixCaching {
		return
	}
	if complete := s.computed / w.BlockSize; s.sealed < complete {
		w.pool.seal(s, s.Blocks[s.sealed:complete])
	}
}

func (w *Worker) giveUp(s *Seq) {
	w.sealBlocks(s)
	w.pool.release(s)
}

// countBatch completes the shape of the batch: which of the running requests
// produce a token, and which of those are charged as decodes. It reports
// whether any request leaves.
func (w *Worker) countBatch() (leaving bool) {
	b := &w.batch
	b.PrefillSeqs, b.PrefillContext, b.PrefillPrefix, b.PrefillPairs =
		w.pf.seqs, w.pf.context, w.pf.prefix, w.pf.pairs
	b.ScheduledTokens = w.scheduled
	for _, s := range w.running {
		if s.computed < s.length() {
			continue
		}
		rem := s.remaining(w.MaxModelLen)
		if rem <= 1 {
			leaving = true
		}
		// The first token of a prompt comes with its prefill and costs no
		// decode time, unless tokens are drafted with it.
		if rem > 0 && w.Role != Prefill && !(s.Generated == 0 && s.pass == w.passNo && s.part.seqs > 0 && w.drafts == nil) {
			b.DecodeSeqs++
			b.DecodeContext += int64(s.length())
		}
	}
	return leaving || len(w.refused) > 0
}

// emitTokens hands out the tokens of the pass and lets the finished requests
// go: first those that end without a token, then the others in running order,
// then the refused.
func (w *Worker) emitTokens(leaving bool) {
	if leaving {
		w.dropSilent()
	}
	kept := w.running[:0]
	for _, s := range w.running {
		if s.computed < s.length() {
			kept = append(kept, s)
			continue
		}
		first := s.Generated == 0
		if w.drafts != nil {
			w.emitBurst(s)
		} else {
			w.emit(s, w.passNo)
		}
		switch {
		case s.remaining(w.MaxModelLen) == 0:
			w.leave(s)
			w.signals = append(w.signals, Signal{s, DoneWithToken})
			continue
		case first:
			w.signals = append(w.signals, Signal{s, FirstToken})
		}
		kept = append(kept, s)
	}
	clear(w.running[len(kept):])
	w.running = kept
	for _, s := range w.refused {
		w.signals = append(w.signals, Signal{s, Refused})
	}
}

// dropSilent lets go the requests that are complete and have no token to
// produce.
func (w *Worker) dropSilent() {
	kept := w.running[:0]
	for _, s := range w.running {
		if s.computed >= s.length() && s.remaining(w.MaxModelLen) == 0 {
			w.leave(s)
			w.signals = append(w.signals, Signal{s, DoneSilently})
			continue
		}
		kept = append(kept, s)
	}
	clear(w.running[len(kept):])
	w.running = kept
}
