package measured

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"routesim/models/numeral"
)

// Table reads a CSV text whose columns are known by the names in its first
// line. They may stand in any order; those that nobody asks for are left
// alone. The first problem ends the reading.
type Table struct {
	name    string
	in      *csv.Reader
	head    []string
	columns map[string]int
	record  []string
	line    int
	err     error

	anyStatistic bool
}

// NewTable reads the first line; name is what errors call the text. The
// required columns must be there.
func NewTable(name string, r io.Reader, required ...string) (*Table, error) {
	t := &Table{name: name, in: csv.NewReader(r), columns: map[string]int{}, line: 1}
	t.in.FieldsPerRecord = -1
	head, err := t.in.Read()
	if errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: found an empty file, expected a line of column names", name)
	}
	if err != nil {
		return nil, t.unusable(err)
	}
	for i, h := range head {
		h = strings.ToLower(strings.TrimSpace(strings.TrimPrefix(h, "\ufeff")))
		if _, ok := t.columns[h]; ok && h != "" {
			return nil, fmt.Errorf("%s:1: %s: found the column again, expected it once", name, h)
		}
		t.columns[h] = i
		t.head = append(t.head, h)
	}
	return t, t.require(required)
}

func (t *Table) unusable(err error) error {
	var p *csv.ParseError
	if errors.As(err, &p) {
		return fmt.Errorf("%s:%d: found unusable CSV: %v", t.name, p.Line, p.Err)
	}
	return fmt.Errorf("%s: %w", t.name, err)
}

// AnyStatistic lets statistics pass that are not known, as OtherStatistic: in a
// collection of many sources they concern single rows.
func (t *Table) AnyStatistic() { t.anyStatistic = true }

// Has reports whether there is a column of that name.
func (t *Table) Has(column string) bool {
	_, ok := t.columns[column]
	return ok
}

// Next goes to the next row. It returns false at the end and after a problem,
// which Err then tells.
func (t *Table) Next() bool {
	if t.err != nil {
		return false
	}
	record, err := t.in.Read()
	if errors.Is(err, io.EOF) {
		return false
	}
	if err != nil {
		t.err = t.unusable(err)
		return false
	}
	t.line, _ = t.in.FieldPos(0)
	if len(record) != len(t.head) {
		t.err = fmt.Errorf("%s:%d: found %d fields, expected %d as in the first line", t.name, t.line, len(record), len(t.head))
		return false
	}
	t.record = record
	return true
}

// Line returns the line of the current row, from 1.
func (t *Table) Line() int { return t.line }

// Err returns the first problem.
func (t *Table) Err() error { return t.err }

// Fail notes a problem with a cell of the current row.
func (t *Table) Fail(column, found, want string) {
	if t.err == nil {
		t.err = fmt.Errorf("%s:%d: %s: found %s, expected %s", t.name, t.line, column, found, want)
	}
}

// Text returns a cell without the blanks around it, "" where there is no such
// column.
func (t *Table) Text(column string) string {
	if i, ok := t.columns[column]; ok {
		return strings.TrimSpace(t.record[i])
	}
	return ""
}

// Positive reads a number above 0, NaN for an empty cell.
func (t *Table) Positive(column string) float64 {
	text := t.Text(column)
	if text == "" {
		return math.NaN()
	}
	v, ok := numeral.Real(text)
	if !ok || !(v > 0) {
		t.Fail(column, strconv.Quote(text), "a number above 0, or an empty cell")
	}
	return v
}

// Count reads a whole number from least to most, or returns empty for an
// empty cell.
func (t *Table) Count(column string, least, most, empty int64) int64 {
	text := t.Text(column)
	if text == "" {
		return empty
	}
	v, ok := numeral.Real(text)
	if !ok || v != math.Trunc(v) || v < float64(least) || v > float64(most) {
		t.Fail(column, strconv.Quote(text), fmt.Sprintf("a whole number from %d to %d, or an empty cell", least, most))
		return empty
	}
	return int64(v)
}

// require refuses a table without the columns.
func (t *Table) require(columns []string) error {
	for _, want := range columns {
		if !t.Has(want) {
			return fmt.Errorf("%s:1: found no column %s, expected the columns %s", t.name, want, strings.Join(columns, ", "))
		}
	}
	return nil
}
