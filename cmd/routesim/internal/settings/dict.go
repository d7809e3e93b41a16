package settings

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"

	"routesim/cmd/routesim/internal/manifest"
	"routesim/models/yamltext"
	"routesim/workloads"
)

// fromDict reads the oracle's engine dictionary, given as JSON or as the path
// of a JSON file: {"engine": {...}, "dp_size": ...}, or the engine's fields
// without the nesting.
func (t *Table) fromDict(arg string) ([]Given, error) {
	return t.dictionary("extra-engine-args", arg)
}

// dictionary reads an engine dictionary that the given flag names.
func (t *Table) dictionary(flag, arg string) ([]Given, error) {
	if strings.TrimSpace(arg) == "" {
		return nil, nil
	}
	text, file := []byte(arg), ""
	if !strings.HasPrefix(strings.TrimSpace(arg), "{") {
		var err error
		text, err = os.ReadFile(arg)
		if errors.Is(err, fs.ErrNotExist) && json.Valid([]byte(arg)) {
			return nil, fmt.Errorf("--%s: found %s, expected a JSON object or the path of a JSON file", flag, show(arg))
		}
		if err != nil {
			return nil, manifest.Unreadable("--"+flag, arg, err, "a JSON object or the path of a JSON file")
		}
		file = arg
	}
	return t.dictOf(flag, file, text)
}

func (t *Table) dictOf(flag, file string, text []byte) ([]Given, error) {
	r := &dictReader{table: t, flag: flag, file: file, text: text, dec: json.NewDecoder(bytes.NewReader(text))}
	r.dec.UseNumber()
	if bytes.HasPrefix(text, []byte(yamltext.ByteOrderMark)) {
		return nil, r.problem("", yamltext.FoundMark, yamltext.WantNoMark)
	}
	if tok, err := r.dec.Token(); err != nil || tok != json.Delim('{') {
		return nil, r.syntax(err, "a JSON object")
	}
	if err := r.object(""); err != nil {
		return nil, err
	}
	if err := r.end(); err != nil {
		return nil, err
	}
	return r.given, nil
}

// end makes sure that nothing follows the object that has been read.
func (r *dictReader) end() error {
	rest := bytes.TrimLeft(r.text[r.dec.InputOffset():], " \t\r\n")
	if len(rest) == 0 {
		return nil
	}
	p := r.place("")
	if r.file != "" {
		p.Line = 1 + bytes.Count(r.text[:len(r.text)-len(rest)], []byte("\n"))
	}
	first, _, _ := bytes.Cut(rest, []byte("\n"))
	g := Given{Place: p}
	return g.problem(show(strings.TrimSpace(string(first))), "nothing after the object")
}

// dictReader walks through the dictionary token by token, so that every error
// has its line and a key given twice is seen.
type dictReader struct {
	table *Table
	flag  string
	file  string
	text  []byte
	dec   *json.Decoder
	seen  map[string]bool
	given []Given
}

// line returns the line of the token just read, 0 outside files.
func (r *dictReader) line() int {
	if r.file == "" {
		return 0
	}
	return 1 + bytes.Count(r.text[:r.dec.InputOffset()], []byte("\n"))
}

func (r *dictReader) place(path string) workloads.Problem {
	if r.file == "" {
		if path == "" {
			return workloads.Problem{Field: "--" + r.flag}
		}
		return workloads.Problem{Field: "--" + r.flag + ": " + path}
	}
	return workloads.Problem{File: r.file, Line: r.line(), Field: path}
}

func (r *dictReader) problem(path, found, want string) error {
	g := Given{Place: r.place(path)}
	return g.problem(found, want)
}

func (r *dictReader) syntax(err error, want string) error {
	found := "something else"
	switch {
	case errors.Is(err, io.EOF):
		found = "nothing"
	case err != nil:
		found = err.Error()
	}
	return r.problem("", found, want)
}

// object reads the keys of an object whose opening brace has been read.
func (r *dictReader) object(prefix string) error {
	if r.seen == nil {
		r.seen = map[string]bool{}
	}
	for r.dec.More() {
		tok, err := r.dec.Token()
		if err != nil {
			return r.syntax(err, "a JSON object")
		}
		path := prefix + tok.(string)
		if err := r.value(path); err != nil {
			return err
		}
	}
	if _, err := r.dec.Token(); err != nil {
		return r.syntax(err, "a JSON object")
	}
	return nil
}

// value reads the value of one key.
func (r *dictReader) value(path string) error {
	path = r.resolve(path)
	if r.seen[path] {
		return r.problem(path, "the key again", "each key once")
	}
	r.seen[path] = true
	s := r.table.byDict[path]
	if s == nil && !slices.Contains(nestings[:], path) {
		return r.unknown(path)
	}
	var raw json.RawMessage
	if s == nil {
		return r.nested(path)
	}
	if err := r.dec.Decode(&raw); err != nil {
		return r.syntax(err, "a JSON object")
	}
	return r.take(s, path, raw)
}

