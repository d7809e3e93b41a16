package settings

import (
	"os"
	"strings"
	"testing"

	"routesim/sim/router"
)

// TestLiveOnlySettings derives its cases from the table: what only a live router
// has turns a run to live, unless replay was asked for; then it is an error as
// a flag, and a warning that names it anywhere else.
func TestLiveOnlySettings(t *testing.T) {
	n := 0
	for _, s := range NewTable().All() {
		if !s.LiveOnly {
			continue
		}
		n++
		good := goodSample(t, s)
		r := mustResolve(t, Input{}, "--"+s.Name+"="+good)
		wantValue(t, r, "router-semantics", LiveWord, "because of "+s.Name+" (flag --"+s.Name+")")
		if r.Run.Router.Live == nil {
			t.Errorf("%s: the router is not live", s.Name)
		}
		file := writeFile(t, "c.yaml", s.Name+": "+good+"\n")
		r = mustResolve(t, Input{ConfigFile: file})
		wantValue(t, r, "router-semantics", LiveWord, "because of "+s.Name+" (file "+file+":1)")

		r = mustResolve(t, Input{}, "--"+s.Name+"="+s.Default)
		wantValue(t, r, "router-semantics", Replay, "default")
		if r.Run.Router.Live != nil {
			t.Errorf("%s: the router is live at the default", s.Name)
		}
		_, err := resolveWith(t, Input{}, "--router-semantics=replay", "--"+s.Name+"="+good)
		if err == nil || !strings.HasPrefix(err.Error(), "--"+s.Name+": found "+show(good)+", expected "+s.Default+" under router-semantics replay") {
			t.Errorf("%s as a flag under replay: %v", s.Name, err)
		}
		r = mustResolve(t, Input{ConfigFile: file}, "--router-semantics=replay")
		wantWarning(t, r, file+":1: "+s.Name+": "+show(good)+" has no effect: only a live router has it")
		wantValue(t, r, s.Name, canonical(s, s.Default), "default")
		for _, name := range s.Env {
			r = mustResolve(t, Input{Environ: []string{name + "=" + good}}, "--router-semantics=replay")
			wantWarning(t, r, name+": "+show(good)+" has no effect: only a live router has it")
		}
		if s.Router {
			policy := writeFile(t, "p.yaml", "router:\n  "+s.dynamoField()+": "+good+"\n")
			r = mustResolve(t, Input{}, "--router-policy-config="+policy)
			wantValue(t, r, s.Name, canonical(s, good), "policy file "+policy+":2")
			wantValue(t, r, "router-semantics", LiveWord, "because of "+s.Name+" (policy file "+policy+":2)")
		}
	}
	if n < 15 {
		t.Errorf("%d settings are live only, expected more", n)
	}
}

func TestModesOfALiveRouter(t *testing.T) {
	for i, mode := range router.Modes() {
		r := mustResolve(t, Input{}, "--router-mode="+mode)
		if live := r.Run.Router.Live != nil; live != !router.Mode(i).InReplay() || r.Run.Router.Mode.String() != mode {
			t.Errorf("%s: live %v, mode %v", mode, live, r.Run.Router.Mode)
		}
	}
	_, err := resolveWith(t, Input{}, "--router-mode=power_of_two", "--router-semantics=replay")
	wantError(t, err, "--router-mode: found power_of_two, expected kv under router-semantics replay: only a live router has it (leave router-semantics out, or give live)")
	r := mustResolve(t, Input{Environ: []string{"DYN_ROUTER_MODE=random"}}, "--router-semantics=replay")
	wantValue(t, r, "router-mode", "kv", "default")
	wantWarning(t, r, "DYN_ROUTER_MODE: random has no effect: only a live router has it")
	r = mustResolve(t, Input{Environ: []string{"DYN_ROUTER_MODE=round-robin"}})
	wantValue(t, r, "router-mode", "round-robin", "environment DYN_ROUTER_MODE")
	wantValue(t, r, "router-semantics", Replay, "default")
}

