package reports

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"routesim/models/profile"
	"routesim/reports/format"
)

// The codes of warnings about profiles.
const (
	ProfileGradeC = "profile_grade_c"
	ContextCut    = "max_model_len_cut_to_pool"
)

// ProfileFacts say which GPU profile models the workers of a group, how good it
// is, and which numbers were taken from it.
type ProfileFacts struct {
	Group    int               `json:"group"` // from 0, in the order of the fleet
	Count    int               `json:"workers"`
	ID       string            `json:"id"`
	Grade    string            `json:"grade"`
	Flags    []string          `json:"flags"`
	FitError *profile.FitError `json:"fit_error_pct"`     // against measured operators; null: never compared
	HeldOut  *profile.RunError `json:"heldout_error_pct"` // against servers, on runs not used for the calibration; null: never compared
	// Calibration names the serving runs that the engine's overheads and the error
	// against servers come from, Runs says what they were. Borrowed says that they
	// were of another GPU or of other models; Unlike, in what no run was of this
	// profile: "gpu", "model", "weight_dtype", "kv_dtype", "tp", "layout".
	Calibration string   `json:"calibration"`
	Runs        string   `json:"calibration_runs"`
	Borrowed    bool     `json:"calibration_borrowed"`
	Unlike      []string `json:"calibration_unlike"`

	KVTokens    int64   `json:"kv_capacity_tokens"`
	KVBlocks    int64   `json:"num_gpu_blocks"`
	BlockSize   int64   `json:"block_size"` // tokens
	KVBasis     KVBasis `json:"kv_capacity_basis"`
	RequestMS   Number  `json:"request_ms"`    // front end's time per request, inside TTFT
	MaxModelLen int64   `json:"max_model_len"` // tokens, 0 = no limit
	LimitFrom   string  `json:"max_model_len_source"`
	Context     int64   `json:"model_context_tokens"` // tokens, 0 = not known
	ContextCut  bool    `json:"max_model_len_cut_to_pool"`

	// Line is everything above in one line, for people.
	Line string `json:"-"`
}

// KVBasis says where the size of a KV pool comes from.
type KVBasis struct {
	// From is "profile" (stored), "recomputed" (for other settings than the
	// engine's defaults) or "num_gpu_blocks" (given).
	From          string `json:"from"`
	Utilization   Number `json:"gpu_memory_utilization"` // NaN where the size was given
	MaxNumSeqs    int64  `json:"max_num_seqs"`
	BatchedTokens int64  `json:"max_num_batched_tokens"`
	GPUMemoryGiB  Number `json:"gpu_memory_gib"`      // NaN where not known
	WeightsGiB    Number `json:"weights_gib_per_gpu"` // NaN where not known
	OverheadGiB   Number `json:"overhead_gib_per_gpu"`
}

// quality is the grade and the error of a profile as a phrase.
func (f *ProfileFacts) quality() string {
	parts := []string{"grade " + f.Grade}
	if e := f.HeldOut; e != nil {
		parts = append(parts, fmt.Sprintf("median error against servers: TTFT %g %%, TPOT %g %% (%s of %s)", e.TTFT[0], e.TPOT[0], format.Plural(int64(e.Runs), "run"), cmp.Or(f.Runs, f.Calibration)))
	} else if slices.Contains(f.Unlike, "gpu") {
		parts = append(parts, "never compared with servers, overheads borrowed from "+f.Calibration)
	} else {
		parts = append(parts, "never compared with servers")
	}
	if e := f.FitError; e != nil {
		parts = append(parts, fmt.Sprintf("fit: decode %g %%, prefill %g %%, mixed %g %%", e.Decode[0], e.PrefillNoPrefix[0], e.Mixed[0]))
	} else {
		parts = append(parts, "fit error not known")
	}
	return strings.Join(parts, "; ")
}

// OtherRuns says in a few words in what the runs behind the stated error were
// not of the profile: "another model"; "" where they were of it.
func (f *ProfileFacts) OtherRuns() string {
	words := map[string]string{
		"gpu": "another GPU", "model": "another model", "weight_dtype": "other weights", "kv_dtype": "another KV type", "tp": "another tp",
		"layout": "another layout of experts",
	}
	var parts []string
	for _, u := range f.Unlike {
		parts = append(parts, words[u])
	}
	return strings.Join(parts, ", ")
}

// SetProfiles adds what models the workers to a summary, with the warnings that
// follow from it. Groups without a profile have no entry.
func (s *Summary) SetProfiles(facts []ProfileFacts) {
	d := &s.Routesim
	if len(facts) == 0 {
		return
	}
	d.Profiles = facts
	d.Model = make([]string, len(d.Timing))
	for i := range facts {
		if g := facts[i].Group; g < len(d.Model) {
			d.Model[g] = facts[i].quality()
		}
	}
	d.Warnings = append(d.Warnings, ProfileWarnings(facts)...)
}

// ProfileWarnings says what to beware of in the profiles of a run.
func ProfileWarnings(facts []ProfileFacts) []Warning {
	var out []Warning
	add := func(code, text string) {
		if w := (Warning{code, text}); !slices.Contains(out, w) {
			out = append(out, w)
		}
	}
	for i := range facts {
		f := &facts[i]
		if f.Grade == "C" {
			text := fmt.Sprintf("Profile %s has grade C, the least trustworthy", f.ID)
			if len(f.Flags) > 0 {
				text += ": " + strings.Join(f.Flags, ", ")
			}
			add(ProfileGradeC, text+".")
		}
		if f.ContextCut {
			add(ContextCut, fmt.Sprintf("max_model_len is %s tokens, what the KV pool of %s holds; the model's context is %s: longer prompts are rejected.",
				format.Count(f.MaxModelLen), f.ID, format.Count(f.Context)))
		}
	}
	return out
}
