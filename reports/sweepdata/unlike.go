package sweepdata

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"routesim/reports/newfile"
)

// Unlike finds the first thing in which two sweeps differ that must be the same
// for their runs to belong together; field is "" where there is none.
func Unlike(a, b *Sweep) (field, found, want string) {
	type pair struct {
		field string
		a, b  any
	}
	list := []pair{
		{"version", a.Version, b.Version},
		{"trace digest", a.Trace.Digest, b.Trace.Digest}, {"trace", a.TracePaths, b.TracePaths},
		{"objective", a.Objective, b.Objective}, {"sla", a.SLA, b.SLA},
		{"design", a.Design, b.Design}, {"seeds", a.Seeds, b.Seeds}, {"number of axes", len(a.Axes), len(b.Axes)},
	}
	for i := range min(len(a.Axes), len(b.Axes)) {
		x, y := &a.Axes[i], &b.Axes[i]
		list = append(list, pair{fmt.Sprintf("axis %d", i+1), x.Name, y.Name}, pair{x.Name, x.Values, y.Values})
	}
	for _, name := range settingsOf(a, b) {
		list = append(list, pair{"setting " + name, a.Base[name], b.Base[name]})
	}
	list = append(list, pair{"command", a.Command, b.Command}, pair{"number of points", len(a.Points), len(b.Points)})
	for i := range min(len(a.Points), len(b.Points)) {
		list = append(list, pair{fmt.Sprintf("key of point %d", i+1), a.Points[i].Key, b.Points[i].Key})
	}
	for _, p := range list {
		if x, y := fmt.Sprint(p.a), fmt.Sprint(p.b); x != y {
			return p.field, x, y
		}
	}
	return "", "", ""
}

// settingsOf lists the names of the settings of both, sorted.
func settingsOf(a, b *Sweep) (names []string) {
	for _, m := range []map[string]any{a.Base, b.Base} {
		for name := range m {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Equal reports whether two runs have the same results.
func (r *Run) Equal(other *Run) bool {
	return r.Seed == other.Seed && slices.Equal(runCells(r), runCells(other))
}

// CopyRun copies the file of a run to another folder, all of it or nothing.
func CopyRun(from, to string, p *Point, seed uint64) error {
	name := filepath.FromSlash(RunFile(p.ID, seed))
	if FindRun(from, p, seed) == nil {
		return fmt.Errorf("%s: found no run of point %s with seed %d, expected one as points.csv says", filepath.Join(from, name), p.ID, seed)
	}
	in, err := os.Open(filepath.Join(from, name))
	if err != nil {
		return err
	}
	defer in.Close()
	return newfile.Write(filepath.Join(to, name), func(w io.Writer) error {
		_, err := io.Copy(w, in)
		return err
	})
}
