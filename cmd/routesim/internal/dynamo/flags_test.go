package dynamo

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"routesim/cmd/routesim/internal/settings"
)

func TestGPUs(t *testing.T) {
	for value, want := range map[string]string{
		"NVIDIA-H100-80GB-HBM3": "h100", "NVIDIA-H100-PCIe": "", "NVIDIA-H100-NVL": "", "NVIDIA-H200": "h200", "NVIDIA-H20": "h20",
		"NVIDIA-A100-SXM4-80GB": "a100", "NVIDIA-A100-SXM4-40GB": "", "NVIDIA-A100-80GB-PCIe": "", "NVIDIA-B200": "b200", "NVIDIA-GB200": "",
		"NVIDIA-L40S": "l40s", "NVIDIA-L40": "", "nvidia-h100-mega-80gb": "h100", "nvidia-tesla-a100": "", "h100": "h100",
		"p5.48xlarge": "h100", "p5en.48xlarge": "h200", "p4d.24xlarge": "", "a3-ultragpu-8g": "h200", "Standard_ND96isr_H100_v5": "h100", "": "",
	} {
		if got := gpuOf(value); got != want {
			t.Errorf("%s: %q, expected %q", value, got, want)
		}
	}
}

func TestProfiles(t *testing.T) {
	text := func(flags, selector string) string {
		return strings.Replace(withFlags(flags), "podTemplate: {spec: {containers: [{name: main, command", "podTemplate: {spec: {nodeSelector: {"+selector+"}, containers: [{name: main, command", 1)
	}
	const h100 = "nvidia.com/gpu.product: NVIDIA-H100-80GB-HBM3"
	for _, c := range []struct{ flags, selector, want, why string }{
		{"--model, Qwen/Qwen3-32B, -tp, '2'", h100, "h100/qwen3-32b/tp2", ""},
		{"--model, /models/Qwen3-32B/, --served-model-name, chat", h100, "h100/qwen3-32b/tp1", ""},
		{"--model, /data, --served-model-name, Qwen/Qwen3-32B, alias", h100, "h100/qwen3-32b/tp1", ""},
		{"--model, RedHatAI/Llama-3.3-70B-Instruct-FP8-dynamic, -tp=4, --kv-cache-dtype, fp8", h100, "h100/llama-3.1-70b/tp4/fp8/kv-fp8", ""},
		{"--model, meta-llama/Llama-3.1-70B-Instruct, -tp=4, --quantization, fp8", h100, "h100/llama-3.1-70b/tp4/fp8", ""},
		{"--model, meta-llama/Llama-3.1-70B-Instruct, -tp=4, -q, awq", h100, "", "quantised by awq"},
		{"--model, meta-llama/Llama-3.1-70B-Instruct, -tp=4, --dtype, float32", h100, "", "computes in float32"},
		{"--model, meta-llama/Llama-3.1-70B-Instruct", h100, "", "GiB"},
		{"--model, org/unheard-of", h100, "", "unheard-of"},
		{"--block-size, '16'", h100, "", "names no model"},
		{"--model, Qwen/Qwen3-32B", "nvidia.com/gpu.product: Tesla-T4", "", "Tesla-T4 (m.yaml:12) is none of the GPUs"},
		{"--model, Qwen/Qwen3-32B", "example.com/gpu: h100, other.com/gpu: h200", "", "one of several GPUs: h100, h200"},
		{"--model, Qwen/Qwen3-32B", "disk: h100", "", "neither its nodeSelector"},
	} {
		d, err := parsed(text(c.flags, c.selector))
		if err != nil {
			t.Errorf("%s: %v", c.flags, err)
			continue
		}
		got, _, _ := strings.Cut(given(d)["profile"], " ")
		if got != c.want {
			t.Errorf("%s on %s: %q, expected %q", c.flags, c.selector, got, c.want)
		}
		if c.want == "" && (d.NoProfile == nil || !strings.Contains(d.NoProfile.Error(), c.why)) {
			t.Errorf("%s on %s: %v, expected %q", c.flags, c.selector, d.NoProfile, c.why)
		}
	}
}

