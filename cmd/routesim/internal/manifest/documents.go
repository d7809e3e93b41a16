package manifest

import (
	"errors"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"routesim/models/yamltext"
	"routesim/workloads"
)

// document is the text of one YAML document.
type document struct {
	text   string
	before int // lines of the file before it
}

// documents cuts a text into its documents. A line that begins with --- or ...
// parts them wherever it stands, also inside a block scalar. The parser itself
// would drop everything after an empty document.
func documents(text string) (list []document) {
	var b strings.Builder
	line, start := 0, 0
	content := false // the document has more than comments and directives
	flush := func(next int) {
		if content {
			list = append(list, document{b.String(), start})
		}
		b.Reset()
		start, content = next, false
	}
	for l := range strings.Lines(text) {
		line++
		rest, begins := cutMarker(l, "---")
		if _, ends := cutMarker(l, "..."); ends {
			flush(line)
			continue
		}
		if begins {
			flush(line - 1)
			l = "   " + rest
		}
		switch trimmed := strings.TrimSpace(l); {
		case !content && strings.HasPrefix(l, "%"):
			l = "\n"
		case trimmed != "" && !strings.HasPrefix(trimmed, "#"):
			content = true
		}
		b.WriteString(l)
	}
	flush(line)
	return list
}

// cutMarker cuts a marker off the beginning of a line that it begins.
func cutMarker(line, marker string) (rest string, ok bool) {
	rest, ok = strings.CutPrefix(line, marker)
	return rest, ok && (rest == "" || strings.ContainsAny(rest[:1], " \t\r\n"))
}

// parse parses the documents of a text.
func parse(file string, text []byte) (roots []Node, err error) {
	for _, d := range documents(string(text)) {
		more, err := d.parse(file)
		if err != nil {
			return nil, err
		}
		roots = append(roots, more...)
	}
	return roots, nil
}

func (d *document) parse(file string) (roots []Node, err error) {
	defer func() {
		if p := recover(); p != nil { // the parser panics on some malformed texts
			roots, err = nil, &workloads.Problem{File: file, Line: d.before + 1, Want: "valid YAML" + templated(d.text)}
		}
	}()
	if f := yamltext.Check([]byte(d.text)); f != nil {
		return nil, &workloads.Problem{File: file, Line: d.before + max(f.Line, 1), Found: f.Found, Want: f.Want}
	}
	f, err := parser.ParseBytes([]byte(d.text), 0)
	if err != nil {
		return nil, d.syntax(file, err)
	}
	for _, one := range f.Docs {
		if one.Body == nil {
			continue
		}
		v := anchors{}
		ast.Walk(v, one.Body)
		roots = append(roots, Node{file, one.Body, v, d.before})
	}
	return roots, nil
}

// anchors collects the anchors of a document by name.
type anchors map[string]ast.Node

// Visit implements ast.Visitor.
func (a anchors) Visit(n ast.Node) ast.Visitor {
	if t, ok := n.(*ast.AnchorNode); ok {
		a[t.Name.String()] = t.Value
	}
	return a
}

// syntax turns an error of the parser into a problem with its line.
func (d *document) syntax(file string, err error) error {
	p := &workloads.Problem{File: file, Line: d.before + 1, Want: "valid YAML" + templated(d.text)}
	var e yaml.Error
	if errors.As(err, &e) {
		p.Want += ": " + strings.Join(strings.Fields(e.GetMessage()), " ")
		if t := e.GetToken(); t != nil {
			p.Line = d.before + t.Position.Line
		}
	}
	return p
}

// templated explains a text that a tool has yet to turn into YAML.
func templated(text string) string {
	if strings.Contains(text, "{{") {
		return " (a template is rendered first, as with helm template)"
	}
	return ""
}
