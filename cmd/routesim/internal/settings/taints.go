package settings

import (
	"fmt"
	"strings"

	"routesim/workloads"
)

// validTaints says what is wrong with a list of taints. What may be a name is the
// same in a trace.
func validTaints(text string) error {
	for i, name := range strings.Split(text, "+") {
		if !workloads.ValidTaint(name) {
			return &partError{fmt.Sprintf("taint %d", i+1), show(name), workloads.WantTaint}
		}
	}
	return nil
}

// taintList returns the taints of a text, nil for none.
func taintList(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, "+")
}

// liveFields returns a setting of one of a fleet's groups that only a live
// router looks at, "" where there is none.
func (s *Setting) liveFields(v Value) string {
	if _, fleet := s.Kind.(FleetKind); !fleet || !strings.Contains(v.Text, "@") {
		return ""
	}
	groups, _ := parseFleet(v.Text)
	known := groupSettings()
	for _, g := range groups {
		for _, f := range g.Fields {
			if field := known[f.Name]; field.LiveOnly && f.Text != field.Default {
				return f.Name
			}
		}
	}
	return ""
}

// liveGroups settles the semantics of a run whose groups of workers have
// settings of their own that only a live router looks at, like those of the run.
func (r *resolution) liveGroups(semantics *Setting, given bool) error {
	for _, t := range r.table.list {
		c, ok := r.best.get(t)
		if !ok {
			continue
		}
		field := t.liveFields(c.value)
		switch l := c.given.Origin.Layer; {
		case field == "":
		case !given:
			r.goLive(semantics, fmt.Sprintf("%s in %s (%s)", field, t.Name, c.given.Origin))
			return nil
		case l == FromFlag || l == FromDict:
			return c.given.problem(show(c.given.Text), fmt.Sprintf("workers without %s under router-semantics replay: %s", field, whyLive))
		default:
			own := c.given
			own.Text = field
			r.pass(&own, whyLive)
		}
	}
	return nil
}
