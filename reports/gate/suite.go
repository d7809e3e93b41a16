package gate

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"routesim/reports/sweepdata"
)

// Format is the number of the suite's and the baseline's format.
const Format = 1

// The bounds of a suite.
const (
	mostScenarios = 1000
	mostSeeds     = 1000
	// DefaultTolerance is the share by which a metric may get worse, where
	// nothing else is said.
	DefaultTolerance = 0.01
)

// Suite is a list of scenarios with what to look at in each.
type Suite struct {
	File      string
	Baseline  string // as written, "" where the suite names none
	Scenarios []Scenario
}

// Scenario is a trace, a fleet and a router, and what must not get worse.
type Scenario struct {
	Name     string
	Line     int
	Traces   []string // as written
	Rows     int      // the first rows of the trace, 0 = all
	Settings []Setting
	Seeds    []uint64
	Checks   []Check
	Bounds   []Bound
}

// Setting is a setting as written in the suite.
type Setting struct {
	Name, Text string
	Line       int
	// Inherited marks one that the suite gives to all scenarios.
	Inherited bool
}

// Check is a metric that is compared with the baseline.
type Check struct {
	Metric    int // place in sweepdata.Metrics()
	Tolerance Tolerance
	Direction Direction
}

// Tolerance is how far a metric may move to the worse.
type Tolerance struct {
	Relative bool    // a share of the baseline; otherwise in the metric's unit
	Value    float64 // at least 0
}

// Direction says which changes of a metric are for the worse.
type Direction int8

// The directions.
const (
	Lower  Direction = -1 // less is better
	Higher Direction = 1  // more is better
	Same   Direction = 2  // every change is for the worse
	Info   Direction = 0  // none is; the metric is only shown
)

// String returns the word for a direction in a suite.
func (d Direction) String() string {
	switch d {
	case Lower:
		return "lower"
	case Higher:
		return "higher"
	case Same:
		return "same"
	}
	return "info"
}

// Bound is a service level objective: what a metric must keep whatever the
// baseline says.
type Bound struct {
	Metric  int // place in sweepdata.Metrics()
	AtMost  float64
	AtLeast float64 // NaN where the bound is the other one
}

// ParseSuite reads a suite. Errors name file and line.
func ParseSuite(file string, text []byte) (*Suite, error) {
	root, err := parseYAML(file, text)
	if err != nil {
		return nil, err
	}
	top, err := root.members("a mapping with scenarios")
	if err != nil {
		return nil, err
	}
	s := &Suite{File: file}
	p := suiteParser{metrics: sweepdata.Metrics(), common: Scenario{Seeds: firstSeeds(1)}}
	p.common.Checks = p.defaultChecks()
	var scenarios *node
	format := false
	for i := range top {
		m := &top[i]
		switch m.key {
		case "gate":
			format = true
			if v, err := m.whole(math.MinInt32, math.MaxInt32); err != nil || v != Format {
				return nil, m.wrong(fmt.Sprintf("%d, the format that this version reads", Format))
			}
		case "baseline":
			s.Baseline, err = m.text("the path of the baseline, relative to the suite")
		case "scenarios":
			scenarios = &m.node
		default:
			err = p.field(&p.common, m, "baseline", "gate", "scenarios")
		}
		if err != nil {
			return nil, err
		}
	}
	switch {
	case !format:
		return nil, root.problem("no key gate", fmt.Sprintf("gate: %d, the number of the format", Format))
	case scenarios == nil:
		return nil, root.problem("no key scenarios", "a list of scenarios")
	}
	s.Scenarios, err = p.scenarios(scenarios)
	return s, err
}

// suiteParser holds what every scenario starts with.
type suiteParser struct {
	metrics []sweepdata.Metric
	common  Scenario
}

// defaultChecks are the metrics of a suite that names none.
func (p *suiteParser) defaultChecks() (out []Check) {
	for _, name := range []string{"p90_ttft_ms", "mean_itl_ms", "output_rate_tps", "reuse_share"} {
		out = append(out, p.check(sweepdata.MetricIndex(name)))
	}
	return out
}

func (p *suiteParser) check(metric int) Check {
	return Check{Metric: metric, Tolerance: Tolerance{Relative: true, Value: DefaultTolerance}, Direction: Direction(p.metrics[metric].Better)}
}

func firstSeeds(n int64) []uint64 {
	out := make([]uint64, n)
	for i := range out {
		out[i] = uint64(i)
	}
	return out
}

func (p *suiteParser) scenarios(n *node) ([]Scenario, error) {
	items, err := n.items("a list of scenarios")
	if err != nil {
		return nil, err
	}
	if len(items) == 0 || len(items) > mostScenarios {
		return nil, n.problem(fmt.Sprintf("%d scenarios", len(items)), fmt.Sprintf("1 to %d", mostScenarios))
	}
	var out []Scenario
	for i := range items {
		s, err := p.scenario(&items[i])
		if err != nil {
			return nil, err
		}
		for j := range out {
			if out[j].Name == s.Name {
				return nil, items[i].problem(fmt.Sprintf("the name %s of the scenario of line %d again", quote(s.Name), out[j].Line), "a name of its own for each scenario")
			}
		}
		out = append(out, s)
	}
	return out, nil
}

