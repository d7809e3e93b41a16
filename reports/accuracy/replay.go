package accuracy

import (
	"context"
	"fmt"
	"math"
	"strconv"

	"routesim/models/profile"
	"routesim/models/profile/measured"
	"routesim/reports"
	"routesim/sim"
	"routesim/sim/engine"
	"routesim/sim/metrics"
	"routesim/sim/rng"
	"routesim/sim/router"
	"routesim/workloads"
)

const (
	// blockSize is vLLM's default number of tokens per KV block.
	blockSize = 16
	// leastGapMS is the least time in ms between the end of a request and the
	// arrival of the next at the engine: no client is so fast that its next
	// request joins the very step that follows the last token.
	leastGapMS = 0.1
)

// Outcome is what a simulated run yields: latencies in ms and the output rate
// in tokens/s.
type Outcome struct {
	TTFT, TPOT  metrics.Stats // over requests
	Gap         metrics.Stats // over the gaps between tokens
	PerToken    float64       // mean over requests of E2E over output tokens
	OutputRate  float64       // over the whole run
	Completed   int
	Preemptions int64
	Steps       int64 // engine steps
	OutOfRange  int64 // of these, outside the range of the profile
}

// Simulate replays a serving run under a fixed concurrency on one worker of
// the profile: round robin, prompts that share nothing, the engine's settings
// as the run states them. After a request ends, the next one reaches the
// engine when the front end has handled it.
func Simulate(ctx context.Context, p *profile.Profile, r *measured.Run) (*Outcome, error) {
	if p.Engine != profile.VLLM {
		return nil, p.CheckEngine(profile.VLLM)
	}
	config, err := configOf(p, r)
	if err != nil {
		return nil, err
	}
	trace, err := traceOf(r, max(p.RequestMS(), leastGapMS))
	if err != nil {
		return nil, err
	}
	res, err := sim.Run(ctx, trace, config)
	if err != nil {
		return nil, err
	}
	if res.Stopped {
		return nil, context.Cause(ctx)
	}
	o := outcomeOf(res, p.RequestMS())
	if o.Completed < r.Requests {
		return nil, fmt.Errorf("profile %s: found %d of %d requests of %d + %d tokens completed, expected all to fit into the KV cache of %d blocks",
			p.ID, o.Completed, r.Requests, r.ISL, r.OSL, config.Fleet[0].Engine.NumGPUBlocks)
	}
	return o, nil
}

func configOf(p *profile.Profile, r *measured.Run) (*sim.Config, error) {
	model, err := p.StepModel(1)
	if err != nil {
		return nil, err
	}
	capacity, err := p.KVCapacity(profile.Settings{MaxNumSeqs: r.MaxNumSeqs, MaxNumBatchedTokens: r.MaxNumBatchedTokens})
	if err != nil {
		return nil, err
	}
	c := sim.DefaultConfig(1, model)
	c.Fleet[0].Engine = engine.Params{
		NumGPUBlocks: int32(min(capacity.Tokens/blockSize, math.MaxInt32)), BlockSize: blockSize,
		MaxNumSeqs: int32(capacity.Settings.MaxNumSeqs), MaxNumBatchedTokens: int32(capacity.Settings.MaxNumBatchedTokens),
		EnablePrefixCaching: true, EnableChunkedPrefill: true,
	}
	c.Router.Mode = router.RoundRobin
	c.Concurrency = r.Concurrency
	return &c, nil
}

// traceOf builds the requests: a session for each place in flight, whose next
// turn follows the end of the one before by gapMS. Each prompt is one block of
// its own, so nothing is shared.
func traceOf(r *measured.Run, gapMS float64) (*workloads.Trace, error) {
	isl, osl := r.InputLens, r.OutputLens
	if isl == nil {
		isl, osl = lengths(r, r.ISL, 1), lengths(r, r.OSL, 2)
	}
	longest := 1
	for _, n := range isl {
		longest = max(longest, n)
	}
	b := workloads.NewBuilder(workloads.BuilderOptions{BlockSize: int32(longest), ClosedLoop: true, File: "closed loop"})
	for i := range r.Requests {
		row := workloads.Row{
			Timestamp: workloads.NoTime, InputLength: int32(isl[i]), OutputLength: int32(osl[i]),
			HashIDs: []uint64{uint64(i)}, SessionID: "place " + strconv.Itoa(i%r.Concurrency),
		}
		if i >= r.Concurrency {
			row.Delay = &gapMS
		}
		if err := b.Add(row); err != nil {
			return nil, err
		}
	}
	return b.Build()
}

// lengths returns the length of every request in tokens. Where they vary they
// are spread evenly over their range and put in a random order, so that a
// short run has the mean that is expected of a long one.
func lengths(r *measured.Run, most int, purpose rng.Purpose) []int {
	n := r.Requests
	low := max(1, int(math.Round(r.ShortestShare*float64(most))))
	out := make([]int, n)
	for i := range out {
		share := (float64(i) + 0.5) / float64(n)
		out[i] = min(most, low+int(share*float64(most-low+1)))
	}
	if low < most {
		for i := n - 1; i > 0; i-- {
			j := rng.Below(rng.Draw(0, i, purpose), i+1)
			out[i], out[j] = out[j], out[i]
		}
	}
	return out
}

func outcomeOf(res *sim.Result, requestMS float64) *Outcome {
	var ttft, tpot []float64
	perToken, tokens := 0.0, int64(0)
	for i := range res.Requests {
		q := &res.Requests[i]
		if q.Status != sim.Completed {
			continue
		}
		l := reports.RequestLatencies(q, requestMS)
		ttft = append(ttft, l.TTFT)
		if !math.IsNaN(l.TPOT) {
			tpot = append(tpot, l.TPOT)
		}
		perToken += l.E2E / float64(q.OutputTokens)
		tokens += int64(q.OutputTokens)
	}
	w := &res.Workers[0]
	o := &Outcome{
		Completed: len(ttft), PerToken: perToken / float64(len(ttft)),
		OutputRate:  1000 * float64(tokens) / (res.DurationMS + requestMS),
		Preemptions: w.Preemptions, Steps: w.Passes, OutOfRange: w.OutOfRange, Gap: res.Gaps.ITL.Stats(),
	}
	o.TTFT, o.TPOT = metrics.Exact(ttft), metrics.Exact(tpot)
	return o
}

// FirstToken returns the simulated TTFT in ms in the statistic of the
// measurement.
func (o *Outcome) FirstToken(s measured.Statistic) float64 {
	if s == measured.Median {
		return o.TTFT.Median
	}
	return o.TTFT.Mean
}

// PerOutputToken returns the simulated TPOT in ms in the statistic of the
// measurement.
func (o *Outcome) PerOutputToken(s measured.Statistic) float64 {
	switch s {
	case measured.Median:
		return o.TPOT.Median
	case measured.MeanGap:
		return o.Gap.Mean
	case measured.MedianGap:
		return o.Gap.Median
	case measured.PerToken:
		return o.PerToken
	}
	return o.TPOT.Mean
}
