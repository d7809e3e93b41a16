package profile

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// units returns the units that every file of profiles states.
func units() map[string]string {
	return map[string]string{"time": "ms", "tokens": "count", "bytes": "bytes"}
}

// checkUnits refuses a missing or other unit.
func checkUnits(found map[string]string) error {
	want := units()
	for _, key := range slices.Sorted(maps.Keys(want)) {
		switch unit, ok := found[key]; {
		case !ok:
			return &FieldError{"units." + key, fmt.Sprintf("found no unit, expected %s", want[key])}
		case unit != want[key]:
			return &FieldError{"units." + key, fmt.Sprintf("found %q, expected %s", unit, want[key])}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(found)) {
		if _, ok := want[key]; !ok {
			return &FieldError{"units." + key, "found an unknown quantity, expected only time, tokens and bytes"}
		}
	}
	return nil
}

// FieldError is a field of a profile that cannot be used.
type FieldError struct {
	Field   string // path of keys, such as step.T_ms
	Problem string // found ..., expected ...
}

func (e *FieldError) Error() string { return e.Field + ": " + e.Problem }

func field(name, format string, args ...any) error {
	return &FieldError{name, fmt.Sprintf(format, args...)}
}

// inField turns an error that begins with a field's name into a FieldError
// below a parent.
func inField(parent string, err error) error {
	name, problem, ok := strings.Cut(err.Error(), ": ")
	if !ok {
		return &FieldError{parent, err.Error()}
	}
	return &FieldError{parent + "." + name, problem}
}

// Check refuses a profile that could not be used or believed.
func (p *Profile) Check() error {
	if err := p.checkName(); err != nil {
		return err
	}
	if !slices.Contains([]string{"A", "B", "C"}, p.Grade) {
		return field("grade", "found %q, expected A, B or C", p.Grade)
	}
	for _, v := range [...]struct {
		name  string
		value int64
	}{
		{"kv_bytes_per_token", p.KVBytesPerToken}, {"kv_bytes_per_token_per_gpu", p.KVBytesPerTokenPerGPU},
		{"kv_capacity_tokens", p.KVCapacityTokens}, {"max_model_len", p.ContextTokens},
		{"range.step_tokens", p.Range.StepTokens}, {"range.decode_context_tokens", p.Range.DecodeContextTokens},
	} {
		if v.value <= 0 {
			return field(v.name, "found %d, expected 1 or more", v.value)
		}
	}
	if p.KVBytesPerTokenPerGPU > p.KVBytesPerToken || p.KVBytesPerToken > int64(p.TP)*p.KVBytesPerTokenPerGPU {
		return field("kv_bytes_per_token_per_gpu", "found %d, expected from %d to %d: the worker's %d bytes are split over at most %d GPUs",
			p.KVBytesPerTokenPerGPU, (p.KVBytesPerToken+int64(p.TP)-1)/int64(p.TP), p.KVBytesPerToken, p.KVBytesPerToken, p.TP)
	}
	c := p.Coefficients.hybrid()
	if err := c.Check(); err != nil {
		return inField("step", err)
	}
	o := p.Calibration.overheads()
	if err := o.Check(); err != nil {
		return inField("engine_calibration", err)
	}
	if err := p.checkBasis(); err != nil {
		return err
	}
	return p.checkFitError()
}

func (p *Profile) checkName() error {
	for _, v := range [...]struct{ name, value string }{
		{"gpu", p.GPU}, {"model", p.Model}, {"weight_dtype", p.WeightDType}, {"kv_dtype", p.KVDType},
	} {
		if v.value == "" || strings.ContainsAny(v.value, "/ \t\r\n") {
			return field(v.name, "found %q, expected a word without slashes and blanks", v.value)
		}
	}
	if known := []string{VLLM, SGLang, TRTLLM}; !slices.Contains(known, p.Engine) {
		return field("engine", "found %q, expected %s", p.Engine, strings.Join(known, ", "))
	}
	if p.TP < 1 || p.TP > 1024 {
		return field("tp", "found %d, expected the number of GPUs of the worker, from 1 to 1024", p.TP)
	}
	if want := p.fullName(); p.ID != want {
		return field("id", "found %q, expected %q, as the other fields say", p.ID, want)
	}
	return nil
}

// fullName is the id that the profile's parts make.
func (p *Profile) fullName() string {
	return fmt.Sprintf("%s/%s/%s/tp%d/%s/kv-%s", p.GPU, p.Engine, p.Model, p.TP, p.WeightDType, p.KVDType)
}

// checkBasis refuses a basis that names only a part, or other settings than
// the engine's.
func (p *Profile) checkBasis() error {
	b := &p.Basis
	if *b == (CapacityBasis{}) {
		return nil
	}
	type setting struct {
		name  string
		value float64
		of    string
		most  float64
	}
	huge := math.Inf(1)
	for _, s := range [...]setting{
		{"gpu_memory_gib", b.GPUMemoryGiB, p.Engine, 1 << 20},
		{"weights_gib_per_gpu", b.WeightsGiBPerGPU, p.Engine, 1 << 20},
		{"gpu_memory_utilization", b.GPUMemoryUtilization, VLLM, 1},
		{"max_num_seqs", float64(b.MaxNumSeqs), VLLM, huge},
		{"max_num_batched_tokens", float64(b.MaxNumBatchedTokens), VLLM, huge},
		{"mem_fraction_static", b.MemFractionStatic, SGLang, 1},
		{"chunked_prefill_size", float64(b.ChunkedPrefillSize), SGLang, huge},
		{"free_gpu_memory_fraction", b.FreeGPUMemoryFraction, TRTLLM, 1},
		{"max_num_tokens", float64(b.MaxNumTokens), TRTLLM, huge},
	} {
		name := "kv_capacity_basis." + s.name
		if s.of != p.Engine {
			if s.value != 0 {
				return field(name, "found a setting of %s, expected one of %s", s.of, p.Engine)
			}
			continue
		}
		if !(s.value > 0) || s.value > s.most {
			return field(name, "found %v, expected a number above 0%s", s.value, upTo(s.most))
		}
	}
	return nil
}

func upTo(most float64) string {
	if math.IsInf(most, 1) {
		return ""
	}
	return fmt.Sprintf(" and up to %v", most)
}

func (p *Profile) checkFitError() error {
	e := p.FitError
	if e == nil {
		return nil
	}
	for _, v := range [...]struct {
		name string
		pct  [2]float64
	}{{"decode", e.Decode}, {"prefill_no_prefix", e.PrefillNoPrefix}, {"prefill_all", e.PrefillAll}, {"mixed", e.Mixed}} {
		for _, x := range v.pct {
			if !(x >= 0) || math.IsInf(x, 0) {
				return field("fit_error_pct."+v.name, "found %v, expected the median and 95th percentile in percent, 0 or more", v.pct)
			}
		}
	}
	return nil
}
