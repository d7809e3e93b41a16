package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"routesim/reports"
	"routesim/reports/gate"
	"routesim/reports/sweepdata"
)

// The files that folders of results are told by.
const (
	runSummaryFile  = "summary.json"
	sweepConfigFile = sweepdata.ConfigFile
)

// kindOfResults tells what a folder holds: a runSummaryFile, a sweepConfigFile or neither.
func kindOfResults(path string) string {
	for _, name := range []string{runSummaryFile, sweepConfigFile} {
		if info, err := os.Stat(filepath.Join(path, name)); err == nil && info.Mode().IsRegular() {
			return name
		}
	}
	return ""
}

// areResults reports whether the arguments of a comparison are folders of results
// rather than traces.
func areResults(args []string) bool {
	return slices.ContainsFunc(args, func(path string) bool {
		info, err := os.Stat(path)
		return err == nil && info.IsDir()
	})
}

// compareResults compares two folders of results: two runs or two sweeps. It
// returns the verdict's exit code as an error.
func compareResults(cmd *cobra.Command, args []string, format string) error {
	if len(args) != 2 {
		return fmt.Errorf("%s: found %d arguments with a folder of results among them, expected two folders, RUN_A and RUN_B", cmd.CommandPath(), len(args))
	}
	a, b := kindOfResults(args[0]), kindOfResults(args[1])
	for i, kind := range []string{a, b} {
		if kind == "" {
			return fmt.Errorf("%s: found neither %s nor %s there, expected a folder that routesim replay -o or sweep -o wrote", args[i], runSummaryFile, sweepConfigFile)
		}
	}
	if a != b {
		return fmt.Errorf("%s: found %s there and %s in %s, expected two runs or two sweeps", args[1], b, a, args[0])
	}
	var sides [2]*gate.Saved
	var notes []string
	for i, dir := range args {
		var err error
		if a == runSummaryFile {
			sides[i], err = sideOfRun(dir)
		} else {
			var more []string
			sides[i], more, err = sideOfSweep(dir)
			for _, n := range more {
				notes = append(notes, dir+": "+n)
			}
		}
		if err != nil {
			return err
		}
		sides[i].Name = [2]string{"A", "B"}[i]
	}
	r := gate.JudgeSaved(sides[0], sides[1])
	r.Notes = append(r.Notes, fmt.Sprintf("A is %s, B is %s.", args[0], args[1]))
	r.Notes = append(r.Notes, notes...)
	if format == "table" {
		format = "text"
	}
	if err := writeReport(cmd.OutOrStdout(), format, r); err != nil {
		return err
	}
	if r.Code != exitOK {
		return &exitError{code: r.Code}
	}
	return nil
}

// sideOfRun reads the folder of a run.
func sideOfRun(dir string) (*gate.Saved, error) {
	name := filepath.Join(dir, runSummaryFile)
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, reason(err))
	}
	s, err := reports.ReadSummary(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	q, err := requestsOfRun(filepath.Join(dir, "requests.parquet"))
	if err != nil {
		return nil, err
	}
	if len(q.Order) != s.Routesim.Trace.Rows {
		return nil, fmt.Errorf("%s: found %d requests, expected the %d of %s", filepath.Join(dir, "requests.parquet"), len(q.Order), s.Routesim.Trace.Rows, runSummaryFile)
	}
	o, err := gate.OutcomeOf(s, q)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return &gate.Saved{Version: s.Routesim.Version, Outcomes: []gate.Outcome{o}}, nil
}

// requestsOfRun reads the table of requests of a run.
func requestsOfRun(name string) (*gate.Requests, error) {
	columns, err := readNumbers(name, "routing_order", "decode_worker_idx", "ttft_ms", "itl_ms", "e2e_latency_ms",
		"overlap_blocks", "prefill_term", "credit", "decode_term", "request_term", "cost", "prefill_worker_idx")
	if err != nil {
		return nil, err
	}
	return &gate.Requests{
		Order: columns[0], Worker: columns[1], TTFT: columns[2], TPOT: columns[3], E2E: columns[4], Overlap: columns[5],
		Prefill: columns[6], Credit: columns[7], Decode: columns[8], Request: columns[9], Cost: columns[10],
		PrefillWorker: columns[11],
	}, nil
}

// sideOfSweep reads the folder of a sweep.
func sideOfSweep(dir string) (*gate.Saved, []string, error) {
	s, err := sweepdata.Open(dir)
	if err != nil {
		return nil, nil, err
	}
	outcomes, notes, err := gate.OutcomesOfSweep(s)
	if err != nil {
		return nil, nil, err
	}
	if len(outcomes) == 0 {
		return nil, nil, fmt.Errorf("%s: found no point with complete runs, expected at least one", dir)
	}
	side := &gate.Saved{Version: s.Version, Outcomes: outcomes}
	for i := range s.Axes {
		side.Axes = append(side.Axes, s.Axes[i].Name)
	}
	return side, notes, nil
}
