// Package parity replays recordings of Dynamo's own offline replay on the
// simulator and compares the two, value by value.
//
// The oracle breaks ties at random, so the simulator is given the recorded
// worker of every request ("teacher forcing"). What follows from the choices
// is compared: costs, cached blocks and times exactly, sums over the run to a
// relative 1e-12, since the oracle adds some of them in random order.
package parity

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"routesim/workloads"
)

// Golden is one recording, ready to be compared.
type Golden struct {
	// Name is the file's name without folders and extension.
	Name string

	records     []record
	ordered     bool // records stand in routing order
	synthetic   bool // the requests were made, not recorded
	named       bool // all sessions have names, also those of one turn
	summary     map[string]any
	settings    settings
	unsupported string // why it cannot be replayed, "" when it can

	trace *workloads.Trace
	rows  []int32 // trace row of each record, workloads.NoRow for none
}

// record is what the oracle reported about one request, by the oracle's names.
type record map[string]any

// errIndex is returned for a list of recordings, which is none itself.
var errIndex = errors.New("found a list, expected a recording")

// Load reads a recording and its trace. The trace is looked for beside the
// recording, in the folder traces of the recording's parent, and in traceDirs,
// under its own name or compressed. An error means that the input cannot be
// used; a recording of something that is not modelled is no error.
func Load(path string, traceDirs []string) (*Golden, error) {
	text, err := readFile(path)
	if err != nil {
		return nil, err
	}
	return parse(path, text, traceDirs)
}

// parse is Load for the contents of the file at path.
func parse(path string, text []byte, traceDirs []string) (*Golden, error) {
	var file map[string]any
	if err := decode(path, text, &file); err != nil {
		return nil, err
	}
	g := &Golden{Name: baseName(path)}
	d := newDict("", file)
	dirs := append([]string{filepath.Dir(path), filepath.Join(filepath.Dir(path), "..", "traces")}, traceDirs...)
	read := g.readEngineCase
	if _, ok := d.get("scenario"); ok {
		read = g.readRecording
	}
	source, err := read(d)
	if err == nil {
		err = d.done()
	}
	if reason, ok := asUnsupported(err); ok {
		g.unsupported = reason
		return g, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if g.trace, err = source.open(g.settings, dirs); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	g.rows = matchRows(g.records, g.trace)
	return g, nil
}

// readRecording reads the format with one scenario and rows in routing order.
func (g *Golden) readRecording(d *dict) (traceSource, error) {
	var source traceSource
	d.inert("oracle", "elapsed_s")
	g.summary = d.required("summary")
	g.records = readRecords(d, "rows", nil)
	s := newDict("scenario", d.object("scenario"))
	source.name = s.text("trace", "")
	source.offset, source.limit = s.integer("offset", 0), s.integer("limit", 0)
	c := call{mode: s.text("mode", ""), options: s.object("replay"), router: s.object("router")}
	if c.mode == "" {
		s.bad("mode", nil, "kv_router or round_robin")
	}
	if source.name == "" {
		s.bad("trace", nil, "the name of a trace")
	}
	var err error
	if g.settings, err = readCall(c); err != nil {
		s.pass(err)
	}
	g.ordered = isKV(g.settings)
	d.pass(s.done())
	return source, d.err
}

// readEngineCase reads the format of small cases that hold their trace.
func (g *Golden) readEngineCase(d *dict) (traceSource, error) {
	var source traceSource
	d.inert("name", "rule", "oracle")
	e := newDict("expected", d.object("expected"))
	g.summary = e.required("summary")
	columns, _ := d.get("columns")
	if _, ok := e.get("rows"); ok {
		g.records = readRecords(e, "rows", columns)
	} else {
		g.records = readRecords(e, "requests", nil)
	}
	d.pass(e.done())
	options := d.object("options")
	if load := d.object("synthetic"); load != nil {
		g.synthetic = true
		source.load, options = readLoad(d, load, options)
		g.named = source.load.Sessions()
	}
	if rows, ok := d.get("trace"); ok {
		list, isList := rows.([]any)
		if !isList {
			d.bad("trace", rows, "a list of rows")
		}
		source.rows = list
	}
	source.name = d.text("trace_file", "")
	var err error
	g.settings, err = readCall(call{
		options: options,
		engine:  d.object("extra_engine_args"),
		prefill: d.object("prefill_engine_args"),
		decode:  d.object("decode_engine_args"),
		router:  d.object("router"),
		tables:  d.object("npz_arrays"),
	})
	d.pass(err)
	if source.rows == nil && source.name == "" && source.load == nil {
		d.bad("trace", nil, "the rows of a trace, or its name as trace_file")
	}
	return source, d.err
}

// readRecords reads a list of dictionaries, or of lists when columns names
// their elements.
func readRecords(d *dict, key string, columns any) []record {
	v, _ := d.get(key)
	list, ok := v.([]any)
	if !ok {
		d.bad(key, v, "a list of requests")
		return nil
	}
	var names []string
	if columns != nil {
		names = columnNames(d, columns)
	}
	out := make([]record, len(list))
	for i, item := range list {
		switch item := item.(type) {
		case map[string]any:
			out[i] = item
		case []any:
			if len(item) != len(names) {
				d.bad(key, item, fmt.Sprintf("%d values, one per column", len(names)))
				return nil
			}
			out[i] = record{}
			for k, name := range names {
				out[i][name] = item[k]
			}
		default:
			d.bad(key, item, "a request")
			return nil
		}
	}
	return out
}

func columnNames(d *dict, columns any) []string {
	list, ok := columns.([]any)
	names := make([]string, len(list))
	for i, c := range list {
		var isText bool
		names[i], isText = c.(string)
		ok = ok && isText
	}
	if !ok {
		d.bad("columns", columns, "a list of names")
	}
	return names
}

// readFile reads a file, unpacked if it is compressed.
func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	in, err := unpack(bufio.NewReader(f))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	text, err := io.ReadAll(in)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return text, nil
}

// decode reads one JSON dictionary, keeping numbers as they are written.
func decode(path string, text []byte, to *map[string]any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	err := d.Decode(&v)
	if err == nil && len(bytes.TrimSpace(text[d.InputOffset():])) > 0 {
		err = errors.New("text after the recording")
	}
	if err != nil {
		at := d.InputOffset()
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			at = syntax.Offset
		}
		line := 1 + bytes.Count(text[:min(at, int64(len(text)))], []byte("\n"))
		return fmt.Errorf("%s:%d: found %w, expected one JSON dictionary", path, line, err)
	}
	switch v := v.(type) {
	case map[string]any:
		*to = v
		return nil
	case []any:
		return fmt.Errorf("%s: %w", path, errIndex)
	}
	return fmt.Errorf("%s: found %s, expected a recording", path, show(v))
}

// baseName cuts folders and extensions off a recording's name.
func baseName(path string) string {
	name := filepath.Base(path)
	name = strings.TrimSuffix(name, ".gz")
	return strings.TrimSuffix(name, ".json")
}