// TestTaintsOfAGroup: what a group of workers says by itself is held to the same
// rule as a setting of the run.
func TestTaintsOfAGroup(t *testing.T) {
	r := mustResolve(t, Input{}, "--workers=2,1@taints=a+b")
	wantValue(t, r, "router-semantics", LiveWord, "because of taints in workers (flag --workers)")
	fleet, err := r.Run.Fleet()
	if err != nil || len(fleet[0].Taints) != 0 || strings.Join(fleet[1].Taints, " ") != "a b" {
		t.Errorf("fleet %+v, %v", fleet, err)
	}
	_, err = resolveWith(t, Input{}, "--router-semantics=replay", "--workers=2,1@taints=a")
	wantError(t, err, "--workers: found \"2,1@taints=a\", expected workers without taints under router-semantics replay: only a live router has it (leave router-semantics out, or give live)")
	file := writeFile(t, "c.yaml", "workers: 2,1@taints=a\n")
	r = mustResolve(t, Input{ConfigFile: file}, "--router-semantics=replay")
	wantWarning(t, r, file+":1: workers: taints has no effect: only a live router has it")
	if r.Run.Router.Live != nil || len(r.Run.Workers) != 2 {
		t.Errorf("workers %v", r.Run.Workers)
	}
	_, err = resolveWith(t, Input{}, "--taints=a+")
	wantError(t, err, `--taints: taint 2: found "", expected the name of a taint: printable characters without spaces, + , and @`)
	r = mustResolve(t, Input{}, "--workers=1,1@taints=none")
	wantValue(t, r, "router-semantics", Replay, "default")
	r = mustResolve(t, Input{}, "--workers=1,1@taints=none", "--taints=a")
	if fleet, err = r.Run.Fleet(); err != nil || len(fleet[0].Taints) != 1 || fleet[1].Taints != nil {
		t.Errorf("fleet %+v, %v", fleet, err)
	}
}

// TestRequestClassifier: only live kv routers of workers that do both have one.
func TestRequestClassifier(t *testing.T) {
	file := writeFile(t, "p.yaml", "request_classifier:\n  type: thunderagent\n  parameters: {buffer_per_program: 7}\n")
	r := mustResolve(t, Input{}, "--router-policy-config="+file)
	wantValue(t, r, "router-semantics", LiveWord, "because of request_classifier thunderagent")
	if c := r.Run.Router.Live.Classifier; c == nil || c.BufferTokens != 7 || c.PauseThreshold != 0.95 {
		t.Errorf("classifier %+v", c)
	}
	_, err := resolveWith(t, Input{}, "--router-policy-config="+file, "--router-semantics=replay")
	wantError(t, err, "router-policy-config: found a request_classifier under router-semantics replay, expected none (Dynamo's replay refuses them; give live)")
	r = mustResolve(t, Input{Environ: []string{"DYN_ROUTER_POLICY_CONFIG=" + file}}, "--router-semantics=replay")
	wantWarning(t, r, "router-policy-config: the request_classifier has no effect: only a live router has one")
	r = mustResolve(t, Input{}, "--router-policy-config="+file, "--router-mode=random")
	wantWarning(t, r, "router-policy-config: the request_classifier has no effect in router-mode random: only kv routers ask it")
	_, err = resolveWith(t, Input{}, "--router-policy-config="+file, "--prefill-workers=1", "--decode-workers=1")
	wantError(t, err, "router-policy-config: found a request_classifier with prefill and decode pools, expected workers that do both (Dynamo's classifier serves those alone)")
}

// TestLoadAwareUnderBothSemantics: the preset alone makes nothing live, and
// under live semantics it turns KV events off.
func TestLoadAwareUnderBothSemantics(t *testing.T) {
	r := mustResolve(t, Input{}, "--load-aware")
	wantValue(t, r, "router-semantics", Replay, "default")
	wantWarning(t, r, "load-aware: a live frontend")
	r = mustResolve(t, Input{}, "--load-aware", "--router-semantics=live", "--router-predicted-ttl-secs=3")
	wantValue(t, r, "router-kv-events", "false", "preset load-aware")
	wantValue(t, r, "router-predicted-ttl-secs", None, "preset load-aware")
	if r.Run.Router.Live == nil || r.Run.Router.OverlapScoreCredit != 0 || r.Run.Router.AssumeKVReuse {
		t.Errorf("%+v", r.Run.Router)
	}
}

