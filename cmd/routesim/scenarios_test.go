package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// checkExplained saves the run of a scenario and has its worst decision explained.
func checkExplained(t *testing.T, file, trace string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "run")
	if code, _, errs := command(context.Background(), nil, "replay", "--no-env", "-q", "--config", file, "-o", dir, trace); code != 0 {
		t.Errorf("%s: exit code %d: %s", file, code, errs)
		return
	}
	code, out, errs := command(context.Background(), nil, "explain", dir, "--worst", "1", "--trace", trace, "-q")
	if code != 0 || !strings.Contains(out, "\ndecided by ") || !strings.Contains(out, "  <-\n") {
		t.Errorf("%s: explain gives exit code %d, %s%s", file, code, errs, out)
	}
}

// TestRouterScenarios runs every scenario of testdata/router as a user would:
// each decides otherwise than the base, or than the pools of the base, says so if its router is live, and
// stands on the folder's page with its grade.
func TestRouterScenarios(t *testing.T) {
	if testing.Short() {
		t.Skip("in short mode: runs every scenario one by one")
	}
	t.Chdir(filepath.Join(root, "testdata", "router"))
	page, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	base := map[bool]string{} // digest of the base, and of that with pools
	n := 0
	for _, file := range append([]string{"base.yaml", "pools.yaml"}, files...) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		pools := strings.Contains(string(text), "\nprefill-workers: ")
		if file == "policies.yaml" || file == "classes.yaml" || file == "agents.yaml" || base[pools] != "" && (file == "base.yaml" || file == "pools.yaml") {
			continue
		}
		trace := "trace.jsonl"
		for _, line := range strings.Split(string(page), "\n") {
			if strings.HasPrefix(line, "| `"+file+"` |") {
				n++
				for _, other := range []string{"routes.jsonl", "taints.jsonl", "subagents.jsonl"} {
					if strings.Contains(line, other) {
						trace = other
					}
				}
			}
		}
		code, out, errs := command(context.Background(), nil, "replay", "--no-env", "--config", file, "--format=json", trace)
		if code != 0 {
			t.Errorf("%s: exit code %d: %s", file, code, errs)
			continue
		}
		var s struct {
			Completed int `json:"completed_requests"`
			Routesim  struct {
				Digest    string `json:"decision_digest"`
				Semantics string `json:"router_semantics"`
			}
		}
		if err := json.Unmarshal([]byte(out), &s); err != nil {
			t.Fatal(err)
		}
		if base[pools] == "" {
			base[pools] = s.Routesim.Digest
		} else if s.Routesim.Digest == base[pools] {
			t.Errorf("%s: the same decisions as without it", file)
		}
		if s.Completed == 0 {
			t.Errorf("%s: nothing completed", file)
		}
		_, table, _ := command(context.Background(), nil, "replay", "--no-env", "--config", file, trace)
		if live := strings.HasPrefix(table, "router semantics: live, "); live != (s.Routesim.Semantics != "") {
			t.Errorf("%s: the first line of the output is %q, semantics %q", file, strings.SplitN(table, "\n", 2)[0], s.Routesim.Semantics)
		}
		checkExplained(t, file, trace)
	}
	if n < 25 || n != len(files)-3 {
		t.Errorf("%d of %d scenarios stand on the page", n, len(files)-3)
	}
}
