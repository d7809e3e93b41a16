package workloads

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestMaxRows reads the first rows of a trace and no more, even where a later
// one is malformed; blank lines do not count.
func TestMaxRows(t *testing.T) {
	var text strings.Builder
	for i := range 5 {
		fmt.Fprintf(&text, "{\"timestamp\": %d, \"input_length\": 600, \"output_length\": 3, \"hash_ids\": [1, %d]}\n\n", i, 10+i)
	}
	text.WriteString("not a row\n")
	path := filepath.Join(t.TempDir(), "t.jsonl")
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{1, 2, 5} {
		got, err := Open(path, Options{MaxRows: n})
		if err != nil {
			t.Fatal(err)
		}
		if got.Len() != n {
			t.Errorf("%d rows, expected %d", got.Len(), n)
		}
	}
	if _, err := Open(path, Options{MaxRows: 6}); err == nil || !strings.Contains(err.Error(), "t.jsonl:11") {
		t.Errorf("%v, expected an error in line 11", err)
	}
	if _, err := Open(path, Options{}); err == nil {
		t.Error("the malformed row was not seen")
	}
}
