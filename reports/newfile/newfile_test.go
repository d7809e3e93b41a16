package newfile

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// TestWholeOrNotAtAll checks that a failed write leaves the old file, and
// nothing beside it.
func TestWholeOrNotAtAll(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "a.txt")
	say := func(text string, err error) func(io.Writer) error {
		return func(w io.Writer) error {
			if _, err := io.WriteString(w, text); err != nil {
				return err
			}
			return err
		}
	}
	if err := Write(name, say("old", nil)); err != nil {
		t.Fatal(err)
	}
	failed := errors.New("no more")
	if err := Write(name, say("new", failed)); err != failed {
		t.Errorf("got error %v, want %v", err, failed)
	}
	if text, err := os.ReadFile(name); err != nil || string(text) != "old" {
		t.Errorf("found %q (%v), want the old file", text, err)
	}
	if err := Write(filepath.Join(dir, "missing", "b.txt"), say("b", nil)); err == nil {
		t.Error("a file in a missing folder was written")
	}
	if err := Write(name, say("new", nil)); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(name)
	if err != nil || info.Size() != 3 || info.Mode().Perm() != 0o644 {
		t.Errorf("found %v (%v), want 3 bytes that all may read", info, err)
	}
	if files, _ := os.ReadDir(dir); len(files) != 1 {
		t.Errorf("%d files are left, want one", len(files))
	}
}
