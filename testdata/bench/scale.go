package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// scale times traces of growing length: the conversation trace repeated with
// fresh ids and later times.
func scale(args []string) error {
	f := flag.NewFlagSet("scale", flag.ContinueOnError)
	bin := f.String("bin", "bin/routesim", "the program to time")
	copies := f.String("copies", "1,3,10,30,100", "how often the trace is repeated")
	fleets := f.String("workers", "4,64", "numbers of workers")
	rounds := f.Int("rounds", 3, "runs of each; medians are shown")
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
	describeMachine(os.Stdout)
	fmt.Printf("router kv, medians of %d runs\n\n", *rounds)
	fmt.Println("| requests | workers | wall s | CPU s | CPU us / request | peak MB | bytes / request |")
	fmt.Println("|---|---|---|---|---|---|---|")
	for text := range strings.SplitSeq(*copies, ",") {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return fmt.Errorf("-copies: found %q, expected numbers of at least 1", text)
		}
		trace, requests, err := longTrace(dir, n)
		if err != nil {
			return err
		}
		for text := range strings.SplitSeq(*fleets, ",") {
			if err := timeLength(*bin, trace, text, requests, *rounds); err != nil {
				return err
			}
		}
		if err := os.Remove(trace); err != nil {
			return err
		}
	}
	return nil
}

// longTrace writes n copies of the bundled trace to a file.
func longTrace(dir string, n int) (path string, requests int, err error) {
	plain, err := plainTrace(dir)
	if err != nil {
		return "", 0, err
	}
	in, err := os.Open(plain)
	if err != nil {
		return "", 0, err
	}
	defer in.Close()
	rows, err := readRows(in)
	if err != nil {
		return "", 0, err
	}
	path = filepath.Join(dir, "long.jsonl")
	out, err := os.Create(path)
	if err != nil {
		return "", 0, err
	}
	err = writeCopies(out, rows, n)
	return path, len(rows) * n, errors.Join(err, out.Close())
}

func timeLength(bin, trace, workers string, requests, rounds int) error {
	var runs []used
	for range rounds {
		u, _, err := measure(nil, bin, "replay", trace, "--workers", workers,
			"--timing", "dynamo-polynomial", "--format", "json", "--quiet", "--no-env")
		if err != nil {
			return err
		}
		runs = append(runs, u)
	}
	m := median(runs)
	fmt.Printf("| %d | %s | %.3f | %.2f | %.2f | %.0f | %.0f |\n", requests, workers, m.Seconds, m.CPU,
		m.CPU/float64(requests)*1e6, m.MB, m.MB*1e6/float64(requests))
	return nil
}
