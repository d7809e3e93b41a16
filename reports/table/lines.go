// Package table shows results of runs on a terminal of 80 columns.
package table

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"routesim/reports/format"
)

const (
	width  = 80 // columns, never exceeded
	gutter = 8  // columns of the label before a line
)

// Options say what the terminal can show.
type Options struct {
	UTF8  bool // characters beyond ASCII
	Color bool
	// Next is a command to run next, "" for none.
	Next string
}

// page collects lines.
type page struct {
	strings.Builder
	o Options
}

// The styles of text, as ANSI sequences.
const (
	bold   = "\x1b[1m"
	yellow = "\x1b[33m"
	reset  = "\x1b[0m"
)

// styled puts text into a style where the terminal knows any.
func (p *page) styled(style, text string) string {
	if !p.o.Color || style == "" || text == "" {
		return text
	}
	return style + text + reset
}

// sign returns the character proper where it can be shown, else its ASCII
// stand-in.
func (p *page) sign(ascii, proper string) string {
	if p.o.UTF8 {
		return proper
	}
	return ascii
}

func (p *page) line(text string) {
	p.WriteString(strings.TrimRight(text, " "))
	p.WriteByte('\n')
}

// entry writes text beside a label, wrapped to the width.
func (p *page) entry(label, text string) { p.styledEntry("", label, text) }

func (p *page) styledEntry(style, label, text string) {
	for i, line := range wrap(text, width-gutter) {
		if i > 0 {
			label = ""
		}
		p.line(p.styled(style, label) + strings.Repeat(" ", max(gutter-len(label), 0)) + line)
	}
}

// wrap breaks text at spaces into lines of at most n characters; a longer word
// is cut.
func wrap(text string, n int) []string {
	var lines []string
	line, used := "", 0
	for _, word := range format.Words(text) {
		for {
			size := utf8.RuneCountInString(word)
			if used > 0 && used+1+size <= n {
				line, used = line+" "+word, used+1+size
				break
			}
			if used > 0 {
				lines = append(lines, line)
				line, used = "", 0
			}
			if size <= n {
				line, used = word, size
				break
			}
			head := string([]rune(word)[:n])
			lines = append(lines, head)
			word = word[len(head):]
		}
	}
	if used > 0 {
		lines = append(lines, line)
	}
	return lines
}

// left and right pad text to n columns.
func left(text string, n int) string {
	return text + strings.Repeat(" ", max(n-utf8.RuneCountInString(text), 0))
}

func right(text string, n int) string {
	return strings.Repeat(" ", max(n-utf8.RuneCountInString(text), 0)) + text
}

// printable keeps text from a trace or a file name to characters that are seen
// as they are, and to ASCII where the terminal knows nothing else.
func (p *page) printable(text string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) || r >= 0x80 && !p.o.UTF8 {
			return '?'
		}
		return r
	}, text)
}
