package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// command runs the program in-process and returns what it printed.
func command(ctx context.Context, stdin io.Reader, args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	code = run(ctx, args, system{stdin, &out, &errs, nil})
	return code, out.String(), errs.String()
}

// interrupted is a context that is cancelled after it has been asked a number
// of times, which makes an interrupt in the middle of a run repeatable.
type interrupted struct {
	context.Context
	left int
}

func (c *interrupted) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

func TestInterruptKeepsWhatIsFinished(t *testing.T) {
	trace := filepath.Join(t.TempDir(), "long.jsonl")
	var b strings.Builder
	for range 4000 {
		b.WriteString(`{"timestamp": 0, "input_length": 600, "output_length": 40, "hash_ids": [1, 2]}` + "\n")
	}
	if err := os.WriteFile(trace, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "out")
	code, stdout, stderr := command(&interrupted{context.Background(), 3}, nil, "replay", trace, "--workers=1", "--max-num-seqs=1", "--format=json", "-o", dir)
	if code != exitInterrupt || !strings.Contains(stderr, "error: interrupted: ") {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	var s struct {
		Completed int `json:"completed_requests"`
		Routesim  struct {
			Stopped bool `json:"stopped_early"`
		}
	}
	if err := json.Unmarshal([]byte(stdout), &s); err != nil {
		t.Fatal(err)
	}
	if s.Completed == 0 || s.Completed >= 4000 || !s.Routesim.Stopped {
		t.Errorf("%d of 4000 requests completed, stopped early: %v", s.Completed, s.Routesim.Stopped)
	}
	saved, err := os.ReadFile(filepath.Join(dir, "summary.json"))
	if err != nil || string(saved) != stdout {
		t.Errorf("the saved summary is not what was printed (%v)", err)
	}
}

func TestInterruptWhileWaitingForInput(t *testing.T) {
	pipe, _ := io.Pipe() // never written to
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(20*time.Millisecond, cancel)
	code, stdout, stderr := command(ctx, pipe, "replay", "-")
	if code != exitInterrupt || stdout != "" || !strings.HasSuffix(stderr, "error: interrupted while reading the trace\n") {
		t.Errorf("exit code %d: %s%s", code, stdout, stderr)
	}
}

func TestFailedWriteLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	o, err := openOutDir(filepath.Join(dir, "a", "b"))
	if err != nil {
		t.Fatal(err)
	}
	if err := o.add("a.json", func(w io.Writer) error { _, err := io.WriteString(w, "whole"); return err }); err != nil {
		t.Fatal(err)
	}
	if err := o.add("b.json", func(w io.Writer) error { _, _ = io.WriteString(w, "half"); return io.ErrUnexpectedEOF }); err == nil {
		t.Fatal("no error")
	}
	o.discard()
	left, err := os.ReadDir(dir)
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v (%v)", left, err)
	}
}

func TestNoProgressBarInPipes(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if newProgress(&bytes.Buffer{}, "x", false) != nil || newProgress(f, "x", false) != nil {
		t.Error("a progress bar for something that is no terminal")
	}
}

func TestTerminalOptions(t *testing.T) {
	for _, c := range []struct {
		environ     string
		utf8, color bool
	}{
		{"", false, true},
		{"LANG=C.UTF-8", true, true},
		{"LANG=en_US.utf8 NO_COLOR=1", true, false},
		{"LANG=C.UTF-8 LC_ALL=C", false, true},
		{"LC_CTYPE=de_DE.UTF-8 TERM=dumb", true, false},
	} {
		if o := terminalOptions(strings.Fields(c.environ)); o.UTF8 != c.utf8 || o.Color != c.color {
			t.Errorf("%q: got %+v", c.environ, o)
		}
	}
	if o := terminal(&bytes.Buffer{}, []string{"LANG=C.UTF-8"}); o.UTF8 || o.Color {
		t.Errorf("a buffer is no terminal: %+v", o)
	}
}
