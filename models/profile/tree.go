package profile

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"routesim/models/yamltext"
)

// tree knows the keys of a YAML file and their lines, for errors.
type tree struct {
	file  string
	lines map[string]int // by path, such as step.T_ms
	order []string       // paths in the order of the file
}

// parseTree reads the keys of a YAML text, without their values.
func parseTree(file string, text []byte) (*tree, error) {
	if f := yamltext.Check(text); f != nil {
		return nil, fmt.Errorf("%s:%d: found %s, expected %s", file, max(f.Line, 1), f.Found, f.Want)
	}
	parsed, err := parser.ParseBytes(text, 0)
	if err != nil {
		return nil, yamlError(file, err)
	}
	t := &tree{file: file, lines: map[string]int{}}
	if len(parsed.Docs) != 1 || parsed.Docs[0].Body == nil {
		return nil, fmt.Errorf("%s: found %d YAML documents, expected one with a profile", file, len(parsed.Docs))
	}
	if _, ok := parsed.Docs[0].Body.(*ast.MappingNode); !ok {
		return nil, fmt.Errorf("%s:1: found %s, expected the keys of a profile", file, strings.ToLower(parsed.Docs[0].Body.Type().String()))
	}
	if err := t.walk(parsed.Docs[0].Body, ""); err != nil {
		return nil, err
	}
	return t, nil
}

// walk records the keys below a node.
func (t *tree) walk(node ast.Node, prefix string) error {
	mapping, ok := node.(*ast.MappingNode)
	if !ok {
		switch node.(type) {
		case *ast.AnchorNode, *ast.AliasNode, *ast.TagNode:
			return fmt.Errorf("%s:%d: found an anchor, alias or tag, expected plain values", t.file, node.GetToken().Position.Line)
		}
		return nil
	}
	for _, pair := range mapping.Values {
		line := pair.Key.GetToken().Position.Line
		if pair.Key.IsMergeKey() {
			return fmt.Errorf("%s:%d: found a merge key, expected plain keys", t.file, line)
		}
		path := prefix + pair.Key.GetToken().Value
		if first, ok := t.lines[path]; ok {
			return fmt.Errorf("%s:%d: %s: found the key again, expected it once (first on line %d)", t.file, line, path, first)
		}
		t.lines[path] = line
		t.order = append(t.order, path)
		if err := t.walk(pair.Value, path+"."); err != nil {
			return err
		}
	}
	return nil
}

// checkKeys refuses unknown keys and misses required ones.
func (t *tree) checkKeys(known map[string]bool) error {
	for _, path := range t.order {
		if _, ok := known[path]; !ok {
			return field(path, "found an unknown key%s", suggest(path, slices.Collect(maps.Keys(known))))
		}
	}
	for _, path := range slices.Sorted(maps.Keys(known)) {
		parent := ""
		if i := strings.LastIndexByte(path, '.'); i >= 0 {
			parent = path[:i]
		}
		_, there := t.lines[path]
		_, parentThere := t.lines[parent]
		if known[path] && !there && (parent == "" || parentThere) {
			return field(path, "found no such key, expected one")
		}
	}
	return nil
}

// locate puts the file and the line of its field before an error.
func (t *tree) locate(err error) error {
	var f *FieldError
	if !errors.As(err, &f) {
		return fmt.Errorf("%s: %w", t.file, err)
	}
	path, _, _ := strings.Cut(f.Field, "[")
	for path != "" {
		if line, ok := t.lines[path]; ok {
			return fmt.Errorf("%s:%d: %w", t.file, line, err)
		}
		path = path[:max(strings.LastIndexByte(path, '.'), 0)]
	}
	return fmt.Errorf("%s:1: %w", t.file, err)
}

// yamlError puts an error of the YAML library into one line.
func yamlError(file string, err error) error {
	var e yaml.Error
	if errors.As(err, &e) && e.GetToken() != nil && e.GetToken().Position != nil {
		return fmt.Errorf("%s:%d: found unusable YAML: %s", file, e.GetToken().Position.Line, oneLine(e.GetMessage()))
	}
	return fmt.Errorf("%s: found unusable YAML: %s", file, oneLine(err.Error()))
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