func TestWorkerFlags(t *testing.T) {
	for _, c := range []struct {
		flags string
		want  map[string]string // of settings
		warn  string
	}{
		{"--max-num-batched-tokens, 32K", map[string]string{"max-num-batched-tokens": "32768"}, ""},
		{"--max_model_len, 12.5k", map[string]string{"max-model-len": "12500"}, ""},
		{"--max-model-len, auto", map[string]string{"max-model-len": ""}, ""},
		{"--max-model-len, '-1'", map[string]string{"max-model-len": ""}, ""},
		{"--no-enable-chunked-prefill", map[string]string{"enable-chunked-prefill": "false"}, ""},
		{"--no-enable-prefix-caching, --enable-prefix-caching", map[string]string{"enable-prefix-caching": "true"}, ""},
		{"--num-gpu-blocks-override, '900'", map[string]string{"num-gpu-blocks": "900"}, ""},
		{"--max-num-seqs, '8', --max-num-seqs, '9'", map[string]string{"max-num-seqs": "9"}, "the last one counts"},
		{"--max-num-seqs, '8', stray", map[string]string{"max-num-seqs": "8"}, "the word stray"},
		{"--unheard-of, 'a b', --other", nil, "\"--unheard-of a b\""},
		{`--max-model-len, 128k, --hf-overrides, '{"rope_scaling":{"factor":4.0}}'`, map[string]string{"max-model-len": ""}, "left to the profile"},
		{`--max-model-len, 8k, --hf-overrides, '{"architectures":[]}'`, map[string]string{"max-model-len": "8000"}, "published configuration"},
		{"--enforce-eager", nil, "CUDA graphs"},
		{"--kv-events-config.enable_kv_cache_events=true", nil, ""},
		{"--kv-events-config, '{\"enable_kv_cache_events\":true,\"publisher\":\"null\"}'", nil, quiet},
		{"--kv-events-config, '{\"enable_kv_cache_events\":true}', --no-enable-prefix-caching", nil, "prefix caching is off"},
	} {
		d, err := parsed(withFlags(c.flags))
		if err != nil {
			t.Errorf("%s: %v", c.flags, err)
			continue
		}
		got := given(d)
		for name, want := range c.want {
			if text, _, _ := strings.Cut(got[name], " "); text != want {
				t.Errorf("%s: %s is %q, expected %q", c.flags, name, text, want)
			}
		}
		if !has(said(d), c.warn) && c.warn != "" {
			t.Errorf("%s: %v, expected %q", c.flags, d.Warnings, c.warn)
		}
		if c.flags == "--kv-events-config.enable_kv_cache_events=true" && has(said(d), quiet) {
			t.Errorf("%s: %v", c.flags, d.Warnings)
		}
	}
}

