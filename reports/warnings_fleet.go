package reports

import (
	"fmt"
	"slices"
	"strings"

	"routesim/reports/format"
	"routesim/sim"
	"routesim/sim/engine"
)

// failed says why prompts that prefill workers computed never reached a decode
// worker.
func (f *facts) failed() string {
	n, longest := int64(0), int32(0)
	for i := range f.result.Requests {
		if q := &f.result.Requests[i]; q.Status == sim.Failed {
			n++
			longest = max(longest, q.InputTokens)
		}
	}
	if n == 0 {
		return ""
	}
	pool := int64(0)
	for i := range f.config.Fleet {
		e := &f.config.Fleet[i].Engine
		pool = max(pool, int64(e.NumGPUBlocks)*int64(e.BlockSize))
	}
	return fmt.Sprintf("%s failed between the pools, counted as rejected: the decode worker can never hold the prompt (longest %s tokens; a decode worker's KV pool holds at most %s).",
		format.Plural(n, "request"), format.Count(int64(longest)), format.Count(pool))
}

// cutShort counts answers that TensorRT-LLM ends where prompt and answer fill its
// pool.
func (f *facts) cutShort() string {
	e := &f.config.Fleet[0].Engine
	if e.Backend != engine.TRTLLM {
		return ""
	}
	n := int64(0)
	for i := range f.result.Requests {
		q := &f.result.Requests[i]
		asked := f.trace.OutputTokens(i)
		if limit := q.InputTokens + asked; e.MaxModelLen > 0 && limit > e.MaxModelLen {
			asked = max(0, e.MaxModelLen-q.InputTokens)
		}
		if q.Status == sim.Completed && q.OutputTokens < asked {
			n++
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%s cut short where prompt and answer fill a worker's KV pool, as TensorRT-LLM does; raise num-gpu-blocks.", format.Plural(n, "answer")+verb(n, " is", " are"))
}

// freeTransfer says that KV goes from pool to pool in no time.
func (f *facts) freeTransfer() string {
	if !f.config.Disaggregated() || slices.ContainsFunc(f.config.Prefill, func(g sim.Group) bool { return g.Transfer.GBPerSecond > 0 }) {
		return ""
	}
	return "KV goes from prefill to decode workers in no time, as in Dynamo's replay where nothing is said of it; a real fleet's latencies are longer. Give kv-transfer-bandwidth."
}

// lateFaults says which faults the run did not reach.
func (f *facts) lateFaults() string {
	if f.result.Stopped {
		return ""
	}
	var late []string
	for i := range f.config.Faults {
		if at := &f.config.Faults[i]; at.From > f.result.EndMS {
			late = append(late, at.String())
		}
	}
	if at := f.config.RestartAtMS; at != nil && *at > f.result.EndMS {
		late = append(late, fmt.Sprintf("the restart at %.0f", *at))
	}
	if len(late) == 0 {
		return ""
	}
	return fmt.Sprintf("The run ended at %s (%.0f ms), before %s: without effect. Times are in ms from its start.", format.Duration(f.result.EndMS), f.result.EndMS, strings.Join(late, ", "))
}
