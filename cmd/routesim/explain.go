package main

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/spf13/cobra"

	"routesim/cmd/routesim/internal/settings"
	"routesim/reports"
	"routesim/reports/explain"
	"routesim/reports/table"
)

const explainHelp = `Take routing decisions of a saved run apart: for every worker the prefix overlap
the router believed in, the terms of its cost, the cost and the chance of being
chosen; and, by replaying the alternative, the TTFT the request would have had
there and what it would have meant to all others. In each alternative only this
decision is forced: later ones stay free, under the same draws.

Where another policy decided, the table shows what it read of each worker and
the cost of each of its scorers; in other modes than kv, the loads that the mode
compared. A worker that could not be chosen stands there with the reason. With
separate pools both stages are explained, each on its own: the alternatives of
the prefill stage by TTFT, those of the decode stage by ITL and E2E.

RUN is the folder that replay -o wrote, or that of a sweep, of which --point
names a point. The trace is found beside it, one folder up or in the working
directory, or given with --trace.

--request N is a row number of requests.parquet, from 0. --worst N takes the N
decisions with the most regret: KV blocks of the prompt that another worker's
engine held and the chosen one's did not; among equals, cost above the least.

Exit code 0: done. 2: bad input or usage. 130: interrupted.`

// explainOptions are what one command line says.
type explainOptions struct {
	sys     system
	request int
	worst   int
	trace   string
	point   string // of a sweep
	seed    uint64
	format  string
	quiet   bool
}

func newExplain(sys system) *cobra.Command {
	o := &explainOptions{sys: sys}
	cmd := &cobra.Command{
		Use:     "explain RUN --request N | --worst N",
		Short:   "Show why a request went where it went, and what else would have come of it",
		Long:    explainHelp,
		Example: "  routesim replay trace.jsonl -o out && routesim explain out --request 17\n  routesim explain out --worst 20 --trace trace.jsonl --format json\n  routesim explain tune --point chosen --worst 5",
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd, args)
		},
	}
	f := cmd.Flags()
	f.IntVar(&o.request, "request", -1, "explain the decision of request `N` (row, from 0)")
	f.Lookup("request").DefValue = "0" // the help shows none
	settings.Once(f, "request")
	f.IntVar(&o.worst, "worst", 0, "explain the `N` decisions with the most regret")
	f.StringVar(&o.trace, "trace", "", "the run's trace, `FILE`; several shards with commas")
	f.StringVar(&o.point, "point", "", "of a sweep: explain this point, by `ID`, default, chosen or reference")
	f.Uint64Var(&o.seed, "seed", 0, "of a sweep: the point's run with this `SEED`, otherwise its first one")
	settings.Once(f, "point")
	settings.Once(f, "seed")
	f.StringVar(&o.format, "format", "table", "what standard output carries, `FORMAT` being table or json")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "no progress bar")
	return cmd
}

func (o *explainOptions) run(cmd *cobra.Command, args []string) error {
	if err := o.check(cmd, args); err != nil {
		return err
	}
	open := o.open
	if isSweep(args[0]) {
		open = o.openPoint
	}
	run, err := open(cmd, args[0])
	if err != nil {
		return err
	}
	base := &explain.Base{Trace: run.trace, Config: run.config, Result: run.result}
	wanted := base.Worst(o.worst)
	if o.worst == 0 {
		if wanted, err = base.Of(int32(o.request)); err != nil {
			return err
		}
	}
	list, err := base.Decisions(cmd.Context(), wanted, runtime.GOMAXPROCS(0), o.progress(cmd))
	if err != nil {
		return interruptedOr(cmd, err)
	}
	return o.write(cmd.OutOrStdout(), list)
}