const policyExample = `
router:
  router_ttl_secs: 60
worker_selection:
  aggregated: balance
  instances:
    - name: balance
      type: dynamo-two-tier-cost-fn
      parameters: {cache_threshold: 0.25, balance_abs_threshold: 8}
    - name: mine
      type: multiplicative
    - name: tuned
      type: dynamo-default-cost-fn
      parameters:
        overlap_score_credit: 0.5
default_policy_family: std
uncached_isl_buckets:
  - {min_tokens: 0, bucket: short}
  - {min_tokens: 4096, bucket: long}
policy_classes:
  - {name: std-short, policy_family: std, cache_bucket: short, quantum: 2048, queue_policy: wspt}
  - {name: std-long, policy_family: std, cache_bucket: long, quantum: 512, prefill_busy_threshold_frac: 0.5}
  - {name: vip, quantum: 9999, prefill_busy_threshold: 100000, request_queue_limit_per_worker: 4}
models:
  other:
    default_policy_family: a
    uncached_isl_buckets: [{min_tokens: 0, bucket: all}]
    policy_classes: [{name: only, policy_family: a, cache_bucket: all, quantum: 1}]
`

func TestPolicyFile(t *testing.T) {
	file := writeFile(t, "p.yaml", policyExample)
	r := mustResolve(t, Input{}, "--router-policy-config="+file)
	wantValue(t, r, "router-ttl-secs", "60", "policy file "+file+":3")
	if p := r.Run.Live.Policy; p == nil || p.Name != "dynamo-two-tier-cost-fn" || r.Run.Router.Live == nil {
		t.Errorf("policy %+v", p)
	}
	c := r.Run.Router.Classes
	if c == nil || len(c.Classes) != 3 || c.DefaultFamily != "std" || len(c.Buckets) != 2 || c.Buckets[1].MinTokens != 4096 {
		t.Fatalf("classes %+v", c)
	}
	if v := c.Classes[2]; v.Name != "vip" || *v.BusyTokens != 100000 || *v.RequestLimit != 4 || v.Family != "" {
		t.Errorf("class %+v", v)
	}
	if c.Classes[0].Order != router.WSPT || *c.Classes[1].BusyFraction != 0.5 {
		t.Errorf("classes %+v", c.Classes)
	}
	r = mustResolve(t, Input{Environ: []string{"DYN_ROUTER_WORKER_SELECTION_POLICY=mine"}}, "--router-policy-config="+file, "--model-name=other")
	if r.Run.Live.Policy.Name != "multiplicative" || len(r.Run.Router.Classes.Classes) != 1 {
		t.Errorf("policy %s, %d classes", r.Run.Live.Policy.Name, len(r.Run.Router.Classes.Classes))
	}
	r = mustResolve(t, Input{}, "--router-policy-config="+file, "--worker-selection-policy=tuned", "--router-decode-policy=default")
	if w := r.Run.Live.Policy.Weights; w == nil || *w.OverlapScoreCredit != 0.5 || w.Temperature != nil || r.Run.Live.PrefillPolicy != nil || r.Run.Live.DecodePolicy != nil {
		t.Errorf("weights %+v, live %+v", w, r.Run.Live)
	}
	r = mustResolve(t, Input{Environ: []string{"DYN_ROUTER_WORKER_SELECTION_POLICY="}}, "--router-policy-config="+file)
	if r.Run.Live.Policy.Name != "dynamo-two-tier-cost-fn" {
		t.Error("a blank variable is no selection")
	}
	// Under replay the same file is refused, unless the default is put in its place.
	plain := writeFile(t, "q.yaml", strings.Replace(policyExample, "  router_ttl_secs: 60\n", "  host_cache_hit_weight: 0.5\n", 1))
	_, err := resolveWith(t, Input{}, "--router-policy-config="+plain, "--router-semantics=replay")
	if err == nil || !strings.Contains(err.Error(), "found policy dynamo-two-tier-cost-fn selected under router-semantics replay") {
		t.Errorf("%v", err)
	}
	r = mustResolve(t, Input{}, "--router-policy-config="+plain, "--worker-selection-policy=default")
	wantValue(t, r, "router-semantics", Replay, "default")
	r = mustResolve(t, Input{Environ: []string{"DYN_ROUTER_POLICY_CONFIG=" + plain}}, "--router-semantics=replay")
	wantWarning(t, r, "the policy dynamo-two-tier-cost-fn has no effect")
}

