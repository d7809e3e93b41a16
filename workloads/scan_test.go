package workloads

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// failer is what plain and property tests share.
type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

// checkScan holds the scanner to the decoder on one line: whatever it accepts,
// the decoder reads the same way.
func checkScan(t failer, line string) (scanned bool) {
	t.Helper()
	line = strings.ReplaceAll(line, "\n", " ") + "\n"
	var fast, slow rawRow
	if !scanRow([]byte(line), &fast) {
		return false
	}
	var d decoder
	if p := d.decodeRow([]byte(line), &slow); p != nil {
		t.Fatalf("%q: the scanner reads what the decoder refuses: %v", line, p)
	}
	f, s := fmt.Sprintf("%x", fast), fmt.Sprintf("%x", slow)
	if f != s {
		t.Fatalf("%q:\nscanner %s\ndecoder %s", line, f, s)
	}
	return true
}

// TestScanReach: the usual shapes must not fall to the decoder, which is an
// order of magnitude slower.
func TestScanReach(t *testing.T) {
	for _, line := range []string{
		goodRow,
		`{"timestamp": 27482, "input_length": 6955, "output_length": 52, "hash_ids": [46, 47, 18446744073709551, 9999999999999999999, 0]}`,
		"\t{ \"timestamp\" : 1.5e-3 , \"hash_ids\" : [ 1 ,2\t, 3 ] } \r",
		`{"timestamp":-1.25,"hash_ids":[],"delay":0,"session_id":"s 1","request_id":"","policy_class":null}`,
		`{"session_id":"a","parent_session_id":"b","hash_ids":[1]}`,
		`{"hash_ids":[1],"worker_id":3,"dp_rank":0,"device_keys":[18446744073709551615,2]}`,
		`{"priority":-7,"strict_priority":7,"output_token_ids":[1,4294967295],"a":"b","b":1e5,"c":true,"d":false,"e":null}`,
	} {
		if !checkScan(t, line) {
			t.Errorf("%q is left to the decoder", line)
		}
	}
}

// aPiece draws a part of a row: usual, odd and broken ones.
func aPiece(t *rapid.T) string {
	key := rapid.SampledFrom([]string{"timestamp", "created_time", "input_length", "input_tokens", "output_length", "hash_ids",
		"output_token_ids", "session_id", "delay", "delay_ms", "request_id", "priority", "strict_priority", "policy_class", "worker_id", "dp_rank", "device_keys", "prefill_worker_id", "prefill_dp_rank", "required_taints", "preferred_taints", "parent_session_id", "x", "é", "tim\\u0065"}).Draw(t, "key")
	value := rapid.OneOf(
		rapid.Map(rapid.Uint64(), func(n uint64) string { return strconv.FormatUint(n, 10) }),
		rapid.Map(rapid.Int64Range(-3000000000, 5000000000), func(n int64) string { return strconv.FormatInt(n, 10) }),
		rapid.Map(rapid.Float64(), func(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }),
		rapid.Map(rapid.SliceOfN(rapid.Uint64(), 0, 5), func(v []uint64) string { return strings.ReplaceAll(fmt.Sprint(v), " ", ",") }),
		rapid.Map(rapid.SliceOfN(rapid.Uint8(), 0, 9), func(v []byte) string { return strings.ReplaceAll(fmt.Sprint(v), " ", ", ") }),
		rapid.SampledFrom([]string{"null", "true", "false", `""`, `"a"`, `"a b"`, `"\n"`, `"é"`, "{}", `{"a":[1]}`, `["a"]`, `["a", "b", "a"]`, `[""]`, `{"a":1}`, `{"a": -0.5, "b":2e3}`, `{"a":1,"a":2}`, `{"a":"1"}`, "-0", "0.0", "1e5", "1E+5", "01",
			"1.", ".5", "1e", "-", "+1", "tru", "nul", "[1,]", "[,1]", "[1 2]", "[01]", "[1.5]", "[1", "9007199254740993", "10000000000000000000", "18446744073709551615", "27670116110564327424", "[36893488147419103232]", "[184467440737095516160]", "[1,22222222222222222222]", "1e999", "-1e-999",
			"18446744073709551616", "[18446744073709551615]", "[18446744073709551616]", "[9999999999999999999]", "[10000000000000000000]"}),
	).Draw(t, "value")
	space := func() string { return rapid.SampledFrom([]string{"", "", "", " ", "  ", "\t", "\r"}).Draw(t, "space") }
	return space() + `"` + key + `"` + space() + ":" + space() + value + space()
}

func TestScanEqualsDecode(t *testing.T) {
	usual := []string{`"timestamp":5`, `"input_length": 70`, `"output_length":3`, `"hash_ids":[1,2]`, `"priority":1`}
	rapid.Check(t, func(t *rapid.T) {
		// A row without an odd piece is always scanned, whatever its order.
		row := "{" + strings.Join(rapid.Permutation(usual).Draw(t, "usual"), ",") + "}"
		if !checkScan(t, row) {
			t.Fatalf("%q is left to the decoder", row)
		}
		pieces := rapid.SliceOfN(rapid.Custom(aPiece), 0, 5).Draw(t, "pieces")
		end := rapid.SampledFrom([]string{"}", "}", "}", "} ", ",}", "", "}x", "}}"}).Draw(t, "end")
		checkScan(t, "{"+strings.Join(pieces, ",")+end)
	})
}

func TestLeadingDigits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.IntRange(0, 8).Draw(t, "size")
		text := []byte(fmt.Sprintf("%08d", rapid.IntRange(0, 99999999).Draw(t, "n")))
		if size < 8 {
			text[size] = rapid.ByteRange('0'+10, 255).Draw(t, "above")
			if rapid.Bool().Draw(t, "low") {
				text[size] = rapid.ByteRange(0, '0'-1).Draw(t, "below")
			}
			copy(text[size+1:], rapid.SliceOfN(rapid.Byte(), 8, 8).Draw(t, "rest"))
		}
		n, got := leadingDigits(binary.LittleEndian.Uint64(text))
		if got != size {
			t.Fatalf("%q: %d digits, want %d", text, got, size)
		}
		if want, err := strconv.ParseUint(string(text[:size]), 10, 64); (err == nil || size == 0) && n != want {
			t.Fatalf("%q: %d, want %d", text, n, want)
		}
	})
}
