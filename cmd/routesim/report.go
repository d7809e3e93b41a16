package main

import (
	"encoding/hex"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"routesim/reports"
	"routesim/reports/format"
	"routesim/workloads"
)

// report writes the results: files first, then the document on standard output,
// then remarks. It returns the run's exit code as an error.
func (o *replayOptions) report(cmd *cobra.Command, run *replayed, dir *outDir) error {
	listSkipped(cmd.ErrOrStderr(), run.trace)
	s := run.summary()
	if dir != nil {
		if err := run.writeFiles(dir, "", s); err != nil {
			return err
		}
		if err := dir.commit(); err != nil {
			return err
		}
	}
	if err := run.writeDocument(cmd.OutOrStdout(), o.format, s, o.sys.environ); err != nil {
		return err
	}
	dir.tell(cmd.ErrOrStderr(), o.quiet)
	if !o.quiet {
		run.clock(cmd.ErrOrStderr(), s)
	}
	switch {
	case cmd.Context().Err() != nil:
		return &exitError{exitInterrupt, fmt.Sprintf("interrupted: %d of %d requests completed", s.Completed, run.trace.Len())}
	case s.Completed == 0:
		d, rows := &s.Routesim, int64(run.trace.Len())
		text := fmt.Sprintf("no request completed: %d of %d rejected", d.Rejected, rows)
		for _, k := range []struct {
			n    int64
			what string
		}{{d.Lost, "lost with crashed workers"}, {d.Cancelled, "cancelled"}} {
			if k.n > 0 {
				text += fmt.Sprintf(", %d %s", k.n, k.what)
			}
		}
		return &exitError{exitNothing, text + fmt.Sprintf(", %d unfinished or never released", rows-d.Rejected-d.Lost-d.Cancelled)}
	}
	return nil
}

// summary computes the figures and adds what only the command line knows.
func (run *replayed) summary() *reports.Summary {
	s := reports.Summarize(run.trace, run.config, run.result)
	d := &s.Routesim
	config := map[string]any{}
	for _, e := range run.settings.Entries() {
		config[e.Name] = e.Value
	}
	d.Version, d.Config = version, config
	for _, v := range run.settings.Environment {
		d.Environment = append(d.Environment, v.Name+"="+v.Value)
	}
	d.Taken = run.settings.Listing
	s.SetProfiles(run.profiles)
	d.Semantics, d.Unchecked = semanticsText(run.settings), uncheckedText(unchecked(run.config))
	for _, text := range run.settings.Warnings {
		d.Warnings = append(d.Warnings, reports.Warning{Code: reports.OfSettings, Text: text})
	}
	d.Notes = append(d.Notes, routerNotes(run.result)...)
	if c := &run.settings.Run; c.Restarted != nil && run.result.RestartedMS > 0 {
		d.Notes = append(d.Notes, fmt.Sprintf("After the restart the routers follow the policy file %s.", filepath.Base(c.RestartPolicyConfig)))
	}
	if p := run.config.PrefillRouter; p != nil {
		d.Notes = append(d.Notes, fmt.Sprintf("Prompts are routed in mode %v, as the prefill workers say (prefill-router-args).", p.Mode))
	}
	d.Trace.Name = run.traceName()
	digest := reports.TraceDigest(run.trace)
	d.Trace.Digest = hex.EncodeToString(digest[:])
	return s
}

// syntheticName stands for the name of a trace that was made.
const syntheticName = "synthetic load"

// traceName names the trace without its folder, so that results do not depend
// on where a run was started.
func (run *replayed) traceName() string {
	if run.settings.Run.Load() != nil {
		return syntheticName
	}
	names := make([]string, len(run.paths))
	for i, p := range run.paths {
		if names[i] = filepath.Base(p); p == "-" {
			names[i] = "standard input"
		}
	}
	return strings.Join(names, ", ")
}

// mostSkipped is how many skipped rows are listed one by one.
const mostSkipped = 1000

// listSkipped names the rows that were left out.
func listSkipped(w io.Writer, t *workloads.Trace) {
	skipped := t.Skipped()
	if len(skipped) == 0 {
		return
	}
	verb := "were"
	if len(skipped) == 1 {
		verb = "was"
	}
	fmt.Fprintf(w, "warning: %s %s skipped\n", format.Plural(int64(len(skipped)), "row"), verb)
	for i := range skipped[:min(len(skipped), mostSkipped)] {
		fmt.Fprintf(w, "warning: %s\n", skipped[i].Error())
	}
	if more := len(skipped) - mostSkipped; more > 0 {
		fmt.Fprintf(w, "warning: and %d more rows\n", more)
	}
}

// clock tells how fast the run was, in wall-clock time.
func (run *replayed) clock(w io.Writer, s *reports.Summary) {
	seconds := max(run.running.Seconds(), 1e-9)
	source := "trace read"
	if run.settings.Run.Load() != nil {
		source = "synthetic load drawn"
	}
	fmt.Fprintf(w, "simulated %s in %.3f s (%s requests/s, %s tokens/s), %s in %.3f s\n",
		format.Duration(run.result.EndMS), seconds,
		format.Count(int64(float64(run.trace.Len())/seconds)), format.Count(int64(float64(s.InputTokens+s.OutputTokens)/seconds)),
		source, run.reading.Seconds())
}
