package profile

import (
	"fmt"
	"os"
	"strings"

	"github.com/goccy/go-yaml"

	"routesim/models"
)

// FileSchema is the format of a profile in a file of its own.
const FileSchema = "routesim-profile/1"

// maxFileSize bounds a profile's file in bytes; a profile has about 3,000.
const maxFileSize = 1 << 20

// document is a profile's file. Lists are slices here, so that a list of the
// wrong length is seen.
type document struct {
	Schema                string            `yaml:"schema"`
	Units                 map[string]string `yaml:"units"`
	ID                    string            `yaml:"id"`
	GPU                   string            `yaml:"gpu"`
	Engine                string            `yaml:"engine"`
	Model                 string            `yaml:"model"`
	TP                    int               `yaml:"tp"`
	WeightDType           string            `yaml:"weight_dtype"`
	KVDType               string            `yaml:"kv_dtype"`
	Grade                 string            `yaml:"grade"`
	Flags                 []string          `yaml:"flags,flow"`
	MaxModelLen           int64             `yaml:"max_model_len"`
	KVBytesPerToken       int64             `yaml:"kv_bytes_per_token"`
	KVBytesPerTokenPerGPU int64             `yaml:"kv_bytes_per_token_per_gpu"`
	KVCapacityTokens      int64             `yaml:"kv_capacity_tokens"`
	Basis                 *CapacityBasis    `yaml:"kv_capacity_basis,omitempty"`
	Range                 Range             `yaml:"range"`
	Knots                 []int64           `yaml:"T_knots,flow"`
	Step                  stepDocument      `yaml:"step"`
	Calibration           Calibration       `yaml:"engine_calibration"`
	FitError              *fitErrorDocument `yaml:"fit_error_pct,omitempty"`
	Provenance            Provenance        `yaml:"provenance"`
}

type stepDocument struct {
	TokensMS     []float64 `yaml:"T_ms,flow"`
	TailMS       float64   `yaml:"T_tail_ms_per_token"`
	LogitsMS     []float64 `yaml:"logits_ms,flow"`
	PrefillMS    []float64 `yaml:"prefill_ms,flow"`
	ReadFloorMS  float64   `yaml:"kv_read_floor_ms_per_token"`
	DecodeMS     []float64 `yaml:"decode_ms,flow"`
	DecodeKneeTK int64     `yaml:"decode_knee_tokens"`
}

type fitErrorDocument struct {
	Decode          []float64 `yaml:"decode,flow"`
	PrefillNoPrefix []float64 `yaml:"prefill_no_prefix,flow"`
	PrefillAll      []float64 `yaml:"prefill_all,flow"`
	Mixed           []float64 `yaml:"mixed,flow"`
}

// keysOfFile lists the keys of a profile's file; true ones must be there.
// Those below an optional parent must be there if the parent is.
func keysOfFile() map[string]bool {
	return map[string]bool{
		"schema": true, "units": true, "units.time": true, "units.tokens": true, "units.bytes": true,
		"id": false, "gpu": true, "engine": true, "model": true, "tp": true, "weight_dtype": true, "kv_dtype": true,
		"grade": false, "flags": false, "max_model_len": true,
		"kv_bytes_per_token": true, "kv_bytes_per_token_per_gpu": true, "kv_capacity_tokens": true,
		"kv_capacity_basis": false, "kv_capacity_basis.gpu_memory_gib": true, "kv_capacity_basis.weights_gib_per_gpu": true,
		"kv_capacity_basis.gpu_memory_utilization": false, "kv_capacity_basis.max_num_seqs": false, "kv_capacity_basis.max_num_batched_tokens": false,
		"kv_capacity_basis.mem_fraction_static": false, "kv_capacity_basis.chunked_prefill_size": false,
		"kv_capacity_basis.free_gpu_memory_fraction": false, "kv_capacity_basis.max_num_tokens": false,
		"range": true, "range.step_tokens": true, "range.decode_context_tokens": true,
		"T_knots": true, "step": true, "step.T_ms": true, "step.T_tail_ms_per_token": true, "step.logits_ms": true, "step.prefill_ms": true,
		"step.kv_read_floor_ms_per_token": true, "step.decode_ms": true, "step.decode_knee_tokens": true,
		"engine_calibration": true, "engine_calibration.gpu_time_scale": true, "engine_calibration.step_ms": true,
		"engine_calibration.per_seq_ms": true, "engine_calibration.prefill_step_ms": true, "engine_calibration.request_ms": true,
		"fit_error_pct": false, "fit_error_pct.decode": true, "fit_error_pct.prefill_no_prefix": true,
		"fit_error_pct.prefill_all": true, "fit_error_pct.mixed": true,
		"provenance": true, "provenance.kind": true, "provenance.package": false, "provenance.table": false, "provenance.method": false,
	}
}

// Load returns the profile that a name means: a file if it looks like a path,
// and otherwise a shipped profile.
func Load(name string) (*Profile, error) {
	if isPath(name) {
		return ReadFile(name)
	}
	return Lookup(name)
}

// isPath tells the path of a file from the name of a profile, no part of which
// is empty, ends in such a suffix or consists of dots.
func isPath(name string) bool {
	for _, suffix := range []string{".yaml", ".yml", ".json"} {
		if strings.HasSuffix(name, suffix) {
			return true
		}
	}
	return strings.HasPrefix(name, "/") || strings.HasPrefix(name, "./") || strings.HasPrefix(name, "../")
}

// fileText is a file as it was when it was read.
type fileText struct{ path, text string }

