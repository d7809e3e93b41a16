package settings

import (
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"routesim/cmd/routesim/internal/manifest"
	"routesim/models/yamltext"
	"routesim/workloads"
)

// mapping is a parsed YAML mapping whose entries know their line.
type mapping struct {
	file    string
	entries []entry
}

type entry struct {
	key  string
	line int
	node ast.Node
}

// readMapping parses a file that holds one YAML mapping. what names the setting
// that the file is from, "" where its caller does.
func readMapping(file, what string) (*mapping, error) {
	name, text, err := manifest.ReadFile(file)
	var p *workloads.Problem
	if errors.As(err, &p) {
		return nil, err
	}
	if err != nil {
		return nil, manifest.Unreadable(what, file, err, "a readable YAML file")
	}
	return parseMapping(name, text)
}

// parseMapping parses a text that holds one YAML mapping. The parser itself
// refuses a key given twice.
func parseMapping(file string, text []byte) (m *mapping, err error) {
	defer func() {
		if p := recover(); p != nil { // the parser panics on some malformed texts
			m, err = nil, &workloads.Problem{File: file, Want: "a YAML mapping of settings"}
		}
	}()
	if f := yamltext.Check(text); f != nil {
		return nil, &workloads.Problem{File: file, Line: f.Line, Found: f.Found, Want: f.Want}
	}
	f, err := parser.ParseBytes(text, 0)
	if err != nil {
		return nil, syntaxProblem(file, err)
	}
	m = &mapping{file: file}
	var docs []*ast.DocumentNode
	for _, d := range f.Docs {
		if d.Body != nil {
			docs = append(docs, d)
		}
	}
	switch len(docs) {
	case 0:
		return m, nil
	case 1:
	default:
		return nil, &workloads.Problem{File: file, Line: docs[1].Body.GetToken().Position.Line, Found: "a second document", Want: "one document"}
	}
	return m, m.fill(docs[0].Body)
}

// fill reads the entries of a mapping node.
func (m *mapping) fill(body ast.Node) error {
	var values []*ast.MappingValueNode
	switch n := body.(type) {
	case *ast.MappingNode:
		values = n.Values
	case *ast.MappingValueNode:
		values = []*ast.MappingValueNode{n}
	case *ast.NullNode:
	default:
		return &workloads.Problem{File: m.file, Line: body.GetToken().Position.Line, Found: short(body), Want: "a mapping (key: value)"}
	}
	for _, v := range values {
		t := v.Key.GetToken()
		if _, ok := v.Key.(*ast.StringNode); !ok {
			return &workloads.Problem{File: m.file, Line: t.Position.Line, Found: short(v.Key), Want: "the name of a setting"}
		}
		m.entries = append(m.entries, entry{t.Value, t.Position.Line, v.Value})
	}
	return nil
}

func short(n ast.Node) string {
	text, _, more := strings.Cut(strings.TrimSpace(n.String()), "\n")
	if more || len(text) > 40 {
		text = cut(text, 40) + "..."
	}
	return show(text)
}

func syntaxProblem(file string, err error) error {
	p := &workloads.Problem{File: file, Want: "valid YAML"}
	var e yaml.Error
	if errors.As(err, &e) {
		p.Want = "valid YAML: " + strings.Join(strings.Fields(e.GetMessage()), " ")
		if t := e.GetToken(); t != nil {
			p.Line = t.Position.Line
		}
	}
	return p
}

// scalar returns the text of a scalar as written, "none" for null.
func scalar(n ast.Node) (string, bool) {
	switch n := n.(type) {
	case *ast.NullNode:
		return None, true
	case *ast.StringNode:
		return n.Value, true
	case *ast.LiteralNode: // a text over several lines, after > or |
		return strings.TrimRight(n.Value.Value, "\n"), true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return n.GetToken().Value, true
	}
	return "", false
}

// given turns an entry into a value of a setting.
func (m *mapping) given(e *entry, s *Setting, layer Layer) (Given, error) {
	g := Given{
		Setting: s,
		Origin:  Origin{layer, fmt.Sprintf("%s:%d", m.file, e.line)},
		Place:   workloads.Problem{File: m.file, Line: e.line, Field: e.key},
	}
	text, ok := scalar(e.node)
	if w, word := s.Kind.(Word); !ok && word && w.Hint == "JSON" {
		text, ok = strings.TrimSpace(e.node.String()), true // a JSON object is a mapping to YAML
	}
	if !ok {
		return g, g.problem(short(e.node), s.Kind.Expected())
	}
	g.Text = text
	return g, nil
}

