package sweepdata

import (
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestDamagedRuns: whichever byte of a run's file is another one, the run is
// refused or its values are what they were.
func TestDamagedRuns(t *testing.T) {
	dir, s := t.TempDir(), sampleSweep("grid")
	if err := Save(dir, s); err != nil {
		t.Fatal(err)
	}
	p := &s.Points[0]
	name := filepath.Join(dir, filepath.FromSlash(RunFile(p.ID, 7)))
	whole, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	run, values, err := readRun(dir, p, 7)
	if err != nil {
		t.Fatal(err)
	}
	tried, refused := 0, 0
	for at := 0; at < len(whole); at += 7 {
		tried++
		bad := bytes.Clone(whole)
		bad[at] ^= 0x55
		if err := os.WriteFile(name, bad, 0o644); err != nil {
			t.Fatal(err)
		}
		got, gotValues, err := readRun(dir, p, 7)
		if err != nil {
			refused++
			if !strings.HasPrefix(err.Error(), name+": ") || !strings.Contains(err.Error(), "run the sweep again") {
				t.Errorf("byte %d: %v", at, err)
			}
			if r, err := ReadRun(dir, p, 7); r != nil || err == nil {
				t.Errorf("byte %d: ReadRun gives %v, %v", at, r, err)
			}
			continue
		}
		if !got.Equal(run) || cmp.Diff(values, gotValues, equal) != "" {
			t.Errorf("byte %d: other values were taken for whole", at)
		}
	}
	if refused < tried/2 {
		t.Errorf("%d of %d damaged files were refused", refused, tried)
	}
	if r, err := ReadRun(dir, p, 9); r != nil || err != nil {
		t.Errorf("a run that was not made: %v, %v", r, err)
	}
	other := *p
	other.Key = p.ID + digestOf("another configuration")[8:]
	if err := os.WriteFile(name, whole, 0o644); err != nil {
		t.Fatal(err)
	}
	if r, err := ReadRun(dir, &other, 7); r != nil || err != nil {
		t.Errorf("the run of another configuration: %v, %v", r, err)
	}
}

// rowsOf splits a table; a cell may have line feeds of its own.
func rowsOf(t *testing.T, text string) (rows []string) {
	t.Helper()
	in := csv.NewReader(strings.NewReader(text))
	for from := int64(0); ; {
		if _, err := in.Read(); errors.Is(err, io.EOF) {
			return rows
		} else if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, text[from:in.InputOffset()])
		from = in.InputOffset()
	}
}

// TestLostRows: a table that lacks any of its rows is refused, whatever the row
// says.
func TestLostRows(t *testing.T) {
	for _, design := range []string{"grid", "points"} {
		s := sampleSweep(design)
		var b bytes.Buffer
		if err := s.WritePointsCSV(&b); err != nil {
			t.Fatal(err)
		}
		lines := rowsOf(t, b.String())
		for i := 1; i < len(lines); i++ {
			text := strings.Join(lines[:i], "") + strings.Join(lines[i+1:], "")
			err := sampleSweep(design).ReadPointsCSV("points.csv", strings.NewReader(text))
			if err == nil || !strings.HasPrefix(err.Error(), "points.csv: ") || !strings.Contains(err.Error(), "sweep again") {
				t.Errorf("%s without row %d: %v", design, i, err)
			}
		}
		// All rows of a point.
		id := s.Points[1].ID
		text := ""
		for _, line := range lines {
			if !strings.HasPrefix(line, id) {
				text += line
			}
		}
		if err := sampleSweep(design).ReadPointsCSV("points.csv", strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), "points of the design") {
			t.Errorf("%s without a point: %v", design, err)
		}
	}
}

