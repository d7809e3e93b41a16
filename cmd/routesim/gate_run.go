package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"routesim/cmd/routesim/internal/settings"
	"routesim/reports/gate"
	"routesim/sim"
	"routesim/workloads"
)

// gateRuns are the scenarios of a suite with their settings resolved.
type gateRuns struct {
	suite     *gate.Suite
	offset    uint64 // added to every seed
	scenarios []gateScenario
}

// gateScenario is a scenario that is ready to be run.
type gateScenario struct {
	*gate.Scenario
	settings *settings.Resolved
	changed  []gate.Value // settings that differ from their defaults
	paths    []string
	trace    *workloads.Trace
	outcome  gate.Outcome
	failed   []error // by seed
}

// newGateRuns resolves the settings of every scenario. Its errors name the line
// of the suite.
func newGateRuns(table *settings.Table, s *gate.Suite, offset uint64) (*gateRuns, error) {
	plain, err := table.Resolve(settings.Input{})
	if err != nil {
		return nil, err
	}
	g := &gateRuns{suite: s, offset: offset}
	for i := range s.Scenarios {
		sc := gateScenario{Scenario: &s.Scenarios[i]}
		given, err := givenOf(table, s.File, sc.Scenario)
		if err != nil {
			return nil, err
		}
		if sc.settings, err = table.Resolve(settings.Input{Flags: given}); err == nil {
			_, err = newReplayed(sc.settings, nil)
		}
		if err != nil {
			if _, placed := err.(*workloads.Problem); !placed {
				err = fmt.Errorf("%s:%d: scenario %s: %w", s.File, sc.Line, sc.Name, err)
			}
			return nil, err
		}
		defaults := plain.Entries()
		for k, e := range sc.settings.Entries() {
			if e.Text != defaults[k].Text {
				sc.changed = append(sc.changed, gate.Value{Name: e.Name, Text: asWritten(sc.Scenario, table, e)})
			}
		}
		for _, p := range sc.Traces {
			sc.paths = append(sc.paths, beside(s.File, p))
		}
		g.scenarios = append(g.scenarios, sc)
	}
	return g, nil
}

// asWritten is the value of a setting as the suite has it where it is a path,
// which must not depend on where the gate is run.
func asWritten(s *gate.Scenario, table *settings.Table, e settings.Entry) string {
	for _, w := range s.Settings {
		if setting, ok := table.Lookup(w.Name); ok && setting.Name == e.Name && rebased("x/y", e.Name, w.Text) != w.Text {
			return w.Text
		}
	}
	return e.Text
}

// fleet is a way to describe the workers of a run, which has one of them.
type fleet uint8

const (
	noFleet fleet = iota // nothing about the workers' number
	onePool
	twoPools
)

func fleetOf(setting string) fleet {
	switch setting {
	case "workers":
		return onePool
	case "prefill-workers", "decode-workers", "prefill-engine-args", "decode-engine-args":
		return twoPools
	}
	return noFleet
}

// givenOf turns the settings of a scenario into values given for a run. They
// count like flags, so that one that changes nothing is an error.
func givenOf(table *settings.Table, file string, s *gate.Scenario) ([]settings.Given, error) {
	var given []settings.Given
	own := map[fleet]bool{} // ways in which the scenario itself describes its workers
	for _, w := range s.Settings {
		if setting, ok := table.Lookup(w.Name); ok && !w.Inherited {
			own[fleetOf(setting.Name)] = true
		}
	}
	for _, w := range s.Settings {
		place := workloads.Problem{File: file, Line: w.Line, Field: w.Name}
		setting, ok := table.Lookup(w.Name)
		if !ok {
			place.Found, place.Want = "an unknown key", "a setting of routesim replay (see routesim replay --help)"
			if near := table.Nearest(w.Name); near != "" {
				place.Found += fmt.Sprintf(" (did you mean %s?)", near)
			}
			return nil, &place
		}
		if w.Inherited && (fleetOf(setting.Name) == onePool && own[twoPools] || fleetOf(setting.Name) == twoPools && own[onePool]) {
			continue // the scenario has other workers than the suite
		}
		for _, g := range given {
			if g.Setting == setting {
				place.Found, place.Want = fmt.Sprintf("the setting of line %d again", g.Place.Line), "each setting once"
				return nil, &place
			}
		}
		given = append(given, settings.Given{
			Setting: setting, Text: rebased(file, setting.Name, w.Text), Place: place,
			Origin: settings.Origin{Layer: settings.FromFlag, Where: fmt.Sprintf("%s:%d", file, w.Line)},
		})
	}
	return given, nil
}

