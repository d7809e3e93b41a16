package workloads

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestRoute: rows before and after one that names a worker name none.
func TestRoute(t *testing.T) {
	text := `{"timestamp":0,"input_length":3,"output_length":1,"hash_ids":[1]}
{"timestamp":0,"input_length":3,"output_length":1,"hash_ids":[1],"worker_id":2,"device_keys":[7,18446744073709551615]}
{"timestamp":0,"input_length":3,"output_length":1,"hash_ids":[1],"dp_rank":1,"worker_id":null,"prefill_worker_id":3}
{"timestamp":0,"input_length":3,"output_length":1,"hash_ids":[1]}
`
	tr, err := OpenAll([]string{"-"}, Options{Stdin: strings.NewReader(text)})
	if err != nil {
		t.Fatal(err)
	}
	want := []Route{{Worker: -1, Rank: -1}, {2, -1, []uint64{7, 1<<64 - 1}}, {Worker: -1, Rank: 1}, {Worker: -1, Rank: -1}}
	for i, prefill := range []Route{{-1, -1, nil}, {-1, -1, nil}, {3, -1, nil}, {-1, -1, nil}} {
		if d := cmp.Diff(prefill, tr.PrefillRouteOf(i)); d != "" {
			t.Errorf("prompt of row %d: %s", i, d)
		}
	}
	for i := range want {
		got := tr.RouteOf(i)
		if len(got.Keys) == 0 {
			got.Keys = nil
		}
		if d := cmp.Diff(want[i], got); d != "" {
			t.Errorf("row %d: %s", i, d)
		}
	}
}
