package workloads

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// ev writes an event: its end, then what the request holds besides its prompt.
func ev(end int, request, hashes string) string {
	return fmt.Sprintf(`{"schema":"dynamo.request.trace.v1","event_type":"request_end","event_time_unix_ms":%d,"request":{%s,`+
		`"replay":{"trace_block_size":4,"input_length":%d,"input_sequence_hashes":[%s]}}}`+"\n", end, request, 4*(1+strings.Count(hashes, ",")), hashes)
}

// TestDynamoOrder: rows come in the order of start, end and id, and arrive as
// long after the first as they started.
func TestDynamoOrder(t *testing.T) {
	text := `{"event_type":"request_payload","schema":7,"x":"é"}` + "\n" +
		ev(1300, `"request_id":"d","output_tokens":4,"request_received_ms":1000`, "1,2") +
		ev(1200, `"request_id":"c","output_tokens":3,"request_received_ms":1000`, "1,2,3") +
		`{"event":` + strings.TrimSpace(ev(1300, `"request_id":"b","output_tokens":2,"request_received_ms":1000`, "9,2")) + `,"schema":0}` + "\n" +
		`{"schema":"dynamo.request.trace.v1","event_type":"tool_end","event_time_unix_ms":5,"agent_context":{"session_id":"s"}}` + "\n" +
		ev(1100, `"request_id":"a","output_tokens":1,"total_time_ms":60.5`, "1") // 1100 - 61
	tr := mustOpen(t, text, Options{})
	want := []string{"c: 0 3 [0 1 2] 3 request_1", "b: 0 2 [3 4] 4 request_2", "d: 0 4 [0 1] 2 request_3", "a: 39 1 [0] 6 request_4"}
	for i, w := range want {
		got := fmt.Sprintf("%s: %v %d %v %d %s", tr.RequestID(i), tr.Arrival(i), tr.OutputTokens(i), tr.Nodes(i), tr.Line(i), tr.SessionName(i))
		if got != w {
			t.Errorf("row %d: got %s, want %s", i, got, w)
		}
	}
	if tr.BlockSize() != 4 || tr.Format() != FormatDynamo || !tr.Sorted() || tr.NumBlockIDs() != 4 {
		t.Errorf("%s, blocks of %d", tr.Format(), tr.BlockSize())
	}
}

// TestDynamoSorts: the order of the lines means nothing.
func TestDynamoSorts(t *testing.T) {
	lines := []string{
		ev(1300, `"request_id":"d","output_tokens":4,"request_received_ms":1000`, "1,2"),
		ev(1200, `"request_id":"c","output_tokens":3,"request_received_ms":1000`, "1,2,3"),
		ev(1300, `"request_id":"b","output_tokens":2,"request_received_ms":1000`, "9,2"),
		ev(1100, `"request_id":"a","output_tokens":1,"total_time_ms":60.5`, "1"),
		ev(1100, `"request_id":"e","output_tokens":1,"request_received_ms":1200`, "4,1"),
	}
	want := mustOpen(t, strings.Join(lines, ""), Options{})
	rapid.Check(t, func(rt *rapid.T) {
		tr, err := openText(strings.Join(rapid.Permutation(lines).Draw(rt, "lines"), ""), Options{})
		if err != nil {
			rt.Fatal(err)
		}
		if tr.Digest() != want.Digest() || !tr.Sorted() {
			rt.Fatal("another trace")
		}
	})
}

// TestDynamoStart holds the start of requests without a receipt to what Dynamo
// 1.6.1 makes of them: the end less the rounded duration, never below 0.
func TestDynamoStart(t *testing.T) {
	for total, want := range map[string]float64{
		"60.4": 1040, "60.5": 1039, "60.6": 1039, "61.5": 1038, "0.2": 1100, "0.5": 1099, "0.7": 1099, "0": 1100,
		"1100": 0, "5000": 0, "1e300": 0, "null": 1100,
	} {
		text := ev(0, `"request_id":"z","output_tokens":2,"request_received_ms":0`, "1") +
			ev(1100, `"request_id":"zz","output_tokens":2,"request_received_ms":null,"total_time_ms":`+total, "1")
		tr := mustOpen(t, text, Options{})
		if got := tr.Arrival(1); got != want || tr.RequestID(1) != "zz" {
			t.Errorf("total_time_ms %s: %s arrives at %v, want %v", total, tr.RequestID(1), got, want)
		}
	}
}

// TestDynamoTies: of two requests with the same start, the one that took less
// time comes first, whatever the times of their events; Dynamo 1.6.1 took the
// same row first in each case.
func TestDynamoTies(t *testing.T) {
	const head = `"output_tokens":2,"request_received_ms":1000`
	for _, c := range []struct {
		name   string
		a, b   string
		endA   int
		bFirst bool
	}{
		{"durations against events", `,"total_time_ms":300`, `,"total_time_ms":100`, 1100, true},
		{"no duration, a later event", ``, `,"total_time_ms":200`, 1300, true},
		{"no duration, an earlier event", ``, `,"total_time_ms":200`, 1100, false},
		{"endless duration", `,"total_time_ms":1e300`, ``, 1300, true},
		{"another whole ms", `,"total_time_ms":100.6`, `,"total_time_ms":100.4`, 1300, true},
		{"the same whole ms", `,"total_time_ms":100.4`, `,"total_time_ms":100.1`, 1300, false},
	} {
		tr := mustOpen(t, ev(c.endA, `"request_id":"a",`+head+c.a, "1")+ev(1200, `"request_id":"b",`+head+c.b, "2"), Options{})
		if got := tr.RequestID(0) == "b"; got != c.bFirst {
			t.Errorf("%s: %s comes first", c.name, tr.RequestID(0))
		}
	}
}

