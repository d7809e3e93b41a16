package settings

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"routesim/sim/router"
)

// TestAdvertisedRouter: what prefill workers say of their routers replaces the
// run's settings as a whole; what belongs to no stage stays.
func TestAdvertisedRouter(t *testing.T) {
	file := writeFile(t, "p.yaml", "worker_selection:\n  prefill: p\n  instances: [{name: p, type: prefix-affinity}]\n")
	r := mustResolve(t, Input{Environ: []string{"DYN_ROUTER_TEMPERATURE=0.7"}}, "--prefill-workers=2", "--timing=dynamo-polynomial",
		"--router-kv-overlap-score-credit=2.5", "--kv-event-lag-ms=30", "--overlap-refresh-after-secs=3", "--router-policy-config="+file,
		`--prefill-router-args={"router_mode": "kv", "router_queue_threshold": 0.5, "router-track-prefill-tokens": true, "active_decode_blocks_threshold": null}`)
	want := router.DefaultParams()
	live, half := router.DefaultLive(), 0.5
	want.QueueThreshold, want.KVEventLagMS, live.OverlapRefreshSecs, want.Live = &half, 30, 3, &live
	if diff := cmp.Diff(&want, r.Run.PrefillRouter); diff != "" {
		t.Errorf("prefill stage: %s", diff)
	}
	if p := &r.Run.Router; p.OverlapScoreCredit != 2.5 || p.Temperature != 0.7 || p.QueueThreshold != nil || p.Live.PrefillPolicy == nil {
		t.Errorf("the run's own settings: %+v", *p)
	}
	if r := mustResolve(t, Input{}, "--prefill-workers=2"); r.Run.PrefillRouter != nil {
		t.Error("prefill workers say something that nobody gave")
	}
	r = mustResolve(t, Input{}, "--prefill-workers=2", `--prefill-router-args={"router-mode": "random", "router-policy-config": "`+file+`"}`)
	if r.Run.PrefillRouter.Mode != router.Random || r.Run.PrefillRouter.Live.PrefillPolicy == nil || r.Run.Router.Mode != router.KV {
		t.Errorf("found %+v", *r.Run.PrefillRouter)
	}
	if files := r.Run.PolicyFiles(); files[2] != file {
		t.Errorf("policy files %q", files)
	}
	for _, override := range []string{"--router-prefill-policy=p", "--worker-selection-policy=p"} {
		r = mustResolve(t, Input{}, "--prefill-workers=2", "--router-policy-config="+file, override, `--prefill-router-args={"router-mode": "kv"}`)
		if r.Run.PrefillRouter.Live.PrefillPolicy != nil {
			t.Errorf("%s holds for the prefill stage", override)
		}
		const idle = "router-prefill-policy has no effect: prefill-router-args replaces the settings of the prefill stage as a whole"
		if decode := r.Run.Live.DecodePolicy != nil; decode == slices.Contains(r.Warnings, idle) {
			t.Errorf("%s holds for the decode stage: %v, warnings %q", override, decode, r.Warnings)
		}
	}
	wantWarning(t, mustResolve(t, Input{}, `--prefill-router-args={"router-mode": "random"}`), "prefill-router-args has no effect: there is no prefill stage")
}

// TestAdvertisedRouterRefused names what is wrong in what prefill workers say.
func TestAdvertisedRouterRefused(t *testing.T) {
	for object, want := range map[string]string{
		`{"router-temperature": 0.5}`:                                     "found no router-mode, expected one: workers without it advertise nothing",
		`{"router-mode": "kv", "router-mode": "random"}`:                  "found the key router-mode again, expected each key once",
		`{"router-mode": "kv", "router_mode": "random"}`:                  "found the setting router-mode again as router_mode",
		`{"router-mode": "kv", "router-temprature": 1}`:                   "found the unknown key router-temprature (did you mean router-temperature?), expected one of router-mode, load-aware",
		`{"router-mode": "kv", "frontends": 2}`:                           "found the unknown key frontends",
		`{"router-mode": "best"}`:                                         `of router-mode, expected kv, round-robin`,
		`{"router-mode": "kv", "router-temperature": "1"}`:                `found "1" of router-temperature, expected a finite number`,
		`{"router-mode": "kv", "router-track-prefill-tokens": "yes"}`:     "of router-track-prefill-tokens, expected true or false",
		`{"router-mode": "kv", "router-approximate-cache-policy": "lru"}`: "router-approximate-cache-policy: found lru with router-kv-events",
		`{"router-mode": "kv", "router-policy-config": "none.yaml"}`:      "none.yaml",
		`["kv"]`: "expected a JSON object of router settings",
	} {
		r, err := resolveWith(t, Input{}, "--prefill-workers=2", "--prefill-router-args="+object)
		if err == nil {
			err = r.Run.PrefillRouter.Validate()
		}
		wantPart(t, err, want)
	}
}
