package workloads

import (
	"strings"
	"testing"
)

// badTrace is a trace that cannot be read, and what is said about it.
type badTrace struct {
	name, format, text, want string
}

const goodRow = `{"timestamp":1,"input_length":8,"output_length":2,"hash_ids":[1,2]}` + "\n"

// badMooncake holds one case per message about a Mooncake row. The rows stand
// on line 2, after a good one.
var badMooncake = []badTrace{
	{"null", "", `null`, `-:2: found null, expected one JSON object per line`},
	{"list", "", `[1]`, `-:2: found [1], expected one JSON object per line`},
	{"no JSON", "", `x`, `-:2: found 'x' at column 1, expected valid JSON`},
	{"trailing garbage", "", `{"timestamp":1,"input_length":8,"output_length":2,"hash_ids":[1,2]} x`,
		`-:2: found x after the row, expected one JSON object per line`},
	{"two rows on a line", "", `{"timestamp":1,"output_length":2,"hash_ids":[1]}{"timestamp":1}`,
		`-:2: found {"timestamp":1} after the row, expected one JSON object per line`},
	{"cut in a list", "", `{"timestamp":1,"hash_ids":[1,`,
		`-:2: found the end of the line at column 30, expected the rest of the JSON object (is the file cut off?)`},
	{"cut after a value", "", `{"timestamp":1`,
		`-:2: found the end of the line at column 15, expected the rest of the JSON object (is the file cut off?)`},
	{"cut in a text", "", `{"timesta`,
		`-:2: found the end of the line at column 10, expected the rest of the JSON object (is the file cut off?)`},
	{"comma before the end", "", `{"timestamp":1,}`, `-:2: found ',' at column 15, expected valid JSON`},
	{"two commas", "", `{"hash_ids":[1,,2]}`, `-:2: found ',' at column 16, expected valid JSON`},
	{"leading zero", "", `{"hash_ids":[01]}`, `-:2: found '1' at column 15, expected valid JSON`},
	{"no comma", "", `{"timestamp":1 "hash_ids":[1]}`, `-:2: found '"' at column 16, expected valid JSON`},
	{"NaN", "", `{"timestamp":NaN}`, `-:2: found 'N' at column 14, expected valid JSON`},
	{"control character", "", "{\"x\":\"\x1b\"}", `-:2: found '\x1b' at column 7, expected valid JSON`},
	{"not UTF-8", "", "{\"x\":\"\xff\"}", `-:2: found byte 0xff at column 7, expected text in UTF-8`},
	{"half a surrogate pair", "", `{"session_id":"\ud800"}`, `-:2: found '\\' at column 16, expected valid JSON`},

	{"key twice", "", `{"timestamp":1,"timestamp":2}`,
		`-:2: timestamp: found the field twice, expected each field once per row, under one of its names`},
	{"key and alias", "", `{"timestamp":1,"created_time":null}`,
		`-:2: created_time: found the field twice, expected each field once per row, under one of its names`},
	{"quoted time", "", `{"timestamp":"1"}`, `-:2: timestamp: found "1", expected a finite number of milliseconds`},
	{"logical time", "", `{"timestamp":true}`, `-:2: timestamp: found true, expected a finite number of milliseconds`},
	{"endless time", "", `{"timestamp":1e999}`, `-:2: timestamp: found 1e999, expected a finite number of milliseconds`},
	{"quoted delay", "", `{"delay_ms":"1"}`, `-:2: delay_ms: found "1", expected a finite number of milliseconds`},
	{"fraction", "", `{"input_length":8.0}`,
		`-:2: input_length: found 8.0, expected a whole number of tokens, 0 to 2147483647, without quotes, fraction or exponent`},
	{"exponent", "", `{"output_tokens":8e0}`,
		`-:2: output_tokens: found 8e0, expected a whole number of tokens, 0 to 2147483647, without quotes, fraction or exponent`},
	{"negative length", "", `{"output_length":-1}`,
		`-:2: output_length: found -1, expected a whole number of tokens, 0 to 2147483647, without quotes, fraction or exponent`},
	{"long number", "", `{"input_tokens":99999999999999999999}`,
		`-:2: input_tokens: found 99999999999999999999, expected a whole number of tokens, 0 to 2147483647, without quotes, fraction or exponent`},
	{"ids not a list", "", `{"hash_ids":7}`,
		`-:2: hash_ids: found 7, expected a list of whole numbers from 0 to 18446744073709551615`},
	{"negative id", "", `{"hash_ids":[1,-2]}`,
		`-:2: hash_ids[1]: found -2, expected a whole number from 0 to 18446744073709551615`},
	{"fractional id", "", `{"hash_ids":[ 1.0 ]}`,
		`-:2: hash_ids[0]: found 1.0, expected a whole number from 0 to 18446744073709551615`},
	{"quoted id", "", `{"hash_ids":["1"]}`,
		`-:2: hash_ids[0]: found "1", expected a whole number from 0 to 18446744073709551615`},
	{"id over 64 bits", "", `{"hash_ids":[18446744073709551616]}`,
		`-:2: hash_ids[0]: found 18446744073709551616, expected a whole number from 0 to 18446744073709551615`},
	{"list in a list", "", `{"hash_ids":[3, [1,4], 2]}`,
		`-:2: hash_ids[1]: found [1,4], expected a whole number from 0 to 18446744073709551615`},
	{"token over 32 bits", "", `{"output_token_ids":[4294967296]}`,
		`-:2: output_token_ids[0]: found 4294967296, expected a whole number from 0 to 4294967295`},
	{"session a number", "", `{"session_id":5}`, `-:2: session_id: found 5, expected a text in quotes`},
	{"parent a number", "", `{"parent_session_id":5}`, `-:2: parent_session_id: found 5, expected a text in quotes`},
	{"request a number", "", `{"request_id":5}`, `-:2: request_id: found 5, expected a text in quotes`},
	{"worker negative", "", `{"worker_id":-1}`, `-:2: worker_id: found -1, expected a whole number from 0 to 2147483647`},
	{"keys a number", "", `{"device_keys":3}`, `-:2: device_keys: found 3, expected a list of whole numbers from 0 to 18446744073709551615`},
	{"taints a text", "", `{"required_taints":"a"}`, `-:2: required_taints: found "a", expected a list of names of taints`},
	{"taint a number", "", `{"required_taints":["a",3]}`, `-:2: required_taints[1]: found 3, expected the name of a taint: printable characters without spaces, + , and @`},
	{"empty taint", "", `{"required_taints":[""]}`, `-:2: required_taints[0]: found "", expected the name of a taint: printable characters without spaces, + , and @`},
	{"weights a list", "", `{"preferred_taints":["a"]}`, `-:2: preferred_taints: found ["a"], expected an object of taints and their weights`},
	{"weight a text", "", `{"preferred_taints":{"a":"1"}}`, `-:2: preferred_taints["a"]: found "1", expected a finite number`},
	{"weight twice", "", `{"preferred_taints":{"a":1,"a":1}}`, `-:2: preferred_taints: found "a" twice, expected each taint once`},
	{"empty preference", "", `{"preferred_taints":{"":1}}`, `-:2: preferred_taints: found "", expected the name of a taint: printable characters without spaces, + , and @`},
	{"class a list", "", `{"policy_class":[]}`, `-:2: policy_class: found [], expected a text in quotes`},
	{"priority over 32 bits", "", `{"priority":2147483648}`,
		`-:2: priority: found 2147483648, expected a whole number from -2147483648 to 2147483647`},
	{"priority below 32 bits", "", `{"priority":-2147483649}`,
		`-:2: priority: found -2147483649, expected a whole number from -2147483648 to 2147483647`},
	{"negative tier", "", `{"strict_priority":-1}`,
		`-:2: strict_priority: found -1, expected a whole number from 0 to 4294967295`},
	{"long value", "", `{"priority":"` + strings.Repeat("ab", 30) + `"}`,
		`-:2: priority: found "` + strings.Repeat("ab", 19) + `a..., expected a whole number from -2147483648 to 2147483647`},
	{"escape codes", "", "{\"priority\":\"\u2028\u009b\"}",
		`-:2: priority: found "\"\u2028\u009b\"", expected a whole number from -2147483648 to 2147483647`},

	{"no output length", "", `{"timestamp":1,"input_length":8,"output_length":null,"hash_ids":[1,2]}`,
		`-:2: output_length: found nothing, expected the number of output tokens, 0 or more`},
	{"no ids", "", `{"timestamp":1,"input_length":8,"output_length":2}`,
		`-:2: hash_ids: found nothing, expected a list of block ids, one per 512 prompt tokens`},
	{"no timestamp", "", `{"input_length":8,"output_length":2,"hash_ids":[1,2]}`,
		`-:2: timestamp: found nothing, expected the arrival in ms on the first row of a session (or replay in closed loop with a fixed concurrency)`},
	{"empty prompt", "", `{"timestamp":1,"input_length":0,"output_length":2,"hash_ids":[1,2]}`,
		`-:2: input_length: found 0, expected 1 to 2147483647 tokens`},
	{"empty list", "", `{"timestamp":1,"output_length":2,"hash_ids":[]}`,
		`-:2: hash_ids: found an empty list and no input_length, expected a prompt of at least one token`},
	{"prompt beyond its ids", "", `{"timestamp":1,"input_length":1025,"output_length":2,"hash_ids":[1,2]}`,
		`-:2: input_length: found 1025, expected at most 1024, since 2 hash_ids of 512 tokens hold no more (is the trace block size right?)`},
	{"prompt over 31 bits", "", `{"timestamp":1,"input_length":2147483648,"output_length":2,"hash_ids":[1,2]}`,
		`-:2: input_length: found 2147483648, expected 1 to 2147483647 tokens`},
	{"output over 31 bits", "", `{"timestamp":1,"input_length":8,"output_length":2147483648,"hash_ids":[1,2]}`,
		`-:2: output_length: found 2147483648, expected 0 to 2147483647 tokens`},
	{"tokens unlike the length", "", `{"timestamp":1,"output_length":2,"hash_ids":[1,2],"output_token_ids":[1]}`,
		`-:2: output_token_ids: found 1 tokens, expected 2, as output_length says`},
	{"no tokens", "", `{"timestamp":1,"output_length":2,"hash_ids":[1,2],"output_token_ids":[]}`,
		`-:2: output_token_ids: found 0 tokens, expected 2, as output_length says`},

	{"delay without a session", "", `{"timestamp":1,"output_length":2,"hash_ids":[1],"delay":5}`,
		`-:2: delay: found 5, expected none on the first turn of a session (rows of one session share a session_id; a start is a timestamp)`},
	{"delay on a first turn", "", `{"timestamp":1,"output_length":2,"hash_ids":[1],"session_id":"a","delay":0.5}`,
		`-:2: delay: found 0.5, expected none on the first turn of a session (rows of one session share a session_id; a start is a timestamp)`},
	{"negative delay", "", `{"timestamp":1,"output_length":2,"hash_ids":[1],"session_id":"request_1","delay":-0.5}`,
		`-:2: delay: found -0.5, expected 0 ms or more after the previous turn's completion`},
	{"time runs back", "", `{"timestamp":0.5,"output_length":2,"hash_ids":[1],"session_id":"request_1"}`,
		`-:2: timestamp: found 0.5, expected at least 1, the timestamp of the session's previous turn (or an explicit delay)`},
	{"endless difference", "", `{"timestamp":-1.7e308,"output_length":2,"hash_ids":[1],"session_id":"a"}` + "\n" +
		`{"timestamp":1.7e308,"output_length":2,"hash_ids":[1],"session_id":"a"}`,
		`-:3: timestamp: found 1.7e+308, expected a finite time after the session's previous turn`},
	{"request name twice", "", `{"timestamp":1,"output_length":2,"hash_ids":[1],"request_id":"a"}` + "\n\n" +
		`{"timestamp":2,"output_length":2,"hash_ids":[1],"request_id":"a"}`,
		`-:4: request_id: found "a", expected a name that no other row has (it is the row at -:2; give each request its own name)`},
}

