package router

import "routesim/sim/engine"

// assumedBatchedTokens is the figure Dynamo assumes for a worker that does not
// publish its max_num_batched_tokens.
const assumedBatchedTokens = 10_000_000

// Target is what a router knows of a worker, or of one data-parallel rank of
// it, from its registration. Targets stand in ascending order of worker and
// rank; every decision chooses one.
type Target struct {
	Worker, Rank int32
	BatchLimit   int32    // max_num_batched_tokens, engine.Unlimited = not published
	KVBlocks     int32    // size of the block pool
	CPU          bool     // the worker runs on a CPU, not on an accelerator
	Taints       []string // of the worker
	LowerTiers   bool     // it keeps KV on its host or disk too
	// PrefillMS predicts the duration in ms of a prefill of new tokens behind a
	// cached prefix, alone in its batch; nil = unknown.
	PrefillMS func(tokens, prefix int64) float64
}

// Targets returns workers of one rank each that differ in their batch limit.
func Targets(batchLimits ...int32) []Target {
	list := make([]Target, len(batchLimits))
	for i, b := range batchLimits {
		list[i] = Target{Worker: int32(i), BatchLimit: b, KVBlocks: engine.DefaultParams().NumGPUBlocks}
	}
	return list
}

// batchLimit returns the number of tokens that thresholds are fractions of.
func (t *Target) batchLimit() float64 {
	if t.BatchLimit == engine.Unlimited {
		return assumedBatchedTokens
	}
	return float64(t.BatchLimit)
}

// Refusal is the reason for which a router turns a request away.
type Refusal uint8

// The refusals.
const (
	Accepted   Refusal = iota
	QueueFull          // a limit of the request's queue class is reached
	Overloaded         // every worker that could serve it is marked as overloaded
	NoEndpoint         // no worker can serve it
	Filtered           // the policy's filters left no worker
	WorkerLost         // it was placed, and its worker crashed
)

// String says why, for people.
func (f Refusal) String() string {
	return [...]string{"accepted", "queue full", "all workers overloaded", "no endpoint", "all workers filtered out", "worker crashed"}[f]
}

// SetAbsent says that a target is gone or draining and takes no requests, or
// that it is back.
func (r *Router) SetAbsent(target int32, absent bool) { r.absent[target] = absent }

// Purge forgets what a target was believed to hold and what it reported.
func (r *Router) Purge(target int32) {
	if r.live == nil {
		return
	}
	r.live.reported[target] = 0
	if r.live.programs != nil {
		r.live.programs.Gone(target)
	}
	r.signal(target)
	r.belief.purge(target)
	if r.dump != nil {
		r.dump.purge(target)
	}
}
