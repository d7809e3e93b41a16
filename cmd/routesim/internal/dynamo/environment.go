package dynamo

import (
	"strings"

	"routesim/cmd/routesim/internal/manifest"
)

// variable is an environment variable of a container.
type variable struct {
	value string
	known bool // false: it comes from a secret or from the cluster
	at    place
}

// environment holds the variables of a container in the order in which they
// first appear.
type environment struct {
	names []string
	vars  map[string]variable
}

func (e *environment) set(name string, v variable) {
	if _, ok := e.vars[name]; !ok {
		e.names = append(e.names, name)
	}
	e.vars[name] = v
}

// get returns the first of several variables that is there.
func (e *environment) get(names ...string) (name string, v variable, ok bool) {
	for _, name := range names {
		if v, ok := e.vars[name]; ok {
			return name, v, true
		}
	}
	return "", variable{}, false
}

// environment collects the variables of a component's container, from the
// weakest source to the strongest: ConfigMaps, the deployment, the component,
// the container.
func (g *graph) environment(c *component, v manifest.Node) (*environment, error) {
	e := &environment{vars: map[string]variable{}}
	from, ok := c.container.Get("envFrom").Items()
	if !ok {
		return nil, c.container.Get("envFrom").Problem(c.field+".envFrom", c.container.Get("envFrom").Kind(), "a list")
	}
	for _, f := range from {
		g.fromMap(e, f)
	}
	spec := g.object.Get("spec")
	for _, list := range []struct {
		field string
		node  manifest.Node
	}{
		{"spec.envs", spec.Get("envs")}, {"spec.env", spec.Get("env")},
		{c.field + ".envs", v.Get("envs")}, {c.field + ".env", v.Get("env")},
		{c.field + ": env of the main container", c.container.Get("env")},
	} {
		if err := g.addVariables(e, list.field, list.node); err != nil {
			return nil, err
		}
	}
	return e, nil
}

// fromMap adds the keys of a ConfigMap.
func (g *graph) fromMap(e *environment, from manifest.Node) {
	name, _ := from.Get("configMapRef", "name").Text()
	prefix, _ := from.Get("prefix").Text()
	o := manifest.FindConfigMap(g.objects, g.object.Namespace, name)
	if name == "" || o == nil {
		return
	}
	for _, key := range o.Keys() {
		n := o.Get("data", key)
		text, ok := n.Text()
		e.set(prefix+key, variable{text, ok, at(n)})
	}
}

func (g *graph) addVariables(e *environment, field string, list manifest.Node) error {
	items, ok := list.Items()
	if !ok {
		return list.Problem(field, list.Kind(), "a list of name and value")
	}
	for _, item := range items {
		name, ok := item.Get("name").Text()
		if !ok || name == "" {
			return item.Problem(field, item.Get("name").Kind()+" as a name", "the name of a variable")
		}
		v := variable{known: true, at: at(item)}
		value, from := item.Get("value"), item.Get("valueFrom")
		switch {
		case value.Exists():
			if v.value, ok = value.Text(); !ok {
				return value.Problem(field+"."+name, value.Kind(), "a text")
			}
			v.value, v.at = e.expand(v.value), at(value)
			v.known = len(v.value) <= maxValue
		case from.Exists():
			v = g.referred(from, v)
		}
		e.set(name, v)
	}
	return nil
}

// referred looks up a variable that a ConfigMap holds.
func (g *graph) referred(from manifest.Node, v variable) variable {
	name, _ := from.Get("configMapKeyRef", "name").Text()
	key, _ := from.Get("configMapKeyRef", "key").Text()
	v.known = false
	if o := manifest.FindConfigMap(g.objects, g.object.Namespace, name); o != nil && name != "" {
		n := o.Get("data", key)
		if text, ok := n.Text(); ok {
			v = variable{text, true, at(n)}
		}
	}
	return v
}

// expand replaces $(NAME) by the variable's value, as Kubernetes does: a name
// that is not known stays, and $$ is a dollar sign that begins no name.
func (e *environment) expand(text string) string {
	var b strings.Builder
	for {
		i := strings.IndexByte(text, '$')
		if i < 0 || i+1 == len(text) {
			b.WriteString(text)
			return b.String()
		}
		b.WriteString(text[:i])
		rest := text[i+1:]
		switch rest[0] {
		case '$':
			b.WriteByte('$')
			text = rest[1:]
			continue
		case '(':
			if end := strings.IndexByte(rest, ')'); end > 0 {
				if v, ok := e.vars[rest[1:end]]; ok && v.known {
					b.WriteString(v.value)
				} else {
					b.WriteString("$" + rest[:end+1])
				}
				text = rest[end+1:]
				continue
			}
		}
		b.WriteByte('$')
		text = rest
	}
}
