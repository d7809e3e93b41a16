package main

import (
	"bytes"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// imported says which folders may import packages of a kind. A package belongs
// to the first kind whose prefix it has.
var imported = []struct {
	prefix string
	where  []string
}{
	{"github.com/apache/arrow/", []string{"reports/columnar"}},
	{"gonum.org/v1/plot", []string{"reports/plot"}},
	{"gonum.org/", []string{"models", "reports"}},
	{"github.com/spf13/", []string{"cmd"}},
	{"github.com/schollz/progressbar", []string{"cmd"}},
	{"golang.org/x/term", []string{"cmd"}},
	{"github.com/jedib0t/go-pretty", []string{"reports/table", "cmd"}},
	{"routesim/sim/internal/reference", nil}, // for tests
	// Nothing of a run may depend on the clock, on the machine or on a shared
	// source of random numbers.
	{"time", []string{"cmd", "reports", "testdata"}},
	{"math/rand", []string{"testdata"}},
	{"crypto/rand", nil},
	{"runtime", []string{"cmd", "reports", "workloads", "models", "testdata"}},
	{"os", []string{"cmd", "reports", "workloads", "models", "testdata"}},
	{"net", []string{"cmd", "testdata"}},
	{"unsafe", nil},
}

// TestImportsStayInTheirPlace keeps libraries and the outside world where they
// belong. Tests may import what they like.
func TestImportsStayInTheirPlace(t *testing.T) {
	seen := 0
	eachFile(t, ".go", func(file string) {
		if strings.HasSuffix(file, "_test.go") {
			return
		}
		for _, name := range allImports(t, file) {
			for _, k := range imported {
				if name != k.prefix && !strings.HasPrefix(name, strings.TrimSuffix(k.prefix, "/")+"/") && !(k.prefix == "gonum.org/v1/plot" && strings.HasPrefix(name, k.prefix)) {
					continue
				}
				seen++
				if !slices.ContainsFunc(k.where, func(dir string) bool { return strings.HasPrefix(file, dir+"/") }) {
					t.Errorf("%s imports %s, which belongs to %v only", file, name, k.where)
				}
				break
			}
		}
	})
	if seen < 20 {
		t.Errorf("%d imports were looked at, expected more", seen)
	}
}

func allImports(t *testing.T, file string) (names []string) {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, file), nil, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range f.Imports {
		name, err := strconv.Unquote(i.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	return names
}

// TestFilesAreShort keeps files and functions to a size that can be read.
func TestFilesAreShort(t *testing.T) {
	const fileLines, funcLines = 600, 80
	eachFile(t, ".go", func(file string) {
		text, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			t.Fatal(err)
		}
		if n := bytes.Count(text, []byte("\n")); n > fileLines {
			t.Errorf("%s has %d lines, expected at most %d", file, n, fileLines)
		}
		if strings.HasSuffix(file, "_test.go") {
			return
		}
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, file, text, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			if n := set.Position(fn.End()).Line - set.Position(fn.Pos()).Line + 1; n > funcLines {
				t.Errorf("%s: %s has %d lines, expected at most %d", file, fn.Name.Name, n, funcLines)
			}
			if fn.Name.Name == "init" {
				t.Errorf("%s: has an init function; what is registered there has no order and cannot be left out", file)
			}
		}
	})
}

// TestPackagesSayWhatTheyAre wants one doc comment per package.
func TestPackagesSayWhatTheyAre(t *testing.T) {
	docs := map[string]int{}
	eachFile(t, ".go", func(file string) {
		if strings.HasSuffix(file, "_test.go") {
			return
		}
		f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, file), nil, parser.ParseComments|parser.PackageClauseOnly)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		if f.Doc != nil {
			n = 1
		}
		docs[path.Dir(file)] += n
	})
	for dir, n := range docs {
		if n != 1 {
			t.Errorf("package %s has %d doc comments, expected 1", dir, n)
		}
	}
}

// TestNoMapOrder forbids to range over a map where results come from: the
// order differs from run to run. Look-ups are fine, and so are the sorted keys
// of a map (slices.Sorted(maps.Keys(m))) and a loop that only collects what its
// function sorts afterwards.
func TestNoMapOrder(t *testing.T) {
	if testing.Short() {
		t.Skip("type-checks the whole program")
	}
	c := &checker{set: token.NewFileSet(), done: map[string]*types.Package{}, std: importer.ForCompiler(token.NewFileSet(), "source", nil)}
	dirs := map[string]bool{}
	eachFile(t, ".go", func(file string) {
		top, _, _ := strings.Cut(file, "/")
		if !strings.HasSuffix(file, "_test.go") && slices.Contains([]string{"sim", "workloads", "models"}, top) && !strings.HasPrefix(file, "sim/internal/reference/") {
			dirs[path.Dir(file)] = true
		}
	})
	ranges := 0
	for dir := range dirs {
		files, info := c.check(t, dir)
		for _, f := range files {
			n, bad := mapRanges(f, info)
			ranges += n
			for _, r := range bad {
				t.Errorf("%s: ranges over a map", c.set.Position(r.Pos()))
			}
		}
	}
	if ranges < 100 {
		t.Errorf("%d range statements were looked at, expected more", ranges)
	}
}

