package settings

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"routesim/models/spelling"
)

func TestPrecedence(t *testing.T) {
	file := writeFile(t, "c.yaml", "router-temperature: 0.1\nrouter_host_cache_hit_weight: 0.1\nblock-size: 16\nworkers: 3\n")
	policy := writeFile(t, "p.yaml", "router:\n  host_cache_hit_weight: 0.9\n  router_assume_kv_reuse: true\n")
	environ := []string{"DYN_ROUTER_TEMPERATURE=0.2", "DYN_ROUTER_HOST_CACHE_HIT_WEIGHT=0.2", "DYN_ROUTER_KV_OVERLAP_SCORE_CREDIT=0.7"}
	in := Input{ConfigFile: file, Environ: environ, EngineArgs: `{"engine":{"block_size":32,"max_num_seqs":9}}`}

	r := mustResolve(t, in)
	wantValue(t, r, "workers", "3", "file "+file+":4")
	wantValue(t, r, "router-temperature", "0.2", "environment DYN_ROUTER_TEMPERATURE")
	wantValue(t, r, "block-size", "32", "engine dictionary engine.block_size")

	r = mustResolve(t, in, "--router-temperature=0.3", "--block-size=48")
	wantValue(t, r, "router-temperature", "0.3", "flag --router-temperature")
	wantValue(t, r, "block-size", "48", "flag --block-size")
	wantValue(t, r, "max-num-seqs", "9", "engine dictionary engine.max_num_seqs")
	for _, v := range r.Environment {
		if v.Name == "DYN_ROUTER_TEMPERATURE" {
			t.Error("a variable that a flag overrides took no effect")
		}
	}

	r = mustResolve(t, in, "--load-aware", "--router-kv-overlap-score-credit=1.5", "--router-policy-config="+policy)
	wantValue(t, r, "router-kv-overlap-score-credit", "0", "preset load-aware")
	wantValue(t, r, "router-assume-kv-reuse", "true", "policy file "+policy+":3")
	wantValue(t, r, "router-host-cache-hit-weight", "0.9", "policy file "+policy+":2")
	wantWarning(t, r, "router-kv-overlap-score-credit: the preset load-aware sets 0, so 1.5 of the flag --router-kv-overlap-score-credit has no effect")
	wantWarning(t, r, "router-host-cache-hit-weight: the policy file")
}

func wantWarning(t *testing.T, r *Resolved, part string) {
	t.Helper()
	if !strings.Contains(strings.Join(r.Warnings, "\n"), part) {
		t.Errorf("warnings %q do not contain %q", r.Warnings, part)
	}
}

func TestLoadAwareImpliesKV(t *testing.T) {
	r := mustResolve(t, Input{}, "--load-aware", "--router-mode=round-robin")
	wantValue(t, r, "router-mode", "kv", "preset load-aware")
	wantValue(t, r, "router-assume-kv-reuse", "false", "preset load-aware")
	wantValue(t, r, "router-prefill-load-scale", "1", "default")
	r = mustResolve(t, Input{}, "--no-load-aware", "--router-mode=round_robin")
	wantValue(t, r, "router-mode", "round-robin", "flag --router-mode")
}

func TestOverlapScoreWeight(t *testing.T) {
	r := mustResolve(t, Input{}, "--kv-overlap-score-weight=2.5", "--router-prefill-load-scale=7")
	wantValue(t, r, "router-prefill-load-scale", "2.5", "router-kv-overlap-score-weight (flag --kv-overlap-score-weight)")
	wantValue(t, r, "router-kv-overlap-score-credit", "1", "default")
	wantWarning(t, r, "deprecated")

	r = mustResolve(t, Input{Environ: []string{"DYN_OVERLAP_SCORE_WEIGHT=0"}})
	wantValue(t, r, "router-prefill-load-scale", "0", "router-kv-overlap-score-weight (environment DYN_OVERLAP_SCORE_WEIGHT)")
	wantValue(t, r, "router-kv-overlap-score-credit", "0", "router-kv-overlap-score-weight (environment DYN_OVERLAP_SCORE_WEIGHT)")

	r = mustResolve(t, Input{Environ: []string{"DYN_OVERLAP_SCORE_WEIGHT=3", "DYN_ROUTER_KV_OVERLAP_SCORE_WEIGHT=4"}})
	wantValue(t, r, "router-prefill-load-scale", "4", "router-kv-overlap-score-weight (environment DYN_ROUTER_KV_OVERLAP_SCORE_WEIGHT)")
}

