package dynamo

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"routesim/cmd/routesim/internal/manifest"
	"routesim/cmd/routesim/internal/settings"
	"routesim/workloads"
)

// read translates a file or folder of testdata.
func read(t *testing.T, path, name string) *settings.Deployment {
	t.Helper()
	d, err := Read(settings.NewTable(), "testdata/"+path, name)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// translate translates a text.
func translate(text string) (*settings.Deployment, error) {
	return translateWith(settings.NewTable(), text)
}

func translateWith(table *settings.Table, text string) (*settings.Deployment, error) {
	objects, err := manifest.Parse("m.yaml", []byte(text))
	if err != nil {
		return nil, err
	}
	return Translate(table, "m.yaml", objects, "")
}

// given lists the values as NAME=TEXT, with the place behind an @ where wanted.
func given(d *settings.Deployment) map[string]string {
	m := map[string]string{}
	for _, g := range d.Given {
		m[g.Setting.Name] = g.Text + " " + strings.TrimPrefix(g.Origin.Where, "testdata/")
	}
	return m
}

// has reports whether a line contains all words.
func has(lines []string, words ...string) bool {
	for _, l := range lines {
		all := true
		for _, w := range words {
			all = all && strings.Contains(l, w)
		}
		if all {
			return true
		}
	}
	return false
}

func wantLine(t *testing.T, lines []string, words ...string) {
	t.Helper()
	n := 0
	for _, l := range lines {
		if has([]string{l}, words...) {
			n++
		}
	}
	if n != 1 {
		t.Errorf("%d lines say %q, expected 1 of\n%s", n, words, strings.Join(lines, "\n"))
	}
}

// The first shape of the documentation: flags of the Frontend, and prefill
// workers that publish KV events.
func TestFrontendFlagsAndPools(t *testing.T) {
	d := read(t, "pools.yaml", "")
	got := given(d)
	for name, want := range map[string]string{
		"router-mode":                    "kv pools.yaml:19",
		"router-kv-overlap-score-credit": "0.8 pools.yaml:21",
		"router-temperature":             "0.2 pools.yaml:22",
		"router-track-output-blocks":     "false pools.yaml:24",
		"router-queue-threshold":         "4 pools.yaml:32",
		"block-size":                     "64 pools.yaml:50",
	} {
		if got[name] != want {
			t.Errorf("%s: %q, expected %q", name, got[name], want)
		}
	}
	wantLine(t, d.Details, "DYN_ROUTER_TEMPERATURE", "no effect", "pools.yaml:22 wins")
	wantLine(t, d.Details, "no effect on a replay", "--http-port", "(Frontend)")
	wantLine(t, d.Warnings, "not understood", "--router-reset-states", "pools.yaml:27")
	if has(d.Warnings, "blind") {
		t.Errorf("a warning speaks of a blind router: %v", d.Warnings)
	}
	if d.NoProfile != nil {
		t.Errorf("no profile: %v", d.NoProfile)
	}
	pools := ""
	for _, g := range d.Given {
		if _, ok := g.Setting.Kind.(settings.FleetKind); ok {
			pools += g.Text + ";"
		}
	}
	for _, part := range []string{
		"6xh200/qwen3-32b/tp2@max_num_batched_tokens=16000", "2xh200/qwen3-32b/tp2@max_num_seqs=512@enable_prefix_caching=false",
	} {
		if !strings.Contains(pools, part) {
			t.Errorf("the pools are %s, expected %s", pools, part)
		}
	}
}

// The second shape: a policy file that a ConfigMap holds, in another document.
func TestPolicyFileOfConfigMap(t *testing.T) {
	d := read(t, "policy", "")
	want := map[string]string{
		"router-mode":          "kv policy/deployment.yaml:15",
		"router-policy-config": "testdata/policy/maps.yml#router-policy/policy.yaml policy/deployment.yaml:27",
		"workers":              "4 policy/deployment.yaml:34",
		"profile":              "h100/llama-3.1-70b/tp4 policy/deployment.yaml:42",
		"tensor-parallel-size": "4 policy/deployment.yaml:43",
		"block-size":           "32 policy/deployment.yaml:44",
	}
	got := given(d)
	for name := range want {
		if got[name] != want[name] {
			t.Errorf("%s: %q, expected %q", name, got[name], want[name])
		}
	}
	wantLine(t, d.Details, "left aside", "Service batch-frontend", "maps.yml:20")
	table := settings.NewTable()
	d, err := Read(table, "testdata/policy", "")
	if err != nil {
		t.Fatal(err)
	}
	r, err := table.Resolve(settings.Input{Deployment: d})
	if err != nil {
		t.Fatal(err)
	}
	s, _ := table.Lookup("router-host-cache-hit-weight")
	if r.Run.Router.HostCacheHitWeight != 0.5 || r.Run.Router.AssumeKVReuse {
		t.Errorf("the policy file's settings did not arrive: %+v", r.Run.Router)
	}
	for _, e := range r.Entries() {
		if e.Name == s.Name && e.Origin != "policy file testdata/policy/maps.yml:11" {
			t.Errorf("%s has the origin %s", e.Name, e.Origin)
		}
	}
}

func TestShellScript(t *testing.T) {
	got := given(read(t, "shell.yaml", ""))
	want := map[string]string{
		"router-mode":               "kv shell.yaml:14",
		"router-prefill-load-scale": "2 shell.yaml:15",
		"workers":                   "3 shell.yaml:18",
		"profile":                   "h100/llama-3.1-70b/tp4 shell.yaml:34",
		"tensor-parallel-size":      "4 shell.yaml:35",
		"block-size":                "128 shell.yaml:36",
		"gpu-memory-utilization":    "0.85 shell.yaml:37",
	}
	for name := range want {
		if got[name] != want[name] {
			t.Errorf("%s: %q, expected %q", name, got[name], want[name])
		}
	}
}

func TestMixedWorkersAndAnchors(t *testing.T) {
	d := read(t, "mixed.yaml", "")
	got := given(d)
	if want := "2xh100/llama-3.1-8b/tp1@max_num_seqs=128,3xa100/llama-3.1-8b/tp1@max_num_seqs=128 mixed.yaml:18"; got["workers"] != want {
		t.Errorf("workers: %q, expected %q", got["workers"], want)
	}
	if want := "16 mixed.yaml:16"; got["block-size"] != want {
		t.Errorf("block-size: %q, expected %q", got["block-size"], want)
	}
	wantLine(t, d.Details, "block-size of Large is not said")
}

func TestWorkersWithoutEvents(t *testing.T) {
	d := read(t, "blind.yaml", "")
	wantLine(t, d.Warnings, "workers Quiet (testdata/blind.yaml:15)", "--kv-events-config at testdata/blind.yaml:23", "blind")
	wantLine(t, d.Warnings, "workers Silent (testdata/blind.yaml:24)", "no KV events are configured", "blind")
	if d.NoProfile == nil || !strings.Contains(d.NoProfile.Error(), "testdata/blind.yaml:23: Quiet: found no GPU profile") {
		t.Errorf("no profile: %v", d.NoProfile)
	}
	// Without a kv router nobody listens anyway.
	for _, args := range []string{"[--router-mode, round-robin]", "[--router-mode, kv, --no-router-kv-events]", "[]"} {
		d, err := translate(strings.Replace(minimal, "[--router-mode, kv]", args, 1))
		if err != nil {
			t.Fatal(err)
		}
		if has(d.Warnings, "blind") {
			t.Errorf("%s: %v", args, d.Warnings)
		}
	}
	if d, err := translate(minimal); err != nil || !has(d.Warnings, "blind") {
		t.Errorf("no warning: %v, %v", d, err)
	}
}

// minimal is a small deployment without KV events.
const minimal = `apiVersion: nvidia.com/v1beta1
kind: DynamoGraphDeployment
metadata: {name: m}
spec:
  components:
  - name: F
    type: frontend
    podTemplate: {spec: {containers: [{name: main, args: [--router-mode, kv]}]}}
  - name: W
    type: worker
    replicas: 2
    podTemplate: {spec: {containers: [{name: main, command: [python3, -m, dynamo.vllm], args: [--model, x]}]}}
`

// with puts other flags into the minimal deployment's worker.
func withFlags(flags string) string {
	return strings.Replace(minimal, "[--model, x]", "["+flags+"]", 1)
}

func TestOtherEngines(t *testing.T) {
	d := read(t, "sglang.yaml", "")
	got := given(d)
	for name, want := range map[string]string{
		"block-size": "16 sglang.yaml:23", "max-num-seqs": "64 sglang.yaml:23", "num-gpu-blocks": "6250 sglang.yaml:23",
	} {
		if got[name] != want {
			t.Errorf("%s: %q, expected %q", name, got[name], want)
		}
	}
	wantLine(t, d.Warnings, "--mem-fraction-static 0.8", "--num-gpu-blocks")
	if has(d.Warnings, "blind") {
		t.Errorf("SGLang publishes where a publisher is named: %v", d.Warnings)
	}
	d = read(t, "trtllm.yaml", "")
	got = given(d)
	for name, want := range map[string]string{
		"block-size": "32 trtllm.yaml:15", "max-num-seqs": "48 trtllm.yaml:23", "max-num-batched-tokens": "4096 trtllm.yaml:26",
	} {
		if got[name] != want {
			t.Errorf("%s: %q, expected %q", name, got[name], want)
		}
	}
	if has(d.Warnings, "blind") {
		t.Errorf("TensorRT-LLM publishes by a switch: %v", d.Warnings)
	}
}

func TestChoiceOfDeployment(t *testing.T) {
	_, err := Read(settings.NewTable(), "testdata/two", "")
	for _, word := range []string{"first (testdata/two/a.yaml:1)", "second (testdata/two/b.yaml:1)", "--dynamo-deployment"} {
		if err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("error %v, expected %q in it", err, word)
		}
	}
	d := read(t, "two", "second")
	if got := given(d)["router-mode"]; got != "kv two/b.yaml:14" {
		t.Errorf("router-mode: %q", got)
	}
	if _, err := Read(settings.NewTable(), "testdata/two", "third"); err == nil || !strings.Contains(err.Error(), "found third, expected one of first") {
		t.Errorf("error %v", err)
	}
	objects, err := manifest.Load("testdata/two")
	if err != nil {
		t.Fatal(err)
	}
	objects[0].Namespace = "space"
	if _, err := Translate(settings.NewTable(), "two", objects, "space/first"); err != nil {
		t.Error(err)
	}
}

