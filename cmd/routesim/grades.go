package main

import (
	"slices"
	"strings"

	"routesim/sim"
	"routesim/sim/router"
)

// unchecked names what a run's routers do by Dynamo's rules without having been
// checked against Dynamo. The grades are those of sim/router/README.md.
func unchecked(c *sim.Config) (used []string) {
	l := c.Router.Live
	if l == nil {
		return nil
	}
	kv := c.Router.Mode == router.KV
	busy := l.ActiveDecodeBlocksThreshold != nil || l.ActivePrefillTokensThreshold >= 0 || l.ActivePrefillTokensThresholdFrac != nil
	for _, f := range []struct {
		name string
		on   bool
	}{
		{"approximate mode by last use", kv && !l.KVEvents && l.ApproximateLRU},
		{"shared cache", kv && l.SharedCache},
		{"replica sync", c.ReplicaSync && c.Frontends > 1},
		{"session affinity", kv && l.AffinityTTLSecs > 0},
		{"busy thresholds", busy},
		{"device-aware mode", c.Router.Mode == router.DeviceAwareWeighted},
		{"request classifier", kv && l.Classifier != nil},
		{"credit for disk tiers", kv && hasDisk(c)},
		{"event loss", kv && c.EventLoss > 0},
		{"restart", c.RestartAtMS != nil},
		{"faults", len(c.Faults) > 0},
		{"clients that leave", c.Clients.Leave()},
		{"live routers in pools", c.Disaggregated()},
		{"routers as prefill workers want them", c.PrefillRouter != nil},
		{"taints that they hand on", kv && slices.ContainsFunc(c.Prefill, func(g sim.Group) bool { return g.Transfer.Taint != "" })},
		{"conditional disaggregation", c.Disaggregated() && c.Router.MayBypass() != nil},
	} {
		if f.on {
			used = append(used, f.name)
		}
	}
	return used
}

// uncheckedText says in a sentence what is not checked, "" for nothing.
func uncheckedText(used []string) string {
	if len(used) == 0 {
		return ""
	}
	return "Modelled by Dynamo's rules, not checked against it: " + strings.Join(used, ", ") + "."
}

// hasDisk reports whether some worker has a disk tier.
func hasDisk(c *sim.Config) bool {
	return slices.ContainsFunc(c.Fleet, func(g sim.Group) bool { return g.Engine.Disk.Blocks > 0 })
}