// ReadFile reads a profile from a file of its own. What its fields point at is
// shared by all who read the same file.
func ReadFile(path string) (*Profile, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Size() > maxFileSize {
		return nil, fmt.Errorf("%s: found %d bytes, expected a profile of at most %d", path, info.Size(), maxFileSize)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return memoised(fileText{path, string(text)}, func() (*Profile, error) { return Parse(path, text) })
}

// Parse reads a profile from a YAML text; name is what errors call it. An
// error names the line and the field.
func Parse(name string, text []byte) (*Profile, error) {
	tree, err := parseTree(name, text)
	if err != nil {
		return nil, err
	}
	if err := tree.checkKeys(keysOfFile()); err != nil {
		return nil, tree.locate(err)
	}
	var d document
	if err := yaml.Unmarshal(text, &d); err != nil {
		return nil, yamlError(name, err)
	}
	p, err := d.profile(name)
	if err == nil {
		err = p.Check()
	}
	if err != nil {
		return nil, tree.locate(err)
	}
	return p, nil
}

// profile turns a document into a profile.
func (d *document) profile(name string) (*Profile, error) {
	if d.Schema != FileSchema {
		return nil, field("schema", "found %q, expected %s", d.Schema, FileSchema)
	}
	if err := checkUnits(d.Units); err != nil {
		return nil, err
	}
	if err := d.checkKnots(); err != nil {
		return nil, err
	}
	p := &Profile{
		GPU: d.GPU, Engine: d.Engine, Model: d.Model, TP: d.TP, WeightDType: d.WeightDType, KVDType: d.KVDType,
		ID: d.ID, Grade: d.Grade, Flags: d.Flags,
		KVBytesPerToken: d.KVBytesPerToken, KVBytesPerTokenPerGPU: d.KVBytesPerTokenPerGPU, KVCapacityTokens: d.KVCapacityTokens,
		Calibration: d.Calibration, Range: d.Range, Provenance: d.Provenance,
		ContextTokens: d.MaxModelLen, ContextSource: name,
	}
	if d.Basis != nil {
		p.Basis = *d.Basis
	}
	if p.Grade == "" {
		p.Grade = "C"
	}
	if p.ID == "" {
		p.ID = p.fullName()
	}
	s := &d.Step
	p.Coefficients = Coefficients{TokensMS: s.TokensMS, TailMS: s.TailMS, ReadFloorMS: s.ReadFloorMS, DecodeKneeTK: s.DecodeKneeTK}
	c := &p.Coefficients
	lists := []list{
		{"step.logits_ms", s.LogitsMS, c.LogitsMS[:]},
		{"step.prefill_ms", s.PrefillMS, c.PrefillMS[:]},
		{"step.decode_ms", s.DecodeMS, c.DecodeMS[:]},
	}
	if e := d.FitError; e != nil {
		p.FitError = &FitError{}
		lists = append(lists,
			list{"fit_error_pct.decode", e.Decode, p.FitError.Decode[:]},
			list{"fit_error_pct.prefill_no_prefix", e.PrefillNoPrefix, p.FitError.PrefillNoPrefix[:]},
			list{"fit_error_pct.prefill_all", e.PrefillAll, p.FitError.PrefillAll[:]},
			list{"fit_error_pct.mixed", e.Mixed, p.FitError.Mixed[:]})
	}
	for _, l := range lists {
		if len(l.from) != len(l.to) {
			return nil, field(l.name, "found %d numbers, expected %d", len(l.from), len(l.to))
		}
		copy(l.to, l.from)
	}
	return p, nil
}

// list is a list of fixed length and where it goes.
type list struct {
	name     string
	from, to []float64
}

// checkKnots holds the file to the knots of the code.
func (d *document) checkKnots() error {
	want := models.HybridKnots()
	if len(d.Knots) != len(want) {
		return field("T_knots", "found %d token counts, expected the %d fixed ones from %d to %d", len(d.Knots), len(want), want[0], want[len(want)-1])
	}
	for i, k := range want {
		if d.Knots[i] != k {
			return field("T_knots", "found %d tokens at place %d, expected %d: the knots are fixed", d.Knots[i], i+1, k)
		}
	}
	return nil
}

// Format writes a profile as the text of a file of its own. Parse reads it
// back unchanged.
func (p *Profile) Format() ([]byte, error) {
	if err := p.Check(); err != nil {
		return nil, fmt.Errorf("profile %s: %w", p.ID, err)
	}
	c, knots := &p.Coefficients, models.HybridKnots()
	d := document{
		Schema: FileSchema, Units: units(), ID: p.ID, GPU: p.GPU, Engine: p.Engine, Model: p.Model, TP: p.TP,
		WeightDType: p.WeightDType, KVDType: p.KVDType, Grade: p.Grade, Flags: p.Flags, MaxModelLen: p.ContextTokens,
		KVBytesPerToken: p.KVBytesPerToken, KVBytesPerTokenPerGPU: p.KVBytesPerTokenPerGPU, KVCapacityTokens: p.KVCapacityTokens,
		Range: p.Range, Knots: knots[:], Calibration: p.Calibration, Provenance: p.Provenance,
		Step: stepDocument{
			TokensMS: c.TokensMS, TailMS: c.TailMS, LogitsMS: c.LogitsMS[:], PrefillMS: c.PrefillMS[:],
			ReadFloorMS: c.ReadFloorMS, DecodeMS: c.DecodeMS[:], DecodeKneeTK: c.DecodeKneeTK,
		},
	}
	if p.Basis != (CapacityBasis{}) {
		d.Basis = &p.Basis
	}
	if e := p.FitError; e != nil {
		d.FitError = &fitErrorDocument{e.Decode[:], e.PrefillNoPrefix[:], e.PrefillAll[:], e.Mixed[:]}
	}
	return yaml.Marshal(&d)
}
