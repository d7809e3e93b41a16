package policy

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// Parameters reads the parameters of a policy and remembers the first thing
// wrong with them.
type Parameters struct {
	kind  string
	given map[string]any
	known []string
	err   error
}

// ParameterError is a parameter that cannot be used.
type ParameterError struct {
	Kind, Name  string // of what, which parameter
	Found, Want string
}

// Error implements error.
func (e *ParameterError) Error() string {
	return fmt.Sprintf("%s: parameters.%s: found %s, expected %s", e.Kind, e.Name, e.Found, e.Want)
}

// MostWhole is the largest whole number that a parameter may be.
const MostWhole = math.MaxInt32

// NewParameters prepares parameters of something of the given type to be read.
// Finish must follow.
func NewParameters(kind string, given map[string]any) *Parameters {
	return &Parameters{kind: kind, given: given}
}

// Number reads a real number in a range, or its default.
func (p *Parameters) Number(name string, otherwise, least, most float64) float64 {
	if x := p.Optional(name, least, most); x != nil {
		return *x
	}
	return otherwise
}

// Optional reads a real number in a range, nil where it is not given.
func (p *Parameters) Optional(name string, least, most float64) *float64 {
	v, ok := p.take(name)
	if !ok {
		return nil
	}
	x, ok := number(v)
	if !ok || math.IsNaN(x) || math.IsInf(x, 0) || x < least || x > most {
		want := fmt.Sprintf("a number from %v to %v", least, most)
		if most == math.MaxFloat64 {
			want = fmt.Sprintf("a finite number of at least %v", least)
		}
		p.fail(name, v, want)
		return nil
	}
	return &x
}

// Whole reads a whole number from 0 to MostWhole, or its default.
func (p *Parameters) Whole(name string, otherwise int64) int64 {
	v, ok := p.take(name)
	if !ok {
		return otherwise
	}
	switch n := v.(type) {
	case int64:
		if n >= 0 && n <= MostWhole {
			return n
		}
	case int:
		if n >= 0 && n <= MostWhole {
			return int64(n)
		}
	}
	p.fail(name, v, fmt.Sprintf("a whole number from 0 to %d", MostWhole))
	return otherwise
}

func number(v any) (float64, bool) {
	switch n := v.(type) {
	case float64:
		return n, true
	case int64:
		return float64(n), true
	case int:
		return float64(n), true
	}
	return 0, false
}

func (p *Parameters) take(name string) (any, bool) {
	p.known = append(p.known, name)
	v, ok := p.given[name]
	return v, ok
}

func (p *Parameters) fail(name string, v any, want string) {
	if p.err == nil {
		p.err = &ParameterError{p.kind, name, fmt.Sprint(v), want}
	}
}

// Finish reports the first problem, an unknown parameter among them.
func (p *Parameters) Finish() error {
	if p.err != nil {
		return p.err
	}
	for _, name := range slices.Sorted(maps.Keys(p.given)) {
		if !slices.Contains(p.known, name) {
			want := "no parameters"
			if len(p.known) > 0 {
				want = "one of " + strings.Join(p.known, ", ")
			}
			return &ParameterError{p.kind, name, "an unknown parameter", want}
		}
	}
	return nil
}
