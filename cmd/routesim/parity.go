package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"routesim/cmd/routesim/internal/settings"
	"routesim/reports/parity"
)

type parityOptions struct {
	traceDirs        []string
	allowUnsupported bool
	verbose          bool
	format           string
}

const parityHelp = `Replay recordings of Dynamo's own offline replay with the recorded worker of
every request forced, and compare decision by decision: costs, cached blocks,
admissions and token times bit by bit, the summary to 1e-12.

Exit code 0: all recordings are equal. 1: one differs, or is of something that
is not modelled (--allow-unsupported lets the latter pass). 2: unusable input.`

func newParity() *cobra.Command {
	o := &parityOptions{}
	cmd := &cobra.Command{
		Use:     "parity [flags] GOLDEN...",
		Short:   "Compare with recordings of Dynamo's own replay",
		Long:    parityHelp,
		Example: "  routesim parity --trace-dir testdata/traces testdata/golden",
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd, args)
		},
	}
	f := cmd.Flags()
	f.StringArrayVar(&o.traceDirs, "trace-dir", nil, "`DIR` in which to look for traces, besides the golden's folder and its parent's traces/ (repeatable)")
	f.BoolVar(&o.allowUnsupported, "allow-unsupported", false, "do not count recordings of what is not modelled as failures")
	f.BoolVarP(&o.verbose, "verbose", "v", false, "show the first differences of each field")
	f.StringVar(&o.format, "format", "table", "what standard output carries, `FORMAT` being table (a line per golden) or json (an object per line)")
	return cmd
}

func (o *parityOptions) run(cmd *cobra.Command, args []string) error {
	if o.format != "table" && o.format != "json" {
		return badWord("--format", o.format, "table", "json")
	}
	if len(args) == 0 {
		return errors.New("routesim parity: expected at least one GOLDEN (a recording, or a folder of them)")
	}
	code, err := parity.RunAll(cmd.Context(), cmd.OutOrStdout(), args, parity.RunOptions{
		TraceDirs:        o.traceDirs,
		AllowUnsupported: o.allowUnsupported,
		JSON:             o.format == "json",
		Verbose:          o.verbose,
		Notes:            cmd.ErrOrStderr(),
	})
	switch {
	case cmd.Context().Err() != nil:
		return &exitError{exitInterrupt, "interrupted"}
	case err != nil:
		return &exitError{code, err.Error()}
	case code != exitOK:
		return &exitError{code: code}
	}
	return nil
}

// badWord is the error for a word that is not one of a few.
func badWord(flag, found string, words ...string) error {
	k := settings.Choice{Words: words}
	if near := settings.Nearest(found, words); near != "" {
		return fmt.Errorf("%s: found %q, expected %s; did you mean %s?", flag, found, k.Expected(), near)
	}
	return fmt.Errorf("%s: found %q, expected %s", flag, found, k.Expected())
}
