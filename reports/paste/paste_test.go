package paste

import (
	"encoding/json"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"pgregory.net/rapid"

	"routesim/reports/sweepdata"
)

func sample() []sweepdata.Flag {
	return []sweepdata.Flag{
		{Name: "--router-kv-overlap-score-credit", Env: "DYN_ROUTER_KV_OVERLAP_SCORE_CREDIT", Value: "0.25"},
		{Name: "--router-prefill-load-scale", Env: "DYN_ROUTER_PREFILL_LOAD_SCALE", Value: "8"},
		{Name: "--router-track-active-blocks", Env: "DYN_ROUTER_TRACK_ACTIVE_BLOCKS", Value: "false", Bool: true},
	}
}

// failer is a test of either kind.
type failer interface {
	Helper()
	Fatal(args ...any)
}

func of(t failer, flags []sweepdata.Flag, version string) Forms {
	t.Helper()
	f, err := Of(flags, version)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestForms(t *testing.T) {
	f := of(t, sample(), "")
	for _, c := range []struct{ name, got, want string }{
		{"flags", f.Flags, "--router-kv-overlap-score-credit 0.25 \\\n--router-prefill-load-scale 8 \\\n--no-router-track-active-blocks"},
		{"line", f.Line, "--router-kv-overlap-score-credit 0.25 --router-prefill-load-scale 8 --no-router-track-active-blocks"},
		{"env", f.Env, "DYN_ROUTER_KV_OVERLAP_SCORE_CREDIT=0.25\nDYN_ROUTER_PREFILL_LOAD_SCALE=8\nDYN_ROUTER_TRACK_ACTIVE_BLOCKS=false"},
		{"kubernetes", f.Kubernetes, `# Add to the variables of the Frontend, beside those it has.
# A flag in its args wins over a variable: remove it there.
spec:
  services:
    Frontend:
      envs:
        - name: DYN_ROUTER_KV_OVERLAP_SCORE_CREDIT
          value: "0.25"
        - name: DYN_ROUTER_PREFILL_LOAD_SCALE
          value: "8"
        - name: DYN_ROUTER_TRACK_ACTIVE_BLOCKS
          value: "false"`},
		{"patch", of(t, sample()[:1], "").Patch, `[
  {"op":"add","path":"/spec/services/Frontend/envs/-","value":{"name":"DYN_ROUTER_KV_OVERLAP_SCORE_CREDIT","value":"0.25"}}
]`},
	} {
		if c.got != c.want {
			t.Errorf("%s: found\n%s\nexpected\n%s", c.name, c.got, c.want)
		}
	}
}

// manifest is what of a deployment the fragments set, in both schemas.
type manifest struct {
	Spec struct {
		Services map[string]struct {
			Envs []variable `yaml:"envs"`
		} `yaml:"services"`
		Components []struct {
			Name        string `yaml:"name"`
			PodTemplate struct {
				Spec struct {
					Containers []struct {
						Name string     `yaml:"name"`
						Env  []variable `yaml:"env"`
					} `yaml:"containers"`
				} `yaml:"spec"`
			} `yaml:"podTemplate"`
		} `yaml:"components"`
	} `yaml:"spec"`
}

func (m *manifest) variables(version string) []variable {
	if version == V1Beta1 {
		c := m.Spec.Components
		if len(c) != 1 || c[0].Name != "Frontend" || len(c[0].PodTemplate.Spec.Containers) != 1 || c[0].PodTemplate.Spec.Containers[0].Name != "main" {
			return nil
		}
		return c[0].PodTemplate.Spec.Containers[0].Env
	}
	return m.Spec.Services["Frontend"].Envs
}

func wanted(flags []sweepdata.Flag) (list []variable) {
	for _, f := range flags {
		if f.Env != "" {
			list = append(list, variable{f.Env, f.Value})
		}
	}
	return list
}

// flags draws settings with values of any text.
func flags(t *rapid.T) []sweepdata.Flag {
	n := rapid.IntRange(0, 4).Draw(t, "n")
	var list []sweepdata.Flag
	for range n {
		f := sweepdata.Flag{Name: "--" + rapid.StringMatching(`[a-z]{1,8}(-[a-z]{1,8}){0,2}`).Draw(t, "name"), Env: rapid.StringMatching(`(DYN_[A-Z_]{1,12})?`).Draw(t, "env")}
		if f.Bool = rapid.Bool().Draw(t, "bool"); f.Bool {
			f.Value = rapid.SampledFrom([]string{"true", "false"}).Draw(t, "switch")
		} else {
			f.Value = rapid.OneOf(rapid.StringMatching(`[0-9]\.[0-9]{1,3}|none|wspt|on|no|null|~|1e3|0x10`), rapid.StringMatching(`[ -~]{0,12}`), rapid.Just("a\nb: \"c\" # é '\u2028")).Draw(t, "value")
		}
		list = append(list, f)
	}
	return list
}

// TestReadBack reads every form again and finds the point.
func TestReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := flags(t)
		version := rapid.SampledFrom([]string{V1Alpha1, V1Beta1}).Draw(t, "version")
		f := of(t, list, version)
		var m manifest
		if err := yaml.Unmarshal([]byte(f.Kubernetes), &m); err != nil {
			t.Fatalf("%v in\n%s", err, f.Kubernetes)
		}
		if got := m.variables(version); !slices.Equal(got, wanted(list)) {
			t.Fatalf("found %v, expected %v in\n%s", got, wanted(list), f.Kubernetes)
		}
		if got := patched(t, f.Patch, version); !slices.Equal(got, append([]variable{{"KEEP", "1"}}, wanted(list)...)) {
			t.Fatalf("the patch makes %v of it, expected %v in\n%s", got, wanted(list), f.Patch)
		}
	})
}

