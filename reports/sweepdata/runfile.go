package sweepdata

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"routesim/reports/columnar"
	"routesim/reports/newfile"
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
	// Sum is a digest of all else in the file, so that damage is found.
	Sum string `json:"sha256"`
}

// sum is the digest of a note and of the file's columns, in hexadecimal. It
// covers values, not bytes: compression and pages are the library's affair.
func (n *note) sum(columns []columnar.Values) string {
	h := sha256.New()
	text := func(t string) { fmt.Fprintf(h, "%d %s\n", len(t), t) }
	text(n.Key)
	text(strconv.FormatUint(n.Seed, 10))
	for _, list := range [...][]string{n.Names, n.Cells} {
		text(strconv.Itoa(len(list)))
		for _, t := range list {
			text(t)
		}
	}
	const nan = 0x7fc00000 // whichever NaN a processor makes
	buffer := make([]byte, 0, 1<<12)
	put := func(bits uint32) {
		if buffer = binary.LittleEndian.AppendUint32(buffer, bits); len(buffer) == cap(buffer) {
			h.Write(buffer)
			buffer = buffer[:0]
		}
	}
	for i := range columns {
		c := &columns[i]
		h.Write(buffer)
		buffer = buffer[:0]
		text(c.Name)
		text(fmt.Sprint(c.Len(), c.Singles != nil))
		for _, v := range c.Singles {
			if v != v {
				put(nan)
			} else {
				put(math.Float32bits(v))
			}
		}
		for _, v := range c.Shorts {
			put(uint32(v))
		}
	}
	h.Write(buffer)
	return hex.EncodeToString(h.Sum(nil))
}

// columns are the measurements as a run's file has them.
func (l *Latencies) columns() []columnar.Values {
	return []columnar.Values{
		{Name: "ttft_ms", Singles: l.TTFT}, {Name: "itl_ms", Singles: l.ITL}, {Name: "e2e_ms", Singles: l.E2E},
		{Name: "worker", Shorts: l.Worker},
		{Name: "predicted_overlap_blocks", Singles: l.Predicted}, {Name: "found_overlap_blocks", Singles: l.Reused},
	}
}

// writeRun writes a run with the measurements of its requests.
func writeRun(w io.Writer, key string, run *Run, l *Latencies) error {
	columns := l.columns()
	n := note{Key: key, Seed: run.Seed, Names: runColumns(), Cells: runCells(run)}
	n.Sum = n.sum(columns)
	text, err := json.Marshal(n)
	if err != nil {
		return err
	}
	return columnar.WriteValues(w, "run", columns, columnar.Entry{Key: runNote, Value: string(text)})
}

// SaveRun writes a finished run into a sweep's folder, all of it or nothing.
func SaveRun(dir string, p *Point, run *Run, l *Latencies) error {
	name := filepath.Join(dir, filepath.FromSlash(RunFile(p.ID, run.Seed)))
	return newfile.Write(name, func(w io.Writer) error { return writeRun(w, p.Key, run, l) })
}

// FindRun returns the run of a point and a seed if the folder holds it, made
// with the same key; nil otherwise. A damaged file counts as none.
func FindRun(dir string, p *Point, seed uint64) *Run {
	run, _, err := readRun(dir, p, seed)
	if err != nil {
		return nil
	}
	return run
}

// ReadRun is as FindRun, but a damaged file is an error that names it.
func ReadRun(dir string, p *Point, seed uint64) (*Run, error) {
	run, _, err := readRun(dir, p, seed)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, errOther) {
		return nil, nil
	}
	return run, err
}

// errOther says that a file is whole, but of another run.
var errOther = errors.New("another run")

// loadRun reads the measurements of a run's requests.
func loadRun(dir string, p *Point, seed uint64) (*Latencies, error) {
	_, l, err := readRun(dir, p, seed)
	return l, err
}

// readRun reads the file of a run, and makes sure that it is whole.
func readRun(dir string, p *Point, seed uint64) (*Run, *Latencies, error) {
	name := filepath.Join(dir, filepath.FromSlash(RunFile(p.ID, seed)))
	f, err := os.Open(name)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	columns, notes, err := columnar.ReadValues(f)
	var run *Run
	if err == nil {
		run, err = runOf(columns, notes, p.Key, seed)
	}
	var l *Latencies
	if err == nil {
		l, err = measurementsOf(columns)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w; run the sweep again, which makes this run anew", name, err)
	}
	return run, l, nil
}

// runOf finds a run's figures among the notes of its file.
func runOf(columns []columnar.Values, notes []columnar.Entry, key string, seed uint64) (*Run, error) {
	i := slices.IndexFunc(notes, func(e columnar.Entry) bool { return e.Key == runNote })
	if i < 0 {
		return nil, errors.New("found no figures in the footer, expected the file of a run")
	}
	var n note
	if err := json.Unmarshal([]byte(notes[i].Value), &n); err != nil {
		return nil, fmt.Errorf("%s: %w", runNote, err)
	}
	if n.Sum != n.sum(columns) {
		return nil, errors.New("found a damaged file, expected values of the digest in its footer")
	}
	if n.Key != key || n.Seed != seed {
		return nil, fmt.Errorf("found the run of point %.8s with seed %d, expected point %.8s with seed %d (%w)", n.Key, n.Seed, key, seed, errOther)
	}
	if !slices.Equal(n.Names, runColumns()) {
		return nil, errors.New("found figures of another version of the program")
	}
	run, err := parseRun(seed, n.Cells)
	return &run, err
}

// measurementsOf finds the measurements among the columns of a run's file.
func measurementsOf(columns []columnar.Values) (*Latencies, error) {
	l := &Latencies{}
	for i := range columns {
		c := &columns[i]
		switch c.Name {
		case "ttft_ms":
			l.TTFT = c.Singles
		case "itl_ms":
			l.ITL = c.Singles
		case "e2e_ms":
			l.E2E = c.Singles
		case "predicted_overlap_blocks":
			l.Predicted = c.Singles
		case "found_overlap_blocks":
			l.Reused = c.Singles
		case "worker":
			l.Worker = c.Shorts
		}
	}
	if l.TTFT == nil || l.ITL == nil || l.E2E == nil || l.Predicted == nil || l.Reused == nil || l.Worker == nil {
		return nil, errors.New("found a column missing, expected the file of a run")
	}
	return l, nil
}
