package workloads

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

func mustOpen(t testing.TB, text string, o Options) *Trace {
	t.Helper()
	tr, err := openText(text, o)
	if err != nil {
		t.Fatal(err)
	}
	checkTrace(t, tr)
	return tr
}

func TestMooncakeRow(t *testing.T) {
	const text = `
{"timestamp": -5, "input_length": 1100, "output_length": 0, "hash_ids": [18446744073709551615, 18446744073709551614, 9]}
 {"created_time":1.25e1,"output_tokens":3,"hash_ids":[18446744073709551615,7],"input_tokens":null,"unknown":{"a":[1,{"b":null}],"a":0},"unknown":1} 

{"request_id":"ué\"","priority":-3,"strict_priority":4294967295,"policy_class":"gold","timestamp":9007199254740993,"input_length":1,"output_length":2,"hash_ids":[9,8],"output_token_ids":[0,4294967295]}
{"timestamp":0.0,"input_length":512,"output_length":1,"hash_ids":[8],"session_id":null,"delay":0,"policy_class":null,"output_token_ids":null,"priority":null}` // no final newline
	tr := mustOpen(t, text, Options{TraceBlockSize: 512})
	if tr.Format() != FormatMooncake || tr.BlockSize() != 512 || tr.Len() != 4 || tr.MultiTurn() || tr.Delta() {
		t.Fatalf("%s, blocks of %d, %d rows", tr.Format(), tr.BlockSize(), tr.Len())
	}
	type row struct {
		line       int32
		at         float64
		in, out    int32
		nodes, ids []uint32
		request    string
		priority   int32
		strict     uint32
		class      string
		tokens     []uint32
	}
	want := []row{
		{2, -5, 1100, 0, []uint32{0, 1, 2}, []uint32{0, 1, 2}, "", 0, 0, "", nil},
		{3, 12.5, 1024, 3, []uint32{0, 3}, []uint32{0, 3}, "", 0, 0, "", nil},
		{5, 9007199254740992, 1, 2, []uint32{4}, []uint32{2}, `ué"`, -3, 4294967295, "gold", []uint32{0, 4294967295}},
		{6, 0, 512, 1, []uint32{5}, []uint32{4}, "", 0, 0, "", nil}, // id 8 was numbered on line 5, where it is surplus
	}
	for i, w := range want {
		p, s := tr.Priority(i)
		got := row{tr.Line(i), tr.Arrival(i), tr.InputTokens(i), tr.OutputTokens(i), tr.Nodes(i), tr.BlockIDs(i),
			tr.RequestID(i), p, s, tr.PolicyClass(i), tr.OutputTokenIDs(i)}
		if fmt.Sprintf("%#v", got) != fmt.Sprintf("%#v", w) {
			t.Errorf("row %d\ngot  %#v\nwant %#v", i, got, w)
		}
	}
	if tr.NumBlockIDs() != 5 || tr.NumNodes() != 6 || tr.Sorted() || tr.File(3) != "-" || tr.Recorded() != nil {
		t.Errorf("%d ids, %d nodes, sorted %v", tr.NumBlockIDs(), tr.NumNodes(), tr.Sorted())
	}
}

// turn is what a trace says about the place of a row in its session.
type turn struct {
	name       string
	turn, prev int32
	delay      float64
}

func turnsOf(tr *Trace) []turn {
	var all []turn
	for i := range tr.Len() {
		all = append(all, turn{tr.SessionName(i), tr.Turn(i), tr.Prev(i), tr.Delay(i)})
	}
	return all
}

