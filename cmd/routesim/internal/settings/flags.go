package settings

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"routesim/workloads"
)

// Recorder collects the settings given as flags.
type Recorder struct{ Given []Given }

// Flags registers a flag for every setting and returns the recorder that they
// fill. Values are checked when they are resolved, so that every source of
// values has the same errors. Spellings other than a setting's name and
// settings that no replay honours stay out of help texts.
func (t *Table) Flags(fs *pflag.FlagSet) *Recorder {
	rec := &Recorder{}
	fs.SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		return pflag.NormalizedName(strings.ReplaceAll(name, "_", "-"))
	})
	for _, s := range t.list {
		if s.NoFlag {
			continue
		}
		for i, name := range s.Spellings() {
			f := addFlag(fs, &flagValue{rec: rec, setting: s, name: name}, name, s)
			f.Hidden = i > 0 || s.Support != Honoured
			if _, ok := s.Kind.(Bool); ok {
				f.NoOptDefVal = "true"
				no := addFlag(fs, &flagValue{rec: rec, setting: s, name: "no-" + name, negated: true}, "no-"+name, s)
				no.NoOptDefVal = "true"
				no.Hidden = true
			}
		}
	}
	return rec
}

func addFlag(fs *pflag.FlagSet, v *flagValue, name string, s *Setting) *pflag.Flag {
	fs.Var(v, name, s.Help)
	return fs.Lookup(name)
}

// flagValue records what is given for one spelling of a setting.
type flagValue struct {
	rec     *Recorder
	setting *Setting
	name    string
	negated bool
}

// String returns nothing: the table knows the default.
func (f *flagValue) String() string { return "" }

// Type stands for the value in help texts.
func (f *flagValue) Type() string { return f.setting.Kind.Meta() }

// Set records the value.
func (f *flagValue) Set(text string) error {
	flag := "--" + f.name
	if f.negated {
		if text != "true" {
			return fmt.Errorf("%s: found the value %s, expected none (use --%s=%s)", flag, show(text), f.name[len("no-"):], text)
		}
		text = "false"
	}
	f.rec.Given = append(f.rec.Given, Given{
		Setting: f.setting, Text: text,
		Origin: Origin{FromFlag, flag},
		Place:  workloads.Problem{Field: flag},
	})
	return nil
}

// FlagError rewrites a problem of the flag parser in the style of all other
// errors and names the nearest flag for one that does not exist.
func FlagError(fs *pflag.FlagSet, err error) error {
	var unknown *pflag.NotExistError
	var missing *pflag.ValueRequiredError
	var invalid *pflag.InvalidValueError
	switch {
	case errors.As(err, &unknown):
		return unknownFlag(fs, unknown)
	case errors.As(err, &missing):
		want := "a value"
		if f, ok := missing.GetFlag().Value.(*flagValue); ok {
			want = f.setting.Kind.Expected()
		}
		return fmt.Errorf("--%s: expected %s after it", missing.GetFlag().Name, want)
	case errors.As(err, &invalid):
		var repeated *repeatedError
		if _, ok := invalid.GetFlag().Value.(*flagValue); ok || errors.As(err, &repeated) {
			return invalid.Unwrap()
		}
		return fmt.Errorf("--%s: found %s, expected %s", invalid.GetFlag().Name, show(invalid.GetValue()), wordsOf(invalid.GetFlag().Value.Type()))
	}
	return err
}

func unknownFlag(fs *pflag.FlagSet, e *pflag.NotExistError) error {
	if letters := e.GetSpecifiedShortnames(); letters != "" {
		return fmt.Errorf("-%s: unknown flag; long flags take two dashes", letters)
	}
	name := e.GetSpecifiedName()
	var known []string
	fs.VisitAll(func(f *pflag.Flag) {
		if v, ok := f.Value.(*flagValue); ok && v.setting.Support == Honoured || !ok && !f.Hidden {
			known = append(known, f.Name)
		}
	})
	near := Nearest(kebab(name), known)
	if near == "" {
		return fmt.Errorf("--%s: unknown flag; see --help for the list", name)
	}
	return fmt.Errorf("--%s: unknown flag; did you mean --%s?", name, near)
}