func TestGatewayIsRefused(t *testing.T) {
	pool := strings.Replace(minimal, "type: frontend", "type: planner", 1) + "---\napiVersion: inference.networking.k8s.io/v1\nkind: InferencePool\nmetadata: {name: pool}\n"
	for name, text := range map[string]string{
		"m.yaml:6: spec.components[0]": strings.Replace(minimal, "type: frontend", "type: epp", 1),
		"m.yaml:15: kind":              pool,
	} {
		_, err := translate(text)
		if err == nil || !strings.HasPrefix(err.Error(), name) || !strings.Contains(err.Error(), "Gateway topology") {
			t.Errorf("error %v, expected one at %s", err, name)
		}
	}
	if _, err := Read(settings.NewTable(), "testdata/gateway.yaml", ""); err == nil || !strings.Contains(err.Error(), "component Picker of type epp") {
		t.Errorf("error %v", err)
	}
}

func TestErrors(t *testing.T) {
	replace := func(old, new string) string {
		if !strings.Contains(minimal, old) {
			t.Fatalf("%q is not in the deployment", old)
		}
		return strings.Replace(minimal, old, new, 1)
	}
	for _, c := range []struct{ text, want string }{
		{"", "m.yaml: kind: found no document, expected a DynamoGraphDeployment"},
		{"a: [1,\n", "m.yaml:"},
		{"{{ .Values.x }}: 1\n", "a template is rendered first"},
		{"kind: Service\nmetadata: {name: s}\n", "m.yaml: kind: found Service s, expected a DynamoGraphDeployment"},
		{replace("v1beta1", "v2"), "m.yaml:1: apiVersion: found nvidia.com/v2, expected nvidia.com/v1alpha1 or nvidia.com/v1beta1"},
		{replace("nvidia.com", "other.com"), "m.yaml: kind: found DynamoGraphDeployment m, expected"},
		{replace("Deployment", "DeploymentRequest"), "m.yaml:2: kind: found a DynamoGraphDeploymentRequest"},
		{minimal + "---\n" + minimal, "m.yaml:14: metadata.name: found DynamoGraphDeployment m, which m.yaml:1 has too, expected each object once"},
		{replace("name: W", "name: F"), "m.yaml:9: spec.components[1].name: found F, which m.yaml:6 has too, expected each name once"},
		{replace("replicas: 2", "replicas: two"), "m.yaml:11: spec.components[1].replicas: found two, expected a whole number from 0 to 65535"},
		{replace("replicas: 2", "replicas: -1"), "m.yaml:11: spec.components[1].replicas: found -1, expected"},
		{replace("replicas: 2", "replicas: 0"), "m.yaml:5: spec: found no worker with replicas"},
		{replace("type: worker", "type: frontend"), "m.yaml:9: spec.components[1]: found a second frontend, W (the first is F at m.yaml:6), expected one"},
		{replace("dynamo.vllm", "dynamo.mocker"), "m.yaml:9: spec.components[1]: found workers of W that run dynamo.mocker, expected python3 -m dynamo.sglang"},
		{replace("components:", "services:"), "m.yaml:6: spec.services: found a list, expected a mapping"},
		{replace("  components:", "  nothing:"), "spec: found neither services nor components"},
		{replace("  components:\n", "  services: {}\n  components:\n"), "spec: found both services and components"},
		{replace("[--router-mode, kv]", "[--router-mode]"), "m.yaml:8: F: --router-mode: found no value, expected one after it"},
		{replace("[--router-mode, kv]", "{a: b}"), "m.yaml:8: spec.components[0].args: found a mapping, expected a list of words"},
		{replace("[--router-mode, kv]", "[[a]]"), "m.yaml:8: spec.components[0].args: found a list, expected a text"},
		{replace("args: [--router-mode, kv]", "env: [{value: x}]"), "found nothing as a name, expected the name of a variable"},
		{replace("args: [--router-mode, kv]", "command: [sh, -c, \"a 'b\"]"), "m.yaml:8: spec.components[0]: found "},
		{replace("args: [--router-mode, kv]", "command: [sh, -c, \"python -m dynamo.frontend; python -m dynamo.vllm\"]"), "found a second Dynamo process, dynamo.vllm"},
		{withFlags("--max-num-seqs, many"), "m.yaml:12: W: --max-num-seqs: found many, expected a whole number"},
		{withFlags("--max-model-len, 1.5K"), "m.yaml:12: W: --max-model-len: found 1.5K, expected a whole number, or one with a suffix"},
		{withFlags("--gpu-memory-utilization=2"), "m.yaml:12: W: --gpu-memory-utilization: found 2, expected a number above 0 and up to 1"},
		{withFlags("--kv-events-config, yes-please"), "m.yaml:12: W: --kv-events-config: found yes-please, expected a JSON object"},
		{withFlags("--disaggregation-mode, both"), "m.yaml:12: W: --disaggregation-mode: found both, expected agg, pd, prefill, decode or encode"},
		{withFlags("--is-prefill-worker"), "m.yaml:9: spec.components[1]: found prefill workers only, expected decode workers too"},
	} {
		d, err := translate(c.text)
		if err == nil {
			t.Errorf("no error but %v, expected %q", given(d), c.want)
			continue
		}
		if !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %q, expected %q", err, c.want)
		}
		if strings.Contains(err.Error(), "\n") {
			t.Errorf("error %q has more than one line", err)
		}
	}
	if _, err := Read(settings.NewTable(), "testdata/absent", ""); err == nil || !strings.HasPrefix(err.Error(), "--from-dynamo: ") {
		t.Errorf("error %v", err)
	}
	var p *workloads.Problem
	if _, err := Read(settings.NewTable(), t.TempDir(), ""); !errors.As(err, &p) || p.Want != "Kubernetes manifests" {
		t.Errorf("error %v of an empty folder", err)
	}
}

