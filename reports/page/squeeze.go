package page

import (
	"regexp"
	"strconv"
	"strings"
)

// shortNames replaces the names of a style's variables by short ones, in the
// order in which they come.
func shortNames(style string) string {
	names := map[string]string{}
	return regexp.MustCompile(`--[a-z][a-z0-9]*`).ReplaceAllStringFunc(style, func(name string) string {
		if names[name] == "" {
			names[name] = "--" + string(rune('a'+len(names)%26)) + strings.Repeat(strconv.Itoa(len(names)/26), min(1, len(names)/26))
		}
		return names[name]
	})
}

// pageStyle and pageScript are what the page carries.
func pageStyle() string { return shortNames(squeeze(styleText, styleSigns)) }

// A name that is never set again need not be a const.
func pageScript() string {
	return regexp.MustCompile(`\bconst\b`).ReplaceAllString(squeeze(plotsText+toolsText+scriptText, scriptSigns), "let")
}

// Signs that need no blank beside them.
const (
	scriptSigns = "=+-*/%<>(){}[],;:?!&|"
	styleSigns  = "{},;>" // beside others, a blank may have a meaning
)

// squeeze takes comments that fill lines, indentation, breaks of lines, and blanks
// and semicolons without a use out of a style or a script. What is in quotes
// stays as it is; no backquotes may stand within backquotes. Every statement of a
// script must end in a semicolon or a brace.
func squeeze(text, signs string) string {
	var lines []string
	for l := range strings.Lines(text) {
		l = strings.TrimSpace(l)
		if l != "" && !strings.HasPrefix(l, "//") && !(strings.HasPrefix(l, "/*") && strings.HasSuffix(l, "*/")) {
			lines = append(lines, l)
		}
	}
	l := strings.Join(lines, " ")
	var b strings.Builder
	quoted := byte(0)

	for i := 0; i < len(l); i++ {
		c := l[i]
		next := byte('}') // ends everything
		if i+1 < len(l) {
			next = l[i+1]
		}
		switch {
		case quoted != 0:
			if c == '\\' && i+1 < len(l) {
				b.WriteByte(c)
				i++
				c = l[i]
			} else if c == quoted {
				quoted = 0
			}
		case c == '\'' || c == '"' || c == '`':
			quoted = c
		case c == ' ' && i > 0 && needless(l[i-1], next, signs), c == ';' && strings.HasPrefix(strings.TrimLeft(l[i+1:], " "), "}"):
			continue
		}
		b.WriteByte(c)
	}
	return b.String()
}

// needless tells whether a blank between two characters may go: beside a sign,
// but not where two signs would become another one, as in a - -b.
func needless(before, after byte, signs string) bool {
	if before == after && strings.IndexByte("+-/<>&|", before) >= 0 {
		return false
	}
	return strings.IndexByte(signs, before) >= 0 || strings.IndexByte(signs, after) >= 0
}
