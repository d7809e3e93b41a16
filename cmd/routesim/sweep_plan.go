package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"routesim/cmd/routesim/internal/settings"
	"routesim/reports"
	"routesim/reports/sweepdata"
	"routesim/sim/router"
	"routesim/sim/sweep"
	"routesim/workloads"
)

// freshStep is the distance between the first seed of a sweep and the first of
// the seeds that confirm its result; the most seeds of a sweep.
const freshStep = 1000

// sweepPlan is a sweep before it is run.
type sweepPlan struct {
	o      *sweepOptions
	paths  []string
	base   *replayed // the default point
	data   *sweepdata.Sweep
	points []planned // by point of data
	traces map[reading]*sweepTrace
	dir    string
}

// planned is a point before it is run.
type planned struct {
	given []settings.Given // besides those of the default point
	err   error            // why it cannot be run
}

// reading is everything that reading a trace depends on besides its files.
type reading struct {
	format, onError string
	block           int32
	explicit        bool
	spread, closed  bool
}

// sweepTrace is a trace that points share.
type sweepTrace struct {
	trace  *workloads.Trace
	digest string
}

// savedSweep is a sweep read from sweep.yaml.
type savedSweep = sweepdata.Sweep

// plan resolves the default point, reads the trace and lists the points.
func (o *sweepOptions) plan(cmd *cobra.Command, args []string) (*sweepPlan, error) {
	p := &sweepPlan{o: o, paths: args, traces: map[reading]*sweepTrace{}, dir: o.output}
	saved, err := o.readFrom(p)
	if err != nil {
		return nil, err
	}
	base, err := o.resolve()
	if err != nil {
		return nil, err
	}
	design, err := o.chooseDesign(saved, base.Run.Seed)
	if err != nil {
		return nil, err
	}
	var dir *outDir
	if p.base, dir, err = o.prepare(cmd, p.paths, base, sweepFiles()...); err != nil {
		return nil, err
	}
	dir.discard()
	if err := p.readTrace(cmd.Context(), p.base); err != nil {
		return nil, err
	}
	listSkipped(cmd.ErrOrStderr(), p.base.trace)
	if err := p.describe(saved, design); err != nil {
		return nil, err
	}
	if err := p.list(cmd.Context(), design); err != nil {
		return nil, err
	}
	return p, p.checkSaved(saved)
}

// chooseDesign makes the design of the command line or of sweep.yaml.
func (o *sweepOptions) chooseDesign(saved *savedSweep, seed uint64) (*sweep.Design, error) {
	if saved != nil {
		return o.designOf(saved)
	}
	return o.design(seed)
}

// readFrom reads --from, which then stands for all settings.
func (o *sweepOptions) readFrom(p *sweepPlan) (*savedSweep, error) {
	if o.from == "" {
		return nil, nil
	}
	text, err := os.ReadFile(o.from)
	if err != nil {
		return nil, fmt.Errorf("--from: %w", err)
	}
	saved, err := sweepdata.ParseConfig(o.from, text)
	if err != nil {
		return nil, err
	}
	if o.recorder.Given, err = o.table.Saved(o.from, "settings", saved.Base); err != nil {
		return nil, err
	}
	for _, s := range o.table.All() {
		if _, ok := saved.Base[s.Name]; !ok && s.Support == settings.Honoured {
			return nil, &workloads.Problem{File: o.from, Field: "settings." + s.Name, Found: "nothing", Want: "its value at the default point"}
		}
	}
	o.noEnv, o.seeds, o.objective, o.target = true, len(saved.Seeds), saved.Objective, percent(saved.SLA.Target)
	if len(p.paths) == 0 {
		p.paths = saved.TracePaths
	}
	return saved, nil
}

// checkSaved makes sure that a sweep made again is the one that was saved.
func (p *sweepPlan) checkSaved(saved *savedSweep) error {
	if saved == nil {
		return nil
	}
	if saved.Trace.Digest != p.data.Trace.Digest {
		return fmt.Errorf("%s: found the trace of digest %.12s, expected %.12s as in %s; give the TRACE the sweep was made with", strings.Join(p.paths, " "), p.data.Trace.Digest, saved.Trace.Digest, p.o.from)
	}
	return nil
}

