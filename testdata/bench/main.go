// Command bench times the whole routesim command as a user runs it.
//
//	go run ./testdata/bench side-by-side   beside Dynamo's own replay, where installed
//	go run ./testdata/bench sweep          99 points, beside as many replays of Dynamo's
//	go run ./testdata/bench scale          from one to a hundred copies of the trace
//	go run ./testdata/bench grow N         writes N copies of a trace, stdin to stdout
//
// Run it from the module's root on a machine that does nothing else.
package main

import (
	"fmt"
	"os"
	"strconv"
)

const usage = "usage: go run ./testdata/bench side-by-side [flags] | sweep [flags] | scale [flags] | grow N <TRACE >LONGER"

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(2)
	}
}

func run(args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("%s", usage)
	}
	switch args[0] {
	case "side-by-side":
		return sideBySide(args[1:])
	case "sweep":
		return sweep(args[1:])
	case "scale":
		return scale(args[1:])
	case "grow":
		if len(args) != 2 {
			return fmt.Errorf("%s", usage)
		}
		n, err := strconv.Atoi(args[1])
		if err != nil || n < 1 {
			return fmt.Errorf("grow: found %q, expected a number of copies of at least 1", args[1])
		}
		rows, err := readRows(os.Stdin)
		if err != nil {
			return err
		}
		return writeCopies(os.Stdout, rows, n)
	}
	return fmt.Errorf("found %q; %s", args[0], usage)
}
