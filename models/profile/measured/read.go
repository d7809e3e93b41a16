package measured

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

// Data is what a set of files holds.
type Data struct {
	Steps []Step
	Runs  []Run
}

// maxFileSize bounds a file in bytes.
const maxFileSize = 256 << 20

// Read reads measurements from files. The format of each is told by its
// content: a CSV of engine steps (see StepColumns), a CSV of serving runs (see
// Table.Run), the result of vLLM's or SGLang's bench_serving (JSON, one run per
// line or file), or AIPerf's summary (profile_export_aiperf.json) or records
// (profile_export.jsonl).
func Read(paths ...string) (*Data, error) {
	all := &Data{}
	for _, path := range paths {
		d, err := readFile(path)
		if err != nil {
			return nil, err
		}
		all.Steps = append(all.Steps, d.Steps...)
		all.Runs = append(all.Runs, d.Runs...)
	}
	return all, nil
}

func readFile(path string) (*Data, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Size() > maxFileSize {
		return nil, fmt.Errorf("%s: found %d bytes, expected at most %d", path, info.Size(), maxFileSize)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return Parse(path, text)
}

// Parse reads measurements from the text of a file; name is what errors call
// it.
func Parse(name string, text []byte) (*Data, error) {
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	if trimmed := bytes.TrimLeft(text, " \t\r\n"); len(trimmed) > 0 && (trimmed[0] == '{' || trimmed[0] == '[') {
		return readJSON(name, plainJSON(text))
	}
	if bytes.HasPrefix(text, []byte("Metric,")) {
		return nil, fmt.Errorf("%s: found AIPerf's CSV summary, which does not tell the concurrency; expected the profile_export_aiperf.json or profile_export.jsonl beside it", name)
	}
	return readCSV(name, bytes.NewReader(text))
}

// plainJSON replaces the numbers that Python writes and JSON does not know, NaN
// and the infinities, by null.
func plainJSON(text []byte) []byte {
	out := make([]byte, 0, len(text))
	quoted := false
	for i := 0; i < len(text); {
		if quoted || text[i] == '"' {
			switch {
			case text[i] == '"':
				quoted = !quoted
			case text[i] == '\\' && i+1 < len(text):
				out = append(out, text[i])
				i++
			}
		} else if n := pythonNumber(text[i:]); n > 0 {
			out = append(out, "null"...)
			i += n
			continue
		}
		out = append(out, text[i])
		i++
	}
	return out
}

// pythonNumber returns the length of such a number at the beginning of a text,
// 0 for none.
func pythonNumber(text []byte) int {
	for _, word := range [...]string{"NaN", "Infinity", "-Infinity"} {
		if bytes.HasPrefix(text, []byte(word)) {
			return len(word)
		}
	}
	return 0
}

func unknownFormat(name string) error {
	return fmt.Errorf("%s: found an unknown format, expected a CSV with step_ms (engine steps) or ttft_ms and tpot_ms (serving runs), or the JSON of vLLM bench_serving, SGLang bench_serving or AIPerf", name)
}

// document is one JSON value of a file.
type document struct {
	file string
	line int
	text json.RawMessage
	keys map[string]json.RawMessage
}

func (d *document) has(key string) bool {
	_, ok := d.keys[key]
	return ok
}

// fail is a problem with a document.
func (d *document) fail(format string, args ...any) error {
	return fmt.Errorf("%s:%d: %s", d.file, d.line, fmt.Sprintf(format, args...))
}

// into decodes the document.
func (d *document) into(to any) error {
	err := json.Unmarshal(d.text, to)
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		return d.fail("%s: found a %s, expected a %s", wrong.Field, wrong.Value, wrong.Type)
	}
	if err != nil {
		return d.fail("found unusable JSON: %v", err)
	}
	return nil
}

// readJSON reads a file of one or several JSON objects, or a list of them.
func readJSON(name string, text []byte) (*Data, error) {
	documents, err := splitJSON(name, text)
	if err != nil {
		return nil, err
	}
	if len(documents) == 0 {
		return nil, unknownFormat(name)
	}
	if documents[0].has("metadata") && (documents[0].has("metrics") || documents[0].has("error")) {
		run, err := aiperfRecords(documents)
		if err != nil {
			return nil, err
		}
		return &Data{Runs: []Run{run}}, nil
	}
	d := &Data{}
	for i := range documents {
		doc := &documents[i]
		var run Run
		switch {
		case doc.has("time_to_first_token") || doc.has("request_latency"):
			run, err = aiperfSummary(doc)
		case doc.has("mean_ttft_ms") || doc.has("median_ttft_ms"):
			run, err = benchServing(doc)
		default:
			err = unknownFormat(fmt.Sprintf("%s:%d", name, doc.line))
		}
		if err != nil {
			return nil, err
		}
		d.Runs = append(d.Runs, run)
	}
	return d, nil
}

// splitJSON cuts a text into its JSON objects; those of a list count one by
// one.
func splitJSON(name string, text []byte) ([]document, error) {
	in := json.NewDecoder(bytes.NewReader(text))
	line, at := 1, 0
	var documents []document
	for {
		var raw json.RawMessage
		err := in.Decode(&raw)
		if errors.Is(err, io.EOF) {
			return documents, nil
		}
		end := int(in.InputOffset())
		if err != nil {
			return nil, fmt.Errorf("%s:%d: found unusable JSON: %v", name, 1+bytes.Count(text[:min(end, len(text))], []byte("\n")), err)
		}
		start := max(end-len(raw), at)
		line += bytes.Count(text[at:start], []byte("\n"))
		list := []json.RawMessage{raw}
		if raw[0] == '[' {
			list = nil
			if err := json.Unmarshal(raw, &list); err != nil {
				return nil, fmt.Errorf("%s:%d: found unusable JSON: %v", name, line, err)
			}
		}
		for _, one := range list {
			d := document{file: name, line: line, text: one}
			if err := json.Unmarshal(one, &d.keys); err != nil {
				return nil, fmt.Errorf("%s:%d: found %.20s, expected a JSON object", name, line, one)
			}
			documents = append(documents, d)
		}
		line += bytes.Count(text[start:end], []byte("\n"))
		at = end
	}
}
