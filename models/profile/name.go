package profile

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"routesim/models/profiles"
	"routesim/models/spelling"
)

// parts are the parts of a profile's name; empty ones were left out.
type parts struct {
	name                              string // as given
	gpu, engine, model, tp, dtype, kv string
}

// split cuts a full id into its parts.
func split(id string) parts {
	p := parts{name: id}
	f := strings.Split(id, "/")
	for i, to := range [...]*string{&p.gpu, &p.engine, &p.model, &p.tp, &p.dtype, &p.kv} {
		if i < len(f) {
			*to = f[i]
		}
	}
	return p
}

// engines lists the engines of profiles by the names that people use.
func engines() map[string]string {
	return map[string]string{VLLM: VLLM, SGLang: SGLang, TRTLLM: TRTLLM, "trt-llm": TRTLLM, "tensorrt-llm": TRTLLM, "tensorrtllm": TRTLLM}
}

// parseName reads a name such as h100/llama-3.1-70b/tp4. The GPU comes first;
// the other parts are told apart by what they look like, and may be left out
// but for the model.
func parseName(name string, facts map[string]Model) (parts, error) {
	p := parts{name: name}
	words := strings.Split(strings.ToLower(strings.TrimSpace(name)), "/")
	gpus := gpuNames()
	gpu, ok := gpus[words[0]]
	if !ok {
		return p, fmt.Errorf("profile %q: found the GPU %q, expected %s%s", name, words[0],
			strings.Join(shortGPUs(), ", "), suggest(words[0], slices.Collect(maps.Keys(gpus))))
	}
	p.gpu = gpu
	known := modelNames(facts)
	for _, word := range words[1:] {
		if err := p.place(word, known); err != nil {
			return p, err
		}
	}
	if p.model == "" {
		return p, fmt.Errorf("profile %q: found no model, expected one of %s (as in %s/llama-3.1-70b/tp4)", name,
			strings.Join(slices.Sorted(maps.Keys(facts)), ", "), words[0])
	}
	return p, nil
}

// place puts one word of a name where it belongs.
func (p *parts) place(word string, known map[string]string) error {
	set := func(part *string, what, value string) error {
		if *part != "" {
			return fmt.Errorf("profile %q: found two values for the %s, %s and %s, expected one", p.name, what, *part, value)
		}
		*part = value
		return nil
	}
	if e, ok := engines()[word]; ok {
		return set(&p.engine, "engine", e)
	}
	if m, ok := known[word]; ok {
		return set(&p.model, "model", m)
	}
	if digits, ok := strings.CutPrefix(word, "tp"); ok {
		if n, err := strconv.ParseUint(digits, 10, 16); err == nil && n > 0 {
			return set(&p.tp, "tensor parallelism", "tp"+strconv.FormatUint(n, 10))
		}
	}
	if word == "bf16" || word == "fp8" {
		return set(&p.dtype, "weights", word)
	}
	if word == "kv-bf16" || word == "kv-fp8" {
		return set(&p.kv, "KV cache", word)
	}
	candidates := slices.Concat(slices.Collect(maps.Keys(engines())), slices.Collect(maps.Keys(known)),
		[]string{"tp1", "tp2", "tp4", "tp8", "bf16", "fp8", "kv-bf16", "kv-fp8"})
	return fmt.Errorf("profile %q: found %q, expected an engine (vllm, sglang, trtllm), a model, tpN, weights (bf16, fp8) or a KV cache (kv-bf16, kv-fp8)%s",
		p.name, word, suggest(word, candidates))
}

