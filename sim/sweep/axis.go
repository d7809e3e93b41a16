// Package sweep turns descriptions of many runs into lists of points, and runs
// such lists on all cores with results that depend on neither the number of
// cores nor the order in which runs end.
package sweep

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"

	"routesim/sim/fmath"
)

// MaxPoints is the most points of a design.
const MaxPoints = 1_000_000

// Setting is what an axis has to know of the setting it varies.
type Setting struct {
	Name string
	// Number says that values are numbers, so that ranges have a meaning; Whole
	// that they are whole numbers.
	Number, Whole bool
	// Words says that values may be longer than a number or a word, and may have
	// commas and colons of their own.
	Words bool
	// Canon returns a value in the one form that equal values share; ok is false
	// for a text that is no value. Expected says in words what is.
	Canon    func(text string) (canon string, ok bool)
	Expected string
}

// Axis is a setting with the values it is given, or with a range to draw from.
type Axis struct {
	Name   string
	Values []string // canonical, in the order of the sweep; empty for a range
	Range  *Range
}

// Range is a range of numbers, ends included.
type Range struct {
	lo, hi decimal
	log    bool
	whole  bool
	canon  func(string) (string, bool)
}

// Cut splits NAME=LIST.
func Cut(text string) (name, list string, err error) {
	name, list, ok := strings.Cut(text, "=")
	if name = strings.TrimSpace(name); !ok || name == "" || strings.TrimSpace(list) == "" {
		return "", "", fmt.Errorf("found %q, expected NAME=LIST, such as router-temperature=0,0.5,1", text)
	}
	return name, list, nil
}

// Parse reads the list of an axis. Elements are separated by semicolons where
// there are any, by commas otherwise; a value that has commas of its own needs a
// semicolon behind it. For a setting of numbers an element may be
//
//	a:b:step   from a to b, both included; the step must divide the way
//	log:a:b:n  n values, each the same multiple of the one before
//
// and the whole list a..b or log:a..b, a range that a sampled design draws from.
func Parse(s *Setting, list string) (*Axis, error) {
	a := &Axis{Name: s.Name}
	if strings.Contains(list, "..") && s.ranges(list) {
		r, err := parseRange(s, strings.TrimSpace(list))
		a.Range = r
		return a, err
	}
	elements := strings.Split(list, ",")
	if strings.Contains(list, ";") {
		elements = strings.Split(strings.TrimSuffix(strings.TrimSpace(list), ";"), ";")
	}
	seen := map[string]bool{}
	for _, e := range elements {
		e = strings.TrimSpace(e)
		texts := []string{e}
		var err error
		if strings.Contains(e, ":") && s.ranges(e) {
			texts, err = expand(e, s.Whole)
		}
		if err != nil {
			return nil, err
		}
		for _, text := range texts {
			if err := a.add(s, text, e, seen); err != nil {
				return nil, err
			}
		}
	}
	return a, nil
}

// ranges reports whether a text is to be read as a range. Where values may be
// words as well, it must look like nothing else.
func (s *Setting) ranges(text string) bool {
	if !s.Words {
		return s.Number
	}
	return s.Number && strings.Trim(strings.TrimPrefix(strings.TrimSpace(text), "log:"), "0123456789.:eE+- ") == ""
}

// add appends one value.
func (a *Axis) add(s *Setting, text, element string, seen map[string]bool) error {
	canon, ok := s.Canon(text)
	switch {
	case !ok && text == "":
		return fmt.Errorf("found an empty value, expected %s", s.Expected)
	case !ok && s.Words:
		return fmt.Errorf("found %q, expected %s (values that have commas are separated by semicolons; one of them needs a semicolon behind it)", text, s.Expected)
	case !ok && text != element:
		return fmt.Errorf("found %q, which contains %q, expected %s", element, text, s.Expected)
	case !ok:
		return fmt.Errorf("found %q, expected %s", text, s.Expected)
	case seen[canon]:
		return fmt.Errorf("found %s again, expected each value once", canon)
	case len(a.Values) >= MaxPoints:
		return fmt.Errorf("found more than %d values, expected at most as many", MaxPoints)
	}
	seen[canon] = true
	a.Values = append(a.Values, canon)
	return nil
}

