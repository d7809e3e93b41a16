package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"routesim/reports/sweepdata"
)

const mergeHelp = `Join the folders that the shards of one sweep wrote into one: the same files as
the whole sweep writes on one machine.

The folders must hold parts of the same sweep: equal settings, axes, seeds,
trace and version. The trace is read again, because the best points are run on
fresh seeds; --trace names it where it lies elsewhere by now.

Exit code 0: complete. 2: folders that do not belong together, or bad usage.
3: runs are missing (they are listed, and what is there has been joined), or
some failed. 130: interrupted.`

// mergeOptions are what one command line says.
type mergeOptions struct {
	sys    system
	output string
	trace  []string
	quiet  bool
	format string
}

func newSweepMerge(sys system) *cobra.Command {
	o := &mergeOptions{sys: sys}
	cmd := &cobra.Command{
		Use:     "merge [flags] DIR... -o DIR",
		Short:   "Join the folders of a sweep's shards",
		Long:    mergeHelp,
		Example: "  routesim sweep merge part-0 part-1 part-2 part-3 -o out",
		Args:    cobra.ArbitraryArgs,
		RunE:    func(cmd *cobra.Command, args []string) error { return o.run(cmd, args) },
	}
	f := cmd.Flags()
	f.StringVarP(&o.output, "output", "o", "", "write the joined sweep into `DIR`")
	f.StringArrayVar(&o.trace, "trace", nil, "the sweep's trace, `FILE`; may be repeated")
	f.StringVar(&o.format, "format", "table", "what standard output carries, `FORMAT` being table or csv (points.csv)")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "no progress bar and no remarks on standard error, only warnings")
	f.SortFlags = false
	cmd.SetHelpFunc(func(cmd *cobra.Command, _ []string) {
		fmt.Fprintf(cmd.OutOrStdout(), "%s\n\nUsage:\n  %s\n\nExamples:\n%s\n\nOptions:\n%s", cmd.Long, cmd.UseLine(), cmd.Example, cmd.Flags().FlagUsagesWrapped(helpColumns))
	})
	return cmd
}

// part is one of the folders to be joined.
type part struct {
	dir  string
	data *sweepdata.Sweep
}

func (o *mergeOptions) run(cmd *cobra.Command, args []string) error {
	parts, err := o.open(cmd, args)
	if err != nil {
		return err
	}
	own := newSweepOptions(o.sys, &cobra.Command{Use: "sweep"})
	own.output, own.quiet, own.format = o.output, o.quiet, o.format
	own.from = filepath.Join(parts[0].dir, sweepdata.ConfigFile)
	plan, err := own.plan(cmd, o.trace)
	if errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%w (name the sweep's trace with --trace)", err)
	}
	if err != nil {
		return err
	}
	plan.paths, plan.data.TracePaths = parts[0].data.TracePaths, parts[0].data.TracePaths
	plan.data.Trace.Name = parts[0].data.Trace.Name
	if err := checkParts(plan.data, parts); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(plan.dir, "runs"), 0o755); err != nil {
		return unwritable(plan.dir, err)
	}
	t, err := plan.collect(cmd, parts)
	if err != nil {
		return err
	}
	return plan.finish(cmd, &t)
}

// open reads the folders.
func (o *mergeOptions) open(cmd *cobra.Command, args []string) (parts []part, err error) {
	switch {
	case o.format != "table" && o.format != "csv":
		return nil, badWord("--format", o.format, "table", "csv")
	case o.output == "":
		return nil, fmt.Errorf("%s: expected -o DIR for the joined sweep", cmd.CommandPath())
	case len(args) == 0:
		return nil, fmt.Errorf("%s: expected the folders of the sweep's shards", cmd.CommandPath())
	}
	for i, dir := range args {
		if dir == "" {
			return nil, fmt.Errorf(`%s: found "", expected the DIR of a sweep`, cmd.CommandPath())
		}
		if sameFolder(dir, o.output) {
			return nil, fmt.Errorf("--output: found %s, which is one of the folders to be joined, expected another one", o.output)
		}
		for _, before := range args[:i] {
			if sameFolder(dir, before) {
				return nil, fmt.Errorf("%s: found the folder twice (%s), expected each once", dir, before)
			}
		}
		s, err := sweepdata.Open(dir)
		if err != nil {
			return nil, err
		}
		parts = append(parts, part{dir, s})
	}
	return parts, nil
}

