package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"

	"routesim/cmd/routesim/internal/settings"
	"routesim/reports"
	"routesim/reports/columnar"
	"routesim/sim"
)

// savedRun is what replay -o wrote about a run, as far as the run can be made
// again from it.
type savedRun struct {
	path     string // of summary.json
	settings []settings.Given
	version  string
	trace    string // name of the trace, without its folder
	digest   string // of the trace
	decision string // digest of the decisions
}

// openSavedRun reads DIR/summary.json.
func openSavedRun(table *settings.Table, dir string) (*savedRun, error) {
	path := filepath.Join(dir, runSummaryFile)
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w, expected the folder that replay -o wrote", path, reason(err))
	}
	var file struct {
		Routesim struct {
			Version  string         `json:"version"`
			Config   map[string]any `json:"config"`
			Decision string         `json:"decision_digest"`
			Trace    struct {
				Name   string `json:"name"`
				Digest string `json:"digest"`
			} `json:"trace"`
		} `json:"routesim"`
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&file); err != nil {
		return nil, fmt.Errorf("%s: found malformed JSON (%s), expected the summary.json of a run", path, reports.Malformed(err))
	}
	r := &file.Routesim
	if r.Config == nil || r.Decision == "" {
		return nil, fmt.Errorf("%s: routesim.config: found nothing, expected the settings of a run (make it with replay -o)", path)
	}
	run := &savedRun{path: path, version: r.Version, trace: r.Trace.Name, digest: r.Trace.Digest, decision: r.Decision}
	run.settings, err = table.Saved(path, "routesim.config", r.Config)
	return run, err
}

// savedRequests is what the table of a run's requests says that is compared with
// the run made again.
type savedRequests struct {
	path                           string
	order, worker, first, terminal []float64 // by row, NaN for absent
}

// requests reads DIR/requests.parquet.
func (r *savedRun) requests(dir string) (*savedRequests, error) {
	q := &savedRequests{path: filepath.Join(dir, runFiles()[1])}
	columns, err := readNumbers(q.path, "routing_order", "decode_worker_idx", "first_token_ms", "terminal_time_ms")
	if err != nil {
		return nil, err
	}
	q.order, q.worker, q.first, q.terminal = columns[0], columns[1], columns[2], columns[3]
	return q, nil
}

// readNumbers reads columns of a table beside a run's summary.
func readNumbers(path string, names ...string) ([][]float64, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w, expected it beside %s", path, reason(err), runSummaryFile)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s: found no file, expected a Parquet file that routesim wrote", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w, expected a Parquet file that routesim wrote", path, reason(err))
	}
	defer f.Close()
	columns, err := columnar.ReadNumbers(f, names...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return columns, nil
}

// check makes sure that the table is that of the run.
func (q *savedRequests) check(res *sim.Result) error {
	if len(q.order) != len(res.Requests) {
		return fmt.Errorf("%s: found %d requests, expected the %d of the trace", q.path, len(q.order), len(res.Requests))
	}
	for row := range res.Requests {
		r := &res.Requests[row]
		for _, c := range []struct {
			name      string
			got, want float64
		}{
			{"routing_order", q.order[row], numberOf(r.Order)}, {"decode_worker_idx", q.worker[row], numberOf(r.Worker)},
			{"first_token_ms", q.first[row], r.FirstToken}, {"terminal_time_ms", q.terminal[row], r.Terminal},
		} {
			if c.got != c.want && !(math.IsNaN(c.got) && math.IsNaN(c.want)) {
				return fmt.Errorf("%s: %s: found %v in row %d, expected %v as the run made again has it; replay the trace again with -o", q.path, c.name, c.got, row, c.want)
			}
		}
	}
	return nil
}

// numberOf is a place as a table holds it: absent below 0.
func numberOf(v int32) float64 {
	if v < 0 {
		return math.NaN()
	}
	return float64(v)
}

// findTrace looks for the files of a saved run's trace: beside it, one folder up
// and in the working directory.
func (r *savedRun) findTrace(dir string) ([]string, error) {
	var paths []string
	for _, name := range strings.Split(r.trace, ", ") {
		path := findFile(name, dir, filepath.Dir(filepath.Clean(dir)), ".")
		if path == "" {
			return nil, fmt.Errorf("--trace: found no %s beside %s, expected the trace of the run; give its path with --trace FILE", name, dir)
		}
		paths = append(paths, path)
	}
	return paths, nil
}

// findFile returns the path of the file in the first folder that has it, "" if
// none does.
func findFile(name string, dirs ...string) string {
	for _, d := range dirs {
		path := filepath.Join(d, name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path
		}
	}
	return ""
}
