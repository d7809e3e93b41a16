// Package newfile writes files whole or not at all: under a temporary name
// first, and under their own once they are complete.
package newfile

import (
	"bufio"
	"io"
	"os"
	"path/filepath"
)

// Temporary writes a file beside the one it is to become and returns its name.
// The name is empty where no file could be made; a file that could not be
// completed is left for the caller to remove.
func Temporary(final string, write func(io.Writer) error) (name string, err error) {
	f, err := os.CreateTemp(filepath.Dir(final), "."+filepath.Base(final)+"-*")
	if err != nil {
		return "", err
	}
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
	return f.Name(), err
}

// Write writes a file, in the place of one that has its name.
func Write(name string, write func(io.Writer) error) error {
	temporary, err := Temporary(name, write)
	if err == nil {
		err = os.Rename(temporary, name)
	}
	if err != nil && temporary != "" {
		os.Remove(temporary)
	}
	return err
}
