// Package dynamo reads the Kubernetes manifests of a Dynamo deployment (kind
// DynamoGraphDeployment) and translates them into settings of a run: the flags
// and variables of the Frontend, and the workers with the flags of their
// engines.
package dynamo

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"routesim/cmd/routesim/internal/manifest"
	"routesim/cmd/routesim/internal/settings"
	"routesim/workloads"
)

// Read reads the manifests of a file, or of all .yaml and .yml files of a
// folder together, and translates the deployment of the given name, or the
// only one. The result holds each setting with the place it comes from.
func Read(table *settings.Table, path, name string) (*settings.Deployment, error) {
	objects, err := manifest.Load(path)
	var p *workloads.Problem
	if err != nil && !errors.As(err, &p) {
		return nil, manifest.Unreadable("--from-dynamo", path, err, "a YAML file of Kubernetes manifests, or a folder of them")
	}
	if err != nil {
		return nil, err
	}
	return Translate(table, path, objects, name)
}

// Translate translates a deployment among objects that have been read.
func Translate(table *settings.Table, path string, objects []manifest.Object, name string) (*settings.Deployment, error) {
	d, err := translate(table, path, objects, name)
	if err != nil {
		return nil, tidy(err)
	}
	d.NoProfile = tidy(d.NoProfile)
	for i := range d.Given {
		d.Given[i].Fault = tidy(d.Given[i].Fault)
	}
	return d, nil
}

func translate(table *settings.Table, path string, objects []manifest.Object, name string) (*settings.Deployment, error) {
	if err := manifest.Unique(objects); err != nil {
		return nil, err
	}
	o, err := choose(path, objects, name)
	if err != nil {
		return nil, err
	}
	r := &report{}
	g, err := readGraph(o, objects, r)
	if err != nil {
		return nil, err
	}
	t := &translation{graph: g, table: table, report: r}
	if err := t.sort(); err != nil {
		return nil, err
	}
	if err := t.router(); err != nil {
		return nil, err
	}
	t.blind()
	if err := t.fleet(); err != nil {
		return nil, err
	}
	r.finish()
	t.others()
	return &settings.Deployment{Given: t.given, Warnings: r.warnings, Details: r.details, NoProfile: t.noProfile}, nil
}

// translation is a deployment on its way to settings.
type translation struct {
	graph     *graph
	table     *settings.Table
	report    *report
	frontend  *frontend // nil if there is none
	workers   []*worker
	given     []settings.Given
	noProfile error
}

// sort tells frontends, workers and everything else apart.
func (t *translation) sort() error {
	frontends := 0
	for _, c := range t.graph.components {
		module := t.module(c)
		switch {
		case c.kind == "frontend" || c.kind == "" && module == "dynamo.frontend":
			if frontends++; frontends > 1 {
				return c.at.problem(c.field, "a second frontend, "+c.name+" (the first is "+t.frontend.name+" at "+t.frontend.at.String()+")", "one")
			}
			t.frontend = &frontend{component: c, graph: t.graph, table: t.table, report: t.report}
		case engines()[module] != nil:
			w, err := readWorker(c, engines()[module], t.graph, t.table)
			if err != nil {
				return err
			}
			t.place(w)
		case c.kind == "worker" || c.kind == "prefill" || c.kind == "decode":
			return c.at.problem(c.field, "workers of "+c.name+" that run "+or(module, "no module"), "python3 -m "+strings.Join(sortedKeys(engines()), ", "))
		default:
			t.report.unknown(c, "the component "+c.name+" of type "+or(c.kind, "none"), c.at, "no part of a replay")
		}
	}
	if err := t.graph.gateway(frontends); err != nil {
		return err
	}
	if frontends == 0 {
		t.report.warn("not understood: " + t.graph.object.String() + " from " + t.graph.object.Place() + " has no Frontend: the router's settings are those of routesim")
	}
	if len(t.workers) == 0 {
		return t.graph.object.Get("spec").Problem("spec", "no worker with replicas", "a component that runs an engine")
	}
	return nil
}

// place keeps a worker that serves requests.
func (t *translation) place(w *worker) {
	switch {
	case w.role == "encode":
		t.report.unknown(w.component, "the encode workers "+w.name, w.at, "no part of a replay")
	case w.replicas == 0:
		t.report.detail("%s has no replicas (%s)", w.name, w.replicasAt)
	default:
		t.workers = append(t.workers, w)
	}
}

// module is the module that a component runs: the one it names, or for a worker
// that names none the one of the deployment's backend.
func (t *translation) module(c *component) string {
	if c.command.module == "" && c.kind != "frontend" && c.kind != "planner" && t.graph.framework != "" {
		return "dynamo." + t.graph.framework
	}
	return c.command.module
}

func or(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

// router takes the settings of the Frontend.
func (t *translation) router() error {
	if t.frontend == nil {
		return nil
	}
	given, err := t.frontend.settings()
	if err != nil {
		return err
	}
	t.given = given
	if n := t.frontend.replicas; n > 1 {
		t.frontends(n)
	}
	return nil
}

// frontends takes the number of Frontends, each with a router of its own.
func (t *translation) frontends(n int) {
	if s := setting(t.table, "frontends"); s != nil {
		t.given = append(t.given, give(s, fmt.Sprint(n), t.frontend.name+": replicas", t.frontend.replicasAt))
		return
	}
	t.report.unknown(t.frontend.component, fmt.Sprintf("%d Frontends", n), t.frontend.replicasAt, "one router routes all requests")
}

// blind warns of workers whose caches the router of a kv frontend does not see.
// Of disaggregated pools only the prefill workers matter: decode workers are
// chosen by load.
func (t *translation) blind() {
	f := t.frontend
	if f == nil || !f.is("router-mode", "kv") && !f.is("load-aware", "true") || !f.is("router-kv-events", "true") {
		return
	}
	pools := slices.ContainsFunc(t.workers, func(w *worker) bool { return w.role == "prefill" })
	for _, w := range t.workers {
		if w.publishes() || pools && w.role != "prefill" {
			continue
		}
		why := "no KV events are configured"
		switch {
		case !w.caches():
			why = "prefix caching is off"
		case w.events.exists():
			why = w.events.flag + " at " + w.events.at.String() + " does not enable them"
		}
		t.report.warn(fmt.Sprintf("the workers %s publish no KV events (%s): the kv router of %s is blind to their caches and goes by load only", w, why, f.name))
		if setting(t.table, silent) != nil {
			from := w.at
			if w.events.exists() {
				from = w.events.at
			}
			w.take(silent, fact{"false", w.events.flag, from})
		}
	}
}

// silent is the setting of workers that publish no KV events, in snake case.
const silent = "worker_kv_events"

// others notes the documents that are neither the deployment nor anything it
// refers to.
func (t *translation) others() {
	var names []string
	for i := range t.graph.objects {
		o := &t.graph.objects[i]
		if o.Place() != t.graph.object.Place() && o.Kind != "ConfigMap" {
			names = append(names, o.String()+" ("+o.Place()+")")
		}
	}
	if len(names) > 0 {
		t.report.detail("left aside: %s", strings.Join(names, ", "))
	}
}