func TestSettingsRefused(t *testing.T) {
	for _, s := range NewTable().All() {
		if s.Support != Refused {
			continue
		}
		good, _ := sample(t, s)
		var errs []error
		if !s.NoFlag {
			_, err := resolveWith(t, Input{}, "--"+s.Name+"="+good)
			errs = append(errs, err)
		}
		for _, name := range s.Env {
			_, err := resolveWith(t, Input{Environ: []string{name + "=" + good}})
			errs = append(errs, err)
			if r := mustResolve(t, Input{Environ: []string{name + "=", name + "=default"}}); len(r.Warnings) > 0 {
				t.Errorf("%s at its default: %q", name, r.Warnings)
			}
		}
		if s.Dict != "" {
			raw, _ := json.Marshal(good)
			_, err := resolveWith(t, Input{EngineArgs: nest(s.Dict, string(raw))})
			errs = append(errs, err)
		}
		for _, err := range errs {
			if err == nil || !strings.Contains(err.Error(), "found "+good+", expected "+s.Default+" ("+s.Why+")") {
				t.Errorf("%s=%s: got %v", s.Name, good, err)
			}
		}
		if len(errs) == 0 {
			t.Errorf("%s cannot be given in any way", s.Name)
		}
	}
}

// nest writes a one-key engine dictionary.
func nest(path, value string) string {
	outer, inner, nested := strings.Cut(path, ".")
	if nested {
		return `{"` + outer + `":{"` + inner + `":` + value + `}}`
	}
	return `{"` + outer + `":` + value + `}`
}

func wantError(t *testing.T, err error, text string) {
	t.Helper()
	if err == nil || err.Error() != text {
		t.Errorf("got  %v\nwant %s", err, text)
	}
}

