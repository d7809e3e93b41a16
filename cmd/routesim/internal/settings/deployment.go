package settings

import (
	"fmt"
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
		if c, ok := r.best[s]; ok && c.given.Fault != nil {
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
	for i := range d.Given {
		g := &d.Given[i]
		line := fmt.Sprintf("%s = %s from %s", g.Setting.Name, g.Text, strings.TrimSpace(g.Origin.Where))
		if by := r.best[g.Setting].given.Origin; by != g.Origin {
			line += fmt.Sprintf(" (no effect: the %s wins)", by)
		}
		r.Listing = append(r.Listing, line)
	}
	r.Listing = append(r.Listing, d.Details...)
}
