package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"routesim/reports/table"
)

const compareHelp = `Replay a trace in round-robin and in kv mode, with all else equal, and print both
side by side: what the KV-aware router gains on this traffic.

With -o, DIR holds the result files of each run in a folder of its own, and the
distribution of TTFT in both as a picture.

Settings are those of routesim replay. Exit codes are as there.

With --a and --b, each a text of flags, the two runs differ in those instead: two
policies, two modes, two of anything but the trace. A setting of one run that only
a live router has makes both runs live. Draws depend on seed and
request only, so the runs can be compared request by request.

With two folders in place of a trace, RUN_A and RUN_B, the results in them are
compared, two runs (replay -o) or two sweeps (sweep -o): what got worse, which
requests changed worker, the first decision that differs. Of sweeps the points that
both have are compared; they must vary the same settings. The exit code is then
that of routesim gate: 0 PASS, 1 REGRESSION, 2 INVALID, 3 BEHAVIOUR_CHANGED.`

// compareOptions are what one command line says besides settings.
type compareOptions struct {
	runOptions
	a, b string
	pair [2]side
}

// comparedModes are the router modes that are compared, the base first.
var comparedModes = [2]string{"round-robin", "kv"}

func newCompare(sys system) *cobra.Command {
	o := &compareOptions{runOptions: runOptions{sys: sys, says: all}}
	cmd := &cobra.Command{
		Use:     "compare [flags] [TRACE...] | RUN_A RUN_B",
		Short:   "Replay a trace in round-robin and kv mode, or compare two saved runs",
		Long:    compareHelp,
		Example: "  routesim compare trace.jsonl -o out\n  routesim compare trace.jsonl --workers 4 --router-queue-threshold 0.5\n  routesim compare out/before out/after\n  routesim compare trace.jsonl --a \"--router-mode random\" --b \"--router-mode power-of-two\"\n  routesim compare trace.jsonl --router-policy-config policy.yaml --a \"--worker-selection-policy default\" --b \"--worker-selection-policy mine\"",
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd, args)
		},
	}
	options := o.addTo(cmd, "the files of both runs and ttft.png, ttft.svg", "table or json (both summaries, by mode); of two folders also markdown, junit or html")
	options.StringVar(&o.a, "a", "", "`FLAGS` of the first run, in one word: settings beyond those of both")
	options.StringVar(&o.b, "b", "", "`FLAGS` of the second run")
	cmd.Flags().AddFlagSet(options)
	return cmd
}

func (o *compareOptions) run(cmd *cobra.Command, args []string) error {
	if areResults(args) {
		return o.runSaved(cmd, args)
	}
	if o.format == "csv" {
		return badWord("--format", o.format, "table", "json")
	}
	var err error
	if o.pair, err = o.sides(cmd); err != nil {
		return err
	}
	runs, dir, err := o.plan(cmd, args)
	if err != nil {
		return err
	}
	defer dir.discard()
	if a, b := readingOf(runs[0].settings).load, readingOf(runs[1].settings).load; a != b {
		return errors.New("request-count: found two synthetic loads, expected the same requests in both runs (routesim sweep --vary varies the load)")
	}
	if err := runs[0].read(cmd.Context(), o.sys.stdin); err != nil {
		return err
	}
	listSkipped(cmd.ErrOrStderr(), runs[0].trace)
	for _, run := range runs {
		run.trace, run.reading = runs[0].trace, runs[0].reading
		if err := run.simulate(cmd, o.quiet); err != nil {
			return err
		}
	}
	return o.report(cmd, runs, dir)
}

// runSaved compares two folders of results. Nothing is run, so that settings
// mean nothing.
func (o *compareOptions) runSaved(cmd *cobra.Command, args []string) error {
	switch o.format {
	case "table", "json", "markdown", "junit", "html":
	default:
		return badWord("--format", o.format, "table", "json", "markdown", "junit", "html")
	}
	if len(o.recorder.Given) > 0 {
		g := &o.recorder.Given[0]
		return fmt.Errorf("%s: found %s, expected no settings with two folders of results (nothing is run)", g.Origin.Where, g.Text)
	}
	for _, name := range []string{"output", "config", "extra-engine-args", "a", "b"} {
		if f := o.own.Lookup(name); f.Changed {
			return fmt.Errorf("--%s: found %s, expected none with two folders of results (nothing is run)", name, f.Value)
		}
	}
	return compareResults(cmd, args, o.format)
}

func (o *compareOptions) report(cmd *cobra.Command, runs [2]*replayed, dir *outDir) error {
	var sides [2]table.Named
	for i, run := range runs {
		sides[i] = table.Named{Name: o.pair[i].name, Given: o.pair[i].flags, Summary: run.summary()}
	}
	if dir != nil {
		if err := o.writeFiles(runs, sides, dir); err != nil {
			return err
		}
	}
	if err := o.writeDocument(cmd.OutOrStdout(), sides); err != nil {
		return err
	}
	dir.tell(cmd.ErrOrStderr(), o.quiet)
	for i, run := range runs {
		if !o.quiet {
			run.clock(cmd.ErrOrStderr(), sides[i].Summary)
		}
	}
	if cmd.Context().Err() != nil {
		return &exitError{exitInterrupt, "interrupted"}
	}
	for i := range sides {
		if sides[i].Summary.Completed == 0 {
			return &exitError{exitNothing, "no request completed in " + o.pair[i].label()}
		}
	}
	return nil
}

// writeDocument writes the one document of standard output.
func (o *compareOptions) writeDocument(w io.Writer, sides [2]table.Named) error {
	if o.format != "json" {
		return table.Compare(w, sides[0], sides[1], terminal(w, o.sys.environ))
	}
	var text bytes.Buffer
	for i, side := range sides {
		fmt.Fprintf(&text, "%s\n%q: ", [...]string{"{", ","}[i], side.Name)
		if err := side.Summary.Write(&text); err != nil {
			return err
		}
		text.Truncate(len(bytes.TrimRight(text.Bytes(), "\n")))
	}
	text.WriteString("\n}\n")
	_, err := w.Write(text.Bytes())
	return err
}

// writeFiles writes the result files of both runs and the picture.
func (o *compareOptions) writeFiles(runs [2]*replayed, sides [2]table.Named, dir *outDir) error {
	for i, run := range runs {
		if err := run.writeFiles(dir, sides[i].Name+"/", sides[i].Summary); err != nil {
			return err
		}
	}
	if len(ttfts(runs[0])) > 0 && len(ttfts(runs[1])) > 0 {
		picture, err := ttftPicture(runs, sides)
		if err != nil {
			return err
		}
		if err := dir.add("ttft.png", picture.WritePNG); err != nil {
			return err
		}
		if err := dir.add("ttft.svg", picture.WriteSVG); err != nil {
			return err
		}
	}
	return dir.commit()
}
