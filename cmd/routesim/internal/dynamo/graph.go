package dynamo

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"routesim/cmd/routesim/internal/manifest"
	"routesim/workloads"
)

// place is a line of a manifest.
type place struct {
	file string
	line int // 1-based
}

// String is file:line.
func (p place) String() string { return fmt.Sprintf("%s:%d", p.file, p.line) }

// problem says what is wrong at the place.
func (p place) problem(field, found, want string) error {
	return &workloads.Problem{File: p.file, Line: p.line, Field: field, Found: found, Want: want}
}

func at(n manifest.Node) place { return place{n.File, n.Line()} }

// component is one service of a deployment, in the same form for both versions
// of the resource.
type component struct {
	name       string
	field      string // path in the manifest, for errors
	at         place
	kind       string // frontend, worker, prefill, decode, planner, epp, ... or "" where it is not said
	replicas   int
	replicasAt place
	container  manifest.Node // the main one
	pod        manifest.Node // its pod's specification
	metadata   []manifest.Node
	env        *environment
	command    *command
}

// The resource and its versions.
const (
	graphKind = "DynamoGraphDeployment"
	apiGroup  = "nvidia.com/"
)

// graph is a deployment.
type graph struct {
	object     *manifest.Object
	objects    []manifest.Object // all documents, for what it refers to
	framework  string            // the backend that it names, "" for none
	components []*component
	report     *report
}

// choose returns the deployment of a name, or the only one.
func choose(path string, objects []manifest.Object, name string) (*manifest.Object, error) {
	var found []*manifest.Object
	var names []string
	for i := range objects {
		o := &objects[i]
		if o.Kind != graphKind || !strings.HasPrefix(o.APIVersion, apiGroup) {
			continue
		}
		full := o.Name
		if o.Namespace != "" {
			full = o.Namespace + "/" + o.Name
		}
		names = append(names, fmt.Sprintf("%s (%s)", full, o.Place()))
		if name == "" || name == o.Name || name == full {
			found = append(found, o)
		}
	}
	const flag = "--dynamo-deployment"
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(names) == 0:
		return nil, noGraph(path, objects)
	case len(found) == 0:
		return nil, fmt.Errorf("%s: found %s, expected one of %s", flag, name, strings.Join(names, ", "))
	}
	return nil, &workloads.Problem{File: path, Found: fmt.Sprintf("%d deployments, %s", len(names), strings.Join(names, " and ")),
		Want: "one (choose it with " + flag + " NAME)"}
}

// noGraph is the error for documents without a deployment.
func noGraph(path string, objects []manifest.Object) error {
	const most = 6
	var kinds []string
	for i := range objects {
		if o := &objects[i]; o.Kind == graphKind+"Request" {
			return o.Get("kind").Problem("kind", "a "+o.Kind+", from which the operator has yet to make a deployment", "a "+graphKind+" (kubectl get dgd NAME -o yaml)")
		}
		if o := &objects[i]; o.Kind == graphKind && o.APIVersion == "" {
			return o.Problem("apiVersion", "no apiVersion beside kind "+graphKind, apiGroup+"v1alpha1 or "+apiGroup+"v1beta1")
		} else if o.Kind == graphKind {
			return o.Get("apiVersion").Problem("apiVersion", o.APIVersion, apiGroup+"v1alpha1 or "+apiGroup+"v1beta1")
		}
		if k := objects[i].String(); len(kinds) < most && !slices.Contains(kinds, k) {
			kinds = append(kinds, k)
		}
	}
	if len(kinds) == 0 {
		kinds = []string{"no document"}
	}
	return &workloads.Problem{File: path, Field: "kind", Found: strings.Join(kinds, ", "), Want: "a " + graphKind}
}

// readGraph reads the components of a deployment.
func readGraph(o *manifest.Object, objects []manifest.Object, r *report) (*graph, error) {
	switch v := strings.TrimPrefix(o.APIVersion, apiGroup); v {
	case "v1alpha1", "v1beta1":
	default:
		return nil, o.Get("apiVersion").Problem("apiVersion", o.APIVersion, apiGroup+"v1alpha1 or "+apiGroup+"v1beta1")
	}
	g := &graph{object: o, objects: objects, report: r}
	spec := o.Get("spec")
	if _, ok := spec.Entries(); !ok || !spec.Exists() {
		return nil, orObject(spec, o).Problem("spec", spec.Kind(), "a mapping with services or components")
	}
	g.framework, _ = spec.Get("backendFramework").Text()
	services, list := spec.Get("services"), spec.Get("components")
	switch {
	case services.Exists() && list.Exists():
		return nil, list.Problem("spec", "both services and components", "services (v1alpha1) or components (v1beta1)")
	case services.Exists():
		return g, g.readServices(services)
	case list.Exists():
		return g, g.readComponents(list)
	}
	return nil, orObject(spec, o).Problem("spec", "neither services nor components", "services (v1alpha1) or components (v1beta1)")
}

