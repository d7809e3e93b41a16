package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"routesim/reports/accuracy"
)

const profileAccuracyHelp = `Replay published measurements of serving runs as the closed loops they were, with
the profile that stands for each, and tell how far simulated TTFT, TPOT and output
rate are off: median and 90th percentile of the absolute error and the bias, by GPU,
engine and model. Rows that the shipped calibrations were fitted to stand apart from
those that they were not.

Without --data, the bundled measurements are replayed. FILE.csv has the columns gpu,
engine, model, tp, isl, osl, load, concurrency, ttft_ms, tpot_ms, prefix_cache_free
and easy_to_simulate; used_for_calibration, profile, weight_dtype, kv_dtype_assumed,
output_tok_s, ttft_stat, tpot_stat, n_requests_used, max_num_batched_tokens,
max_num_seqs, shortest_share, row, source, licence and notes are read where they are
there. A row is replayed if its load is "closed loop" and both prefix_cache_free and
easy_to_simulate are yes; the others are counted by reason.`

// profileAccuracyOptions are the options of routesim profile accuracy.
type profileAccuracyOptions struct {
	data, form, output string
	quiet              bool
}

func newProfileAccuracy() *cobra.Command {
	o := &profileAccuracyOptions{}
	cmd := &cobra.Command{
		Use:     "accuracy [flags]",
		Short:   "Compare simulated with published serving runs",
		Long:    profileAccuracyHelp,
		Example: "  routesim profile accuracy\n  routesim profile accuracy --data measurements.csv -o out",
		Args:    noArguments,
		RunE:    func(cmd *cobra.Command, _ []string) error { return o.run(cmd) },
	}
	f := cmd.Flags()
	f.StringVar(&o.data, "data", "", "replay the measurements of `FILE.csv` instead of the bundled ones")
	addFormat(f, &o.form, "table", "json", "csv")
	f.StringVarP(&o.output, "output", "o", "", "write accuracy.json, accuracy.csv, accuracy.md and figures into `DIR`")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "no progress bar")
	return cmd
}

func (o *profileAccuracyOptions) run(cmd *cobra.Command) error {
	if _, err := o.writer(&accuracy.Report{}); err != nil {
		return err
	}
	rows, err := o.rows()
	if err != nil {
		return err
	}
	var dir *outDir
	if o.output != "" {
		if dir, err = openOutDir(o.output); err != nil {
			return err
		}
		defer dir.discard()
	}
	bar := newProgress(cmd.ErrOrStderr(), "replaying", o.quiet)
	var report func(done, total int)
	if bar != nil {
		report = bar.report
	}
	r, err := accuracy.Compare(cmd.Context(), rows, report)
	bar.clear()
	if cmd.Context().Err() != nil {
		return &exitError{exitInterrupt, "interrupted"}
	}
	if err != nil {
		return err
	}
	if dir != nil {
		if err := writeAccuracy(dir, r); err != nil {
			return err
		}
	}
	write, err := o.writer(r)
	if err != nil {
		return err
	}
	if err := write(cmd.OutOrStdout()); err != nil {
		return err
	}
	return o.conclude(cmd.ErrOrStderr(), r)
}

func (o *profileAccuracyOptions) rows() ([]accuracy.Row, error) {
	if o.data == "" {
		return accuracy.Bundled()
	}
	return accuracy.ReadFile(o.data)
}

func (o *profileAccuracyOptions) writer(r *accuracy.Report) (writer, error) {
	return chooseFormat(o.form, []string{"table", "json", "csv"}, r.WriteText, r.WriteJSON, r.WriteCSV)
}

func writeAccuracy(dir *outDir, r *accuracy.Report) error {
	for _, f := range [...]struct {
		name  string
		write writer
	}{{"accuracy.json", r.WriteJSON}, {"accuracy.csv", r.WriteCSV}, {"accuracy.md", r.WriteMarkdown}} {
		if err := dir.add(f.name, f.write); err != nil {
			return err
		}
	}
	pictures, err := r.Pictures()
	if err != nil {
		return err
	}
	for _, p := range pictures {
		if err := addPicture(dir, p.Name, p.Figure); err != nil {
			return err
		}
	}
	return dir.commit()
}

// conclude names the rows that should have been replayed and could not be.
func (o *profileAccuracyOptions) conclude(w io.Writer, r *accuracy.Report) error {
	for _, d := range r.Dropped {
		if d.Usable {
			fmt.Fprintf(w, "warning: %s:%d: left out: %s\n", d.Row.File, d.Row.Line, d.Reason)
		}
	}
	if len(r.Cases) == 0 {
		return &exitError{exitNothing, fmt.Sprintf("no row of %d was replayed", r.Rows)}
	}
	return nil
}
