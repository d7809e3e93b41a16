// Package profile resolves GPU profiles by name, prices steps with them and
// tells how many KV tokens a worker holds.
//
// A profile describes one worker: a model served by an engine on one or
// several GPUs of a kind. Its id is gpu/engine/model/tpN/weights/kv-cache, for
// example h100_sxm/vllm/llama-3.1-70b/tp4/bf16/kv-bf16.
package profile

import (
	"fmt"
	"strings"

	"routesim/models"
)

// Profile is one modelled GPU worker.
type Profile struct {
	ID                    string        `json:"id"`
	GPU                   string        `json:"gpu"`
	Engine                string        `json:"engine"` // vllm, sglang or trtllm
	Model                 string        `json:"model"`
	TP                    int           `json:"tp"` // GPUs of the worker (tensor parallelism)
	WeightDType           string        `json:"weight_dtype"`
	KVDType               string        `json:"kv_dtype"`
	Grade                 string        `json:"grade"` // A, B or C; see the README of the profiles
	Flags                 []string      `json:"flags"`
	KVBytesPerToken       int64         `json:"kv_bytes_per_token"`         // bytes, whole worker
	KVBytesPerTokenPerGPU int64         `json:"kv_bytes_per_token_per_gpu"` // bytes
	KVCapacityTokens      int64         `json:"kv_capacity_tokens"`         // tokens, at the engine's defaults
	Basis                 CapacityBasis `json:"kv_capacity_basis"`
	Coefficients          Coefficients  `json:"step"`
	CalibrationID         string        `json:"engine_calibration"`
	FitError              *FitError     `json:"fit_error_pct"` // nil: never compared
	Provenance            Provenance    `json:"provenance"`

	Calibration   Calibration `json:"-"`
	Range         Range       `json:"-"`
	ContextTokens int64       `json:"-"` // tokens: longest sequence of the model
	ContextSource string      `json:"-"` // where that is stated
}

// Coefficients are those of models.Hybrid; the keys name the units.
type Coefficients struct {
	TokensMS     []float64  `json:"T_ms" yaml:"T_ms,flow"`
	TailMS       float64    `json:"T_tail_ms_per_token" yaml:"T_tail_ms_per_token"`
	LogitsMS     [2]float64 `json:"logits_ms" yaml:"logits_ms,flow"`
	PrefillMS    [4]float64 `json:"prefill_ms" yaml:"prefill_ms,flow"`
	ReadFloorMS  float64    `json:"kv_read_floor_ms_per_token" yaml:"kv_read_floor_ms_per_token"`
	DecodeMS     [4]float64 `json:"decode_ms" yaml:"decode_ms,flow"`
	DecodeKneeTK int64      `json:"decode_knee_tokens" yaml:"decode_knee_tokens"`
}

// FitError is the error of the step formula against the sum of measured
// operators, in percent: the median and the 95th percentile at points that
// the fit did not see.
type FitError struct {
	Decode          [2]float64 `json:"decode" yaml:"decode,flow"`
	PrefillNoPrefix [2]float64 `json:"prefill_no_prefix" yaml:"prefill_no_prefix,flow"`
	PrefillAll      [2]float64 `json:"prefill_all" yaml:"prefill_all,flow"`
	Mixed           [2]float64 `json:"mixed" yaml:"mixed,flow"`
}

// Provenance says where a profile's numbers come from.
type Provenance struct {
	Kind    string `json:"kind" yaml:"kind"`
	Package string `json:"package" yaml:"package"`
	Table   string `json:"table" yaml:"table"`
	Method  string `json:"method" yaml:"method"`
}

// Range bounds the steps that a profile was fitted to.
type Range struct {
	StepTokens          int64 `json:"step_tokens" yaml:"step_tokens"`                     // most new tokens of a step
	DecodeContextTokens int64 `json:"decode_context_tokens" yaml:"decode_context_tokens"` // largest sum of the decoding contexts
}

// Calibration is what an engine adds to the GPU's time, and how well runs of
// real servers were reproduced with it.
type Calibration struct {
	GPUTimeScale  float64 `json:"gpu_time_scale" yaml:"gpu_time_scale"`
	StepMS        float64 `json:"step_ms" yaml:"step_ms"`                 // ms per step
	PerSeqMS      float64 `json:"per_seq_ms" yaml:"per_seq_ms"`           // ms per sequence of a step
	PrefillStepMS float64 `json:"prefill_step_ms" yaml:"prefill_step_ms"` // ms per step with prompt tokens
	RequestMS     float64 `json:"request_ms" yaml:"request_ms"`           // ms per request, before its first token

	Basis      string     `json:"basis" yaml:"-"`
	Note       string     `json:"note" yaml:"-"`
	Runs       []RunGroup `json:"runs" yaml:"-"`          // what the errors below are over
	HeldOut    *RunError  `json:"heldout_error" yaml:"-"` // on runs not used for the calibration
	Train      *RunError  `json:"train_error" yaml:"-"`   // on runs used for it
	Unadjusted *RunError  `json:"heldout_error_without_calibration" yaml:"-"`
}

