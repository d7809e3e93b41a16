package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const root = "../.."

// below names, for each top-level folder, the others that it may import.
var below = map[string][]string{
	"models":    nil,
	"workloads": nil,
	"sim":       {"models", "workloads"},
	"reports":   {"sim", "models", "workloads"},
	"cmd":       {"reports", "sim", "models", "workloads"},
	"testdata":  {"models", "workloads"},
}

// eachFile calls f for every file of the tree with the given suffix, its path
// relative to the root with forward slashes.
func eachFile(t *testing.T, suffix string, f func(path string)) {
	t.Helper()
	n := 0
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		switch {
		case e.IsDir() && slices.Contains([]string{".git", "bin", "out"}, rel):
			return fs.SkipDir
		case !e.IsDir() && strings.HasSuffix(rel, suffix):
			n++
			f(filepath.ToSlash(rel))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if n == 0 {
		t.Fatalf("no file of the tree ends in %s", suffix)
	}
}

// importsOf returns the imports of a Go file that lie in this module, without
// the module's name.
func importsOf(t *testing.T, path string) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, path), nil, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	var ours []string
	for _, i := range file.Imports {
		name, err := strconv.Unquote(i.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		if rest, ok := strings.CutPrefix(name, "routesim/"); ok {
			ours = append(ours, rest)
		}
	}
	return ours
}

func TestImportsPointDownwards(t *testing.T) {
	eachFile(t, ".go", func(path string) {
		from, _, _ := strings.Cut(path, "/")
		allowed, known := below[from]
		if !known {
			t.Errorf("%s: Go code in a folder that has no place in the order of dependencies", path)
			return
		}
		for _, name := range importsOf(t, path) {
			to, _, _ := strings.Cut(name, "/")
			if to != from && !slices.Contains(allowed, to) {
				t.Errorf("%s: %s imports %s, which is not below it", path, from, name)
			}
		}
	})
}

var (
	link = regexp.MustCompile(`\]\(([^)#\s]+)(?:#[^)]*)?\)`)
	// A rule's place: a Go file in backquotes, then the declarations in it.
	place = regexp.MustCompile("`([\\w./-]+\\.go)`((?:,? `[A-Za-z_][\\w.]*`)+)")
	word  = regexp.MustCompile("`([A-Za-z_][\\w.]*)`")
)

// Links of the pages lead somewhere, and the declarations they name exist in
// the file they name.
func TestPagesNameWhatExists(t *testing.T) {
	places := 0
	eachFile(t, ".md", func(path string) {
		text, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			t.Fatal(err)
		}
		dir := filepath.Join(root, filepath.Dir(path))
		for _, m := range link.FindAllStringSubmatch(string(text), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			if _, err := os.Stat(filepath.Join(dir, m[1])); err != nil {
				t.Errorf("%s: the link to %s leads nowhere", path, m[1])
			}
		}
		for _, m := range place.FindAllStringSubmatch(string(text), -1) {
			file := filepath.Join(dir, m[1])
			if _, err := os.Stat(file); err != nil {
				t.Errorf("%s: names %s, which does not exist", path, m[1])
				continue
			}
			declared := declarations(t, file)
			for _, w := range word.FindAllStringSubmatch(m[2], -1) {
				places++
				if !slices.Contains(declared, w[1]) {
					t.Errorf("%s: names %s, which %s does not declare", path, w[1], m[1])
				}
			}
		}
	})
	if places == 0 {
		t.Error("no page names a declaration")
	}
}

// declarations lists the functions, methods (as Type.Method) and types of a
// file.
func declarations(t *testing.T, path string) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			names = append(names, receiver(d)+d.Name.Name)
		case *ast.GenDecl:
			for _, s := range d.Specs {
				if s, ok := s.(*ast.TypeSpec); ok {
					names = append(names, s.Name.Name)
				}
			}
		}
	}
	return names
}

func receiver(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return ""
	}
	typ := d.Recv.List[0].Type
	if star, ok := typ.(*ast.StarExpr); ok {
		typ = star.X
	}
	if name, ok := typ.(*ast.Ident); ok {
		return name.Name + "."
	}
	return ""
}