// describe fills in what does not depend on single points.
func (p *sweepPlan) describe(saved *savedSweep, design *sweep.Design) error {
	r := p.base.settings
	s := &sweepdata.Sweep{
		Version: programVersion(), TracePaths: p.paths, Base: map[string]any{}, Profiles: p.base.profiles,
		SLA:     sweepdata.SLA{TTFT: orZero(r.Run.SLATTFTMS), ITL: orZero(r.Run.SLAITLMS), E2E: orZero(r.Run.SLAE2EMS), Target: p.o.target / 100},
		Default: -1, Reference: -1, Design: gridDesign, Requests: sweepdata.RequestsOf(p.base.trace),
	}
	p.data = s
	switch {
	case saved != nil:
		s.Design = saved.Design
	case p.o.points != "":
		s.Design = "points"
	case p.o.sample != "":
		s.Design = p.o.sample
	}
	t := p.base.trace
	s.Trace = reports.TraceFacts{
		Name: p.base.traceName(), Format: t.Format(), Rows: t.Len(), Skipped: len(t.Skipped()), BlockSize: t.BlockSize(),
		Digest: p.traces[readingOf(r)].digest,
	}
	texts := map[string]string{}
	for _, e := range r.Entries() {
		s.Base[e.Name], texts[e.Name] = e.Value, e.Text
	}
	for i := range p.o.seeds {
		s.Seeds = append(s.Seeds, r.Run.Seed+uint64(i))
	}
	for _, a := range design.Axes {
		s.Axes = append(s.Axes, p.axis(a, texts[a.Name]))
	}
	if saved != nil {
		s.Notes = saved.Notes
	} else {
		s.Notes = append(s.Notes, r.Warnings...)
	}
	if design.Repeated > 0 {
		s.Notes = append(s.Notes, fmt.Sprintf("%d of the points drawn equalled another one and were left out.", design.Repeated))
	}
	p.setCommand(saved)
	return p.setObjective()
}

// setObjective chooses the metric to judge by.
func (p *sweepPlan) setObjective() error {
	s := p.data
	bounded := s.SLA.TTFT > 0 || s.SLA.ITL > 0 || s.SLA.E2E > 0
	for _, a := range s.Axes {
		bounded = bounded || strings.HasPrefix(a.Name, "sla-")
	}
	s.Objective = p.o.objective
	switch {
	case s.Objective == "" && bounded:
		s.Objective = "goodput_share"
	case s.Objective == "":
		s.Objective = "p90_ttft_ms"
	}
	if strings.HasPrefix(s.Objective, "goodput") && !bounded {
		return fmt.Errorf("--objective: found %s without an SLA, expected --sla-ttft-ms, --sla-itl-ms or --sla-e2e-ms with it", s.Objective)
	}
	if s.SLA.Target > 0 && !bounded {
		return fmt.Errorf("--sla-target: found %v without an SLA, expected --sla-ttft-ms, --sla-itl-ms or --sla-e2e-ms with it", percent(s.SLA.Target))
	}
	return nil
}

func orZero(v *float64) float64 {
	if v == nil {
		return 0
	}
	return *v
}

// axis describes an axis of the design.
func (p *sweepPlan) axis(a *sweep.Axis, base string) sweepdata.Axis {
	setting, _ := p.o.table.Lookup(a.Name)
	out := sweepdata.Axis{
		Name: a.Name, Unit: setting.Unit, Values: a.Values, Numbers: sweep.Numbers(a.Values), Base: base,
		Documented: settings.Documented(a.Name),
	}
	if flag, variable, isSwitch, ok := setting.Dynamo(); ok {
		out.Dynamo = &sweepdata.Flag{Name: flag, Env: variable, Bool: isSwitch}
	}
	return out
}

