package settings

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"routesim/sim/router"
)

// conditionalKeys are the keys of Dynamo's object for conditional disaggregation
// with the settings that they stand for.
func conditionalKeys() map[string]string {
	return map[string]string{
		"policy": "conditional-disagg-policy", "eff_isl_threshold": "conditional-disagg-eff-isl-threshold",
		"eff_isl_ratio_threshold": "conditional-disagg-eff-isl-ratio-threshold", "prefill_busy_threshold": "conditional-disagg-prefill-busy-threshold",
		"decode_busy_threshold": "conditional-disagg-decode-busy-threshold",
	}
}

// fromConditional returns what the object for conditional disaggregation gives,
// as if each of its keys were given where the object is. A setting of its own
// wins from a stronger source only.
func (r *resolution) fromConditional() ([]Given, error) {
	s, _ := r.table.Lookup("router-conditional-disagg-config")
	c, ok := r.best.get(s)
	if !ok || c.value.None {
		return nil, nil
	}
	members, err := c.given.members(c.value.Text)
	if err != nil {
		return nil, err
	}
	var given []Given
	known := conditionalKeys()
	for _, key := range slices.Sorted(maps.Keys(members)) {
		if _, ok := known[key]; !ok {
			return nil, c.given.unknownMember(key, slices.Sorted(maps.Keys(known)))
		}
		to, _ := r.table.Lookup(known[key])
		g := c.given
		g.Setting, g.Origin.Where = to, c.given.Origin.Where+" "+key
		if g.Text, ok = memberText(members[key], to.Kind); !ok {
			return nil, c.given.problem(show(string(members[key]))+" of "+key, to.Kind.Expected())
		}
		switch own, has := r.best.get(to); {
		case has && own.given.Origin.Layer > g.Origin.Layer:
			r.Warn("%s: %s of the %s has no effect: the %s sets %s", to.Name, g.Text, g.Origin, own.given.Origin, own.value.Text)
			continue
		case has && own.value.Text != g.Text:
			r.Warn("%s: %s of the %s has no effect: the %s sets %s", to.Name, own.value.Text, own.given.Origin, g.Origin, g.Text)
		}
		given = append(given, g)
	}
	return given, nil
}

// unknownMember is the error for a key that an object of JSON does not have.
func (g *Given) unknownMember(key string, known []string) error {
	found := "the unknown key " + show(key)
	if near := Nearest(key, known); near != "" {
		found += fmt.Sprintf(" (did you mean %s?)", near)
	}
	return g.problem(found, "one of "+strings.Join(known, ", "))
}

// settleConditional completes the router's parameters with the rules by which
// requests bypass the prefill stage.
func (r *resolution) settleConditional() error {
	run := &r.Run
	if run.Conditional {
		run.Live.Conditional = &run.Bypass
		return nil
	}
	s, _ := r.table.Lookup("router-conditional-disagg-config")
	if c, ok := r.best.get(s); ok && !c.value.None {
		if c.given.Origin.Layer == FromFlag {
			return c.given.problem(show(c.given.Text), "it only together with --router-conditional-disagg")
		}
		r.Warn("%s of the %s has no effect: it needs router-conditional-disagg", s.Name, c.given.Origin)
	}
	return nil
}

// warnConditional names settings of conditional disaggregation that wait for
// something else to have an effect.
func (r *resolution) warnConditional() {
	run := &r.Run
	rule := run.Bypass.Rule
	none := func(names ...string) map[string]bool {
		m := map[string]bool{}
		for _, n := range names {
			m["conditional-disagg-"+n] = true
		}
		return m
	}
	idle, why := none(), ""
	switch {
	case !run.Conditional:
		idle, why = none("policy", "eff-isl-threshold", "eff-isl-ratio-threshold", "prefill-busy-threshold", "decode-busy-threshold"), "it needs router-conditional-disagg"
	case !run.Disaggregated():
		r.Warn("router-conditional-disagg has no effect: there is no prefill stage in aggregated serving")
		return
	case run.Router.Mode != router.KV || !run.Live.KVEvents:
		r.Warn("router-conditional-disagg has no effect: it needs router-mode kv and router-kv-events")
		return
	case rule == router.ISLBounding:
		idle, why = none("prefill-busy-threshold"), "conditional-disagg-policy isl_bounding does not look at load"
	case rule == router.PrefillLoad:
		idle, why = none("eff-isl-threshold", "eff-isl-ratio-threshold"), "conditional-disagg-policy prefill_load does not look at lengths"
	}
	for _, s := range r.table.list {
		if c, ok := r.best.get(s); ok && idle[s.Name] && c.given.Origin.Layer == FromFlag && c.value.Text != s.Default {
			r.Warn("%s has no effect: %s", s.Name, why)
		}
	}
}
