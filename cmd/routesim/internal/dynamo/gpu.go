package dynamo

import (
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"routesim/cmd/routesim/internal/manifest"
	"routesim/models/profile"
)

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// machines lists the GPUs of cloud machines by the beginning of their names, in
// lower case.
func machines() [][2]string {
	return [][2]string{
		{"p5e.", "h200"}, {"p5en.", "h200"}, {"p5.", "h100"}, {"p4de.", "a100"}, {"p6-b200.", "b200"}, {"g6e.", "l40s"},
		{"a3-ultragpu", "h200"}, {"a3-highgpu", "h100"}, {"a3-megagpu", "h100"}, {"a4-highgpu", "b200"}, {"a2-ultragpu", "a100"},
		{"standard_nd96isr_h100", "h100"}, {"standard_nd96isr_h200", "h200"}, {"standard_nd96amsr_a100", "a100"},
		{"bm.gpu.h100", "h100"}, {"bm.gpu.h200", "h200"}, {"bm.gpu.b200", "b200"}, {"bm.gpu.a100-v2", "a100"}, {"bm.gpu.l40s", "l40s"},
	}
}

var gpuWord = regexp.MustCompile(`(?:^|[^a-z0-9])(h100|h200|h20|b200|a100|l40s)(?:$|[^a-z0-9])`)

// gpuOf recognises the GPU that a node's label stands for, by the short name of
// its profiles; "" if it is none of those.
func gpuOf(value string) string {
	v := strings.ToLower(value)
	for _, m := range machines() {
		if strings.HasPrefix(v, m[0]) {
			return m[1]
		}
	}
	found := gpuWord.FindStringSubmatch(v)
	switch {
	case found == nil, strings.Contains(v, "pcie"), strings.Contains(v, "nvl"), strings.Contains(v, "mig"):
		return "" // cards of other speed than the profiled ones
	case found[1] == "a100" && !strings.Contains(v, "80gb"):
		return "" // the profiled one has 80 GB
	}
	return found[1]
}

// gpu recognises the GPU of a component's nodes by its node selector, its node
// affinity and its annotations and labels. why says why there is none.
func (c *component) gpu() (name string, from place, why string) {
	seen := map[string]string{} // the label's value by the GPU
	look := func(key string, v manifest.Node) {
		value, ok := v.Text()
		k := strings.ToLower(key)
		if !ok || !strings.Contains(k, "gpu") && !strings.Contains(k, "accelerator") && !strings.Contains(k, "instance") && !strings.Contains(k, "machine") {
			return
		}
		if g := gpuOf(value); g != "" && seen[g] == "" {
			seen[g] = value
			name, from = g, at(v)
		} else if g == "" && why == "" && (strings.Contains(k, "product") || strings.Contains(k, "accelerator")) {
			why = fmt.Sprintf("%s %s (%s) is none of the GPUs that have profiles", key, show(value), at(v))
		}
	}
	for _, m := range append([]manifest.Node{c.pod.Get("nodeSelector")}, c.metadata...) {
		entries, _ := m.Entries()
		for _, e := range entries {
			look(e.Key, e.Value)
		}
	}
	terms, _ := c.pod.Get("affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms").Items()
	for _, t := range terms {
		matches, _ := t.Get("matchExpressions").Items()
		for _, m := range matches {
			key, _ := m.Get("key").Text()
			values, _ := m.Get("values").Items()
			if op, _ := m.Get("operator").Text(); op != "In" {
				continue
			}
			for _, v := range values {
				look(key, v)
			}
		}
	}
	switch {
	case len(seen) == 1:
		return name, from, ""
	case len(seen) > 1:
		return "", place{}, "its nodes have one of several GPUs: " + strings.Join(sortedKeys(seen), ", ")
	case why != "":
		return "", place{}, why
	}
	return "", place{}, "neither its nodeSelector, its node affinity nor its annotations name a GPU"
}

var fp8Suffix = regexp.MustCompile(`-fp8(?:-dynamic|-block|-kv)?$`)

// profile names the GPU profile of a worker. why says why there is none.
func (w *worker) profile() (name string, from place, why string) {
	gpu, from, why := w.gpu()
	if gpu == "" {
		return "", place{}, why
	}
	if !w.model.exists() && !w.served.exists() {
		return "", place{}, "it names no model"
	}
	tp := w.tensor.text
	if tp == "" {
		tp = "1"
	}
	if w.quantized.exists() && w.quantized.text != "fp8" {
		return "", place{}, "no profile has weights quantised by " + show(w.quantized.text)
	}
	kv := ""
	switch w.kvDtype.text {
	case "", "auto", "bfloat16", "bf16":
	case "fp8", "fp8_e4m3", "fp8_e5m2":
		kv = "/kv-fp8"
	default:
		return "", place{}, "no profile has a KV cache of " + show(w.kvDtype.text)
	}
	switch w.weights.text {
	case "", "auto", "bfloat16", "float16", "half":
	default:
		return "", place{}, "no profile computes in " + show(w.weights.text)
	}
	for _, m := range []fact{w.model, w.served} {
		base := strings.ToLower(path.Base(strings.TrimRight(m.text, "/")))
		dtype := ""
		if short := fp8Suffix.ReplaceAllString(base, ""); short != base || w.quantized.exists() {
			base, dtype = short, "/fp8"
		}
		candidate := gpu + "/" + w.engine.name + "/" + base + "/tp" + tp + dtype + kv
		if !m.exists() || base == "" || strings.ContainsAny(base, "@,") {
			continue
		}
		if p, err := profile.Lookup(candidate); err == nil {
			return shortest(p, candidate, gpu+"/"+p.Model+"/tp"+tp+dtype+kv), m.at, ""
		} else if why == "" {
			why = err.Error()
		}
	}
	return "", place{}, why
}

// shortest returns the shorter one of two names of a profile, if it is one.
func shortest(p *profile.Profile, name, shorter string) string {
	if same, err := profile.Lookup(shorter); err == nil && same.ID == p.ID {
		return shorter
	}
	return name
}