func TestErrors(t *testing.T) {
	write := func(text string) string { return writeFile(t, "f", text) }
	file := func(text string) Input { return Input{ConfigFile: write(text)} }
	policy := func(text string) []string { return []string{"--router-policy-config=" + write(text)} }
	dict := func(text string) Input { return Input{EngineArgs: text} }
	for _, c := range []struct {
		name string
		in   Input
		args []string
		want string // FILE stands for the path of the file
	}{
		{"unknown flag", Input{}, []string{"--router-temprature=1"}, "--router-temprature: unknown flag; did you mean --router-temperature?"},
		{"short name", Input{}, []string{"--temperature=1"}, "--temperature: unknown flag; did you mean --router-temperature?"},
		{"unknown negated flag", Input{}, []string{"--no-enable-prefix-cache"}, "--no-enable-prefix-cache: unknown flag; did you mean --no-enable-prefix-caching?"},
		{"nothing near", Input{}, []string{"--zzzzzzzzzz"}, "--zzzzzzzzzz: unknown flag; see --help for the list"},
		{"one dash", Input{}, []string{"-workers=3"}, "-workers=3: unknown flag; long flags take two dashes"},
		{"missing value", Input{}, []string{"--block-size"}, "--block-size: expected a whole number from 1 to 2147483647 after it"},
		{"value of a negation", Input{}, []string{"--no-load-aware=false"}, "--no-load-aware: found the value false, expected none (use --load-aware=false)"},
		{"word near", Input{}, []string{"--router-queue-policy=fcfsx"}, "--router-queue-policy: found fcfsx, expected fcfs, lcfs or wspt; did you mean fcfs?"},
		{"prefill load model", Input{}, []string{"--router-prefill-load-model=aix"}, "--router-prefill-load-model: found aix, expected none or ais; did you mean ais?"},
		{"blank variable", Input{Environ: []string{"DYN_ROUTER_TEMPERATURE="}}, nil, `DYN_ROUTER_TEMPERATURE: found "", expected a finite number of at least 0`},
		{"unknown key", file("workers: 2\nblock_sise: 3\n"), nil, "FILE:2: block_sise: found an unknown key (did you mean block-size?), expected a setting of routesim replay (see routesim replay --help)"},
		{"same setting twice", file("workers: 2\nnum_workers: 3\n"), nil, "FILE:2: num_workers: found the setting of line 1 again, expected each setting once"},
		{"same key twice", file("workers: 2\nworkers: 3\n"), nil, `FILE:2: expected valid YAML: mapping key "workers" already defined at [1:1]`},
		{"a list", file("workers: [2]\n"), nil, "FILE:1: workers: found [2], expected a number of workers from 1 to 65535, or groups such as 6xPROFILE,2xPROFILE@max_num_seqs=64"},
		{"not a mapping", file("- workers\n"), nil, `FILE:1: found "- workers", expected a mapping (key: value)`},
		{"two documents", file("workers: 2\n---\nworkers: 2\n"), nil, "FILE:3: found a second document, expected one document"},
		{"a number as key", file("1: 2\n"), nil, "FILE:1: found 1, expected the name of a setting"},
		{"null", file("workers:\n"), nil, "FILE:1: workers: found none, expected a number of workers from 1 to 65535, or groups such as 6xPROFILE,2xPROFILE@max_num_seqs=64"},
		{"policy section", Input{}, policy("request_classifier:\n  type: thunder\n"), "FILE:2: request_classifier: type: found thunder, expected one of the linked types thunderagent"},
		{"classifier without a type", Input{}, policy("request_classifier:\n  parameters: {}\n"), "FILE:2: request_classifier.type: found nothing, expected a name"},
		{"classifier's key", Input{}, policy("request_classifier:\n  kind: thunderagent\n"), "FILE:2: request_classifier.kind: found an unknown key, expected one of type, parameters"},
		{"classifier's parameter", Input{}, policy("request_classifier:\n  type: thunderagent\n  parameters: {pause_thresold: 1}\n"), "FILE:3: request_classifier: thunderagent: parameters.pause_thresold: found an unknown parameter, expected one of pause_threshold, pause_target, resume_hysteresis, resume_timeout_seconds, session_retention_seconds, scheduler_interval_seconds, acting_token_weight, buffer_per_program, max_tracked_requests, acting_decay_tau_seconds"},
		{"classifier's range", Input{}, policy("request_classifier:\n  type: thunderagent\n  parameters: {pause_threshold: 0.5}\n"), "FILE:3: request_classifier: thunderagent: parameters.pause_target: found 0.8, expected at most pause_threshold, 0.5"},
		{"classifier a number", Input{}, policy("\nrequest_classifier: 5\n"), "FILE:2: request_classifier: found 5, expected a mapping (key: value)"},
		{"classifier's parameters a list", Input{}, policy("request_classifier:\n  type: thunderagent\n  parameters: [1]\n"), "FILE:3: request_classifier.parameters: found [1], expected a mapping"},
		{"classifier's largest number", Input{}, policy("request_classifier:\n  type: thunderagent\n  parameters:\n    pause_threshold: 0.9\n    buffer_per_program: 2147483648\n"), "FILE:5: request_classifier: thunderagent: parameters.buffer_per_program: found 2147483648, expected a whole number from 0 to 2147483647"},
		{"classifier's hexadecimal number", Input{}, policy("request_classifier:\n  type: thunderagent\n  parameters:\n    buffer_per_program: 0x10\n"), "FILE:4: request_classifier: thunderagent: parameters.buffer_per_program: found 0x10, expected a whole number from 0 to 2147483647"},
		{"classifier's longest time", Input{}, policy("request_classifier:\n  type: thunderagent\n  parameters: {scheduler_interval_seconds: 1e13}\n"), "FILE:3: request_classifier: thunderagent: parameters.scheduler_interval_seconds: found 1e+13, expected a number from 0.001 to 1e+12"},
		{"router a list", Input{}, policy("router: [1]\n"), "FILE:1: router: found [1], expected a mapping (key: value)"},
		{"models a text", Input{}, policy("models: all\n"), "FILE:1: models: found all, expected a mapping (key: value)"},
		{"model a text", Input{}, policy("models:\n  chat: all\n"), "FILE:2: models.chat: found all, expected a mapping (key: value)"},
		{"selection a text", Input{}, policy("worker_selection: mine\n"), "FILE:1: worker_selection: found mine, expected a mapping (key: value)"},
		{"instance a text", Input{}, policy("worker_selection:\n  instances:\n    - mine\n"), "FILE:3: worker_selection.instances: found mine, expected a mapping (key: value)"},
		{"policy's parameter further down", Input{}, policy("worker_selection:\n  instances:\n    - name: a\n      type: prefix-affinity\n      parameters:\n        load_slack: 1_0\n"), "FILE:6: worker_selection.instances.a: prefix-affinity: parameters.load_slack: found 1_0, expected a whole number from 0 to 2147483647"},
		{"policy typo", Input{}, policy("roter:\n  router_ttl_secs: 1\n"), "FILE:1: roter: found an unknown key (did you mean router?), expected a section of a policy file"},
		{"policy key", Input{}, policy("router:\n  overlap_score_credit: 1\n"), "FILE:2: router.overlap_score_credit: found an unknown key, expected a setting of a policy file's router section"},
		{"policy key typo", Input{}, policy("router:\n  disk_cache_hit_wait: 1\n"), "FILE:2: router.disk_cache_hit_wait: found an unknown key (did you mean disk_cache_hit_weight?), expected a setting of a policy file's router section"},
		{"policy range", Input{}, policy("router:\n  disk_cache_hit_weight: 1.5\n"), "FILE:2: disk_cache_hit_weight: found 1.5, expected a number from 0 to 1"},
		{"policy empty", Input{}, policy("# nothing\n"), "FILE: found no section, expected at least one of router, default_policy_family, uncached_isl_buckets, policy_classes, models, worker_selection, request_classifier"},
		{"dict typo", dict(`{"engine":{"num_gpu_block":3}}`), nil, "--extra-engine-args: engine.num_gpu_block: found an unknown key (did you mean engine.num_gpu_blocks?), expected a key of the engine dictionary"},
		{"dict flat typo", dict(`{"block_sise":3}`), nil, "--extra-engine-args: block_sise: found an unknown key (did you mean engine.block_size?), expected a key of the engine dictionary"},
		{"dict range", dict(`{"engine":{"block_size":0}}`), nil, "--extra-engine-args: engine.block_size: found 0, expected a whole number from 1 to 2147483647"},
		{"dict fraction", dict(`{"block_size":1.5}`), nil, "--extra-engine-args: engine.block_size: found 1.5, expected a whole number from 1 to 2147483647"},
		{"dict twice", dict(`{"block_size":64,"engine":{"block_size":32}}`), nil, "--extra-engine-args: engine.block_size: found the key again, expected each key once"},
		{"dict backend", dict(`{"engine":{"backend":"tgi"}}`), nil, "--extra-engine-args: engine.backend: found tgi, expected vllm, trtllm or sglang"},
		{"dict block of one", dict(`{"engine":{"block_size":1}}`), nil, "block-size: found 1 (engine dictionary engine.block_size), expected at least 2 tokens with the engine vllm"},
		{"dict role", dict(`{"engine":{"worker_type":"decode"}}`), nil, "--extra-engine-args: engine.worker_type: found decode, expected aggregated (describe pools with --prefill-engine-args and --decode-engine-args)"},
		{"dict file", dict(write("{\n \"engine\": {\n  \"max_num_seqs\": 0}}")), nil, "FILE:3: engine.max_num_seqs: found 0, expected a whole number from 1 to 2147483647, auto or none"},
		{"byte order mark", file("\ufeffworkers: 2\n"), nil, "FILE:1: found a byte order mark, expected UTF-8 without one (save the file without it)"},
		{"policy's byte order mark", Input{}, policy("\ufeffrouter: {}\n"), "FILE:1: found a byte order mark, expected UTF-8 without one (save the file without it)"},
		{"dict byte order mark", dict(write("\ufeff{}")), nil, "FILE:1: found a byte order mark, expected UTF-8 without one (save the file without it)"},
		{"dict empty", dict(write("")), nil, "FILE:1: found nothing, expected a JSON object"},
		{"dict a directory", dict(t.TempDir()), nil, "--extra-engine-args: found FILE, which cannot be read (is a directory), expected a JSON object or the path of a JSON file"},
		{"dict not an object", dict(write("[1]")), nil, "FILE:1: found something else, expected a JSON object"},
		{"dict host tier a switch", dict(`{"native_host_offload":true}`), nil, "--extra-engine-args: engine.native_host_offload: found true, expected a JSON object"},
		{"dict host tier a list", dict(`{"native_host_offload":[]}`), nil, "--extra-engine-args: engine.native_host_offload: found a list, expected a JSON object"},
		{"dict host tier's typo", dict(`{"native_host_offload":{"num_host_block":1}}`), nil, "--extra-engine-args: engine.native_host_offload.num_host_block: found an unknown key (did you mean engine.native_host_offload.num_host_blocks?), expected a key of the engine dictionary"},
		{"fault's kind", Input{}, []string{"--faults=halt:1@5"}, "--faults: entry 1 (halt:1@5): kind: found halt, expected crash, drain, slow or cancel, as in crash:WORKER@FROM-TO, drain:WORKER@FROM-TO, slow:WORKERxFACTOR@FROM-TO or cancel:REQUEST@FROM in ms, -TO left out for good, separated by commas; with pools WORKER is prefill:N or decode:N"},
		{"fault's factor", Input{}, []string{"--faults=crash:0@1,slow:1x1_0@5"}, "--faults: entry 2 (slow:1x1_0@5): FACTOR: found 1_0, expected a number above 0 and up to 1e+06 after WORKERx"},
		{"fault in a file", file("workers: 2\nfaults: crash:x@5\n"), nil, "FILE:2: faults: entry 1 (crash:x@5): WORKER: found x, expected a whole number from 0 to 2147483647"},
		{"fault's time", Input{}, []string{"--faults=crash:1@5-1e16"}, "--faults: entry 1 (crash:1@5-1e16): TO: found 1e16, expected a number of ms from 0 to 1e+15"},
		{"taint", Input{}, []string{"--taints=a+b c"}, `--taints: taint 2: found "b c", expected the name of a taint: printable characters without spaces, + , and @`},
		{"timeout", Input{}, []string{"--client-timeout-ms=1e16"}, "--client-timeout-ms: found 1e16, expected a number above 0 and up to 1e+15, or none"},
		{"restart's missing file", Input{}, []string{"--router-restart-at=5", "--router-restart-policy-config=gone.yaml"}, "router-restart-policy-config: found gone.yaml, which cannot be read (no such file or directory), expected a readable YAML file"},
		{"direct synthetic load", Input{}, []string{"--request-count=5", "--input-tokens=9", "--output-tokens=9", "--request-rate=1", "--router-mode=direct"}, "router-mode: found direct with request-count, expected another mode: the requests of a synthetic load name no worker"},
		{"dict trailing", dict(`{} {}`), nil, "--extra-engine-args: found {}, expected nothing after the object"},
		{"dict trailing word", dict(`{"block_size":32}garbage`), nil, "--extra-engine-args: found garbage, expected nothing after the object"},
		{"dict trailing letter", dict(`{}x`), nil, "--extra-engine-args: found x, expected nothing after the object"},
		{"dict trailing brace", dict(`{} }`), nil, "--extra-engine-args: found }, expected nothing after the object"},
		{"dict file trailing", dict(write("{\"block_size\":32}\n\ntrailing\n")), nil, "FILE:3: found trailing, expected nothing after the object"},
		{"dict array", dict(`[]`), nil, "--extra-engine-args: found [], expected a JSON object or the path of a JSON file"},
		{"dict null", dict(`null`), nil, "--extra-engine-args: found null, expected a JSON object or the path of a JSON file"},
		{"dict timing a number", dict(`{"timing_model":5}`), nil, "--extra-engine-args: engine.timing_model: found 5, expected an object with type polynomial, fixed with prefill_ms and decode_ms, or external with provider dynamo_profile and config.path"},
		{"dict timing's number", dict(`{"timing_model":{"type":"fixed","prefill_ms":"3"}}`), nil, "--extra-engine-args: engine.timing_model: found a string as prefill_ms, expected type polynomial, fixed with prefill_ms and decode_ms, or external with provider dynamo_profile and config.path"},
		{"dict timing's key", dict(`{"timing_model":{"typ":"fixed"}}`), nil, `--extra-engine-args: engine.timing_model: found {"typ":"fixed"}, expected type polynomial, fixed with prefill_ms and decode_ms, or external with provider dynamo_profile and config.path (unknown field "typ")`},
		{"dict timing's key twice", dict(`{"timing_model":{"type":"fixed","type":"polynomial"}}`), nil, "--extra-engine-args: engine.timing_model: found the key type again, expected each key once"},
		{"dict timing", dict(`{"timing_model":{"type":"fixed","prefill_ms":3}}`), nil, `--extra-engine-args: engine.timing_model: found {"type":"fixed","prefill_ms":3}, expected type polynomial, fixed with prefill_ms and decode_ms, or external with provider dynamo_profile and config.path`},
		{"block sizes differ", Input{Environ: []string{"DYN_ROUTER_BLOCK_SIZE=128"}}, nil, "router-block-size: found 128 (environment DYN_ROUTER_BLOCK_SIZE) and a block-size of 64 (default), expected the same size: blocks hashed at another size never match the engine's"},
		{"sla", Input{}, []string{"--sla-e2e-ms=5", "--sla-itl-ms=5"}, "sla-e2e-ms: found together with sla-ttft-ms or sla-itl-ms, expected one or the other"},
		{"keyed without key", Input{}, []string{"--router-tracking-hash=keyed-xxh3-v1"}, "router-tracking-hash: found keyed-xxh3-v1, expected router-tracking-key-file and router-tracking-key-id with it"},
		{"key without keyed", Input{}, []string{"--router-tracking-key-id=a"}, "router-tracking-key-id: found a, expected it only with router-tracking-hash keyed-xxh3-v1"},
		{"timing", Input{}, []string{"--timing=fixed:-1,2"}, `--timing: found "fixed:-1,2", expected dynamo-polynomial, fixed:PREFILL_MS,DECODE_MS or table:FILE.npz, or none`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := resolveWith(t, c.in, c.args...)
			if err == nil {
				t.Fatal("no error")
			}
			path := c.in.ConfigFile
			if strings.HasPrefix(c.in.EngineArgs, "/") {
				path = c.in.EngineArgs
			}
			if len(c.args) == 1 && strings.HasPrefix(c.args[0], "--router-policy-config=") {
				_, path, _ = strings.Cut(c.args[0], "=")
			}
			if path != "" {
				c.want = strings.Replace(c.want, "FILE", path, 1)
			}
			wantError(t, err, c.want)
		})
	}
}

