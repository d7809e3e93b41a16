package policy

import (
	"fmt"
	"strings"
)

// Default is the name that stands for the built-in cost function as the
// router's settings have it.
const Default = "default"

// Type is a policy that can be named in a policy file.
type Type struct {
	Name string
	Help string // one line
	// New builds the policy from its parameters.
	New func(*Parameters) *Policy
}

// Types lists every linked policy. A policy of one's own is a line here and a
// file beside it.
func Types() []Type {
	return []Type{
		{"dynamo-default-cost-fn", "Dynamo's default cost function with weights of its own", newDefault},
		{"dynamo-two-tier-cost-fn", "Dynamo's choice between balance and cache by thresholds", newTwoTier},
		{"thunderagent", "ThunderAgent's choice: session's worker, else least tokens", newThunderAgent},
		{"multiplicative", "uncached tokens times batch size", newMultiplicative},
		{"prefix-affinity", "most cached prefix among workers that are not overloaded", newPrefixAffinity},
		{"clairvoyant", "knows the real caches, queues and answer lengths", newClairvoyant},
	}
}

// New builds a policy of a linked type.
func New(name string, parameters map[string]any) (*Policy, error) {
	var names []string
	for _, t := range Types() {
		if t.Name == name {
			p := NewParameters(name, parameters)
			pol := t.New(p)
			pol.Name = name
			return pol, p.Finish()
		}
		names = append(names, t.Name)
	}
	return nil, fmt.Errorf("type: found %s, expected one of the linked types %s", name, strings.Join(names, ", "))
}
