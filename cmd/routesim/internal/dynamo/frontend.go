package dynamo

import (
	"fmt"
	"slices"
	"strings"

	"routesim/cmd/routesim/internal/manifest"
	"routesim/cmd/routesim/internal/settings"
	"routesim/workloads"
)

// frontend translates the router's settings of a Frontend.
type frontend struct {
	*component
	graph  *graph
	table  *settings.Table
	report *report
	given  []settings.Given
	models bool // the policy file has profiles of models
}

// give adds a value of a setting.
func give(s *settings.Setting, text, field string, from place) settings.Given {
	return settings.Given{
		Setting: s, Text: text,
		Origin: settings.Origin{Layer: settings.FromDynamo, Where: from.String()},
		Place:  workloads.Problem{File: from.file, Line: from.line, Field: field},
	}
}

// settings returns what the Frontend's flags and variables give: a flag wins
// over the variable, as in Dynamo.
func (f *frontend) settings() ([]settings.Given, error) {
	byFlag := map[*settings.Setting]place{}
	for _, o := range options(f.component, f.report, f.command.words, f.isSwitch) {
		s, err := f.flag(&o)
		if err != nil {
			return nil, err
		}
		if s != nil {
			byFlag[s] = o.at
		}
	}
	f.variables(byFlag)
	f.defaults()
	return f.given, nil
}

// lookup finds the setting that a flag of the Frontend sets; negated tells the
// form that switches off.
func (f *frontend) lookup(name string) (s *settings.Setting, negated bool) {
	if name == "kv-cache-block-size" {
		name = "router-block-size"
	}
	if s, ok := f.table.Lookup(name); ok && (len(s.Env) > 0 || s.Support == settings.Refused) {
		return s, false
	}
	if rest, ok := strings.CutPrefix(name, "no-"); ok {
		if s, ok := f.table.Lookup(rest); ok && len(s.Env) > 0 {
			if _, is := s.Kind.(settings.Bool); is {
				return s, true
			}
		}
	}
	return nil, false
}

func (f *frontend) isSwitch(name string) bool {
	if s, _ := f.lookup(name); s != nil {
		_, is := s.Kind.(settings.Bool)
		return is
	}
	return name == resetStates || slices.Contains(AsideSwitches(), strings.TrimPrefix(name, "no-"))
}

// resetStates is a flag of earlier versions that their documentation keeps: a
// restart of the router begins with nothing.
const resetStates = "router-reset-states"

// flag takes one flag; the setting is nil if it sets none.
func (f *frontend) flag(o *option) (*settings.Setting, error) {
	s, negated := f.lookup(o.name)
	switch {
	case s == nil && (slices.Contains(AsideFlags(), o.name) || slices.Contains(AsideSwitches(), strings.TrimPrefix(o.name, "no-"))):
		f.report.leave(f.component, dashed(o.name))
		return nil, nil
	case o.name == resetStates:
		f.report.unknown(f.component, o.String(), o.at, "Dynamo 1.6.1 has it no more, and it matters at a restart of the router only")
		return nil, nil
	case s == nil:
		f.report.unknown(f.component, o.String(), o.at, "")
		return nil, nil
	case s.Support == settings.Refused && len(s.Env) == 0:
		f.report.unknown(f.component, o.String(), o.at, s.Why)
		return nil, nil
	}
	text := "true"
	if negated {
		text = "false"
	}
	if _, is := s.Kind.(settings.Bool); !is || len(o.values) > 0 {
		v, err := o.value(f.component)
		if err != nil {
			return nil, err
		}
		for _, w := range o.values[1:] {
			f.report.unknown(f.component, "the word "+show(w.text), w.at, "it follows no flag that takes a value")
		}
		text = v.text
	}
	f.give(s, text, flagField(f.component, o.name), o.at)
	return s, nil
}

// give adds a value; that of a path inside the container leads to its content.
func (f *frontend) give(s *settings.Setting, text, field string, from place) {
	g := give(s, text, field, from)
	if v, ok := s.Kind.Parse(text); ok && !v.None && s.Name == "router-policy-config" {
		g.Text, g.Fault = f.policyFile(text, field, from)
	}
	f.given = append(f.given, g)
}

// policyFile is the ConfigMap's key that a policy file's path stands for, in the
// form that --router-policy-config reads.
func (f *frontend) policyFile(file, field string, from place) (name string, fault error) {
	m, fault := f.graph.mounted(f.component, file, field, " (or give --router-policy-config)", from)
	if fault != nil {
		return file, fault
	}
	if parts, err := manifest.Parse(m.held.File, m.text); err == nil && len(parts) > 0 {
		f.models = parts[0].Get("models").Exists()
	}
	return m.held.String(), nil
}