// RunError is the error against runs of real servers, in percent: the median
// of the absolute error, its 90th percentile, and the bias (simulated over
// measured).
type RunError struct {
	Runs int        `json:"runs"`
	TTFT [3]float64 `json:"ttft_pct"`
	TPOT [3]float64 `json:"tpot_pct"`
}

// StepModel returns the profile's step model; durations are divided by
// speedup (0 and 1 leave them as they are). The front end's time per request
// is not part of it: see RequestMS.
func (p *Profile) StepModel(speedup float64) (*models.Hybrid, error) {
	h, err := models.NewHybrid(p.ID, p.Coefficients.hybrid(), p.Calibration.overheads(), p.held(), speedup)
	if err != nil {
		return nil, fmt.Errorf("profile %s: %w", p.ID, err)
	}
	return h, nil
}

func (c *Coefficients) hybrid() models.HybridCoefficients {
	return models.HybridCoefficients{
		TokensMS: c.TokensMS, TailMSPerToken: c.TailMS, LogitsMS: c.LogitsMS, PrefillMS: c.PrefillMS,
		ReadFloorMSPerToken: c.ReadFloorMS, DecodeMS: c.DecodeMS, DecodeKneeTokens: c.DecodeKneeTK,
	}
}

func (c *Calibration) overheads() models.EngineOverheads {
	return models.EngineOverheads{
		GPUTimeScale: c.GPUTimeScale, StepMS: c.StepMS, PerSeqMS: c.PerSeqMS,
		PrefillStepMS: c.PrefillStepMS, RequestMS: c.RequestMS,
	}
}

func (p *Profile) held() models.HybridRange {
	return models.HybridRange{StepTokens: p.Range.StepTokens, DecodeContextTokens: p.Range.DecodeContextTokens}
}

// RequestMS is the front end's time in ms, to be added once per request to
// its first token.
func (p *Profile) RequestMS() float64 { return p.Calibration.RequestMS }

// MaxModelLen is the longest sequence of the model in tokens.
func (p *Profile) MaxModelLen() int64 { return p.ContextTokens }

// CheckEngine refuses a scheduler of another engine than the profile's.
func (p *Profile) CheckEngine(scheduler string) error {
	if scheduler == p.Engine {
		return nil
	}
	return fmt.Errorf("profile %s: found a profile of %s, expected one of %s, the scheduler of this run (choose another profile; only that scheduler is modelled)",
		p.ID, p.Engine, scheduler)
}

// OtherGPU reports whether the engine's overheads, and with them the error
// against servers, come from runs on another GPU.
func (p *Profile) OtherGPU() bool {
	gpu, _, _ := strings.Cut(p.GPU, "_")
	return p.CalibrationID != "" && !strings.HasPrefix(p.CalibrationID+"-", p.Engine+"-"+gpu+"-")
}

// Summary returns the id with the grade and the errors, in one line.
func (p *Profile) Summary() string {
	parts := []string{"grade " + p.Grade}
	if e := p.FitError; e != nil {
		parts = append(parts, fmt.Sprintf("median fit error: decode %g %%, prefill %g %%, mixed %g %%", e.Decode[0], e.PrefillNoPrefix[0], e.Mixed[0]))
	} else {
		parts = append(parts, "no fit error known")
	}
	if e := p.Calibration.HeldOut; p.OtherGPU() {
		parts = append(parts, "never compared with servers, overheads borrowed from "+p.CalibrationID)
	} else if e != nil {
		parts = append(parts, fmt.Sprintf("against servers (%d runs of %s): TPOT %g %%, TTFT %g %%", e.Runs, p.Evidence().Runs, e.TPOT[0], e.TTFT[0]))
	} else {
		parts = append(parts, "not compared with servers")
	}
	if len(p.Flags) > 0 {
		parts = append(parts, strings.Join(p.Flags, ", "))
	}
	return p.ID + " (" + strings.Join(parts, "; ") + ")"
}
