package settings

import (
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
)

// Entry is one setting of a resolved run.
type Entry struct {
	Name   string
	Value  any // nil, bool, int64, float64 or string
	Text   string
	Unit   string
	Origin string
}

// Entries lists every setting that a replay honours, in table order.
func (r *Resolved) Entries() []Entry {
	var list []Entry
	for _, s := range r.Settings() {
		v := s.Get(&r.Run)
		list = append(list, Entry{s.Name, s.plain(v), v.Text, s.Unit, r.origins[s.place].String()})
	}
	return list
}

// plain is a value as data formats write it.
func (s *Setting) plain(v Value) any {
	if v.None {
		return nil
	}
	switch s.Kind.(type) {
	case Real:
		return v.Num
	case Int:
		if v.Text == Auto {
			return v.Text
		}
		return v.Int
	case FleetKind:
		if v.Int > 0 {
			return v.Int
		}
		return v.Text
	case Bool:
		return v.Int == 1
	}
	return v.Text
}

// WriteYAML writes a configuration file that resolves to the same run, with the
// origin of every value as a comment.
func (r *Resolved) WriteYAML(w io.Writer) error {
	entries := r.Entries()
	lines, width := make([]string, len(entries)), 0
	for i, e := range entries {
		lines[i] = e.Name + ": " + yamlText(e)
		width = max(width, min(len(lines[i]), 52))
	}
	var b strings.Builder
	for i, e := range entries {
		comment := e.Origin
		if e.Unit != "" {
			comment += "; " + e.Unit
		}
		fmt.Fprintf(&b, "%-*s  # %s\n", width, lines[i], comment)
	}
	for _, p := range r.Passed {
		fmt.Fprintf(&b, "# no effect: %s\n", p)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

var plainYAML = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9./_-]*(:[A-Za-z0-9./_-]+)?$`)

// yamlText writes a value as YAML; a text that is more than a plain word is
// quoted.
func yamlText(e Entry) string {
	s, ok := e.Value.(string)
	if !ok || plainYAML.MatchString(s) {
		return e.Text
	}
	return strconv.Quote(s)
}

// WriteJSON writes {"settings": {NAME: {"value": ..., "origin": ...}}}.
func (r *Resolved) WriteJSON(w io.Writer) error {
	var b strings.Builder
	b.WriteString("{\n  \"settings\": {")
	for i, e := range r.Entries() {
		value, err := json.Marshal(e.Value)
		if err != nil {
			return err
		}
		origin, err := json.Marshal(e.Origin)
		if err != nil {
			return err
		}
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "\n    %q: {\"value\": %s, \"origin\": %s}", e.Name, value, origin)
	}
	b.WriteString("\n  }\n}\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// WriteCSV writes the columns setting, value and origin.
func (r *Resolved) WriteCSV(w io.Writer) error {
	var b strings.Builder
	b.WriteString("setting,value,origin\n")
	for _, e := range r.Entries() {
		fmt.Fprintf(&b, "%s,%s,%s\n", e.Name, csvText(e.Text), csvText(e.Origin))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func csvText(s string) string {
	if strings.ContainsAny(s, ",\"\n") {
		return `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
	}
	return s
}