// orObject is the place of a value, or of the object where it is absent.
func orObject(n manifest.Node, o *manifest.Object) manifest.Node {
	if n.Line() == 0 {
		return o.Node
	}
	return n
}

// readServices reads the components of version v1alpha1.
func (g *graph) readServices(services manifest.Node) error {
	entries, ok := services.Entries()
	if !ok {
		return services.Problem("spec.services", services.Kind(), "a mapping from names to services")
	}
	for _, e := range entries {
		c := &component{name: e.Key, field: "spec.services." + e.Key, at: place{services.File, e.Line}}
		kind, _ := e.Value.Get("componentType").Text()
		if sub, _ := e.Value.Get("subComponentType").Text(); (kind == "worker" || kind == "main" || kind == "") && sub != "" {
			kind = sub
		}
		extra := e.Value.Get("extraPodSpec")
		c.pod, c.container = extra, extra.Get("mainContainer")
		c.metadata = []manifest.Node{e.Value.Get("annotations"), e.Value.Get("labels"),
			e.Value.Get("extraPodMetadata", "annotations"), e.Value.Get("extraPodMetadata", "labels")}
		if err := g.add(c, kind, e.Value); err != nil {
			return err
		}
	}
	return nil
}

// readComponents reads the components of version v1beta1.
func (g *graph) readComponents(list manifest.Node) error {
	items, ok := list.Items()
	if !ok {
		return list.Problem("spec.components", list.Kind(), "a list of components")
	}
	for i, item := range items {
		field := fmt.Sprintf("spec.components[%d]", i)
		name, ok := item.Get("name").Text()
		if !ok {
			return item.Problem(field+".name", item.Get("name").Kind(), "the component's name")
		}
		c := &component{name: name, field: field, at: at(item)}
		for _, old := range g.components {
			if old.name == name {
				return item.Problem(field+".name", fmt.Sprintf("%s, which %s has too", name, old.at), "each name once")
			}
		}
		kind, _ := item.Get("type").Text()
		c.pod = item.Get("podTemplate", "spec")
		containers, ok := c.pod.Get("containers").Items()
		if !ok {
			return c.pod.Get("containers").Problem(field+".podTemplate.spec.containers", c.pod.Get("containers").Kind(), "a list of containers")
		}
		for _, k := range containers {
			if n, _ := k.Get("name").Text(); n == "main" {
				c.container = k
			}
		}
		meta := item.Get("podTemplate", "metadata")
		c.metadata = []manifest.Node{meta.Get("annotations"), meta.Get("labels")}
		if err := g.add(c, kind, item); err != nil {
			return err
		}
	}
	return nil
}

// add completes a component from its value in the manifest.
func (g *graph) add(c *component, kind string, v manifest.Node) error {
	if _, ok := v.Entries(); !ok {
		return v.Problem(c.field, v.Kind(), "a mapping")
	}
	c.kind = strings.ToLower(kind)
	if c.kind == "epp" || v.Get("eppConfig").Exists() {
		return c.at.problem(c.field, "the component "+c.name+" of type epp: a Gateway topology, in which the endpoint picker (EPP) routes",
			"a Frontend that routes (the EPP links no policy catalogue; describe its routing with the settings of routesim instead)")
	}
	c.replicas, c.replicasAt = 1, c.at
	if n := v.Get("replicas"); n.Exists() {
		text, _ := n.Text()
		count, err := strconv.ParseUint(text, 10, 16)
		if err != nil {
			return n.Problem(c.field+".replicas", found(n), "a whole number from 0 to 65535")
		}
		c.replicas, c.replicasAt = int(count), at(n)
	}
	g.report.keys(c, v)
	var err error
	if c.env, err = g.environment(c, v); err != nil {
		return err
	}
	c.command, err = c.readCommand(g.report)
	g.components = append(g.components, c)
	return err
}

// found shows a value in an error.
func found(n manifest.Node) string {
	if text, ok := n.Text(); ok {
		return show(text)
	}
	return n.Kind()
}

// show quotes a text that would be hard to read in a sentence, and cuts a long
// one.
func show(text string) string {
	const most = 80
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "..."
	}
	if quoted := strconv.Quote(text); text == "" || strings.ContainsAny(text, " ,:") || len(quoted) != len(text)+2 {
		return quoted
	}
	return text
}

// gateway refuses documents in which no Frontend routes but a Gateway does.
func (g *graph) gateway(frontends int) error {
	for i := range g.objects {
		o := &g.objects[i]
		if frontends == 0 && (o.Kind == "InferencePool" || o.Kind == "EndpointPickerConfig") {
			return o.Get("kind").Problem("kind", "an "+o.String()+" and no Frontend: a Gateway topology, in which the endpoint picker (EPP) routes",
				"a Frontend that routes (the EPP links no policy catalogue; describe its routing with the settings of routesim instead)")
		}
	}
	return nil
}