// list resolves every point and gives it its key.
func (p *sweepPlan) list(ctx context.Context, design *sweep.Design) error {
	for _, values := range design.Points {
		if err := p.add(ctx, values, p.givenOf(values), false); err != nil {
			return err
		}
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
	return p.name()
}

// givenOf turns a point's values into settings.
func (p *sweepPlan) givenOf(values []string) (given []settings.Given) {
	for i, v := range values {
		s, _ := p.o.table.Lookup(p.data.Axes[i].Name)
		given = append(given, p.o.table.GivenFlag(s, v, "--vary: "+s.Name))
	}
	return given
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
	return p.add(ctx, base, nil, true)
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
	if err := p.add(ctx, values, given, true); err != nil {
		return err
	}
	s.Points[s.Reference].Flags = flags
	return nil
}

// add appends a point.
func (p *sweepPlan) add(ctx context.Context, values []string, given []settings.Given, added bool) error {
	s := p.data
	point := sweepdata.Point{Values: values, Added: added, Flags: s.FlagsOf(values)}
	for i := range s.Axes {
		if a := &s.Axes[i]; !math.IsNaN(a.Documented) {
			n := sweep.Numbers(values[i : i+1])
			point.Beyond = point.Beyond || n != nil && n[0] > a.Documented
		}
	}
	run, err := p.resolve(given)
	if err == nil && !added {
		err = p.checkTaken(run, values)
	}
	if err == nil {
		if err := p.readTrace(ctx, run); err != nil {
			return err
		}
		if run.trace.Len() != p.base.trace.Len() {
			err = fmt.Errorf("found %d rows of the trace, expected %d as at the default point", run.trace.Len(), p.base.trace.Len())
		}
	}
	point.Key = p.key(run, given, err)
	s.Points = append(s.Points, point)
	p.points = append(p.points, planned{given: given, err: err})
	return nil
}

// resolve works out the run of a point.
func (p *sweepPlan) resolve(given []settings.Given) (*replayed, error) {
	own := p.o.runOptions
	own.recorder = &settings.Recorder{Given: slices.Concat(p.o.recorder.Given, given)}
	r, err := own.resolve()
	if err != nil {
		return nil, err
	}
	return newReplayed(r, p.paths)
}

// checkTaken makes sure that the values of a point are those of its run: a
// policy file and presets win over everything.
func (p *sweepPlan) checkTaken(run *replayed, values []string) error {
	for i, v := range values {
		s, _ := p.o.table.Lookup(p.data.Axes[i].Name)
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

// key is the digest of everything that the runs of a point depend on, the seed
// excepted: the resolved configuration, the files it names, the trace, the
// program's version and commit, and the layout of results.
func (p *sweepPlan) key(run *replayed, given []settings.Given, failed error) string {
	h := sha256.New()
	fmt.Fprintf(h, "routesim sweep %d\nversion %s%s\n", sweepdata.Schema, programVersion(), revision())
	if failed != nil {
		for name, v := range sortedValues(p.data.Base) {
			fmt.Fprintf(h, "%s=%v\n", name, v)
		}
		for i := range given {
			fmt.Fprintf(h, "%s=%s\n", given[i].Setting.Name, given[i].Text)
		}
		return hex.EncodeToString(h.Sum(nil))
	}
	fmt.Fprintf(h, "trace %s\n", p.traces[readingOf(run.settings)].digest)
	for _, e := range run.settings.Entries() {
		if e.Name != "seed" {
			fmt.Fprintf(h, "%s=%s\n", e.Name, e.Text)
		}
	}
	for _, name := range modelFiles(&run.settings.Run) {
		text, err := os.ReadFile(name)
		if err == nil {
			fmt.Fprintf(h, "file %x\n", sha256.Sum256(text))
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

// modelFiles are the files that the workers' timing is read from.
func modelFiles(r *settings.Run) (names []string) {
	for _, name := range append([]string{r.Profile}, profilesOf(r)...) {
		if strings.HasSuffix(name, ".yaml") || strings.HasSuffix(name, ".yml") {
			names = append(names, name)
		}
	}
	if name, ok := strings.CutPrefix(r.Timing, "table:"); ok {
		names = append(names, name)
	}
	return names
}

func profilesOf(r *settings.Run) (names []string) {
	for _, g := range r.Workers {
		names = append(names, g.Profile)
	}
	return names
}

// percent is a share in %, as it was typed.
func percent(share float64) float64 { return math.Round(share*1e8) / 1e6 }
