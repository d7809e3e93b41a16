package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"routesim/cmd/routesim/internal/settings"
	"routesim/reports"
	"routesim/sim"
	"routesim/workloads"
)

// effect is a scenario in which a setting changes a decision: two lists of flags
// that differ in it.
type effect struct {
	base   []string
	change []string
	routes bool // the rows name workers and device keys
}

// effects has a scenario for every setting of the router. POLICY stands for the
// path of effectPolicy, AGENTS for that of effectAgents.
func effects() map[string]effect {
	live := []string{"--router-semantics=live"}
	with := func(base []string, more ...string) []string { return append(slices.Clone(base), more...) }
	queue := []string{"--router-queue-threshold=0.2", "--workers=2"}
	approximate := []string{"--no-router-kv-events"}
	file := []string{"--router-policy-config=POLICY", "--worker-selection-policy=default"}
	pools := []string{"--prefill-workers=2", "--decode-workers=2"}
	bypass := with(pools, "--router-conditional-disagg", "--conditional-disagg-prefill-busy-threshold=0.1")
	sent := with(pools, "--kv-transfer-bandwidth=1", "--kv-transfer-bytes-per-token=20000")
	const zone = "@taints=dynamo.topology/zone="
	zones := []string{"--prefill-workers=1" + zone + "a,1" + zone + "b", "--decode-workers=1" + zone + "a,2" + zone + "b"}
	return map[string]effect{
		"router-mode":                                {nil, []string{"--router-mode=least-loaded"}, false},
		"load-aware":                                 {nil, []string{"--load-aware"}, false},
		"seed":                                       {nil, []string{"--seed=7"}, false},
		"router-semantics":                           {[]string{"--router-kv-overlap-score-credit=0"}, []string{"--router-semantics=live"}, false},
		"router-kv-overlap-score-credit":             {nil, []string{"--router-kv-overlap-score-credit=0.2"}, false},
		"router-kv-overlap-score-credit-decay":       {nil, []string{"--router-kv-overlap-score-credit-decay=3"}, false},
		"router-prefill-load-scale":                  {nil, []string{"--router-prefill-load-scale=0.1"}, false},
		"router-kv-overlap-score-weight":             {nil, []string{"--router-kv-overlap-score-weight=5"}, false},
		"router-host-cache-hit-weight":               {[]string{"--num-gpu-blocks=60", "--num-host-blocks=400", "--kv-cache-bytes-per-token=1000"}, []string{"--router-host-cache-hit-weight=0"}, false},
		"router-disk-cache-hit-weight":               {with(live, "--num-gpu-blocks=60", "--num-host-blocks=60", "--num-disk-blocks=400", "--kv-cache-bytes-per-token=1000"), []string{"--router-disk-cache-hit-weight=1"}, false},
		"router-decode-active-request-weight":        {nil, []string{"--router-decode-active-request-weight=30"}, false},
		"router-temperature":                         {nil, []string{"--router-temperature=1"}, false},
		"router-track-active-blocks":                 {nil, []string{"--no-router-track-active-blocks"}, false},
		"router-assume-kv-reuse":                     {nil, []string{"--no-router-assume-kv-reuse"}, false},
		"router-track-prefill-tokens":                {nil, []string{"--no-router-track-prefill-tokens"}, false},
		"router-prefill-load-model":                  {nil, []string{"--router-prefill-load-model=ais"}, false},
		"router-queue-threshold":                     {nil, queue[:1], false},
		"router-queue-policy":                        {queue, []string{"--router-queue-policy=wspt"}, false},
		"router-policy-config":                       {nil, file[:1], false},
		"worker-selection-policy":                    {file, []string{"--worker-selection-policy=mine"}, false},
		"model-name":                                 {file, []string{"--model-name=other"}, false},
		"kv-event-lag-ms":                            {nil, []string{"--kv-event-lag-ms=300"}, false},
		"kv-event-delay-ms":                          {nil, []string{"--kv-event-delay-ms=300"}, false},
		"worker-kv-events":                           {nil, []string{"--no-worker-kv-events"}, false},
		"kv-events-config":                           {nil, []string{`--kv-events-config={"enable_kv_cache_events": false}`}, false},
		"device":                                     {[]string{"--router-mode=device-aware-weighted"}, []string{"--workers=2,2@device=cpu"}, false},
		"taints":                                     {live, []string{"--workers=2,2@taints=fast+far"}, false},
		"router-kv-events":                           {live, approximate, false},
		"router-ttl-secs":                            {approximate, []string{"--router-ttl-secs=0.2"}, false},
		"router-approximate-cache-policy":            {with(approximate, "--num-gpu-blocks=60"), []string{"--router-approximate-cache-policy=lru"}, false},
		"router-predicted-ttl-secs":                  {live, []string{"--router-predicted-ttl-secs=5"}, false},
		"shared-cache-type":                          {live, []string{"--shared-cache-type=hicache"}, false},
		"shared-cache-multiplier":                    {[]string{"--shared-cache-type=hicache"}, []string{"--shared-cache-multiplier=1"}, false},
		"shared-cache-blocks":                        {[]string{"--shared-cache-type=hicache", "--shared-cache-multiplier=1"}, []string{"--shared-cache-blocks=20"}, false},
		"kv-event-loss":                              {live, []string{"--kv-event-loss=0.5"}, false},
		"router-restart-at":                          {live, []string{"--router-restart-at=400"}, false},
		"router-restart-policy-config":               {[]string{"--router-restart-at=400"}, []string{"--router-restart-policy-config=POLICY"}, false},
		"router-reset-states":                        {[]string{"--router-restart-at=400"}, []string{"--router-reset-states"}, false},
		"router-track-output-blocks":                 {live, []string{"--router-track-output-blocks"}, false},
		"expected-output":                            {[]string{"--router-track-output-blocks"}, []string{"--expected-output=trace"}, false},
		"active-request-expiry-secs":                 {live, []string{"--active-request-expiry-secs=0.005"}, false},
		"active-decode-blocks-threshold":             {live, []string{"--active-decode-blocks-threshold=0.05"}, false},
		"active-prefill-tokens-threshold":            {live, []string{"--active-prefill-tokens-threshold=200"}, false},
		"active-prefill-tokens-threshold-frac":       {live, []string{"--active-prefill-tokens-threshold-frac=0.1"}, false},
		"overlap-refresh-after-secs":                 {with(queue, live...), []string{"--overlap-refresh-after-secs=0.01"}, false},
		"encoder-cuda-to-cpu-ratio":                  {[]string{"--router-mode=device-aware-weighted", "--workers=2,2@device=cpu"}, []string{"--encoder-cuda-to-cpu-ratio=1"}, false},
		"router-session-affinity-ttl-secs":           {live, []string{"--router-session-affinity-ttl-secs=60"}, false},
		"router-session-affinity-mode":               {[]string{"--router-session-affinity-ttl-secs=60", "--active-prefill-tokens-threshold=200"}, []string{"--router-session-affinity-mode=soft"}, false},
		"session-final":                              {[]string{"--router-policy-config=AGENTS"}, []string{"--session-final=trace"}, false},
		"faults":                                     {live, []string{"--faults=crash:1@100-400,drain:2@200"}, false},
		"client-timeout-ms":                          {live, []string{"--client-timeout-ms=150"}, false},
		"client-first-token-timeout-ms":              {live, []string{"--client-first-token-timeout-ms=25"}, false},
		"cancel-rate":                                {live, []string{"--cancel-rate=0.3", "--cancel-after-ms=100"}, false},
		"cancel-after-ms":                            {[]string{"--cancel-rate=0.3", "--cancel-after-ms=100"}, []string{"--cancel-after-ms=20"}, false},
		"frontends":                                  {live, []string{"--frontends=3"}, false},
		"router-replica-sync":                        {[]string{"--frontends=3"}, []string{"--router-replica-sync"}, false},
		"prefill-workers":                            {pools, []string{"--prefill-workers=3"}, false},
		"decode-workers":                             {pools, []string{"--decode-workers=3"}, false},
		"prefill-engine-args":                        {pools, []string{`--prefill-engine-args={"engine": {"max_num_seqs": 1}}`}, false},
		"decode-engine-args":                         {pools, []string{`--decode-engine-args={"engine": {"max_num_seqs": 1}}`}, false},
		"prefill-router-args":                        {with(pools, live...), []string{`--prefill-router-args={"router-mode": "random"}`}, false},
		"kv-transfer-bandwidth":                      {sent, []string{"--kv-transfer-bandwidth=0.2"}, false},
		"kv-transfer-bytes-per-token":                {sent, []string{"--kv-transfer-bytes-per-token=90000"}, false},
		"kv-transfer-timing-mode":                    {sent, []string{"--kv-transfer-timing-mode=destination_missing"}, false},
		"kv-transfer-domain":                         {with(zones, live...), []string{"--kv-transfer-domain=zone"}, false},
		"kv-transfer-enforcement":                    {with(zones, "--kv-transfer-domain=zone", "--kv-transfer-preferred-weight=0.1"), []string{"--kv-transfer-enforcement=preferred"}, false},
		"kv-transfer-preferred-weight":               {with(zones, "--kv-transfer-domain=zone", "--kv-transfer-enforcement=preferred", "--kv-transfer-preferred-weight=0"), []string{"--kv-transfer-preferred-weight=1"}, false},
		"router-prefill-policy":                      {with(pools, file...), []string{"--router-prefill-policy=mine"}, false},
		"router-decode-policy":                       {with(pools, file...), []string{"--router-decode-policy=mine"}, false},
		"router-conditional-disagg":                  {pools, []string{"--router-conditional-disagg"}, false},
		"router-conditional-disagg-config":           {bypass, []string{`--router-conditional-disagg-config={"eff_isl_threshold": 100}`}, false},
		"conditional-disagg-policy":                  {bypass, []string{"--conditional-disagg-policy=prefill_load"}, false},
		"conditional-disagg-eff-isl-threshold":       {bypass, []string{"--conditional-disagg-eff-isl-threshold=100"}, false},
		"conditional-disagg-eff-isl-ratio-threshold": {bypass, []string{"--conditional-disagg-eff-isl-ratio-threshold=0.3"}, false},
		"conditional-disagg-prefill-busy-threshold":  {with(bypass, "--conditional-disagg-policy=prefill_load"), []string{"--conditional-disagg-prefill-busy-threshold=0.5"}, false},
		"conditional-disagg-decode-busy-threshold":   {bypass, []string{"--conditional-disagg-decode-busy-threshold=0.05"}, false},
		"replica-sync-delay-ms":                      {[]string{"--frontends=3", "--router-replica-sync"}, []string{"--replica-sync-delay-ms=50"}, false},
	}
}

