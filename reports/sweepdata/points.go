package sweepdata

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"routesim/reports/columnar"
	"routesim/workloads"
)

// The words for what became of a run.
const (
	statusDone    = "done"
	statusFailed  = "failed"
	statusMissing = "missing"
)

// The words for why a point was run.
const (
	roleDesign    = ""
	roleDefault   = "default"
	roleReference = "round-robin"
)

// headColumns name the columns before the axes.
func headColumns() []string {
	return []string{"point", "key", "added", "beyond", "seed", "fresh", "status"}
}

// columnsOf names the columns of the table of points.
func columnsOf(axes []Axis) []string {
	names := headColumns()
	for i := range axes {
		names = append(names, axes[i].Name)
	}
	return append(append(names, runColumns()...), "error")
}

// eachRow calls f with the cells of every row: a row per point and seed, then
// the point's fresh runs. The slice is used again.
func (s *Sweep) eachRow(f func(cells []string) error) error {
	none := make([]string, len(runColumns()))
	var cells []string
	for i := range s.Points {
		p := &s.Points[i]
		role := roleDesign
		switch {
		case p.Added && i == s.Reference:
			role = roleReference
		case p.Added:
			role = roleDefault
		}
		row := func(seed uint64, fresh bool, run *Run, failure string) error {
			status, figures := statusMissing, none
			switch {
			case run != nil:
				status, figures = statusDone, runCells(run)
			case failure != "":
				status = statusFailed
			}
			cells = append(cells[:0], p.ID, p.Key, role, strconv.FormatBool(p.Beyond), strconv.FormatUint(seed, 10), strconv.FormatBool(fresh), status)
			cells = append(cells, p.Values...)
			cells = append(cells, figures...)
			return f(append(cells, failure))
		}
		for _, seed := range s.Seeds {
			if err := row(seed, false, p.run(seed), p.failure(seed)); err != nil {
				return err
			}
		}
		for j := range p.Fresh {
			if err := row(p.Fresh[j].Seed, true, &p.Fresh[j], ""); err != nil {
				return err
			}
		}
	}
	return nil
}

// run returns the run with a seed, nil where there is none.
func (p *Point) run(seed uint64) *Run {
	for i := range p.Runs {
		if p.Runs[i].Seed == seed {
			return &p.Runs[i]
		}
	}
	return nil
}

func (p *Point) failure(seed uint64) string {
	for _, f := range p.Failed {
		if f.Seed == seed {
			return f.Error
		}
	}
	return ""
}

// WritePointsCSV writes the table of points: a row per point and seed. Figures
// of runs that failed or were not made are empty.
func (s *Sweep) WritePointsCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	if err := out.Write(columnsOf(s.Axes)); err != nil {
		return err
	}
	if err := s.eachRow(out.Write); err != nil {
		return err
	}
	out.Flush()
	return out.Error()
}

// writePointsParquet writes the same table with typed columns, group by group.
func (s *Sweep) writePointsParquet(w io.Writer) error {
	names := columnsOf(s.Axes)
	columns := make([]columnar.Values, len(names))
	for i, name := range names {
		columns[i] = emptyColumn(name, s.isNumber(name))
	}
	out, err := columnar.NewValuesWriter(w, "points", columns)
	if err != nil {
		return err
	}
	rows := 0
	flush := func() error {
		err := out.Write(columns, 0, rows)
		for i := range columns {
			c := &columns[i]
			c.Booleans, c.Texts, c.Decimals = c.Booleans[:0], c.Texts[:0], c.Decimals[:0]
		}
		rows = 0
		return err
	}
	err = s.eachRow(func(cells []string) error {
		for i, text := range cells {
			appendCell(&columns[i], text)
		}
		if rows++; rows == columnar.GroupRows {
			return flush()
		}
		return nil
	})
	if err == nil && rows > 0 {
		err = flush()
	}
	if err != nil {
		return err
	}
	return out.Close()
}

// isNumber reports whether a column holds numbers.
func (s *Sweep) isNumber(name string) bool {
	for i := range s.Axes {
		if s.Axes[i].Name == name {
			return s.Axes[i].Numbers != nil && s.plainNumbers(i)
		}
	}
	words := []string{"worker_requests", "worker_tokens", "worker_busy_shares", "decision_digest", "time_digest"}
	return slices.Contains(runColumns(), name) && name != "saturated" && !slices.Contains(words, name)
}

// plainNumbers reports whether every point's value on an axis is a number, added
// points included.
func (s *Sweep) plainNumbers(axis int) bool {
	for i := range s.Points {
		if _, err := strconv.ParseFloat(s.Points[i].Values[axis], 64); err != nil {
			return false
		}
	}
	return true
}

