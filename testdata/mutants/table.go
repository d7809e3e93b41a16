package main

import "slices"

// mutant is the program with one rule broken.
type mutant struct {
	name  string
	rule  string // what holds in the program, and what holds in the mutant
	edits []edit
	// catcher is the scenario of the suite that notices it, used where only one
	// is run; "" = none did.
	catcher string
}

// edit replaces a piece of source that stands in its file exactly once.
type edit struct{ file, find, replace string }

// mutants are known faults of implementations of Dynamo's router, and of an
// engine's cache under it.
func mutants() []mutant {
	return slices.Concat(routerMutants(), loadMutants(), engineMutants(), limitMutants())
}

// routerMutants break cost, choice and queue.
func routerMutants() []mutant {
	const cost, pick, queue, router = "sim/router/cost.go", "sim/router/pick.go", "sim/router/queue.go", "sim/router/router.go"
	return []mutant{
		{"lowest-id-ties", "Equal costs are drawn from at random; the mutant takes the lowest worker.",
			[]edit{{pick, "rng.Tie), int(r.tied))", "rng.Tie), 1)"}}, "defaults"},
		{"tail-rounded", "The prefill part is fractional; the mutant rounds it up to whole blocks.",
			[]edit{{cost, "raw/float64(r.blockSize)-credit", "float64((int64(raw)+int64(r.blockSize)-1)/int64(r.blockSize))-credit"}}, "defaults"},
		{"credit-twice", "Cached blocks come off once, as credit; the mutant also takes cached tokens off the prompt.",
			[]edit{{cost, "c.prefillTokens + max(int64(q.isl), cached))", "c.prefillTokens + max(int64(q.isl), cached) - cached)"}}, "defaults"},
		{"own-part-floored", "The sum of backlog and prompt less credit is floored at 0; the mutant floors the prompt's part alone.",
			[]edit{{cost, "adjusted := max(0, raw/float64(r.blockSize)-credit)",
				"adjusted := float64(c.prefillTokens)/float64(r.blockSize) + max(0, (raw-float64(c.prefillTokens))/float64(r.blockSize)-credit)"}}, "temperature"},
		{"decay-floors-prompt", "The fading of the credit counts a prompt's blocks rounded up; the mutant rounds down.",
			[]edit{{cost, "(int64(q.isl)+int64(r.blockSize)-1)/int64(r.blockSize)", "int64(q.isl)/int64(r.blockSize)"}}, "temperature"},
		{"softmax-without-range", "A temperature divides costs by their range; the mutant takes raw costs.",
			[]edit{{pick, "/ float64(span*temperature)", "/ temperature"}}, "temperature"},
		{"busy-at-threshold", "A worker is busy above the threshold; the mutant's is at it.",
			[]edit{{queue, "float64(tokens) > float64(*c.BusyFraction*limit)", "float64(tokens) >= float64(*c.BusyFraction*limit)"}}, "closed-loop"},
		{"queue-ignores-backlog", "A request waits while every worker's prefill backlog exceeds the threshold; the mutant never holds any.",
			[]edit{{queue, "if !c.busy(a, r.batchLimit[w]) {", "if c.busy(a, r.batchLimit[w]) || true {"}}, "queue"},
		{"priority-as-tier", "A priority counts as seconds of earlier arrival under fcfs; the mutant lets it beat any wait.",
			[]edit{{queue, "return jump - arrival", "return 1e6*jump - arrival"}}, "queue"},
		{"overlap-looked-up-again", "A request that waited keeps the overlaps of its arrival; the mutant looks them up again.",
			[]edit{{router, "\treturn r.admit(q, forced)\n", "\tr.lookup(q)\n\treturn r.admit(q, forced)\n"}}, "queue"},
	}
}

