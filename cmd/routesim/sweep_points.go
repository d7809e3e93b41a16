package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"

	"routesim/cmd/routesim/internal/settings"
	"routesim/reports/sweepdata"
	"routesim/sim/router"
	"routesim/sim/sweep"
)

// list resolves every point and gives it its key.
func (p *sweepPlan) list(ctx context.Context, design *sweep.Design) error {
	for i := range p.data.Axes {
		s, _ := p.o.table.Lookup(p.data.Axes[i].Name)
		p.axes = append(p.axes, s)
	}
	p.digests.begin(p)
	if err := p.addAll(ctx, design.Points); err != nil {
		return err
	}
	if err := p.checkValues(); err != nil {
		return err
	}
	if err := p.addDefault(ctx); err != nil {
		return err
	}
	if err := p.addReference(ctx); err != nil {
		return err
	}
	p.data.Semantics, p.data.Unchecked = p.standing.texts(len(p.points))
	return p.name()
}

// givenOf turns the values of a point of the design into settings.
func (p *sweepPlan) givenOf(values []string) []settings.Given {
	given := make([]settings.Given, len(values))
	for i, v := range values {
		given[i] = p.o.table.GivenFlag(p.axes[i], v, "--vary: "+p.axes[i].Name)
	}
	return given
}

// given are the settings of a point besides those of the default one.
func (p *sweepPlan) given(point int) []settings.Given {
	if q := &p.data.Points[point]; !q.Added {
		return p.givenOf(q.Values)
	}
	return p.points[point].given
}

// addDefault runs the default point too, where the design has it not.
func (p *sweepPlan) addDefault(ctx context.Context) error {
	base := make([]string, len(p.data.Axes))
	for i := range p.data.Axes {
		base[i] = p.data.Axes[i].Base
	}
	s := p.data
	if s.Default = slices.IndexFunc(s.Points, func(q sweepdata.Point) bool { return slices.Equal(q.Values, base) }); s.Default >= 0 {
		return nil
	}
	s.Default = len(s.Points)
	return p.add(ctx, base, nil)
}

// addReference runs round robin with all else equal too, where no point is that
// already.
func (p *sweepPlan) addReference(ctx context.Context) error {
	s := p.data
	if p.base.config.Router.Mode == router.RoundRobin {
		s.Reference = s.Default
		return nil
	}
	values := slices.Clone(s.Points[s.Default].Values)
	for i := range s.Axes {
		if s.Axes[i].Name == "router-mode" {
			values[i] = router.RoundRobin.String()
			s.Reference = slices.IndexFunc(s.Points, func(q sweepdata.Point) bool { return slices.Equal(q.Values, values) })
			if s.Reference >= 0 {
				return nil
			}
		}
	}
	var given []settings.Given
	var flags []sweepdata.Flag
	for _, c := range [2][2]string{{"load-aware", "false"}, {"router-mode", router.RoundRobin.String()}} {
		setting, _ := p.o.table.Lookup(c[0])
		if v := setting.Get(&p.base.settings.Run); v.Text == c[1] {
			continue
		}
		given = append(given, p.o.table.GivenFlag(setting, c[1], "round-robin reference"))
		flag, variable, isSwitch, _ := setting.Dynamo()
		flags = append(flags, sweepdata.Flag{Name: flag, Env: variable, Value: c[1], Bool: isSwitch})
	}
	s.Reference = len(s.Points)
	if err := p.add(ctx, values, given); err != nil {
		return err
	}
	s.Points[s.Reference].Flags = flags
	return nil
}

// candidate is a point that is being worked out.
type candidate struct {
	point sweepdata.Point
	given []settings.Given
	run   *replayed // nil once the key is known
	err   error     // why it cannot be run

	semantics string   // of its routers
	unchecked []string // what of them is not checked
}