func TestMissingFiles(t *testing.T) {
	gone := filepath.Join(t.TempDir(), "gone")
	for _, in := range []Input{{ConfigFile: gone}, {EngineArgs: gone}, {Environ: []string{"DYN_ROUTER_POLICY_CONFIG=" + gone}}} {
		_, err := resolveWith(t, in)
		if err == nil || !strings.Contains(err.Error(), gone) || !os.IsNotExist(unwrapAll(err)) {
			t.Errorf("got %v", err)
		}
	}
}

func unwrapAll(err error) error {
	for {
		u, ok := err.(interface{ Unwrap() error })
		if !ok || os.IsNotExist(err) {
			return err
		}
		err = u.Unwrap()
	}
}

func TestUnknownVariable(t *testing.T) {
	r := mustResolve(t, Input{Environ: []string{"DYN_ROUTER_TEMPRATURE=1", "DYN_LOG=info", "HOME=/"}})
	want := []string{"DYN_ROUTER_TEMPRATURE: no router setting has this variable; did you mean DYN_ROUTER_TEMPERATURE?"}
	if diff := cmp.Diff(want, r.Warnings); diff != "" {
		t.Error(diff)
	}
}

func TestEngineDictionary(t *testing.T) {
	r := mustResolve(t, Input{EngineArgs: `{"engine":{"backend":"vllm","num_gpu_blocks":100,"max_model_len":null,"max_num_seqs":null,
		"block_size":null,"timing_model":{"type":"fixed","prefill_ms":1.5,"decode_ms":0},"sglang":{"max_prefill_tokens":3}},
		"dp_size":1,"tensor_parallel_size":2,"startup_time":null,"dynamo":{"router_queue_policy":"lcfs","reasoning":null}}`},
		"--router-queue-policy=wspt")
	from := "engine dictionary "
	wantValue(t, r, "num-gpu-blocks", "100", from+"engine.num_gpu_blocks")
	wantValue(t, r, "max-num-seqs", None, from+"engine.max_num_seqs")
	wantValue(t, r, "block-size", "64", "default")
	wantValue(t, r, "timing", "fixed:1.5,0", from+"engine.timing_model")
	wantValue(t, r, "tensor-parallel-size", "2", from+"tensor_parallel_size")
	wantValue(t, r, "router-queue-policy", "lcfs", from+"dynamo.router_queue_policy")
	wantWarning(t, r, "router-queue-policy: the engine dictionary dynamo.router_queue_policy sets lcfs")

	r = mustResolve(t, Input{EngineArgs: `{"block_size": 32, "speedup_ratio": 2}`})
	wantValue(t, r, "block-size", "32", from+"engine.block_size")
	wantValue(t, r, "speedup-ratio", "2", from+"engine.speedup_ratio")
}

