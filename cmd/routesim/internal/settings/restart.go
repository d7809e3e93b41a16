package settings

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"routesim/sim"
)

// restartPolicy is the setting of the policy file after a restart.
const restartPolicy = "router-restart-policy-config"

// settleRestart resolves everything anew with the policy file that the restarted
// routers have.
func (r *resolution) settleRestart(s *Sources, more []Given) error {
	const name = restartPolicy
	run := &r.Run
	if run.RestartPolicyConfig == "" || run.RestartAtMS == nil {
		return nil
	}
	given := slices.Clone(more)
	for _, g := range [][2]string{{"router-policy-config", run.RestartPolicyConfig}, {name, None}} {
		setting, _ := r.table.Lookup(g[0])
		given = append(given, r.table.GivenFlag(setting, g[1], name))
	}
	after, err := s.Resolve(given)
	if err != nil {
		if own, ok := strings.CutPrefix(err.Error(), "router-policy-config: "); ok {
			err = errors.New(own)
		}
		return fmt.Errorf("%s: %w", name, err)
	}
	run.Restarted = &sim.Restarted{Router: after.Run.Router, ReplicaSync: after.Run.ReplicaSync}
	for _, text := range after.Warnings {
		if slices.Contains(r.Warnings, text) {
			continue
		}
		if own, ok := strings.CutPrefix(text, "router-policy-config"); ok {
			r.Warn("%s%s", name, own)
		} else {
			r.Warn("after the restart: %s", text)
		}
	}
	return nil
}