const (
	dynamoHead = `{"schema":"dynamo.request.trace.v1","event_type":"request_end","event_time_unix_ms":1100,"request":`
	goodEvent  = dynamoHead + `{"request_id":"r","output_tokens":2,"request_received_ms":1000,"total_time_ms":100.0,` +
		`"replay":{"trace_block_size":4,"input_length":7,"input_sequence_hashes":[1,2]}}}` + "\n"
)

func event(request string) string { return dynamoHead + request + `}` }

// badDynamo does the same for rows of Dynamo request traces.
var badDynamo = []badTrace{
	{"null", "", `null`, `-:2: found null, expected one JSON object per line`},
	{"cut", "", `{"schema":"dynamo.req`,
		`-:2: found the end of the line at column 22, expected the rest of the JSON object (is the file cut off?)`},
	{"no schema", "", `{"event_type":"request_end"}`, `-:2: schema: found nothing, expected "dynamo.request.trace.v1"`},
	{"schema a number", "", `{"event_type":"request_end","schema":1}`, `-:2: schema: found "", expected "dynamo.request.trace.v1"`},
	{"other schema", "", `{"schema":"dynamo.request.trace.v2","event_type":"request_end"}`,
		`-:2: schema: found "dynamo.request.trace.v2", expected "dynamo.request.trace.v1"`},
	{"no type", "", `{"schema":"dynamo.request.trace.v1"}`,
		`-:2: event_type: found nothing, expected "request_end" (or a row to pass over: request_payload, tool_start, tool_end, tool_error)`},
	{"other type", "", `{"schema":"dynamo.request.trace.v1","event_type":"begin"}`,
		`-:2: event_type: found "begin", expected "request_end" (or a row to pass over: request_payload, tool_start, tool_end, tool_error)`},
	{"type a number", "", `{"event_type":1}`, `-:2: event_type: found 1, expected a text in quotes`},
	{"empty wrapper", "", `{"event":null}`, `-:2: event: found null, expected an event object`},
	{"two events", "", `{"event":{"event_type":"tool_start"},"event":{}}`,
		`-:2: event: found the field twice, expected each field once per row, under one of its names`},
	{"agent", "", `{"schema":"dynamo.request.trace.v1","event_type":"request_end","agent_context":{"session_id":"s"}}`,
		`-:2: agent_context: found a request of an agent session, expected requests without agent_context (agentic replay is not supported)`},
	{"no time", "", `{"schema":"dynamo.request.trace.v1","event_type":"request_end","request":{}}`,
		`-:2: event_time_unix_ms: found nothing, expected whole milliseconds since 1970`},
	{"fractional time", "", `{"event_time_unix_ms":1.5}`, `-:2: event_time_unix_ms: found 1.5, expected whole milliseconds since 1970`},
	{"no request", "", `{"schema":"dynamo.request.trace.v1","event_type":"request_end","event_time_unix_ms":5}`,
		`-:2: request: found nothing, expected the metrics of the request`},
	{"request a list", "", event(`[1]`), `-:2: request: found [1], expected an object`},
	{"no id", "", event(`{}`), `-:2: request.request_id: found nothing, expected the name of the request`},
	{"empty id", "", strings.Replace(goodEvent, `"r"`, `""`, 1), `-:2: request.request_id: found "", expected the name of the request`},
	{"id a number", "", event(`{"request_id":5}`), `-:2: request.request_id: found 5, expected a text in quotes`},
	{"key twice", "", event(`{"request_id":"a","request_id":"b"}`),
		`-:2: request.request_id: found the field twice, expected each field once per row, under one of its names`},
	{"no output", "", event(`{"request_id":"a"}`), `-:2: request.output_tokens: found nothing, expected the number of output tokens`},
	{"negative output", "", event(`{"output_tokens":-1}`),
		`-:2: request.output_tokens: found -1, expected a whole number of tokens, 0 to 2147483647, without quotes, fraction or exponent`},
	{"fractional receipt", "", event(`{"request_received_ms":1000.5}`),
		`-:2: request.request_received_ms: found 1000.5, expected whole milliseconds since 1970`},
	{"negative duration", "", event(`{"total_time_ms":-1}`), `-:2: request.total_time_ms: found -1, expected 0 ms or more`},
	{"quoted TTFT", "", event(`{"ttft_ms":"1"}`), `-:2: request.ttft_ms: found "1", expected a finite number of milliseconds`},
	{"negative ITL", "", event(`{"avg_itl_ms":-0.5}`), `-:2: request.avg_itl_ms: found -0.5, expected 0 ms or more`},
	{"quoted cached tokens", "", event(`{"cached_tokens":"4"}`),
		`-:2: request.cached_tokens: found "4", expected a whole number of tokens, 0 to 2147483647, without quotes, fraction or exponent`},
	{"worker a number", "", event(`{"worker":5}`), `-:2: request.worker: found 5, expected an object`},
	{"worker id", "", event(`{"worker":{"decode_worker_id":-1}}`),
		`-:2: request.worker.decode_worker_id: found -1, expected a whole number from 0 to 18446744073709551614`},
	{"worker rank", "", event(`{"worker":{"prefill_dp_rank":0.5}}`),
		`-:2: request.worker.prefill_dp_rank: found 0.5, expected a whole number from 0 to 2147483647`},
	{"no replay", "", event(`{"request_id":"a","output_tokens":1}`),
		`-:2: request.replay: found nothing, expected the prompt's blocks (capture the trace with replay hashes)`},
	{"replay a text", "", event(`{"replay":"x"}`), `-:2: request.replay: found "x", expected an object`},
	{"no block size", "", event(`{"request_id":"a","output_tokens":1,"replay":{}}`),
		`-:2: request.replay.trace_block_size: found nothing, expected the tokens per hash`},
	{"no input length", "", event(`{"request_id":"a","output_tokens":1,"replay":{"trace_block_size":4}}`),
		`-:2: request.replay.input_length: found nothing, expected the prompt's length in tokens`},
	{"no hashes", "", event(`{"request_id":"a","output_tokens":1,"replay":{"trace_block_size":4,"input_length":4}}`),
		`-:2: request.replay.input_sequence_hashes: found nothing, expected one hash per block of the prompt`},
	{"negative hash", "", event(`{"replay":{"input_sequence_hashes":[-1]}}`),
		`-:2: request.replay.input_sequence_hashes[0]: found -1, expected a whole number from 0 to 18446744073709551615`},
	{"block size 0", "", event(`{"request_id":"a","output_tokens":1,"replay":{"trace_block_size":0,"input_length":4,"input_sequence_hashes":[1]}}`),
		`-:2: request.replay.trace_block_size: found 0, expected 1 to 2147483647 tokens`},
	{"mixed block sizes", "", event(`{"request_id":"a","output_tokens":1,"replay":{"trace_block_size":8,"input_length":4,"input_sequence_hashes":[1]}}`),
		`-:2: request.replay.trace_block_size: found 8, expected 4, the block size of the rows before (mixed block sizes are not supported)`},
	{"empty prompt", "", event(`{"request_id":"a","output_tokens":1,"replay":{"trace_block_size":4,"input_length":0,"input_sequence_hashes":[]}}`),
		`-:2: request.replay.input_length: found 0, expected 1 to 2147483647 tokens`},
	{"prompt beyond its hashes", "", event(`{"request_id":"a","output_tokens":1,"replay":{"trace_block_size":4,"input_length":9,"input_sequence_hashes":[1,2]}}`),
		`-:2: request.replay.input_length: found 9, expected at most 8, since 2 hashes of 4 tokens hold no more`},
	{"request twice", "", goodEvent,
		`-:2: request.request_id: found "r", expected a name that no other request has (it is also at -:1; was a shard given twice?)`},
}

