// Package engine models one inference worker: its scheduler, its block pool
// and its batches. It follows the schedulers of vLLM, TensorRT-LLM and SGLang as
// Dynamo's own offline replay models them. A worker knows nothing of routing; it
// is handed requests and reports what its passes produced.
package engine

import "fmt"

// Backend is the kind of inference engine.
type Backend uint8

// The engines.
const (
	VLLM Backend = iota
	TRTLLM
	SGLang
)

// String returns the name the engine has in settings.
func (b Backend) String() string { return [...]string{"vllm", "trtllm", "sglang"}[b] }

// PreemptionMode chooses the victim when the pool runs out.
type PreemptionMode uint8

// The victims of preemption.
const (
	LIFO PreemptionMode = iota // the last running request
	FIFO                       // the first running request
)

// Unlimited stands for an absent limit on sequences or batched tokens.
const Unlimited = int32(1<<31 - 1)

// Params are the settings of one worker's engine, with the names and the
// defaults of Dynamo's replay.
type Params struct {
	Backend              Backend
	NumGPUBlocks         int32 // capacity of the block pool, in blocks
	BlockSize            int32 // tokens per KV block
	MaxModelLen          int32 // context limit in tokens, 0 = none
	MaxNumSeqs           int32 // running requests at once, Unlimited = no cap
	MaxNumBatchedTokens  int32 // tokens per pass, Unlimited = no cap
	EnablePrefixCaching  bool
	EnableChunkedPrefill bool
	Preemption           PreemptionMode
}

// DefaultParams returns the defaults of Dynamo's replay for vLLM.
func DefaultParams() Params { return DefaultsOf(VLLM) }

// DefaultsOf returns the defaults of Dynamo's replay for an engine.
func DefaultsOf(b Backend) Params {
	return Params{
		Backend: b, NumGPUBlocks: 16384, BlockSize: [...]int32{64, 32, 1}[b],
		MaxNumSeqs: 256, MaxNumBatchedTokens: 8192,
		EnablePrefixCaching: true, EnableChunkedPrefill: true,
	}
}

// Validate reports the first setting that no engine could run with.
func (p *Params) Validate() error {
	switch {
	case p.NumGPUBlocks < 1:
		return fmt.Errorf("num-gpu-blocks: found %d, expected at least 1 block", p.NumGPUBlocks)
	case p.BlockSize < 1:
		return fmt.Errorf("block-size: found %d, expected at least 1 token", p.BlockSize)
	case p.MaxModelLen < 0:
		return fmt.Errorf("max-model-len: found %d, expected a number of tokens above 0, or none", p.MaxModelLen)
	case p.MaxNumSeqs < 1:
		return fmt.Errorf("max-num-seqs: found %d, expected at least 1 sequence", p.MaxNumSeqs)
	case p.MaxNumBatchedTokens < 1:
		return fmt.Errorf("max-num-batched-tokens: found %d, expected at least 1 token", p.MaxNumBatchedTokens)
	}
	return nil
}
