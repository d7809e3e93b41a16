package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"routesim/cmd/routesim/internal/settings"
	"routesim/reports"
)

const replayHelp = `Replay a request trace through the router and the workers it routes to.

TRACE is a Mooncake JSONL file or a Dynamo request trace (several shards may be
given), plain, gzip or zstd; - reads standard input. --request-count makes a
synthetic load in its place.

Every setting below is a flag, a key of the --config file (kebab or snake case)
and, where a variable is named, an environment variable. The strongest source
wins: policy file's router section, --load-aware preset, flag, engine
dictionary, --from-dynamo, environment, --config file, default. Switches have a
--no- form; "none" clears a limit.

Without --profile and --timing the workers are those of the GPU profile
h100/vllm/llama-3.1-70b/tp4. Dynamo's own replay uses --timing dynamo-polynomial.

The router mode defaults to kv, where Dynamo's own default is round-robin.

Standard output carries one document. Exit code 0: done. 1: nothing completed.
2: bad input or usage. 130: interrupted, what was finished has been written.`

const replayExample = `  routesim replay trace.jsonl
  routesim replay trace.jsonl --workers 4 --router-mode round-robin -o out
  routesim replay trace.jsonl --router-temperature 0.5 --format json
  routesim replay trace.jsonl --workers 6xh100/llama-3.1-70b/tp4,2xa100/llama-3.1-70b/tp4@max_num_seqs=64
  routesim replay trace.jsonl --from-dynamo deployment.yaml
  routesim replay --request-count 500 --input-tokens 4000 --output-tokens 200 --request-rate 6
  routesim replay trace.jsonl --print-config > run.yaml`

// replayOptions are what one command line says besides settings.
type replayOptions struct {
	runOptions
	printConfig bool
}

func newReplay(sys system) *cobra.Command {
	o := &replayOptions{runOptions: runOptions{sys: sys, says: all}}
	cmd := &cobra.Command{
		Use:     "replay [flags] [TRACE...]",
		Short:   "Replay a trace and report latency, cache reuse and balance",
		Long:    replayHelp,
		Example: replayExample,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd, args)
		},
	}
	options := o.addTo(cmd, "summary.json, requests.parquet and workers.parquet", "table, json (summary.json) or csv (a row per request)")
	options.BoolVar(&o.printConfig, "print-config", false, "print every setting with its origin and stop; the output is a --config file")
	cmd.Flags().AddFlagSet(options)
	return cmd
}

func (o *replayOptions) run(cmd *cobra.Command, args []string) error {
	r, err := o.resolve()
	if err != nil {
		return err
	}
	if o.printConfig {
		return o.print(cmd.OutOrStdout(), r)
	}
	run, dir, err := o.prepare(cmd, args, r, runFiles()...)
	if err != nil {
		return err
	}
	defer dir.discard()
	if err := run.read(cmd.Context(), o.sys.stdin); err != nil {
		return err
	}
	if err := run.simulate(cmd, o.quiet); err != nil {
		return err
	}
	return o.report(cmd, run, dir)
}

// print writes the resolved configuration.
func (o *replayOptions) print(w io.Writer, r *settings.Resolved) error {
	switch o.format {
	case "json":
		return r.WriteJSON(w)
	case "csv":
		return r.WriteCSV(w)
	}
	if err := r.WriteYAML(w); err != nil {
		return err
	}
	if err := writeWorkers(w, r); err != nil {
		return err
	}
	return writeTiers(w, r)
}

// writeTiers adds how large the tiers below the workers' devices are, as
// comments.
func writeTiers(w io.Writer, r *settings.Resolved) error {
	prefill, err := r.Run.PrefillFleet()
	if err != nil {
		return err
	}
	fleet, err := r.Run.Fleet()
	if err != nil {
		return err
	}
	sizes := reports.TierSizes(workersOf(prefill), workersOf(fleet))
	for _, tier := range [...]string{"host", "disk"} {
		if text := reports.SizesOf(tier, sizes); text != "" {
			if _, err := fmt.Fprintf(w, "# num-%s-blocks: %s\n", tier, text); err != nil {
				return err
			}
		}
	}
	return nil
}

// writeWorkers adds what the settings amount to for each group of workers that
// a profile models, as comments.
func writeWorkers(w io.Writer, r *settings.Resolved) error {
	if r.Run.Timing != "" {
		return nil
	}
	groups, err := r.Run.Fleet()
	if err != nil {
		return err
	}
	facts := factsOf(groups)
	for i := range facts {
		f := &facts[i]
		if _, err := fmt.Fprintf(w, "# %d x %s (grade %s): num-gpu-blocks %d, max-model-len %d, max-num-seqs %d, max-num-batched-tokens %d\n",
			f.Count, f.ID, f.Grade, f.KVBlocks, f.MaxModelLen, f.KVBasis.MaxNumSeqs, f.KVBasis.BatchedTokens); err != nil {
			return err
		}
	}
	return nil
}
