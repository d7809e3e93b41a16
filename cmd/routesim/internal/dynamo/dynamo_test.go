package dynamo

import (
	"errors"
	"slices"
	"strings"
	"testing"

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

// parsed translates a text.
func parsed(text string) (*settings.Deployment, error) {
	return translateIn(settings.NewTable(), text)
}

func translateIn(table *settings.Table, text string) (*settings.Deployment, error) {
	objects, err := manifest.Parse("m.yaml", []byte(text))
	if err != nil {
		return nil, err
	}
	return Translate(table, "m.yaml", objects, "")
}

// quiet is what is said of workers without KV events, and said everything that
// is said of a deployment.
const quiet = "publish no KV events"

func said(d *settings.Deployment) []string { return append(slices.Clone(d.Details), d.Warnings...) }

// given lists the values as NAME=TEXT, with the place behind an @ where wanted.
func given(d *settings.Deployment) map[string]string {
	m := map[string]string{}
	for _, g := range d.Given {
		m[g.Setting.Name] = g.Text + " " + strings.TrimPrefix(g.Origin.Where, "testdata/")
	}
	return m
}

// wantGiven compares values as given lists them.
func wantGiven(t *testing.T, got, want map[string]string) {
	t.Helper()
	for name, text := range want {
		if got[name] != text {
			t.Errorf("%s: %q, expected %q", name, got[name], text)
		}
	}
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
	wantGiven(t, got, map[string]string{
		"router-mode":                    "kv pools.yaml:19",
		"router-kv-overlap-score-credit": "0.8 pools.yaml:21",
		"router-temperature":             "0.2 pools.yaml:22",
		"router-track-output-blocks":     "false pools.yaml:24",
		"router-queue-threshold":         "4 pools.yaml:32",
		"block-size":                     "64 pools.yaml:50",
	})
	wantLine(t, d.Details, "DYN_ROUTER_TEMPERATURE", "no effect", "pools.yaml:22 wins")
	wantLine(t, d.Details, "no effect on a replay", "--http-port", "(Frontend)")
	wantLine(t, d.Warnings, "not understood", "--router-reset-states", "pools.yaml:27")
	if has(said(d), quiet) {
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
	r, err := settings.NewTable().Resolve(settings.Input{Deployment: d})
	if err != nil {
		t.Fatal(err)
	}
	wantLine(t, r.Listing, "block-size = 16, the default of vLLM (Large at testdata/mixed.yaml:16 says none)")
	if has(r.Listing, "block-size", "from") {
		t.Errorf("a value that nobody gave is said to be taken: %q", r.Listing)
	}
}

func TestWorkersWithoutEvents(t *testing.T) {
	d := read(t, "blind.yaml", "")
	wantLine(t, said(d), "workers Quiet (testdata/blind.yaml:15)", "--kv-events-config at testdata/blind.yaml:23")
	wantLine(t, said(d), "workers Silent (testdata/blind.yaml:24)", "no KV events are configured")
	if got, _, _ := strings.Cut(given(d)["workers"], " "); got != "2@worker_kv_events=false,1@worker_kv_events=false" {
		t.Errorf("workers: %s", got)
	}
	if d.NoProfile == nil || !strings.Contains(d.NoProfile.Error(), "testdata/blind.yaml:23: Quiet: found no GPU profile") {
		t.Errorf("no profile: %v", d.NoProfile)
	}
	// Without a kv router nobody listens anyway.
	for _, args := range []string{"[--router-mode, round-robin]", "[--router-mode, kv, --no-router-kv-events]", "[]"} {
		d, err := parsed(strings.Replace(minimal, "[--router-mode, kv]", args, 1))
		if err != nil {
			t.Fatal(err)
		}
		if has(said(d), quiet) {
			t.Errorf("%s: %v", args, d.Warnings)
		}
	}
	if d, err := parsed(minimal); err != nil || !has(said(d), quiet) {
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
	wantGiven(t, got, map[string]string{
		"block-size": "16 sglang.yaml:23", "max-num-seqs": "64 sglang.yaml:23", "num-gpu-blocks": "6250 sglang.yaml:23",
	})
	wantLine(t, d.Warnings, "--mem-fraction-static 0.8", "--num-gpu-blocks")
	if has(said(d), quiet) {
		t.Errorf("SGLang publishes where a publisher is named: %v", d.Warnings)
	}
	d = read(t, "trtllm.yaml", "")
	got = given(d)
	wantGiven(t, got, map[string]string{
		"block-size": "32 trtllm.yaml:15", "max-num-seqs": "48 trtllm.yaml:23", "max-num-batched-tokens": "4096 trtllm.yaml:26",
	})
	if has(said(d), quiet) {
		t.Errorf("TensorRT-LLM publishes by a switch: %v", d.Warnings)
	}
}

// TestEngineFiles: a file of the engine's settings that a ConfigMap holds wins
// over the worker's flags, and JSON on the command line over both.
func TestEngineFiles(t *testing.T) {
	d := read(t, "engine-files.yaml", "")
	got := given(d)
	wantGiven(t, got, map[string]string{
		"block-size":      "64 engine-files.yaml:54",
		"prefill-workers": "3@max_num_seqs=24@max_num_batched_tokens=4096@enable_chunked_prefill=true@num_gpu_blocks=10000 engine-files.yaml:16",
		"decode-workers":  "2@max_num_seqs=96@max_model_len=32768@enable_prefix_caching=false engine-files.yaml:29",
	})
	wantLine(t, d.Details, "no effect on a replay", "cuda_graph_config (Prompts)")
	for _, words := range [][]string{
		{"enable_attention_dp true", "engine-files.yaml:52 (Prompts)", noParallelism},
		{"kv_cache_config.free_gpu_memory_fraction 0.8", "engine-files.yaml:56 (Prompts)", noFraction},
		{"wait_for_moon 3", "engine-files.yaml:59 (Prompts)"},
	} {
		wantLine(t, d.Warnings, words...)
	}
	if has(d.Warnings, "enable_attention_dp false") {
		t.Errorf("a switch that is off is warned of: %v", d.Warnings)
	}
}

// trtllmWorker is a deployment whose workers have other arguments.
func trtllmWorker(args string) string {
	return strings.Replace(strings.Replace(minimal, "dynamo.vllm", "dynamo.trtllm", 1), "[--model, x]", "[--model, x, "+args+"]", 1)
}

func TestEngineFilesThatAreWrong(t *testing.T) {
	for args, want := range map[string]string{
		`--override-engine-args, '{"max_batch_size": [1]}'`:                "m.yaml:12: W: max_batch_size: found a list, expected one value",
		`--override-engine-args, '{"enable_chunked_prefill": 7}'`:          "m.yaml:12: W: enable_chunked_prefill: found 7, expected true or false",
		`--override-engine-args, '{"kv_cache_config": [1]}'`:               "m.yaml:12: W: kv_cache_config: found a list, expected a mapping with settings of the engine",
		`--override-engine-args, '[1, 2]'`:                                 "m.yaml:12: W: --override-engine-args: found a list, expected a mapping with settings of the engine",
		`--override-engine-args, '{"max_num_tokens": many}'`:               "m.yaml:12: W: max_num_tokens: found many, expected",
		`--override-engine-args, '{"kv_cache_config": {"max_tokens": 1}}'`: "m.yaml:12: W: kv_cache_config.max_tokens: found 1, expected",
	} {
		_, err := parsed(trtllmWorker(args))
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: error %v, expected %s", args, err, want)
		}
	}
	if _, err := parsed(trtllmWorker(`--override-engine-args, "max_batch_size: 4\n---\nmax_batch_size: 5\n"`)); err == nil || !strings.Contains(err.Error(), "found a second document, expected one") {
		t.Errorf("two documents: error %v", err)
	}
	for _, args := range []string{`--override-engine-args, '{"max_batch_size": null}'`, `--override-engine-args, '{"kv_cache_config": null}'`} {
		if _, err := parsed(trtllmWorker(args)); err != nil {
			t.Errorf("%s: %v", args, err)
		}
	}
	d, err := parsed(trtllmWorker("--extra-engine-args, /of/the/image.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	wantLine(t, d.Warnings, "--extra-engine-args /of/the/image.yaml", "not among the manifests", "a path of the container's image")
}

// TestRanksOfPools: of several kinds of workers each has its own ranks.
func TestRanksOfPools(t *testing.T) {
	d, err := parsed(withFlags("--model, x, -dp, '4', --disaggregation-mode, decode") + `  - name: Prompts
    type: prefill
    podTemplate: {spec: {containers: [{name: main, command: [python3, -m, dynamo.vllm], args: [--model, x]}]}}
`)
	if err != nil {
		t.Fatal(err)
	}
	got := given(d)
	if text, ok := got["data-parallel-size"]; ok {
		t.Errorf("data-parallel-size %s of all workers, expected that of decode workers alone", text)
	}
	for name, want := range map[string]string{"prefill-workers": "1@worker_kv_events=false", "decode-workers": "2@data_parallel_size=4"} {
		if text, _, _ := strings.Cut(got[name], " "); text != want {
			t.Errorf("%s: %s, expected %s", name, text, want)
		}
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
		_, err := parsed(text)
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
		{replace("nvidia.com", "other.com"), "m.yaml:1: apiVersion: found other.com/v1beta1, expected nvidia.com/v1alpha1 or nvidia.com/v1beta1"},
		{replace("apiVersion: nvidia.com/v1beta1\n", ""), "m.yaml:1: apiVersion: found no apiVersion beside kind DynamoGraphDeployment, expected nvidia.com/v1alpha1 or"},
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
		{withFlags("--max-model-len, 1.5K"), "m.yaml:12: W: --max-model-len: found 1.5K, expected a whole number up to 2147483647, or one with a suffix"},
		{withFlags("--gpu-memory-utilization=2"), "m.yaml:12: W: --gpu-memory-utilization: found 2, expected a number above 0 and up to 1"},
		{withFlags("--kv-events-config, yes-please"), "m.yaml:12: W: --kv-events-config: found yes-please, expected a JSON object"},
		{withFlags("--disaggregation-mode, both"), "m.yaml:12: W: --disaggregation-mode: found both, expected agg, pd, prefill, decode or encode"},
		{withFlags("--is-prefill-worker"), "m.yaml:9: spec.components[1]: found prefill workers only, expected decode workers too"},
	} {
		d, err := parsed(c.text)
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
		d, err := translateIn(table, text)
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
	wantLine(t, r.Warnings, "from-dynamo", quiet)

	// Several components are groups of one fleet, and a flag wins over each.
	fleet := strings.Replace(minimal, "  - name: W\n", "  - {name: V, type: worker, podTemplate: {spec: {nodeSelector: {gpu: h100}, containers: [{name: main, command: [python3, -m, dynamo.vllm], args: [--model, Qwen/Qwen3-8B, --max-num-seqs, '7']}]}}}\n  - name: W\n", 1)
	fleet = strings.Replace(fleet, "[--router-mode, kv]", "[--router-mode, round-robin]", 1)
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
