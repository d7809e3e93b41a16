package settings

import (
	"fmt"
	"math"
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
	switch k := s.Kind.(type) {
	case Bool:
		head = "  --[no-]" + s.Name
		facts = "default on"
		if s.Default == "false" {
			facts = "default off"
		}
	case Real:
		facts += inUnit(s.Unit) + "; " + k.bounds()
	case Int:
		facts += inUnit(s.Unit) + "; " + k.bounds()
	}
	if len(s.Env) > 0 {
		facts += "; " + s.Env[0]
	}
	return head + "\n" + wrap(s.Help+" ["+facts+"]", "      ")
}

func inUnit(unit string) string {
	if unit == "" {
		return ""
	}
	return ", in " + unit
}

func (k Real) bounds() string {
	switch {
	case k.Max < math.MaxFloat64 && k.Above:
		return "above " + FormatReal(k.Min) + ", up to " + FormatReal(k.Max)
	case k.Max < math.MaxFloat64:
		return FormatReal(k.Min) + " to " + FormatReal(k.Max)
	case k.Above:
		return "above " + FormatReal(k.Min)
	}
	return "at least " + FormatReal(k.Min)
}

func (k Int) bounds() string {
	if k.Max >= math.MaxInt32 {
		return fmt.Sprintf("at least %d", k.Min)
	}
	return fmt.Sprintf("%d to %d", k.Min, k.Max)
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