// addAll appends the points of a design, worked out on all cores.
func (p *sweepPlan) addAll(ctx context.Context, design [][]string) error {
	p.data.Points = make([]sweepdata.Point, 0, len(design)+2) // the default point and round robin
	p.points = make([]planned, 0, len(design)+2)
	do := func(_ context.Context, i int) (*candidate, error) {
		return p.candidate(design[i], p.givenOf(design[i]), false), nil
	}
	var failed error
	sweep.Run(ctx, len(design), runtime.GOMAXPROCS(0), do, func(_ int, c *candidate, err error) {
		if failed = cmp.Or(failed, err); failed == nil {
			failed = p.take(ctx, c)
		}
	})
	if failed == nil && ctx.Err() != nil {
		return &exitError{exitInterrupt, "interrupted while planning the sweep"}
	}
	return failed
}

// add appends one more point.
func (p *sweepPlan) add(ctx context.Context, values []string, given []settings.Given) error {
	return p.take(ctx, p.candidate(values, given, true))
}

// candidate works out a point, as far as that needs no other trace than the
// default point's.
func (p *sweepPlan) candidate(values []string, given []settings.Given, added bool) *candidate {
	s := p.data
	c := &candidate{point: sweepdata.Point{Values: values, Added: added, Flags: s.FlagsOf(values)}, given: given}
	for i := range s.Axes {
		if a := &s.Axes[i]; !math.IsNaN(a.Documented) {
			n := sweep.Numbers(values[i : i+1])
			c.point.Beyond = c.point.Beyond || n != nil && n[0] > a.Documented
		}
	}
	if c.run, c.err = p.resolve(given); c.err == nil {
		c.semantics, c.unchecked = semanticsText(c.run.settings), unchecked(c.run.config)
	}
	if c.err == nil && !added {
		c.err = p.checkTaken(c.run, values)
	}
	if c.err != nil || readingOf(c.run.settings) == p.digests.reading {
		p.close(c, p.digests.trace)
	}
	return c
}

// close gives a point its key.
func (p *sweepPlan) close(c *candidate, trace string) {
	c.point.Key, c.run = p.key(c, trace), nil
}

// take appends a point, for which another trace may have to be read.
func (p *sweepPlan) take(ctx context.Context, c *candidate) error {
	if run := c.run; run != nil {
		if err := p.readTrace(ctx, run); err != nil {
			return err
		}
		if run.trace.Len() != p.base.trace.Len() {
			c.err = fmt.Errorf("found %d rows of the trace, expected %d as at the default point", run.trace.Len(), p.base.trace.Len())
		}
		p.close(c, p.traces[readingOf(run.settings)].digest)
	}
	if !c.point.Added {
		c.given = nil // easily had again
	}
	p.standing.add(c)
	p.data.Points = append(p.data.Points, c.point)
	p.points = append(p.points, planned{given: c.given, err: c.err})
	return nil
}

// resolve works out the run of a point.
func (p *sweepPlan) resolve(given []settings.Given) (*replayed, error) {
	r, err := p.sources.Resolve(given)
	if err != nil {
		return nil, err
	}
	return configured(r, p.paths)
}

// checkTaken makes sure that the values of a point are those of its run: a
// policy file and presets win over everything.
func (p *sweepPlan) checkTaken(run *replayed, values []string) error {
	for i, v := range values {
		s := p.axes[i]
		if got := s.Get(&run.settings.Run); got.Text != v {
			return fmt.Errorf("%s: the %s sets %s, so the value %s has no effect; leave it out or do not vary the setting", s.Name, run.settings.Origin(s), got.Text, v)
		}
	}
	return nil
}

// checkValues refuses a value with which no point can be run: it is bad input,
// not a point that fails.
func (p *sweepPlan) checkValues() error {
	for i := range p.data.Axes {
		first, ok := map[string]error{}, map[string]bool{}
		for j := range p.points {
			v, err := p.data.Points[j].Values[i], p.points[j].err
			if err == nil {
				ok[v] = true
			} else if first[v] == nil {
				first[v] = err
			}
		}
		for _, v := range p.data.Axes[i].Values {
			if !ok[v] && first[v] != nil {
				return fmt.Errorf("%s=%s: %w", p.data.Axes[i].Name, v, first[v])
			}
		}
	}
	return nil
}