// A shell and Kubernetes each replace variables in their own way.
func TestVariables(t *testing.T) {
	script := func(env, script string) string {
		text := strings.ReplaceAll(minimal, "command: [python3, -m, dynamo.vllm], args: [--model, x]", "env: ["+env+"], command: [/bin/sh, -ec], args: [SCRIPT]")
		return strings.Replace(text, "SCRIPT", "'"+strings.ReplaceAll(script, "'", "''")+"'", 1)
	}
	for _, c := range []struct{ env, script, seqs, warn string }{
		{"{name: N, value: '5'}", `python3 -m dynamo.vllm --model x --max-num-seqs $N`, "5", ""},
		{"{name: N, value: '5'}", `python3 -m dynamo.vllm --model x --max-num-seqs $(N)`, "5", ""},
		{"{name: N, value: '5'}, {name: M, value: $(N)0}", `python3 -m dynamo.vllm --model x --max-num-seqs "${M}"`, "50", ""},
		{"", `N=7; python3 -m dynamo.vllm --model x --max-num-seqs ${N}`, "7", ""},
		{"", `python3 -m dynamo.vllm --model x --max-num-seqs ${N:-9}`, "9", ""},
		{"{name: N, value: '5'}", `if [ -n "$X" ]; then python3 -m dynamo.vllm --model x --max-num-seqs $N; fi`, "5", "a condition or a loop around dynamo.vllm"},
		{"", `python3 -m dynamo.vllm --model $MISSING --max-num-seqs 3`, "3", "$MISSING"},
		{"", `python3 -m dynamo.vllm --model "$(cat name)" --max-num-seqs 3`, "3", "a command's output"},
		{"{name: S, valueFrom: {secretKeyRef: {name: s, key: k}}}", `python3 -m dynamo.vllm --model $S --max-num-seqs 3`, "3", "$S"},
		{"", `sleep 5 && exec env A=b numactl -m 0 python3 -m dynamo.vllm --model x --max-num-seqs 3 2>&1 | tee log`, "3", ""},
		{"", "python3 -m dynamo.vllm --model x \\\n\n  --max-num-seqs 3", "3", ""},
	} {
		d, err := parsed(script(c.env, c.script))
		if err != nil {
			t.Errorf("%s: %v", c.script, err)
			continue
		}
		if got, _, _ := strings.Cut(given(d)["max-num-seqs"], " "); got != c.seqs {
			t.Errorf("%s: max-num-seqs is %q, expected %q", c.script, got, c.seqs)
		}
		if c.warn != "" && !has(d.Warnings, "not understood", c.warn) {
			t.Errorf("%s: %v, expected %q", c.script, d.Warnings, c.warn)
		}
		if c.warn == "" && has(d.Warnings, "not understood") {
			t.Errorf("%s: %v, expected nothing", c.script, d.Warnings)
		}
	}
	e := &environment{vars: map[string]variable{"A": {value: "1", known: true}, "S": {}}}
	for text, want := range map[string]string{
		"$(A)": "1", "x$(A)y$(A)": "x1y1", "$$(A)": "$(A)", "$(B)": "$(B)", "$(S)": "$(S)", "$A": "$A", "$(A": "$(A", "$": "$", "$$": "$", "$()": "$()",
	} {
		if got := e.expand(text); got != want {
			t.Errorf("%s becomes %s, expected %s", text, got, want)
		}
	}
}

func TestVariablesOfFrontend(t *testing.T) {
	text := strings.Replace(minimal, "args: [--router-mode, kv]", `envFrom: [{configMapRef: {name: e}}], env: [{name: DYN_ROUTER_TEMPERATURE, value: "0.5"}, {name: DYN_ROUTER_MODE, valueFrom: {configMapKeyRef: {name: e, key: mode}}}, {name: DYN_ROUTER_TTL_SECS, valueFrom: {secretKeyRef: {name: s, key: k}}}, {name: DYN_ROUTER_TEMPRATURE, value: "1"}, {name: DYN_MIGRATION_LIMIT, value: "3"}]`, 1) +
		"---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: e}\ndata:\n  mode: kv\n  DYN_ROUTER_TEMPERATURE: '9'\n  DYN_ROUTER_PREFILL_LOAD_SCALE: '3'\n"
	d, err := parsed(text)
	if err != nil {
		t.Fatal(err)
	}
	got := given(d)
	for name, want := range map[string]string{"router-temperature": "0.5 m.yaml:8", "router-mode": "kv m.yaml:18", "router-prefill-load-scale": "3 m.yaml:20"} {
		if got[name] != want {
			t.Errorf("%s: %q, expected %q", name, got[name], want)
		}
	}
	wantLine(t, d.Warnings, "DYN_ROUTER_TTL_SECS", "secret")
	wantLine(t, d.Warnings, "DYN_ROUTER_TEMPRATURE", "no router setting")
	wantLine(t, d.Details, "no effect on a replay", "DYN_MIGRATION_LIMIT")
}

