package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"routesim/sim"
	"routesim/sim/engine"
	"routesim/sim/router"
	"routesim/sim/router/program"
)

// TestGradesAreThoseOfThePage: what the output calls unchecked stands on the
// router's page with that grade, and a plain run has nothing of it.
func TestGradesAreThoseOfThePage(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "sim", "router", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	row := ""
	for _, line := range strings.Split(string(text), "\n") {
		if strings.HasSuffix(line, "| modelled by the rules, not checked against Dynamo |") {
			row = strings.ToLower(line)
		}
	}
	l := router.DefaultLive()
	c := sim.Config{Frontends: 3, Fleet: []sim.Group{{Engine: engine.Params{Disk: engine.DiskOffload{Blocks: 1}}}}, Prefill: []sim.Group{{Transfer: sim.Transfer{Taint: "a"}}}, Router: router.Params{Live: &l}}
	l.ApproximateLRU, l.SharedCache, l.AffinityTTLSecs, l.ActivePrefillTokensThreshold, l.Classifier = true, true, 5, 9, &program.Settings{}
	l.KVEvents, c.ReplicaSync, c.EventLoss, c.Faults, c.Clients.CancelRate = false, true, 0.5, make([]sim.Fault, 1), 0.1
	at := 5.0
	c.RestartAtMS, c.PrefillRouter = &at, &router.Params{}
	names := map[string]bool{}
	l.Conditional = &router.Conditional{}
	for _, k := range []struct {
		mode   router.Mode
		events bool
	}{{router.KV, false}, {router.KV, true}, {router.DeviceAwareWeighted, false}} {
		c.Router.Mode, l.KVEvents = k.mode, k.events
		for _, name := range unchecked(&c) {
			names[name] = true
			if !strings.Contains(row, name) {
				t.Errorf("%s does not stand in the page's row %q", name, row)
			}
		}
	}
	if len(names) != 16 {
		t.Errorf("%d features are graded, expected 16: %v", len(names), names)
	}
	plain := router.DefaultLive()
	for _, live := range []*router.Live{nil, &plain} {
		if used := unchecked(&sim.Config{Router: router.Params{Live: live}}); len(used) > 0 || uncheckedText(used) != "" {
			t.Errorf("a plain run says %q", used)
		}
	}
}
