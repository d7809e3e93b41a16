package columnar

import (
	"bytes"
	"math"
	"strings"
	"testing"
)

// TestReadNumbers reads back columns of numbers with nulls among them.
func TestReadNumbers(t *testing.T) {
	type row struct {
		n  int64
		ok bool
		v  float64
	}
	rows := []row{{1, true, 0.5}, {0, false, math.NaN()}, {1 << 52, true, -2}}
	columns := []Column[row]{
		counts("always", "", "", func(r *row) int64 { return r.n + 1 }),
		integers("some", "", "", func(r *row) (int64, bool) { return r.n, r.ok }),
		decimals("real", "", "", func(r *row) float64 { return r.v }),
		labels("text", "", "", func(*row) string { return "x" }),
	}
	var text bytes.Buffer
	if err := writeParquet(&text, "t", columns, len(rows), func(i int) row { return rows[i] }); err != nil {
		t.Fatal(err)
	}
	got, err := ReadNumbers(bytes.NewReader(text.Bytes()), "real", "some", "always")
	if err != nil {
		t.Fatal(err)
	}
	want := [][]float64{{0.5, math.NaN(), -2}, {1, math.NaN(), 1 << 52}, {2, 1, 1<<52 + 1}}
	for i := range want {
		for k := range want[i] {
			if a, b := got[i][k], want[i][k]; a != b && !(math.IsNaN(a) && math.IsNaN(b)) {
				t.Errorf("column %d, row %d: %v, expected %v", i, k, a, b)
			}
		}
	}
	for name, want := range map[string]string{"none": "found no column none", "text": "expected numbers"} {
		if _, err := ReadNumbers(bytes.NewReader(text.Bytes()), name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, expected %q", name, err, want)
		}
	}
	if _, err := ReadNumbers(strings.NewReader("no such file")); err == nil {
		t.Error("text was read as Parquet")
	}
}

// FuzzReadNumbers survives damaged files.
func FuzzReadNumbers(f *testing.F) {
	var text bytes.Buffer
	columns := []Column[int]{integers("n", "", "", func(r *int) (int64, bool) { return int64(*r), *r%2 == 0 })}
	if err := writeParquet(&text, "t", columns, 5, func(i int) int { return i }); err != nil {
		f.Fatal(err)
	}
	f.Add(text.Bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := ReadNumbers(bytes.NewReader(data), "n")
		if err == nil && len(got) != 1 {
			t.Errorf("%d columns, expected 1", len(got))
		}
	})
}
