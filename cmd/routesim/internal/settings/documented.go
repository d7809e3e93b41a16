package settings

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"routesim/workloads"
)

// Documented returns the largest value of a setting that Dynamo's documentation
// speaks of, NaN where it names none. Dynamo accepts larger ones, and so does a
// replay; whoever shows results marks them.
func Documented(name string) float64 {
	switch name {
	case "router-kv-overlap-score-credit":
		return 1 // a credit from 0 to 1; the code takes any number of at least 0
	}
	return math.NaN()
}

// Dynamo tells how a setting is spelt outside routesim: the flag of Dynamo's
// frontend with its dashes, and its first environment variable. ok is false for
// settings that Dynamo's frontend does not have.
func (s *Setting) Dynamo() (flag, variable string, isSwitch, ok bool) {
	_, isSwitch = s.Kind.(Bool)
	router := s.Group != Trace && s.Group != Load && s.Group != Fleet
	if !router || s.EnvOnly || len(s.Env) == 0 || s.Support != Honoured {
		return "", "", false, false
	}
	return "--" + s.Name, s.Env[0], isSwitch, true
}

// GivenFlag is a value as if given by a flag; where names what gave it.
func (t *Table) GivenFlag(s *Setting, text, where string) Given {
	return Given{Setting: s, Text: text, Origin: Origin{FromFlag, where}, Place: workloads.Problem{Field: where}}
}

// Saved turns a complete configuration, as Resolved.Entries lists it, into
// values again, as if a file gave them; under is the key they stand under there.
func (t *Table) Saved(file, under string, values map[string]any) ([]Given, error) {
	var given []Given
	known := map[string]bool{}
	for _, s := range t.list {
		v, ok := values[s.Name]
		if s.Support != Honoured || !ok {
			continue
		}
		known[s.Name] = true
		text := None
		switch v := v.(type) {
		case nil:
		case float64:
			text = FormatReal(v)
		default:
			text = fmt.Sprint(v)
		}
		g := Given{Setting: s, Text: text, Origin: Origin{FromFile, file}, Place: workloads.Problem{File: file, Field: under + "." + s.Name}}
		if _, ok := s.Kind.Parse(text); !ok {
			return nil, g.problem(show(text), s.Kind.Expected())
		}
		given = append(given, g)
	}
	for _, name := range sortedKeys(values) {
		if !known[name] {
			return nil, unknownKey(file, 0, under+"."+name, t.Nearest(name), "a setting of routesim replay")
		}
	}
	return given, nil
}

func sortedKeys(m map[string]any) []string { return slices.Sorted(maps.Keys(m)) }
