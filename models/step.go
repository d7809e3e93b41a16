// Package models says how long one forward pass of a modelled GPU worker
// takes. A step model turns the shape of a batch into a duration; the engine
// knows nothing else about the hardware.
package models

// Batch is the shape of one engine pass. All fields are sums over the pass.
type Batch struct {
	PrefillSeqs     int64 // prompts (chunks of prompts) that compute new tokens
	PrefillContext  int64 // sum of prompt lengths reached: cached or computed before, plus new tokens
	PrefillPrefix   int64 // sum of the tokens that were there before: cached or computed
	PrefillPairs    int64 // sum of new*before + new*(new+1)/2, the query-key pairs
	DecodeSeqs      int64 // sequences that produce a token from their existing context
	DecodeContext   int64 // sum of their lengths before the new token
	ScheduledTokens int64 // all tokens the pass computes, recomputed and decoded ones included
}

// StepModel is the duration of passes of one kind of worker.
//
// Durations are in milliseconds and are quantised to whole nanoseconds by the
// model (see Quantise), so that a run repeats exactly on every machine.
type StepModel interface {
	// Step returns the two parts of a pass's duration in ms. A pass that starts
	// at t ends at (t+prefill)+decode, in this order of operations. A model
	// that prices a mixed pass as a whole returns it as one part and 0 for the
	// other.
	Step(b *Batch) (prefill, decode float64)

	// DecodeRun writes the end times of consecutive passes that do nothing but
	// decode: pass k (from 0) has seqs sequences whose contexts sum to
	// context+k*seqs, and starts where pass k-1 ended (the first one at start).
	// It fills ends completely and equals the same calls of Step, bit by bit.
	DecodeRun(start float64, seqs, context int64, ends []float64)
}

// Describer is implemented by step models that can say what they are, for
// reports.
type Describer interface {
	// Describe returns a one-line name, e.g. "dynamo-polynomial".
	Describe() string
}
