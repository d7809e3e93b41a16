package main

// blindMutants are faults whose author had seen neither the suite nor what any
// of its scenarios contains, only the rules of the router and the engine. They
// stand as they were written first, whether the suite notices them or not, and
// so estimate what it notices of faults that it was not made for. A mutant
// without a catcher is one that it did not notice: that is recorded, and fails
// nothing.
func blindMutants() []mutant {
	const cost, router, pass, pool = "sim/router/cost.go", "sim/router/router.go", "sim/engine/pass.go", "sim/engine/pool.go"
	return []mutant{
		{"own-blocks-left-out", "The decode part counts the blocks that the request would add; the mutant only those that are active already.",
			[]edit{{cost, "Decode:  float64(c.activeBlocks + c.newBlocks),", "Decode:  float64(c.activeBlocks),"}}, "defaults"},
		// Where prefill loads do not fade and workers stay, every release of load
		// empties the queue as far as it goes, and nobody can overtake.
		{"newcomer-overtakes", "A request waits behind those that wait already even if a worker is free; the mutant sends it there.",
			[]edit{{router, "!c.waits() && !r.allBusy(&c.Class)", "!r.allBusy(&c.Class)"}}, ""},
		{"cached-prompt-computes-nothing", "The last block of a prompt that is cached as a whole is computed again; the mutant reuses it.",
			[]edit{{pass, "limit := (length - 1) / bs * bs", "limit := length / bs * bs"}}, "closed-loop"},
		{"removed-while-copies-remain", "A block is reported as removed with its last copy; the mutant reports it with any.",
			[]edit{{pool, "\tgone &^= p.present(p.first[e])\n", ""}}, ""},
		{"one-request-too-many", "At most max_num_seqs requests run at once; in the mutant one more.",
			[]edit{{pass, "int32(len(w.running)) < w.MaxNumSeqs", "int32(len(w.running)) <= w.MaxNumSeqs"}}, ""},
	}
}
