package gate

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"routesim/models/yamltext"
	"routesim/workloads"
)

// node is a part of a YAML text that knows its place.
type node struct {
	file string
	path string // of keys, for errors
	line int
	ast  ast.Node
}

// parseYAML parses a text that holds one document.
func parseYAML(file string, text []byte) (n node, err error) {
	defer func() {
		if p := recover(); p != nil { // the parser panics on some malformed texts
			n, err = node{}, &workloads.Problem{File: file, Found: "malformed YAML", Want: "a YAML mapping"}
		}
	}()
	if f := yamltext.Check(text); f != nil {
		return node{}, &workloads.Problem{File: file, Line: f.Line, Found: f.Found, Want: f.Want}
	}
	f, err := parser.ParseBytes(text, 0)
	if err != nil {
		return node{}, syntaxProblem(file, err)
	}
	root := node{file: file, line: 1}
	for _, d := range f.Docs {
		switch {
		case d.Body == nil:
		case root.ast != nil:
			return node{}, &workloads.Problem{File: file, Line: lineOf(d.Body), Found: "a second document", Want: "one document"}
		default:
			root.ast, root.line = d.Body, lineOf(d.Body)
		}
	}
	if root.ast == nil {
		return node{}, &workloads.Problem{File: file, Found: "nothing", Want: "a YAML mapping"}
	}
	return root, nil
}

func lineOf(n ast.Node) int {
	if t := n.GetToken(); t != nil && t.Position != nil {
		return t.Position.Line
	}
	return 0
}

func syntaxProblem(file string, err error) error {
	p := &workloads.Problem{File: file, Want: "valid YAML"}
	var e yaml.Error
	if errors.As(err, &e) {
		p.Want = "valid YAML: " + strings.Join(strings.Fields(e.GetMessage()), " ")
		if t := e.GetToken(); t != nil && t.Position != nil {
			p.Line = t.Position.Line
		}
	}
	return p
}

// problem is an error at the node's place.
func (n *node) problem(found, want string) error {
	return &workloads.Problem{File: n.file, Line: n.line, Field: plain(n.path), Found: found, Want: want}
}

// wrong is an error about the node's value.
func (n *node) wrong(want string) error { return n.problem(n.show(), want) }

// show repeats the node's value, shortened.
func (n *node) show() string {
	if text, ok := n.scalar(); ok {
		return quote(text)
	}
	switch n.ast.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		return "a mapping"
	case *ast.SequenceNode:
		return "a list"
	}
	return "something else"
}

// maxShown is the longest piece of input that an error repeats, in bytes.
const maxShown = 80

// quote prepares a value for a sentence.
func quote(text string) string {
	if len(text) > maxShown {
		text = text[:maxShown] + "..."
	}
	if text == "" || strings.ContainsAny(text, " \t\n,:") {
		return strconv.Quote(text)
	}
	return plain(text)
}

// plain quotes a text that would not stay on one line.
func plain(text string) string {
	if !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return strconv.Quote(text)
	}
	return text
}

// scalar returns the text of a scalar as written, "none" for null.
func (n *node) scalar() (string, bool) {
	switch a := n.ast.(type) {
	case *ast.NullNode:
		return "none", true
	case *ast.StringNode:
		return a.Value, true
	case *ast.LiteralNode:
		return a.Value.Value, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return a.GetToken().Value, true
	}
	return "", false
}

// member is an entry of a mapping.
type member struct {
	key string
	node
}

// members returns the entries of a mapping in their order.
func (n *node) members(want string) ([]member, error) {
	var values []*ast.MappingValueNode
	switch a := n.ast.(type) {
	case *ast.MappingNode:
		values = a.Values
	case *ast.MappingValueNode:
		values = []*ast.MappingValueNode{a}
	default:
		return nil, n.wrong(want)
	}
	var out []member
	for _, v := range values {
		key := node{file: n.file, path: n.path, line: lineOf(v.Key), ast: v.Key}
		name, ok := key.scalar()
		if !ok {
			return nil, key.wrong("the name of a key")
		}
		path := name
		if n.path != "" {
			path = n.path + "." + name
		}
		for _, m := range out {
			if m.key == name {
				return nil, key.problem(quote(name)+" again", "each key once")
			}
		}
		out = append(out, member{name, node{file: n.file, path: path, line: key.line, ast: v.Value}})
	}
	return out, nil
}

// items returns the elements of a list.
func (n *node) items(want string) ([]node, error) {
	a, ok := n.ast.(*ast.SequenceNode)
	if !ok {
		return nil, n.wrong(want)
	}
	out := make([]node, 0, len(a.Values))
	for i, v := range a.Values {
		out = append(out, node{file: n.file, path: fmt.Sprintf("%s[%d]", n.path, i+1), line: lineOf(v), ast: v})
	}
	return out, nil
}

// text returns a scalar that is not empty.
func (n *node) text(want string) (string, error) {
	if s, ok := n.scalar(); ok && strings.TrimSpace(s) != "" {
		return s, nil
	}
	return "", n.wrong(want)
}

// whole returns a whole number in a range.
func (n *node) whole(lo, hi int64) (int64, error) {
	s, ok := n.scalar()
	v, err := strconv.ParseInt(s, 10, 64)
	if !ok || err != nil || v < lo || v > hi {
		return 0, n.wrong(fmt.Sprintf("a whole number from %d to %d", lo, hi))
	}
	return v, nil
}
