// Package engine models one inference worker: its scheduler, its block pool
// and its batches. It follows the schedulers of vLLM, TensorRT-LLM and SGLang as
// Dynamo's own offline replay models them. A worker knows nothing of routing; it
// is handed requests and reports what its passes produced.
package engine

import (
	"fmt"
	"math"
)

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
	// DPSize is the number of data-parallel ranks of a worker; 0 counts as 1. The
	// other settings are those of one rank.
	DPSize int32
	Role   Role
	SGLang SGLangParams
	Draft  Draft
	Host   HostOffload
	Disk   DiskOffload
}

// DefaultParams returns the defaults of Dynamo's replay for vLLM.
func DefaultParams() Params { return DefaultsOf(VLLM) }

// DefaultsOf returns the defaults of Dynamo's replay for an engine.
func DefaultsOf(b Backend) Params {
	p := Params{
		Backend: b, NumGPUBlocks: 16384, BlockSize: [...]int32{64, 32, 1}[b],
		MaxNumSeqs: 256, MaxNumBatchedTokens: 8192,
		EnablePrefixCaching: true, EnableChunkedPrefill: true, DPSize: 1,
	}
	p.SGLang, p.Draft = DefaultSGLang(), DefaultDraft()
	return p
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
	case p.DPSize < 0:
		return fmt.Errorf("dp-size: found %d, expected at least 1 rank", p.DPSize)
	}
	if err := p.validateDraft(); err != nil {
		return err
	}
	if err := p.Host.validate(p); err != nil {
		return err
	}
	if err := p.Disk.validate(p); err != nil {
		return err
	}
	if p.Backend == SGLang {
		return p.validateSGLang()
	}
	return nil
}

// validateDraft reports the first setting of speculative decoding that cannot
// be.
func (p *Params) validateDraft() error {
	d := &p.Draft
	if d.Tokens < 0 || d.Tokens > MaxDraft {
		return fmt.Errorf("aic-nextn: found %d, expected 1 to %d draft tokens, or none", d.Tokens, MaxDraft)
	}
	for _, r := range d.Accept {
		if !(r >= 0 && r <= 1) {
			return fmt.Errorf("aic-nextn-accept-rates: found %v, expected numbers from 0 to 1", r)
		}
	}
	if d.Tokens > 0 && p.Backend != VLLM {
		return fmt.Errorf("aic-nextn: found %d with the engine %v, expected none: speculative decoding is modelled for vllm", d.Tokens, p.Backend)
	}
	return nil
}

// validateSGLang reports the first setting that SGLang's scheduler cannot run
// with.
func (p *Params) validateSGLang() error {
	s := &p.SGLang
	switch {
	case !p.EnableChunkedPrefill:
		return fmt.Errorf("enable-chunked-prefill: found false, expected true: SGLang always cuts prompts")
	case s.ChunkedPrefillSize < 1 || s.ChunkedPrefillSize%p.BlockSize != 0:
		return fmt.Errorf("chunked-prefill-size: found %d, expected a multiple of the block size %d", s.ChunkedPrefillSize, p.BlockSize)
	case s.MaxPrefillTokens < 1:
		return fmt.Errorf("max-prefill-tokens: found %d, expected at least 1 token", s.MaxPrefillTokens)
	case s.ClipMaxNewTokens < 1:
		return fmt.Errorf("clip-max-new-tokens: found %d, expected at least 1 token", s.ClipMaxNewTokens)
	case !(s.ScheduleConservativeness >= 0 && s.ScheduleConservativeness <= math.MaxFloat64):
		return fmt.Errorf("schedule-conservativeness: found %v, expected a finite number of at least 0", s.ScheduleConservativeness)
	}
	return nil
}
