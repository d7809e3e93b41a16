package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"routesim/cmd/routesim/internal/dynamo"
	"routesim/cmd/routesim/internal/settings"
	"routesim/reports"
	"routesim/reports/sweepdata"
	"routesim/sim"
	"routesim/sim/router"
	"routesim/workloads"
)

// runOptions are the options of every command that runs a trace.
type runOptions struct {
	sys      system
	table    *settings.Table
	recorder *settings.Recorder
	pasted   *settings.Pasted // flags of a frontend that mean nothing here

	format     string
	output     string
	config     string
	engineArgs string
	fromDynamo string
	deployment string
	noEnv      bool
	quiet      bool
	says       said

	own *pflag.FlagSet // the flags of these options
}

// said is what a table of results says of settings and workers.
type said uint8

const (
	nothing   said = iota
	semantics      // which routers decide
	all
)

// addTo gives the command a flag for every setting and returns its own options,
// to which the caller may add before putting them on the command.
func (o *runOptions) addTo(cmd *cobra.Command, files, formats string) *pflag.FlagSet {
	o.table = settings.NewTable()
	o.recorder = o.table.Flags(cmd.Flags())
	o.pasted = o.recorder.FrontendFlags(o.table, cmd.Flags(), dynamo.AsideFlags(), dynamo.AsideSwitches())
	f := pflag.NewFlagSet("options", pflag.ContinueOnError)
	f.SortFlags = false
	f.StringVar(&o.format, "format", "table", "what standard output carries, `FORMAT` being "+formats)
	f.StringVarP(&o.output, "output", "o", "", "write "+files+" into `DIR`")
	f.StringVar(&o.config, "config", "", "read settings from `FILE.yaml`")
	f.StringVar(&o.fromDynamo, "from-dynamo", "", "read settings from the manifests of a DynamoGraphDeployment, `FILE.yaml|DIR`")
	f.StringVar(&o.deployment, "dynamo-deployment", "", "which deployment of --from-dynamo, by its `NAME`")
	f.StringVar(&o.engineArgs, "extra-engine-args", "", "engine dictionary of Dynamo's replay, as `JSON|FILE`")
	f.BoolVar(&o.noEnv, "no-env", false, "ignore environment variables")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "no progress bar and no remarks on standard error, only warnings")
	o.own = f
	showSettings(cmd, f, o.table)
	return f
}

// resolve merges flags, environment and files into one configuration.
func (o *runOptions) resolve() (*settings.Resolved, error) {
	s, err := o.sources()
	if err != nil {
		return nil, err
	}
	return o.resolveFrom(s)
}

// resolveFrom is resolve from what has been read.
func (o *runOptions) resolveFrom(s *settings.Sources) (*settings.Resolved, error) {
	r, err := s.Resolve(nil)
	if text := o.pasted.Warning(); err == nil && text != "" {
		r.Warn("%s", text)
	}
	return r, err
}

// sources reads everything that values are taken from.
func (o *runOptions) sources() (*settings.Sources, error) {
	switch o.format {
	case "table", "json", "csv":
	default:
		return nil, badWord("--format", o.format, "table", "json", "csv")
	}
	if err := o.checkEmpty(); err != nil {
		return nil, err
	}
	in := settings.Input{Flags: o.recorder.Given, ConfigFile: o.config, EngineArgs: o.engineArgs}
	if !o.noEnv {
		in.Environ = o.sys.environ
	}
	if o.fromDynamo != "" {
		d, err := dynamo.Read(o.table, o.fromDynamo, o.deployment)
		if err != nil {
			return nil, err
		}
		in.Deployment = d
	} else if o.deployment != "" {
		return nil, fmt.Errorf("--dynamo-deployment: found %s without --from-dynamo, expected both", o.deployment)
	}
	return o.table.Read(in)
}

// checkEmpty refuses options that were given without a value, as an unset
// variable of the shell does.
func (o *runOptions) checkEmpty() error {
	for _, c := range []struct{ name, value, want string }{
		{"output", o.output, "the name of a directory"},
		{"config", o.config, "the path of a YAML file"},
		{"from-dynamo", o.fromDynamo, "the path of a YAML file, or of a folder of them"},
		{"dynamo-deployment", o.deployment, "the name of a deployment"},
		{"extra-engine-args", o.engineArgs, "a JSON object or the path of a JSON file"},
	} {
		if o.own.Lookup(c.name).Changed && strings.TrimSpace(c.value) == "" {
			return fmt.Errorf("--%s: found %q, expected %s", c.name, c.value, c.want)
		}
	}
	return nil
}

