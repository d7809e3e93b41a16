package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func text(s string) func(io.Writer) error {
	return func(w io.Writer) error { _, err := io.WriteString(w, s); return err }
}

// tree lists every file under a folder with its content, and empty folders.
func tree(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			fmt.Fprintln(&b, path)
			return err
		}
		content, err := os.ReadFile(path)
		fmt.Fprintf(&b, "%s: %s\n", path, content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// A folder that takes the name of any one file, before the run or in the middle
// of it, leaves everything as it was: new files are gone and old ones back.
func TestAllFilesOrNone(t *testing.T) {
	names := []string{"a.json", "sub/b.json", "sub/c.json"}
	for _, taken := range names {
		for _, late := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s late %v", taken, late), func(t *testing.T) {
				dir := t.TempDir()
				if err := os.Mkdir(filepath.Join(dir, "sub"), 0o755); err != nil {
					t.Fatal(err)
				}
				for _, old := range names[:2] {
					if old == taken {
						continue
					}
					if err := os.WriteFile(filepath.Join(dir, old), []byte("old"), 0o644); err != nil {
						t.Fatal(err)
					}
				}
				take := func() string {
					if err := os.Mkdir(filepath.Join(dir, taken), 0o755); err != nil {
						t.Fatal(err)
					}
					return tree(t, dir)
				}
				var before string
				if !late {
					before = take()
				}
				o, err := openOutDir(dir, names...)
				if late && err == nil {
					before = take()
					for _, name := range names {
						if err := o.add(name, text("new")); err != nil {
							t.Fatal(err)
						}
					}
					err = o.commit()
					o.discard()
				}
				want := "--output: found a directory at " + filepath.Join(dir, taken) + ", expected a file or nothing; remove it or choose another DIR"
				if err == nil || err.Error() != want {
					t.Errorf("got %v, want %s", err, want)
				}
				if after := tree(t, dir); after != before {
					t.Errorf("before:\n%safter:\n%s", before, after)
				}
			})
		}
	}
}

// A rename that fails for another reason is taken back, too.
func TestFailedRenameIsTakenBack(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a"), []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	before := tree(t, dir)
	o, err := openOutDir(dir, "a", "b", "c")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "b", "c"} {
		if err := o.add(name, text("new")); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Remove(o.files[2].temporary); err != nil {
		t.Fatal(err)
	}
	err = o.commit()
	o.discard()
	if err == nil || strings.Contains(err.Error(), "c-") || !strings.Contains(err.Error(), filepath.Join(dir, "c")+" cannot be written") {
		t.Errorf("got %v", err)
	}
	if after := tree(t, dir); after != before {
		t.Errorf("before:\n%safter:\n%s", before, after)
	}
}

func TestCommitReplacesAndLeavesNothingElse(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "x", "y")
	for _, content := range []string{"one", "two"} {
		o, err := openOutDir(dir, "a", "kv/b")
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"a", "kv/b"} {
			if err := o.add(name, text(content)); err != nil {
				t.Fatal(err)
			}
		}
		if err := o.commit(); err != nil {
			t.Fatal(err)
		}
		o.discard()
		want := fmt.Sprintf("%[1]s\n%[1]s/a: %[2]s\n%[1]s/kv\n%[1]s/kv/b: %[2]s\n", dir, content)
		if got := tree(t, dir); got != want {
			t.Errorf("got\n%swant\n%s", got, want)
		}
	}
}

// What stands in the way of a folder is said, and folders made before it are
// removed again.
func TestFolderInTheWay(t *testing.T) {
	for _, c := range []struct {
		name  string
		block func(path string) error
		want  string
	}{
		{"file", func(p string) error { return os.WriteFile(p, nil, 0o644) }, "found a file at "},
		{"dangling link", func(p string) error { return os.Symlink("nowhere", p) }, "found a link at "},
	} {
		for _, at := range []string{"out", "out/kv"} {
			t.Run(c.name+" "+at, func(t *testing.T) {
				dir := t.TempDir()
				if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, at)), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := c.block(filepath.Join(dir, at)); err != nil {
					t.Fatal(err)
				}
				_, err := openOutDir(filepath.Join(dir, "out"), "base/a", "kv/a")
				if err == nil || !strings.HasPrefix(err.Error(), "--output: "+c.want+filepath.Join(dir, at)) || !strings.Contains(err.Error(), "expected a directory; remove it or choose another DIR") {
					t.Errorf("got %v", err)
				}
				if _, err := os.Stat(filepath.Join(dir, "out", "base")); err == nil {
					t.Error("a folder was left behind")
				}
			})
		}
	}
}