// withoutEffect are the settings that no decision depends on, each with what its
// help text says about it.
func withoutEffect() map[string]string {
	return map[string]string{
		"router-tracking-hash":     "Both give the same decisions",
		"router-tracking-key-file": "tracking key",
		"router-tracking-key-id":   "tracking key",
		"router-block-size":        "Must equal --block-size",
	}
}

// effectAgents holds agents' sessions back.
const effectAgents = `
request_classifier:
  type: thunderagent
  parameters: {pause_threshold: 0.05, pause_target: 0.04, resume_hysteresis: 0.01, scheduler_interval_seconds: 0.02}
`

const effectPolicy = `
worker_selection:
  aggregated: mine
  instances:
    - {name: mine, type: prefix-affinity}
default_policy_family: std
uncached_isl_buckets: [{min_tokens: 0, bucket: short}, {min_tokens: 400, bucket: long}]
policy_classes:
  - {name: a, policy_family: std, cache_bucket: short, quantum: 100, prefill_busy_threshold: 100}
  - {name: b, policy_family: std, cache_bucket: long, quantum: 4000, prefill_busy_threshold: 100, queue_policy: wspt}
models:
  other:
    default_policy_family: a
    uncached_isl_buckets: [{min_tokens: 0, bucket: all}]
    policy_classes: [{name: only, policy_family: a, cache_bucket: all, quantum: 1, prefill_busy_threshold_frac: 0.05}]
`

