package dynamo

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"routesim/cmd/routesim/internal/manifest"
	"routesim/workloads"
)

// report collects what is to be said about the manifests.
type report struct {
	warnings []string
	details  []string
	aside    []aside // by component, in the order met
}

// aside lists what a component has that no replay depends on.
type aside struct {
	component string
	names     []string
}

// unknown notes something that was not understood, once.
func (r *report) unknown(c *component, what string, at place, why string) {
	text := fmt.Sprintf("not understood: %s from %s (%s)", what, at, c.name)
	if why != "" {
		text += ": " + why
	}
	r.warn(text)
}

// warn adds a warning, once.
func (r *report) warn(text string) {
	if text = plain("from-dynamo: " + text); !slices.Contains(r.warnings, text) {
		r.warnings = append(r.warnings, text)
	}
}

// detail adds a line to the listing.
func (r *report) detail(format string, args ...any) {
	if text := plain(fmt.Sprintf(format, args...)); !slices.Contains(r.details, text) {
		r.details = append(r.details, text)
	}
}

// leave notes something that changes nothing in a replay.
func (r *report) leave(c *component, what string) {
	i := slices.IndexFunc(r.aside, func(a aside) bool { return a.component == c.name })
	if i < 0 {
		i = len(r.aside)
		r.aside = append(r.aside, aside{component: c.name})
	}
	if !slices.Contains(r.aside[i].names, what) {
		r.aside[i].names = append(r.aside[i].names, what)
	}
}

// finish turns what was left aside into lines of the listing.
func (r *report) finish() {
	for _, a := range r.aside {
		r.detail("no effect on a replay: %s (%s)", strings.Join(a.names, ", "), a.component)
	}
}

// keys notes the keys of a component that are not looked at: those that say
// how its pods run change nothing, and those that change the number of workers
// or their traffic are not understood.
func (r *report) keys(c *component, v manifest.Node) {
	entries, _ := v.Entries()
	for _, e := range entries {
		where := place{v.File, e.Line}
		switch {
		case slices.Contains(usedKeys(), e.Key):
		case e.Key == "autoscaling" || e.Key == "scalingAdapter":
			r.unknown(c, e.Key, where, "the number of workers is constant in a replay")
		case e.Key == "multinode":
			r.detail("multinode of %s from %s: a worker counts as one, whatever nodes it spans", c.name, where)
		case slices.Contains(asideKeys(), e.Key):
			r.leave(c, e.Key)
		default:
			r.unknown(c, e.Key, where, "")
		}
	}
}

// usedKeys are the keys of a component that are read elsewhere.
func usedKeys() []string {
	return []string{"name", "type", "componentType", "subComponentType", "replicas", "envs", "env",
		"extraPodSpec", "podTemplate", "annotations", "labels", "extraPodMetadata"}
}

// asideKeys are the keys of a component that say how its pods run.
func asideKeys() []string {
	return []string{"serviceName", "dynamoNamespace", "globalDynamoNamespace", "resources", "envFromSecret", "volumeMounts", "ingress",
		"modelRef", "sharedMemory", "sharedMemorySize", "livenessProbe", "readinessProbe", "startupProbe", "frontendSidecar",
		"compilationCache", "checkpoint", "topologyConstraint", "experimental", "gpuMemoryService", "failover", "dynamoComponent", "dynamoTag"}
}

// plain keeps a sentence on one line of a terminal: what cannot be printed is
// written as its escape.
func plain(text string) string {
	if !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if unicode.IsPrint(r) {
			b.WriteRune(r)
		} else {
			escaped := strconv.QuoteRune(r)
			b.WriteString(escaped[1 : len(escaped)-1])
		}
	}
	return b.String()
}

// tidy keeps an error on one line.
func tidy(err error) error {
	var p *workloads.Problem
	if errors.As(err, &p) {
		p.Field, p.Found, p.Want = plain(p.Field), plain(p.Found), plain(p.Want)
		return p
	}
	if err != nil && plain(err.Error()) != err.Error() {
		return errors.New(plain(err.Error()))
	}
	return err
}