// sameFolder reports whether two names are of one folder.
func sameFolder(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	if errX != nil || errY != nil {
		return filepath.Clean(a) == filepath.Clean(b)
	}
	return os.SameFile(x, y)
}

// checkParts refuses folders that are not parts of one sweep.
func checkParts(s *sweepdata.Sweep, parts []part) error {
	if v := parts[0].data.Version; v != s.Version {
		return fmt.Errorf("%s: found a sweep of version %s, expected %s, the version of this program; join it with the program that made it", parts[0].dir, v, s.Version)
	}
	for _, p := range parts[1:] {
		if field, found, want := sweepdata.Unlike(p.data, parts[0].data); field != "" {
			return fmt.Errorf("%s: %s: found %s, expected %s as in %s; only parts of one sweep can be joined", p.dir, field, found, want, parts[0].dir)
		}
	}
	if field, found, want := sweepdata.Unlike(parts[0].data, s); field != "" {
		return fmt.Errorf("%s: %s: found %s, expected %s: a file that the sweep names has changed, or the program was built from another commit", parts[0].dir, field, found, want)
	}
	return nil
}

// collect brings the runs of all parts into one folder.
func (p *sweepPlan) collect(cmd *cobra.Command, parts []part) (t tally, err error) {
	var missing []string
	for _, job := range p.jobs() {
		t.total++
		point := &p.data.Points[job.point]
		run, failure, err := p.find(parts, job)
		switch {
		case err != nil:
			return t, err
		case run != nil:
			t.done++
			if run.Saturated {
				t.saturated++
			}
			point.Runs = append(point.Runs, *run)
		case failure != "":
			t.failed++
			point.Fail(job.seed, failure)
		default:
			t.missing++
			missing = append(missing, fmt.Sprintf("missing: point %s (%s), seed %d", point.ID, valuesLine(p.data, point), job.seed))
		}
	}
	const most = 20
	for _, line := range missing[:min(len(missing), most)] {
		fmt.Fprintln(cmd.ErrOrStderr(), line)
	}
	if len(missing) > most {
		fmt.Fprintf(cmd.ErrOrStderr(), "missing: and %d more runs\n", len(missing)-most)
	}
	return t, nil
}

// find looks for a run in all parts, and copies its file. Parts that have the
// same run must agree on it.
func (p *sweepPlan) find(parts []part, job sweepRun) (run *sweepdata.Run, failure string, err error) {
	point := &p.data.Points[job.point]
	from := ""
	for _, part := range parts {
		q := &part.data.Points[job.point]
		if i := slices.IndexFunc(q.Failed, func(f sweepdata.Failure) bool { return f.Seed == job.seed }); i >= 0 {
			failure = q.Failed[i].Error
		}
		// The table of a shard that was killed does not know its last runs.
		found, err := sweepdata.ReadRun(part.dir, point, job.seed)
		switch {
		case err != nil:
			return nil, "", err
		case found == nil:
		case run == nil:
			if err := sweepdata.CopyRun(part.dir, p.dir, point, job.seed); err != nil {
				return nil, "", err
			}
			run, from = found, part.dir
		case !run.Equal(found):
			return nil, "", fmt.Errorf("%s: found the run of point %s with seed %d with other results than in %s, expected equal ones; the sweep was made by different programs", part.dir, point.ID, job.seed, from)
		}
	}
	return run, failure, nil
}