func (p *suiteParser) scenario(n *node) (Scenario, error) {
	s := p.common
	s.Line = n.line
	s.Settings, s.Bounds = slices.Clone(s.Settings), slices.Clone(s.Bounds)
	for i := range s.Settings {
		s.Settings[i].Inherited = true
	}
	members, err := n.members("a scenario: a mapping with name and trace")
	if err != nil {
		return s, err
	}
	if len(members) > 0 {
		s.Line = members[0].line
	}
	for i := range members {
		m := &members[i]
		switch m.key {
		case "name":
			if s.Name, err = m.text("a name"); err == nil && !isName(s.Name) {
				err = m.wrong("a name of letters, digits, -, _ and .")
			}
		case "trace":
			s.Traces, err = texts(&m.node, "the path of a trace, or a list of the paths of its shards, relative to the suite")
		case "rows":
			var rows int64
			rows, err = m.whole(1, math.MaxInt32)
			s.Rows = int(rows)
		default:
			err = p.field(&s, m, "name", "rows", "trace")
		}
		if err != nil {
			return s, err
		}
	}
	switch {
	case s.Name == "":
		return s, n.problem("a scenario without a name", "a key name")
	case len(s.Traces) == 0:
		return s, n.problem("a scenario without a trace", "a key trace")
	}
	return s, nil
}

// isName reports whether a text can stand in file names, XML and annotations as
// it is.
func isName(text string) bool {
	return len(text) <= 100 && !strings.ContainsFunc(text, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' || r == '.')
	})
}

// texts reads a text or a list of texts.
func texts(n *node, want string) (out []string, err error) {
	if _, ok := n.scalar(); ok {
		text, err := n.text(want)
		return []string{text}, err
	}
	items, err := n.items(want)
	if err != nil {
		return nil, err
	}
	for i := range items {
		text, err := items[i].text(want)
		if err != nil {
			return nil, err
		}
		out = append(out, text)
	}
	if len(out) == 0 {
		return nil, n.problem("an empty list", want)
	}
	return out, nil
}

// field reads a key that suites and scenarios share; others names the keys
// besides those.
func (p *suiteParser) field(s *Scenario, m *member, others ...string) (err error) {
	switch m.key {
	case "settings":
		return readSettings(s, &m.node)
	case "seeds":
		s.Seeds, err = readSeeds(&m.node)
	case "metrics":
		s.Checks, err = p.checks(&m.node)
	case "slo":
		var bounds []Bound
		bounds, err = p.bounds(&m.node)
		s.Bounds = append(s.Bounds, bounds...)
	default:
		keys := append([]string{"metrics", "seeds", "settings", "slo"}, others...)
		slices.Sort(keys)
		return m.problem("an unknown key", "one of "+strings.Join(keys, ", "))
	}
	return err
}

// readSettings lets the settings of a mapping win over those the scenario has.
func readSettings(s *Scenario, n *node) error {
	members, err := n.members("a mapping of settings of routesim replay")
	if err != nil {
		return err
	}
	first := map[string]*member{}
	for i := range members {
		m := &members[i]
		text, ok := m.scalar()
		if !ok {
			return m.wrong("one value")
		}
		name := strings.ReplaceAll(m.key, "_", "-")
		if old := first[name]; old != nil {
			return m.problem(fmt.Sprintf("the setting %s of line %d again", quote(old.key), old.line), "each setting once")
		}
		first[name] = m
		if name == "seed" {
			return m.problem("the setting seed", "seeds beside the settings: a scenario is run once with each")
		}
		at := slices.IndexFunc(s.Settings, func(o Setting) bool { return o.Name == name })
		if at < 0 {
			at = len(s.Settings)
			s.Settings = append(s.Settings, Setting{})
		}
		s.Settings[at] = Setting{Name: name, Text: text, Line: m.line}
	}
	return nil
}

// readSeeds reads a number of seeds, or the seeds themselves.
func readSeeds(n *node) ([]uint64, error) {
	if _, ok := n.scalar(); ok {
		v, err := n.whole(1, mostSeeds)
		if err != nil {
			return nil, n.wrong(fmt.Sprintf("a number of seeds from 1 to %d (1 is the seed 0 alone), or a list of seeds", mostSeeds))
		}
		return firstSeeds(v), nil
	}
	items, err := n.items("a number of seeds, or a list of seeds")
	if err != nil {
		return nil, err
	}
	if len(items) == 0 || len(items) > mostSeeds {
		return nil, n.problem(fmt.Sprintf("%d seeds", len(items)), fmt.Sprintf("1 to %d", mostSeeds))
	}
	var out []uint64
	for i := range items {
		v, err := items[i].whole(0, math.MaxInt64)
		if err != nil {
			return nil, err
		}
		if slices.Contains(out, uint64(v)) {
			return nil, items[i].problem(fmt.Sprintf("the seed %d again", v), "each seed once")
		}
		out = append(out, uint64(v))
	}
	return out, nil
}