// prepare checks everything that can be checked before the trace is read, the
// names of the files to be written included, and says on standard error what the environment did, what models the workers and
// what was given in vain.
func (o *runOptions) prepare(cmd *cobra.Command, args []string, r *settings.Resolved, files ...string) (*replayed, *outDir, error) {
	if len(args) == 0 && r.Run.Load() == nil {
		return nil, nil, fmt.Errorf("%s: expected a TRACE (a file, or - for standard input), or --request-count for a synthetic load", cmd.CommandPath())
	}
	if slices.Contains(args, "") {
		return nil, nil, fmt.Errorf(`%s: found "" as a TRACE, expected a file, or - for standard input`, cmd.CommandPath())
	}
	run, err := newReplayed(r, args)
	if err != nil {
		return nil, nil, err
	}
	var dir *outDir
	if o.output != "" {
		if err := checkKept(o.output, files); err != nil {
			return nil, nil, err
		}
		if dir, err = openOutDir(o.output, files...); err != nil {
			return nil, nil, err
		}
	}
	w := cmd.ErrOrStderr()
	if !o.quiet {
		for _, v := range r.Environment {
			fmt.Fprintf(w, "environment: %s=%s sets %s\n", v.Name, v.Value, v.Setting)
		}
	}
	if !o.quiet {
		for _, line := range r.Listing {
			fmt.Fprintf(w, "from-dynamo: %s\n", line)
		}
	}
	follows := o.follows(cmd)
	if o.says == all && follows {
		return run, dir, nil
	}
	if !o.quiet {
		if text := semanticsText(r); text != "" && !(o.says == semantics && follows) {
			fmt.Fprintf(w, "router semantics: %s\n", text)
		}
		nameProfiles(w, run.profiles)
	}
	for _, text := range r.Warnings {
		fmt.Fprintf(w, "warning: %s\n", text)
	}
	for _, warning := range reports.ProfileWarnings(run.profiles) {
		fmt.Fprintf(w, "warning: %s\n", warning.Text)
	}
	return run, dir, nil
}

// follows reports whether a table on standard output comes to the same place as
// standard error, as on a terminal: what it says need not be said twice.
func (o *runOptions) follows(cmd *cobra.Command) bool {
	stdout, ok := cmd.OutOrStdout().(*os.File)
	stderr, also := cmd.ErrOrStderr().(*os.File)
	if !ok || !also || o.format != "table" {
		return false
	}
	a, err := stdout.Stat()
	b, failed := stderr.Stat()
	return err == nil && failed == nil && os.SameFile(a, b)
}

// checkKept refuses a folder that holds results of the other kind: a run and a
// sweep have files of the same names.
func checkKept(dir string, files []string) error {
	for _, c := range [...]struct{ own, other, found, want string }{
		{"summary.json", sweepdata.ConfigFile, "a sweep's folder", "a run's, a new or an empty one"},
		{sweepdata.ConfigFile, "summary.json", "a run's folder", "a sweep's, a new or an empty one"},
	} {
		if _, err := os.Lstat(filepath.Join(dir, c.other)); err == nil && slices.Contains(files, c.own) {
			return fmt.Errorf("--output: found %s at %s (it has %s), expected %s; choose another DIR", c.found, dir, c.other, c.want)
		}
	}
	return nil
}

// newReplayed turns resolved settings into a run that is ready to read its
// trace.
func newReplayed(r *settings.Resolved, paths []string) (*replayed, error) {
	run, err := configured(r, paths)
	if run != nil {
		run.profiles = factsOf(run.groups)
	}
	return run, err
}

// configured is newReplayed without what is to be said of profiles.
func configured(r *settings.Resolved, paths []string) (*replayed, error) {
	s := &r.Run
	if len(paths) > 0 && s.Load() != nil {
		return nil, fmt.Errorf("request-count: found a synthetic load together with the TRACE %s, expected one or the other", strings.Join(paths, " "))
	}
	groups, err := s.Fleet()
	if err != nil {
		return nil, err
	}
	var faults []sim.Fault
	if s.Faults != "" {
		if faults, err = sim.ParseFaults(s.Faults); err != nil {
			return nil, fmt.Errorf("faults: %w", err)
		}
	}
	c := &sim.Config{
		Router:         s.Router,
		SLA:            sim.SLA{TTFT: s.SLATTFTMS, ITL: s.SLAITLMS, E2E: s.SLAE2EMS},
		Seed:           s.Seed,
		ArrivalSpeedup: s.ArrivalSpeedup,
		Concurrency:    s.Concurrency,
		MaxSimTimeMS:   s.MaxSimTimeMS,

		Frontends: s.Frontends, ReplicaSync: s.ReplicaSync, ReplicaSyncDelayMS: s.ReplicaSyncDelayMS,
		EventLoss: s.EventLoss, RestartAtMS: s.RestartAtMS, ResetStates: s.ResetStates, Restarted: s.Restarted, PrefillRouter: s.PrefillRouter,
		ExpectedOutput: s.ExpectedOutput, SessionFinal: s.SessionFinal, Faults: faults, Clients: s.Clients,
	}
	c.Fleet = workersOf(groups)
	prefill, err := s.PrefillFleet()
	if err != nil {
		return nil, err
	}
	c.Prefill = workersOf(prefill)
	return &replayed{settings: r, paths: paths, config: c, groups: groups}, c.Validate()
}

