package main

import (
	"strings"
	"testing"
)

// The events of a package with a test of each kind, as go test -json prints
// them.
const events = `{"Action":"start","Package":"p"}
{"Action":"run","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Test":"TestA","Output":"=== RUN   TestA\n"}
{"Action":"output","Package":"p","Test":"TestA","Output":"    a_test.go:4: chatter of A\n"}
{"Action":"output","Package":"p","Test":"TestA","Output":"--- PASS: TestA (0.00s)\n"}
{"Action":"pass","Package":"p","Test":"TestA"}
{"Action":"run","Package":"p","Test":"TestB"}
{"Action":"output","Package":"p","Test":"TestB","Output":"=== RUN   TestB\n"}
{"Action":"output","Package":"p","Test":"TestB","Output":"    b_test.go:7: takes: long\n"}
{"Action":"output","Package":"p","Test":"TestB","Output":"--- SKIP: TestB (0.00s)\n"}
{"Action":"skip","Package":"p","Test":"TestB"}
`

const failing = `{"Action":"run","Package":"p","Test":"TestC"}
{"Action":"output","Package":"p","Test":"TestC","Output":"=== RUN   TestC\n"}
{"Action":"output","Package":"p","Test":"TestC","Output":"    c_test.go:9: wrong\n"}
{"Action":"output","Package":"p","Test":"TestC","Output":"--- FAIL: TestC (0.00s)\n"}
{"Action":"fail","Package":"p","Test":"TestC"}
{"Action":"output","Package":"p","Output":"FAIL\n"}
{"Action":"output","Package":"p","Output":"FAIL\tp\t0.1s\n"}
{"Action":"fail","Package":"p"}
`

const passing = `{"Action":"output","Package":"p","Output":"PASS\n"}
{"Action":"output","Package":"p","Output":"ok  \tp\t0.1s\n"}
{"Action":"pass","Package":"p"}
`

func heard(verbose bool, text string) string {
	var b strings.Builder
	l := &listener{out: &b, verbose: verbose, packages: map[string]*pack{}}
	l.listen(strings.NewReader(text))
	l.leftOut()
	return b.String()
}

func TestOutput(t *testing.T) {
	for _, c := range []struct {
		name, in, want string
		verbose        bool
	}{
		{"pass", events + passing, "ok  \tp\t0.1s\n\n1 tests and subtests ran, 1 left out:\n  p TestB: takes: long\n", false},
		{"fail", events + failing, "    c_test.go:9: wrong\n--- FAIL: TestC (0.00s)\nFAIL\nFAIL\tp\t0.1s\n\n2 tests and subtests ran, 1 left out:\n  p TestB: takes: long\n", false},
		{"nothing left out", passing, "ok  \tp\t0.1s\n\n0 tests and subtests ran, 0 left out.\n", false},
		{"build failure", `{"ImportPath":"p","Action":"build-output","Output":"p.go:1: bad\n"}` + "\n", "p.go:1: bad\n\n0 tests and subtests ran, 0 left out.\n", false},
	} {
		if got := heard(c.verbose, c.in); got != c.want {
			t.Errorf("%s: got\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
	all := heard(true, events+passing)
	for _, line := range []string{"=== RUN   TestA\n", "chatter of A", "--- SKIP: TestB", "ok  \tp\t0.1s\n", "1 left out"} {
		if !strings.Contains(all, line) {
			t.Errorf("verbose output lacks %q:\n%s", line, all)
		}
	}
}

// A test that ends the process is never decided; what it printed is all there
// is to go by.
func TestPanicIsShown(t *testing.T) {
	in := `{"Action":"run","Package":"p","Test":"TestD"}
{"Action":"output","Package":"p","Test":"TestD","Output":"panic: boom\n"}
{"Action":"output","Package":"p","Output":"FAIL\tp\t0.1s\n"}
{"Action":"fail","Package":"p"}
`
	if got := heard(false, in); !strings.Contains(got, "panic: boom") {
		t.Errorf("got %s", got)
	}
}