func TestInactiveSettingsAreNamed(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--router-mode=round-robin", "--router-temperature=1"}, "router-temperature has no effect in round-robin mode"},
		{[]string{"--router-mode=round-robin", "--kv-event-lag-ms=5"}, "kv-event-lag-ms has no effect in round-robin mode"},
		{[]string{"--replay-concurrency=4", "--arrival-speedup-ratio=2"}, "arrival-speedup-ratio has no effect with replay-concurrency"},
		{[]string{"--replay-concurrency=4", "--arrival-spread"}, "arrival-spread has no effect with replay-concurrency"},
		{[]string{"--no-router-track-prefill-tokens", "--router-queue-threshold=1"}, "router-queue-threshold has no effect without router-track-prefill-tokens"},
		{[]string{"--router-queue-policy=wspt"}, "router-queue-policy has no effect: nothing ever waits without router-queue-threshold or queue classes"},
		{[]string{"--session-final=trace"}, "session-final has no effect: only a request_classifier of the policy file listens to it"},
		{[]string{"--schedule-policy=lpm"}, "schedule-policy has no effect without engine-type sglang"},
		{[]string{"--max-prefill-tokens=7", "--engine-type=trtllm", "--timing=fixed:1,2"}, "max-prefill-tokens has no effect without engine-type sglang"},
		{[]string{"--chunked-prefill-size=7"}, "chunked-prefill-size has no effect without engine-type sglang"},
		{[]string{"--workers=1,1@clip_max_new_tokens=7"}, "clip-max-new-tokens has no effect without engine-type sglang"},
		{[]string{"--schedule-conservativeness=3"}, "schedule-conservativeness has no effect without engine-type sglang"},
		{[]string{"--aic-nextn-accept-rates=0.5"}, "aic-nextn-accept-rates has no effect without aic-nextn: no worker drafts"},
		{[]string{"--workers=2@aic_mtp_seed=7"}, "aic-mtp-seed has no effect without aic-nextn: no worker drafts"},
	} {
		wantWarning(t, mustResolve(t, Input{}, c.args...), c.want)
	}
}

