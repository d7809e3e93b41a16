package settings

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Dynamo's workers take the flags of the router too, and one that is given
// --router-mode advertises them. They then hold for the routers that choose among
// these workers, in the place of the frontend's as a whole: what they do not say
// has Dynamo's default (components/src/dynamo/common/configuration/groups/
// router_args.py of 1.6.1).

// advertised are the settings that prefill workers can say of their routers:
// those of Dynamo's flags that belong to one stage.
func advertised() []string {
	return []string{
		"router-mode", "load-aware", "router-kv-overlap-score-credit", "router-kv-overlap-score-credit-decay", "router-kv-overlap-score-weight",
		"router-prefill-load-scale", "router-decode-active-request-weight", "router-host-cache-hit-weight", "router-disk-cache-hit-weight", "router-temperature",
		"router-track-active-blocks", "router-assume-kv-reuse", "router-track-prefill-tokens", "router-track-output-blocks", "router-prefill-load-model",
		"router-queue-threshold", "router-queue-policy", "router-policy-config", "router-prefill-policy",
		"router-kv-events", "router-ttl-secs", "router-approximate-cache-policy", "router-predicted-ttl-secs", "shared-cache-type", "shared-cache-multiplier",
		"active-decode-blocks-threshold", "active-prefill-tokens-threshold", "active-prefill-tokens-threshold-frac",
		"router-session-affinity-ttl-secs", "router-session-affinity-mode",
	}
}

// settleAdvertised resolves everything anew with what the prefill workers say of
// their routers, and keeps what follows for these.
func (r *resolution) settleAdvertised() error {
	run := &r.Run
	if run.PrefillRouterArgs == "" {
		return nil
	}
	s, _ := r.table.Lookup("prefill-router-args")
	whole := r.best.of(s).given
	if !run.Disaggregated() {
		r.Warn("%s has no effect: there is no prefill stage in aggregated serving", s.Name)
		return nil
	}
	if r.OnCommandLine("router-prefill-policy") {
		r.Warn("router-prefill-policy has no effect: %s replaces the settings of the prefill stage as a whole", s.Name)
	}
	own, err := r.readAdvertised(&whole)
	if err != nil {
		return err
	}
	after, err := (&Sources{table: r.table, flags: append(r.notAdvertised(), own...)}).Resolve(nil)
	if err != nil {
		return fmt.Errorf("%s: %w", s.Name, err)
	}
	run.PrefillRouter, run.prefillPolicyConfig = &after.Run.Router, after.Run.PolicyConfig
	for _, text := range after.Warnings {
		if !slices.Contains(r.Warnings, text) {
			r.Warn("%s: %s", s.Name, text)
		}
	}
	return nil
}

// readAdvertised reads the object of what prefill workers say.
func (r *resolution) readAdvertised(whole *Given) ([]Given, error) {
	members, err := whole.members(whole.Text)
	if err != nil {
		return nil, err
	}
	var own []Given
	seen := map[*Setting]bool{}
	for _, key := range slices.Sorted(maps.Keys(members)) {
		s, ok := r.table.Lookup(key)
		if !ok || !slices.Contains(advertised(), s.Name) {
			return nil, whole.unknownMember(key, advertised())
		}
		if seen[s] {
			return nil, whole.problem("the setting "+s.Name+" again as "+show(key), "each setting once")
		}
		seen[s] = true
		g := *whole
		g.Setting, g.Origin.Where = s, whole.Origin.Where+" "+key
		if g.Text, ok = memberText(members[key], s.Kind); !ok {
			return nil, whole.problem(show(string(members[key]))+" of "+key, s.Kind.Expected())
		}
		own = append(own, g)
	}
	if s, _ := r.table.Lookup("router-mode"); !seen[s] {
		return nil, whole.problem("no router-mode", "one: workers without it advertise nothing")
	}
	return own, nil
}

// notAdvertised returns the values that hold for both stages whatever prefill
// workers say, under live semantics. Which requests bypass the prefill stage is not
// for its routers to decide.
func (r *resolution) notAdvertised() (list []Given) {
	mine := append(advertised(), "prefill-router-args", "router-restart-policy-config", "router-semantics", "worker-selection-policy", "router-decode-policy")
	for _, s := range r.table.list {
		c, ok := r.best.get(s)
		if ok && c.given.Origin.Layer < FromPreset && !slices.Contains(mine, s.Name) && !strings.Contains(s.Name, "conditional-disagg") {
			list = append(list, c.given)
		}
	}
	s, _ := r.table.Lookup("router-semantics")
	return append(list, r.table.GivenFlag(s, LiveWord, "prefill-router-args"))
}

// memberText returns a value of JSON as one would type it for a setting: names
// are texts there, numbers numbers, and null stands for none.
func memberText(raw json.RawMessage, k Kind) (string, bool) {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return "", false
	}
	text := string(raw)
	switch v := v.(type) {
	case string:
		switch k.(type) {
		case Choice, Word:
			text = v
		default:
			return "", false
		}
	case bool:
		if _, ok := k.(Bool); !ok {
			return "", false
		}
	case float64:
	case nil:
		text = None
	default:
		return "", false
	}
	_, ok := k.Parse(text)
	return text, ok
}
