package main

import (
	"fmt"
	"math"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"routesim/cmd/routesim/internal/manifest"
	"routesim/cmd/routesim/internal/settings"
	"routesim/reports"
	"routesim/reports/sweepdata"
	"routesim/sim/sweep"
	"routesim/sim/synthetic"
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

	sources *settings.Sources
	axes    []*settings.Setting // by axis of data
	digests digests

	standing standing
}

// planned is a point before it is run.
type planned struct {
	given []settings.Given // of an added point, besides those of the default one
	err   error            // why it cannot be run
}

// reading is everything that reading a trace depends on besides its files.
type reading struct {
	format, onError string
	block           int32
	explicit        bool
	spread, closed  bool
	load            synthetic.Load // made in its place
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
	if p.sources, err = o.sources(); err != nil {
		return nil, err
	}
	base, err := o.resolveFrom(p.sources)
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
	if saved != nil { // where its settings come from was known when it was made
		p.data.Semantics = saved.Semantics
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
		return nil, manifest.Unreadable("--from", o.from, err, "a sweep.yaml")
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

// percent is a share in %, as it was typed.
func percent(share float64) float64 { return math.Round(share*1e8) / 1e6 }