// loadMutants break the account of active requests and the view of caches.
func loadMutants() []mutant {
	const active, cache, loads, router = "sim/router/active.go", "sim/router/cache.go", "sim/router/loads.go", "sim/router/router.go"
	return []mutant{
		{"index-for-active-blocks", "A request adds the blocks that no active prompt has; the mutant asks the cache index instead.",
			[]edit{{router, "c.newBlocks -= int64(held)", "c.newBlocks -= int64(q.overlap[w])"}}, "defaults"},
		{"shared-blocks-per-request", "Blocks that active requests share count once; the mutant counts them for each.",
			[]edit{
				{active, "s.blocks += int64(len(blocks) - s.shared(blocks, i))", "s.blocks += int64(len(blocks))"},
				{active, "s.blocks -= int64(len(blocks) - s.shared(blocks, i))", "s.blocks -= int64(len(blocks))"},
			}, "defaults"},
		{"prefill-kept-to-the-end", "The first token releases a prompt's prefill load; the mutant waits for the last.",
			[]edit{{router, "if !r.knows(&q.booking) {", "if r.knows(&q.booking) {"}}, "defaults"},
		{"prefill-never-booked", "Prefill load is held until the first token; the mutant releases it at dispatch.",
			[]edit{{router, "b.prefill = q.ISL - int32(min(r.cachedOf(q, int(w)), int64(q.ISL)))", "b.prefill = 0"}}, "defaults"},
		{"whole-prompt-booked", "Only uncached prompt tokens are booked as load; the mutant books the prompt.",
			[]edit{{router, "b.prefill = q.ISL - int32(min(r.cachedOf(q, int(w)), int64(q.ISL)))", "b.prefill = q.ISL"}}, "defaults"},
		{"blocks-never-freed", "The end of a request frees its blocks in the account; the mutant keeps them.",
			[]edit{{active, "s.blocks -= int64(len(blocks) - s.shared(blocks, i))", "_ = s.shared(blocks, i)"}}, "defaults"},
		{"requests-never-freed", "The end of a request takes it off the number of active ones; the mutant keeps counting it.",
			[]edit{{loads, "l.requests[w]--", "l.requests[w] += 0"}}, "temperature"},
		{"stale-index", "Removed blocks leave the router's index; the mutant keeps them.",
			[]edit{{cache, "b.events.Clear(target, e.Block, e.Count)", "_ = e.Count"}}, "small-cache"},
	}
}

// engineMutants break events and the block pool.
func engineMutants() []mutant {
	const events, pass, pool = "sim/engine/events.go", "sim/engine/pass.go", "sim/engine/pool.go"
	return []mutant{
		{"events-before-their-pass-ends", "The router learns of blocks when the pass that made them ends; in the mutant when it begins.",
			[]edit{{events, "e.pending[e.open].Visible = end + e.Lag", "e.pending[e.open].Visible = e.Lag"}}, "defaults"},
		{"event-lag-ignored", "Events arrive after their lag; in the mutant at once.",
			[]edit{{events, "e.pending[e.open].Visible = end + e.Lag", "e.pending[e.open].Visible = end"}}, "small-cache"},
		{"newest-evicted", "The least recently released blocks are evicted; in the mutant the most recently released ones.",
			[]edit{{pool, "i := p.idles[0].next", "i := p.idles[0].prev"}}, "small-cache"},
		{"head-evicted-first", "The tail of a prompt is evicted before its head; in the mutant the head goes first.",
			[]edit{{pool, "for k := len(holds) - 1; k >= 0; k-- {", "for k := range holds {"}}, "small-cache"},
		{"other-victim", "The setting says which running request is preempted; the mutant takes the other end.",
			[]edit{{pass, "if w.Preemption == FIFO {", "if w.Preemption != FIFO {"}}, "small-cache"},
	}
}

// limitMutants break what shows where a limit is reached or everything is
// cached.
func limitMutants() []mutant {
	const cost, router, pass, pool = "sim/router/cost.go", "sim/router/router.go", "sim/engine/pass.go", "sim/engine/pool.go"
	return []mutant{
		{"own-blocks-left-out", "The decode part counts the blocks that the request would add; the mutant only those that are active already.",
			[]edit{{cost, "Decode:  float64(c.activeBlocks + c.newBlocks),", "Decode:  float64(c.activeBlocks),"}}, "defaults"},
		// Where prefill loads do not fade and workers stay, every release of load
		// empties the queue as far as it goes, and nobody can overtake.
		{"newcomer-overtakes", "A request waits behind those that wait already even if a worker is free; the mutant sends it there.",
			[]edit{{router, "!c.waits() && !r.allBusy(&c.Class, q)", "!r.allBusy(&c.Class, q)"}}, "queue"},
		{"cached-prompt-computes-nothing", "The last block of a prompt that is cached as a whole is computed again; the mutant reuses it.",
			[]edit{{pass, "limit := (length - 1) / bs * bs", "limit := length / bs * bs"}}, "small-cache"},
		{"removed-while-copies-remain", "A block is reported as removed with its last copy; the mutant reports it with any.",
			[]edit{{pool, "\tgone &^= p.present(p.first[e])\n", ""}}, "small-cache"},
		{"one-request-too-many", "At most max_num_seqs requests run at once; in the mutant one more.",
			[]edit{{pass, "int32(len(w.running)) < w.MaxNumSeqs", "int32(len(w.running)) <= w.MaxNumSeqs"}}, "closed-loop"},
	}
}
