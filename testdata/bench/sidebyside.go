package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// oracleVariable names an interpreter that has ai-dynamo 1.6.1.
const oracleVariable = "ORACLE_PYTHON"

// contender is one of the commands timed beside each other.
type contender struct {
	name string
	run  func(workers int) (used, float64, error) // the last figure: s of the oracle's replay call alone
}

// sideBySide times routesim, with and without files, and the oracle where it is
// installed, in turns, so that a change in the machine's state meets all alike.
func sideBySide(args []string) error {
	f := flag.NewFlagSet("side-by-side", flag.ContinueOnError)
	bin := f.String("bin", "bin/routesim", "the program to time")
	fleets := f.String("workers", "4,16,64", "numbers of workers")
	rounds := f.Int("rounds", 5, "runs of each command; medians are shown")
	mode := f.String("mode", "kv", "router mode: kv or round-robin")
	if err := f.Parse(args); err != nil {
		return err
	}
	if *mode != "kv" && *mode != "round-robin" {
		return fmt.Errorf("-mode: found %q, expected kv or round-robin", *mode)
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
	all := contenders(*bin, trace, *mode, dir)
	describeMachine(os.Stdout)
	fmt.Printf("conversation trace, router %s, medians of %d runs in turns\n\n", *mode, *rounds)
	fmt.Println("| workers | command | wall s | CPU s | peak MB | time / plain | oracle / this: time | memory |")
	fmt.Println("|---|---|---|---|---|---|---|---|")
	for text := range strings.SplitSeq(*fleets, ",") {
		workers, err := strconv.Atoi(text)
		if err != nil || workers < 1 {
			return fmt.Errorf("-workers: found %q, expected numbers of at least 1", text)
		}
		if err := compare(all, workers, *rounds); err != nil {
			return err
		}
	}
	if len(all) == 2 {
		fmt.Printf("\nThe oracle was left out: set %s to an interpreter that has ai-dynamo 1.6.1.\n", oracleVariable)
	}
	return nil
}

// contenders lists plain first and the oracle, where there is one, last.
func contenders(bin, trace, mode, dir string) []contender {
	args := func(workers int, more ...string) []string {
		return append([]string{
			"replay", trace, "--router-mode", mode, "--workers", strconv.Itoa(workers),
			"--timing", "dynamo-polynomial", "--format", "json", "--quiet", "--no-env",
		}, more...)
	}
	all := []contender{
		{"routesim", func(n int) (used, float64, error) {
			u, _, err := measure(nil, bin, args(n)...)
			return u, 0, err
		}},
		{"routesim -o DIR", func(n int) (used, float64, error) {
			u, _, err := measure(nil, bin, args(n, "-o", filepath.Join(dir, "out"))...)
			return u, 0, err
		}},
	}
	python := os.Getenv(oracleVariable)
	if python == "" {
		return all
	}
	name := map[string]string{"kv": "kv_router", "round-robin": "round_robin"}[mode]
	return append(all, contender{"oracle", func(n int) (used, float64, error) {
		u, out, err := measure([]string{"DYN_LOG=error"}, python, "testdata/bench/oracle.py", trace, strconv.Itoa(n), name)
		if err != nil {
			return u, 0, err
		}
		var said struct {
			Seconds float64 `json:"replay_s"`
		}
		return u, said.Seconds, json.Unmarshal(out, &said)
	}})
}

func compare(all []contender, workers, rounds int) error {
	runs := make([][]used, len(all))
	var calls []used
	for round := range rounds + 1 {
		for i, c := range all {
			u, call, err := c.run(workers)
			if err != nil {
				return err
			}
			if round == 0 { // warms the file cache
				continue
			}
			runs[i] = append(runs[i], u)
			if call > 0 {
				calls = append(calls, used{Seconds: call})
			}
		}
	}
	plain := median(runs[0])
	for i, c := range all {
		m := median(runs[i])
		faster, leaner := "-", "-"
		if len(all) == 3 {
			o := median(runs[2])
			faster, leaner = fmt.Sprintf("%.1f", o.Seconds/m.Seconds), fmt.Sprintf("%.1f", o.MB/m.MB)
		}
		name := c.name
		if c.name == "oracle" {
			name = fmt.Sprintf("oracle (replay call alone %.2f s)", median(calls).Seconds)
		}
		fmt.Printf("| %d | %s | %.3f | %.2f | %.0f | %.2f | %s | %s |\n", workers, name, m.Seconds, m.CPU, m.MB, m.Seconds/plain.Seconds, faster, leaner)
	}
	return nil
}
