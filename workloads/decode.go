package workloads

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// decoder reads one JSON row strictly, token by token. Its problems name the
// field; the caller adds file and line.
type decoder struct {
	line []byte
	rd   bytes.Reader
	dec  jsontext.Decoder
}

// reset starts on a new line.
func (d *decoder) reset(line []byte) {
	d.line = line
	d.rd.Reset(line)
	// Keys that no format knows may repeat; those that one knows are watched.
	d.dec.Reset(&d.rd, jsontext.AllowDuplicateNames(true))
}

// row reads the line as one JSON object, handing each key to member, which
// must read or skip the value.
func (d *decoder) row(member func(key string) *Problem) *Problem {
	if at := invalidUTF8(d.line); at >= 0 {
		return &Problem{Found: fmt.Sprintf("byte 0x%02x at column %d", d.line[at], at+1), Want: "text in UTF-8"}
	}
	if p := d.object("", "one JSON object per line", member); p != nil {
		return p
	}
	at := d.dec.InputOffset()
	if _, err := d.dec.ReadToken(); err != io.EOF {
		rest := bytes.TrimSpace(d.line[at:])
		return &Problem{Found: excerpt(rest) + " after the row", Want: "one JSON object per line"}
	}
	return nil
}

// invalidUTF8 returns the offset of the first byte that is not UTF-8, or -1.
func invalidUTF8(s []byte) int {
	if utf8.Valid(s) {
		return -1
	}
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRune(s[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return -1
}

// object reads a JSON object.
func (d *decoder) object(field, want string, member func(key string) *Problem) *Problem {
	if k := d.dec.PeekKind(); k != '{' {
		return d.unexpected(field, want)
	}
	if _, err := d.dec.ReadToken(); err != nil {
		return d.syntax(err)
	}
	for {
		tok, err := d.dec.ReadToken()
		if err != nil {
			return d.syntax(err)
		}
		if tok.Kind() == '}' {
			return nil
		}
		if p := member(tok.String()); p != nil {
			return p
		}
	}
}

// unexpected reads whatever value comes next and refuses it.
func (d *decoder) unexpected(field, want string) *Problem {
	v, err := d.dec.ReadValue()
	if err != nil {
		return d.syntax(err)
	}
	return &Problem{Field: field, Found: excerpt(v), Want: want}
}

// syntax says where the line stops being JSON.
func (d *decoder) syntax(err error) *Problem {
	at := int64(len(bytes.TrimRight(d.line, " \t\r\n")))
	var se *jsontext.SyntacticError
	if errors.As(err, &se) && !errors.Is(err, io.ErrUnexpectedEOF) {
		at = min(at, se.ByteOffset)
	}
	rest := bytes.TrimRight(d.line[at:], " \t\r\n")
	if len(rest) == 0 {
		return &Problem{Found: fmt.Sprintf("the end of the line at column %d", at+1),
			Want: "the rest of the JSON object (is the file cut off?)"}
	}
	r, _ := utf8.DecodeRune(rest)
	return &Problem{Found: fmt.Sprintf("%q at column %d", r, at+1), Want: "valid JSON"}
}

// excerpt shortens a value for a message and shows what cannot be printed.
func excerpt(v []byte) string {
	const most = 40
	s := string(bytes.TrimSpace(v))
	if len(s) > most {
		end := most
		for !utf8.RuneStart(s[end]) {
			end--
		}
		s = s[:end] + "..."
	}
	for _, r := range s {
		if !strconv.IsPrint(r) || r == utf8.RuneError {
			return strconv.Quote(s)
		}
	}
	return s
}

// once notes that a known key was seen, and refuses it the second time.
func once(seen *fields, f fields, key string) *Problem {
	if *seen&f != 0 {
		return &Problem{Field: key, Found: "the field twice", Want: "each field once per row, under one of its names"}
	}
	*seen |= f
	return nil
}

// skip reads past a value.
func (d *decoder) skip() *Problem {
	if err := d.dec.SkipValue(); err != nil {
		return d.syntax(err)
	}
	return nil
}

// null reads past a null, which stands for an absent value.
func (d *decoder) null() bool {
	if d.dec.PeekKind() != 'n' {
		return false
	}
	_, err := d.dec.ReadToken()
	return err == nil
}

// number reads a JSON number as written.
func (d *decoder) number(field, want string) ([]byte, *Problem) {
	if d.dec.PeekKind() != '0' {
		return nil, d.unexpected(field, want)
	}
	v, err := d.dec.ReadValue()
	if err != nil {
		return nil, d.syntax(err)
	}
	return v, nil
}

// float reads a finite number.
func (d *decoder) float(field, want string) (float64, *Problem) {
	v, p := d.number(field, want)
	if p != nil {
		return 0, p
	}
	x, err := strconv.ParseFloat(string(v), 64)
	if err != nil || math.IsInf(x, 0) {
		return 0, &Problem{Field: field, Found: excerpt(v), Want: want}
	}
	return x, nil
}

// uint reads an unsigned integer up to most, written without fraction or
// exponent.
func (d *decoder) uint(field string, most uint64, want string) (uint64, *Problem) {
	v, p := d.number(field, want)
	if p != nil {
		return 0, p
	}
	n, ok := parseUint(v)
	if !ok || n > most {
		return 0, &Problem{Field: field, Found: excerpt(v), Want: want}
	}
	return n, nil
}

// parseUint reads digits; JSON has already refused leading zeros and signs
// other than a minus, which is no digit.
func parseUint(v []byte) (uint64, bool) {
	n := uint64(0)
	for _, c := range v {
		d := uint64(c - '0')
		if d > 9 || n > (math.MaxUint64-d)/10 {
			return 0, false
		}
		n = n*10 + d
	}
	return n, len(v) > 0
}

// text reads a string.
func (d *decoder) text(field, want string) ([]byte, *Problem) {
	if d.dec.PeekKind() != '"' {
		return nil, d.unexpected(field, want)
	}
	tok, err := d.dec.ReadToken()
	if err != nil {
		return nil, d.syntax(err)
	}
	return []byte(tok.String()), nil
}

// uints reads a list of unsigned integers up to most, and appends them to to.
func (d *decoder) uints(to []uint64, field string, most uint64) ([]uint64, *Problem) {
	want := "a list of whole numbers from 0 to " + strconv.FormatUint(most, 10)
	if d.dec.PeekKind() != '[' {
		return to, d.unexpected(field, want)
	}
	v, err := d.dec.ReadValue()
	if err != nil {
		return to, d.syntax(err)
	}
	from := len(to)
	for i := 1; ; {
		i = skipSpace(v, i)
		if v[i] == ']' {
			return to, nil
		}
		end := i
		for !endsNumber(v[end]) {
			end++
		}
		n, ok := parseUint(v[i:end])
		if !ok || n > most {
			return to, &Problem{Field: field + "[" + strconv.Itoa(len(to)-from) + "]", Found: element(v[i:]),
				Want: "a whole number from 0 to " + strconv.FormatUint(most, 10)}
		}
		to = append(to, n)
		if i = skipSpace(v, end); v[i] == ',' {
			i++
		}
	}
}

// skipSpace returns the first offset from i on that holds no white space.
func skipSpace(v []byte, i int) int {
	for v[i] == ' ' || v[i] == '\t' || v[i] == '\r' || v[i] == '\n' {
		i++
	}
	return i
}

func endsNumber(c byte) bool {
	return c == ',' || c == ']' || c == ' ' || c == '\t' || c == '\r' || c == '\n'
}

// element returns the first value in the rest of a valid list.
func element(rest []byte) string {
	v, err := jsontext.NewDecoder(bytes.NewReader(rest), jsontext.AllowDuplicateNames(true)).ReadValue()
	if err != nil {
		return excerpt(rest)
	}
	return excerpt(v)
}
