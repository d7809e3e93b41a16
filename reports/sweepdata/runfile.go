package sweepdata

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"routesim/reports/columnar"
)

// RunFile names the file of one run inside a sweep's folder.
func RunFile(id string, seed uint64) string {
	return "runs/" + id + "-" + strconv.FormatUint(seed, 10) + ".parquet"
}

// runNote is the key of the note in a run's file that holds its figures.
const runNote = "routesim.run"

// note is what a run's file says of the run.
type note struct {
	Key   string   `json:"key"` // of the point
	Seed  uint64   `json:"seed"`
	Names []string `json:"columns"`
	Cells []string `json:"values"`
}

// writeRun writes a run with the measurements of its requests.
func writeRun(w io.Writer, key string, run *Run, l *Latencies) error {
	text, err := json.Marshal(note{key, run.Seed, runColumns(), runCells(run)})
	if err != nil {
		return err
	}
	return columnar.WriteValues(w, "run", []columnar.Values{
		{Name: "ttft_ms", Singles: l.TTFT}, {Name: "itl_ms", Singles: l.ITL}, {Name: "e2e_ms", Singles: l.E2E},
		{Name: "worker", Shorts: l.Worker},
		{Name: "predicted_overlap_blocks", Singles: l.Predicted}, {Name: "found_overlap_blocks", Singles: l.Reused},
	}, columnar.Entry{Key: runNote, Value: string(text)})
}

// SaveRun writes a finished run into a sweep's folder, all of it or nothing.
func SaveRun(dir string, p *Point, run *Run, l *Latencies) error {
	name := filepath.Join(dir, filepath.FromSlash(RunFile(p.ID, run.Seed)))
	return writeFile(name, func(w io.Writer) error { return writeRun(w, p.Key, run, l) })
}

// FindRun returns the run of a point and a seed if the folder holds it, made
// with the same key; nil otherwise. A file that cannot be read counts as none.
func FindRun(dir string, p *Point, seed uint64) *Run {
	f, err := os.Open(filepath.Join(dir, filepath.FromSlash(RunFile(p.ID, seed))))
	if err != nil {
		return nil
	}
	defer f.Close()
	notes, err := columnar.ReadNotes(f)
	if err != nil {
		return nil
	}
	run, err := runOf(notes, p.Key, seed)
	if err != nil {
		return nil
	}
	return run
}

// runOf finds a run's figures among the notes of its file.
func runOf(notes []columnar.Entry, key string, seed uint64) (*Run, error) {
	for _, e := range notes {
		if e.Key != runNote {
			continue
		}
		var n note
		if err := json.Unmarshal([]byte(e.Value), &n); err != nil {
			return nil, fmt.Errorf("%s: %w", runNote, err)
		}
		if n.Key != key || n.Seed != seed {
			return nil, fmt.Errorf("found the run of point %.8s with seed %d, expected point %.8s with seed %d", n.Key, n.Seed, key, seed)
		}
		names := runColumns()
		if len(n.Names) != len(names) {
			return nil, errors.New("found figures of another version of the program")
		}
		for i := range names {
			if n.Names[i] != names[i] {
				return nil, errors.New("found figures of another version of the program")
			}
		}
		run, err := parseRun(seed, n.Cells)
		return &run, err
	}
	return nil, errors.New("found no figures in the footer, expected the file of a run")
}

// loadRun reads the measurements of a run's requests.
func loadRun(dir string, p *Point, seed uint64) (*Latencies, error) {
	name := filepath.Join(dir, filepath.FromSlash(RunFile(p.ID, seed)))
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	columns, notes, err := columnar.ReadValues(f)
	if err == nil {
		_, err = runOf(notes, p.Key, seed)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	l := &Latencies{}
	for i := range columns {
		c := &columns[i]
		for name, to := range map[string]*[]float32{
			"ttft_ms": &l.TTFT, "itl_ms": &l.ITL, "e2e_ms": &l.E2E,
			"predicted_overlap_blocks": &l.Predicted, "found_overlap_blocks": &l.Reused,
		} {
			if c.Name == name {
				*to = c.Singles
			}
		}
		if c.Name == "worker" {
			l.Worker = c.Shorts
		}
	}
	if l.TTFT == nil || l.ITL == nil || l.E2E == nil || l.Predicted == nil || l.Reused == nil || l.Worker == nil {
		return nil, fmt.Errorf("%s: found a column missing, expected the file of a run", name)
	}
	return l, nil
}
