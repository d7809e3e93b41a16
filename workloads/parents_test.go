package workloads

import (
	"slices"
	"strings"
	"testing"
)

// TestParents: rows before and after one that names a parent name none, and a
// parent without a session is nothing.
func TestParents(t *testing.T) {
	const row = `{"timestamp":1,"output_length":1,"hash_ids":[1]`
	tr, err := openText(strings.Join([]string{
		row + `}`,
		row + `,"session_id":"a"}`,
		row + `,"session_id":"b","parent_session_id":"x"}`,
		row + `,"parent_session_id":"x"}`,
		row + `,"session_id":"c","parent_session_id":"a"}`,
		row + `,"parent_session_id":"x","session_id":"d"}`,
		row + `,"session_id":"e","parent_session_id":""}`,
		row + `,"session_id":"f","parent_session_id":null}`,
	}, "\n")+"\n", Options{})
	if err != nil {
		t.Fatal(err)
	}
	var got []int32
	for i := range tr.Len() {
		got = append(got, tr.Parent(i))
	}
	if want := []int32{NoRow, NoRow, 0, NoRow, 1, 0, NoRow, NoRow}; !slices.Equal(got, want) {
		t.Errorf("parents %v, expected %v", got, want)
	}
	tr, err = openText(row+`,"session_id":"a"}`+"\n", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if tr.parents != nil || tr.Parent(0) != NoRow {
		t.Error("a trace without parents keeps a column for them")
	}
}