// TestPolicyFileIsReadOnce: the points of a sweep share one reading of a policy
// file, whatever becomes of the file meanwhile.
func TestPolicyFileIsReadOnce(t *testing.T) {
	file := writeFile(t, "p.yaml", policyExample)
	table := NewTable()
	s, err := table.Read(Input{})
	if err != nil {
		t.Fatal(err)
	}
	setting, _ := table.Lookup("router-policy-config")
	given := []Given{table.GivenFlag(setting, file, "--vary")}
	first, err := s.Resolve(given)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("no policy file"), 0o644); err != nil {
		t.Fatal(err)
	}
	again, err := s.Resolve(given)
	if err != nil {
		t.Fatal(err)
	}
	if first.Run.Live.Policy != again.Run.Live.Policy || first.Run.Router.Classes != again.Run.Router.Classes {
		t.Error("the file was parsed twice")
	}
	if fresh, err := table.Read(Input{}); err != nil {
		t.Fatal(err)
	} else if _, err := fresh.Resolve(given); err == nil {
		t.Error("another command does not read the file anew")
	}
}

func TestPolicyFileErrors(t *testing.T) {
	classes := func(list string) string {
		return "default_policy_family: a\nuncached_isl_buckets:\n  - {min_tokens: 0, bucket: x}\npolicy_classes:\n" + list
	}
	one := "  - {name: n, policy_family: a, cache_bucket: x, quantum: 1}\n"
	for _, c := range []struct{ name, text, want string }{
		{"unknown section", "rooter: {}\n", "FILE:1: rooter: found an unknown key (did you mean router?)"},
		{"unknown key", "worker_selection:\n  agregated: default\n", "FILE:2: worker_selection.agregated: found an unknown key (did you mean aggregated?)"},
		{"nothing selected", "worker_selection: {}\n", "FILE:1: worker_selection: found nothing, expected instances or the selection of a stage"},
		{"missing instance", "worker_selection:\n  aggregated: x\n", "FILE:2: worker_selection.aggregated: found x, expected one of the configured instances default"},
		{"named default", "worker_selection:\n  instances:\n    - {name: default, type: thunderagent}\n", "FILE:3: worker_selection.instances.name: found default, expected another name"},
		{"twice", "worker_selection:\n  instances:\n    - {name: a, type: thunderagent}\n    - {name: a, type: thunderagent}\n", "FILE:4: worker_selection.instances.name: found a again"},
		{"alphabet", "worker_selection:\n  instances:\n    - {name: a b, type: thunderagent}\n", `FILE:3: worker_selection.instances.name: found "a b", expected a name of letters`},
		{"unknown type", "worker_selection:\n  instances:\n    - {name: a, type: mine}\n", "FILE:3: worker_selection.instances.a: type: found mine, expected one of the linked types dynamo-default-cost-fn, dynamo-two-tier-cost-fn, thunderagent, multiplicative, prefix-affinity, clairvoyant"},
		{"parameters", "worker_selection:\n  instances:\n    - {name: a, type: thunderagent, parameters: 3}\n", "FILE:3: worker_selection.instances.parameters: found 3, expected a mapping"},
		{"parameter", "worker_selection:\n  instances:\n    - {name: a, type: dynamo-two-tier-cost-fn, parameters: {cache_threshold: 2}}\n", "FILE:3: worker_selection.instances.a: dynamo-two-tier-cost-fn: parameters.cache_threshold: found 2, expected a number from 0 to 1"},
		{"unknown parameter", "worker_selection:\n  instances:\n    - {name: a, type: thunderagent, parameters: {b: 2}}\n", "parameters.b: found an unknown parameter, expected no parameters"},
		{"fraction", "worker_selection:\n  instances:\n    - {name: a, type: dynamo-two-tier-cost-fn, parameters: {balance_abs_threshold: 1.5}}\n", "parameters.balance_abs_threshold: found 1.5, expected a whole number"},
		{"part of a profile", "default_policy_family: a\n", "FILE: uncached_isl_buckets: found nothing, expected default_policy_family, uncached_isl_buckets and policy_classes together"},
		{"lcfs", classes("  - {name: n, policy_family: a, cache_bucket: x, quantum: 1, queue_policy: lcfs}\n"), "FILE:5: policy_classes.queue_policy: found lcfs, expected fcfs or wspt"},
		{"no quantum", classes("  - {name: n, policy_family: a, cache_bucket: x}\n"), "FILE:5: policy_classes.quantum: found nothing"},
		{"quantum 0", classes("  - {name: n, policy_family: a, cache_bucket: x, quantum: 0}\n"), "quantum: found 0, expected at least 1 token"},
		{"half a matrix", classes("  - {name: n, policy_family: a, quantum: 1}\n"), "found only one of policy_family and cache_bucket"},
		{"hole", strings.Replace(classes(one), "bucket: x}\n", "bucket: x}\n  - {min_tokens: 5, bucket: y}\n", 1), "found 0 classes of family a and bucket y, expected 1"},
		{"two", classes(one + "  - {name: m, policy_family: a, cache_bucket: x, quantum: 1}\n"), "found 2 classes of family a and bucket x, expected 1"},
		{"first bucket", strings.Replace(classes(one), "min_tokens: 0", "min_tokens: 1", 1), "found none that begins at 0 tokens"},
		{"family", strings.Replace(classes(one), "default_policy_family: a", "default_policy_family: b", 1), "default_policy_family: found b"},
		{"models", "models:\n  m:\n    quantum: 3\n", "FILE:3: models.m.quantum: found an unknown key"},
	} {
		file := writeFile(t, "p.yaml", c.text)
		_, err := resolveWith(t, Input{}, "--router-policy-config="+file)
		if err == nil || !strings.Contains(err.Error(), strings.Replace(c.want, "FILE", file, 1)) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v\nwant %s", c.name, err, c.want)
		}
	}
}

