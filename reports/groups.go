package reports

import (
	"math"

	"routesim/models"
	"routesim/sim"
	"routesim/sim/metrics"
)

// GroupFigures sum up one group of equal workers. Latencies are those of
// requests that completed there.
type GroupFigures struct {
	Group        int     `json:"group"`        // from 0, in the order of the fleet
	FirstWorker  int     `json:"first_worker"` // number of its first worker
	Workers      int     `json:"workers"`
	GPUs         int32   `json:"gpus_per_worker"`
	Timing       string  `json:"timing"`
	KVBlocks     int32   `json:"num_gpu_blocks"`
	MaxModelLen  *int32  `json:"max_model_len"`          // tokens, null = none
	MaxNumSeqs   *int32  `json:"max_num_seqs"`           // null = no cap
	MaxTokens    *int32  `json:"max_num_batched_tokens"` // null = no cap
	RequestMS    Number  `json:"request_ms"`             // front end's time per request, inside TTFT
	Requests     int64   `json:"requests"`               // sent here
	Completed    int64   `json:"completed_requests"`
	InputTokens  int64   `json:"input_tokens"`  // of the requests sent here
	OutputTokens int64   `json:"output_tokens"` // generated here
	BusyShare    Number  `json:"busy_share"`    // busy time over the run's, mean of its workers
	OutOfRange   Number  `json:"passes_out_of_range_share"`
	TTFT         StatsMS `json:"ttft_ms"`
	ITL          StatsMS `json:"itl_ms"`
}

// groupFigures sums up each group of the fleet.
func groupFigures(c *sim.Config, r *sim.Result, s *Summary) []GroupFigures {
	groups := make([]GroupFigures, len(c.Fleet))
	groupOf := make([]int, 0, len(r.Workers))
	for i := range c.Fleet {
		groups[i] = newGroup(i, len(groupOf), &c.Fleet[i])
		for range c.Fleet[i].Count * c.Fleet[i].Ranks() {
			groupOf = append(groupOf, i)
		}
	}
	ttft := make([][]float64, len(groups))
	for i := range r.Requests {
		q := &r.Requests[i]
		if !counted(q) || int(q.Worker) >= len(groupOf) || q.Worker < 0 {
			continue
		}
		g := groupOf[q.Worker]
		groups[g].Completed++
		if q.OutputTokens > 0 {
			ttft[g] = append(ttft[g], RequestLatencies(q, c.Fleet[g].RequestMS).TTFT)
		}
	}
	busy, out, passes := make([]float64, len(groups)), make([]int64, len(groups)), make([]int64, len(groups))
	for i := range r.Workers {
		w, g := &r.Workers[i], groupOf[i]
		groups[g].Requests += w.Requests
		groups[g].InputTokens += w.InputTokens
		groups[g].OutputTokens += w.OutputTokens
		busy[g] += w.BusyMS
		out[g] += w.OutOfRange
		passes[g] += w.Passes
	}
	for g := range groups {
		f := &groups[g]
		f.BusyShare = Number(math.NaN())
		if r.EndMS > 0 {
			f.BusyShare = Number(busy[g] / (float64(f.Workers) * r.EndMS))
		}
		f.OutOfRange = Number(share(out[g], passes[g]))
		f.TTFT = statsMS(metrics.Exact(ttft[g]))
		f.ITL = statsMS(s.ITL)
		if g < len(r.GroupGaps) {
			f.ITL = statsMS(r.GroupGaps[g].ITL.Stats())
		}
	}
	return groups
}

func newGroup(i, first int, g *sim.Group) GroupFigures {
	e := &g.Engine
	return GroupFigures{
		Group: i, FirstWorker: first, Workers: g.Count, GPUs: max(g.GPUs, 1), Timing: timingName(g),
		KVBlocks: e.NumGPUBlocks, RequestMS: Number(g.RequestMS),
		MaxModelLen: limit(e.MaxModelLen, 0), MaxNumSeqs: limit(e.MaxNumSeqs, math.MaxInt32), MaxTokens: limit(e.MaxNumBatchedTokens, math.MaxInt32),
	}
}

// limit is a limit that a value stands in for the absence of.
func limit(v, none int32) *int32 {
	if v == none {
		return nil
	}
	return &v
}

func timingName(g *sim.Group) string {
	if m, ok := g.Timing.(models.Describer); ok {
		return m.Describe()
	}
	return ""
}