// TestDescriptionsRefused: what is missing or wrong in sweep.yaml is named with
// its field.
func TestDescriptionsRefused(t *testing.T) {
	var grid, points bytes.Buffer
	if err := sampleSweep("grid").writeConfig(&grid); err != nil {
		t.Fatal(err)
	}
	if err := sampleSweep("points").writeConfig(&points); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ text, old, with, want string }{
		{grid.String(), "design: grid\n", "", "design: found nothing, expected grid, points or lhs:N"},
		{grid.String(), "design: grid", "design: gird", `design: found "gird"`},
		{grid.String(), "design: grid", "design: lhs:0", `design: found "lhs:0"`},
		{grid.String(), "design: grid", "design: lhs:3", "points: found none"},
		{grid.String(), "design: grid", "design: points", "points: found none"},
		{points.String(), "design: points", "design: grid", "points: found 4, expected none"},
		{points.String(), "- 6xa,2xb\n", "- 7xa\n", `points[0]: found "6xa,2xb", expected one of the values of workers`},
		{grid.String(), "    values:\n      - \"0\"\n      - \"0.3\"\n", "    values:\n", "axes[0].values: found none"},
		{grid.String(), "- \"0.3\"\n", "- \"0\"\n", `axes[0].values[1]: found "0" again`},
		{grid.String(), "- \"0.3\"\n", "- \"0.0\"\n", `axes[0].values[1]: found "0.0" again`},
		{grid.String(), "- \"0.3\"\n", "- NaN\n", `axes[0].values[1]: found "NaN"`},
		{grid.String(), "- \"0.3\"\n", "- .nan\n", "axes[0].values[1]: found "},
		{grid.String(), "- \"0.3\"\n", "- .inf\n", "axes[0].values[1]: found "},
		{grid.String(), "- \"0.3\"\n", "- \" \"\n", `axes[0].values[1]: found " "`},
		{grid.String(), "- 8\n", "- 7\n", "seeds[1]: found 7 again"},
		{grid.String(), grid.String()[strings.Index(grid.String(), "settings:\n"):strings.Index(grid.String(), "profiles:\n")], "", "settings: found nothing"},
		{grid.String(), grid.String(), "", "found an empty file"},
		{grid.String(), grid.String(), " \n", "found an empty file"},
	} {
		if !strings.Contains(c.text, c.old) {
			t.Fatalf("no %q in %s", c.old, c.text)
		}
		_, err := ParseConfig("sweep.yaml", []byte(strings.Replace(c.text, c.old, c.with, 1)))
		if err == nil || !strings.HasPrefix(err.Error(), "sweep.yaml: "+c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q for %q: %v, want %q", c.with, c.old, err, c.want)
		}
	}
}

// TestSameDefinition: what a sweep found out does not make it another one; what
// it was asked does.
func TestSameDefinition(t *testing.T) {
	var b bytes.Buffer
	if err := sampleSweep("lhs:4").writeConfig(&b); err != nil {
		t.Fatal(err)
	}
	same := sampleSweep("lhs:4")
	same.Axes[1].Inert, same.Axes[1].Remedy = "", ""
	if !SameDefinition(b.Bytes(), same) {
		t.Error("a sweep that does not know its inert axes yet is another one")
	}
	for what, change := range map[string]func(*Sweep){
		"seeds":    func(s *Sweep) { s.Seeds = s.Seeds[:2] },
		"settings": func(s *Sweep) { s.Base["router-temperature"] = 0.5 },
		"axis":     func(s *Sweep) { s.Axes[0].Values = []string{"0", "0.3", "1"} },
		"axes":     func(s *Sweep) { s.Axes = s.Axes[:2] },
		"trace":    func(s *Sweep) { s.Trace.Digest = digestOf("another") },
		"version":  func(s *Sweep) { s.Version = "1.2.4" },
	} {
		s := sampleSweep("lhs:4")
		change(s)
		if SameDefinition(b.Bytes(), s) {
			t.Errorf("other %s make the same sweep", what)
		}
	}
	if SameDefinition([]byte("schema: 2"), same) {
		t.Error("a damaged description is the same sweep")
	}
}
