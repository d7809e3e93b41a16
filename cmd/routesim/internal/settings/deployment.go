package settings

import (
	"fmt"
	"slices"
	"strings"
)

// Deployment is what the manifests of a Dynamo deployment say about a run.
type Deployment struct {
	Given    []Given  // each setting once
	Warnings []string // what was not understood or weakens the deployment
	Details  []string // what stands behind the given values, and what changes nothing
	// NoProfile is why no GPU profile follows from the manifests, nil if one
	// does. It is an error only where nothing else models the workers.
	NoProfile error
}

// fromDeployment returns what the manifests give.
func (r *resolution) fromDeployment(d *Deployment) ([]Given, error) {
	if d == nil {
		return nil, nil
	}
	r.Warnings = append(r.Warnings, d.Warnings...)
	r.noProfile = d.NoProfile
	return d.Given, nil
}

// faults returns the reason why a value that nothing stronger replaced cannot
// be used.
func (r *resolution) faults() ([]Given, error) {
	for _, s := range r.table.list {
		if c, ok := r.best.get(s); ok && c.given.Fault != nil {
			return nil, c.given.Fault
		}
	}
	return nil, nil
}

// list says what became of each value of the manifests.
func (r *resolution) list(d *Deployment) {
	if d == nil {
		return
	}
	yielded := r.Listing
	r.Listing = nil
	for i := range d.Given {
		g := &d.Given[i]
		line := fmt.Sprintf("%s = %s from %s", g.Setting.Name, g.Text, strings.TrimSpace(g.Origin.Where))
		if g.Unsaid != "" {
			line = fmt.Sprintf("%s = %s, %s", g.Setting.Name, g.Text, g.Unsaid)
		}
		if by := r.best.of(g.Setting).given.Origin; by != g.Origin {
			line += fmt.Sprintf(" (no effect: the %s wins)", by)
		}
		r.Listing = append(r.Listing, line)
	}
	r.Listing = append(append(r.Listing, d.Details...), yielded...)
}

// yielded notes once that a value of the manifests has no effect.
func (r *resolution) yielded(line string) {
	if !slices.Contains(r.Listing, line) {
		r.Listing = append(r.Listing, line)
	}
}

// yield lets values of a stronger source win over those that the manifests give
// to single groups of workers: a group's own value would win otherwise.
func (r *resolution) yield() ([]Given, error) {
	stronger := func(name string) (*chosen, bool) {
		s, ok := r.table.Lookup(name)
		if !ok {
			return nil, false
		}
		c, ok := r.best.get(s)
		return c, ok && c.given.Origin.Layer > FromDynamo && !c.value.None
	}
	for _, s := range r.table.list {
		c, ok := r.best.get(s)
		if _, fleet := s.Kind.(FleetKind); !ok || !fleet || c.given.Origin.Layer != FromDynamo {
			continue
		}
		groups, err := parseFleet(c.value.Text)
		if err != nil {
			continue
		}
		for i := range groups {
			g := &groups[i]
			for _, name := range []string{"profile", "timing"} {
				if by, ok := stronger(name); ok && g.Profile != "" {
					r.yielded(fmt.Sprintf("profile %s of %s has no effect: the %s wins", g.Profile, s.Name, by.given.Origin))
					g.Profile = ""
				}
			}
			g.Fields = slices.DeleteFunc(g.Fields, func(f GroupField) bool {
				by, ok := stronger(f.Name)
				if ok {
					r.yielded(fmt.Sprintf("%s %s of %s has no effect: the %s wins", f.Name, f.Text, s.Name, by.given.Origin))
				}
				return ok
			})
		}
		c.value = fleetValue(groups)
	}
	return nil, nil
}