// replayed is a run, from its settings to its result.
type replayed struct {
	settings *settings.Resolved
	paths    []string // of the trace, none with a synthetic load
	config   *sim.Config
	groups   []settings.Modelled    // of the fleet
	profiles []reports.ProfileFacts // of the groups that have one
	trace    *workloads.Trace
	result   *sim.Result
	reading  time.Duration // wall-clock time of reading the trace
	running  time.Duration // wall-clock time of the simulation
}

// read reads the trace. It gives up when the run is interrupted, even while it
// waits for a pipe.
func (run *replayed) read(ctx context.Context, stdin io.Reader) error {
	start := time.Now()
	done := make(chan error, 1)
	go func() {
		t, err := openTrace(run.paths, run.settings, stdin)
		run.trace = t
		done <- err
	}()
	select {
	case err := <-done:
		run.reading = time.Since(start)
		if err == nil {
			run.warnNamed()
		}
		return hint(run.paths, err)
	case <-ctx.Done():
		if run.settings.Run.Load() != nil {
			return &exitError{exitInterrupt, "interrupted while drawing the synthetic load"}
		}
		return &exitError{exitInterrupt, "interrupted while reading the trace"}
	}
}

// warnNamed says where workers that the rows of the trace name are none, or have no
// effect.
func (run *replayed) warnNamed() {
	c := run.config
	worker, prefill := run.trace.NamedWorkers()
	for _, named := range []struct {
		field string
		most  int32
		size  int
	}{{"worker_id", worker, c.Workers()}, {"prefill_worker_id", prefill, c.PrefillWorkers()}} {
		takes := c.Router.Live != nil && (c.Router.Mode == router.KV || c.Router.Mode == router.Direct)
		switch {
		case named.most < 0:
		case !takes:
			run.settings.Warn("%s of the trace has no effect: only live routers in the modes kv and direct look at it (router-semantics live)", named.field)
		case named.size == 0:
			run.settings.Warn("%s of the trace has no effect: there are no prefill workers", named.field)
		case int(named.most) >= named.size:
			run.settings.Warn("%s of the trace names up to worker %d, where there are 0 to %d: requests that name another are turned away", named.field, named.most, named.size-1)
		}
	}
}

// simulate runs the simulation, with a progress bar if someone is watching.
func (run *replayed) simulate(cmd *cobra.Command, quiet bool) error {
	bar := newProgress(cmd.ErrOrStderr(), "replaying", quiet)
	if bar != nil {
		run.config.Progress = bar.report
	}
	start := time.Now()
	var err error
	run.result, err = sim.Run(cmd.Context(), run.trace, run.config)
	bar.clear()
	run.running = time.Since(start)
	return err
}

// openTrace reads the trace as the settings say.
func openTrace(paths []string, r *settings.Resolved, stdin io.Reader) (*workloads.Trace, error) {
	return openRows(paths, 0, r, stdin)
}

// openRows reads the first rows of a trace, all of them for 0.
func openRows(paths []string, rows int, r *settings.Resolved, stdin io.Reader) (*workloads.Trace, error) {
	run := &r.Run
	if load := run.Load(); load != nil {
		return load.Trace()
	}
	o := workloads.Options{Format: run.TraceFormat, ClosedLoop: run.Concurrency > 0, Stdin: stdin, MaxRows: rows}
	if o.Format == settings.AutoFormat {
		o.Format = ""
	}
	// Dynamo request traces say their block size themselves; a size that is only
	// the default does not contradict them.
	if run.TraceBlockSize != workloads.DefaultBlockSize || r.OnCommandLine("trace-block-size") {
		o.TraceBlockSize = run.TraceBlockSize
	}
	if run.OnError == settings.SkipRows {
		o.OnError = workloads.SkipRow
	}
	t, err := workloads.OpenAll(paths, o)
	if err != nil {
		return nil, err
	}
	if run.ArrivalSpread {
		spread, step := workloads.SpreadArrivals(t)
		r.Warn("arrivals that share a timestamp are spread over steps of up to %g ms (arrival-spread)", step)
		t = spread
	}
	return t, nil
}

// hint explains the value of a switch that was taken for a trace.
func hint(paths []string, err error) error {
	if err == nil {
		return nil
	}
	for _, p := range paths {
		if _, statErr := os.Stat(p); (p == "true" || p == "false") && statErr != nil {
			return fmt.Errorf("%s: found it as a TRACE, expected a file (a switch takes its value after =, as in --load-aware=%s)", p, p)
		}
	}
	return err
}
