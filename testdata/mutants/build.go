package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// mutate applies a mutant's edits to the sources under root and returns the
// changed files. An edit whose text does not stand in its file exactly once is
// an error: the mutant would be another one, or none.
func (m *mutant) mutate(root string) (map[string]string, error) {
	changed := map[string]string{}
	for _, e := range m.edits {
		text, ok := changed[e.file]
		if !ok {
			b, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(e.file)))
			if err != nil {
				return nil, fmt.Errorf("mutant %s: %w", m.name, err)
			}
			text = string(b)
		}
		if n := strings.Count(text, e.find); n != 1 {
			return nil, fmt.Errorf("mutant %s: %s: found %q %d times, expected it once; mend the table of mutants", m.name, e.file, e.find, n)
		}
		changed[e.file] = strings.Replace(text, e.find, e.replace, 1)
	}
	return changed, nil
}

// build builds a mutant into dir and returns the program's path. The sources
// stay as they are: an overlay shows the compiler the changed files.
func (m *mutant) build(root, dir string) (string, error) {
	changed, err := m.mutate(root)
	if err != nil {
		return "", err
	}
	overlay := struct{ Replace map[string]string }{map[string]string{}}
	for file, text := range changed {
		name := filepath.Join(dir, m.name+"-"+strings.ReplaceAll(file, "/", "-"))
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			return "", err
		}
		overlay.Replace[filepath.Join(root, filepath.FromSlash(file))] = name
	}
	text, err := json.Marshal(&overlay)
	if err != nil {
		return "", err
	}
	list := filepath.Join(dir, m.name+".json")
	if err := os.WriteFile(list, text, 0o644); err != nil {
		return "", err
	}
	program := filepath.Join(dir, m.name)
	return program, goBuild(root, program, "-tags", "mutant", "-overlay", list, "-gcflags", hasty)
}

// hasty has the compiler leave out what takes it time: building a mutant takes
// far longer than running it, and the results are the same.
const hasty = "routesim/...=-N -l -dwarf=false"

// goBuild builds the command with more arguments.
func goBuild(root, program string, args ...string) error {
	args = append([]string{"build", "-ldflags", "-s -w", "-o", program}, args...)
	cmd := exec.Command("go", append(args, "./cmd/routesim")...)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, out)
	}
	return nil
}
