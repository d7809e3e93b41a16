package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"routesim/cmd/routesim/internal/settings"
	"routesim/reports/gate"
)

const gateHelp = `Run a suite of scenarios, compare with a committed baseline, and say whether
routing got worse.

  PASS               0  nothing is worse beyond its tolerance, decisions are equal
  REGRESSION         1  a metric is worse beyond its tolerance, and the whole
                        interval over seeds is on the worse side of zero; an SLO
                        is missed; or requests were rejected, lost, cancelled or
                        left unfinished
  INVALID            2  there is nothing fair to compare with: no baseline, another
                        trace, other definitions, a scenario that cannot be run
  BEHAVIOUR_CHANGED  3  decisions differ and nothing is worse

The first of INVALID, REGRESSION, BEHAVIOUR_CHANGED, PASS that holds for any
scenario is the verdict and decides the exit code. 130: interrupted.

Runs are exact: equal code and settings give equal decisions. So a report names
the requests that changed worker and the first decision that differs, with the
costs of every candidate on both sides.

--update writes the baseline anew and prints what changes in it. Commit the two
files that it writes: the baseline and, beside it, its decisions.

A scenario takes every setting of routesim replay. The environment is never
read. The format of suites is described in reports/gate/README.md.`

const gateExample = `  routesim gate --suite gate.yaml --update
  routesim gate --suite gate.yaml
  routesim gate --suite gate.yaml -o out --annotations github`

// gateOptions are what one command line says.
type gateOptions struct {
	sys         system
	suite       string
	baseline    string
	output      string
	format      string
	annotations string
	only        []string
	update      bool
	allow       bool
	quiet       bool
	offset      uint64
	shifted     bool // an offset was given
}

func newGate(sys system) *cobra.Command {
	o := &gateOptions{sys: sys}
	cmd := &cobra.Command{
		Use:     "gate --suite FILE [flags]",
		Short:   "Compare a suite of scenarios with its baseline, for CI",
		Long:    gateHelp,
		Example: gateExample,
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.shifted = cmd.Flags().Changed("seed-offset")
			for _, name := range []string{"baseline", "output"} {
				if f := cmd.Flags().Lookup(name); f.Changed && f.Value.String() == "" {
					return fmt.Errorf(`--%s: found "", expected a path`, name)
				}
			}
			return o.run(cmd)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&o.suite, "suite", "", "`FILE` with the scenarios")
	f.StringVar(&o.baseline, "baseline", "", "baseline `FILE`, in place of the one that the suite names or, without that, SUITE.baseline.yaml")
	f.BoolVar(&o.update, "update", false, "write the baseline anew and print what changes")
	f.BoolVar(&o.allow, "allow-behaviour-change", false, "exit with 0 after BEHAVIOUR_CHANGED")
	f.StringArrayVar(&o.only, "scenario", nil, "run only the scenario of this `NAME` (repeatable)")
	f.StringVar(&o.format, "format", "text", "what standard output carries, `FORMAT` being text, markdown, junit, json or html")
	f.StringVarP(&o.output, "output", "o", "", "write gate.txt, gate.md, gate.xml (JUnit), gate.json and gate.html into `DIR`")
	f.StringVar(&o.annotations, "annotations", "", "show findings beside the suite in `CI`: github (workflow commands on standard error) or gitlab (gl-code-quality-report.json in DIR)")
	f.Uint64Var(&o.offset, "seed-offset", 0, "add `K` to every seed and leave decisions alone: a test of the gate itself")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "no warnings on standard error")
	return cmd
}

// check refuses command lines that mean nothing.
func (o *gateOptions) check() error {
	switch o.format {
	case "text", "markdown", "junit", "json", "html":
	default:
		return badWord("--format", o.format, "text", "markdown", "junit", "json", "html")
	}
	switch {
	case o.suite == "":
		return errors.New("--suite: expected the FILE with the scenarios")
	case o.annotations != "" && o.annotations != "github" && o.annotations != "gitlab":
		return badWord("--annotations", o.annotations, "github", "gitlab")
	case o.annotations == "gitlab" && o.output == "":
		return errors.New("--annotations: found gitlab without --output, expected --output DIR for gl-code-quality-report.json")
	case o.update && len(o.only) > 0:
		return errors.New("--update: found together with --scenario, expected one of them (a baseline holds every scenario)")
	case o.update && o.shifted:
		return errors.New("--update: found together with --seed-offset, expected one of them")
	case o.update && (o.format != "text" || o.output != "" || o.annotations != ""):
		return errors.New("--update: found together with --format, --output or --annotations, expected none (it prints what changes)")
	}
	return nil
}

