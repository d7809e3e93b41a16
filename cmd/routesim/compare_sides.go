package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"routesim/cmd/routesim/internal/settings"
	"routesim/workloads"
)

// side is one of the two runs of a comparison.
type side struct {
	name  string
	given []settings.Given // beyond what both have
	flags string           // that gave them, "" where the name says it
}

// label names the run in a sentence.
func (s *side) label() string {
	if s.name == comparedModes[0] || s.name == comparedModes[1] {
		return s.name + " mode"
	}
	return "run " + s.name
}

// sides returns the two runs to compare: those that --a and --b describe, else
// the two modes.
func (o *compareOptions) sides(cmd *cobra.Command) ([2]side, error) {
	a, b := o.own.Lookup("a"), o.own.Lookup("b")
	if !a.Changed && !b.Changed {
		return o.modes(cmd)
	}
	var out [2]side
	for i, f := range []*pflag.Flag{a, b} {
		given, err := o.flagsOf(f.Value.String())
		if err != nil {
			return out, fmt.Errorf("--%s: %w", f.Name, err)
		}
		for j := range given {
			given[j].Origin.Where += " (--" + f.Name + ")"
		}
		out[i] = side{f.Name, given, strings.TrimSpace(f.Value.String())}
	}
	return out, nil
}

// modes are round robin and kv, the base first.
func (o *compareOptions) modes(cmd *cobra.Command) (out [2]side, err error) {
	for _, g := range o.recorder.Given {
		if g.Setting.Name == "router-mode" {
			return out, fmt.Errorf("%s: found %s, expected none (both modes are run; --a and --b compare others)", g.Origin.Where, g.Text)
		}
	}
	setting, _ := o.table.Lookup("router-mode")
	for i, mode := range comparedModes {
		out[i] = side{mode, []settings.Given{{
			Setting: setting, Text: mode,
			Origin: settings.Origin{Layer: settings.FromFlag, Where: cmd.CommandPath()},
			Place:  workloads.Problem{Field: "router-mode"},
		}}, ""}
	}
	return out, nil
}

// flagsOf reads a text of flags as a shell would. What decides how the trace is
// read cannot differ between the runs, which share it.
func (o *compareOptions) flagsOf(text string) ([]settings.Given, error) {
	words, err := shellWords(text)
	if err != nil {
		return nil, err
	}
	fs := pflag.NewFlagSet("side", pflag.ContinueOnError)
	fs.SetOutput(nil)
	rec := o.table.Flags(fs)
	if err := fs.Parse(words); err != nil {
		return nil, settings.FlagError(fs, err)
	}
	if fs.NArg() > 0 {
		return nil, fmt.Errorf("found %s, expected flags only (a switch takes its value after =)", fs.Arg(0))
	}
	for _, g := range rec.Given {
		if g.Setting.Group == settings.Trace || g.Setting.Name == "replay-concurrency" {
			return nil, fmt.Errorf("found %s, expected settings that leave the reading of the trace alone", g.Origin.Where)
		}
	}
	return rec.Given, nil
}

// shellWords splits a text at spaces outside of quotes.
func shellWords(text string) (words []string, err error) {
	var word strings.Builder
	quote, open := rune(0), false
	for _, c := range text {
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '\'' || c == '"'):
			quote, open = c, true
		case quote == 0 && (c == ' ' || c == '\t' || c == '\n'):
			if open {
				words = append(words, word.String())
				word.Reset()
				open = false
			}
		default:
			word.WriteRune(c)
			open = true
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("found a text with an open %c, expected it closed", quote)
	}
	if open {
		words = append(words, word.String())
	}
	return words, nil
}

// plan resolves the settings of both runs, and speaks of them once.
func (o *compareOptions) plan(cmd *cobra.Command, args []string) (runs [2]*replayed, dir *outDir, err error) {
	resolved, err := o.resolveSides()
	if err != nil {
		return runs, nil, err
	}
	var warned []string
	for i, s := range o.pair {
		r := resolved[i]
		if i == 0 {
			runs[i], dir, err = o.prepare(cmd, args, r, o.files()...)
			warned = r.Warnings
		} else {
			runs[i], err = newReplayed(r, args)
			for _, text := range r.Warnings {
				if !slices.Contains(warned, text) && !o.follows(cmd) {
					fmt.Fprintf(cmd.ErrOrStderr(), "warning: %s: %s\n", s.name, text)
				}
			}
		}
		if err != nil {
			dir.discard()
			return runs, nil, err
		}
	}
	return runs, dir, nil
}

// resolveSides works out the settings of both runs. What makes one of them live
// makes the other live too, so that they differ in nothing else; unless somebody
// said which router decides.
func (o *compareOptions) resolveSides() (out [2]*settings.Resolved, err error) {
	given := o.recorder.Given
	defer func() { o.recorder.Given = given }()
	resolve := func(i int) error {
		s := &o.pair[i]
		o.recorder.Given = append(given[:len(given):len(given)], s.given...)
		if out[i], err = o.resolve(); err == nil {
			err = overridden(out[i], s)
		}
		return err
	}
	for i := range out {
		if err := resolve(i); err != nil {
			return out, err
		}
	}
	setting, _ := o.table.Lookup("router-semantics")
	for i := range out {
		other := out[1-i]
		if out[i].Origin(setting).Layer != settings.FromDefault || other.Origin(setting).Layer != settings.FromLive {
			continue
		}
		o.pair[i].given = append(o.pair[i].given, settings.Given{
			Setting: setting, Text: settings.LiveWord,
			Origin: settings.Origin{Layer: settings.FromLive, Where: o.pair[1-i].label()},
		})
		if err := resolve(i); err != nil {
			return out, err
		}
	}
	return out, nil
}

// overridden reports a setting in which the runs should differ and that
// something stronger sets for both.
func overridden(r *settings.Resolved, s *side) error {
	for i := range s.given {
		g := &s.given[i]
		if v, ok := g.Setting.Kind.Parse(g.Text); ok && g.Setting.Support == settings.Honoured && g.Setting.Get(&r.Run).Text != v.Text &&
			!slices.ContainsFunc(s.given[i+1:], func(o settings.Given) bool { return o.Setting == g.Setting }) {
			return fmt.Errorf("%s: the %s sets %s, expected nothing that sets it (the two runs of %s differ in it)",
				g.Setting.Name, r.Origin(g.Setting), g.Setting.Get(&r.Run).Text, s.name)
		}
	}
	return nil
}

// files are the names of all files that a comparison writes.
func (o *compareOptions) files() []string {
	names := []string{"ttft.png", "ttft.svg"}
	for _, s := range o.pair {
		for _, name := range runFiles() {
			names = append(names, s.name+"/"+name)
		}
	}
	return names
}
