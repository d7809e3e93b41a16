package settings

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"routesim/workloads"
)

// Layer is where a value came from. A later layer wins over an earlier one.
type Layer uint8

// The layers, from the weakest to the strongest.
const (
	FromDefault     Layer = iota
	FromFile              // configuration file
	FromEnvironment       // environment variable
	FromDynamo            // manifests of a Dynamo deployment
	FromDict              // engine dictionary
	FromFlag              // command line
	FromPreset            // load-aware preset
	FromPolicy            // router section of a policy file
	FromWeight            // the deprecated overlap score weight
	FromLive              // a setting that only a live router has
)

// Origin is where a value came from.
type Origin struct {
	Layer Layer
	Where string // flag, variable, key or file:line
}

// String describes the origin for people.
func (o Origin) String() string {
	switch o.Layer {
	case FromDefault:
		return "default"
	case FromFile:
		return "file " + o.Where
	case FromEnvironment:
		return "environment " + o.Where
	case FromDynamo:
		return "dynamo " + o.Where
	case FromDict:
		return "engine dictionary " + o.Where
	case FromFlag:
		return "flag " + o.Where
	case FromPreset:
		return "preset load-aware"
	case FromPolicy:
		return "policy file " + o.Where
	}
	if o.Layer == FromLive {
		return "because of " + o.Where
	}
	return o.Where
}

// Given is a value that someone gave for a setting.
type Given struct {
	Setting *Setting
	Text    string
	Origin  Origin
	Place   workloads.Problem // file, line and field, for errors
	Fault   error             // why the value cannot be used, nil if it can: an error unless a stronger source wins
	Unsaid  string            // of a value that the manifests of a deployment leave to its default: whose default
}

// problem completes the place with what was found and expected.
func (g *Given) problem(found, want string) error {
	p := g.Place
	p.Field = plainText(p.Field)
	p.Found, p.Want = found, want
	if p.File != "" {
		return &p
	}
	return fmt.Errorf("%s: found %s, expected %s", p.Field, found, want)
}

// maxShown is the longest piece of input that an error repeats, in bytes.
const maxShown = 120

// show prepares a value for a sentence: quoted where it would be hard to read,
// and cut where it is long.
func show(text string) string {
	if len(text) > maxShown {
		text = cut(text, maxShown) + "..."
	}
	if text == "" || strings.ContainsAny(text, " \t\n,:") {
		return strconv.Quote(text)
	}
	return plainText(text)
}

// cut returns the beginning of a text, at most n bytes of whole characters.
func cut(text string, n int) string {
	if n >= len(text) {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}

// plainText quotes a text that would not stay on one line of a terminal.
func plainText(text string) string {
	if !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return strconv.Quote(text)
	}
	return text
}

// Input is everything that values are taken from.
type Input struct {
	Flags      []Given  // in the order given; the last one of a setting counts
	ConfigFile string   // path, "" for none
	EngineArgs string   // the oracle's engine dictionary: JSON, or the path of a file of it
	Environ    []string // NAME=value, nil to read no environment
	Deployment *Deployment
}

// Variable is an environment variable that took effect.
type Variable struct{ Name, Value, Setting string }

// Resolved is a complete configuration with the origin of every value.
type Resolved struct {
	Run         Run
	Environment []Variable // in table order
	Warnings    []string
	Passed      []string // values that were given and changed nothing, for the print-out
	Listing     []string // what was taken from the manifests of a deployment

	table   *Table
	origins []Origin // by place of the setting
}

// Origin returns where the value of a setting came from.
func (r *Resolved) Origin(s *Setting) Origin { return r.origins[s.place] }

// Explicit reports whether anyone gave the setting a value.
func (r *Resolved) Explicit(name string) bool {
	s, ok := r.table.Lookup(name)
	return ok && r.origins[s.place].Layer != FromDefault
}

// OnCommandLine reports whether the setting's value was given as a flag.
func (r *Resolved) OnCommandLine(name string) bool {
	s, ok := r.table.Lookup(name)
	return ok && r.origins[s.place].Layer == FromFlag
}

