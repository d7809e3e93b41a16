// Package yamltext refuses YAML texts that a parser could not take in
// reasonable time and memory, before one is parsed.
package yamltext

import (
	"bytes"
	"fmt"

	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/token"
)

// The bounds of a text. The parser's time and memory grow with the square of
// depth and of the keys of one mapping; the scanner of tokens, which finds both,
// is linear.
const (
	MaxBytes = 4 << 20 // of a document
	MaxDepth = 64      // collections, tags and anchors inside each other
	MaxKeys  = 1024    // of one mapping
)

// A text that begins with a byte order mark is refused in these words.
const (
	ByteOrderMark = "\ufeff"
	FoundMark     = "a byte order mark"
	WantNoMark    = "UTF-8 without one (save the file without it)"
)

// Fault says why a text is refused.
type Fault struct {
	Line        int // from 1, 0 for the whole text
	Found, Want string
}

// Check looks through a text; nil stands for one that may be parsed. It says
// nothing of whether the text is valid.
func Check(text []byte) (fault *Fault) {
	if len(text) > MaxBytes {
		return &Fault{0, fmt.Sprintf("%d bytes of YAML", len(text)), fmt.Sprintf("at most %d", MaxBytes)}
	}
	if bytes.HasPrefix(text, []byte(ByteOrderMark)) {
		return &Fault{1, FoundMark, WantNoMark}
	}
	defer func() {
		if p := recover(); p != nil { // the scanner panics on some malformed texts
			fault = &Fault{0, "malformed YAML", "valid YAML"}
		}
	}()
	s := scan{}
	for _, t := range lexer.Tokenize(string(text)) {
		if t.Position == nil {
			continue
		}
		s.take(t)
		if n := len(s.levels) + s.prefixes + s.colons; n > MaxDepth {
			return &Fault{t.Position.Line, "YAML nested deeper than " + fmt.Sprint(MaxDepth) + " levels", "fewer"}
		}
		if n := len(s.levels); n > 0 && s.levels[n-1].keys > MaxKeys {
			return &Fault{t.Position.Line, "more than " + fmt.Sprint(MaxKeys) + " keys in one mapping", "fewer"}
		}
	}
	return nil
}

// FirstAlias is the line of the first alias of a text that Check lets pass, 0
// where it has none. A few aliases of aliases stand for more than any memory
// holds.
func FirstAlias(text []byte) int {
	for _, t := range lexer.Tokenize(string(text)) {
		if t.Type == token.AliasType && t.Position != nil {
			return t.Position.Line
		}
	}
	return 0
}

// scan is where a scan of tokens stands.
type scan struct {
	levels   []level
	line     int // of the token before
	colons   int // of this line in block style, but the first
	values   int // colons of this line in block style
	prefixes int // tags and anchors in front of one value
	last     token.Type
}

// level is a collection that is open.
type level struct {
	column int // of a collection in block style, 0 for one in brackets
	keys   int
}

// flow tells whether the innermost collection is one in brackets.
func (s *scan) flow() bool {
	return len(s.levels) > 0 && s.levels[len(s.levels)-1].column == 0
}

func (s *scan) take(t *token.Token) {
	if t.Type == token.CommentType {
		return
	}
	fresh := t.Position.Line != s.line
	if fresh {
		s.line, s.colons, s.values = t.Position.Line, 0, 0
	}
	if t.Type == token.DocumentHeaderType || t.Type == token.DocumentEndType {
		*s = scan{line: s.line, last: t.Type}
		return
	}
	after := s.last == token.SequenceEntryType || s.last == token.MappingKeyType
	if !s.flow() && (fresh || after) {
		s.begin(t.Position.Column)
	}
	switch t.Type {
	case token.SequenceStartType, token.MappingStartType:
		s.levels = append(s.levels, level{})
	case token.SequenceEndType, token.MappingEndType:
		if s.flow() {
			s.levels = s.levels[:len(s.levels)-1]
		}
	case token.MappingValueType:
		if n := len(s.levels); n > 0 {
			s.levels[n-1].keys++
		}
		if !s.flow() {
			s.colons, s.values = s.values, s.values+1
		}
	}
	switch {
	case t.Type == token.TagType || t.Type == token.AnchorType:
		s.prefixes++
	case s.last != token.AnchorType: // else it is the anchor's name
		s.prefixes = 0
	}
	s.last = t.Type
}

// begin opens a level in block style at a column and closes those that end
// there.
func (s *scan) begin(column int) {
	n := len(s.levels)
	for n > 0 && s.levels[n-1].column > column {
		n--
	}
	if s.levels = s.levels[:n]; n == 0 || s.levels[n-1].column < column {
		s.levels = append(s.levels, level{column: column})
	}
}