// TestActiveSettingsAreNotNamed: what some worker or router has a use for is no
// matter of a warning, nor is what an engine dictionary merely repeats.
func TestActiveSettingsAreNotNamed(t *testing.T) {
	const timing = "--timing=fixed:1,2"
	classifier := writeFile(t, "p.yaml", "request_classifier:\n  type: thunderagent\n")
	for _, c := range []struct {
		dict string
		args []string
	}{
		{"", []string{"--router-queue-policy=wspt", "--router-queue-threshold=1"}},
		{"", []string{"--session-final=trace", "--router-policy-config=" + classifier}},
		{"", []string{"--engine-type=sglang", "--schedule-policy=lpm", "--workers=1,1@chunked_prefill_size=8"}},
		{"", []string{"--workers=1,1@aic_nextn=2", "--aic-mtp-seed=7"}},
		{"", []string{`--decode-engine-args={"engine": {"aic_nextn": 2}}`, "--aic-nextn-accept-rates=0.5"}},
		{"", []string{`--decode-engine-args={"engine": {"native_host_offload": {"num_host_blocks": 9}}}`, "--host-offload-latency-ms=3"}},
		{`{"engine": {"sglang": {"max_prefill_tokens": 7}, "aic_mtp_seed": 7}}`, nil},
	} {
		if r := mustResolve(t, Input{EngineArgs: c.dict}, append(c.args, timing)...); strings.Contains(strings.Join(r.Warnings, "\n"), "has no effect") {
			t.Errorf("%s %v: warnings %q, expected none of settings without effect", c.dict, c.args, r.Warnings)
		}
	}
}