// A policy file that cannot be found is an error only while nothing stronger
// names another.
func TestPolicyFilesThatAreMissing(t *testing.T) {
	frontend := func(mounts, volumes string) string {
		return strings.Replace(minimal, "{containers: [{name: main, args: [--router-mode, kv]}]}",
			"{volumes: ["+volumes+"], containers: [{name: main, volumeMounts: ["+mounts+"], args: [--router-mode, kv, --router-policy-config, /etc/p/live.yaml]}]}", 1)
	}
	const mount, volume = "{name: v, mountPath: /etc/p/}", "{name: v, configMap: {name: c}}"
	held := "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {other.yaml: x}\n"
	for _, c := range []struct{ text, want string }{
		{frontend("", ""), "a path of the container's image"},
		{frontend("{name: v, mountPath: /etc/pp}", volume), "a path of the container's image"},
		{frontend(mount, "{name: v, emptyDir: {}}"), "on the volume v (mounted at m.yaml:8), which is not one of a ConfigMap"},
		{frontend(mount, volume), "of the ConfigMap c, which is not among the manifests"},
		{frontend(mount, volume) + held, "m.yaml:14: data.live.yaml: found no such key in ConfigMap c, expected one of its keys (other.yaml)"},
	} {
		table := settings.NewTable()
		d, err := translateIn(table, c.text)
		if err != nil {
			t.Errorf("%v", err)
			continue
		}
		if _, err := table.Resolve(settings.Input{Deployment: d}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, expected %q", err, c.want)
		}
	}
	for _, c := range []struct{ mounts, volumes string }{
		{mount, "{name: v, configMap: {name: c, items: [{key: other.yaml, path: live.yaml}]}}"},
		{mount, "{name: v, projected: {sources: [{configMap: {name: c, items: [{key: other.yaml, path: live.yaml}]}}]}}"},
		{"{name: v, mountPath: /etc/p/live.yaml, subPath: other.yaml}", volume},
		{"{name: u, mountPath: /etc}, " + "{name: v, mountPath: /etc/p/live.yaml, subPath: other.yaml}", volume},
	} {
		d, err := parsed(frontend(c.mounts, c.volumes) + held)
		if err != nil {
			t.Fatal(err)
		}
		if got, _, _ := strings.Cut(given(d)["router-policy-config"], " "); got != "m.yaml#c/other.yaml" {
			t.Errorf("%s: %q", c.mounts, got)
		}
	}
}

func TestListsAndRepeatedReading(t *testing.T) {
	list := "apiVersion: v1\nkind: List\nitems:\n- " + strings.ReplaceAll(strings.TrimSpace(minimal), "\n", "\n  ") + "\n"
	a, err := parsed(list)
	if err != nil {
		t.Fatal(err)
	}
	b, err := parsed(list)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(given(a), given(b)) + cmp.Diff(a.Warnings, b.Warnings) + cmp.Diff(a.Details, b.Details); diff != "" {
		t.Error(diff)
	}
	if got := given(a)["workers"]; got != "2 m.yaml:14" {
		t.Errorf("workers: %q", got)
	}
}

func FuzzTranslate(f *testing.F) {
	f.Add(minimal)
	f.Add(withFlags("--max-num-seqs, 1k, -tp, '2'"))
	f.Add(strings.Replace(minimal, "args: [--router-mode, kv]", "command: [sh, -c, \"export A=b; python -m dynamo.frontend --x ${A:-$(c)} {1..3}\"]", 1))
	f.Add("apiVersion: nvidia.com/v1\nkind: |\n  0\n  0\n")
	f.Add("a: &a [*a]\nb: {<<: *a}\n")
	f.Fuzz(func(t *testing.T, text string) {
		d, err := parsed(text)
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("the error %q has more than one line", err)
			}
			return
		}
		again, err := parsed(text)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(given(d), given(again)) + cmp.Diff(d.Warnings, again.Warnings); diff != "" {
			t.Error(diff)
		}
		for _, g := range d.Given {
			if g.Place.File != "m.yaml" || g.Place.Line < 1 || g.Place.Line > strings.Count(text, "\n")+1 {
				t.Errorf("%s has the place %+v", g.Setting.Name, g.Place)
			}
		}
	})
}
