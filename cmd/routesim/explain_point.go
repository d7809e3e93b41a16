package main

import (
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"routesim/reports"
	"routesim/reports/sweepdata"
	"routesim/reports/verdict"
)

// isSweep reports whether a folder is that of a sweep.
func isSweep(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, sweepConfigFile))
	return err == nil
}

// openPoint makes a run of a saved sweep's point again: with its first seed, or
// with the one asked for.
func (o *explainOptions) openPoint(cmd *cobra.Command, dir string) (*replayed, error) {
	s, err := sweepdata.Open(dir)
	if err != nil {
		return nil, err
	}
	at, saved, err := o.runOf(cmd, dir, s)
	if err != nil {
		return nil, err
	}
	own := newSweepOptions(o.sys, &cobra.Command{Use: "sweep"})
	own.quiet, own.from = true, filepath.Join(dir, sweepdata.ConfigFile)
	paths, err := o.sweepTrace(dir, s)
	if err != nil {
		return nil, err
	}
	plan, err := own.plan(cmd, paths)
	if err != nil {
		return nil, err
	}
	if at >= len(plan.points) || !slices.Equal(plan.data.Points[at].Values, s.Points[at].Values) {
		return nil, fmt.Errorf("%s: found other points than this version of the program makes of it, expected the same; explain it with version %s", own.from, s.Version)
	}
	run, err := plan.resolve(plan.given(at))
	if err != nil {
		return nil, err
	}
	run.config.Seed = saved.Seed
	run.trace = plan.traces[readingOf(run.settings)].trace
	if err := run.simulate(cmd, o.quiet); err != nil {
		return nil, err
	}
	if cmd.Context().Err() != nil {
		return nil, &exitError{exitInterrupt, "interrupted"}
	}
	digest := reports.DecisionDigest(run.result)
	if found := hex.EncodeToString(digest[:]); found != saved.DecisionDigest {
		return nil, fmt.Errorf("%s: the sweep was made by version %s and this one, %s, takes other decisions (%.12s..., expected %.12s...); sweep again",
			dir, s.Version, version, found, saved.DecisionDigest)
	}
	return run, nil
}

// runOf finds the run that --point and --seed name.
func (o *explainOptions) runOf(cmd *cobra.Command, dir string, s *sweepdata.Sweep) (point int, run *sweepdata.Run, err error) {
	if o.point == "" {
		return 0, nil, fmt.Errorf("%s: found a sweep, expected one of its points with it: --point ID (see points.csv), default, chosen or reference", dir)
	}
	v := &verdict.Verdict{Chosen: -1}
	if o.point == "chosen" {
		if v, err = judgeSaved(s); err != nil {
			return 0, nil, fmt.Errorf("%s: %w", dir, err)
		}
	}
	if point, err = pointNamed(s, v, o.point); err != nil {
		return 0, nil, err
	}
	runs := s.Points[point].Runs
	if len(runs) == 0 {
		return 0, nil, fmt.Errorf("--point: found %s, which has no run in %s, expected one that has", o.point, dir)
	}
	if !cmd.Flags().Changed("seed") {
		return point, &runs[0], nil
	}
	var seeds []string
	for i := range runs {
		if runs[i].Seed == o.seed {
			return point, &runs[i], nil
		}
		seeds = append(seeds, fmt.Sprint(runs[i].Seed))
	}
	return 0, nil, fmt.Errorf("--seed: found %d, expected a seed of the point's runs: %s", o.seed, strings.Join(seeds, ", "))
}

// sweepTrace returns the files of a sweep's trace: those given with --trace, else
// those that the sweep names, where they lie or beside it; none for a synthetic
// load.
func (o *explainOptions) sweepTrace(dir string, s *sweepdata.Sweep) ([]string, error) {
	if o.trace != "" {
		return strings.Split(o.trace, ","), nil
	}
	var paths []string
	for _, path := range s.TracePaths {
		found := findFile(filepath.Base(path), filepath.Dir(path), dir, filepath.Dir(filepath.Clean(dir)), ".")
		if path == "-" || found == "" {
			return nil, fmt.Errorf("--trace: found no %s beside %s, expected the trace of the sweep; give its path with --trace FILE", path, dir)
		}
		paths = append(paths, found)
	}
	return paths, nil
}
