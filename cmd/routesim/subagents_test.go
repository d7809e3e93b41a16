package main

import (
	"context"
	"encoding/json"
	"testing"
)

// TestSubAgents: parents named in a trace change the decisions of a router that
// binds sessions, and of no other.
func TestSubAgents(t *testing.T) {
	t.Chdir("../../testdata/router")
	digest := func(config, trace string) string {
		code, out, errs := command(context.Background(), nil, "replay", "--no-env", "--config", config, "--format=json", trace)
		if code != 0 {
			t.Fatalf("%s: exit code %d: %s", config, code, errs)
		}
		var s struct {
			Routesim struct {
				Digest string `json:"decision_digest"`
			}
		}
		if err := json.Unmarshal([]byte(out), &s); err != nil {
			t.Fatal(err)
		}
		return s.Routesim.Digest
	}
	for config, changes := range map[string]bool{"affinity-groups.yaml": true, "predicted.yaml": false, "base.yaml": false} {
		if plain, grouped := digest(config, "trace.jsonl"), digest(config, "subagents.jsonl"); (plain != grouped) != changes {
			t.Errorf("%s: decisions %s without parents and %s with them", config, plain, grouped)
		}
	}
}
