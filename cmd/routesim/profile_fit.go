package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"routesim/models/profile"
	"routesim/models/profile/fit"
	"routesim/models/profile/measured"
	"routesim/reports/accuracy"
	"routesim/reports/fitview"
)

const profileFitHelp = `Fit a profile to measurements of your own and write it to a file that --profile
takes. Standard output tells the fitted numbers, the errors and the residuals.

MEASURED is any of the following, told apart by their content; several may be given:
  engine steps (CSV)      prefill_tokens, prefill_chunks, prefill_cached_tokens,
                          decode_seqs, decode_context_tokens, step_ms
  serving runs (CSV)      isl, osl, concurrency, ttft_ms, tpot_ms, output_tok_s;
                          where known n_requests, ttft_stat, tpot_stat,
                          max_num_batched_tokens, max_num_seqs, shortest_share
  vLLM bench_serving      the JSON of --save-result
  SGLang bench_serving    the JSON lines of --output-file
  AIPerf                  profile_export_aiperf.json or profile_export.jsonl
Runs must have kept a fixed number of requests in flight, without shared prompts.
prefill_cached_tokens are those cached or computed before, summed over the chunks.

With --base, only what the engine adds to the GPU's time is fitted: a factor, time
per step, per sequence, per step with prefill and per request. Numbers that the data
do not tell stay as they were. Without it, a profile of its own is fitted to the
data alone, and --gpu, --model and --tp name the worker.`

// profileFitOptions are the options of routesim profile fit.
type profileFitOptions struct {
	base, output, plots, form string
	worker                    profile.Worker
}

func newProfileFit() *cobra.Command {
	o := &profileFitOptions{}
	cmd := &cobra.Command{
		Use:     "fit [flags] MEASURED...",
		Short:   "Fit a profile to your own measurements",
		Long:    profileFitHelp,
		Example: "  routesim profile fit bench.json --base h100/qwen3-32b/tp2 -o my.yaml\n  routesim profile fit steps.csv --gpu h100 --model my-model --tp 2 --kv-bytes-per-token 131072 --kv-capacity-tokens 400000 --max-model-len 32768 -o my.yaml",
		RunE:    func(cmd *cobra.Command, args []string) error { return o.run(cmd, args) },
	}
	f := cmd.Flags()
	f.StringVar(&o.base, "base", "", "start from `PROFILE`, a name or a file")
	f.StringVarP(&o.output, "output", "o", "", "write the profile to `FILE.yaml`")
	f.StringVar(&o.plots, "plots", "", "write figures of predicted against measured into `DIR`")
	addFormat(f, &o.form, "table", "json", "csv")
	f.StringVar(&o.worker.GPU, "gpu", "", "without --base: the GPU, such as h100")
	f.StringVar(&o.worker.Engine, "engine", "", "without --base: the engine (vllm)")
	f.StringVar(&o.worker.Model, "model", "", "without --base: the model, such as llama-3.1-70b")
	f.IntVar(&o.worker.TP, "tp", 0, "without --base: GPUs of the worker (1)")
	f.StringVar(&o.worker.WeightDType, "weight-dtype", "", "without --base: bf16 or fp8 (bf16)")
	f.StringVar(&o.worker.KVDType, "kv-dtype", "", "without --base: bf16 or fp8 (bf16)")
	f.Int64Var(&o.worker.KVBytesPerToken, "kv-bytes-per-token", 0, "without --base: KV `bytes` of a token, whole worker (from the model)")
	f.Int64Var(&o.worker.KVCapacityTokens, "kv-capacity-tokens", 0, "without --base: KV `tokens` the worker holds (from GPU and model)")
	f.Int64Var(&o.worker.MaxModelLen, "max-model-len", 0, "without --base: longest sequence in `tokens` (from the model)")
	return cmd
}

func (o *profileFitOptions) run(cmd *cobra.Command, args []string) error {
	options, err := o.prepare(cmd, args)
	if err != nil {
		return err
	}
	out, err := openOutDir(filepath.Dir(o.output))
	if err != nil {
		return err
	}
	defer out.discard()
	r, err := fit.Fit(cmd.Context(), *options)
	if cmd.Context().Err() != nil {
		return &exitError{exitInterrupt, "interrupted"}
	}
	if err != nil {
		return err
	}
	if o.plots != "" {
		if err := o.draw(r); err != nil {
			return err
		}
	}
	if err := out.add(filepath.Base(o.output), func(w io.Writer) error { return writeProfile(w, r.Profile) }); err != nil {
		return err
	}
	if err := out.commit(); err != nil {
		return err
	}
	write, err := o.writer(r)
	if err != nil {
		return err
	}
	if err := write(cmd.OutOrStdout()); err != nil {
		return err
	}
	_, err = fmt.Fprintf(cmd.ErrOrStderr(), "wrote %s: %s\n", o.output, r.Profile.Summary())
	return err
}

// prepare checks the command line and reads the measurements.
func (o *profileFitOptions) prepare(cmd *cobra.Command, args []string) (*fit.Options, error) {
	if len(args) == 0 {
		return nil, fmt.Errorf("%s: expected MEASURED files", cmd.CommandPath())
	}
	if !strings.HasSuffix(o.output, ".yaml") && !strings.HasSuffix(o.output, ".yml") {
		return nil, fmt.Errorf("--output: found %q, expected a FILE.yaml to write the profile to", o.output)
	}
	if _, err := o.writer(nil); err != nil {
		return nil, err
	}
	options := &fit.Options{Predict: predict}
	var err error
	if o.base != "" {
		if o.worker != (profile.Worker{}) {
			return nil, fmt.Errorf("--base: found together with a description of the worker, expected one or the other (the base describes it)")
		}
		options.Base, err = profile.Load(o.base)
	} else if o.worker.GPU == "" || o.worker.Model == "" {
		return nil, fmt.Errorf("--base: found none, expected a PROFILE to start from, or --gpu and --model")
	} else {
		options.Blank, err = profile.Blank(o.worker)
	}
	if err != nil {
		return nil, err
	}
	options.Data, err = measured.Read(args...)
	return options, err
}

func (o *profileFitOptions) writer(r *fit.Result) (writer, error) {
	return chooseFormat(o.form, []string{"table", "json", "csv"},
		func(w io.Writer) error { return fitview.WriteText(w, r) },
		func(w io.Writer) error { return fitview.WriteJSON(w, r) },
		func(w io.Writer) error { return fitview.WriteCSV(w, r) })
}

func (o *profileFitOptions) draw(r *fit.Result) error {
	pictures, err := fitview.Pictures(r)
	if err != nil {
		return err
	}
	dir, err := openOutDir(o.plots)
	if err != nil {
		return err
	}
	defer dir.discard()
	for _, p := range pictures {
		if err := addPicture(dir, p.Name, p.Figure); err != nil {
			return err
		}
	}
	return dir.commit()
}

// predict simulates a serving run.
func predict(ctx context.Context, p *profile.Profile, r *measured.Run) (fit.Prediction, error) {
	o, err := accuracy.Simulate(ctx, p, r)
	if err != nil {
		return fit.Prediction{}, err
	}
	return fit.Prediction{TTFT: o.FirstToken(r.TTFTStat), TPOT: o.PerOutputToken(r.TPOTStat), Throughput: o.OutputRate}, nil
}
