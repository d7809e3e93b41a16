package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"routesim/cmd/routesim/internal/settings"
	"routesim/reports/gate"
)

// TestShippedBaseline keeps the baseline of the suite on routesim itself small
// and complete, so that its differences can be read.
func TestShippedBaseline(t *testing.T) {
	const dir = root + "/testdata/gate/"
	text, err := os.ReadFile(dir + "gate.yaml")
	if err != nil {
		t.Fatal(err)
	}
	s, err := gate.ParseSuite("gate.yaml", text)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := newGateRuns(settings.NewTable(), s, 0); err != nil {
		t.Error(err)
	}
	base, missing, err := readBaseline(dir + s.Baseline)
	if err != nil || base == nil {
		t.Fatalf("%v %s", err, missing)
	}
	if len(s.Scenarios) != 6 || len(base.Outcomes) != 6 {
		t.Errorf("%d scenarios and %d in the baseline, expected 6", len(s.Scenarios), len(base.Outcomes))
	}
	for i := range base.Outcomes {
		if base.Outcomes[i].Name != s.Scenarios[i].Name || len(base.Outcomes[i].Runs) != len(s.Scenarios[i].Seeds) {
			t.Errorf("scenario %s of the baseline is not that of the suite; run --update", base.Outcomes[i].Name)
		}
	}
	decisions, err := os.ReadFile(decisionsPath(dir + s.Baseline))
	if err != nil {
		t.Fatal(err)
	}
	if err := base.ReadDecisions(decisions); err != nil {
		t.Error(err)
	}
	info, err := os.Stat(dir + s.Baseline)
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() > 30_000 || len(decisions) > 1_000_000 {
		t.Errorf("the baseline has %d bytes and its decisions %d, expected at most 30,000 and 1,000,000", info.Size(), len(decisions))
	}
}

// TestWorkflowsFit reads the ready workflow files and checks that the gate has
// the flags they use.
func TestWorkflowsFit(t *testing.T) {
	files, err := filepath.Glob(root + "/testdata/deploy/gate/*.yaml")
	if err != nil || len(files) != 2 {
		t.Fatalf("%v, %v, expected two workflow files", files, err)
	}
	flags := newGate(system{}).Flags()
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var document map[string]any
		if err := yaml.Unmarshal(text, &document); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		commands := regexp.MustCompile(`"\$ROUTESIM" gate ([^\n']*)`).FindAllStringSubmatch(string(text), -1)
		if len(commands) == 0 {
			t.Errorf("%s does not run the gate", name)
		}
		for _, c := range commands {
			for _, flag := range regexp.MustCompile(`(?:^| )(--?[a-z-]+)`).FindAllStringSubmatch(c[1], -1) {
				known := flags.Lookup(strings.TrimPrefix(flag[1], "--")) != nil
				if len(flag[1]) == 2 {
					known = flags.ShorthandLookup(flag[1][1:]) != nil
				}
				if !known {
					t.Errorf("%s: the gate has no flag %s", name, flag[1])
				}
			}
		}
	}
}

// TestRebased makes paths of settings relative to the suite and leaves the rest
// alone.
func TestRebased(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"profile", "h100/x", "h100/x"},
		{"profile", "my.yaml", "sub/my.yaml"},
		{"profile", "/abs/my.yaml", "/abs/my.yaml"},
		{"timing", "table:t.npz", "table:sub/t.npz"},
		{"timing", "fixed:1,2", "fixed:1,2"},
		{"router-policy-config", "p.yaml", "sub/p.yaml"},
		{"router-policy-config", "none", "none"},
		{"workers", "8", "8"},
		{"workers", "6xh100/x,2xmy.yaml@max_num_seqs=64", "6xh100/x,2xsub/my.yaml@max_num_seqs=64"},
		{"workers", "2xmy.yml", "2xsub/my.yml"},
		{"router-temperature", "0.5", "0.5"},
	} {
		if got := filepath.ToSlash(rebased("sub/gate.yaml", c.name, c.text)); got != c.want {
			t.Errorf("%s %s: %s, expected %s", c.name, c.text, got, c.want)
		}
	}
}
