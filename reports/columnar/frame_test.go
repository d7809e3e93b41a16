package columnar

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// frame draws columns of all kinds.
func frame(t *rapid.T, rows int) []Values {
	single, double := float32(math.NaN()), math.NaN()
	return []Values{
		{Name: "i", Integers: rapid.SliceOfN(rapid.Int64(), rows, rows).Draw(t, "i")},
		{Name: "s", Shorts: rapid.SliceOfN(rapid.Int32(), rows, rows).Draw(t, "s")},
		{Name: "d", Decimals: rapid.SliceOfN(rapid.OneOf(rapid.Float64(), rapid.Just(double)), rows, rows).Draw(t, "d")},
		{Name: "f", Singles: rapid.SliceOfN(rapid.OneOf(rapid.Float32(), rapid.Just(single)), rows, rows).Draw(t, "f")},
		{Name: "t", Texts: rapid.SliceOfN(rapid.String(), rows, rows).Draw(t, "t")},
		{Name: "b", Booleans: rapid.SliceOfN(rapid.Bool(), rows, rows).Draw(t, "b")},
	}
}

// TestValuesReadBack: columns and notes come back as they were written.
func TestValuesReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := frame(t, rapid.IntRange(0, 40).Draw(t, "rows"))
		notes := []Entry{{"a", "1"}, {"b", "text with \"quotes\"\nand lines"}}
		var b, again bytes.Buffer
		for _, w := range []*bytes.Buffer{&b, &again} {
			if err := WriteValues(w, "table", want, notes...); err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(b.Bytes(), again.Bytes()) {
			t.Fatal("equal columns are different files")
		}
		got, found, err := ReadValues(bytes.NewReader(b.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, got, cmpopts.EquateNaNs(), cmpopts.EquateEmpty()); d != "" {
			t.Fatalf("columns:\n%s", d)
		}
		if d := cmp.Diff(notes, found); d != "" {
			t.Fatalf("notes:\n%s", d)
		}
		if found, err = ReadNotes(bytes.NewReader(b.Bytes())); err != nil || cmp.Diff(notes, found) != "" {
			t.Fatalf("notes alone: %v %v", found, err)
		}
	})
}

// TestManyRowGroups writes more rows than a row group holds.
func TestManyRowGroups(t *testing.T) {
	if testing.Short() {
		t.Skip("in short mode: millions of values in one goroutine")
	}
	n := 2*groupRows + 5
	want := []Values{{Name: "i", Integers: make([]int64, n)}, {Name: "d", Decimals: make([]float64, n)}, {Name: "t", Texts: make([]string, n)}, {Name: "f", Singles: make([]float32, n)}}
	for i := range n {
		want[0].Integers[i], want[1].Decimals[i], want[2].Texts[i], want[3].Singles[i] = int64(i), float64(i)/3, fmt.Sprint(i), float32(i)/7
		if i%5 == 0 {
			want[1].Decimals[i] = math.NaN()
		}
	}
	var b bytes.Buffer
	if err := WriteValues(&b, "table", want); err != nil {
		t.Fatal(err)
	}
	got, _, err := ReadValues(bytes.NewReader(b.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got, cmpopts.EquateNaNs()); d != "" {
		t.Errorf("differs:\n%.1000s", d)
	}
}

// TestDamagedFiles: a file that was cut or changed is an error or other values,
// never a panic.
func TestDamagedFiles(t *testing.T) {
	var b bytes.Buffer
	if err := WriteValues(&b, "table", []Values{{Name: "i", Integers: []int64{1, 2, 3}}, {Name: "t", Texts: []string{"a", "", "ccc"}}, {Name: "d", Decimals: []float64{1, math.NaN(), 3}}}, Entry{"k", "v"}); err != nil {
		t.Fatal(err)
	}
	whole := b.Bytes()
	for n := range whole {
		if _, _, err := ReadValues(bytes.NewReader(whole[:n])); err == nil {
			t.Errorf("a file cut after %d of %d bytes was read", n, len(whole))
		}
		bad := bytes.Clone(whole)
		bad[n] ^= 0x41
		ReadValues(bytes.NewReader(bad))
		ReadNotes(bytes.NewReader(bad))
	}
	if _, _, err := ReadValues(strings.NewReader("not a table")); err == nil || strings.Contains(err.Error(), "\n") {
		t.Errorf("text: %v", err)
	}
}

// TestFullDisk: the error of the writer below is the one that is reported.
func TestFullDisk(t *testing.T) {
	err := WriteValues(full{}, "table", []Values{{Name: "i", Integers: make([]int64, 1000)}})
	if err == nil || err.Error() != "disk full" {
		t.Errorf("got %v", err)
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, fmt.Errorf("disk full") }

// TestGroupsOfRows: a table written group by group is the table written at once.
func TestGroupsOfRows(t *testing.T) {
	n := 2*GroupRows + 5
	column := Values{Name: "i", Integers: make([]int64, n)}
	text := Values{Name: "t", Texts: make([]string, n)}
	for i := range n {
		column.Integers[i], text.Texts[i] = int64(i%977), strings.Repeat("x", i%5)
	}
	var whole, parts bytes.Buffer
	if err := WriteValues(&whole, "table", []Values{column, text}, Entry{"k", "v"}); err != nil {
		t.Fatal(err)
	}
	out, err := NewValuesWriter(&parts, "table", []Values{{Name: "i", Integers: []int64{}}, {Name: "t", Texts: []string{}}}, Entry{"k", "v"})
	if err != nil {
		t.Fatal(err)
	}
	for from := 0; from < n; from += GroupRows {
		to := min(n, from+GroupRows)
		group := []Values{{Name: "i", Integers: column.Integers[from:to]}, {Name: "t", Texts: text.Texts[from:to]}}
		if err := out.Write(group, 0, to-from); err != nil {
			t.Fatal(err)
		}
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(whole.Bytes(), parts.Bytes()) {
		t.Error("the files differ")
	}
}
