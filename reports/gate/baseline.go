package gate

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"routesim/reports/sweepdata"
	"routesim/workloads"
)

// Baseline is what a suite gave when its baseline was written.
type Baseline struct {
	File    string
	Version string // of the program that wrote it
	// Decisions is the digest of the file of decisions beside it.
	Decisions   string
	Definitions []Value // of metrics by name, and of the digests
	Outcomes    []Outcome
}

// NewBaseline makes a baseline of outcomes, for the metrics that the suite
// compares.
func NewBaseline(s *Suite, version string, outcomes []Outcome) *Baseline {
	b := &Baseline{Version: version, Decisions: DecisionsDigest(outcomes), Outcomes: slices.Clone(outcomes)}
	b.Definitions = []Value{{"decisions", decisionsDefinition}}
	metrics := sweepdata.Metrics()
	used := make([]bool, len(metrics))
	for i := range b.Outcomes {
		keep := make([]bool, len(metrics))
		for _, c := range s.Scenarios[i].Checks {
			keep[c.Metric], used[c.Metric] = true, true
		}
		o := &b.Outcomes[i]
		o.Runs = slices.Clone(o.Runs)
		for j := range o.Runs {
			values := slices.Clone(o.Runs[j].Values)
			for k := range values {
				if !keep[k] {
					values[k] = math.NaN()
				}
			}
			o.Runs[j].Values = values
		}
	}
	for i := range metrics {
		if used[i] {
			b.Definitions = append(b.Definitions, Value{metrics[i].Name, definition(&metrics[i])})
		}
	}
	return b
}

// headline begins every baseline.
const headline = "# Baseline of routesim gate, written by its --update."

// Replaceable reports whether an update may put a baseline in the place of a
// file: it is a baseline, be it a damaged one, or it is empty.
func Replaceable(file string, text []byte) bool {
	text = bytes.TrimSpace(text)
	if len(text) == 0 || bytes.HasPrefix(text, []byte(headline)) {
		return true
	}
	_, err := ParseBaseline(file, text)
	return err == nil
}

// Write writes the baseline: a line per figure, so that a change of one is a
// change of one line.
func (b *Baseline) Write(w io.Writer) error {
	t := &strings.Builder{}
	fmt.Fprintf(t, "%s Do not edit.\ngate: %d\nroutesim: %s\ndecisions: %s\ndefinitions:%s\n",
		headline, Format, yamlText(b.Version), strconv.Quote(b.Decisions), orEmpty(len(b.Definitions), " {}"))
	for _, d := range b.Definitions {
		fmt.Fprintf(t, "  %s: %s\n", yamlText(d.Name), yamlText(d.Text))
	}
	fmt.Fprintf(t, "scenarios:%s\n", orEmpty(len(b.Outcomes), " []"))
	for i := range b.Outcomes {
		b.Outcomes[i].write(t)
	}
	_, err := io.WriteString(w, t.String())
	return err
}

// orEmpty is the YAML of an empty collection for none of its elements.
func orEmpty(n int, empty string) string {
	if n == 0 {
		return empty
	}
	return ""
}

func (o *Outcome) write(t *strings.Builder) {
	fmt.Fprintf(t, "  - name: %s\n    trace: %s\n    requests: %d\n    trace-digest: %s\n    load: %s\n",
		yamlText(o.Name), yamlText(o.Trace.Name), o.Trace.Requests, strconv.Quote(o.Trace.Digest), strconv.Quote(o.Load))
	if o.SLA != "" {
		fmt.Fprintf(t, "    sla: %s\n", yamlText(o.SLA))
	}
	for _, m := range []struct {
		key    string
		values []Value
	}{{"settings", o.Settings}, {"profiles", o.Profiles}} {
		if len(m.values) == 0 {
			continue
		}
		fmt.Fprintf(t, "    %s:\n", m.key)
		for _, v := range m.values {
			fmt.Fprintf(t, "      %s: %s\n", yamlText(v.Name), strconv.Quote(v.Text))
		}
	}
	t.WriteString("    runs:\n")
	for i := range o.Runs {
		r := &o.Runs[i]
		fmt.Fprintf(t, "      - seed: %d\n        decisions: %s\n        times: %s\n", r.Seed, strconv.Quote(r.Decisions), strconv.Quote(r.Times))
		for k, m := range sweepdata.Metrics() {
			if v := r.Values[k]; !math.IsNaN(v) && !math.IsInf(v, 0) {
				fmt.Fprintf(t, "        %s: %s\n", m.Name, strconv.FormatFloat(v, 'g', -1, 64))
			}
		}
	}
}

// plainYAML are the texts that need no quotes and are no numbers, switches or
// nulls.
var plainYAML = regexp.MustCompile(`^[a-z](?:[a-z0-9._/-]*[a-z0-9])?$`)

// yamlText writes a text as a YAML scalar that reads back as a text.
func yamlText(s string) string {
	if plainYAML.MatchString(s) && !slices.Contains([]string{"true", "false", "null", "none", "on", "off", "yes", "no", "y", "n"}, s) {
		return s
	}
	return strconv.Quote(s)
}