func (o *gateOptions) run(cmd *cobra.Command) error {
	if err := o.check(); err != nil {
		return err
	}
	text, err := os.ReadFile(o.suite)
	if err != nil {
		return fmt.Errorf("--suite: %s: %w", o.suite, reason(err))
	}
	suite, err := gate.ParseSuite(o.suite, text)
	if err != nil {
		return err
	}
	if err := o.choose(suite); err != nil {
		return err
	}
	path := o.baselinePath(suite)
	if err := o.checkTarget(suite, path); err != nil {
		return err
	}
	var dir *outDir
	if o.output != "" {
		if dir, err = openOutDir(o.output, o.files()...); err != nil {
			return err
		}
		defer dir.discard()
	}
	base, missing, unreadable := readBaseline(path)
	if unreadable != nil && !o.update {
		return unreadable
	}
	runs, err := newGateRuns(settings.NewTable(), suite, o.offset)
	if err != nil {
		return err
	}
	if base == nil && !o.update {
		return o.report(cmd, dir, gate.Missing(suite, missing, version+mutant, o.judging(path)))
	}
	outcomes := runs.run(cmd.Context())
	if cmd.Context().Err() != nil {
		return &exitError{exitInterrupt, "interrupted"}
	}
	if !o.quiet {
		runs.warn(cmd.ErrOrStderr())
	}
	if o.update {
		return o.rewrite(cmd, path, suite, base, unreadable, outcomes)
	}
	readDecisions(cmd.ErrOrStderr(), base, o.quiet)
	return o.report(cmd, dir, gate.Judge(suite, base, outcomes, version+mutant, o.judging(path)))
}

// choose keeps the scenarios that were asked for.
func (o *gateOptions) choose(s *gate.Suite) error {
	if len(o.only) == 0 {
		return nil
	}
	var kept []gate.Scenario
	var names []string
	for i := range s.Scenarios {
		names = append(names, s.Scenarios[i].Name)
	}
	for _, name := range o.only {
		found := false
		for i := range s.Scenarios {
			if s.Scenarios[i].Name == name {
				kept, found = append(kept, s.Scenarios[i]), true
			}
		}
		if !found {
			return badWord("--scenario", name, names...)
		}
	}
	s.Scenarios = kept
	return nil
}

// judging are the options of the comparison.
func (o *gateOptions) judging(path string) gate.Options {
	command := "routesim gate --suite " + shellWord(o.suite)
	if o.baseline != "" {
		command += " --baseline " + shellWord(path)
	}
	return gate.Options{
		AllowBehaviourChange: o.allow, SkipDigests: o.shifted, Update: command + " --update",
		Partial: len(o.only) > 0,
	}
}

// shellWord quotes a word that a shell would not take as it is.
func shellWord(text string) string {
	if text != "" && !strings.ContainsFunc(text, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:@%+=,", r))
	}) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// baselinePath is where the baseline is.
func (o *gateOptions) baselinePath(s *gate.Suite) string {
	switch {
	case o.baseline != "":
		return o.baseline
	case s.Baseline != "":
		return beside(o.suite, s.Baseline)
	}
	return strings.TrimSuffix(o.suite, filepath.Ext(o.suite)) + ".baseline.yaml"
}

// beside returns a path relative to the folder of a file.
func beside(file, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(filepath.Dir(file), filepath.FromSlash(path))
}

// decisionsPath is where the decisions of a baseline are.
func decisionsPath(baseline string) string {
	return strings.TrimSuffix(baseline, filepath.Ext(baseline)) + ".decisions.zst"
}

