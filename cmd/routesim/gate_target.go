package main

import (
	"fmt"
	"os"

	"routesim/reports/gate"
)

// checkTarget keeps an update from what it would destroy: it writes two files,
// and neither may be a file that the suite needs. Where the baseline goes there
// has to be one already, or nothing.
func (o *gateOptions) checkTarget(s *gate.Suite, path string) error {
	if !o.update {
		return nil
	}
	for _, target := range []string{path, decisionsPath(path)} {
		if sameFile(target, o.suite) {
			return fmt.Errorf("--baseline: found %s, the suite itself, expected a file of its own for the baseline", target)
		}
		for i := range s.Scenarios {
			for _, trace := range s.Scenarios[i].Traces {
				if sameFile(target, beside(o.suite, trace)) {
					return fmt.Errorf("--baseline: found %s, a trace of the scenario %s, expected a file of its own for the baseline", target, s.Scenarios[i].Name)
				}
			}
		}
	}
	text, err := os.ReadFile(path)
	if err == nil && !gate.Replaceable(path, text) { // an error is told where the file is written
		return fmt.Errorf("--baseline: found something else at %s, expected a baseline or nothing (give another --baseline, or remove the file)", path)
	}
	return nil
}

// sameFile reports whether two paths lead to one file that exists.
func sameFile(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}
