package main

// blindMutants are faults whose author had seen neither the suite nor what any
// of its scenarios contains, only the rules of the router and the engine. They
// stand as they were written first, whether the suite notices them or not, and
// so estimate what it notices of faults that it was not made for. A mutant
// without a catcher is one that it did not notice: that is recorded, and fails
// nothing.
func blindMutants() []mutant {
	return []mutant{
		{
			"blind-book-best-overlap",
			"the prefill load booked at admission is the prompt less what the chosen worker holds; the mutant takes off what the best worker holds",
			[]edit{{
				"sim/router/router.go",
				"min(r.cachedOf(q, int(w)), int64(q.ISL))",
				"r.bestCached(q)",
			}},
			"queue",
		},
		{
			"blind-shared-one-neighbour",
			"the blocks a request adds are those beyond the longest prefix it shares with any active prompt; the mutant compares only with the prompt before it in the order",
			[]edit{{
				"sim/router/active.go",
				"return s.shared(blocks, s.place(&p))",
				"if i := s.place(&p); i > 0 {\n\t\treturn commonPrefix(blocks, s.prompts[i-1].blocks)\n\t}\n\treturn 0",
			}},
			"small-cache",
		},
		{
			"blind-release-head-first",
			"a request gives its blocks back from the last to the first; the mutant gives the nodes of its prompt back from the first on, so that the head is evicted before the tail",
			[]edit{{
				"sim/engine/pool.go",
				"for k := len(holds) - 1; k >= 0; k-- {",
				"for k := range holds {",
			}},
			"closed-loop",
		},
		{
			"blind-partial-node-lost",
			"overlap counts every leading block a worker holds; the mutant leaves out those of a node that the worker holds only in part",
			[]edit{{
				"sim/prefix/index.go",
				"\t} else if held > 0 {\n\t\tdepth[w] += held\n\t}",
				"\t}",
			}},
			"defaults",
		},
		{
			"blind-cached-budget",
			"cached tokens cost a pass none of its token budget; the mutant charges them to it",
			[]edit{{
				"sim/engine/pass.go",
				"w.budget -= take\n",
				"w.budget -= min(w.budget, take+cached)\n",
			}},
			"defaults",
		},
	}
}
