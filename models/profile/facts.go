package profile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"

	"routesim/models/profiles"
)

// GPU is what a vendor states about one GPU.
type GPU struct {
	Name      string  `json:"name"`
	MemoryGiB float64 `json:"memory_gib"` // GiB, as the driver shows it
	BF16      float64 `json:"bf16_flops"` // operations per second, dense
	FP8       float64 `json:"fp8_flops"`  // operations per second, dense; 0: no such arithmetic
	Bandwidth float64 `json:"bandwidth"`  // bytes per second
	Source    string  `json:"source"`
}

// Model is what a model's configuration states.
type Model struct {
	Like               string   `json:"like"` // another entry with the same numbers
	Serves             []string `json:"serves"`
	Aliases            []string `json:"aliases"`
	Parameters         int64    `json:"parameters"` // all of them, embedding and output projection included
	Layers             int64    `json:"layers"`
	DenseLayers        int64    `json:"dense_layers"` // of a mixture of experts: layers without experts
	Hidden             int64    `json:"hidden"`
	Heads              int64    `json:"heads"`
	KVHeads            int64    `json:"kv_heads"`
	HeadDim            int64    `json:"head_dim"`
	Intermediate       int64    `json:"intermediate"`
	Experts            int64    `json:"experts"`
	ActiveExperts      int64    `json:"active_experts"` // routed experts per token
	SharedExperts      int64    `json:"shared_experts"`
	ExpertIntermediate int64    `json:"expert_intermediate"`
	Vocabulary         int64    `json:"vocabulary"`
	ContextTokens      int64    `json:"context_tokens"` // tokens: longest sequence
	MLA                *MLA     `json:"mla"`
	Source             string   `json:"source"`
}

// MLA is the shape of multi-head latent attention, in numbers per head but
// for the ranks.
type MLA struct {
	QRank    int64 `json:"q_rank"`
	KVRank   int64 `json:"kv_rank"`
	RopeDim  int64 `json:"rope_dim"`
	NopeDim  int64 `json:"nope_dim"`
	ValueDim int64 `json:"value_dim"`
}

// The shipped files are read once: a sweep asks for them at every point.
var (
	gpuFacts     = sync.OnceValues(readGPUFacts)
	modelFacts   = sync.OnceValues(readModelFacts)
	calibrations = sync.OnceValues(readCalibrations)
)

// GPUFacts returns what is known about each GPU, by its full name. The map is
// shared.
func GPUFacts() (map[string]GPU, error) { return gpuFacts() }

func readGPUFacts() (map[string]GPU, error) {
	var file struct {
		Schema string            `json:"schema"`
		Units  map[string]string `json:"units"`
		GPUs   map[string]GPU    `json:"gpus"`
	}
	err := decodeFile(profiles.GPUFile, &file)
	return file.GPUs, err
}

// ModelFacts returns what is known about each model, by its short name. The map
// is shared.
func ModelFacts() (map[string]Model, error) { return modelFacts() }

func readModelFacts() (map[string]Model, error) {
	var file struct {
		Schema string            `json:"schema"`
		Units  map[string]string `json:"units"`
		Models map[string]Model  `json:"models"`
	}
	if err := decodeFile(profiles.ModelFile, &file); err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(file.Models)) {
		m := file.Models[name]
		if m.Like == "" {
			continue
		}
		same, ok := file.Models[m.Like]
		if !ok {
			return nil, fmt.Errorf("%s: %s: found like %q, expected another model", profiles.ModelFile, name, m.Like)
		}
		same.Like, same.Aliases = m.Like, m.Aliases
		file.Models[name] = same
	}
	return file.Models, nil
}

// Calibrations returns the engines' calibrations by their id. The map is shared.
func Calibrations() (map[string]Calibration, error) { return calibrations() }

func readCalibrations() (map[string]Calibration, error) {
	var file struct {
		Schema       string                 `json:"schema"`
		Units        map[string]string      `json:"units"`
		Calibrations map[string]Calibration `json:"calibrations"`
	}
	err := decodeFile(profiles.CalibrationFile, &file)
	return file.Calibrations, err
}

// decodeFile reads a shipped file; unknown keys are errors.
func decodeFile(name string, to any) error {
	text, err := profiles.File(name)
	if err != nil {
		return err
	}
	if err := decodeStrict(text, to); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

func decodeStrict(text []byte, to any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	return d.Decode(to)
}

// attention is the number of attention weights of one layer.
func (m *Model) attention() int64 {
	if a := m.MLA; a != nil {
		return m.Hidden*a.QRank + a.QRank*m.Heads*(a.NopeDim+a.RopeDim) +
			m.Hidden*(a.KVRank+a.RopeDim) + a.KVRank*m.Heads*(a.NopeDim+a.ValueDim) +
			m.Heads*a.ValueDim*m.Hidden
	}
	return 2*m.Hidden*m.HeadDim*m.Heads + 2*m.Hidden*m.HeadDim*m.KVHeads
}

// matrices is the number of weights that one token is multiplied with, the
// output projection left out; with all true, of those that any token is.
func (m *Model) matrices(all bool) int64 {
	dense := m.Layers
	var sparse int64
	if m.Experts > 0 {
		dense = m.DenseLayers
		experts := m.ActiveExperts
		if all {
			experts = m.Experts
		}
		expert := 3 * m.Hidden * m.ExpertIntermediate
		sparse = (m.Layers - dense) * (m.Hidden*m.Experts + expert*(experts+m.SharedExperts))
	}
	return m.Layers*m.attention() + dense*3*m.Hidden*m.Intermediate + sparse
}

// embedding is the size of one embedding table.
func (m *Model) embedding() int64 { return m.Vocabulary * m.Hidden }

// weightBytes is the size of the weights in bytes: two bytes a parameter, or
// one in 8-bit arithmetic but for the embedding and the output projection.
func (m *Model) weightBytes(dtype string) float64 {
	if dtype == "fp8" {
		return float64(m.Parameters + 2*m.embedding())
	}
	return float64(2 * m.Parameters)
}