func TestBlindRouterIsNamed(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"--no-worker-kv-events", "8 of 8 workers publish no KV events"},
		{`--kv-events-config={"enable_kv_cache_events": false}`, "8 of 8 workers publish no KV events"},
		{`--kv-events-config={"publisher": "zmq"}`, "8 of 8 workers publish no KV events"},
		{`--kv-events-config={"publisher": "null", "enable_kv_cache_events": true}`, "8 of 8 workers publish no KV events"},
		{"--workers=3,2@worker_kv_events=false", "2 of 5 workers publish no KV events"},
		{"--prefill-workers=1,2@worker_kv_events=false", "2 of 3 prefill workers publish no KV events"},
	} {
		wantWarning(t, mustResolve(t, Input{}, c.args), c.want)
	}
	for _, args := range [][]string{
		{`--kv-events-config={"enable_kv_cache_events": true}`},
		{"--no-worker-kv-events", "--router-mode=round-robin"},
		{"--no-worker-kv-events", "--no-router-kv-events"},
	} {
		if r := mustResolve(t, Input{}, args...); strings.Contains(strings.Join(r.Warnings, "\n"), "blind") {
			t.Errorf("%v: %q", args, r.Warnings)
		}
	}
}

// TestOnlyDynamosFlagsArePasted: a setting that Dynamo has a variable for and no
// flag is not spelt as a flag of its own.
func TestOnlyDynamosFlagsArePasted(t *testing.T) {
	table := NewTable()
	for name, want := range map[string]bool{
		"router-ttl-secs": true, "router-kv-events": true, "router-replica-sync": true, "router-temperature": true,
		"active-request-expiry-secs": false, "overlap-refresh-after-secs": false, "encoder-cuda-to-cpu-ratio": false,
		"worker-selection-policy": false, "frontends": false, "faults": false, "kv-event-loss": false, "expected-output": false, "workers": false,
	} {
		s, ok := table.Lookup(name)
		if !ok {
			t.Fatalf("no setting %s", name)
		}
		if flag, _, _, got := s.Dynamo(); got != want || got && flag != "--"+name {
			t.Errorf("%s: flag %q of Dynamo's: %v, want %v", name, flag, got, want)
		}
	}
}
