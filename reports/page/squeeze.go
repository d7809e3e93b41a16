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

// Signs that need no blank beside them.
const (
	scriptSigns = "=+-*/%<>(){}[],;:?!&|"
	styleSigns  = "{},;:>" // beside others, a blank may have a meaning
)

// squeeze takes comments that fill lines, indentation and blanks beside signs
// out of a style or a script. What is in quotes stays as it is.
func squeeze(text, signs string) string {
	var b strings.Builder
	quoted := byte(0) // of a text that goes on
	for _, l := range strings.Split(text, "\n") {
		if quoted == 0 {
			l = strings.TrimSpace(l)
			if l == "" || strings.HasPrefix(l, "//") || strings.HasPrefix(l, "/*") && strings.HasSuffix(l, "*/") {
				continue
			}
		}
		quoted = squeezeLine(&b, l, signs, quoted)
		// A line that ends in one of these needs no break.
		if quoted != 0 || strings.IndexByte(";{,", l[len(l)-1]) < 0 {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

func squeezeLine(b *strings.Builder, l, signs string, quoted byte) byte {
	for i := 0; i < len(l); i++ {
		c := l[i]
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
		case c == ' ' && i > 0 && i+1 < len(l) && needless(l[i-1], l[i+1], signs):
			continue
		}
		b.WriteByte(c)
	}
	return quoted
}

// needless tells whether a blank between two characters may go: beside a sign,
// but not where two signs would become another one, as in a - -b.
func needless(before, after byte, signs string) bool {
	if before == after && strings.IndexByte("+-/<>&|", before) >= 0 {
		return false
	}
	return strings.IndexByte(signs, before) >= 0 || strings.IndexByte(signs, after) >= 0
}
