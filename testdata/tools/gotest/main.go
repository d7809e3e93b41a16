// Command gotest runs go test with the arguments given, passes its output on
// unchanged, and then lists every test that was left out, with the reason it
// gave. Its exit code is go test's.
//
// go test itself only tells of skipped tests in verbose mode, among all the
// others.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
)

func main() {
	args := os.Args[1:]
	verbose := slices.Contains(args, "-v")
	cmd := exec.Command("go", append([]string{"test", "-json"}, args...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(2)
	}
	l := &listener{out: os.Stdout, verbose: verbose, packages: map[string]*pack{}}
	l.listen(out)
	err = cmd.Wait()
	l.leftOut()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		os.Exit(exit.ExitCode())
	case err != nil:
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(2)
	}
}

// event is a line of go test -json.
type event struct {
	Action, Package, Test, Output, ImportPath string
}

// pack collects the output of one package, so that packages that are tested at
// the same time do not mix.
type pack struct {
	all   strings.Builder             // everything, for verbose mode
	own   strings.Builder             // the package's own lines
	tests map[string]*strings.Builder // output of tests that are not decided
}

type skipped struct{ pack, test, reason string }

type listener struct {
	out      io.Writer
	verbose  bool
	packages map[string]*pack
	ran      int // tests and subtests that passed or failed
	skips    []skipped
}

func (l *listener) listen(r io.Reader) {
	in := bufio.NewScanner(r)
	in.Buffer(nil, 1<<24)
	for in.Scan() {
		var e event
		if json.Unmarshal(in.Bytes(), &e) != nil {
			fmt.Fprintln(l.out, in.Text())
			continue
		}
		if e.Action == "build-output" {
			fmt.Fprint(l.out, e.Output)
			continue
		}
		l.take(&e)
	}
}

func (l *listener) take(e *event) {
	p := l.packages[e.Package]
	if p == nil {
		p = &pack{tests: map[string]*strings.Builder{}}
		l.packages[e.Package] = p
	}
	switch e.Action {
	case "output":
		p.write(e)
	case "pass", "fail", "skip":
		if e.Test == "" {
			l.finish(e, p)
			return
		}
		l.decide(e, p)
	}
}

func (p *pack) write(e *event) {
	p.all.WriteString(e.Output)
	if e.Test == "" {
		p.own.WriteString(e.Output)
		return
	}
	if p.tests[e.Test] == nil {
		p.tests[e.Test] = &strings.Builder{}
	}
	p.tests[e.Test].WriteString(e.Output)
}

// decide keeps the output of a test that failed and drops that of others.
func (l *listener) decide(e *event, p *pack) {
	text := ""
	if b := p.tests[e.Test]; b != nil {
		text = b.String()
		delete(p.tests, e.Test)
	}
	switch e.Action {
	case "fail":
		l.ran++
		p.own.WriteString(withoutMarks(text))
	case "pass":
		l.ran++
	case "skip":
		l.skips = append(l.skips, skipped{e.Package, e.Test, reason(text)})
	}
}

// finish prints a package's output once its tests are over. What tests that
// were never decided printed is shown too: a panic ends there.
func (l *listener) finish(e *event, p *pack) {
	switch {
	case l.verbose:
		fmt.Fprint(l.out, p.all.String())
	case e.Action == "fail":
		for _, b := range p.tests {
			fmt.Fprint(l.out, b.String())
		}
		fmt.Fprint(l.out, p.own.String())
	default:
		// Of a package that passed, go test prints the verdict alone.
		fmt.Fprint(l.out, verdict(p.own.String()))
	}
	delete(l.packages, e.Package)
}

// verdict returns the last line of a package's output.
func verdict(text string) string {
	text = strings.TrimSuffix(text, "\n")
	return text[strings.LastIndexByte(text, '\n')+1:] + "\n"
}

// withoutMarks drops the lines that only verbose mode shows.
func withoutMarks(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "=== ") {
			b.WriteString(line)
		}
	}
	return b.String()
}

// reason finds why a test was skipped: the line before the one that says so.
func reason(text string) string {
	why := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "=== ") || strings.HasPrefix(line, "--- ") {
			continue
		}
		// file_test.go:12: the reason
		if parts := strings.SplitN(line, ": ", 2); len(parts) == 2 && strings.Contains(parts[0], ".go:") {
			line = parts[1]
		}
		why = line
	}
	if why == "" {
		return "no reason given"
	}
	return why
}

// leftOut lists the tests that were skipped.
func (l *listener) leftOut() {
	fmt.Fprintf(l.out, "\n%d tests and subtests ran, %d left out", l.ran, len(l.skips))
	if len(l.skips) == 0 {
		fmt.Fprintln(l.out, ".")
		return
	}
	fmt.Fprintln(l.out, ":")
	slices.SortFunc(l.skips, func(a, b skipped) int {
		return strings.Compare(a.pack+" "+a.test, b.pack+" "+b.test)
	})
	for _, s := range l.skips {
		fmt.Fprintf(l.out, "  %s %s: %s\n", s.pack, s.test, s.reason)
	}
}
