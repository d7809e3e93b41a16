package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"routesim/cmd/routesim/internal/settings"
	"routesim/reports/sweepdata"
	"routesim/sim/sweep"
)

const sweepHelp = `Run a trace with many settings and say which ones to use.

Every setting of routesim replay can be varied, fleet and load included:

  --vary NAME=1,2,4        a list; separated by semicolons where values have
                           commas: 'workers=6xA,2xB;8xA', or 'workers=6xA,2xB;'
  --vary NAME=0:2:0.1      from 0 to 2 in steps of 0.1, both ends included
  --vary NAME=log:1:100:5  5 values with equal ratios
  --vary NAME=0..2         a range, with --sample

Several --vary make a grid of all combinations; --sample lhs:N draws N of them
by a Latin hypercube. --points FILE.csv lists points: its first line names
settings. Every point is run with --seeds N seeds, counted up from --seed. The
settings given besides are those of the default point, which is run as well, as
is round robin with all else equal.

DIR receives report.html, points.csv and points.parquet (a row per point and
seed), sweep.yaml (--from DIR/sweep.yaml makes the sweep again),
requests.parquet, plots/ and a file per run in runs/. Finished runs are kept
there: after Ctrl-C the same command goes on where it was, and with more seeds
or values only the new ones are run. Results depend on neither the number of
cores nor the order in which runs end.

--shard I/N makes every N-th run only, for one of N machines; routesim sweep
merge joins their folders.

Exit code 0: all points done. 2: bad input or usage. 3: some points failed.
130: interrupted; finished runs are kept.`

const sweepExample = `  routesim sweep trace.jsonl --vary router-kv-overlap-score-credit=0:2:0.1 -o out
  routesim sweep trace.jsonl --vary workers=4:16:2 --vary arrival-speedup-ratio=0.5,1,2 --seeds 1 -o out
  routesim sweep trace.jsonl --vary router-prefill-load-scale=0..4 --vary router-temperature=0..1 --sample lhs:40 -o out
  routesim sweep --request-count 500 --input-tokens 4000 --output-tokens 200 --request-rate 4 --vary request-rate=2,4,8 -o load
  routesim sweep --from out/sweep.yaml -o again`

// gridDesign is the name of a design of all combinations.
const gridDesign = "grid"

// sweepOptions are what one command line says besides settings.
type sweepOptions struct {
	runOptions
	vary       []string
	sample     string
	points     string
	seeds      int
	objective  string
	target     float64
	from       string
	shardText  string
	shardCount int

	shard sweep.Shard
}

func newSweep(sys system) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "sweep [flags] [TRACE...]",
		Short:   "Run a trace with many settings and say which ones to use",
		Long:    sweepHelp,
		Example: sweepExample,
		Args:    cobra.ArbitraryArgs,
	}
	o := newSweepOptions(sys, cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return o.run(cmd, args) }
	cmd.AddCommand(newSweepMerge(sys))
	return cmd
}

// newSweepOptions gives a command the flags of a sweep.
func newSweepOptions(sys system, cmd *cobra.Command) *sweepOptions {
	o := &sweepOptions{runOptions: runOptions{sys: sys, says: semantics}}
	f := o.addTo(cmd, "the report, tables, plots and runs", "table or csv (points.csv)")
	f.StringArrayVar(&o.vary, "vary", nil, "vary a setting, `NAME=LIST`; may be repeated")
	f.StringVar(&o.sample, "sample", "", "draw N points instead of all combinations, `lhs:N`")
	f.StringVar(&o.points, "points", "", "read points from `FILE.csv`")
	settings.Once(f, "sample", "points")
	f.IntVar(&o.seeds, "seeds", 6, "runs of every point, `N` seeds from --seed up")
	f.StringVar(&o.objective, "objective", "", "`METRIC` to judge by, a column of points.csv (default p90_ttft_ms, with an SLA goodput_share)")
	f.Float64Var(&o.target, "sla-target", 0, "share of requests that shall keep within the SLA, `PCT`")
	f.StringVar(&o.from, "from", "", "make the sweep of a `sweep.yaml` again")
	f.StringVar(&o.shardText, "shard", "", "make part I of N only, `I/N` from 0/N (or I alone with --shard-count)")
	f.IntVar(&o.shardCount, "shard-count", 0, "number of shards `N` where --shard or JOB_COMPLETION_INDEX gives I (or variable ROUTESIM_SHARDS)")
	cmd.Flags().AddFlagSet(f)
	return o
}

func (o *sweepOptions) run(cmd *cobra.Command, args []string) error {
	if err := o.check(cmd, args); err != nil {
		return err
	}
	if o.target > 0 && o.target < 1 {
		fmt.Fprintf(cmd.ErrOrStderr(), "warning: --sla-target: found %v %%: a percentage is expected; %v for %v\n", o.target, percent(o.target), o.target)
	}
	plan, err := o.plan(cmd, args)
	if err != nil {
		return err
	}
	return o.carryOut(cmd, plan)
}