// check refuses command lines that mean nothing.
func (o *explainOptions) check(cmd *cobra.Command, args []string) error {
	byRow, byRegret := cmd.Flags().Changed("request"), cmd.Flags().Changed("worst")
	switch {
	case len(args) == 1 && args[0] == "":
		return fmt.Errorf(`%s: found "", expected one RUN (the folder that replay -o wrote)`, cmd.CommandPath())
	case len(args) != 1:
		return fmt.Errorf("%s: found %d arguments, expected one RUN (the folder that replay -o wrote)", cmd.CommandPath(), len(args))
	case byRow == byRegret:
		return fmt.Errorf("%s: expected either --request N or --worst N", cmd.CommandPath())
	case byRow && (o.request < 0 || o.request > 1<<31-1):
		return fmt.Errorf("--request: found %d, expected a row number of at least 0", o.request)
	case byRegret && o.worst < 1:
		return fmt.Errorf("--worst: found %d, expected at least 1", o.worst)
	case o.format != "table" && o.format != "json":
		return badWord("--format", o.format, "table", "json")
	case o.point == "" && cmd.Flags().Changed("seed"):
		return fmt.Errorf("--seed: found it without --point, expected both: a seed names a run of a sweep's point")
	case o.point != "" && !isSweep(args[0]):
		return fmt.Errorf("--point: found it with %s, which is no sweep, expected the folder of one", args[0])
	case cmd.Flags().Changed("trace") && slices.ContainsFunc(strings.Split(o.trace, ","), func(path string) bool { return strings.TrimSpace(path) == "" }):
		return fmt.Errorf("--trace: found %q, expected the path of the run's trace, or of its shards with commas between them", o.trace)
	}
	return nil
}

// open prepares the saved run to be run again, with its trace read.
func (o *explainOptions) open(cmd *cobra.Command, dir string) (*replayed, error) {
	t := settings.NewTable()
	saved, err := openSavedRun(t, dir)
	if err != nil {
		return nil, err
	}
	paths := strings.Split(o.trace, ",")
	switch {
	case saved.trace == syntheticName && o.trace == "":
		paths = nil
	case o.trace == "":
		if paths, err = saved.findTrace(dir); err != nil {
			return nil, err
		}
	}
	r, err := t.Resolve(settings.Input{Flags: saved.settings})
	if err != nil {
		return nil, notThere(dir, err)
	}
	run, err := newReplayed(r, paths)
	if err != nil {
		return nil, notThere(dir, err)
	}
	if err := run.read(cmd.Context(), o.sys.stdin); err != nil {
		return nil, err
	}
	digest := reports.TraceDigest(run.trace)
	if found := hex.EncodeToString(digest[:]); found != saved.digest {
		return nil, fmt.Errorf("%s: found a trace with the digest %.12s..., expected the run's, %.12s...; give the run's own trace with --trace",
			strings.Join(paths, ", "), found, saved.digest)
	}
	requests, err := saved.requests(dir)
	if err != nil {
		return nil, err
	}
	if err := o.checkDecisions(cmd, run, saved); err != nil {
		return nil, err
	}
	return run, requests.check(run.result)
}

// notThere adds to an error of a missing file where the settings of a saved run
// have their files from.
func notThere(dir string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w (a file that the settings of %s name is looked for from here: explain it where it was made)", err, dir)
	}
	return err
}

// checkDecisions makes sure that this program still takes the run's decisions.
func (o *explainOptions) checkDecisions(cmd *cobra.Command, run *replayed, saved *savedRun) error {
	if err := run.simulate(cmd, o.quiet); err != nil {
		return err
	}
	if cmd.Context().Err() != nil {
		return &exitError{exitInterrupt, "interrupted"}
	}
	digest := reports.DecisionDigest(run.result)
	if found := hex.EncodeToString(digest[:]); found != saved.decision {
		return fmt.Errorf("%s: the run was made by version %s and this one, %s, takes other decisions (%.12s..., expected %.12s...); replay the trace again with -o",
			saved.path, saved.version, version, found, saved.decision)
	}
	return nil
}

// progress returns what to call with the number of runs, which returns what to
// call after each of them.
func (o *explainOptions) progress(cmd *cobra.Command) func(total int) func() {
	bar := newProgress(cmd.ErrOrStderr(), "replaying alternatives", o.quiet)
	if bar == nil {
		return nil
	}
	return func(total int) func() {
		var n atomic.Int64
		return func() { bar.report(int(n.Add(1)), total) }
	}
}

func (o *explainOptions) write(w io.Writer, list []explain.Decision) error {
	if o.format == "table" {
		return table.Explain(w, list, terminal(w, o.sys.environ))
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(map[string]any{"decisions": list})
}

// interruptedOr turns an error of a cancelled run into the exit code for it.
func interruptedOr(cmd *cobra.Command, err error) error {
	if cmd.Context().Err() != nil {
		return &exitError{exitInterrupt, "interrupted"}
	}
	return err
}
