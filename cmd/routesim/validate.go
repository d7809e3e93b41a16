package main

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"routesim/reports/validation"
	"routesim/sim"
	"routesim/sim/router"
)

const validateHelp = `Replay a Dynamo request trace with every request on the worker that served it,
and compare simulated TTFT, ITL and cached tokens with what was recorded. It
tells how well the worker model fits your fleet, and how often the recorded
worker was one of least cost under the settings given.

With a profile, it also looks for the one factor on all step times that fits the
trace best, and shows what that leaves unexplained.

TRACE is a request trace (dynamo.request.trace.v1) of aggregated serving; several
shards may be given. The fleet has the recorded workers, one for each rank.

Settings are those of routesim replay. Exit codes are as there.`

// validateOptions are what one command line says besides settings.
type validateOptions struct {
	runOptions
	fitSpeed bool
}

func newValidate(sys system) *cobra.Command {
	o := &validateOptions{runOptions: runOptions{sys: sys}}
	cmd := &cobra.Command{
		Use:     "validate [flags] TRACE...",
		Short:   "Compare a replay with what a recorded fleet did",
		Long:    validateHelp,
		Example: "  routesim validate requests.jsonl.gz --timing table:profile.npz\n  routesim validate requests.jsonl.gz --profile h100/llama-3.1-70b/tp4 -o out",
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd, args)
		},
	}
	options := o.addTo(cmd, "validation.json and validation.csv", "table, json or csv (a row per request)")
	options.BoolVar(&o.fitSpeed, "fit-speed", true, "with a profile, look for the one factor on its step times that fits the trace best (about 30 simulations)")
	cmd.Flags().AddFlagSet(options)
	return cmd
}

func (o *validateOptions) run(cmd *cobra.Command, args []string) error {
	r, err := o.resolve()
	if err != nil {
		return err
	}
	if r.Run.Load() != nil {
		return errors.New("request-count: found a synthetic load, expected a TRACE: there is nothing recorded to compare with")
	}
	run, dir, err := o.prepare(cmd, args, r, append(scatterFiles(), "validation.json", "validation.csv")...)
	if err != nil {
		return err
	}
	defer dir.discard()
	if err := run.read(cmd.Context(), o.sys.stdin); err != nil {
		return err
	}
	listSkipped(cmd.ErrOrStderr(), run.trace)
	plan, err := validation.NewPlan(run.trace)
	if err != nil {
		return err
	}
	if err := o.fit(cmd.ErrOrStderr(), run, plan); err != nil {
		return err
	}
	if err := run.simulate(cmd, o.quiet); err != nil {
		return err
	}
	return o.report(cmd, run, plan, dir)
}

// fit gives the run the recorded fleet.
func (o *validateOptions) fit(w io.Writer, run *replayed, plan *validation.Plan) error {
	n := len(plan.Workers)
	switch given := run.config.Workers(); {
	case !run.settings.Explicit("workers"):
		run.setWorkers(n)
	case given < n:
		return fmt.Errorf("workers: found %d, expected at least the %d recorded in the trace", given, n)
	}
	run.config.Force = plan.Force
	if run.config.Router.Mode != router.KV {
		fmt.Fprintf(w, "warning: router-mode %s scores no decision\n", run.config.Router.Mode)
	}
	if !o.quiet {
		for i, p := range plan.Workers {
			fmt.Fprintf(w, "worker %d: recorded worker %d, rank %d\n", i, p.ID, p.Rank)
		}
	}
	return nil
}

// setWorkers gives a fleet of one group another size.
func (run *replayed) setWorkers(n int) {
	run.config.Fleet[0].Count = n
	for i := range run.profiles {
		run.profiles[i].Count = n
	}
}

// correct looks for the speed of the workers at which the run comes closest to
// what was recorded.
func (run *replayed) correct(cmd *cobra.Command, plan *validation.Plan, quiet bool) (*validation.Correction, error) {
	return validation.Correct(func(ratio float64) (*validation.Comparison, error) {
		c := *run.config
		c.Fleet = slices.Clone(c.Fleet)
		for i := range c.Fleet {
			timing, err := run.groups[i].Sped(ratio)
			if err != nil {
				return nil, err
			}
			c.Fleet[i].Timing = timing
		}
		bar := newProgress(cmd.ErrOrStderr(), "fitting the speed", quiet)
		c.Progress = nil
		if bar != nil {
			c.Progress = bar.report
		}
		result, err := sim.Run(cmd.Context(), run.trace, &c)
		bar.clear()
		if err == nil {
			err = cmd.Context().Err()
		}
		if err != nil {
			return nil, err
		}
		return validation.Compare(run.trace, &c, result, plan), nil
	})
}

func (o *validateOptions) report(cmd *cobra.Command, run *replayed, plan *validation.Plan, dir *outDir) error {
	c := validation.Compare(run.trace, run.config, run.result, plan)
	c.Profiles = run.profiles
	if o.fitSpeed && len(run.profiles) > 0 && c.Completed > 0 && cmd.Context().Err() == nil {
		var err error
		if c.Correction, err = run.correct(cmd, plan, o.quiet); err != nil && cmd.Context().Err() == nil {
			return err
		}
	}
	if dir != nil {
		if err := dir.add("validation.json", c.WriteJSON); err != nil {
			return err
		}
		if err := dir.add("validation.csv", c.WriteCSV); err != nil {
			return err
		}
		if err := addScatters(dir, run, c); err != nil {
			return err
		}
		if err := dir.commit(); err != nil {
			return err
		}
	}
	write := c.WriteText
	switch o.format {
	case "json":
		write = c.WriteJSON
	case "csv":
		write = c.WriteCSV
	}
	if err := write(cmd.OutOrStdout()); err != nil {
		return err
	}
	dir.tell(cmd.ErrOrStderr(), o.quiet)
	switch {
	case cmd.Context().Err() != nil:
		return &exitError{exitInterrupt, fmt.Sprintf("interrupted: %d of %d requests completed", c.Completed, c.Requests)}
	case c.Completed == 0:
		return &exitError{exitNothing, "no request completed"}
	}
	return nil
}
