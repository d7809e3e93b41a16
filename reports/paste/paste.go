// Package paste writes the settings of a point as text to put into a deployment
// of Dynamo: flags of its frontend, environment variables, and Kubernetes.
package paste

import (
	"encoding/json"
	"fmt"
	"strings"

	"routesim/reports/sweepdata"
)

// The versions of the schema of a DynamoGraphDeployment.
const (
	V1Alpha1 = "v1alpha1" // services by name, variables in envs
	V1Beta1  = "v1beta1"  // a list of components with pod templates
)

// Forms are the same settings in each form, as plain ASCII unless a value is
// not. All are empty or a comment where nothing is to be set.
type Forms struct {
	Flags      string // a flag per line, to continue a shell command
	Line       string // the same in one line
	Env        string // NAME=value per line
	Kubernetes string // fragment of a DynamoGraphDeployment
	Patch      string // RFC 6902 patch in JSON, "" where no setting has a variable
}

// Of writes settings in each form. version is one of the schema's, "" for
// V1Alpha1.
func Of(flags []sweepdata.Flag, version string) (Forms, error) {
	if version == "" {
		version = V1Alpha1
	}
	if version != V1Alpha1 && version != V1Beta1 {
		return Forms{}, fmt.Errorf("crd: found %s, expected %s or %s", version, V1Alpha1, V1Beta1)
	}
	var words []string
	for i := range flags {
		words = append(words, Argument(&flags[i]))
	}
	return Forms{
		Flags:      strings.Join(words, " \\\n"),
		Line:       strings.Join(words, " "),
		Env:        environment(flags),
		Kubernetes: fragment(flags, version),
		Patch:      patch(flags, version),
	}, nil
}

// Argument writes one setting as a flag for a shell: a switch as --name or
// --no-name.
func Argument(f *sweepdata.Flag) string {
	switch {
	case f.Bool && f.Value == "true":
		return f.Name
	case f.Bool && f.Value == "false":
		return "--no-" + strings.TrimPrefix(f.Name, "--")
	}
	return f.Name + " " + quoted(f.Value)
}

// quoted protects a value from the shell where it needs it.
func quoted(value string) string {
	plain := value != "" && strings.Trim(value, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-+/:,@%=") == ""
	if plain {
		return value
	}
	return "'" + strings.ReplaceAll(value, "'", `'\''`) + "'"
}

func environment(flags []sweepdata.Flag) string {
	var lines []string
	for i := range flags {
		if flags[i].Env == "" {
			lines = append(lines, "# no variable, use the flag: "+comment(Argument(&flags[i])))
			continue
		}
		lines = append(lines, flags[i].Env+"="+quoted(flags[i].Value))
	}
	return strings.Join(lines, "\n")
}

// comment keeps a text on one line.
func comment(text string) string {
	return strings.NewReplacer("\n", " ", "\r", " ", "\u2028", " ", "\u2029", " ", "\u0085", " ").Replace(text)
}

// fragment writes the part of the manifest that sets the variables. It is no
// patch: the list of a deployment that has one already needs the new entries in
// it, not instead of it.
func fragment(flags []sweepdata.Flag, version string) string {
	if len(flags) == 0 {
		return "# the defaults: nothing to set"
	}
	var b strings.Builder
	b.WriteString("# Add to the variables of the Frontend, beside those it has.\n")
	b.WriteString("# A flag in its args wins over a variable: remove it there.\n")
	indent := "        "
	var head string
	if version == V1Alpha1 {
		head = "spec:\n  services:\n    Frontend:\n      envs:\n"
	} else {
		head = "spec:\n  components:\n    - name: Frontend\n      podTemplate:\n        spec:\n          containers:\n            - name: main\n              env:\n"
		indent = "                "
	}
	some := false
	for i := range flags {
		f := &flags[i]
		if f.Env == "" {
			b.WriteString("# No variable, add to its args: " + comment(Argument(f)) + "\n")
			continue
		}
		some = true
	}
	if !some {
		return strings.TrimRight(b.String(), "\n")
	}
	b.WriteString(head)
	for i := range flags {
		if f := &flags[i]; f.Env != "" {
			fmt.Fprintf(&b, "%s- name: %s\n%s  value: %s\n", indent, f.Env, indent, text(f.Value))
		}
	}
	return strings.TrimRight(b.String(), "\n")
}

// text writes a string as JSON does, which YAML reads as well: variables are
// texts, so numbers and switches need the quotes.
func text(value string) string {
	out, err := json.Marshal(value)
	if err != nil { // no string fails
		return `""`
	}
	return string(out)
}

// operation is one step of a patch.
type operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value"`
}

type variable struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// patch appends to the list of variables, which must exist. A merge patch would
// replace the list. Components have no names in a path, so the patch tests that
// the first one is the Frontend.
func patch(flags []sweepdata.Flag, version string) string {
	path, steps := "/spec/services/Frontend/envs/-", []operation(nil)
	if version == V1Beta1 {
		path = "/spec/components/0/podTemplate/spec/containers/0/env/-"
		steps = append(steps,
			operation{"test", "/spec/components/0/name", "Frontend"},
			operation{"test", "/spec/components/0/podTemplate/spec/containers/0/name", "main"})
	}
	some := false
	for i := range flags {
		if f := &flags[i]; f.Env != "" {
			steps = append(steps, operation{"add", path, variable{f.Env, f.Value}})
			some = true
		}
	}
	if !some {
		return ""
	}
	var lines []string
	for _, s := range steps {
		out, err := json.Marshal(s)
		if err != nil { // texts only
			return ""
		}
		lines = append(lines, "  "+string(out))
	}
	return "[\n" + strings.Join(lines, ",\n") + "\n]"
}