// resolve maps an engine field without its nesting to its path.
func (r *dictReader) resolve(path string) string {
	switch path {
	case "engine.kv_bytes_per_token", "kv_bytes_per_token":
		return "engine.kv_transfer_bytes_per_token"
	case "sglang", "trtllm", "native_host_offload":
		return "engine." + path
	}
	if r.table.byDict[path] == nil && !strings.Contains(path, ".") && r.table.byDict["engine."+path] != nil {
		return "engine." + path
	}
	return path
}

// nestings are the dictionaries inside the engine dictionary.
var nestings = [...]string{"engine", "dynamo", "engine.sglang", "engine.trtllm", "engine.native_host_offload", "engine.g3_offload"}

// nested reads one of the inner dictionaries.
func (r *dictReader) nested(path string) error {
	tok, err := r.dec.Token()
	switch {
	case err != nil:
		return r.syntax(err, "a JSON object")
	case tok == nil:
		return nil
	case tok == json.Delim('['):
		return r.problem(path, "a list", "a JSON object")
	case tok != json.Delim('{'):
		return r.problem(path, show(fmt.Sprint(tok)), "a JSON object")
	}
	return r.object(path + ".")
}

func (r *dictReader) unknown(path string) error {
	var paths []string
	for _, s := range r.table.list {
		if s.Dict != "" {
			paths = append(paths, s.Dict)
		}
	}
	near := Nearest(path, paths)
	if near == "" && !strings.Contains(path, ".") {
		near = Nearest("engine."+path, paths)
	}
	if near == "" {
		return r.problem(path, "an unknown key", "a key of the engine dictionary")
	}
	return r.problem(path, fmt.Sprintf("an unknown key (did you mean %s?)", near), "a key of the engine dictionary")
}

// take records one value. A null is the default, except where it is a value of
// its own (an absent limit).
func (r *dictReader) take(s *Setting, path string, raw json.RawMessage) error {
	text := string(raw)
	if s.Dict == "engine.timing_model" && text == "null" {
		return nil
	}
	if s.Dict == "engine.timing_model" {
		var err error
		if text, err = r.timing(path, raw); err != nil {
			return err
		}
	} else if len(raw) > 0 && raw[0] == '"' {
		if err := json.Unmarshal(raw, &text); err != nil {
			return r.syntax(err, "a JSON string")
		}
	}
	if _, optional := s.Kind.Parse(None); text == "null" && !optional {
		return nil
	}
	if s.Support == Inert {
		return nil
	}
	r.given = append(r.given, Given{
		Setting: s, Text: text, Origin: Origin{FromDict, path}, Place: r.place(path),
	})
	return nil
}

// timing translates the dictionary's timing model into a specification.
func (r *dictReader) timing(path string, raw json.RawMessage) (string, error) {
	var m struct {
		Type      string
		PrefillMS *float64 `json:"prefill_ms"`
		DecodeMS  *float64 `json:"decode_ms"`
		Provider  string
		Config    struct{ Path string }
	}
	const want = "type polynomial, fixed with prefill_ms and decode_ms, or external with provider dynamo_profile and config.path"
	timing, _ := r.table.Lookup("timing")
	g := Given{Setting: timing, Place: r.place(path)}
	if _, err := g.members(string(raw)); err != nil && bytes.HasPrefix(raw, []byte("{")) {
		return "", err // a key given twice
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	err := d.Decode(&m)
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &kind) && kind.Field != "":
		return "", r.problem(path, "a "+kind.Value+" as "+kind.Field, want)
	case errors.As(err, &kind):
		return "", r.problem(path, plainText(compact(raw)), "an object with "+want)
	case err != nil:
		return "", r.problem(path, plainText(compact(raw)), want+" ("+strings.TrimPrefix(err.Error(), "json: ")+")")
	}
	switch {
	case m.Type == "polynomial":
		return "dynamo-polynomial", nil
	case m.Type == "fixed" && m.PrefillMS != nil && m.DecodeMS != nil:
		return "fixed:" + exact(*m.PrefillMS) + "," + exact(*m.DecodeMS), nil
	case m.Type == "external" && m.Provider == "dynamo_profile" && m.Config.Path != "":
		return "table:" + m.Config.Path, nil
	}
	return "", r.problem(path, plainText(compact(raw)), want)
}

// compact writes JSON on one line, cut where it is long.
func compact(raw json.RawMessage) string {
	text := strings.Join(strings.Fields(string(raw)), " ")
	if len(text) > maxShown {
		text = cut(text, maxShown) + "..."
	}
	return text
}

func exact(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