// emptyColumn is a column of numbers, of booleans or of texts.
func emptyColumn(name string, number bool) columnar.Values {
	v := columnar.Values{Name: name}
	switch {
	case slices.Contains([]string{"beyond", "fresh"}, name):
		v.Booleans = []bool{}
	case number:
		v.Decimals = []float64{}
	default:
		v.Texts = []string{}
	}
	return v
}

// appendCell adds a cell of the table to its column.
func appendCell(v *columnar.Values, text string) {
	switch {
	case v.Booleans != nil:
		v.Booleans = append(v.Booleans, text == "true")
	case v.Decimals != nil:
		n := math.NaN()
		if text != "" {
			n, _ = strconv.ParseFloat(text, 64) // the program wrote it
		}
		v.Decimals = append(v.Decimals, n)
	default:
		v.Texts = append(v.Texts, text)
	}
}

// ReadPointsCSV reads the table of points into a sweep whose axes and seeds are
// known.
func (s *Sweep) ReadPointsCSV(file string, r io.Reader) error {
	in := csv.NewReader(r)
	in.ReuseRecord = true
	in.FieldsPerRecord = -1
	p := pointsReader{sweep: s, file: file, in: in, names: columnsOf(s.Axes), at: map[string]int{}, rows: map[pointSeed]bool{}, want: s.designed()}
	s.Points, s.Default, s.Reference = nil, -1, -1
	for line := 0; ; line++ {
		record, err := in.Read()
		var syntax *csv.ParseError
		switch {
		case errors.Is(err, io.EOF) && line > 0:
			return p.finish()
		case errors.Is(err, io.EOF):
			return &workloads.Problem{File: file, Found: "an empty file", Want: "the table of points of a sweep"}
		case errors.As(err, &syntax):
			return &workloads.Problem{File: file, Line: syntax.Line, Found: syntax.Err.Error(), Want: "CSV as a sweep writes it"}
		case err != nil:
			return err
		}
		if line == 0 {
			err = p.header(record)
		} else {
			err = p.row(record)
		}
		if err != nil {
			return err
		}
	}
}

type pointsReader struct {
	sweep *Sweep
	file  string
	in    *csv.Reader
	names []string
	at    map[string]int // place of a point by its key
	rows  map[pointSeed]bool
	want  int // points of the design
}

// pointSeed is a row of the table that is not a fresh run.
type pointSeed struct {
	point int
	seed  uint64
}

func (p *pointsReader) problem(field, found, want string) error {
	line, _ := p.in.FieldPos(0)
	return &workloads.Problem{File: p.file, Line: line, Field: field, Found: found, Want: want}
}

func (p *pointsReader) header(record []string) error {
	for i, name := range p.names {
		if i >= len(record) {
			return p.problem("", fmt.Sprintf("%d columns", len(record)), fmt.Sprintf("%d; the sweep was made by another version", len(p.names)))
		}
		if record[i] != name {
			return p.problem(fmt.Sprintf("column %d", i+1), fmt.Sprintf("%q", record[i]), name+"; the sweep was made by another version, or belongs to another sweep.yaml")
		}
	}
	if len(record) > len(p.names) {
		return p.problem("", fmt.Sprintf("%d columns", len(record)), fmt.Sprintf("%d; the sweep was made by another version", len(p.names)))
	}
	return nil
}

func (p *pointsReader) row(record []string) error {
	if len(record) != len(p.names) {
		return p.problem("", fmt.Sprintf("%d fields", len(record)), fmt.Sprintf("%d", len(p.names)))
	}
	c := &cellReader{names: p.names, cells: record}
	id, key, role, beyond := c.text(), c.digest(), c.text(), c.boolean()
	seed, fresh, status := c.text(), c.boolean(), c.text()
	n, err := strconv.ParseUint(seed, 10, 64)
	switch {
	case c.err != nil:
	case err != nil:
		c.err = &cellError{"seed", seed, "a whole number"}
	case len(id) < 8 || !strings.HasPrefix(key, id):
		c.err = &cellError{"point", id, "the beginning of the key"}
	case role != roleDesign && role != roleDefault && role != roleReference:
		c.err = &cellError{"added", role, "nothing, default or round-robin"}
	}
	if c.err == nil {
		point := p.point(id, key, role, beyond, record[c.next:c.next+len(p.sweep.Axes)])
		if !fresh {
			p.rows[pointSeed{p.at[key], n}] = true
		}
		rest := record[c.next+len(p.sweep.Axes):]
		c.err = point.take(n, fresh, status, rest)
	}
	var bad *cellError
	if errors.As(c.err, &bad) {
		return p.problem(bad.field, fmt.Sprintf("%q", bad.found), bad.want)
	}
	return c.err
}

