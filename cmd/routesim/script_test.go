package main

import (
	"errors"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"routesim": main})
}

// TestScripts runs the program as its users do. The scripts know one command
// more than usual: exits CODE PROGRAM ARGS... runs a program and checks its
// exit code.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(e *testscript.Env) error {
			// The traces that several scripts use.
			files, err := os.ReadDir("testdata/traces")
			if err != nil {
				return err
			}
			for _, f := range files {
				text, err := os.ReadFile("testdata/traces/" + f.Name())
				if err != nil {
					return err
				}
				if err := os.WriteFile(e.WorkDir+"/"+f.Name(), text, 0o644); err != nil {
					return err
				}
			}
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits},
	})
}

func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM ARGS...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var e *exec.ExitError
		if !errors.As(err, &e) {
			ts.Fatalf("%s: %v", strings.Join(args[1:], " "), err)
		}
		got = e.ExitCode()
	}
	if got != want {
		ts.Fatalf("%s: exit code %d, want %d", strings.Join(args[1:], " "), got, want)
	}
}
