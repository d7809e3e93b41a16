// Command routesim replays request traces through a model of NVIDIA Dynamo's
// KV-aware router and the inference workers behind it.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
)

// The exit codes.
const (
	exitOK        = 0
	exitNothing   = 1   // a run in which nothing completed, a comparison that differs
	exitUsage     = 2   // bad input or bad usage
	exitInterrupt = 130 // interrupted; what was finished has been written
)

// reserve is the size in bytes of a block on the heap that is never touched. It
// occupies no memory, but the collector counts it and so starts later: a replay
// keeps nearly all it allocates, and collecting a small heap again and again
// only costs time. A large heap still grows no further than the usual rule
// lets it.
const reserve = 64 << 20

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	go func() {
		<-ctx.Done()
		stop() // a second signal ends the program at once
	}()
	block := make([]byte, reserve)
	code := run(ctx, os.Args[1:], system{os.Stdin, os.Stdout, os.Stderr, os.Environ()})
	runtime.KeepAlive(block)
	os.Exit(code)
}

// system is what the program has of the outside world.
type system struct {
	stdin   io.Reader
	stdout  io.Writer
	stderr  io.Writer
	environ []string
}

// run executes one command line and returns the exit code. Errors come last on
// the screen, one line each.
func run(ctx context.Context, args []string, sys system) int {
	root := newRoot(sys)
	root.SetHelpCommand(newHelp(root))
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitOK
	}
	code := exitUsage
	var e *exitError
	if errors.As(err, &e) {
		code = e.code
	}
	if err.Error() != "" {
		for line := range strings.SplitSeq(err.Error(), "\n") {
			fmt.Fprintf(sys.stderr, "error: %s\n", line)
		}
	}
	return code
}

// exitError is an error with an exit code of its own; without a text it sets
// the code only.
type exitError struct {
	code int
	text string
}

func (e *exitError) Error() string { return e.text }
