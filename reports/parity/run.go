package parity

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"routesim/reports"
	"routesim/sim"
)

// Exit codes of RunAll.
const (
	ExitEqual     = 0 // all recordings are equal
	ExitDifferent = 1 // one differs, or is not supported
	ExitUnusable  = 2 // an input could not be read
)

// Options say how a recording is replayed.
type Options struct {
	// Plain turns off the simulator's fast path.
	Plain bool
}

// RunOptions say how a list of recordings is compared and reported.
type RunOptions struct {
	Options
	TraceDirs        []string // where to look for traces besides the usual places
	AllowUnsupported bool     // recordings of what is not modelled do not count
	JSON             bool     // one JSON object per recording instead of a line of text
	Verbose          bool     // show the first differences; text only
	Notes            io.Writer
}

// Check replays the recording and compares the results.
func (g *Golden) Check(ctx context.Context) Report { return g.CheckWith(ctx, Options{}) }

// CheckWith is Check with options.
func (g *Golden) CheckWith(ctx context.Context, o Options) Report {
	if g.unsupported != "" {
		r := g.emptyReport()
		r.Status, r.Unsupported = Unsupported, g.unsupported
		return r
	}
	config, err := g.runConfig(o)
	if err != nil {
		return g.failed(err)
	}
	res, err := sim.Run(ctx, g.trace, config)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return g.failed(err)
	}
	r := g.compare(res, reports.Summarize(g.trace, config, res).Values())
	if r.Status == Different && g.guessed(res) {
		r.Status, r.Unsupported = Unsupported, "requests that a soft stop left unfinished, so that their worker is not recorded"
	}
	return r
}

// guessed reports whether some request went where the recording does not say
// and the cost did not decide.
func (g *Golden) guessed(res *sim.Result) bool {
	p := &g.settings.config.Router
	if !isKV(g.settings) || g.settings.config.MaxSimTimeMS == nil || g.settings.config.Ranks() < 2 {
		return false
	}
	for _, row := range res.Routed {
		d := &res.Requests[row].Decision
		if !d.Forced && (p.Temperature > 0 || d.Tied > 1) {
			return true
		}
	}
	return false
}

// failed reports a run that came to no result.
func (g *Golden) failed(err error) Report {
	r := g.emptyReport()
	r.Failure = err.Error()
	return r
}

// RunAll compares recordings, and the recordings in folders, one after the
// other and writes a line for each to w. Inputs that cannot be used do not
// keep the others from being compared; their errors are returned joined.
func RunAll(ctx context.Context, w io.Writer, paths []string, o RunOptions) (exit int, err error) {
	files, err := expand(paths)
	if err != nil {
		return ExitUnusable, err
	}
	for _, dir := range o.TraceDirs {
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			return ExitUnusable, fmt.Errorf("trace-dir: found no folder %s, expected one that holds traces", dir)
		}
	}
	var unusable []error
	for _, path := range files {
		g, err := Load(path, o.TraceDirs)
		if errors.Is(err, errIndex) && filepath.Base(path) == indexName {
			note(o.Notes, "%s: left out, it lists recordings\n", path)
			continue
		}
		if err != nil {
			unusable = append(unusable, err)
			continue
		}
		r := g.CheckWith(ctx, o.Options)
		if err := ctx.Err(); err != nil {
			return ExitUnusable, err
		}
		if r.Status == Different || r.Status == Unsupported && !o.AllowUnsupported {
			exit = ExitDifferent
		}
		if err := write(w, &r, o); err != nil {
			return ExitUnusable, err
		}
	}
	if len(unusable) > 0 {
		return ExitUnusable, errors.Join(unusable...)
	}
	return exit, nil
}

func write(w io.Writer, r *Report, o RunOptions) error {
	if o.JSON {
		return json.NewEncoder(w).Encode(r)
	}
	return r.WriteText(w, o.Verbose)
}

func note(w io.Writer, format string, args ...any) {
	if w != nil {
		fmt.Fprintf(w, format, args...)
	}
}

// indexName is the list that lies beside the small cases.
const indexName = "index.json"

// expand replaces folders by the recordings in and below them, by name.
func expand(paths []string) ([]string, error) {
	if len(paths) == 0 {
		return nil, errors.New("recordings: found none, expected at least one file")
	}
	var files []string
	for _, path := range paths {
		if path == "" {
			return nil, errors.New(`recordings: found "", expected a file or a folder of them`)
		}
		info, err := os.Stat(path)
		if err != nil {
			return nil, err
		}
		if !info.IsDir() {
			files = append(files, path)
			continue
		}
		var found []string
		err = filepath.WalkDir(path, func(p string, e fs.DirEntry, err error) error {
			if err == nil && !e.IsDir() && isRecording(e.Name()) {
				found = append(found, p)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			return nil, fmt.Errorf("%s: found no .json or .json.gz file, expected recordings", path)
		}
		slices.Sort(found)
		files = append(files, found...)
	}
	return files, nil
}

func isRecording(name string) bool {
	return name != indexName && strings.HasSuffix(strings.TrimSuffix(name, ".gz"), ".json")
}