// check finds bad options before anything is read.
func (o *sweepOptions) check(cmd *cobra.Command, args []string) error {
	switch {
	case o.format != "table" && o.format != "csv":
		return badWord("--format", o.format, "table", "csv")
	case o.seeds < 1 || o.seeds > freshStep:
		return fmt.Errorf("--seeds: found %d, expected a number from 1 to %d", o.seeds, freshStep)
	case o.own.Lookup("sla-target").Changed && !(o.target > 0 && o.target <= 100):
		return fmt.Errorf("--sla-target: found %v, expected a percentage above 0 and up to 100", o.target)
	case o.own.Lookup("objective").Changed && sweepdata.MetricIndex(o.objective) < 0:
		return unknownMetric("--objective", o.objective)
	case o.output == "":
		if err := o.checkEmpty(); err != nil {
			return err
		}
		return fmt.Errorf("%s: expected -o DIR, where results are kept and an interrupted sweep goes on", cmd.CommandPath())
	}
	for _, name := range []string{"sample", "points", "from", "shard"} {
		if f := o.own.Lookup(name); f.Changed && strings.TrimSpace(f.Value.String()) == "" {
			return fmt.Errorf("--%s: found %q, expected %s", name, f.Value.String(), map[string]string{
				"sample": "lhs:N", "points": "the path of a CSV file", "from": "the path of a sweep.yaml", "shard": "I/N",
			}[name])
		}
	}
	if o.from != "" {
		if err := o.checkFrom(); err != nil {
			return err
		}
	}
	var err error
	o.shard, err = o.parseShard()
	return err
}

// checkFrom refuses what sweep.yaml says already.
func (o *sweepOptions) checkFrom() error {
	for _, name := range []string{"vary", "sample", "points", "seeds", "objective", "sla-target", "config", "from-dynamo", "extra-engine-args"} {
		if o.own.Lookup(name).Changed {
			return fmt.Errorf("--%s: found together with --from, expected one or the other (sweep.yaml says it all)", name)
		}
	}
	if given := o.recorder.Given; len(given) > 0 {
		return fmt.Errorf("%s: found together with --from, expected one or the other (sweep.yaml says it all)", given[0].Origin.Where)
	}
	return nil
}

// unknownMetric is the error for a name that no metric has.
func unknownMetric(where, name string) error {
	var names []string
	for _, m := range sweepdata.Metrics() {
		names = append(names, m.Name)
	}
	if near := settings.Nearest(name, names); near != "" {
		return fmt.Errorf("%s: found %q, expected a metric; did you mean %s?", where, name, near)
	}
	return fmt.Errorf("%s: found %q, expected one of %s", where, name, strings.Join(names, ", "))
}

// parseShard finds out which part of the sweep to make.
func (o *sweepOptions) parseShard() (sweep.Shard, error) {
	vars := map[string]string{}
	for _, e := range o.sys.environ {
		name, value, _ := strings.Cut(e, "=")
		vars[name] = value
	}
	if o.own.Lookup("shard-count").Changed && o.shardCount < 1 {
		return sweep.Shard{}, fmt.Errorf("--shard-count: found %d shards, expected a number of at least 1", o.shardCount)
	}
	index, where, count := o.shardText, "--shard", strconv.Itoa(o.shardCount)
	countWhere := "--shard-count"
	if before, after, ok := strings.Cut(o.shardText, "/"); ok {
		if o.shardCount != 0 {
			return sweep.Shard{}, errors.New("--shard-count: found together with --shard I/N, expected one or the other")
		}
		index, count, countWhere = before, after, "--shard"
	} else if o.shardCount == 0 {
		count, countWhere = vars["ROUTESIM_SHARDS"], "ROUTESIM_SHARDS"
	}
	if index == "" && count != "" {
		index, where = vars["JOB_COMPLETION_INDEX"], "JOB_COMPLETION_INDEX"
	}
	switch {
	case index == "" && count == "":
		return sweep.Shard{}, nil
	case index == "":
		return sweep.Shard{}, fmt.Errorf("%s: found %s without a number of the shard, expected --shard I/%s or the variable JOB_COMPLETION_INDEX", countWhere, count, count)
	case count == "":
		return sweep.Shard{}, fmt.Errorf("%s: found %q, expected I/N, or --shard-count N (or the variable ROUTESIM_SHARDS) with it", where, index)
	}
	n, err := strconv.Atoi(count)
	if err != nil || n < 1 {
		return sweep.Shard{}, fmt.Errorf("%s: found %q shards, expected a number of at least 1", countWhere, count)
	}
	i, err := strconv.Atoi(index)
	if err != nil || i < 0 || i >= n {
		return sweep.Shard{}, fmt.Errorf("%s: found %q, expected a number from 0 to %d", where, index, n-1)
	}
	return sweep.Shard{Index: i, Count: n}, nil
}

// sharded reports whether only a part of the sweep is made.
func (o *sweepOptions) sharded() bool { return o.shard.Count > 1 }
