package sweepdata

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"routesim/reports/columnar"
	"routesim/reports/newfile"
	"routesim/workloads"
)

// The names of a sweep's files besides those of its runs.
const (
	ConfigFile   = "sweep.yaml"
	pointsCSV    = "points.csv"
	pointsFile   = "points.parquet"
	requestsFile = "requests.parquet"
)

// File is a file of results.
type File struct {
	Name  string
	Write func(io.Writer) error
}

// Files lists the files of a sweep besides those of its runs.
func Files(s *Sweep) []File {
	return []File{
		{ConfigFile, s.writeConfig}, {pointsCSV, s.WritePointsCSV}, {pointsFile, s.writePointsParquet},
		{requestsFile, s.writeRequests},
	}
}

func (s *Sweep) writeRequests(w io.Writer) error {
	return columnar.WriteValues(w, "requests", []columnar.Values{
		{Name: "arrival_ms", Decimals: s.Requests.ArrivalMS},
		{Name: "input_length", Shorts: s.Requests.InputTokens}, {Name: "output_length", Shorts: s.Requests.OutputTokens},
	})
}

// Save writes a sweep into a folder: its files, and where s.Load gives them the
// measurements of runs that the folder does not hold yet. Each file is complete
// or not there.
func Save(dir string, s *Sweep) error {
	if err := os.MkdirAll(filepath.Join(dir, "runs"), 0o755); err != nil {
		return err
	}
	for i := range s.Points {
		p := &s.Points[i]
		for _, runs := range [2][]Run{p.Runs, p.Fresh} {
			for j := range runs {
				if s.Load == nil || FindRun(dir, p, runs[j].Seed) != nil {
					continue
				}
				l, err := s.Load(i, runs[j].Seed)
				if err != nil {
					return err
				}
				if err := SaveRun(dir, p, &runs[j], l); err != nil {
					return err
				}
			}
		}
	}
	for _, f := range Files(s) {
		if err := newfile.Write(filepath.Join(dir, f.Name), f.Write); err != nil {
			return err
		}
	}
	return nil
}

// Open reads a sweep from its folder.
func Open(dir string) (*Sweep, error) {
	name := filepath.Join(dir, ConfigFile)
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: found no %s there, expected the DIR of a sweep", dir, ConfigFile)
	}
	if err != nil {
		return nil, err
	}
	s, err := ParseConfig(name, text)
	if err != nil {
		return nil, err
	}
	if err := s.openPoints(filepath.Join(dir, pointsCSV)); err != nil {
		return nil, err
	}
	if err := s.openRequests(filepath.Join(dir, requestsFile)); err != nil {
		return nil, err
	}
	s.LoadFrom(dir)
	return s, nil
}

// LoadFrom sets Load to read the files of runs in a folder.
func (s *Sweep) LoadFrom(dir string) {
	s.Load = func(point int, seed uint64) (*Latencies, error) {
		l, err := loadRun(dir, &s.Points[point], seed)
		if err == nil && len(s.Requests.InputTokens) != len(l.TTFT) {
			return nil, &workloads.Problem{
				File:  filepath.Join(dir, filepath.FromSlash(RunFile(s.Points[point].ID, seed))),
				Found: fmt.Sprintf("%d requests", len(l.TTFT)), Want: fmt.Sprintf("the %d of the trace", len(s.Requests.InputTokens)),
			}
		}
		return l, err
	}
}

func (s *Sweep) openPoints(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := s.ReadPointsCSV(name, bufio.NewReaderSize(f, 1<<16)); err != nil {
		return err
	}
	return s.complete(name)
}

func (s *Sweep) openRequests(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	columns, _, err := columnar.ReadValues(f)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	for i := range columns {
		switch c := &columns[i]; c.Name {
		case "arrival_ms":
			s.Requests.ArrivalMS = c.Decimals
		case "input_length":
			s.Requests.InputTokens = c.Shorts
		case "output_length":
			s.Requests.OutputTokens = c.Shorts
		}
	}
	q := &s.Requests
	if n := s.Trace.Rows; len(q.ArrivalMS) != n || len(q.InputTokens) != n || len(q.OutputTokens) != n {
		return &workloads.Problem{File: name, Found: "other columns or rows", Want: fmt.Sprintf("arrival_ms, input_length and output_length of %d requests", n)}
	}
	return nil
}
