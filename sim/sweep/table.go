package sweep

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"

	"routesim/workloads"
)

// maxColumns is the most settings of a file of points.
const maxColumns = 1000

// ReadTable reads a CSV file of points: its first line names settings, each
// further line is a point. find looks a setting up by its name.
func ReadTable(file string, r io.Reader, find func(name string) (*Setting, error)) (*Design, error) {
	in := csv.NewReader(r)
	in.ReuseRecord = true
	in.FieldsPerRecord = -1
	in.TrimLeadingSpace = true
	t := table{file: file, in: in, seen: map[string]int{}}
	if err := t.header(find); err != nil {
		return nil, err
	}
	for {
		point, err := t.row()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if len(t.points) >= MaxPoints {
			return nil, t.problem(0, "", "more points", fmt.Sprintf("at most %d", MaxPoints))
		}
		t.points = append(t.points, point)
	}
	if len(t.points) == 0 {
		return nil, &workloads.Problem{File: file, Found: "no points", Want: "a line per point below the names of the settings"}
	}
	list := make([]string, len(t.settings))
	for i, s := range t.settings {
		list[i] = s.Name
	}
	return &Design{Axes: axesOf(list, t.points), Points: t.points}, nil
}

type table struct {
	file     string
	in       *csv.Reader
	settings []*Setting
	points   [][]string
	seen     map[string]int // line of a point
}

// problem is an error at a field of the record just read.
func (t *table) problem(column int, field, found, want string) error {
	line, _ := t.in.FieldPos(column)
	return &workloads.Problem{File: t.file, Line: line, Field: field, Found: found, Want: want}
}

// read returns the next record.
func (t *table) read() ([]string, error) {
	record, err := t.in.Read()
	var syntax *csv.ParseError
	if errors.As(err, &syntax) {
		return nil, &workloads.Problem{File: t.file, Line: syntax.Line, Found: syntax.Err.Error(), Want: "CSV: fields separated by commas, in double quotes where they have commas"}
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: %w", t.file, err)
	}
	return record, err
}

func (t *table) header(find func(string) (*Setting, error)) error {
	record, err := t.read()
	if errors.Is(err, io.EOF) {
		return &workloads.Problem{File: t.file, Found: "an empty file", Want: "the names of settings in the first line"}
	}
	if err != nil {
		return err
	}
	if len(record) > maxColumns {
		return t.problem(0, "", fmt.Sprintf("%d columns", len(record)), fmt.Sprintf("at most %d", maxColumns))
	}
	at := map[string]bool{}
	for i, name := range record {
		name = strings.TrimSpace(strings.TrimPrefix(name, "\ufeff"))
		s, err := find(name)
		if err != nil {
			return t.problem(i, fmt.Sprintf("column %d", i+1), plain(name)+" ("+err.Error()+")", "the name of a setting")
		}
		if at[s.Name] {
			return t.problem(i, fmt.Sprintf("column %d", i+1), s.Name+" again", "each setting once")
		}
		at[s.Name] = true
		t.settings = append(t.settings, s)
	}
	return nil
}

func (t *table) row() ([]string, error) {
	record, err := t.read()
	if err != nil {
		return nil, err
	}
	if len(record) != len(t.settings) {
		return nil, t.problem(0, "", fmt.Sprintf("%d fields", len(record)), fmt.Sprintf("%d, as many as in the first line", len(t.settings)))
	}
	point := make([]string, len(record))
	for i, text := range record {
		s := t.settings[i]
		canon, ok := s.Canon(strings.TrimSpace(text))
		if !ok {
			return nil, t.problem(i, s.Name, plain(text), s.Expected)
		}
		point[i] = canon
	}
	key := strings.Join(point, "\x00")
	if line := t.seen[key]; line > 0 {
		return nil, t.problem(0, "", fmt.Sprintf("the point of line %d again", line), "each point once")
	}
	line, _ := t.in.FieldPos(0)
	t.seen[key] = line
	return point, nil
}

// plain quotes a text and cuts a long one.
func plain(text string) string {
	const most = 120
	if len(text) > most {
		text = text[:most] + "..."
	}
	return fmt.Sprintf("%q", text)
}
