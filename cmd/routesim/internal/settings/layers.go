package settings

import (
	"slices"
	"strings"

	"routesim/workloads"
)

// fromEnvironment reads Dynamo's variables. Of the variables of one setting the
// first one in the table counts, as in Dynamo.
func (t *Table) fromEnvironment(environ []string, warnings *[]string) []Given {
	vars := map[string]string{}
	for _, e := range environ {
		if name, value, ok := strings.Cut(e, "="); ok {
			vars[name] = value
		}
	}
	var given []Given
	for _, s := range t.list {
		for _, name := range s.Env {
			if value, ok := vars[name]; ok {
				given = append(given, Given{
					Setting: s, Text: value,
					Origin: Origin{FromEnvironment, name},
					Place:  workloads.Problem{Field: name},
				})
				break
			}
		}
	}
	*warnings = append(*warnings, t.unknownVariables(vars)...)
	return given
}

// unknownVariables warns of router variables that Dynamo does not have.
func (t *Table) unknownVariables(vars map[string]string) []string {
	var names, known, warnings []string
	for name := range vars {
		if strings.HasPrefix(name, "DYN_ROUTER_") && t.byEnv[name] == nil {
			names = append(names, name)
		}
	}
	for _, s := range t.list {
		known = append(known, s.Env...)
	}
	slices.Sort(names)
	for _, name := range names {
		w := name + ": no router setting has this variable"
		if near := Nearest(name, known); near != "" {
			w += "; did you mean " + near + "?"
		}
		warnings = append(warnings, w)
	}
	return warnings
}

// loadAware is Dynamo's load-aware preset. Entries of settings that nothing
// honours are left out: they change nothing.
var loadAware = [...][2]string{
	{"router-mode", "kv"},
	{"router-kv-overlap-score-credit", "0"},
	{"router-track-active-blocks", "true"},
	{"router-assume-kv-reuse", "false"},
	{"router-track-prefill-tokens", "true"},
	{"router-kv-events", "false"},
	{"router-predicted-ttl-secs", None},
	{"shared-cache-type", None},
	{"shared-cache-multiplier", "0"},
}

// fromPreset returns what the load-aware preset sets, if it is on.
func (r *resolution) fromPreset() ([]Given, error) {
	s, _ := r.table.Lookup("load-aware")
	c, ok := r.best.get(s)
	if !ok || c.value.Int == 0 {
		return nil, nil
	}
	if r.text("router-semantics") != LiveWord {
		r.Warn("load-aware: a live frontend (router-semantics live) builds no index and books whole prompts as prefill load; a replay, Dynamo's own included, still books only the uncached part")
	}
	var given []Given
	for _, e := range loadAware {
		s, _ := r.table.Lookup(e[0])
		given = append(given, Given{Setting: s, Text: e[1], Origin: Origin{FromPreset, "load-aware"}})
	}
	return given, nil
}

// fromPolicy returns the router section of the policy file, if one was named.
func (r *resolution) fromPolicy(from *Sources) ([]Given, error) {
	s, _ := r.table.Lookup("router-policy-config")
	c, ok := r.best.get(s)
	if !ok || c.value.None {
		return nil, nil
	}
	what := s.Name
	if c.given.Origin.Where == restartPolicy {
		what = "" // settleRestart names it
	}
	p := from.policy(c.value.Text, what)
	if p.err == nil {
		r.file = *p.file
	}
	return p.given, p.err
}

// fromWeight translates the deprecated overlap score weight: it replaces the
// prefill load scale, and a weight of 0 hides the cache as well.
func (r *resolution) fromWeight() ([]Given, error) {
	s, _ := r.table.Lookup("router-kv-overlap-score-weight")
	c, ok := r.best.get(s)
	if !ok || c.value.None {
		return nil, nil
	}
	r.Warn("%s is deprecated: it replaces router-prefill-load-scale", c.given.Origin)
	set := func(name string) Given {
		s, _ := r.table.Lookup(name)
		return Given{Setting: s, Text: c.value.Text, Origin: Origin{FromWeight, "router-kv-overlap-score-weight (" + c.given.Origin.String() + ")"}}
	}
	given := []Given{set("router-prefill-load-scale")}
	if c.value.Num == 0 {
		given = append(given, set("router-kv-overlap-score-credit"))
	}
	return given, nil
}
