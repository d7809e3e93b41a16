package main

import (
	"context"
	"html"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"routesim/reports/page"
	"routesim/reports/sweepdata"
	"routesim/reports/verdict"
)

// pasted is a command that stands between two marks, as a shell reads it.
func pasted(t *testing.T, text, from, to string) []string {
	t.Helper()
	_, rest, found := strings.Cut(text, from)
	command, _, closed := strings.Cut(rest, to)
	if !found || !closed {
		t.Fatalf("found no %s", from)
	}
	words, err := shellWords(strings.ReplaceAll(html.UnescapeString(command), "\\\n", " "))
	if err != nil || len(words) < 2 || words[0] != "routesim" {
		t.Fatalf("%v: found %q", err, words)
	}
	return words[1:]
}

// TestSweepCommandsCanBePasted: what the terminal and the report print as a
// command runs as it stands, from the folder that the sweep ran in.
func TestSweepCommandsCanBePasted(t *testing.T) {
	if testing.Short() {
		t.Skip("runs a dozen sweeps")
	}
	trace, dir := writeSweepTrace(t, 60), filepath.Join(t.TempDir(), "my results")
	code, stdout, stderr := command(context.Background(), nil, sweepArgs(trace, dir, "--sla-ttft-ms=900", "--sla-target=50", "--objective=p90_ttft_ms")...)
	if code != exitOK {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	report, err := os.ReadFile(filepath.Join(dir, reportFile))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(report), filepath.Dir(dir)) {
		t.Error("the report names the folder it is in")
	}
	alone := pasted(t, string(report), `<pre id="alone" tabindex="0">`, "</pre>")
	if code, _, stderr := command(context.Background(), nil, append(alone, "-q")...); code != exitOK {
		t.Errorf("%q: exit code %d: %s", alone, code, stderr)
	}
	again := pasted(t, string(report), `<span>This sweep</span><button class="copy">Copy</button></div><pre tabindex="0">`, "</pre>")
	for i, word := range again {
		if word == verdict.Folder {
			again[i] = dir
		}
	}
	more := pasted(t, stdout, "add seeds ", "\n report")
	for _, args := range [][]string{again, more} {
		code, _, stderr := command(context.Background(), nil, args...)
		if code != exitOK || !strings.Contains(stderr, " of them before") {
			t.Errorf("%q: exit code %d: %s, expected finished runs to be kept", args, code, stderr)
		}
	}
	checkAlone(t, dir)
}

// checkAlone holds the command of one point to the flags that a replay has,
// whichever ones the sweep was given.
func checkAlone(t *testing.T, dir string) {
	t.Helper()
	s, err := sweepdata.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	v, err := verdict.Judge(s, verdict.Options{Resamples: 100})
	if err != nil {
		t.Fatal(err)
	}
	replay := newReplay(system{}).Flags()
	only := 0
	newSweep(system{}).Flags().VisitAll(func(f *pflag.Flag) {
		if replay.Lookup(f.Name) == nil {
			only++
			s.Command = append(s.Command, "--"+f.Name+"=1")
		}
	})
	if only < 5 {
		t.Fatalf("found %d flags that only sweeps have", only)
	}
	var b strings.Builder
	if err := page.Write(&b, s, v, page.Extras{}); err != nil {
		t.Fatal(err)
	}
	for _, word := range pasted(t, b.String(), `<pre id="alone" tabindex="0">`, "</pre>") {
		if name, _, _ := strings.Cut(strings.TrimPrefix(word, "--"), "="); strings.HasPrefix(word, "--") && replay.Lookup(name) == nil {
			t.Errorf("found %s, which a replay does not have", word)
		}
	}
}
