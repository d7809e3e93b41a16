package parity

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// The outcomes of a comparison.
const (
	Equal       = "equal"
	Different   = "different"
	Unsupported = "unsupported"
)

// Report is the outcome of comparing one recording.
type Report struct {
	Golden         string         `json:"golden"`
	Status         string         `json:"status"`
	Rows           int            `json:"rows"`            // requests in the recording
	MismatchedRows int            `json:"mismatched_rows"` // requests with any difference, on either side
	Kinds          map[string]int `json:"kinds"`           // differences by field
	Compared       map[string]int `json:"compared"`        // comparisons by field
	Unsupported    string         `json:"unsupported"`     // why it was not replayed
	Failure        string         `json:"failure,omitempty"`

	// Differences are the first ones found, with what stands around them.
	Differences []Difference `json:"-"`
}

// Difference is one value that is not as recorded.
type Difference struct {
	Row      int // place in the recording
	Line     int // line of the trace, from 0 at the recording's offset; -1 for none
	Field    string
	Expected string // as recorded
	Got      string
	Context  []string // the request and its neighbours
}

// mostDifferences is how many differences of each kind a report keeps.
const mostDifferences = 3

func (g *Golden) emptyReport() Report {
	return Report{Golden: g.Name, Status: Different, Rows: len(g.records), Kinds: map[string]int{}, Compared: map[string]int{}}
}

// note keeps a difference unless there are enough of its kind, and says
// whether it did.
func (r *Report) note(d Difference) bool {
	n := 0
	for i := range r.Differences {
		if r.Differences[i].Field == d.Field {
			n++
		}
	}
	if n >= mostDifferences {
		return false
	}
	r.Differences = append(r.Differences, d)
	return true
}

// finish decides the status.
func (r *Report) finish() {
	if len(r.Kinds) == 0 && r.Failure == "" {
		r.Status = Equal
	}
}

// WriteText writes the report as one line; verbose adds the first differences
// of every kind below it.
func (r *Report) WriteText(w io.Writer, verbose bool) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%-11s %s: ", r.Status, r.Golden)
	switch {
	case r.Status == Unsupported:
		b.WriteString(r.Unsupported)
	case r.Failure != "":
		b.WriteString(r.Failure)
	default:
		fmt.Fprintf(&b, "%d rows", r.Rows)
		if r.Status == Different {
			fmt.Fprintf(&b, ", %d mismatched (%s)", r.MismatchedRows, counts(r.Kinds))
		}
		fmt.Fprintf(&b, "; compared %s", counts(r.Compared))
	}
	b.WriteByte('\n')
	if verbose {
		for i := range r.Differences {
			r.Differences[i].write(&b)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (d *Difference) write(b *strings.Builder) {
	where := "  run"
	if d.Line >= 0 {
		where = fmt.Sprintf("  line %d", d.Line)
	}
	fmt.Fprintf(b, "%s: %s: expected %s, got %s\n", where, d.Field, d.Expected, d.Got)
	for _, line := range d.Context {
		fmt.Fprintf(b, "    %s\n", line)
	}
}

// counts renders numbers by name, in order of names.
func counts(m map[string]int) string {
	parts := make([]string, 0, len(m))
	for _, name := range slices.Sorted(maps.Keys(m)) {
		parts = append(parts, fmt.Sprintf("%s %d", name, m[name]))
	}
	return strings.Join(parts, ", ")
}