// point returns the point with a key, which it adds if it is new.
func (p *pointsReader) point(id, key, role string, beyond bool, values []string) *Point {
	s := p.sweep
	i, ok := p.at[key]
	if !ok {
		i = len(s.Points)
		p.at[key] = i
		s.Points = append(s.Points, Point{
			ID: strings.Clone(id), Key: strings.Clone(key), Values: cloned(values),
			Added: role != roleDesign, Beyond: beyond,
		})
		if role == roleReference {
			s.Reference = i
		}
	}
	return &s.Points[i]
}

func cloned(texts []string) []string {
	out := make([]string, len(texts))
	for i, t := range texts {
		out[i] = strings.Clone(t)
	}
	return out
}

// take adds one run of a point; cells are the run's and the error.
func (p *Point) take(seed uint64, fresh bool, status string, cells []string) error {
	figures, failure := cells[:len(cells)-1], cells[len(cells)-1]
	switch status {
	case statusDone:
		run, err := parseRun(seed, cloned(figures))
		if err != nil {
			return err
		}
		if fresh {
			p.Fresh = append(p.Fresh, run)
		} else {
			p.Runs = append(p.Runs, run)
		}
	case statusFailed:
		if failure == "" {
			return &cellError{"error", failure, "why the run failed"}
		}
		p.Fail(seed, strings.Clone(failure))
	case statusMissing:
	default:
		return &cellError{"status", status, "done, failed or missing"}
	}
	return nil
}

// Fail notes a failed run.
func (p *Point) Fail(seed uint64, text string) {
	p.Failed = append(p.Failed, Failure{seed, text})
	if p.Error == "" {
		p.Error = text
	}
}

// finish checks what only the whole table shows.
func (p *pointsReader) finish() error {
	for i := range p.sweep.Points {
		q := &p.sweep.Points[i]
		seeds := []uint64{}
		for j := range q.Runs {
			seeds = append(seeds, q.Runs[j].Seed)
		}
		for _, f := range q.Failed {
			seeds = append(seeds, f.Seed)
		}
		slices.Sort(seeds)
		for j, seed := range seeds {
			if !slices.Contains(p.sweep.Seeds, seed) {
				return &workloads.Problem{File: p.file, Field: "seed", Found: fmt.Sprintf("%d at point %s", seed, q.ID), Want: "one of the seeds in sweep.yaml"}
			}
			if j > 0 && seeds[j-1] == seed {
				return &workloads.Problem{File: p.file, Field: "seed", Found: fmt.Sprintf("%d at point %s again", seed, q.ID), Want: "each seed once"}
			}
		}
	}
	return p.whole()
}

// again says how to mend a table of points that is not complete.
const again = "; run the sweep again, which keeps finished runs"

// whole makes sure that no row was lost: a table has a row for every point and
// seed, whatever became of the run.
func (p *pointsReader) whole() error {
	designed, fresh := 0, []uint64(nil)
	for i := range p.sweep.Points {
		q := &p.sweep.Points[i]
		if !q.Added {
			designed++
		}
		for _, seed := range p.sweep.Seeds {
			if !p.rows[pointSeed{i, seed}] {
				return &workloads.Problem{File: p.file, Field: "seed", Found: fmt.Sprintf("no row of point %s with seed %d", q.ID, seed), Want: "one for every point and seed" + again}
			}
		}
		for j := range q.Fresh {
			if seed := q.Fresh[j].Seed; !slices.Contains(fresh, seed) {
				fresh = append(fresh, seed)
			}
		}
	}
	if designed != p.want {
		return &workloads.Problem{File: p.file, Field: "point", Found: fmt.Sprintf("%d points of the design", designed), Want: fmt.Sprintf("the %d of sweep.yaml", p.want) + again}
	}
	for i := range p.sweep.Points {
		q := &p.sweep.Points[i]
		for _, seed := range fresh {
			n := 0
			for j := range q.Fresh {
				if q.Fresh[j].Seed == seed {
					n++
				}
			}
			if len(q.Fresh) > 0 && n != 1 {
				return &workloads.Problem{File: p.file, Field: "seed", Found: fmt.Sprintf("%d rows of point %s with the fresh seed %d", n, q.ID, seed), Want: "one, as at the other points with fresh seeds" + again}
			}
		}
	}
	return nil
}

// designed is the number of points of the design.
func (s *Sweep) designed() int {
	n := 1
	if s.Design == "grid" {
		for i := range s.Axes {
			n *= len(s.Axes[i].Values)
		}
		return n
	}
	n = 0
	for i := range s.Points {
		if !s.Points[i].Added {
			n++
		}
	}
	return n
}
