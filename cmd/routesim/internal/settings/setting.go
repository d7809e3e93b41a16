// Package settings holds the one table of everything a run can be told: names,
// spellings, environment variables, ranges, defaults and help. Flags,
// environment, configuration file, the oracle's engine dictionary, Dynamo's
// policy file, help texts and the print-out of a resolved configuration are all
// derived from that table.
package settings

import (
	"slices"

	"routesim/sim/engine"
	"routesim/sim/router"
)

// Group sorts settings in help texts.
type Group string

// The groups, in the order of Groups.
const (
	Trace Group = "Trace"
	Load  Group = "Load and goodput"
	// Synthetic settings describe requests that are made in the place of a trace.
	Synthetic Group = "Synthetic load"
	Fleet     Group = "Workers and engine"
	Pools     Group = "Disaggregated serving"
	Cost      Group = "Router: cost and selection"
	Track     Group = "Router: load tracking"
	Queue     Group = "Router: queue, events, policy file"
	// LiveOnly settings are those of a live frontend.
	LiveOnly Group = "Router: live semantics only"
)

// Groups lists the groups in the order of help texts.
func Groups() []Group {
	return []Group{Trace, Load, Synthetic, Fleet, Pools, Cost, Track, Queue, LiveOnly}
}

// Support says what a replay does with a setting.
type Support uint8

// The kinds of support.
const (
	Honoured Support = iota // changes the run
	Inert                   // accepted: changes nothing in a replay, by its nature
	Refused                 // Dynamo's replay refuses it, or it is not modelled
)

// Setting is one row of the table.
type Setting struct {
	Name    string   // kebab case; the flag, the key of the configuration file
	Aliases []string // further spellings of the flag and the key
	Field   string   // Dynamo's name in its configuration objects, "" where it equals Name
	Env     []string // environment variables, the first one given wins
	Dict    string   // path in the oracle's engine dictionary, "" for none
	Router  bool     // allowed in the router section of a policy file

	Kind    Kind
	Default string // as one would type it
	Unit    string
	Help    string
	Group   Group

	Support  Support
	Why      string // for other than Honoured: what becomes of it
	LiveOnly bool   // only a live frontend has it: any other value than the default makes a run live
	EnvOnly  bool   // Dynamo has the variable and no flag; the flag is routesim's
	NoFlag   bool   // has no flag: a variable or dictionary key only

	// Ref points at the setting's field of a run; nil unless it is Honoured.
	Ref func(*Run) any

	place int   // in the table
	def   Value // Default as a value
}

// Spellings returns every name of the setting as a flag or key, in kebab case:
// its own first, then aliases, then Dynamo's field.
func (s *Setting) Spellings() []string {
	names := append([]string{s.Name}, s.Aliases...)
	if f := kebab(s.Field); f != "" && !slices.Contains(names, f) {
		names = append(names, f)
	}
	return names
}

// Table is the list of all settings with its look-ups.
type Table struct {
	list   []*Setting
	byName map[string]*Setting // every spelling, kebab case
	byEnv  map[string]*Setting
	byDict map[string]*Setting

	defaults Run // every setting at its default
}

// NewTable returns the table.
func NewTable() *Table {
	t := &Table{byName: map[string]*Setting{}, byEnv: map[string]*Setting{}, byDict: map[string]*Setting{}}
	for _, rows := range [][]Setting{traceRows(), loadRows(), syntheticRows(), workerRows(), poolRows(), engineRows(), rankRows(), sglangRows(), draftRows(), tierRows(), diskRows(), disaggRows(), conditionalRows(), transferRows(), domainRows(), modeRows(), costRows(), trackRows(), queueRows(), semanticsRows(), liveRows(), nodeRows(), otherRows(), dictRows()} {
		for i := range rows {
			t.add(&rows[i])
		}
	}
	t.defaults.Engine, t.defaults.Live = engine.DefaultParams(), router.DefaultLive()
	for _, s := range t.list {
		if s.Support == Honoured {
			store(s.Ref(&t.defaults), s.def)
		}
	}
	return t
}

func (t *Table) add(s *Setting) {
	var ok bool
	if s.def, ok = s.Kind.Parse(s.Default); !ok {
		panic("settings: unreadable default of " + s.Name)
	}
	s.place = len(t.list)
	t.list = append(t.list, s)
	if !s.NoFlag {
		for _, n := range s.Spellings() {
			t.byName[n] = s
		}
	}
	for _, e := range s.Env {
		t.byEnv[e] = s
	}
	if s.Dict != "" {
		t.byDict[s.Dict] = s
	}
}

// All returns the settings in table order.
func (t *Table) All() []*Setting { return t.list }

// Lookup finds a setting by any of its spellings, in kebab or snake case.
func (t *Table) Lookup(name string) (*Setting, bool) {
	s, ok := t.byName[kebab(name)]
	return s, ok
}

// Nearest returns the name closest to a misspelt one among the settings that a
// run honours, "" if none is close.
func (t *Table) Nearest(name string) string {
	var names []string
	for _, s := range t.list {
		if !s.NoFlag && s.Support == Honoured {
			names = append(names, s.Spellings()...)
		}
	}
	return Nearest(kebab(name), names)
}
