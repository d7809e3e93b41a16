package manifest

import (
	"strings"

	"github.com/goccy/go-yaml/ast"

	"routesim/workloads"
)

// Node is a value of a YAML document that knows where it stands. The zero Node
// is absent.
type Node struct {
	File    string // as the user named it
	node    ast.Node
	anchors map[string]ast.Node
	before  int // lines of the file before the document
}

// Entry is a key of a mapping with its value.
type Entry struct {
	Key   string
	Line  int // of the key, 1-based
	Value Node
}

// deepest is how many aliases may lead from one to the next, and mostMerged how
// many mappings one mapping may merge, directly or not: aliases can make a short
// text endless.
const (
	deepest    = 32
	mostMerged = 100
)

// with returns another value of the same document.
func (n Node) with(v ast.Node) Node { return Node{n.File, v, n.anchors, n.before} }

// plain follows tags, anchors and aliases to the value itself; nil for an
// absent value, a null, and an alias that leads nowhere.
func (n Node) plain() ast.Node {
	v := n.node
	for range deepest {
		switch t := v.(type) {
		case *ast.AnchorNode:
			v = t.Value
		case *ast.TagNode:
			v = t.Value
		case *ast.AliasNode:
			v = n.anchors[t.Value.String()]
		case *ast.NullNode, nil:
			return nil
		default:
			return v
		}
	}
	return nil
}

// Exists reports whether the value is there and not null.
func (n Node) Exists() bool { return n.plain() != nil }

// Line is the line of the value's first character, 1-based; 0 if it is absent.
func (n Node) Line() int {
	if n.node == nil {
		return 0
	}
	if t := n.node.GetToken(); t != nil {
		return n.before + t.Position.Line
	}
	return 0
}

// Entries returns the keys of a mapping in the order written, with what it
// merges after them; ok is false for any other value. An absent value is an
// empty mapping.
func (n Node) Entries() (entries []Entry, ok bool) {
	left := mostMerged
	return n.entries(&left)
}

func (n Node) entries(left *int) (entries []Entry, ok bool) {
	var values []*ast.MappingValueNode
	switch v := n.plain().(type) {
	case nil:
		return nil, true
	case *ast.MappingNode:
		values = v.Values
	case *ast.MappingValueNode:
		values = []*ast.MappingValueNode{v}
	default:
		return nil, false
	}
	var merged []Entry
	for _, v := range values {
		if _, merge := v.Key.(*ast.MergeKeyNode); merge {
			merged = append(merged, n.with(v.Value).merged(left)...)
			continue
		}
		key := ""
		switch k := v.Key.(type) {
		case *ast.StringNode:
			key = k.Value
		default:
			key = strings.TrimSpace(v.Key.String())
		}
		line := 0
		if t := v.Key.GetToken(); t != nil {
			line = n.before + t.Position.Line
		}
		entries = append(entries, Entry{key, line, n.with(v.Value)})
	}
	have := map[string]bool{}
	for _, e := range entries {
		have[e.Key] = true
	}
	for _, e := range merged {
		if !have[e.Key] {
			have[e.Key] = true
			entries = append(entries, e)
		}
	}
	return entries, true
}

// merged returns what the value of a merge key brings in: a mapping or several.
func (n Node) merged(left *int) (entries []Entry) {
	from := []ast.Node{n.node}
	if list, ok := n.plain().(*ast.SequenceNode); ok {
		from = list.Values
	}
	for _, v := range from {
		if *left--; *left < 0 {
			break
		}
		more, _ := n.with(v).entries(left)
		entries = append(entries, more...)
	}
	return entries
}

// Get returns the value under a chain of keys; absent if there is none.
func (n Node) Get(keys ...string) Node {
	for _, key := range keys {
		entries, _ := n.Entries()
		next := Node{}
		for _, e := range entries {
			if e.Key == key {
				next = e.Value
			}
		}
		if n = next; n.node == nil {
			return Node{}
		}
	}
	return n
}

// Items returns the items of a list; ok is false for any other value. An absent
// value is an empty list.
func (n Node) Items() (items []Node, ok bool) {
	v := n.plain()
	if v == nil {
		return nil, true
	}
	list, ok := v.(*ast.SequenceNode)
	if !ok {
		return nil, false
	}
	for _, item := range list.Values {
		items = append(items, n.with(item))
	}
	return items, true
}

// Text returns a scalar as written; ok is false for any other value, an absent
// one included.
func (n Node) Text() (text string, ok bool) {
	switch v := n.plain().(type) {
	case *ast.StringNode:
		return v.Value, true
	case *ast.LiteralNode:
		return v.Value.Value, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return v.GetToken().Value, true
	}
	return "", false
}

// TextLine is the line of the first character of a scalar's text, which for a
// block scalar is the line after its indicator.
func (n Node) TextLine() int {
	if v, ok := n.plain().(*ast.LiteralNode); ok {
		return n.before + v.Start.Position.Line + 1
	}
	return n.Line()
}

// KeepsLines reports whether every line of a scalar's text is a line of the
// file, as in a block scalar that begins with |.
func (n Node) KeepsLines() bool {
	v, ok := n.plain().(*ast.LiteralNode)
	return ok && strings.HasPrefix(v.Start.Value, "|")
}

// Kind says in a word what the value is.
func (n Node) Kind() string {
	switch n.plain().(type) {
	case nil:
		return "nothing"
	case *ast.MappingNode, *ast.MappingValueNode:
		return "a mapping"
	case *ast.SequenceNode:
		return "a list"
	case *ast.StringNode, *ast.LiteralNode:
		return "a text"
	}
	return "a number or a switch"
}

// Problem says what is wrong with the value.
func (n Node) Problem(field, found, want string) error {
	return &workloads.Problem{File: n.File, Line: n.Line(), Field: field, Found: found, Want: want}
}
