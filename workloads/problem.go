package workloads

import "fmt"

// Problem says what is wrong with one place of an input file: where it is,
// what was found there, what was expected, and how to mend it.
type Problem struct {
	File  string // as the user named it; "-" is standard input
	Line  int    // 1-based, 0 where the file as a whole is meant
	Field string // "" where the whole row is meant
	Found string // the offending value as written, "" where it is absent
	Want  string // what was expected, and how to mend it

	fatal bool // concerns more than the row: reading ends even where bad rows are skipped
}

// Error renders the problem as one line: file:line: field: found …, expected ….
func (p *Problem) Error() string {
	where := p.File
	if p.Line > 0 {
		where = fmt.Sprintf("%s:%d", p.File, p.Line)
	}
	if p.Field != "" {
		where += ": " + p.Field
	}
	if p.Found == "" {
		return fmt.Sprintf("%s: expected %s", where, p.Want)
	}
	return fmt.Sprintf("%s: found %s, expected %s", where, p.Found, p.Want)
}
