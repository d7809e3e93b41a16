package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// outDir writes a set of files into a folder: each under a temporary name, and
// all of them renamed once the last one is complete. A run that fails leaves
// nothing half-written behind.
type outDir struct {
	dir   string
	made  []string // folders that did not exist before, innermost first
	files []pending
}

type pending struct{ temporary, final string }

// openOutDir makes the folder if necessary and finds out whether it can be
// written to, before any work is done for it.
func openOutDir(dir string) (*outDir, error) {
	o := &outDir{dir: dir}
	for d := filepath.Clean(dir); ; d = filepath.Dir(d) {
		if _, err := os.Stat(d); err == nil || d == filepath.Dir(d) {
			break
		}
		o.made = append(o.made, d)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("--output: %w", err)
	}
	f, err := os.CreateTemp(dir, ".routesim-*")
	if err != nil {
		return nil, fmt.Errorf("--output: %w", err)
	}
	f.Close()
	if err := os.Remove(f.Name()); err != nil {
		return nil, fmt.Errorf("--output: %w", err)
	}
	return o, nil
}

// add writes one file under a temporary name.
func (o *outDir) add(name string, write func(io.Writer) error) (err error) {
	f, err := os.CreateTemp(o.dir, "."+name+"-*")
	if err != nil {
		return fmt.Errorf("--output: %w", err)
	}
	o.files = append(o.files, pending{f.Name(), filepath.Join(o.dir, name)})
	b := bufio.NewWriterSize(f, 1<<18)
	err = write(b)
	if err == nil {
		err = b.Flush()
	}
	if err == nil {
		err = f.Chmod(0o644)
	}
	if closing := f.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return fmt.Errorf("--output: %s: %w", name, err)
	}
	return nil
}

// commit gives all files their names.
func (o *outDir) commit() error {
	for len(o.files) > 0 {
		f := o.files[0]
		if err := os.Rename(f.temporary, f.final); err != nil {
			return fmt.Errorf("--output: %w", err)
		}
		o.files = o.files[1:]
	}
	o.made = nil
	return nil
}

// discard removes what has not been committed, folders included.
func (o *outDir) discard() {
	if o == nil {
		return
	}
	for _, f := range o.files {
		os.Remove(f.temporary)
	}
	for _, d := range o.made {
		os.Remove(d) // fails for a folder that is in use by now
	}
	o.files, o.made = nil, nil
}