// TestTurns holds the delays of sessions to what Dynamo 1.6.1 made of the same
// rows.
func TestTurns(t *testing.T) {
	// Each row is the part between the braces that says when.
	for _, c := range []struct {
		name   string
		closed bool
		rows   []string
		want   []turn
	}{
		{"timestamps", false, []string{`"session_id":"a","timestamp":0`, `"session_id":"b","timestamp":10`,
			`"session_id":"a","timestamp":100`, `"session_id":"a","delay":7.25`, `"session_id":"b","timestamp":60`},
			[]turn{{"a", 0, -1, 0}, {"b", 0, -1, 0}, {"a", 1, 0, 100}, {"a", 2, 2, 7.25}, {"b", 1, 1, 50}}},
		{"delay before timestamp", false, []string{`"session_id":"a","timestamp":5`, `"session_id":"a","timestamp":2,"delay":1`, `"session_id":"a","timestamp":5.5`},
			[]turn{{"a", 0, -1, 0}, {"a", 1, 0, 1}, {"a", 2, 1, 3.5}}},
		{"neither", false, []string{`"session_id":"a","timestamp":5`, `"session_id":"a"`, `"session_id":"a","timestamp":25`},
			[]turn{{"a", 0, -1, 0}, {"a", 1, 0, 0}, {"a", 2, 1, 20}}},
		{"no delay on a first turn", false, []string{`"session_id":"a","timestamp":5,"delay":0`, `"session_id":"a","delay":-0.0`},
			[]turn{{"a", 0, -1, 0}, {"a", 1, 0, 0}}},
		{"empty name", false, []string{`"session_id":"","timestamp":1`, `"timestamp":1`, `"session_id":"","timestamp":1`},
			[]turn{{"", 0, -1, 0}, {"request_2", 0, -1, 0}, {"", 1, 0, 0}}},
		{"a name like that of an unnamed row", false, []string{`"timestamp":1`, `"session_id":"request_1","delay":3`, `"timestamp":4`, `"session_id":"request_5","timestamp":1`, `"timestamp":2`},
			[]turn{{"request_1", 0, -1, 0}, {"request_1", 1, 0, 3}, {"request_3", 0, -1, 0}, {"request_5", 0, -1, 0}, {"request_5", 1, 3, 1}}},
		{"closed loop", true, []string{`"x":1`, `"session_id":"a"`, `"session_id":"a","delay":4`, `"timestamp":3`},
			[]turn{{"request_1", 0, -1, 0}, {"a", 0, -1, 0}, {"a", 1, 1, 4}, {"request_4", 0, -1, 0}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var text strings.Builder
			for _, r := range c.rows {
				fmt.Fprintf(&text, `{"hash_ids":[1],"output_length":1,%s}`+"\n", r)
			}
			for _, format := range []string{"mooncake", "mooncake-delta", "mooncake_delta"} {
				tr := mustOpen(t, text.String(), Options{ClosedLoop: c.closed, Format: format})
				if got := turnsOf(tr); !slices.Equal(got, c.want) {
					t.Errorf("%s\ngot  %v\nwant %v", format, got, c.want)
				}
				if tr.Delta() != (format != "mooncake") || !tr.MultiTurn() {
					t.Errorf("%s: delta %v, several turns %v", format, tr.Delta(), tr.MultiTurn())
				}
			}
		})
	}
}