// The manifests win over the environment, flags and the engine dictionary over
// the manifests. A value that the router cannot take is an error with its
// place, a setting that a replay ignores a warning that names it.
func TestResolving(t *testing.T) {
	resolve := func(text string, flags map[string]string, environ ...string) (*settings.Resolved, error) {
		table := settings.NewTable()
		d, err := translateWith(table, text)
		if err != nil {
			t.Fatal(err)
		}
		in := settings.Input{Deployment: d, Environ: environ}
		for _, name := range sortedKeys(flags) {
			s, ok := table.Lookup(name)
			if !ok {
				t.Fatalf("no setting %s", name)
			}
			in.Flags = append(in.Flags, settings.Given{Setting: s, Text: flags[name], Origin: settings.Origin{Layer: settings.FromFlag, Where: "--" + name}})
		}
		return table.Resolve(in)
	}
	text := strings.Replace(minimal, "[--router-mode, kv]", "[--router-mode, kv, --router-temperature, warm]", 1)
	if _, err := resolve(text, nil); err == nil || err.Error() != "m.yaml:8: F: --router-temperature: found warm, expected a finite number of at least 0" {
		t.Errorf("error %v", err)
	}
	if _, err := resolve(minimal, nil); err == nil || !strings.HasPrefix(err.Error(), "m.yaml:12: W: found no GPU profile") {
		t.Errorf("error %v", err)
	}
	r, err := resolve(minimal, map[string]string{"timing": "fixed:20,8", "workers": "5"}, "DYN_ROUTER_MODE=round-robin", "DYN_ROUTER_TEMPERATURE=3")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range r.Entries() {
		if want := map[string]string{"router-mode": "kv dynamo m.yaml:8", "router-temperature": "3 environment DYN_ROUTER_TEMPERATURE",
			"workers": "5 flag --workers", "block-size": "16 dynamo m.yaml:9"}[e.Name]; want != "" && e.Text+" "+e.Origin != want {
			t.Errorf("%s: %s %s, expected %s", e.Name, e.Text, e.Origin, want)
		}
	}
	wantLine(t, r.Listing, "workers = 2 from m.yaml:11 (no effect: the flag --workers wins)")
	wantLine(t, r.Warnings, "blind")

	// Several components are groups of one fleet, and a flag wins over each.
	fleet := strings.Replace(minimal, "  - name: W\n", "  - {name: V, type: worker, podTemplate: {spec: {nodeSelector: {gpu: h100}, containers: [{name: main, command: [python3, -m, dynamo.vllm], args: [--model, Qwen/Qwen3-8B, --max-num-seqs, '7']}]}}}\n  - name: W\n", 1)
	if _, err := resolve(fleet, nil); err == nil || !strings.HasPrefix(err.Error(), "m.yaml:13: W: found no GPU profile") {
		t.Errorf("error %v", err)
	}
	for _, c := range []struct {
		flags map[string]string
		want  string
	}{
		{map[string]string{"profile": "h100/qwen3-8b/tp1"}, "1@max_num_seqs=7,2"},
		{map[string]string{"timing": "fixed:20,8", "max-num-seqs": "9"}, "1,2"},
	} {
		r, err := resolve(fleet, c.flags)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range r.Entries() {
			if e.Name == "workers" && e.Text != c.want {
				t.Errorf("workers: %s, expected %s", e.Text, c.want)
			}
		}
		wantLine(t, r.Listing, "profile h100/qwen3-8b/tp1 of workers has no effect")
	}
}

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
		d, err := translate(text(c.flags, c.selector))
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
		{"--enforce-eager", nil, "CUDA graphs"},
		{"--kv-events-config.enable_kv_cache_events=true", nil, ""},
		{"--kv-events-config, '{\"enable_kv_cache_events\":true,\"publisher\":\"null\"}'", nil, "blind"},
		{"--kv-events-config, '{\"enable_kv_cache_events\":true}', --no-enable-prefix-caching", nil, "prefix caching is off"},
	} {
		d, err := translate(withFlags(c.flags))
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
		if !has(d.Warnings, c.warn) && c.warn != "" {
			t.Errorf("%s: %v, expected %q", c.flags, d.Warnings, c.warn)
		}
		if c.flags == "--kv-events-config.enable_kv_cache_events=true" && has(d.Warnings, "blind") {
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
		d, err := translate(script(c.env, c.script))
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
	text := strings.Replace(minimal, "args: [--router-mode, kv]", `envFrom: [{configMapRef: {name: e}}], env: [{name: DYN_ROUTER_TEMPERATURE, value: "0.5"}, {name: DYN_ROUTER_MODE, valueFrom: {configMapKeyRef: {name: e, key: mode}}}, {name: DYN_ROUTER_TTL_SECS, valueFrom: {secretKeyRef: {name: s, key: k}}}, {name: DYN_ROUTER_TEMPRATURE, value: "1"}]`, 1) +
		"---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: e}\ndata:\n  mode: kv\n  DYN_ROUTER_TEMPERATURE: '9'\n  DYN_ROUTER_PREFILL_LOAD_SCALE: '3'\n"
	d, err := translate(text)
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
		d, err := translateWith(table, c.text)
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
		d, err := translate(frontend(c.mounts, c.volumes) + held)
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
	a, err := translate(list)
	if err != nil {
		t.Fatal(err)
	}
	b, err := translate(list)
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
	f.Add("a: &a [*a]\nb: {<<: *a}\n")
	f.Fuzz(func(t *testing.T, text string) {
		d, err := translate(text)
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("the error %q has more than one line", err)
			}
			return
		}
		again, err := translate(text)
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