// Settings lists the settings of the table that the run honours.
func (r *Resolved) Settings() []*Setting {
	var list []*Setting
	for _, s := range r.table.list {
		if s.Support == Honoured {
			list = append(list, s)
		}
	}
	return list
}

// resolution is the work in progress: the strongest value of each setting.
type resolution struct {
	*Resolved
	best      choices
	file      policyFile
	noProfile error // why the manifests of a deployment name no profile
}

type chosen struct {
	given Given
	value Value
}

// choices are the strongest values so far; a setting that nobody gave a value
// has none.
type choices struct {
	at   []int16 // by place of the setting: one more than the place in list, 0 for none
	list []chosen
}

// get returns what stands for a setting, nil and false for nothing.
func (c *choices) get(s *Setting) (*chosen, bool) {
	if i := c.at[s.place]; i > 0 {
		return &c.list[i-1], true
	}
	return nil, false
}

// of is get with an empty value for nothing.
func (c *choices) of(s *Setting) chosen {
	if v, ok := c.get(s); ok {
		return *v
	}
	return chosen{}
}

func (c *choices) set(s *Setting, v chosen) {
	if i := c.at[s.place]; i > 0 {
		c.list[i-1] = v
		return
	}
	c.list = append(c.list, v)
	c.at[s.place] = int16(len(c.list))
}

func (c *choices) drop(s *Setting) { c.at[s.place] = 0 }

// Sources are what has been read of an Input. A sweep resolves every point from
// the same ones.
type Sources struct {
	table                   *Table
	flags                   []Given
	file, environment, dict []Given
	deployment              *Deployment
	warnings                []string
	policies                sync.Map // *readPolicyFile by name and what asks for it, each read once
}

// Read reads the files and variables of an input.
func (t *Table) Read(in Input) (s *Sources, err error) {
	s = &Sources{table: t, flags: in.Flags, deployment: in.Deployment}
	if s.file, err = t.fromFile(in.ConfigFile); err != nil {
		return nil, err
	}
	s.environment = t.fromEnvironment(in.Environ, &s.warnings)
	s.dict, err = t.fromDict(in.EngineArgs)
	return s, err
}

// Resolve merges all sources, checks every value and returns the result.
func (t *Table) Resolve(in Input) (*Resolved, error) {
	s, err := t.Read(in)
	if err != nil {
		return nil, err
	}
	return s.Resolve(nil)
}

// Resolve merges what was read and further flags, which win over those of the
// input, checks every value and returns the result. It may be called from
// several goroutines at once.
func (s *Sources) Resolve(more []Given) (*Resolved, error) {
	n := len(s.table.list)
	r := &resolution{
		Resolved: &Resolved{table: s.table, origins: make([]Origin, n)},
		best:     choices{at: make([]int16, n)},
	}
	layers := []func() ([]Given, error){
		func() ([]Given, error) { return s.file, nil },
		func() ([]Given, error) {
			r.Warnings = append(r.Warnings, s.warnings...)
			return s.environment, nil
		},
		func() ([]Given, error) { return r.fromDeployment(s.deployment) },
		func() ([]Given, error) { return s.dict, nil },
		func() ([]Given, error) { return s.flags, nil },
		func() ([]Given, error) { return more, nil },
		r.fromConditional,
		r.faults,
		r.yield,
		r.fromPreset,
		func() ([]Given, error) { return r.fromPolicy(s) },
		r.fromWeight,
	}
	for _, layer := range layers {
		given, err := layer()
		if err != nil {
			return nil, err
		}
		for i := range given {
			if err := r.take(&given[i]); err != nil {
				return nil, err
			}
		}
	}
	r.Run = s.table.defaults
	if err := r.chooseSemantics(); err != nil {
		return nil, err
	}
	if err := r.finish(); err != nil {
		return nil, err
	}
	if err := r.settlePools(); err != nil {
		return nil, err
	}
	if err := r.settleRouter(); err != nil {
		return nil, err
	}
	r.list(s.deployment)
	if err := r.check(); err != nil {
		return nil, err
	}
	if err := r.settleAdvertised(); err != nil {
		return nil, err
	}
	return r.Resolved, r.settleRestart(s, more)
}