// fromFile reads the configuration file.
func (t *Table) fromFile(file string) ([]Given, error) {
	if file == "" {
		return nil, nil
	}
	m, err := readMapping(file, "--config")
	if err != nil {
		return nil, err
	}
	return t.settingsOf(m)
}

func (t *Table) settingsOf(m *mapping) ([]Given, error) {
	var given []Given
	lines := map[*Setting]int{}
	for i := range m.entries {
		e := &m.entries[i]
		s, ok := t.Lookup(e.key)
		if !ok {
			return nil, unknownKey(m.file, e.line, e.key, t.Nearest(e.key), "a setting of routesim replay (see routesim replay --help)")
		}
		if lines[s] > 0 {
			return nil, &workloads.Problem{File: m.file, Line: e.line, Field: e.key, Found: fmt.Sprintf("the setting of line %d again", lines[s]), Want: "each setting once"}
		}
		lines[s] = e.line
		g, err := m.given(e, s, FromFile)
		if err != nil {
			return nil, err
		}
		given = append(given, g)
	}
	return given, nil
}

// unknownKey is the error for a key that nothing knows.
func unknownKey(file string, line int, key, near, want string) error {
	p := &workloads.Problem{File: file, Line: line, Field: plainText(key), Found: "an unknown key", Want: want}
	if near != "" {
		p.Found += fmt.Sprintf(" (did you mean %s?)", near)
	}
	return p
}

// policySections are the parts of a policy file besides the router section.
func policySections() []string {
	return []string{"default_policy_family", "uncached_isl_buckets", "policy_classes", "models", "worker_selection", "request_classifier"}
}

// readPolicyFile is a policy file that was read, or the reason why it was not.
type readPolicyFile struct {
	once  sync.Once
	given []Given
	file  *policyFile
	err   error
}

// policy reads a policy file, once for all points of a sweep. what is that of
// readMapping.
func (s *Sources) policy(name, what string) *readPolicyFile {
	held, _ := s.policies.LoadOrStore([2]string{name, what}, &readPolicyFile{})
	p := held.(*readPolicyFile)
	p.once.Do(func() { p.given, p.file, p.err = s.table.readPolicy(name, what) })
	return p
}

// readPolicy reads a policy file. what is that of readMapping.
func (t *Table) readPolicy(file, what string) ([]Given, *policyFile, error) {
	m, err := readMapping(file, what)
	if err != nil {
		return nil, nil, err
	}
	return t.policyOf(m)
}

func (t *Table) policyOf(m *mapping) (given []Given, f *policyFile, err error) {
	f = &policyFile{name: m.file}
	for i := range m.entries {
		e := &m.entries[i]
		if e.key == "router" {
			given, err = t.routerSection(m, e)
		} else {
			err = f.section(m, e)
		}
		if err != nil {
			return nil, nil, err
		}
	}
	if len(m.entries) == 0 {
		return nil, nil, &workloads.Problem{File: m.file, Found: "no section", Want: "at least one of router, " + strings.Join(policySections(), ", ")}
	}
	f.profile, err = readProfile(m, "")
	return given, f, err
}

// routerSection reads the settings of a policy file.
func (t *Table) routerSection(m *mapping, e *entry) (given []Given, err error) {
	section, err := m.under(e, e.key)
	if err != nil {
		return nil, err
	}
	for i := range section.entries {
		e := &section.entries[i]
		s := t.policyKey(e.key)
		if s == nil {
			return nil, unknownKey(m.file, e.line, "router."+e.key, t.nearestPolicyKey(e.key), "a setting of a policy file's router section")
		}
		g, err := section.given(e, s, FromPolicy)
		if err != nil {
			return nil, err
		}
		given = append(given, g)
	}
	return given, nil
}

// dynamoField is Dynamo's name of a setting in its configuration objects.
func (s *Setting) dynamoField() string {
	if s.Field != "" {
		return s.Field
	}
	return snake(s.Name)
}

func (t *Table) policyKey(key string) *Setting {
	for _, s := range t.list {
		if s.Router && s.dynamoField() == key {
			return s
		}
	}
	return nil
}

func (t *Table) nearestPolicyKey(key string) string {
	var keys []string
	for _, s := range t.list {
		if s.Router {
			keys = append(keys, s.dynamoField())
		}
	}
	return Nearest(key, keys)
}
