package page

import "strings"

// block holds a point's flags in the forms to paste.
func (m *model) block(p int) block {
	b := block{Point: p}
	var flags, env, k8s []string
	for _, f := range m.s.Points[p].Flags {
		flags = append(flags, f.Name+" "+f.Value)
		env = append(env, f.Env+"="+f.Value)
		k8s = append(k8s, "- {name: "+f.Env+", value: \""+f.Value+"\"}")
	}
	b.Flags, b.Env, b.Kubernetes = strings.Join(flags, " \\\n"), strings.Join(env, "\n"), strings.Join(k8s, "\n")
	return b
}
