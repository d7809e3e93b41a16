// Package columnar writes what happened to each request and each worker as
// tables: Parquet files and CSV. One list of columns per table says what there
// is, in which unit, and where it comes from.
package columnar

import "math"

// Kind is the type of a column's values.
type Kind uint8

// The kinds of columns.
const (
	Integer Kind = iota // 64 bits, signed
	Decimal             // binary64
	Text                // UTF-8
	Boolean
)

// String names the kind as Parquet does.
func (k Kind) String() string { return [...]string{"int64", "double", "string", "boolean"}[k] }

// Column is one column of a table over rows of type R.
type Column[R any] struct {
	Name string
	Unit string // "" for plain counts and names
	Doc  string

	kind    Kind
	always  bool // no row lacks a value
	integer func(*R) (v int64, ok bool)
	decimal func(*R) float64 // not finite = absent
	text    func(*R) (v string, ok bool)
	boolean func(*R) (v, ok bool)
}

// Kind returns the type of the column's values.
func (c *Column[R]) Kind() Kind { return c.kind }

func integers[R any](name, unit, doc string, f func(*R) (int64, bool)) Column[R] {
	return Column[R]{Name: name, Unit: unit, Doc: doc, kind: Integer, integer: f}
}

func counts[R any](name, unit, doc string, f func(*R) int64) Column[R] {
	c := integers(name, unit, doc, func(r *R) (int64, bool) { return f(r), true })
	c.always = true
	return c
}

func decimals[R any](name, unit, doc string, f func(*R) float64) Column[R] {
	return Column[R]{Name: name, Unit: unit, Doc: doc, kind: Decimal, decimal: f}
}

func texts[R any](name, unit, doc string, f func(*R) (string, bool)) Column[R] {
	return Column[R]{Name: name, Unit: unit, Doc: doc, kind: Text, text: f}
}

// labels is texts for a name that every row has.
func labels[R any](name, unit, doc string, f func(*R) string) Column[R] {
	c := texts(name, unit, doc, func(r *R) (string, bool) { return f(r), true })
	c.always = true
	return c
}

func booleans[R any](name, unit, doc string, f func(*R) (v, ok bool)) Column[R] {
	return Column[R]{Name: name, Unit: unit, Doc: doc, kind: Boolean, boolean: f}
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
