package profile

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// RunGroup are the serving runs of one model that a calibration rests on, and
// with it the error that is stated for every profile of that calibration.
type RunGroup struct {
	Model       string `json:"model"`
	WeightDType string `json:"weight_dtype"`
	KVDType     string `json:"kv_dtype"`
	TP          []int  `json:"tp"` // GPUs of the workers; empty: not stated
	// The longest prompt in tokens and the most requests in flight, where
	// models/published holds every run of the calibration; 0: it does not.
	MaxPromptTokens int64 `json:"max_prompt_tokens,omitempty"`
	MaxConcurrency  int64 `json:"max_concurrency,omitempty"`
}

// Evidence says what the runs behind a profile's stated error were, and in what
// they were not of this profile.
type Evidence struct {
	Runs string // in words: "llama-3.1-70b fp8 tp2/4/8, none in bf16"; "" without runs
	// Unlike lists what no run shares with the profile, in this order: "gpu",
	// "model", "weight_dtype", "kv_dtype", "tp", "layout" (of experts). Without the model nothing after it
	// is compared.
	Unlike []string
}

// Borrowed reports whether the calibration is that of another GPU or of other
// models only.
func (e *Evidence) Borrowed() bool {
	return slices.Contains(e.Unlike, "gpu") || slices.Contains(e.Unlike, "model")
}

// Evidence compares the profile with the runs of its calibration.
func (p *Profile) Evidence() Evidence {
	var e Evidence
	if p.OtherGPU() {
		e.Unlike = append(e.Unlike, "gpu")
	}
	groups := p.Calibration.Runs
	if len(groups) == 0 {
		return e
	}
	words := make([]string, len(groups))
	for i := range groups {
		words[i] = groups[i].text()
	}
	e.Runs = strings.Join(words, " and ")
	own := keep(groups, func(g *RunGroup) bool { return sameModel(g.Model, p.Model) })
	if len(own) == 0 {
		e.Unlike = append(e.Unlike, "model")
		e.Runs = map[bool]string{true: "another model, ", false: "other models, "}[len(groups) == 1] + e.Runs
	} else if lacks := p.lacks(own, &e); len(lacks) > 0 {
		e.Runs += map[bool]string{true: ", none ", false: ", none of this model "}[len(groups) == 1] + strings.Join(lacks, " or ")
	}
	if g := groups[0]; g.MaxPromptTokens > 0 {
		for _, other := range groups[1:] {
			g.MaxPromptTokens, g.MaxConcurrency = max(g.MaxPromptTokens, other.MaxPromptTokens), max(g.MaxConcurrency, other.MaxConcurrency)
		}
		e.Runs += fmt.Sprintf(", prompts up to %s tokens, at most %d in flight", thousands(g.MaxPromptTokens), g.MaxConcurrency)
	}
	return e
}

// lacks says in words what none of the runs of the profile's model has, and
// enters it. What one run has and another has not is looked for together: runs
// of other weights do not speak for the number of GPUs.
func (p *Profile) lacks(own []RunGroup, e *Evidence) (words []string) {
	for _, q := range [...]struct {
		field, words string
		has          func(g *RunGroup) bool
	}{
		{"weight_dtype", "in " + p.WeightDType, func(g *RunGroup) bool { return g.WeightDType == p.WeightDType }},
		{"kv_dtype", "with a KV cache in " + p.KVDType, func(g *RunGroup) bool { return g.KVDType == p.KVDType }},
		{"tp", "at tp" + strconv.Itoa(p.TP), func(g *RunGroup) bool { return len(g.TP) == 0 || slices.Contains(g.TP, p.TP) }},
		{"layout", "as " + p.Model, func(g *RunGroup) bool { return g.Model == p.Model }},
	} {
		if with := keep(own, q.has); len(with) > 0 {
			own = with
			continue
		}
		e.Unlike, words = append(e.Unlike, q.field), append(words, q.words)
	}
	return words
}

func (g *RunGroup) text() string {
	text := g.Model + " " + g.WeightDType
	for i, tp := range g.TP {
		text += map[bool]string{true: " tp", false: "/"}[i == 0] + strconv.Itoa(tp)
	}
	return text
}

// thousands writes a count below a million with a comma.
func thousands(v int64) string {
	if v < 1000 {
		return strconv.FormatInt(v, 10)
	}
	return fmt.Sprintf("%d,%03d", v/1000, v%1000)
}

// sameModel reports whether two names are of one model, which may be laid out
// over its GPUs in more than one way.
func sameModel(a, b string) bool {
	facts, err := ModelFacts()
	if err != nil {
		return a == b
	}
	return cmp.Or(facts[a].Like, a) == cmp.Or(facts[b].Like, b)
}

func keep(groups []RunGroup, which func(*RunGroup) bool) (kept []RunGroup) {
	for i := range groups {
		if which(&groups[i]) {
			kept = append(kept, groups[i])
		}
	}
	return kept
}
