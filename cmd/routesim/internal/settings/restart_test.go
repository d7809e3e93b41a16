package settings

import (
	"strings"
	"testing"
)

// TestRestartNamesItsFile: what is said of the policy file after a restart names
// the setting that it was given with, once, and not that of the file before.
func TestRestartNamesItsFile(t *testing.T) {
	const own = "router-restart-policy-config"
	classifier := "request_classifier: {type: thunderagent}\n"
	for _, c := range []struct {
		name, text string
		args       []string
		fails      string // the error, "" for none
		warns      string
	}{
		{"random mode", "router: {router_replica_sync: true}\n", []string{"--router-mode=random"}, "", own + " has no effect in random mode"},
		{"classifier in random mode", classifier, []string{"--router-mode=random"}, "", own + ": the request_classifier has no effect in router-mode random"},
		{"classifier with pools", classifier, []string{"--prefill-workers=2"}, own + ": found a request_classifier with prefill and decode pools", ""},
		{"unknown section", "rooter: {}\n", nil, own + ": FILE:1: rooter: found an unknown key", ""},
		{"no section", "", nil, own + ": FILE: found no section", ""},
	} {
		file := writeFile(t, "after.yaml", c.text)
		r, err := resolveWith(t, Input{}, append(c.args, "--router-restart-at=5", "--"+own+"="+file)...)
		if c.fails != "" {
			wantPart(t, err, strings.Replace(c.fails, "FILE", file, 1))
			if strings.Contains(strings.Replace(err.Error(), own, "", 1), "policy-config") {
				t.Errorf("%s: %v names a policy file twice", c.name, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		wantWarning(t, r, c.warns)
		if text := strings.Join(r.Warnings, "\n"); strings.Contains(text, "router-policy-config") {
			t.Errorf("%s: the warnings %q name another setting", c.name, text)
		}
	}
}

// TestTextsOverSeveralLines: a text of YAML may stand below its key.
func TestTextsOverSeveralLines(t *testing.T) {
	for _, mark := range []string{">", ">-", "|", "|-"} {
		r := mustResolve(t, Input{ConfigFile: writeFile(t, "c.yaml", "faults: "+mark+"\n  crash:1@5\nseed: 4\n")})
		if r.Run.Faults != "crash:1@5" || r.Run.Seed != 4 {
			t.Errorf("%s: faults %q, seed %d", mark, r.Run.Faults, r.Run.Seed)
		}
	}
}