// mapRanges counts the range statements of a file and returns those over a map.
func mapRanges(f *ast.File, info *types.Info) (n int, bad []*ast.RangeStmt) {
	for _, d := range f.Decls {
		sorts := token.NoPos // the last call that sorts
		ast.Inspect(d, func(node ast.Node) bool {
			if call, ok := node.(*ast.CallExpr); ok && strings.HasPrefix(types.ExprString(call.Fun), "slices.Sort") {
				sorts = call.Pos()
			}
			return true
		})
		ast.Inspect(d, func(node ast.Node) bool {
			r, ok := node.(*ast.RangeStmt)
			if !ok {
				return true
			}
			n++
			isMap := false
			if over := info.TypeOf(r.X); over != nil {
				_, isMap = over.Underlying().(*types.Map)
			}
			if call, ok := r.X.(*ast.CallExpr); ok && strings.HasPrefix(types.ExprString(call.Fun), "maps.") {
				isMap = true
			}
			if isMap && !(collects(r) && sorts > r.End()) {
				bad = append(bad, r)
			}
			return true
		})
	}
	return n, bad
}

// collects reports whether a loop does nothing but append to one slice.
func collects(r *ast.RangeStmt) bool {
	if len(r.Body.List) != 1 {
		return false
	}
	assign, ok := r.Body.List[0].(*ast.AssignStmt)
	if !ok || len(assign.Rhs) != 1 {
		return false
	}
	call, ok := assign.Rhs[0].(*ast.CallExpr)
	return ok && types.ExprString(call.Fun) == "append"
}

// checker finds the types of this module's packages. Types of other modules
// stay unknown: an expression of such a type is not taken for a map.
type checker struct {
	set  *token.FileSet
	done map[string]*types.Package
	std  types.Importer
}

// check parses and checks the package in dir.
func (c *checker) check(t *testing.T, dir string) ([]*ast.File, *types.Info) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(root, dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var files []*ast.File
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(c.set, name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{}}
	conf := types.Config{Importer: importFunc(func(name string) (*types.Package, error) { return c.find(t, name) }), Error: func(error) {}}
	pkg, _ := conf.Check("routesim/"+dir, c.set, files, info)
	c.done["routesim/"+dir] = pkg
	return files, info
}

type importFunc func(name string) (*types.Package, error)

// Import implements types.Importer.
func (f importFunc) Import(name string) (*types.Package, error) { return f(name) }

func (c *checker) find(t *testing.T, name string) (*types.Package, error) {
	if p := c.done[name]; p != nil {
		return p, nil
	}
	if dir, ok := strings.CutPrefix(name, "routesim/"); ok {
		c.check(t, dir)
		return c.done[name], nil
	}
	if first, _, _ := strings.Cut(name, "/"); !strings.Contains(first, ".") {
		p, err := c.std.Import(name)
		if err != nil {
			return nil, err
		}
		c.done[name] = p
		return p, nil
	}
	p := types.NewPackage(name, path.Base(name))
	p.MarkComplete()
	c.done[name] = p
	return p, nil
}

// TestMapOrderIsFound makes sure that the check above sees what it looks for.
func TestMapOrderIsFound(t *testing.T) {
	const source = `package p
import ("maps"; "slices")
type s struct{ m map[string]int }
func (x s) bad() { for k := range x.m { _ = k } }
func g() map[int]bool { return nil }
func bad2() { for range g() {} }
func bad3(m map[int]bool) { for k := range maps.Keys(m) { _ = k } }
func bad4(m map[int]int) (out []int) { for k := range m { out = append(out, k) }; return out }
func ok() { for range []int{1} {} }
func ok2(m map[int]int) { for _, k := range slices.Sorted(maps.Keys(m)) { _ = k } }
func ok3(m map[int]int) (out []int) { for k := range m { out = append(out, k) }; slices.Sort(out); return out }`
	c := &checker{set: token.NewFileSet(), done: map[string]*types.Package{}, std: importer.ForCompiler(token.NewFileSet(), "source", nil)}
	f, err := parser.ParseFile(c.set, "p.go", source, 0)
	if err != nil {
		t.Fatal(err)
	}
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
	conf := types.Config{Importer: importFunc(func(name string) (*types.Package, error) { return c.find(t, name) })}
	if _, err := conf.Check("p", c.set, []*ast.File{f}, info); err != nil {
		t.Fatal(err)
	}
	if n, bad := mapRanges(f, info); n != 7 || len(bad) != 4 {
		t.Errorf("%d of %d ranges are found to go over a map, expected 4 of 7", len(bad), n)
	}
}