// effectTrace has families of prompts that come back, in bursts, some in
// sessions.
func effectTrace(t *testing.T, routes bool) *workloads.Trace {
	t.Helper()
	state := uint64(1)
	draw := func(n int) int {
		state = state*6364136223846793005 + 1442695040888963407
		return int(state>>33) % n
	}
	var rows []workloads.Row
	now := 0.0
	for i := range 240 {
		now += []float64{0, 0, 1, 4, 15}[draw(5)]
		family := draw(10)
		r := workloads.Row{Timestamp: now, OutputLength: int32(5 + draw(60))}
		for k := range 3 + family {
			r.HashIDs = append(r.HashIDs, uint64(family*1000+k))
		}
		for k := range draw(8) {
			r.HashIDs = append(r.HashIDs, uint64(100_000+i*100+k))
		}
		r.InputLength = int32(len(r.HashIDs)*64 - draw(60))
		if i%4 == 1 {
			r.Taints.Preferred = []workloads.PreferredTaint{{Name: "fast", Weight: 2}}
		}
		if i%3 == 0 {
			r.SessionID = fmt.Sprint("s", i%30)
		}
		if routes {
			r.Route = &workloads.Route{Worker: int32(draw(4)), Rank: -1, Keys: []uint64{uint64(draw(5))}}
			r.PrefillRoute = &workloads.Route{Worker: int32(draw(4)), Rank: -1}
		}
		rows = append(rows, r)
	}
	tr, err := workloads.FromRows(workloads.BuilderOptions{BlockSize: 64}, rows...)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// decisions returns the digest of the decisions under a list of flags.
func decisions(t *testing.T, tr *workloads.Trace, flags []string) string {
	t.Helper()
	table := settings.NewTable()
	fs := pflag.NewFlagSet("test", pflag.ContinueOnError)
	rec := table.Flags(fs)
	base := []string{"--timing=fixed:12,4", "--num-gpu-blocks=500", "--max-num-batched-tokens=2048", "--trace-block-size=64"}
	if !slices.ContainsFunc(flags, func(f string) bool { return strings.HasPrefix(f, "--decode-workers=") }) {
		base = append(base, "--workers=4")
	}
	if err := fs.Parse(append(base, flags...)); err != nil {
		t.Fatal(err)
	}
	r, err := table.Resolve(settings.Input{Flags: rec.Given})
	if err != nil {
		t.Fatalf("%v: %v", flags, err)
	}
	run, err := newReplayed(r, []string{"trace"})
	if err != nil {
		t.Fatalf("%v: %v", flags, err)
	}
	res, err := sim.Run(context.Background(), tr, run.config)
	if err != nil {
		t.Fatalf("%v: %v", flags, err)
	}
	d := reports.DecisionDigest(res)
	return fmt.Sprintf("%x", d)
}

// TestEveryRouterSettingMatters derives its list from the table of settings: a
// setting of the router changes a decision in its scenario, or the program says
// why it does not.
func TestEveryRouterSettingMatters(t *testing.T) {
	policy := filepath.Join(t.TempDir(), "policy.yaml")
	if err := os.WriteFile(policy, []byte(effectPolicy), 0o644); err != nil {
		t.Fatal(err)
	}
	agents := filepath.Join(t.TempDir(), "agents.yaml")
	if err := os.WriteFile(agents, []byte(effectAgents), 0o644); err != nil {
		t.Fatal(err)
	}
	known, silent := effects(), withoutEffect()
	traces := [2]*workloads.Trace{effectTrace(t, false), effectTrace(t, true)}
	seen := map[string]bool{}
	for _, s := range settings.NewTable().All() {
		router := s.LiveOnly || s.Group == settings.Cost || s.Group == settings.Track || s.Group == settings.Queue || s.Group == settings.Pools ||
			slices.Contains([]string{"kv-event-delay-ms", "worker-kv-events", "kv-events-config", "device", "router-block-size"}, s.Name)
		if s.Support != settings.Honoured || !router {
			continue
		}
		t.Run(s.Name, func(t *testing.T) {
			seen[s.Name] = true
			if why, ok := silent[s.Name]; ok {
				if !strings.Contains(s.Help, why) {
					t.Errorf("help %q does not say %q", s.Help, why)
				}
				return
			}
			e, ok := known[s.Name]
			if !ok {
				t.Fatal("no scenario in which it changes a decision: add one to effects")
			}
			tr := traces[0]
			if e.routes {
				tr = traces[1]
			}
			fill := func(flags []string) []string {
				out := slices.Clone(flags)
				for i := range out {
					out[i] = strings.NewReplacer("POLICY", policy, "AGENTS", agents).Replace(out[i])
				}
				return out
			}
			if a, b := decisions(t, tr, fill(e.base)), decisions(t, tr, fill(append(slices.Clone(e.base), e.change...))); a == b {
				t.Errorf("%v and with %v: the same decisions", e.base, e.change)
			}
		})
	}
	for name := range known {
		if !seen[name] {
			t.Errorf("%s has a scenario and is no setting of the router", name)
		}
	}
}

// TestEveryModeDecidesItsOwnWay: no two modes give the same decisions.
func TestEveryModeDecidesItsOwnWay(t *testing.T) {
	tr := effectTrace(t, true)
	for _, fleet := range [][]string{{"--workers=2,2@device=cpu"}, {"--prefill-workers=2,2@device=cpu", "--decode-workers=2,2@device=cpu"}} {
		seen := map[string]string{}
		for _, mode := range []string{"kv", "round-robin", "random", "power-of-two", "least-loaded", "direct", "device-aware-weighted"} {
			d := decisions(t, tr, append(fleet, "--router-mode="+mode, "--router-semantics=live"))
			if other := seen[d]; other != "" {
				t.Errorf("%v: %s and %s decide alike", fleet, mode, other)
			}
			seen[d] = mode
		}
	}
}