// expand makes the values of a:b:step or log:a:b:n.
func expand(text string, whole bool) ([]string, error) {
	if rest, ok := strings.CutPrefix(text, "log:"); ok {
		return expandLog(text, rest, whole)
	}
	want := fmt.Errorf("found %q, expected a:b:step or log:a:b:n, such as 0:2:0.5", text)
	parts := strings.Split(text, ":")
	if len(parts) != 3 {
		return nil, want
	}
	var n [3]decimal
	places := 0
	for i, p := range parts {
		var err error
		if n[i], err = parseDecimal(strings.TrimSpace(p)); err != nil {
			return nil, want
		}
		places = max(places, n[i].places)
	}
	a, b, step := n[0].at(places).units, n[1].at(places).units, n[2].at(places).units
	span := new(big.Int).Sub(b, a)
	if step.Sign() == 0 || span.Sign()*step.Sign() < 0 {
		return nil, fmt.Errorf("found %q, expected a step that leads from %s to %s", text, n[0], n[1])
	}
	count, rest := new(big.Int).QuoRem(span, step, new(big.Int))
	if rest.Sign() != 0 {
		return nil, fmt.Errorf("found %q, expected a step that divides the way from %s to %s, so that both are among the values", text, n[0], n[1])
	}
	if !count.IsInt64() || count.Int64() >= MaxPoints {
		return nil, fmt.Errorf("found %q, expected at most %d values", text, MaxPoints)
	}
	values := make([]string, 0, count.Int64()+1)
	for v := new(big.Int).Set(a); len(values) < cap(values); v.Add(v, step) {
		values = append(values, decimal{v, places}.String())
	}
	return values, nil
}

// expandLog makes n values between a and b with equal ratios, the inner ones to
// six significant digits, or whole.
func expandLog(text, rest string, whole bool) ([]string, error) {
	want := fmt.Errorf("found %q, expected log:a:b:n with a and b above 0 and n from 2, such as log:0.1:10:5", text)
	parts := strings.Split(rest, ":")
	if len(parts) != 3 {
		return nil, want
	}
	n, err := strconv.Atoi(strings.TrimSpace(parts[2]))
	if err != nil || n < 2 || n > MaxPoints {
		return nil, want
	}
	var ends [2]decimal
	var logs [2]float64
	for i := range ends {
		if ends[i], err = parseDecimal(strings.TrimSpace(parts[i])); err != nil || ends[i].units.Sign() <= 0 {
			return nil, want
		}
		logs[i] = fmath.Log(ends[i].float())
	}
	values := make([]string, n)
	for i := range values {
		t := float64(i) / float64(n-1)
		values[i] = round(fmath.Exp(logs[0]+float64(t*(logs[1]-logs[0]))), whole)
	}
	values[0], values[n-1] = ends[0].String(), ends[1].String()
	return values, nil
}

// float returns the nearest binary64.
func (d decimal) float() float64 {
	v, err := strconv.ParseFloat(d.String(), 64)
	if err != nil {
		return math.NaN()
	}
	return v
}

// round writes v with six significant digits, or as a whole number.
func round(v float64, whole bool) string {
	if whole {
		return strconv.FormatFloat(math.Round(v), 'f', 0, 64)
	}
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(v, 'e', 5, 64), 64)
	if err != nil {
		rounded = v
	}
	return strconv.FormatFloat(rounded, 'f', -1, 64)
}

// parseRange reads a..b or log:a..b.
func parseRange(s *Setting, text string) (*Range, error) {
	rest, log := strings.CutPrefix(text, "log:")
	lo, hi, _ := strings.Cut(rest, "..")
	r := &Range{log: log, whole: s.Whole, canon: s.Canon}
	for _, end := range []struct {
		text string
		to   *decimal
	}{{lo, &r.lo}, {hi, &r.hi}} {
		d, err := parseDecimal(strings.TrimSpace(end.text))
		if err != nil {
			return nil, fmt.Errorf("found %q, expected a..b, such as 0..2", text)
		}
		if _, ok := s.Canon(d.String()); !ok {
			return nil, fmt.Errorf("found %q, which contains %q, expected %s", text, end.text, s.Expected)
		}
		*end.to = d
	}
	places := max(r.lo.places, r.hi.places)
	if r.lo.at(places).units.Cmp(r.hi.at(places).units) >= 0 {
		return nil, fmt.Errorf("found %q, expected a range that rises", text)
	}
	if log && r.lo.units.Sign() <= 0 {
		return nil, fmt.Errorf("found %q, expected a logarithmic range above 0", text)
	}
	return r, nil
}