// TestClosedLoopTimes: timestamps may be missing, but a difference needs two.
func TestClosedLoopTimes(t *testing.T) {
	const row = `{"hash_ids":[1],"output_length":1,"session_id":"a"%s}` + "\n"
	tr := mustOpen(t, fmt.Sprintf(row, ""), Options{ClosedLoop: true})
	if !math.IsNaN(tr.Arrival(0)) || !tr.Sorted() || tr.MultiTurn() || tr.SessionName(0) != "a" {
		t.Errorf("arrival %v, session %q", tr.Arrival(0), tr.SessionName(0))
	}
	_, err := openText(fmt.Sprintf(row, "")+fmt.Sprintf(row, `,"timestamp":7`), Options{ClosedLoop: true})
	const want = "-:2: timestamp: found 7, expected none, since no earlier turn of the session has one to count from (add a delay instead)"
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

func TestDeltaKeepsOwnBlocks(t *testing.T) {
	const text = `{"session_id":"s","timestamp":0,"input_length":1024,"output_length":4,"hash_ids":[5,6]}
{"session_id":"s","delay":5,"input_length":600,"output_length":4,"hash_ids":[6,5]}
`
	tr := mustOpen(t, text, Options{Format: FormatDelta})
	if got := fmt.Sprint(tr.Nodes(0), tr.Nodes(1), tr.BlockIDs(0), tr.BlockIDs(1)); got != "[0 1] [2 3] [0 1] [1 0]" {
		t.Error(got)
	}
	if plain := mustOpen(t, text, Options{Format: FormatMooncake}); plain.Digest() == tr.Digest() || plain.BlockIDs(0) != nil {
		t.Error("the delta trace equals the plain one")
	}
}

// TestFixtures reads real files of each format.
func TestFixtures(t *testing.T) {
	for _, c := range []struct {
		file, format, want string
		size               int32
	}{
		{"mooncake.jsonl", "", "mooncake: 2 rows, 56 and 7 tokens, 2 nodes", 32},
		{"mooncake_tiny.jsonl", "", "mooncake: 16 rows, 154607 and 4347 tokens, 263 nodes", 0},
		{"mooncake-delta.jsonl", FormatDelta, "mooncake-delta: 2 rows, 24 and 8 tokens, 2 nodes", 16},
		{"dynamo-standard.jsonl", "", "dynamo: 2 rows, 8 and 4 tokens, 2 nodes", 0},
	} {
		tr, err := Open("../testdata/traces/fixtures/"+c.file, Options{Format: c.format, TraceBlockSize: c.size})
		if err != nil {
			t.Error(err)
			continue
		}
		checkTrace(t, tr)
		s := tr.Stats()
		got := fmt.Sprintf("%s: %d rows, %d and %d tokens, %d nodes", tr.Format(), tr.Len(), s.Input.Total, s.Output.Total, tr.NumNodes())
		if got != c.want {
			t.Errorf("%s: got %s, want %s", c.file, got, c.want)
		}
	}
	for _, c := range [][2]string{
		{"agentic-mooncake.jsonl", "agentic Mooncake"}, {"applied-compute-agentic.jsonl", "applied-compute agentic"},
		{"weka.json", "Weka (kv-cache-tester)"}, {"dynamo-agentic.jsonl", "a request of an agent session"},
	} {
		_, err := Open("../testdata/traces/fixtures/"+c[0], Options{OnError: SkipRow})
		if p, ok := err.(*Problem); !ok || p.Found != c[1] {
			t.Errorf("%s: %v", c[0], err)
		}
	}
}

// TestConversation compares the whole public trace with its published figures.
func TestConversation(t *testing.T) {
	tr, err := Open("../testdata/traces/mooncake_conversation.jsonl.zst", Options{})
	if err != nil {
		t.Fatal(err)
	}
	checkTrace(t, tr)
	s := tr.Stats()
	if s.Requests != 12031 || s.BlockRefs != 288500 || s.Blocks != 182790 || tr.NumBlockIDs() != 182790 ||
		s.Arrivals != 1180 || s.MaxTogether != 28 || s.Input.Min != 891 || s.Input.Max != 126195 ||
		s.Output.Min != 1 || s.Output.Max != 2000 || !tr.Sorted() || s.SpanMS < 3536e3 || s.SpanMS > 3538e3 {
		t.Errorf("%+v", s)
	}
	if got := fmt.Sprintf("%.4f %.0f %.0f %.2f", s.RepeatedShare, s.Input.Mean, s.Output.Mean, s.PerSecond); got != "0.3664 12035 343 3.40" {
		t.Error(got)
	}
	const digest = "e339e7d43de79ac7d4ee6cc0d1c58ca92b44f33a6fd17ed3a71f458cf6a6c7b9" // results name it: it must not change by itself
	if got := tr.Digest(); got != digest {
		t.Errorf("digest %s, want %s", got, digest)
	}
	if tr.ShorterThan(891) != 0 || tr.ShorterThan(892) != 8 {
		t.Errorf("%d prompts below 892 tokens", tr.ShorterThan(892))
	}
}