// badFirst holds what is said of a file by its first row.
var badFirst = []badTrace{
	{"empty", "", "", `-: found no requests, expected at least one row (is the file whole?)`},
	{"blank lines", "", "\n \t\r\n\v\n", `-: found no requests, expected at least one row (is the file whole?)`},
	{"nothing but payloads", "", `{"event_type":"request_payload"}`, `-: found no requests, expected at least one row (is the file whole?)`},
	{"byte order mark", "", "\xef\xbb\xbf" + goodRow, `-:1: found a byte order mark, expected UTF-8 without one (save the file without it)`},
	{"CSV", "", "TIMESTAMP,ContextTokens\n", `-:1: found TIMESTAMP,ContextTokens, expected one JSON object per line`},
	{"list", "", "[\n{}]\n", `-:1: found [, expected one JSON object per line`},
	{"binary", "", "\x00\x01\n", `-:1: found "\x00\x01", expected one JSON object per line`},
	{"unknown keys", "", `{"a":1}`, `-:1: trace format: found a row of an unknown format, expected "mooncake", "mooncake-delta" or "dynamo" (name the format to see what the row lacks)`},
	{"pretty-printed", "", "{\n\"a\":1}", `-:1: trace format: found a row of an unknown format, expected "mooncake", "mooncake-delta" or "dynamo" (name the format to see what the row lacks)`},
	{"pretty-printed, named", "mooncake", "{\n\"a\":1}", `-:1: found the end of the line at column 2, expected the rest of the JSON object (is the file cut off?)`},
	{"null", "mooncake", "null\n", `-:1: found null, expected one JSON object per line`},
	{"another schema", "", `{"schema":"x"}`, `-:1: schema: found "x", expected "dynamo.request.trace.v1"`},
	{"Dynamo read as Mooncake", "mooncake", goodEvent, `-:1: trace format: found a dynamo row, expected rows of the format mooncake`},
	{"Mooncake read as Dynamo", "dynamo", goodRow, `-:1: trace format: found a mooncake row, expected rows of the format dynamo`},
	{"agentic Mooncake", "", `{"schema":"dynamo.agentic_mooncake","version":2}`,
		`-:1: trace format: found agentic Mooncake, expected "mooncake", "mooncake-delta" or "dynamo" (agentic replay is not supported)`},
	{"agentic Mooncake without a header", "mooncake", `{"request_id":"a","wait_for":[],"timestamp":0,"output_length":1,"hash_ids":[1]}`,
		`-:1: trace format: found agentic Mooncake, expected "mooncake", "mooncake-delta" or "dynamo" (agentic replay is not supported)`},
	{"applied compute", "", `{"num_turns":2}`,
		`-:1: trace format: found applied-compute agentic, expected "mooncake", "mooncake-delta" or "dynamo" (agentic replay is not supported)`},
	{"Weka", "", `{"id":"x","hash_id_scope":"local","requests":[`,
		`-:1: trace format: found Weka (kv-cache-tester), expected "mooncake", "mooncake-delta" or "dynamo" (agentic replay is not supported)`},
	{"named refused format", "weka", goodRow,
		`-: trace format: found Weka (kv-cache-tester), expected "mooncake", "mooncake-delta" or "dynamo" (agentic replay is not supported)`},
	{"unknown format", "moon", goodRow, `-: trace format: found "moon", expected "mooncake", "mooncake-delta" or "dynamo"`},
	{"xz", "", "\xfd7zXZ\x00", `-: found an xz file, expected JSON lines, plain or packed with gzip or zstd`},
	{"bzip2", "", "BZh9", `-: found a bzip2 file, expected JSON lines, plain or packed with gzip or zstd`},
	{"zip", "", "PK\x03\x04", `-: found a zip file, expected JSON lines, plain or packed with gzip or zstd`},
	{"Parquet", "", "PAR1", `-: found a Parquet file, expected JSON lines, plain or packed with gzip or zstd`},
}