// ParseBaseline reads a baseline. Errors name file and line.
func ParseBaseline(file string, text []byte) (*Baseline, error) {
	root, err := parseYAML(file, text)
	if err != nil {
		return nil, err
	}
	top, err := root.members("a baseline, which routesim gate --update writes")
	if err != nil {
		return nil, err
	}
	b := &Baseline{File: file}
	seen := map[string]bool{}
	for i := range top {
		m := &top[i]
		seen[m.key] = true
		switch m.key {
		case "gate":
			if v, err := m.whole(math.MinInt32, math.MaxInt32); err != nil || v != Format {
				return nil, m.wrong(fmt.Sprintf("%d, the format that this version reads; write the baseline anew", Format))
			}
		case "routesim":
			b.Version, err = m.text("the version that wrote the baseline")
		case "decisions":
			b.Decisions, err = m.text("the digest of the file of decisions")
		case "definitions":
			b.Definitions, err = values(&m.node)
		case "scenarios":
			b.Outcomes, err = readOutcomes(&m.node)
		default:
			err = m.problem("an unknown key", "decisions, definitions, gate, routesim or scenarios")
		}
		if err != nil {
			return nil, err
		}
	}
	for _, key := range []string{"gate", "routesim", "decisions", "definitions", "scenarios"} {
		if !seen[key] {
			return nil, &workloads.Problem{File: file, Found: "no key " + key, Want: "a baseline that routesim gate --update wrote"}
		}
	}
	return b, nil
}

// values reads a mapping of texts.
func values(n *node) (out []Value, err error) {
	members, err := n.members("a mapping of texts")
	if err != nil {
		return nil, err
	}
	for i := range members {
		text, ok := members[i].scalar()
		if !ok {
			return nil, members[i].wrong("a text")
		}
		out = append(out, Value{members[i].key, text})
	}
	return out, nil
}

func readOutcomes(n *node) (out []Outcome, err error) {
	items, err := n.items("a list of scenarios")
	if err != nil {
		return nil, err
	}
	for i := range items {
		o, err := readOutcome(&items[i])
		if err != nil {
			return nil, err
		}
		for j := range out {
			if out[j].Name == o.Name {
				return nil, items[i].problem(fmt.Sprintf("the scenario %s again", quote(o.Name)), "each scenario once")
			}
		}
		out = append(out, o)
	}
	return out, nil
}

func readOutcome(n *node) (o Outcome, err error) {
	members, err := n.members("a scenario")
	if err != nil {
		return o, err
	}
	for i := range members {
		m := &members[i]
		switch m.key {
		case "name":
			o.Name, err = m.text("a name")
		case "trace":
			o.Trace.Name, err = m.text("the name of a trace")
		case "requests":
			o.Trace.Requests, err = m.whole(0, math.MaxInt32)
		case "trace-digest":
			o.Trace.Digest, err = m.text("a digest")
		case "load":
			o.Load, err = m.text("how requests arrive")
		case "sla":
			o.SLA, err = m.text("bounds")
		case "settings":
			o.Settings, err = values(&m.node)
		case "profiles":
			o.Profiles, err = values(&m.node)
		case "runs":
			o.Runs, err = readRuns(&m.node)
		default:
			err = m.problem("an unknown key", "a key of a baseline's scenario")
		}
		if err != nil {
			return o, err
		}
	}
	if o.Name == "" || o.Trace.Digest == "" || o.Load == "" || len(o.Runs) == 0 {
		return o, n.problem("a scenario that lacks one of name, trace-digest, load and runs", "all of them")
	}
	for i := range o.Runs { // no baseline is written of runs that are not complete
		o.Runs[i].Counts = Counts{Requests: o.Trace.Requests, Completed: o.Trace.Requests}
	}
	return o, nil
}

func readRuns(n *node) (out []Run, err error) {
	items, err := n.items("a list of runs")
	if err != nil {
		return nil, err
	}
	for i := range items {
		r, err := readRun(&items[i])
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(out, func(o Run) bool { return o.Seed == r.Seed }) {
			return nil, items[i].problem(fmt.Sprintf("the seed %d again", r.Seed), "each seed once")
		}
		out = append(out, r)
	}
	return out, nil
}

func readRun(n *node) (Run, error) {
	var r Run
	for range sweepdata.Metrics() {
		r.Values = append(r.Values, math.NaN())
	}
	members, err := n.members("a run")
	if err != nil {
		return r, err
	}
	seed := int64(-1)
	for i := range members {
		m := &members[i]
		switch m.key {
		case "seed":
			seed, err = m.whole(0, math.MaxInt64)
			r.Seed = uint64(seed)
		case "decisions":
			r.Decisions, err = m.text("a digest")
		case "times":
			r.Times, err = m.text("a digest")
		default:
			// A metric that this version does not know has no definition here
			// either, which the comparison tells.
			var v float64
			if v, err = m.number(); err == nil {
				if k := sweepdata.MetricIndex(m.key); k >= 0 {
					r.Values[k] = v
				}
			}
		}
		if err != nil {
			return r, err
		}
	}
	if seed < 0 || r.Decisions == "" || r.Times == "" {
		return r, n.problem("a run that lacks one of seed, decisions and times", "all of them")
	}
	return r, nil
}
