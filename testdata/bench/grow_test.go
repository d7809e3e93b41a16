package main

import (
	"strings"
	"testing"
)

const small = `{"timestamp": 0, "input_length": 600, "output_length": 3, "hash_ids": [0, 1]}
{"timestamp": 0, "input_length": 512, "output_length": 1, "hash_ids": [0]}
{"timestamp": 3000, "input_length": 700, "output_length": 2, "hash_ids": [0, 7]}
{"timestamp": 6000, "input_length": 1, "output_length": 0, "hash_ids": [2]}
`

func TestOneCopyIsTheTrace(t *testing.T) {
	rows, err := readRows(strings.NewReader(small))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := writeCopies(&b, rows, 1); err != nil {
		t.Fatal(err)
	}
	if b.String() != small {
		t.Errorf("got\n%s\nwant\n%s", b.String(), small)
	}
}

// Copies are a burst's gap apart and share no block.
func TestCopiesFollowEachOther(t *testing.T) {
	rows, err := readRows(strings.NewReader(small))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := writeCopies(&b, rows, 3); err != nil {
		t.Fatal(err)
	}
	got, err := readRows(strings.NewReader(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 12 {
		t.Fatalf("%d rows, want 12", len(got))
	}
	for i, x := range got {
		first, copy := rows[i%4], int64(i/4)
		if x.Timestamp != first.Timestamp+9000*copy || x.InputLength != first.InputLength || x.OutputLength != first.OutputLength {
			t.Errorf("row %d: %+v from %+v", i, x, first)
		}
		for k, id := range x.HashIDs {
			if id != first.HashIDs[k]+8*uint64(copy) {
				t.Errorf("row %d: ids %v from %v", i, x.HashIDs, first.HashIDs)
			}
		}
	}
}

func TestBadTraces(t *testing.T) {
	for _, text := range []string{"", "{", "[1]\n"} {
		if rows, err := readRows(strings.NewReader(text)); err == nil {
			t.Errorf("%q: read %v", text, rows)
		}
	}
}

func TestMedianOfRuns(t *testing.T) {
	runs := []used{{3, 6, 30}, {1, 9, 10}, {2, 5, 50}, {9, 8, 20}, {4, 7, 40}}
	if got := median(runs); got != (used{3, 7, 30}) {
		t.Errorf("median %v", got)
	}
	if got := median(runs[:2]); got != (used{2, 7.5, 20}) {
		t.Errorf("median of two %v", got)
	}
}