// name gives points their ids: the beginning of the key, as long as it takes to
// tell them apart.
func (p *sweepPlan) name() error {
	points := p.data.Points
	for digits := 8; ; digits++ {
		seen := map[string]int{}
		unique := true
		for i := range points {
			id := points[i].Key[:digits]
			if j, ok := seen[id]; ok {
				if points[i].Key == points[j].Key {
					return fmt.Errorf("found the points %s and %s, which are one configuration, expected different ones",
						strings.Join(points[j].Values, " "), strings.Join(points[i].Values, " "))
				}
				unique = false
				break
			}
			seen[id] = i
			points[i].ID = id
		}
		if unique {
			return nil
		}
	}
}

// digests are what the keys of all points have in common.
type digests struct {
	head    string   // the program
	reading reading  // of the default point
	trace   string   // of the default point
	texts   []string // the default point's values
	files   sync.Map // line of a file by its name
}

func (d *digests) begin(p *sweepPlan) {
	d.head = fmt.Sprintf("routesim sweep %d\nversion %s%s\n", sweepdata.Schema, programVersion(), revision())
	r := p.base.settings
	d.reading = readingOf(r)
	d.trace = p.traces[d.reading].digest
	r.Texts(nil, nil, func(_ *settings.Setting, text string) { d.texts = append(d.texts, text) })
}

// file is the line of a file in a key.
func (d *digests) file(name string) string {
	line, ok := d.files.Load(name)
	if !ok {
		line = ""
		if text, err := os.ReadFile(name); err == nil {
			line = fmt.Sprintf("file %x\n", sha256.Sum256(text))
		}
		d.files.Store(name, line)
	}
	return line.(string)
}

// key is the digest of everything that the runs of a point depend on, the seed
// excepted: the resolved configuration, the files it names, the trace, the
// program's version and commit, and the layout of results.
func (p *sweepPlan) key(c *candidate, trace string) string {
	d := &p.digests
	b := append(make([]byte, 0, 8<<10), d.head...)
	if c.err != nil {
		for name, v := range sortedValues(p.data.Base) {
			b = fmt.Appendf(b, "%s=%v\n", name, v)
		}
		for i := range c.given {
			b = fmt.Appendf(b, "%s=%s\n", c.given[i].Setting.Name, c.given[i].Text)
		}
	} else {
		b = append(append(append(b, "trace "...), trace...), '\n')
		run := &c.run.settings.Run
		c.run.settings.Texts(&p.base.settings.Run, d.texts, func(s *settings.Setting, text string) {
			if s.Name != "seed" {
				b = append(append(append(append(b, s.Name...), '='), text...), '\n')
			}
		})
		for _, name := range filesOf(run) {
			b = append(b, d.file(name)...)
		}
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// filesOf are the files that the workers' timing and settings and the routers'
// policies are read from.
func filesOf(r *settings.Run) (names []string) {
	for _, name := range append([]string{r.Profile}, profilesOf(r)...) {
		if strings.HasSuffix(name, ".yaml") || strings.HasSuffix(name, ".yml") {
			names = append(names, name)
		}
	}
	if name, ok := strings.CutPrefix(r.Timing, "table:"); ok {
		names = append(names, name)
	}
	for _, name := range []string{r.PrefillArgs, r.DecodeArgs} {
		if !strings.HasPrefix(strings.TrimSpace(name), "{") {
			names = append(names, name)
		}
	}
	names = append(names, r.PolicyFiles()...)
	return slices.DeleteFunc(names, func(name string) bool { return name == "" })
}

func profilesOf(r *settings.Run) (names []string) {
	for _, g := range slices.Concat(r.Workers, r.PrefillWorkers, r.DecodeWorkers) {
		names = append(names, g.Profile)
	}
	return names
}
