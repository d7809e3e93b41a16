package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
)

// The sweep that is timed: 11 x 9 points with one seed, on 8 workers.
const (
	credits     = "0:2:0.2"
	scales      = "0:4:0.5"
	sweepPoints = 99
	fleetSize   = 8
)

// sweep times a sweep of 99 points and what a replay and a trace alone take,
// and beside it a few of the points in the oracle, where it is installed: it runs
// them one after another, so their mean times 99 is what it would take.
func sweep(args []string) error {
	f := flag.NewFlagSet("sweep", flag.ContinueOnError)
	bin := f.String("bin", "bin/routesim", "the program to time")
	rounds := f.Int("rounds", 3, "runs of the sweep; medians are shown")
	if err := f.Parse(args); err != nil {
		return err
	}
	if *rounds < 1 {
		return fmt.Errorf("-rounds: found %d, expected at least 1", *rounds)
	}
	dir, err := os.MkdirTemp("", "routesim-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	trace, err := plainTrace(dir)
	if err != nil {
		return err
	}
	describeMachine(os.Stdout)
	one, err := timeRepeated(*rounds, func(int) (used, error) {
		u, _, err := measure(nil, *bin, "replay", trace, "--workers", strconv.Itoa(fleetSize), "--timing", "dynamo-polynomial", "--format", "json", "-q", "--no-env")
		return u, err
	})
	if err != nil {
		return err
	}
	all, err := timeRepeated(*rounds, func(i int) (used, error) {
		u, _, err := measure(nil, *bin, "sweep", trace, "--workers", strconv.Itoa(fleetSize), "--timing", "dynamo-polynomial", "-q", "--no-env",
			"--vary=router-kv-overlap-score-credit="+credits, "--vary=router-prefill-load-scale="+scales, "--seeds=1",
			"-o", filepath.Join(dir, fmt.Sprint("sweep-", i)))
		return u, err
	})
	if err != nil {
		return err
	}
	cores := float64(runtime.GOMAXPROCS(0))
	fmt.Printf("conversation trace, %d workers, credit %s x scale %s: %d points and round robin, one seed, medians of %d runs\n\n", fleetSize, credits, scales, sweepPoints, *rounds)
	fmt.Println("| command | wall s | CPU s | peak MB |")
	fmt.Println("|---|---|---|---|")
	fmt.Printf("| routesim replay, one point | %.2f | %.2f | %.0f |\n", one.Seconds, one.CPU, one.MB)
	fmt.Printf("| routesim sweep, all points, files and report | %.2f | %.2f | %.0f (%.0f a core) |\n", all.Seconds, all.CPU, all.MB, all.MB/cores)
	return besideOracle(trace, all)
}

func timeRepeated(rounds int, run func(i int) (used, error)) (used, error) {
	var runs []used
	for i := range rounds {
		u, err := run(i)
		if err != nil {
			return used{}, err
		}
		runs = append(runs, u)
	}
	return median(runs), nil
}

// besideOracle times points at the corners and in the middle of the grid.
func besideOracle(trace string, ours used) error {
	python := os.Getenv(oracleVariable)
	if python == "" {
		fmt.Printf("\nThe oracle was left out: set %s to an interpreter that has ai-dynamo 1.6.1.\n", oracleVariable)
		return nil
	}
	total, calls := used{}, 0.0
	points := [][2]string{{"0", "0"}, {"0", "4"}, {"1", "1"}, {"2", "0.5"}, {"2", "4"}}
	for _, p := range points {
		u, out, err := measure([]string{"DYN_LOG=error"}, python, "testdata/bench/oracle.py", trace, strconv.Itoa(fleetSize), "kv_router", p[0], p[1])
		if err != nil {
			return err
		}
		var said struct {
			Seconds float64 `json:"replay_s"`
		}
		if err := json.Unmarshal(out, &said); err != nil {
			return err
		}
		total.Seconds += u.Seconds
		total.CPU += u.CPU
		total.MB = max(total.MB, u.MB)
		calls += said.Seconds
	}
	n := float64(len(points))
	fmt.Printf("| oracle, mean of %d points | %.2f | %.2f | %.0f |\n", len(points), total.Seconds/n, total.CPU/n, total.MB)
	fmt.Printf("| oracle, %d points one after another (replay calls alone, processes not counted) | %.0f | | |\n", sweepPoints, sweepPoints*calls/n)
	fmt.Printf("\noracle / sweep: %.0f in wall-clock time, %.0f in processor time\n", sweepPoints*calls/n/ours.Seconds, sweepPoints*total.CPU/n/ours.CPU)
	return nil
}
