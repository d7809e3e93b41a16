package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// The verdicts of the gate by exit code.
const (
	codePass       = 0
	codeRegression = 1
	codeInvalid    = 2
	codeChanged    = 3
)

// finding is what the suite said about a mutant.
type finding struct {
	mutant    *mutant
	verdict   string
	caught    []string // scenarios that did not pass
	worse     []string // of those, the ones with a regression
	decisions int      // scenarios whose decisions differ
}

// gateReport is the part of the gate's JSON that the proof reads.
type gateReport struct {
	Verdict   string
	Scenarios []struct {
		Name    string
		Verdict string
		Seeds   []uint64 `json:"seeds_with_other_decisions"`
	}
}

// gate runs the suite with a program and returns the report and the exit code.
func gate(program, root string, args ...string) (*gateReport, int, error) {
	suite := filepath.Join("testdata", "gate", "gate.yaml")
	cmd := exec.Command(program, append([]string{"gate", "--suite", suite, "--format", "json", "-q"}, args...)...)
	cmd.Dir = root
	var out, problems bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problems
	code := 0
	if err := cmd.Run(); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			return nil, 0, err
		}
		code = exit.ExitCode()
	}
	r := &gateReport{}
	if err := json.Unmarshal(out.Bytes(), r); err != nil {
		return nil, code, fmt.Errorf("the gate gave no report: %s%s", problems.String(), out.String())
	}
	return r, code, nil
}

// smoke runs a small trace and wants every request served: a mutant that breaks
// down proves nothing about the suite.
func smoke(program, root string) error {
	cmd := exec.Command(program, "replay", filepath.Join("testdata", "traces", "fixtures", "mooncake_tiny.jsonl"), "--workers", "4", "--no-env", "--format", "json", "-q")
	cmd.Dir = root
	var problems bytes.Buffer
	cmd.Stderr = &problems
	text, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("the smoke run failed: %w: %s", err, problems.String())
	}
	var s struct {
		Requests  int `json:"num_requests"`
		Completed int `json:"completed_requests"`
	}
	if err := json.Unmarshal(text, &s); err != nil {
		return fmt.Errorf("the smoke run gave no summary: %w", err)
	}
	if s.Requests == 0 || s.Completed != s.Requests {
		return fmt.Errorf("the smoke run served %d of %d requests", s.Completed, s.Requests)
	}
	return nil
}

// prove builds a mutant, smokes it and runs the suite, or only the scenario
// that is to catch it.
func (m *mutant) prove(root, dir string, one bool) (*finding, error) {
	program, err := m.build(root, dir)
	if err != nil {
		return nil, err
	}
	if err := isMutant(program); err != nil {
		return nil, fmt.Errorf("mutant %s: %w", m.name, err)
	}
	if err := smoke(program, root); err != nil {
		return nil, fmt.Errorf("mutant %s: %w", m.name, err)
	}
	var args []string
	if one && m.catcher != "" {
		args = []string{"--scenario", m.catcher}
	}
	r, code, err := gate(program, root, args...)
	if err != nil {
		return nil, fmt.Errorf("mutant %s: %w", m.name, err)
	}
	f := &finding{mutant: m, verdict: r.Verdict}
	for _, s := range r.Scenarios {
		if s.Verdict != "PASS" {
			f.caught = append(f.caught, s.Name)
		}
		if s.Verdict == "REGRESSION" {
			f.worse = append(f.worse, s.Name)
		}
		if len(s.Seeds) > 0 {
			f.decisions++
		}
	}
	if m.catcher == "" && code == codePass {
		return f, nil
	}
	if code != codeRegression && code != codeChanged && code != codeInvalid || m.catcher != "" && !contains(f.caught, m.catcher) {
		return f, fmt.Errorf("mutant %s: the gate says %s (code %d, scenarios %s), expected REGRESSION, BEHAVIOUR_CHANGED or INVALID in %s",
			m.name, r.Verdict, code, strings.Join(f.caught, " "), m.catcher)
	}
	return f, nil
}

func contains(list []string, name string) bool {
	for _, s := range list {
		if s == name {
			return true
		}
	}
	return false
}

// isMutant makes sure that a program says of itself that it is one.
func isMutant(program string) error {
	out, err := exec.Command(program, "version").Output()
	if err != nil {
		return err
	}
	if !strings.Contains(string(out), "-mutant") {
		return fmt.Errorf("its version is %q, expected it to say mutant", strings.TrimSpace(string(out)))
	}
	return nil
}

// offsets runs the suite with shifted seeds: other luck is no regression.
func offsets(program, root string, n int) error {
	for k := 1; k <= n; k++ {
		r, code, err := gate(program, root, "--seed-offset", strconv.Itoa(1000*k))
		if err != nil {
			return err
		}
		if code != codePass {
			return fmt.Errorf("with seeds shifted by %d the gate says %s (code %d), expected PASS", 1000*k, r.Verdict, code)
		}
	}
	return nil
}
