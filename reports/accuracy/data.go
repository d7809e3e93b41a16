// Package accuracy replays published measurements of serving runs with the
// profiles that stand for them, and tells how far the simulation is off.
package accuracy

import (
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"

	"routesim/models/profile/measured"
)

// Row is one published measurement.
type Row struct {
	measured.Run
	Name string // the row's own name, or its line

	Source, Licence string
	GPU, Engine     string
	EngineVersion   string
	Model           string
	TP              int // GPUs of the worker
	WeightDType     string
	KVDType         string // "" where it is neither stated nor assumed
	Profile         string // id of the profile that stands for it, "" = as the columns before say

	Load               string // "closed loop", or what else
	PrefixCacheFree    string // yes: no prompt repeats another's beginning
	EasyToSimulate     string // yes: fixed or known uniform lengths, a current engine
	UsedForCalibration string
}

// Used reports whether the row took part in fitting the shipped calibrations.
func (r *Row) Used() bool {
	word := strings.ToLower(r.UsedForCalibration)
	return word == "yes" || strings.HasPrefix(word, "train")
}

// required lists the columns without which a file says nothing.
func required() []string {
	return []string{
		"gpu", "engine", "model", "tp", "isl", "osl", "load", "concurrency", "ttft_ms", "tpot_ms",
		"prefix_cache_free", "easy_to_simulate",
	}
}

// maxFileSize bounds a data file in bytes.
const maxFileSize = 64 << 20

// ReadFile reads published measurements from a CSV file; see Read.
func ReadFile(path string) ([]Row, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() > maxFileSize {
		return nil, fmt.Errorf("%s: found %d bytes, expected at most %d", path, info.Size(), maxFileSize)
	}
	return Read(path, f)
}

// Read reads published measurements. Columns are known by the names in the
// first line; those that are not known are left alone. name is what errors
// call the text.
func Read(name string, r io.Reader) ([]Row, error) {
	t, err := measured.NewTable(name, r, required()...)
	if err != nil {
		return nil, err
	}
	t.AnyStatistic()
	notes := regexp.MustCompile(`uniform in \[\s*([0-9.]+)\s*,\s*([0-9.]+)\s*\]`)
	var rows []Row
	for t.Next() {
		row := readRow(t, notes)
		if t.Err() == nil {
			rows = append(rows, row)
		}
	}
	if t.Err() != nil {
		return nil, t.Err()
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("%s: found no rows, expected at least one below the column names", name)
	}
	return rows, nil
}

func readRow(t *measured.Table, notes *regexp.Regexp) Row {
	row := Row{
		Run: t.Run(), Name: t.Text("row"),
		Source: t.Text("source"), Licence: t.Text("licence"),
		GPU: t.Text("gpu"), Engine: strings.ToLower(t.Text("engine")), EngineVersion: t.Text("engine_version"),
		Model: t.Text("model"), TP: int(t.Count("tp", 1, 1024, 1)),
		WeightDType: t.Text("weight_dtype"), KVDType: t.Text("kv_dtype_assumed"), Profile: t.Text("profile"),
		Load: t.Text("load"), PrefixCacheFree: t.Text("prefix_cache_free"), EasyToSimulate: t.Text("easy_to_simulate"),
		UsedForCalibration: t.Text("used_for_calibration"),
	}
	if row.Name == "" {
		row.Name = "line " + strconv.Itoa(t.Line())
	}
	if row.KVDType == "" {
		row.KVDType = t.Text("kv_dtype")
	}
	if m := notes.FindStringSubmatch(t.Text("notes")); m != nil && row.ShortestShare == 1 {
		row.ShortestShare = sharesOf(t, m)
	}
	return row
}

// sharesOf reads the spread of lengths where the notes state it, as "lengths
// uniform in [0.8,1.0] x nominal". Without such a note all requests have the
// nominal lengths.
func sharesOf(t *measured.Table, match []string) float64 {
	low, errLow := strconv.ParseFloat(match[1], 64)
	high, errHigh := strconv.ParseFloat(match[2], 64)
	if errLow != nil || errHigh != nil || !(low > 0 && low <= 1) || high != 1 {
		t.Fail("notes", strconv.Quote(match[0]), "uniform in [a,1] with a above 0 and up to 1")
	}
	return low
}
