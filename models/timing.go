package models

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"routesim/models/numeral"
)

// TimingOptions are the engine settings that a timing model depends on.
type TimingOptions struct {
	CapacityTokens     int64   // KV pool: num_gpu_blocks * block_size
	SpeedupRatio       float64 // divides all durations; 0 leaves them as they are
	DecodeSpeedupRatio float64 // multiplies SpeedupRatio for decode
}

// decodeRatio is the ratio of decode durations.
func (o TimingOptions) decodeRatio() float64 { return o.SpeedupRatio * o.DecodeSpeedupRatio }

func (o TimingOptions) check() error {
	for _, v := range [...]struct {
		name  string
		ratio float64
	}{{"speedup_ratio", o.SpeedupRatio}, {"decode_speedup_ratio", o.DecodeSpeedupRatio}} {
		if !(v.ratio >= 0) || math.IsInf(v.ratio, 0) {
			return fmt.Errorf("%s: found %v, expected a finite number, 0 or more (0: not scaled)", v.name, v.ratio)
		}
	}
	return nil
}

// newTokens is the number of new prompt tokens of a pass as the oracle's
// models see it: the number of prompts times the difference of the truncated
// means of their lengths and prefixes.
func newTokens(b *Batch) int64 {
	n := b.PrefillSeqs
	if n <= 0 {
		return 0
	}
	return n * max(0, b.PrefillContext/n-b.PrefillPrefix/n)
}

// fillIdle writes the ends of passes without a sequence: they take no time.
func fillIdle(start float64, ends []float64) {
	for i := range ends {
		ends[i] = start
	}
}

// TimingForms lists what ParseTiming accepts, for help texts and errors.
const TimingForms = "dynamo-polynomial, fixed:PREFILL_MS,DECODE_MS or table:FILE.npz"

// ParseTiming returns the timing model that a specification of one of
// TimingForms names.
func ParseTiming(spec string, o TimingOptions) (StepModel, error) {
	kind, arg, hasArg := strings.Cut(spec, ":")
	switch {
	case kind == "dynamo-polynomial" && !hasArg:
		return asModel(NewPolynomial(o))
	case kind == "fixed" && hasArg:
		prefill, decode, ok := strings.Cut(arg, ",")
		p, okP := numeral.Real(strings.TrimSpace(prefill))
		d, okD := numeral.Real(strings.TrimSpace(decode))
		if !ok || !okP || !okD {
			return nil, fmt.Errorf("timing: found %q, expected fixed:PREFILL_MS,DECODE_MS with two numbers of ms, such as fixed:20,8", spec)
		}
		return asModel(NewFixed(p, d, o))
	case kind == "table" && hasArg && arg != "":
		return asModel(LoadTable(arg, o))
	}
	return nil, fmt.Errorf("timing: found %q, expected %s", spec, TimingForms)
}

// asModel keeps a nil model of a failed constructor from becoming a non-nil
// interface.
func asModel[M StepModel](m M, err error) (StepModel, error) {
	if err != nil {
		return nil, err
	}
	return m, nil
}

// TimingFromOracleJSON is TimingFromOracle for a JSON text.
func TimingFromOracleJSON(text []byte, o TimingOptions) (StepModel, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var dict map[string]any
	if err := d.Decode(&dict); err != nil {
		return nil, fmt.Errorf("timing_model: found %q, expected a JSON object: %w", text, err)
	}
	if d.More() {
		return nil, fmt.Errorf("timing_model: found text after the object in %q, expected nothing", text)
	}
	return TimingFromOracle(dict, o)
}

// TimingFromOracle returns the model that the oracle's engine dictionary
// describes under timing_model:
//
//	{"type": "polynomial"}
//	{"type": "fixed", "prefill_ms": ..., "decode_ms": ...}
//	{"type": "external", "provider": "dynamo_profile", "config": {"path": ...}}
//
// A nil dictionary is the oracle's default, the polynomial.
func TimingFromOracle(dict map[string]any, o TimingOptions) (StepModel, error) {
	if dict == nil {
		return asModel(NewPolynomial(o))
	}
	switch kind := dict["type"]; kind {
	case "polynomial":
		if err := onlyKeys("timing_model", dict, "type"); err != nil {
			return nil, err
		}
		return asModel(NewPolynomial(o))
	case "fixed":
		if err := onlyKeys("timing_model", dict, "type", "prefill_ms", "decode_ms"); err != nil {
			return nil, err
		}
		p, err := number(dict, "prefill_ms")
		if err != nil {
			return nil, err
		}
		d, err := number(dict, "decode_ms")
		if err != nil {
			return nil, err
		}
		return asModel(NewFixed(p, d, o))
	case "external":
		return externalTiming(dict, o)
	default:
		return nil, fmt.Errorf("timing_model.type: found %v, expected polynomial, fixed or external", quoted(kind))
	}
}

func externalTiming(dict map[string]any, o TimingOptions) (StepModel, error) {
	if err := onlyKeys("timing_model", dict, "type", "provider", "config"); err != nil {
		return nil, err
	}
	if p := dict["provider"]; p != "dynamo_profile" {
		return nil, fmt.Errorf("timing_model.provider: found %v, expected dynamo_profile (the configurator's own providers need its database)", quoted(p))
	}
	config, ok := dict["config"].(map[string]any)
	if !ok {
		return nil, fmt.Errorf("timing_model.config: found %v, expected an object with the key path", quoted(dict["config"]))
	}
	if err := onlyKeys("timing_model.config", config, "path"); err != nil {
		return nil, err
	}
	path, ok := config["path"].(string)
	if !ok || path == "" {
		return nil, fmt.Errorf("timing_model.config.path: found %v, expected the name of a .npz file", quoted(config["path"]))
	}
	return asModel(LoadTable(path, o))
}

// onlyKeys refuses the first key, in alphabetical order, that is not known.
func onlyKeys(where string, dict map[string]any, known ...string) error {
	for _, key := range slices.Sorted(maps.Keys(dict)) {
		if !slices.Contains(known, key) {
			return fmt.Errorf("%s: found the key %q, expected only %s", where, key, strings.Join(known, ", "))
		}
	}
	return nil
}

// number reads a number however the dictionary was decoded.
func number(dict map[string]any, key string) (float64, error) {
	switch v := dict[key].(type) {
	case float64:
		return v, nil
	case int:
		return float64(v), nil
	case int64:
		return float64(v), nil
	case uint64:
		return float64(v), nil
	case json.Number:
		if f, err := v.Float64(); err == nil {
			return f, nil
		}
	}
	return 0, fmt.Errorf("timing_model.%s: found %v, expected a number of ms", key, quoted(dict[key]))
}

// quoted shows a decoded value in an error.
func quoted(v any) string {
	switch v := v.(type) {
	case nil:
		return "nothing"
	case string:
		return strconv.Quote(v)
	}
	return fmt.Sprint(v)
}