// take checks one given value and lets it win over the layers before it.
func (r *resolution) take(g *Given) error {
	s := g.Setting
	v, ok := s.Kind.Parse(g.Text)
	if !ok {
		return r.unreadable(g)
	}
	old, had := r.best.get(s)
	if had && old.given.Origin.Layer == FromDict && g.Origin.Layer == FromFlag && strings.HasPrefix(s.Dict, "dynamo.") {
		// Dynamo's replay lets the engine's own queue order win.
		r.Warn("%s: the %s sets %s, so the %s has no effect", s.Name, old.given.Origin, old.value.Text, g.Origin)
		return nil
	}
	if had && g.Origin.Layer >= FromPreset && g.Origin.Layer < FromWeight &&
		old.value.Text != v.Text && s.Support == Honoured {
		r.Warn("%s: the %s sets %s, so %s of the %s has no effect", s.Name, g.Origin, v.Text, old.value.Text, old.given.Origin)
	}
	r.best.set(s, chosen{*g, v})
	return nil
}

// unreadable deals with a value that is not one of the setting's: an error,
// except that a word of Dynamo's that no replay honours is only passed over
// when it was not typed for this run.
func (r *resolution) unreadable(g *Given) error {
	c, ok := g.Setting.Kind.(Choice)
	if k, fleet := g.Setting.Kind.(FleetKind); fleet {
		return g.problem(show(g.Text), k.Expected()+k.why(g.Text))
	}
	if k, word := g.Setting.Kind.(Word); word {
		if e := k.wrongPart(g.Text); e != nil {
			at := *g
			at.Place.Field += ": " + e.part
			return at.problem(e.found, e.want)
		}
	}
	if !ok {
		return g.problem(show(g.Text), g.Setting.Kind.Expected())
	}
	word := strings.ToLower(strings.TrimSpace(g.Text))
	if why, known := c.Unknown[word]; known {
		if g.Origin.Layer == FromFile || g.Origin.Layer == FromEnvironment || g.Origin.Layer == FromDynamo {
			r.pass(g, why)
			return nil
		}
		return g.problem(show(g.Text), c.Expected()+" ("+why+")")
	}
	if near := Nearest(word, c.Words); near != "" {
		return g.problem(show(g.Text), c.Expected()+"; did you mean "+near+"?")
	}
	return g.problem(show(g.Text), c.Expected())
}

// finish stores the chosen values over the defaults and deals with those no
// replay honours.
func (r *resolution) finish() error {
	for _, s := range r.table.list {
		c, given := r.best.get(s)
		if !given {
			continue
		}
		if s.Support == Honoured {
			store(s.Ref(&r.Run), c.value)
			r.origins[s.place] = c.given.Origin
			if c.given.Origin.Layer == FromEnvironment {
				r.Environment = append(r.Environment, Variable{c.given.Origin.Where, c.given.Text, s.Name})
			}
			continue
		}
		if c.value.None || c.value.Text == s.def.Text || c.given.Origin.Layer == FromPreset {
			continue
		}
		if err := r.without(&c.given); err != nil {
			return err
		}
	}
	return nil
}

// without deals with a value of a setting that no replay honours.
func (r *resolution) without(g *Given) error {
	s := g.Setting
	if s.Support == Refused {
		return g.problem(show(g.Text), fmt.Sprintf("%s (%s)", s.Default, s.Why))
	}
	if s.Why != "" && !s.NoFlag {
		r.pass(g, s.Why)
	}
	return nil
}

// pass notes a value that has no effect.
func (r *resolution) pass(g *Given, why string) {
	place := g.Place.Field
	if g.Place.File != "" {
		place = fmt.Sprintf("%s:%d: %s", g.Place.File, g.Place.Line, g.Place.Field)
	}
	r.Warn("%s: %s has no effect: %s", place, show(g.Text), why)
	r.Passed = append(r.Passed, fmt.Sprintf("%s: %s (%s)", g.Setting.Name, g.Text, g.Origin))
}

// Warn adds a warning.
func (r *Resolved) Warn(format string, args ...any) {
	r.Warnings = append(r.Warnings, fmt.Sprintf(format, args...))
}