// readBaseline reads a baseline; without one it says what is missing.
func readBaseline(path string) (b *gate.Baseline, missing string, err error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Sprintf("There is no baseline: found no file %s.", path), nil
	}
	if err != nil {
		return nil, "", fmt.Errorf("--baseline: %s: %w", path, reason(err))
	}
	b, err = gate.ParseBaseline(path, text)
	return b, "", err
}

// readDecisions adds what is known of the baseline's decisions. Without them
// the verdict is the same and its reasons are missing.
func readDecisions(w io.Writer, b *gate.Baseline, quiet bool) {
	path := decisionsPath(b.File)
	text, err := os.ReadFile(path)
	if err == nil {
		err = b.ReadDecisions(text)
	}
	if err != nil && !quiet {
		fmt.Fprintf(w, "warning: %s: %v; what changed will not be named\n", path, reason(err))
	}
}

// files are the names of the files that a report is written to.
func (o *gateOptions) files() []string {
	names := []string{"gate.txt", "gate.md", "gate.xml", "gate.json", "gate.html"}
	if o.annotations == "gitlab" {
		names = append(names, "gl-code-quality-report.json")
	}
	return names
}

// report writes the files, the annotations and the document of standard output.
// It returns the verdict's exit code as an error.
func (o *gateOptions) report(cmd *cobra.Command, dir *outDir, r *gate.Report) error {
	if dir != nil {
		writers := []func(io.Writer, *gate.Report) error{gate.WriteText, gate.WriteMarkdown, gate.WriteJUnit, gate.WriteJSON, gate.WriteHTML, gate.WriteGitLab}
		for i, name := range o.files() {
			if err := dir.add(name, func(w io.Writer) error { return writers[i](w, r) }); err != nil {
				return err
			}
		}
		if err := dir.commit(); err != nil {
			return err
		}
	}
	if o.annotations == "github" {
		if err := gate.WriteGitHub(cmd.ErrOrStderr(), r); err != nil {
			return err
		}
	}
	if err := writeReport(cmd.OutOrStdout(), o.format, r); err != nil {
		return err
	}
	if r.Code != exitOK {
		return &exitError{code: r.Code}
	}
	return nil
}

// writeReport writes a report in one of its formats.
func writeReport(w io.Writer, format string, r *gate.Report) error {
	switch format {
	case "markdown":
		return gate.WriteMarkdown(w, r)
	case "junit":
		return gate.WriteJUnit(w, r)
	case "json":
		return gate.WriteJSON(w, r)
	case "html":
		return gate.WriteHTML(w, r)
	}
	return gate.WriteText(w, r)
}

// rewrite writes the baseline anew and prints what changes. old is the baseline
// that is replaced, nil where there is none or it cannot be read (unreadable).
func (o *gateOptions) rewrite(cmd *cobra.Command, path string, s *gate.Suite, old *gate.Baseline, unreadable error, outcomes []gate.Outcome) error {
	if err := gate.CheckComplete(outcomes); err != nil {
		return fmt.Errorf("--update: %w", err)
	}
	b := gate.NewBaseline(s, version+mutant, outcomes)
	names := []string{filepath.Base(path), filepath.Base(decisionsPath(path))}
	dir, err := openOutDir(filepath.Dir(path), names...)
	if err != nil {
		return asBaseline(err)
	}
	defer dir.discard()
	if err := dir.add(names[0], b.Write); err != nil {
		return asBaseline(err)
	}
	if err := dir.add(names[1], func(w io.Writer) error { return gate.WriteDecisions(w, outcomes) }); err != nil {
		return asBaseline(err)
	}
	if err := dir.commit(); err != nil {
		return asBaseline(err)
	}
	w := cmd.OutOrStdout()
	if unreadable != nil {
		fmt.Fprintf(w, "The old baseline could not be read: %v\n", unreadable)
	}
	if err := gate.WriteUpdate(w, old, b); err != nil {
		return err
	}
	for _, text := range gate.Standings(outcomes) {
		fmt.Fprintf(w, "note: %s\n", text)
	}
	_, err = fmt.Fprintf(w, "wrote %s and %s\n", path, decisionsPath(path))
	return err
}

// asBaseline lets an error about the folder of an output name the right flag.
func asBaseline(err error) error {
	return errors.New(strings.Replace(err.Error(), "--output", "--baseline", 1))
}