// variables takes the variables of settings that no flag gave.
func (f *frontend) variables(byFlag map[*settings.Setting]place) {
	known := map[string]bool{}
	take := func(s *settings.Setting, names ...string) {
		name, v, ok := f.env.get(names...)
		switch {
		case !ok:
		case byFlag[s] != (place{}):
			f.report.detail("%s from %s has no effect: the flag at %s wins (%s)", name, v.at, byFlag[s], f.name)
		case !v.known:
			f.report.unknown(f.component, name, v.at, "its value comes from a secret or from the cluster")
		default:
			f.give(s, v.value, f.name+": "+name, v.at)
		}
	}
	for _, s := range f.table.All() {
		if len(s.Env) > 0 {
			take(s, s.Env...)
		}
		for _, name := range s.Env {
			known[name] = true
		}
	}
	if s, ok := f.table.Lookup("router-block-size"); ok {
		take(s, "DYN_KV_CACHE_BLOCK_SIZE")
	}
	for _, name := range f.env.names {
		if isAsideVariable(name) {
			f.report.leave(f.component, name)
		}
		if strings.HasPrefix(name, "DYN_ROUTER_") && !known[name] {
			f.report.unknown(f.component, name, f.env.vars[name].at, "no router setting has this variable")
		}
	}
}

// defaults adds the router mode that a Frontend has where nothing is said: it
// is not that of routesim.
func (f *frontend) defaults() {
	s, ok := f.table.Lookup("router-mode")
	if !ok || slices.ContainsFunc(f.given, func(g settings.Given) bool { return g.Setting == s }) {
		return
	}
	f.give(s, "round-robin", f.name, f.at)
	f.given[len(f.given)-1].Unsaid = fmt.Sprintf("Dynamo's default (%s at %s says none)", f.name, f.at)
}

// value is the text given for a setting, "" for none.
func (f *frontend) value(s *settings.Setting) string {
	for _, g := range f.given {
		if g.Setting == s {
			return g.Text
		}
	}
	return ""
}

// is reports whether a switch or choice of the Frontend has a value, by its
// canonical text.
func (f *frontend) is(name, want string) bool {
	s, ok := f.table.Lookup(name)
	if !ok {
		return false
	}
	text := f.value(s)
	if text == "" {
		text = s.Default
	}
	v, ok := s.Kind.Parse(text)
	return ok && v.Text == want
}

// isAsideVariable reports whether a variable stands for a flag of the Frontend
// that no routing decision depends on.
func isAsideVariable(name string) bool {
	rest, ok := strings.CutPrefix(name, "DYN_")
	flag := strings.ReplaceAll(strings.ToLower(rest), "_", "-")
	return ok && (slices.Contains(AsideFlags(), flag) || slices.Contains(AsideSwitches(), flag) || slices.Contains(AsideFlags(), "dyn-"+flag))
}

// AsideFlags are flags of the Frontend with a value that no routing decision
// depends on.
func AsideFlags() []string {
	return []string{"http-host", "http-port", "namespace", "namespace-prefix", "endpoint", "model-name", "model-path", "metrics-prefix",
		"tls-cert-path", "tls-key-path", "tls-client-ca-cert-path", "tcp-tls-cert-path", "tcp-tls-key-path", "tcp-tls-ca-cert-path",
		"tcp-tls-client-cert-path", "tcp-tls-client-key-path", "tcp-tls-client-ca-cert-path", "nats-tls-ca-cert-path",
		"nats-tls-client-cert-path", "nats-tls-client-key-path", "grpc-metrics-port", "dump-config-to", "discovery-backend", "request-plane",
		"response-plane", "event-plane", "dyn-chat-processor", "chat-processor", "reasoning-field-name", "dyn-preprocess-workers",
		"tokenizer", "frontend-route-extension", "migration-limit", "migration-max-seq-len", "store-kv"}
}

// AsideSwitches are switches of the Frontend that no routing decision depends
// on.
func AsideSwitches() []string {
	return []string{"interactive", "kserve-grpc-server", "enable-anthropic-api", "strip-anthropic-preamble", "enable-streaming-tool-dispatch",
		"enable-streaming-reasoning-dispatch", "exclude-tools-when-tool-choice-none", "tokenizer-fallback", "trust-remote-code", "dyn-debug-perf",
		"nats-tls-insecure"}
}
