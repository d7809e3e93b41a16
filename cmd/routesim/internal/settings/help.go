package settings

import (
	"fmt"
	"strings"
)

// helpWidth is the width of help texts in columns.
const helpWidth = 80

// Usage describes every setting that a replay honours, by group.
func (t *Table) Usage() string {
	var b strings.Builder
	for _, g := range Groups() {
		fmt.Fprintf(&b, "\n%s:\n", g)
		for _, s := range t.list {
			if s.Group == g && s.Support == Honoured {
				b.WriteString(s.usage())
			}
		}
	}
	return b.String()
}

func (s *Setting) usage() string {
	head := "  --" + s.Name
	if m := s.Kind.Meta(); m != "" {
		head += " " + m
	}
	facts := "default " + s.Default
	if s.Unit != "" && s.Default != None {
		facts += " " + s.Unit
	} else if s.Unit != "" {
		facts += ", in " + s.Unit
	}
	switch k := s.Kind.(type) {
	case Real, Int:
		facts += "; " + k.Expected()
	case Bool:
		if s.Default == "true" {
			head = "  --no-" + s.Name
			facts = "default: on"
		} else {
			facts = "default: off"
		}
	}
	if len(s.Env) > 0 {
		facts += "; " + s.Env[0]
	}
	return head + "\n" + wrap(s.Help+" ["+facts+"]", "      ")
}

// wrap breaks a text into indented lines.
func wrap(text, indent string) string {
	var b strings.Builder
	line := indent
	for _, word := range strings.Fields(text) {
		if len(line) > len(indent) && len(line)+1+len(word) > helpWidth {
			b.WriteString(line + "\n")
			line = indent
		}
		if len(line) > len(indent) {
			line += " "
		}
		line += word
	}
	return b.String() + line + "\n"
}