// badTraces returns the cases as whole files.
func badTraces() []badTrace {
	var all []badTrace
	for _, c := range badMooncake {
		c.text = goodRow + c.text
		all = append(all, c)
		c.name, c.format = c.name+", delta", FormatDelta
		all = append(all, c)
	}
	for _, c := range badDynamo {
		c.name, c.text = "dynamo, "+c.name, goodEvent+c.text
		all = append(all, c)
	}
	return append(all, badFirst...)
}

func openText(text string, o Options) (*Trace, error) {
	o.Stdin = strings.NewReader(text)
	return Open("-", o)
}

func TestMessages(t *testing.T) {
	for _, c := range badTraces() {
		t.Run(c.name, func(t *testing.T) {
			for _, end := range []string{"", "\n", "\r\n\n"} {
				_, err := openText(c.text+end, Options{Format: c.format})
				if err == nil {
					t.Fatal("the trace was read")
				}
				if err.Error() != c.want {
					t.Errorf("got  %s\nwant %s", err, c.want)
				}
			}
		})
	}
}

// TestSkip reads every bad row between two good ones: the good ones must come
// out as if it had not been there.
func TestSkip(t *testing.T) {
	for _, c := range badTraces() {
		p, head := wantProblem(c)
		if p.Line < 2 {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			text := strings.TrimSuffix(c.text, "\n") + "\n"
			last := strings.Replace(head, `"r"`, `"z"`, 1)
			tr, err := openText(text+last, Options{Format: c.format, OnError: SkipRow})
			if fatal := strings.Contains(c.want, "not supported"); fatal {
				if err == nil || err.Error() != c.want {
					t.Fatalf("got %v, want %s", err, c.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			checkTrace(t, tr)
			skipped := tr.Skipped()
			if len(skipped) != 1 || skipped[0].Error() != c.want {
				t.Errorf("skipped %v, want %s", skipped, c.want)
			}
			if end := tr.Len() - 1; tr.Line(end) != int32(p.Line)+1 {
				t.Errorf("the last row is of line %d, want %d", tr.Line(end), p.Line+1)
			}
			lines := strings.SplitAfter(text, "\n")
			lines[p.Line-1] = "\n"
			without, err := openText(strings.Join(lines, "")+last, Options{Format: c.format})
			if err != nil {
				t.Fatal(err)
			}
			if tr.Digest() != without.Digest() {
				t.Error("the skipped row left a mark on the trace")
			}
		})
	}
}

// wantProblem returns the line a case complains about, and a good row of its
// format.
func wantProblem(c badTrace) (Problem, string) {
	head := goodRow
	if strings.HasPrefix(c.name, "dynamo, ") {
		head = goodEvent
	}
	var p Problem
	if rest, ok := strings.CutPrefix(c.want, "-:"); ok && rest[1] == ':' {
		p.Line = int(rest[0] - '0')
	}
	return p, head
}
