package gate

import (
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"routesim/reports/sweepdata"
)

// TestParseSuite reads every key.
func TestParseSuite(t *testing.T) {
	s := suiteOf(t, `gate: 1
baseline: base.yaml
settings: {workers: 4, router_temperature: 0.5}
seeds: [3, 7]
metrics:
  - p90_ttft_ms
  - {name: ttft_ms, quantile: 0.99, tolerance: 2.5%, direction: same}
  - {name: reuse_share, tolerance: 2 pp}
slo:
  - {metric: goodput_share, at-least: 95}
scenarios:
  - name: one
    trace: ../t.jsonl
    rows: 100
    settings:
      workers: 2
      profile: none
    slo:
      - {metric: p99_ttft_ms, at-most: 4000}
  - name: two
    trace: [a.jsonl, b.jsonl]
    seeds: 2
    metrics: [{name: tpot_ms, quantile: mean, tolerance: 0}]
`)
	one, two := s.Scenarios[0], s.Scenarios[1]
	if s.Baseline != "base.yaml" || one.Line != 12 || one.Rows != 100 || !slices.Equal(one.Seeds, []uint64{3, 7}) || !slices.Equal(two.Seeds, []uint64{0, 1}) {
		t.Errorf("%+v", s)
	}
	if want := []Setting{{"workers", "2", 16, false}, {"router-temperature", "0.5", 3, true}, {"profile", "none", 17, false}}; !reflect.DeepEqual(one.Settings, want) {
		t.Errorf("settings %+v, expected %+v", one.Settings, want)
	}
	if len(two.Settings) != 2 || two.Settings[0].Text != "4" {
		t.Errorf("settings of the second scenario %+v, expected those of the suite", two.Settings)
	}
	if !slices.Equal(two.Traces, []string{"a.jsonl", "b.jsonl"}) {
		t.Errorf("traces %v", two.Traces)
	}
	at := sweepdata.MetricIndex
	if want := []Check{
		{at("p90_ttft_ms"), Tolerance{true, 0.01}, Lower}, {at("p99_ttft_ms"), Tolerance{true, 0.025}, Same}, {at("reuse_share"), Tolerance{false, 2}, Higher},
	}; !slices.Equal(one.Checks, want) {
		t.Errorf("checks %+v, expected %+v", one.Checks, want)
	}
	if want := []Check{{at("mean_tpot_ms"), Tolerance{false, 0}, Lower}}; !slices.Equal(two.Checks, want) {
		t.Errorf("checks %+v, expected %+v", two.Checks, want)
	}
	if len(one.Bounds) != 2 || one.Bounds[1].AtMost != 4000 || one.Bounds[0].AtLeast != 95 || len(two.Bounds) != 1 {
		t.Errorf("bounds %+v and %+v", one.Bounds, two.Bounds)
	}
}

