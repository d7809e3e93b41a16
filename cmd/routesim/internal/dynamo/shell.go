package dynamo

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// shell follows a script as far as it runs Dynamo: its variables and its simple
// commands. What a script decides while it runs stays unknown.
type shell struct {
	component *component
	script    *script
	report    *report
	vars      map[string]string
	found     []*command
}

// The longest script that is followed, and the longest value that a variable
// keeps, in bytes. They bound what a script of doubling variables can grow to.
const (
	maxScript = 64 << 10
	maxValue  = 4 << 10
)

// runScript returns the commands of a script that run a Dynamo module. The
// variables that the script exports become variables of the container.
func (c *component) runScript(s *script, r *report) ([]*command, error) {
	if len(s.text) > maxScript {
		return nil, s.node.Problem(c.field, fmt.Sprintf("%d bytes", len(s.text)), fmt.Sprintf("a shell script of at most %d", maxScript))
	}
	sh := &shell{component: c, script: s, report: r, vars: map[string]string{}}
	for _, name := range c.env.names {
		if v := c.env.vars[name]; v.known {
			sh.vars[name] = v.value
		}
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(s.text), "")
	var bad syntax.ParseError
	if errors.As(err, &bad) {
		return nil, sh.place(bad.Pos).problem(c.field, bad.Text, "a shell script")
	}
	if err != nil {
		return nil, s.node.Problem(c.field, err.Error(), "a shell script")
	}
	depth := []bool{} // whether the node runs only under a condition or in a loop
	syntax.Walk(file, func(n syntax.Node) bool {
		if n == nil {
			depth = depth[:len(depth)-1]
			return true
		}
		depth = append(depth, conditional(n))
		enter := sh.visit(n, slices.Contains(depth, true))
		if !enter {
			depth = depth[:len(depth)-1]
		}
		return enter
	})
	return sh.found, nil
}

// conditional reports whether what is inside a node may not run, or may run
// more than once.
func conditional(n syntax.Node) bool {
	switch n.(type) {
	case *syntax.IfClause, *syntax.WhileClause, *syntax.ForClause, *syntax.CaseClause, *syntax.FuncDecl:
		return true
	}
	return false
}

// place is where a position of the script stands in the manifest. Only a block
// scalar keeps the lines of its text.
func (sh *shell) place(pos syntax.Pos) place {
	line := sh.script.node.TextLine()
	if sh.script.node.KeepsLines() && pos.Line() > 0 {
		line += int(pos.Line()) - 1
	}
	return place{sh.script.node.File, line}
}

func (sh *shell) visit(n syntax.Node, conditional bool) bool {
	switch n := n.(type) {
	case *syntax.DeclClause:
		for _, a := range n.Args {
			sh.assign(a, n.Variant.Value == "export")
		}
		return false
	case *syntax.CallExpr:
		for _, a := range n.Assigns {
			sh.assign(a, len(n.Args) > 0 && sh.runsDynamo(n))
		}
		if len(n.Args) > 0 {
			sh.call(n, conditional)
		}
		return false
	}
	return true
}

// assign gives a variable its value; an exported one is the container's too.
func (sh *shell) assign(a *syntax.Assign, export bool) {
	if a.Name == nil {
		return
	}
	name := a.Name.Value
	switch {
	case a.Array != nil || a.Append || a.Index != nil:
		delete(sh.vars, name)
	case a.Value != nil:
		fields, ok := sh.expand(a.Value)
		if !ok || len(strings.Join(fields, " ")) > maxValue {
			delete(sh.vars, name)
			break
		}
		sh.vars[name] = strings.Join(fields, " ")
	}
	_, had := sh.component.env.vars[name]
	value, known := sh.vars[name]
	if export || had {
		sh.component.env.set(name, variable{value, known, sh.place(a.Pos())})
	}
}

// runsDynamo reports whether a command names a Dynamo module as it is written.
func (sh *shell) runsDynamo(n *syntax.CallExpr) bool {
	return slices.ContainsFunc(n.Args, func(w *syntax.Word) bool { return moduleName.MatchString(w.Lit()) })
}

// call takes a simple command apart.
func (sh *shell) call(n *syntax.CallExpr, conditional bool) {
	var words []word
	for _, w := range n.Args {
		fields, ok := sh.expand(w)
		if why := sh.missing(w); !ok || len(why) > 0 {
			fields = []string{sh.source(w)}
		}
		for _, f := range fields {
			words = append(words, word{f, sh.place(w.Pos())})
		}
	}
	found := modulesOf(words)
	if len(found) == 0 {
		return
	}
	if path.Base(words[0].text) == "env" {
		for _, w := range words[1:] {
			if name, value, ok := strings.Cut(w.text, "="); ok && syntax.ValidName(name) {
				sh.component.env.set(name, variable{value, true, w.at})
			}
		}
	}
	if conditional {
		sh.report.unknown(sh.component, "a condition or a loop around "+found[0].module, found[0].at, "it is taken to run once")
	}
	for _, w := range n.Args {
		for _, m := range sh.missing(w) {
			sh.report.unknown(sh.component, m[0], sh.place(w.Pos()), m[1])
		}
	}
	sh.found = append(sh.found, found...)
}

// expand expands a word; ok is false where only a running shell could.
func (sh *shell) expand(w *syntax.Word) ([]string, bool) {
	config := &expand.Config{Env: expand.FuncEnviron(func(name string) string { return sh.vars[name] })}
	if text := sh.source(w); strings.Contains(text, "{") && strings.Contains(text, "..") {
		return nil, false // a range of braces, which may be endless
	}
	fields, err := expand.Fields(config, w)
	return fields, err == nil
}

// source is a word as written.
func (sh *shell) source(w *syntax.Word) string {
	from, to := int(w.Pos().Offset()), int(w.End().Offset())
	if from > to || to > len(sh.script.text) {
		return ""
	}
	return sh.script.text[from:to]
}

// missing lists what a word takes from a variable or a command that is not
// known, each with why. Such a word is taken as it is written.
func (sh *shell) missing(w *syntax.Word) (list [][2]string) {
	syntax.Walk(w, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst:
			list = append(list, [2]string{show(sh.source(w)), "a command's output"})
			return false
		case *syntax.ParamExp:
			if n.Param == nil {
				return true
			}
			if _, ok := sh.vars[n.Param.Value]; !ok && n.Exp == nil {
				list = append(list, [2]string{"$" + n.Param.Value, "no variable of the container has this name and a known value"})
			}
		}
		return true
	})
	return list
}