// rebased makes the path in a setting relative to the suite's folder.
func rebased(file, name, text string) string {
	isFile := func(p string) bool { return strings.HasSuffix(p, ".yaml") || strings.HasSuffix(p, ".yml") }
	switch {
	case name == "profile" && isFile(text),
		(name == "router-policy-config" || name == "router-tracking-key-file") && text != settings.None && text != "":
		return beside(file, text)
	case name == "timing" && strings.HasPrefix(text, "table:"):
		return "table:" + beside(file, text[len("table:"):])
	case name == "workers":
		groups := strings.Split(text, ",")
		for i, group := range groups {
			head, fields, _ := strings.Cut(group, "@")
			count, path, ok := strings.Cut(head, "x")
			if ok && isFile(path) {
				groups[i] = count + "x" + beside(file, path) + group[len(group)-len(fields)-min(len(fields), 1):]
			}
		}
		return strings.Join(groups, ",")
	}
	return text
}

// run runs every scenario with every seed, as many at once as there are cores,
// and returns the outcomes in the suite's order.
func (g *gateRuns) run(ctx context.Context) []gate.Outcome {
	type key struct {
		paths string
		rows  int
		how   string
	}
	traces := map[key]*workloads.Trace{}
	for i := range g.scenarios {
		s := &g.scenarios[i]
		r := &s.settings.Run
		k := key{strings.Join(s.paths, "\n"), s.Rows, fmt.Sprint(r.TraceFormat, r.TraceBlockSize, r.OnError, r.ArrivalSpread, r.Concurrency > 0)}
		if s.trace = traces[k]; s.trace == nil {
			t, err := openRows(s.paths, s.Rows, s.settings, nil)
			if err != nil {
				s.outcome = gate.Outcome{Name: s.Name, Problem: err.Error()}
				continue
			}
			traces[k], s.trace = t, t
		}
		s.outcome.Runs = make([]gate.Run, len(s.Seeds))
		s.failed = make([]error, len(s.Seeds))
	}
	g.simulate(ctx)
	var out []gate.Outcome
	for i := range g.scenarios {
		out = append(out, g.scenarios[i].finish())
	}
	return out
}

// simulate does the runs.
func (g *gateRuns) simulate(ctx context.Context) {
	type job struct {
		s    *gateScenario
		seed int
	}
	jobs := make(chan job)
	var done sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		done.Go(func() {
			for j := range jobs {
				j.s.outcome.Runs[j.seed], j.s.failed[j.seed] = j.s.simulate(ctx, j.seed, g.offset)
			}
		})
	}
	for i := range g.scenarios {
		s := &g.scenarios[i]
		for seed := range s.outcome.Runs {
			jobs <- job{s, seed}
		}
	}
	close(jobs)
	done.Wait()
}

// simulate runs the scenario with one of its seeds. Cost tables and latencies
// of requests are kept of the first.
func (s *gateScenario) simulate(ctx context.Context, i int, offset uint64) (gate.Run, error) {
	run, err := newReplayed(s.settings, s.paths)
	if err != nil {
		return gate.Run{}, err
	}
	rec := &gate.Collector{Details: i == 0}
	run.config.Seed = s.Seeds[i] + offset
	run.config.Decided = rec.Decided
	res, err := sim.Run(ctx, s.trace, run.config)
	if err != nil {
		return gate.Run{}, err
	}
	out := gate.Measure(s.trace, run.config, res, rec)
	out.Seed = s.Seeds[i]
	return out, nil
}

// finish says what the scenario gave.
func (s *gateScenario) finish() gate.Outcome {
	o := &s.outcome
	o.Name = s.Name
	for i, err := range s.failed {
		if err != nil && o.Problem == "" {
			o.Problem = fmt.Sprintf("seed %d: %v", s.Seeds[i], err)
		}
	}
	if o.Problem != "" {
		return *o
	}
	run, err := newReplayed(s.settings, s.paths)
	if err != nil {
		o.Problem = err.Error()
		return *o
	}
	var names []string
	for _, p := range s.paths {
		names = append(names, filepath.Base(p))
	}
	o.Trace = gate.TraceOf(s.trace, strings.Join(names, ", "))
	o.Semantics, o.Unchecked = semanticsText(s.settings), uncheckedText(unchecked(run.config))
	o.Load, o.SLA, o.Settings = gate.LoadOf(run.config), gate.SLAOf(&run.config.SLA), s.changed
	for i := range run.groups {
		p := run.groups[i].Profile
		if p == nil {
			continue
		}
		digest, err := gate.ProfileDigest(p)
		if err != nil {
			o.Problem = err.Error()
			return *o
		}
		if v := (gate.Value{Name: p.ID, Text: digest}); len(o.Profiles) == 0 || o.Profiles[len(o.Profiles)-1] != v {
			o.Profiles = append(o.Profiles, v)
		}
	}
	return *o
}

// warn lists what the settings warn of, each text once.
func (g *gateRuns) warn(w io.Writer) {
	seen := map[string]bool{}
	for i := range g.scenarios {
		s := &g.scenarios[i]
		list := s.settings.Warnings
		if s.trace != nil && len(s.trace.Skipped()) > 0 {
			list = append(list[:len(list):len(list)], fmt.Sprintf("%d rows of the trace were skipped", len(s.trace.Skipped())))
		}
		for _, text := range list {
			if line := fmt.Sprintf("warning: %s: %s\n", s.Name, text); !seen[line] {
				seen[line] = true
				io.WriteString(w, line)
			}
		}
	}
}