// choose returns the place of the one id that the name means. A part left out
// is its usual value (vllm, bf16, kv-bf16) where that leaves any, and
// otherwise the only one there is.
func (p *parts) choose(ids []string, facts map[string]Model) (int, error) {
	var left []int
	for i := range ids {
		left = append(left, i)
	}
	keep := func(part func(parts) string, value string) []int {
		return slices.DeleteFunc(slices.Clone(left), func(i int) bool { return part(split(ids[i])) != value })
	}
	for _, f := range [...]struct {
		part         func(parts) string
		value, usual string
	}{
		{func(q parts) string { return q.model }, p.model, ""},
		{func(q parts) string { return q.engine }, p.engine, VLLM},
		{func(q parts) string { return q.tp }, p.tp, ""},
		{func(q parts) string { return q.dtype }, p.dtype, "bf16"},
		{func(q parts) string { return q.kv }, p.kv, "kv-bf16"},
	} {
		switch {
		case f.value != "":
			rest := keep(f.part, f.value)
			if len(rest) == 0 {
				return 0, p.none(ids, left, facts)
			}
			left = rest
		case f.usual != "":
			if rest := keep(f.part, f.usual); len(rest) > 0 {
				left = rest
			}
		}
	}
	if len(left) == 1 {
		return left[0], nil
	}
	return 0, fmt.Errorf("profile %q: found %d profiles of that name, expected one of %s", p.name, len(left), nameSome(ids, left))
}

// none is the error for a name that no profile has: it names those that agree
// with it as far as any does, and says so when the model is too large.
func (p *parts) none(ids []string, left []int, facts map[string]Model) error {
	if text := p.tooLarge(facts); text != "" {
		return fmt.Errorf("profile %q: %s; would fit: %s", p.name, text, nameSome(ids, left))
	}
	return fmt.Errorf("profile %q: found no such profile, expected one of %s", p.name, nameSome(ids, left))
}

// tooLarge says that the weights alone do not fit, if they do not.
func (p *parts) tooLarge(facts map[string]Model) string {
	gpus, err := GPUFacts()
	m, ok := facts[p.model]
	n, errTP := strconv.Atoi(strings.TrimPrefix(p.tp, "tp"))
	if err != nil || errTP != nil || !ok || n < 1 {
		return ""
	}
	dtype := p.dtype
	if dtype == "" {
		dtype = "bf16"
	}
	weights, memory := m.weightBytes(dtype)/float64(n)/gib, gpus[p.gpu].MemoryGiB
	if weights < 0.9*memory {
		return ""
	}
	return fmt.Sprintf("found %.1f GiB of %s weights per GPU, expected them to fit into %.1f GiB", weights, dtype, memory)
}

// nameSome lists up to eight ids.
func nameSome(ids []string, places []int) string {
	const most = 8
	var names []string
	for _, i := range places[:min(len(places), most)] {
		names = append(names, ids[i])
	}
	text := strings.Join(names, ", ")
	if n := len(places) - most; n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	return text
}

// gpuNames maps full and short names of GPUs to the full ones.
func gpuNames() map[string]string {
	names := map[string]string{}
	for _, gpu := range profiles.GPUs() {
		names[gpu] = gpu
		names[strings.TrimSuffix(gpu, "_sxm")] = gpu
	}
	return names
}

func shortGPUs() []string {
	var names []string
	for _, gpu := range profiles.GPUs() {
		names = append(names, strings.TrimSuffix(gpu, "_sxm"))
	}
	return names
}

// modelNames maps every name of a model to its short one. The part of a
// repository's name after the slash counts, in lower case.
func modelNames(facts map[string]Model) map[string]string {
	names := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(facts)) {
		m := facts[name]
		names[name] = name
		for _, alias := range m.Aliases {
			names[alias] = name
		}
		if m.Like == "" {
			for _, repo := range m.Serves {
				_, base, _ := strings.Cut(strings.ToLower(repo), "/")
				names[base] = name
			}
		}
	}
	return names
}

// suggest returns " (did you mean X?)" for the nearest candidate, if one is
// near.
func suggest(word string, candidates []string) string {
	best, at := "", len(word)/2+1
	slices.Sort(candidates)
	for _, c := range candidates {
		if d := spelling.Distance(word, c); d < at {
			best, at = c, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf(" (did you mean %s?)", best)
}