// TestSuiteErrors names the line and what to write.
func TestSuiteErrors(t *testing.T) {
	const head = "gate: 1\nscenarios:\n  - name: a\n    trace: t.jsonl\n"
	for _, c := range []struct{ text, want string }{
		{"", "g.yaml: found nothing, expected a YAML mapping"},
		{"- a\n", "g.yaml:1: found a list, expected a mapping with scenarios"},
		{"gate: 2\nscenarios: []\n", "g.yaml:1: gate: found 2, expected 1, the format"},
		{"scenarios:\n  - {name: a, trace: t}\n", "no key gate"},
		{"gate: 1\n", "no key scenarios"},
		{"gate: 1\nscenarios: []\n", "g.yaml:2: scenarios: found 0 scenarios, expected 1 to 1000"},
		{"gate: 1\nscenario: []\n", "g.yaml:2: scenario: found an unknown key, expected one of baseline, gate, metrics, scenarios, seeds, settings, slo"},
		{head + "    sed: 1\n", "g.yaml:5: scenarios[1].sed: found an unknown key, expected one of metrics, name, rows, seeds, settings, slo, trace"},
		{head + "  - name: a\n    trace: t\n", "g.yaml:5: scenarios[2]: found the name a of the scenario of line 3 again"},
		{"gate: 1\nscenarios:\n  - trace: t\n", "a scenario without a name"},
		{"gate: 1\nscenarios:\n  - name: a b\n    trace: t\n", `g.yaml:3: scenarios[1].name: found "a b", expected a name of letters`},
		{"gate: 1\nscenarios:\n  - name: a\n", "a scenario without a trace"},
		{head + "    rows: 0\n", "g.yaml:5: scenarios[1].rows: found 0, expected a whole number from 1"},
		{head + "    seeds: 0\n", "found 0, expected a number of seeds from 1"},
		{head + "    seeds: [1, 1]\n", "found the seed 1 again"},
		{head + "    seeds: [-1]\n", "found -1, expected a whole number from 0"},
		{head + "    settings: {seed: 1}\n", "found the setting seed, expected seeds beside the settings"},
		{head + "    settings: {workers: [1]}\n", "found a list, expected one value"},
		{head + "    settings:\n      router_temperature: 1\n      router-temperature: 2\n", "g.yaml:7: scenarios[1].settings.router-temperature: found the setting router_temperature of line 6 again, expected each setting once"},
		{head + "    metrics: [p91_ttft_ms]\n", "g.yaml:5: scenarios[1].metrics[1]: found p91_ttft_ms, expected one of mean_ttft_ms"},
		{head + "    metrics: [p90_ttft_ms, p90_ttft_ms]\n", "p90_ttft_ms again"},
		{head + "    metrics: [{tolerance: 1}]\n", "a metric without a name"},
		{head + "    metrics: [{name: p90_ttft_ms, tolerance: -1}]\n", "found -1, expected a share of the baseline such as 2%, or an amount such as 2 (in ms)"},
		{head + "    metrics: [{name: p90_ttft_ms, tolerance: 1 s}]\n", "expected a share"},
		{head + "    metrics: [{name: p90_ttft_ms, tolerance: NaN}]\n", "expected a share"},
		{head + "    metrics: [{name: p90_ttft_ms, direction: up}]\n", "found up, expected lower or higher"},
		{head + "    metrics: [{name: ttft_ms, quantile: 101}]\n", "found 101, expected 50, 90"},
		{head + "    metrics: [{name: p90_ttft_ms, limit: 3}]\n", "found an unknown key, expected one of direction, name, quantile, tolerance"},
		{head + "    slo: [{metric: p90_ttft_ms}]\n", "expected for example {metric: p99_ttft_ms, at-most: 4000}"},
		{head + "    slo: [{metric: p90_ttft_ms, at-most: 1, at-least: 0}]\n", "expected for example"},
		{head + "    slo: [{metric: p90_ttft_ms, at-most: high}]\n", "found high, expected a number"},
		{head + "    name: b\n", "expected valid YAML"},
		{"gate: 1\n---\ngate: 1\n", "a second document"},
		{"gate: [1\n", "g.yaml"},
	} {
		_, err := ParseSuite("g.yaml", []byte(c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v, expected %q", c.text, err, c.want)
		}
	}
}

// FuzzSuite reads anything without panic, and says on one line what is wrong.
func FuzzSuite(f *testing.F) {
	f.Add([]byte(twoScenarios))
	f.Add([]byte("gate: 1\nscenarios:\n  - {name: a, trace: [x, y], rows: 3, seeds: [1, 2], slo: [{metric: p90_ttft_ms, at-most: 3}]}\n"))
	f.Add([]byte("gate: 1\n? [a]\n: b\n"))
	if text, err := os.ReadFile("../../testdata/gate/gate.yaml"); err == nil {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := ParseSuite("g.yaml", text)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "g.yaml") || strings.Contains(err.Error(), "\n") {
				t.Errorf("%q: %v", text, err)
			}
			return
		}
		for _, c := range s.Scenarios {
			if c.Name == "" || len(c.Traces) == 0 || len(c.Seeds) == 0 {
				t.Errorf("%q: %+v lacks something", text, c)
			}
		}
	})
}

// TestPageIsRight parses the example of the page and looks for every metric and
// key in it.
func TestPageIsRight(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(text)
	_, example, _ := strings.Cut(page, "```yaml\n")
	example, _, _ = strings.Cut(example, "```")
	s, err := ParseSuite("README.md", []byte(example))
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Scenarios) != 2 || len(s.Scenarios[0].Checks) != 4 || len(s.Scenarios[1].Bounds) != 2 {
		t.Errorf("%+v", s)
	}
	for _, m := range sweepdata.Metrics() {
		name := m.Name
		if _, latency, ok := strings.Cut(name, "_"); ok && (m.Family == "ttft" || m.Family == "itl" || m.Family == "tpot" || m.Family == "e2e") {
			name = latency
		}
		if !strings.Contains(page, "`"+name+"`") {
			t.Errorf("the page does not name %s", name)
		}
	}
}

// TestDeepYAMLIsRefused keeps suites and baselines from the parser that it could
// not take.
func TestDeepYAMLIsRefused(t *testing.T) {
	text := []byte("gate: 1\nscenarios: " + strings.Repeat("[", 100_000))
	_, suite := ParseSuite("deep.yaml", text)
	_, baseline := ParseBaseline("deep.yaml", text)
	for _, err := range []error{suite, baseline} {
		if want := "deep.yaml:2: found YAML nested deeper than 64 levels, expected fewer"; err == nil || err.Error() != want {
			t.Errorf("found %v, expected %s", err, want)
		}
	}
}
