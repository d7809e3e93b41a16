package workloads

import (
	"bytes"
	"fmt"
)

// The formats that Open reads.
const (
	FormatMooncake = "mooncake"       // one JSON object per request
	FormatDelta    = "mooncake-delta" // the same, a later turn holding only its new tokens
	FormatDynamo   = "dynamo"         // request trace "dynamo.request.trace.v1"
)

// dynamoSchema names the request trace that the dynamo format reads.
const dynamoSchema = "dynamo.request.trace.v1"

const supported = `"mooncake", "mooncake-delta" or "dynamo"`

// The formats that are recognised only to be refused by name.
const (
	kindAgentic = "agentic Mooncake"
	kindWeka    = "Weka (kv-cache-tester)"
	kindApplied = "applied-compute agentic"
)

func refusedFormat(name string) string {
	switch name {
	case "agentic_mooncake", "agentic-mooncake":
		return kindAgentic
	case "weka":
		return kindWeka
	case "applied_compute_agentic", "applied-compute-agentic":
		return kindApplied
	}
	return ""
}

func refusal(path string, line int, kind string) *Problem {
	return &Problem{File: path, Line: line, Field: "trace format", Found: kind,
		Want: supported + " (agentic replay is not supported)", fatal: true}
}

// sniff proposes the format of a file by the keys of its first row, "" if it
// cannot tell. It refuses what no reader could make sense of.
func sniff(path string, line int, row []byte) (string, *Problem) {
	if bytes.HasPrefix(row, []byte("\xef\xbb\xbf")) {
		return "", &Problem{File: path, Line: line, Found: "a byte order mark", Want: "UTF-8 without one (save the file without it)"}
	}
	if row = bytes.TrimSpace(row); row[0] != '{' && !bytes.Equal(row, []byte("null")) {
		return "", &Problem{File: path, Line: line, Found: excerpt(row), Want: "one JSON object per line"}
	}
	keys, schema := topKeys(row)
	has := func(names ...string) bool {
		for _, n := range names {
			if keys[n] {
				return true
			}
		}
		return false
	}
	switch {
	case has("num_turns", "input_prompt_length"):
		return "", refusal(path, line, kindApplied)
	case schema == "dynamo.agentic_mooncake", has("play_id", "not_before_ms", "dependencies", "wait_for", "tool_wait_ms"):
		return "", refusal(path, line, kindAgentic)
	case has("hash_id_scope", "requests", "models"):
		return "", refusal(path, line, kindWeka)
	case schema == dynamoSchema, has("event_type", "event"):
		return FormatDynamo, nil
	case schema != "":
		return "", &Problem{File: path, Line: line, Field: "schema", Found: fmt.Sprintf("%q", schema), Want: fmt.Sprintf("%q", dynamoSchema)}
	case has("hash_ids", "timestamp", "created_time", "input_length", "output_length"):
		return FormatMooncake, nil
	}
	return "", nil
}

// topKeys returns the keys of a row and its schema, as far as the row is JSON.
func topKeys(row []byte) (keys map[string]bool, schema string) {
	keys = map[string]bool{}
	var d decoder
	d.reset(row)
	// What is wrong with the row is for the reader of its format to say.
	_ = d.object("", "", func(key string) *Problem {
		keys[key] = true
		if key == "schema" && d.dec.PeekKind() == '"' {
			s, p := d.text(key, wantText)
			schema = string(s)
			return p
		}
		return d.skip()
	})
	return keys, schema
}