func TestQueueThresholdWords(t *testing.T) {
	for text, want := range map[string]string{"none": None, "None": None, "": None, "null": None, "0": "0", "0.0": "0", "-0": "0", "16": "16"} {
		got, _ := value(t, mustResolve(t, Input{}, "--router-queue-threshold="+text), "router-queue-threshold")
		if got != want {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
	}
}

// TestPrintRoundTrip: a printed configuration resolves to the same run.
func TestPrintRoundTrip(t *testing.T) {
	policy := writeFile(t, "p o.yaml", "router:\n  disk_cache_hit_weight: 0.5\n")
	rapid.Check(t, func(rt *rapid.T) {
		var args []string
		apart := rapid.Bool().Draw(rt, "pools")
		for _, s := range NewTable().All() {
			// Pools exclude workers and whatever only a live router has.
			excluded := s.Group == Pools
			if apart {
				excluded = s.LiveOnly || s.Name == "workers" || s.Name == "router-mode"
			}
			if s.Support != Honoured || excluded || !rapid.Bool().Draw(rt, s.Name) {
				continue
			}
			switch k := s.Kind.(type) {
			case FleetKind:
				args = append(args, "--"+s.Name+"="+drawFleet(rt))
			case Real:
				args = append(args, "--"+s.Name+"="+FormatReal(rapid.Float64Range(k.Min+1e-9, min(k.Max, 1e9)).Draw(rt, "v")))
			case Int:
				if s.Name == "data-parallel-size" { // ranks of all workers are bounded
					args = append(args, "--"+s.Name+"="+rapid.SampledFrom([]string{"1", "2", "8"}).Draw(rt, "v"))
				} else if s.Name != "router-block-size" && s.Name != "request-count" {
					args = append(args, "--"+s.Name+"="+Value{Text: rapid.StringMatching(`[1-9][0-9]{1,2}`).Draw(rt, "v")}.Text)
				}
			case Bool:
				args = append(args, "--"+s.Name+"="+rapid.SampledFrom([]string{"true", "false"}).Draw(rt, "v"))
			case Choice:
				if s.Name != "router-tracking-hash" && s.Name != "router-semantics" {
					words := slices.DeleteFunc(slices.Clone(k.Words), func(w string) bool { return w == "direct" }) // it wants a trace
					args = append(args, "--"+s.Name+"="+rapid.SampledFrom(words).Draw(rt, "v"))
				}
			}
		}
		if rapid.Bool().Draw(rt, "policy") {
			args = append(args, "--router-policy-config="+policy)
		}
		args = append(args, "--sla-e2e-ms=none")
		if rapid.Bool().Draw(rt, "synthetic") {
			args = append(args, "--request-count=7", "--input-tokens=70", "--output-tokens=5", "--request-rate=0.25", "--arrival-interval-ms=none", "--replay-concurrency=none")
		}
		if rapid.Bool().Draw(rt, "own timing") {
			args = append(args, rapid.SampledFrom([]string{"--timing=fixed:1.5,2", "--timing=table:a b#.npz", "--timing=table:ä'\".npz"}).Draw(rt, "timing"))
		}
		first, err := resolveWith(t, Input{}, args...)
		if err != nil {
			if strings.Contains(err.Error(), "expected one or the other") || strings.Contains(err.Error(), "expected at least 2 tokens") || strings.Contains(err.Error(), "ranks of all workers together") {
				return // a fleet of profiles beside a timing, of two kinds, or too large
			}
			rt.Fatal(err)
		}
		var text bytes.Buffer
		if err := first.WriteYAML(&text); err != nil {
			rt.Fatal(err)
		}
		again, err := resolveWith(t, Input{ConfigFile: writeFile(t, "again.yaml", text.String())})
		if err != nil {
			rt.Fatalf("%v\n%s", err, text.String())
		}
		if diff := cmp.Diff(first.Run, again.Run, cmpopts.IgnoreUnexported(Run{})); diff != "" {
			rt.Errorf("%s\n%s", diff, text.String())
		}
	})
}

func TestWriteJSONAndCSV(t *testing.T) {
	r := mustResolve(t, Input{}, "--router-queue-threshold=none", "--workers=3", "--timing=fixed:1,2")
	var j, c bytes.Buffer
	if err := r.WriteJSON(&j); err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Settings map[string]struct {
			Value  any
			Origin string
		}
	}
	if err := json.Unmarshal(j.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	if len(doc.Settings) != len(r.Settings()) || doc.Settings["workers"].Value != 3.0 || doc.Settings["workers"].Origin != "flag --workers" ||
		doc.Settings["router-queue-threshold"].Value != nil || doc.Settings["load-aware"].Value != false {
		t.Errorf("%s", j.String())
	}
	if err := r.WriteCSV(&c); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"setting,value,origin\n", "\nworkers,3,flag --workers\n", "\ntiming,\"fixed:1,2\",flag --timing\n"} {
		if !strings.Contains(c.String(), line) {
			t.Errorf("no line %q in %s", line, c.String())
		}
	}
}

