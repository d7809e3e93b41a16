package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"routesim/reports/newfile"
)

// outDir writes a set of files into a folder: each under a temporary name, and
// all of them renamed once the last one is complete. A run that fails leaves
// nothing half-written behind, and files of an earlier run as they were.
type outDir struct {
	dir   string
	wrote []string // paths of files that have been given their names
	made  []string // folders that did not exist before, outermost first
	files []pending
}

type pending struct {
	temporary, final string
	old              string // where the file of that name was moved, "" for none
}

// openOutDir makes the folder if necessary and finds out whether it can be
// written to, before any work is done for it. The names are those of the files
// that will be added; one that is taken by a folder is an error. A name may
// have folders of its own before a slash, which are made as well.
func openOutDir(dir string, names ...string) (*outDir, error) {
	if dir == "" {
		return nil, fmt.Errorf(`--output: found "", expected the name of a directory`)
	}
	o := &outDir{dir: dir}
	folders := []string{filepath.Clean(dir)}
	for _, name := range names {
		if d := filepath.Dir(o.path(name)); !slices.Contains(folders, d) {
			folders = append(folders, d)
		}
	}
	for _, d := range folders {
		if err := o.makeFolder(d); err != nil {
			o.discard()
			return nil, err
		}
	}
	for _, name := range names {
		if err := checkFree(o.path(name)); err != nil {
			o.discard()
			return nil, err
		}
	}
	return o, nil
}

func (o *outDir) path(name string) string { return filepath.Join(o.dir, filepath.FromSlash(name)) }

// makeFolder makes a folder with its parents and tries to write into it.
func (o *outDir) makeFolder(dir string) error {
	var missing []string // innermost first
	for d := dir; ; d = filepath.Dir(d) {
		info, err := os.Stat(d)
		if err == nil && !info.IsDir() {
			return fmt.Errorf("--output: found a file at %s, expected a directory; remove it or choose another DIR", d)
		}
		if _, linkErr := os.Lstat(d); err != nil && linkErr == nil {
			if errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("--output: found a link at %s that leads nowhere, expected a directory; remove it or choose another DIR", d)
			}
			return unwritable(d, err)
		}
		if err == nil || d == filepath.Dir(d) {
			break
		}
		missing = append(missing, d)
	}
	for _, d := range slices.Backward(missing) {
		if err := os.Mkdir(d, 0o755); err != nil {
			return unwritable(d, err)
		}
		o.made = append(o.made, d)
	}
	f, err := os.CreateTemp(dir, ".routesim-*")
	if err != nil {
		return unwritable(dir, err)
	}
	f.Close()
	if err := os.Remove(f.Name()); err != nil {
		return unwritable(dir, err)
	}
	return nil
}

// unwritable is the error for a folder that takes no files.
func unwritable(dir string, err error) error {
	return fmt.Errorf("--output: found %s, where nothing can be written (%w), expected a directory to write to; choose another DIR", dir, reason(err))
}

// reason strips an error of the operating system of the names in it, which may
// be temporary ones.
func reason(err error) error {
	var path *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &path):
		return path.Err
	case errors.As(err, &link):
		return link.Err
	}
	return err
}

// checkFree finds out whether a file can have the name: nothing has it, or a
// file that will be replaced.
func checkFree(path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil || info.Mode().IsRegular():
		return nil // a link that leads nowhere is replaced like a file
	case info.IsDir():
		return fmt.Errorf("--output: found a directory at %s, expected a file or nothing; remove it or choose another DIR", path)
	}
	return fmt.Errorf("--output: found a device or pipe at %s, expected a file or nothing; remove it or choose another DIR", path)
}

// add writes one file under a temporary name.
func (o *outDir) add(name string, write func(io.Writer) error) error {
	final := o.path(name)
	temporary, err := newfile.Temporary(final, write)
	if temporary == "" {
		return unwritable(filepath.Dir(final), err)
	}
	o.files = append(o.files, pending{temporary: temporary, final: final})
	if err != nil {
		return fmt.Errorf("--output: %s: %w", final, reason(err))
	}
	return nil
}

// commit gives all files their names, or none of them.
func (o *outDir) commit() error {
	for i := range o.files {
		err := checkFree(o.files[i].final)
		if err == nil {
			err = o.files[i].rename()
		}
		if err != nil {
			for j := range o.files[:i] {
				o.files[j].undo()
			}
			return err
		}
	}
	for _, f := range o.files {
		o.wrote = append(o.wrote, f.final)
		if f.old != "" {
			os.Remove(f.old)
		}
	}
	o.files, o.made = nil, nil
	return nil
}

// tell names the files that were written; a nil outDir has none.
func (o *outDir) tell(w io.Writer, quiet bool) {
	if o != nil && !quiet {
		fmt.Fprintf(w, "wrote %s\n", strings.Join(o.wrote, ", "))
	}
}

// rename gives a file its name and keeps the one that had it.
func (f *pending) rename() error {
	if _, err := os.Lstat(f.final); err == nil {
		f.old = f.temporary + ".old"
		err := os.Link(f.final, f.old)
		if err != nil { // not every file system has links
			err = os.Rename(f.final, f.old)
		}
		if err != nil {
			f.old = ""
			return f.failed(err)
		}
	}
	if err := os.Rename(f.temporary, f.final); err != nil {
		if f.old != "" {
			os.Rename(f.old, f.final)
			os.Remove(f.old) // where both were links to one file, renaming did nothing
		}
		return f.failed(err)
	}
	return nil
}

func (f *pending) failed(err error) error {
	return fmt.Errorf("--output: %s cannot be written (%w), expected a file or nothing there; choose another DIR", f.final, reason(err))
}

// undo takes back a rename.
func (f *pending) undo() {
	if f.old != "" {
		os.Rename(f.old, f.final)
		return
	}
	os.Remove(f.final)
}

// discard removes what has not been committed, folders included.
func (o *outDir) discard() {
	if o == nil {
		return
	}
	for _, f := range o.files {
		os.Remove(f.temporary)
	}
	for _, d := range slices.Backward(o.made) {
		os.Remove(d) // fails for a folder that is in use by now
	}
	o.files, o.made = nil, nil
}