func TestDynamoRecorded(t *testing.T) {
	text := ev(1200, `"request_id":"b","output_tokens":2,"request_received_ms":1001`, "1") +
		ev(1300, `"request_id":"a","output_tokens":2,"request_received_ms":1000,"ttft_ms":41.5,"avg_itl_ms":7,"total_time_ms":300.25,"cached_tokens":4,`+
			`"worker":{"decode_worker_id":18446744073709551614,"decode_dp_rank":1,"prefill_worker_id":0,"prefill_dp_rank":0,"x":1}`, "1")
	r := mustOpen(t, text, Options{}).Recorded()
	got := fmt.Sprint(r.DecodeWorker, r.DecodeRank, r.PrefillWorker, r.PrefillRank, r.CachedTokens, r.TTFTMS, r.AvgITLMS, r.TotalMS)
	want := "[18446744073709551614 18446744073709551615] [1 -1] [0 18446744073709551615] [0 -1] [4 -1] [41.5 NaN] [7 NaN] [300.25 NaN]"
	if got != want || !math.IsNaN(r.TTFTMS[1]) || r.DecodeWorker[1] != NoWorker {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func writeFiles(t *testing.T, texts ...string) []string {
	t.Helper()
	dir := t.TempDir()
	var paths []string
	for i, text := range texts {
		p := filepath.Join(dir, fmt.Sprintf("shard%d.jsonl", i))
		if err := os.WriteFile(p, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, p)
	}
	return paths
}

// TestDynamoShards: shards in any order are the same trace as one file.
func TestDynamoShards(t *testing.T) {
	a := ev(1300, `"request_id":"a","output_tokens":4,"request_received_ms":1050`, "1,2")
	b := ev(1200, `"request_id":"b","output_tokens":3,"request_received_ms":1000`, "1,3")
	c := ev(1200, `"request_id":"c","output_tokens":3,"request_received_ms":1040`, "4")
	whole := mustOpen(t, a+b+c, Options{})
	paths := writeFiles(t, a, "\n", b+c)
	for _, order := range [][]string{paths, {paths[2], paths[0]}, {paths[1], paths[2], paths[0]}} {
		tr, err := OpenAll(order, Options{})
		if err != nil {
			t.Fatal(err)
		}
		checkTrace(t, tr)
		if tr.Digest() != whole.Digest() {
			t.Errorf("%v: another trace", order)
		}
		if tr.File(0) != paths[2] || tr.Line(1) != 2 || tr.File(2) != paths[0] || tr.RequestID(2) != "a" {
			t.Errorf("%v: rows of %s and %s", order, tr.File(0), tr.File(2))
		}
	}
}

func TestShardProblems(t *testing.T) {
	good := strings.TrimSuffix(goodEvent, "\n")
	for _, c := range []struct {
		name  string
		texts []string
		o     Options
		want  string
	}{
		{"a request in two shards", []string{good, "\n" + good}, Options{},
			`1:2: request.request_id: found "r", expected a name that no other request has (it is also at 0:1; was a shard given twice?)`},
		{"another format", []string{good, goodRow}, Options{}, `1:1: trace format: found a mooncake row, expected rows of the format dynamo`},
		{"two Mooncake files", []string{goodRow, goodRow}, Options{}, `1: found a second file, expected one file (only Dynamo request traces come in several)`},
		{"nothing in any", []string{"", "\n"}, Options{}, `0: found no requests, expected at least one row (is the file whole?)`},
		{"asked for another block size", []string{good}, Options{TraceBlockSize: 512, OnError: SkipRow},
			`0:1: request.replay.trace_block_size: found 4, expected 512, the trace block size that was asked for (leave it out: the rows name their own)`},
		{"no block size", []string{goodRow}, Options{TraceBlockSize: -1}, `0: trace block size: found -1, expected 1 token or more`},
		{"all skipped", []string{`{"timestamp":1}`}, Options{OnError: SkipRow},
			`0: found no usable requests in 1 rows, expected at least one; the first problem: 0:1: output_length: found nothing, expected the number of output tokens, 0 or more`},
	} {
		t.Run(c.name, func(t *testing.T) {
			paths := writeFiles(t, c.texts...)
			_, err := OpenAll(paths, c.o)
			if err == nil {
				t.Fatal("the trace was read")
			}
			got := err.Error()
			for i, p := range paths {
				got = strings.ReplaceAll(got, p, fmt.Sprint(i))
			}
			if got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
	if tr, err := openText(good, Options{TraceBlockSize: 4}); err != nil || tr.BlockSize() != 4 {
		t.Errorf("the right block size was refused: %v", err)
	}
}