// patched applies the operations of a patch to a list of one variable.
func patched(t *rapid.T, patch, version string) []variable {
	list := []variable{{"KEEP", "1"}}
	if patch == "" {
		return list
	}
	var steps []struct {
		Op, Path string
		Value    json.RawMessage
	}
	if err := json.Unmarshal([]byte(patch), &steps); err != nil {
		t.Fatal(err)
	}
	at := map[string]string{V1Alpha1: "/spec/services/Frontend/envs/-", V1Beta1: "/spec/components/0/podTemplate/spec/containers/0/env/-"}[version]
	names := map[string]string{"/spec/components/0/name": `"Frontend"`, "/spec/components/0/podTemplate/spec/containers/0/name": `"main"`}
	for _, s := range steps {
		switch {
		case s.Op == "test" && version == V1Beta1 && names[s.Path] == string(s.Value):
		case s.Op == "add" && s.Path == at:
			var v variable
			if err := json.Unmarshal(s.Value, &v); err != nil {
				t.Fatal(err)
			}
			list = append(list, v)
		default:
			t.Fatalf("found the operation %v", s)
		}
	}
	return list
}

// TestShell lets a shell read the flags and the variables.
func TestShell(t *testing.T) {
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no shell")
	}
	list := []sweepdata.Flag{
		{Name: "--a", Env: "A", Value: "0.25"}, {Name: "--b", Env: "B", Value: "it's $HOME; `x` \"y\" *"}, {Name: "--c", Env: "C", Value: ""},
		{Name: "--d", Env: "D", Value: "true", Bool: true}, {Name: "--e", Value: "7"},
	}
	f := of(t, list, "")
	for _, c := range []struct{ script, want string }{
		{"printf '<%s>' " + f.Flags, "<--a><0.25><--b><it's $HOME; `x` \"y\" *><--c><><--d><--e><7>"},
		{"printf '<%s>' " + f.Line, "<--a><0.25><--b><it's $HOME; `x` \"y\" *><--c><><--d><--e><7>"},
		{f.Env + "\nprintf '<%s>' \"$A\" \"$B\" \"$C\" \"$D\"", "<0.25><it's $HOME; `x` \"y\" *><><true>"},
	} {
		out, err := exec.Command(shell, "-c", c.script).CombinedOutput()
		if err != nil || string(out) != c.want {
			t.Errorf("found %s (%v), expected %s", out, err, c.want)
		}
	}
	if !strings.Contains(f.Env, "# no variable, use the flag: --e 7") || !strings.Contains(f.Kubernetes, "# No variable, add to its args: --e 7") {
		t.Errorf("found\n%s\n%s", f.Env, f.Kubernetes)
	}
}

func TestNothing(t *testing.T) {
	f := of(t, nil, V1Beta1)
	if f.Flags != "" || f.Line != "" || f.Env != "" || f.Patch != "" || f.Kubernetes != "# the defaults: nothing to set" {
		t.Errorf("found %+v", f)
	}
	if _, err := Of(nil, "v1"); err == nil || !strings.Contains(err.Error(), "found v1, expected v1alpha1 or v1beta1") {
		t.Errorf("found %v", err)
	}
}
