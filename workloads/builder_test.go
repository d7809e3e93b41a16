package workloads

import (
	"slices"
	"testing"
)

func ms(x float64) *float64 { return &x }

func TestBuilderSharesPrefixes(t *testing.T) {
	tr, err := FromRows(BuilderOptions{BlockSize: 4},
		Row{Timestamp: 0, InputLength: 8, OutputLength: 2, HashIDs: []uint64{7, 9}},
		Row{Timestamp: 1, InputLength: 10, OutputLength: 2, HashIDs: []uint64{7, 9, 1 << 63}},
		Row{Timestamp: 2, OutputLength: 2, HashIDs: []uint64{9, 7}},
		Row{Timestamp: 3, InputLength: 3, OutputLength: 2, HashIDs: []uint64{7, 9}},
	)
	if err != nil {
		t.Fatal(err)
	}
	want := [][]uint32{{0, 1}, {0, 1, 2}, {3, 4}, {0}}
	for i, w := range want {
		if got := tr.Nodes(i); !slices.Equal(got, w) {
			t.Errorf("row %d: nodes %v, want %v", i, got, w)
		}
	}
	if tr.NumNodes() != 5 || tr.NumBlockIDs() != 3 || tr.InputTokens(2) != 8 || tr.Line(3) != 4 {
		t.Errorf("nodes %d, ids %d, isl %d, line %d", tr.NumNodes(), tr.NumBlockIDs(), tr.InputTokens(2), tr.Line(3))
	}
	if tr.BlockIDs(0) != nil || tr.MultiTurn() || tr.SessionName(1) != "request_2" {
		t.Error("a plain trace keeps block ids or sessions")
	}
}

func TestBuilderLinksTurns(t *testing.T) {
	tr, err := FromRows(BuilderOptions{BlockSize: 4},
		Row{Timestamp: 5, HashIDs: []uint64{1}},
		Row{Timestamp: 10, HashIDs: []uint64{1}, SessionID: "a"},
		Row{Timestamp: 11, HashIDs: []uint64{2}, SessionID: "b"},
		Row{Timestamp: NoTime, HashIDs: []uint64{3}, SessionID: "a", Delay: ms(7.25)},
		Row{Timestamp: 35, HashIDs: []uint64{3}, SessionID: "a"},
		Row{Timestamp: NoTime, HashIDs: []uint64{3}, SessionID: "b"},
	)
	if err != nil {
		t.Fatal(err)
	}
	type turn struct {
		session, turn, prev, next int32
		delay                     float64
		name                      string
	}
	want := []turn{
		{0, 0, NoRow, NoRow, 0, "request_1"},
		{1, 0, NoRow, 3, 0, "a"},
		{2, 0, NoRow, 5, 0, "b"},
		{1, 1, 1, 4, 7.25, "a"},
		{1, 2, 3, NoRow, 25, "a"},
		{2, 1, 2, NoRow, 0, "b"},
	}
	for i, w := range want {
		got := turn{tr.Session(i), tr.Turn(i), tr.Prev(i), tr.Next(i), tr.Delay(i), tr.SessionName(i)}
		if got != w {
			t.Errorf("row %d: %+v, want %+v", i, got, w)
		}
	}
	if !tr.MultiTurn() {
		t.Error("turns were not linked")
	}
}
