package sim

import (
	"slices"
	"strings"

	"routesim/workloads"
)

// handOn lets the decode stage look for a worker near the prefill worker that was
// chosen: the request requires or prefers what that says of decode workers, beside
// what it says itself (lib/llm/src/discovery/model_manager.rs of Dynamo). Of a taint
// that it prefers already the weights are added; what it requires it does not prefer.
// Where a place for the answer was looked for before, it is too late.
func (d *disagg) handOn(h *handoff) {
	t := &d.prefill.groups[d.prefill.extra[h.source].group].Transfer
	req := &h.q.req
	switch {
	case t.Taint == "" || h.booked:
	case t.Weight == nil:
		req.Required = append(slices.Clip(req.Required), t.Taint)
		req.Preferred = slices.DeleteFunc(slices.Clone(req.Preferred), func(p workloads.PreferredTaint) bool { return p.Name == t.Taint })
	case !slices.Contains(req.Required, t.Taint):
		req.Preferred = prefer(req.Preferred, workloads.PreferredTaint{Name: t.Taint, Weight: *t.Weight})
	}
}

// prefer returns a list of preferred taints, sorted by name, with one more.
func prefer(list []workloads.PreferredTaint, more workloads.PreferredTaint) []workloads.PreferredTaint {
	list = slices.Clone(list)
	i, there := slices.BinarySearchFunc(list, more.Name, func(p workloads.PreferredTaint, name string) int { return strings.Compare(p.Name, name) })
	if there {
		list[i].Weight += more.Weight
		return list
	}
	return slices.Insert(list, i, more)
}
