package main

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"routesim/reports/figures"
	"routesim/reports/sweepdata"
)

// exitFailed is the exit code of a sweep some of whose points failed.
const exitFailed = 3

// sweepFiles are the names of the files that a sweep writes, those of its runs
// and plots excepted; a name in each folder stands for them.
func sweepFiles() []string {
	var names []string
	for _, f := range sweepdata.Files(&sweepdata.Sweep{}) {
		names = append(names, f.Name)
	}
	return append(names, reportFile, "runs/.keep", "plots/.keep")
}

// sweepGC is the growth of the heap in percent at which a sweep collects. Its
// runs keep little alive, so collecting twice as often as usual costs next to
// nothing, and memory stays flat in the number of cores.
const sweepGC = 50

// carryOut makes the runs and writes what they show.
func (o *sweepOptions) carryOut(cmd *cobra.Command, p *sweepPlan) error {
	if !slices.ContainsFunc(o.sys.environ, func(e string) bool { return strings.HasPrefix(e, "GOGC=") }) {
		defer debug.SetGCPercent(debug.SetGCPercent(sweepGC))
	}
	if err := os.MkdirAll(filepath.Join(p.dir, "runs"), 0o755); err != nil {
		return unwritable(p.dir, err)
	}
	leftovers, err := filepath.Glob(filepath.Join(p.dir, "runs", ".*.parquet-*"))
	if err != nil {
		return err
	}
	for _, name := range leftovers { // of a sweep that was killed
		os.Remove(name)
	}
	// A sweep that is killed leaves a folder that can be read.
	if !p.described() {
		if err := p.write(nil); err != nil {
			return err
		}
	}
	t := p.runAll(cmd, "sweeping", p.jobs())
	return p.finish(cmd, &t)
}

// finish judges a sweep that is complete, writes its files and its document, and
// turns the outcome into an exit code. A sweep that is not complete is not
// judged.
func (p *sweepPlan) finish(cmd *cobra.Command, t *tally) error {
	if !p.o.quiet && cmd.Context().Err() == nil { // an interruption says it too
		fmt.Fprintln(cmd.ErrOrStderr(), t.String())
	}
	p.data.LoadFrom(p.dir)
	var found *findings
	if cmd.Context().Err() == nil && t.done+t.failed == len(p.data.Points)*len(p.data.Seeds) {
		sweepdata.MarkInert(p.data)
		var err error
		if found, err = p.judge(cmd); err != nil && cmd.Context().Err() == nil {
			return err
		}
	}
	if err := p.write(found); err != nil {
		return err
	}
	if err := p.document(cmd, found); err != nil {
		return err
	}
	return p.ending(cmd, t)
}

// write writes the files of a sweep, all of them or none.
func (p *sweepPlan) write(found *findings) error {
	files := sweepdata.Files(p.data)
	if found != nil {
		files = append(files, found.files(p.data)...)
	}
	names := make([]string, len(files))
	for i, f := range files {
		names[i] = f.Name
	}
	dir, err := openOutDir(p.dir, names...)
	if err != nil {
		return err
	}
	defer dir.discard()
	for _, f := range files {
		if err := dir.add(f.Name, f.Write); err != nil {
			return err
		}
	}
	if !p.described() {
		if err := removeJudged(p.dir); err != nil {
			return err
		}
	}
	return dir.commit()
}

// described reports whether the folder's sweep.yaml is of this sweep.
func (p *sweepPlan) described() bool {
	text, err := os.ReadFile(filepath.Join(p.dir, sweepdata.ConfigFile))
	return err == nil && sweepdata.SameDefinition(text, p.data)
}

// removeJudged removes the report and the plots of another sweep that the folder
// held; files that no sweep writes stay.
func removeJudged(dir string) error {
	stale := []string{filepath.Join(dir, reportFile)}
	for _, kind := range figures.Kinds() {
		for _, ext := range []string{".png", ".svg"} {
			for _, name := range []string{kind + ext, kind + "_*" + ext} {
				found, err := fs.Glob(os.DirFS(dir), "plots/"+name)
				if err != nil {
					return err
				}
				for _, f := range found {
					stale = append(stale, filepath.Join(dir, filepath.FromSlash(f)))
				}
			}
		}
	}
	for _, name := range stale {
		if info, err := os.Lstat(name); err != nil || info.IsDir() {
			continue
		}
		if err := os.Remove(name); err != nil {
			return fmt.Errorf("--output: %s of another sweep cannot be removed (%w); choose another DIR", name, reason(err))
		}
	}
	return nil
}

// document writes the one document of standard output.
func (p *sweepPlan) document(cmd *cobra.Command, found *findings) error {
	if p.o.format == "csv" {
		return p.data.WritePointsCSV(cmd.OutOrStdout())
	}
	if found == nil {
		return nil
	}
	return found.print(cmd, p)
}

// ending names failed points and turns the outcome into an exit code.
func (p *sweepPlan) ending(cmd *cobra.Command, t *tally) error {
	listFailed(cmd.ErrOrStderr(), p.data)
	if cmd.Context().Err() != nil {
		return &exitError{exitInterrupt, fmt.Sprintf("interrupted: %s\ngo on with: %s", t, p.resumeLine())}
	}
	switch {
	case t.missing > 0:
		return &exitError{exitFailed, fmt.Sprintf("%d of %d runs are missing; the report is written when all are there", t.missing, t.total)}
	case t.failed > 0:
		return &exitError{exitFailed, fmt.Sprintf("%d of %d runs failed", t.failed, t.total)}
	}
	return nil
}

// mostFailed is how many failed points are listed.
const mostFailed = 5

// listFailed names the first points that failed.
func listFailed(w io.Writer, s *sweepdata.Sweep) {
	n := 0
	for i := range s.Points {
		p := &s.Points[i]
		if len(p.Failed) == 0 {
			continue
		}
		if n++; n <= mostFailed {
			fmt.Fprintf(w, "failed: point %s (%s), seed %d: %s\n", p.ID, valuesLine(s, p), p.Failed[0].Seed, p.Failed[0].Error)
		}
	}
	if n > mostFailed {
		fmt.Fprintf(w, "failed: and %d more points; see points.csv\n", n-mostFailed)
	}
}

// valuesLine names a point by its values.
func valuesLine(s *sweepdata.Sweep, p *sweepdata.Point) (text string) {
	for i := range s.Axes {
		if i > 0 {
			text += " "
		}
		text += s.Axes[i].Name + "=" + p.Values[i]
	}
	return text
}

// resumeLine is the command that makes what is missing.
func (p *sweepPlan) resumeLine() string {
	args := p.data.Command
	if p.o.from != "" {
		args = append([]string{"routesim", "sweep", "--from", p.o.from}, p.paths...)
	}
	args = append(args[:len(args):len(args)], "-o", p.dir)
	if p.o.sharded() {
		args = append(args, fmt.Sprintf("--shard=%d/%d", p.o.shard.Index, p.o.shard.Count))
	}
	return shellLine(args)
}