func TestNearestAgainstNaiveDistance(t *testing.T) {
	var naive func(a, b string) int
	naive = func(a, b string) int {
		switch {
		case a == "":
			return len(b)
		case b == "":
			return len(a)
		case a[0] == b[0]:
			return naive(a[1:], b[1:])
		}
		return 1 + min(naive(a[1:], b), naive(a, b[1:]), naive(a[1:], b[1:]))
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.StringMatching(`[ab-]{0,5}`).Draw(t, "a"), rapid.StringMatching(`[ab-]{0,5}`).Draw(t, "b")
		if got, want := spelling.Distance(a, b), naive(a, b); got != want {
			t.Errorf("distance(%q, %q) = %d, want %d", a, b, got, want)
		}
	})
}

// TestNamesAreUnique: no spelling, variable or key belongs to two settings.
func TestNamesAreUnique(t *testing.T) {
	seen := map[string]string{}
	for _, s := range NewTable().All() {
		names := append([]string{}, s.Env...)
		if !s.NoFlag {
			names = append(names, s.Spellings()...)
		}
		if s.Dict != "" {
			names = append(names, "dictionary "+s.Dict)
		}
		for _, n := range names {
			if old, ok := seen[n]; ok {
				t.Errorf("%s belongs to %s and %s", n, old, s.Name)
			}
			seen[n] = s.Name
		}
	}
}
