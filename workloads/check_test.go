package workloads

import (
	"math"
	"testing"
)

// checkTrace holds a trace to what its accessors promise.
func checkTrace(t testing.TB, tr *Trace) {
	t.Helper()
	if tr.Len() == 0 {
		t.Fatal("a trace without rows")
	}
	seen := uint32(0)
	parents := map[uint32]uint32{}
	for i := range tr.Len() {
		nodes := tr.Nodes(i)
		if want := blocksFor(int64(tr.InputTokens(i)), tr.BlockSize()); len(nodes) != want || want == 0 {
			t.Fatalf("row %d: %d nodes for %d tokens", i, len(nodes), tr.InputTokens(i))
		}
		if tr.OutputTokens(i) < 0 || tr.InputTokens(i) <= 0 || tr.Line(i) <= 0 {
			t.Fatalf("row %d: lengths %d and %d, line %d", i, tr.InputTokens(i), tr.OutputTokens(i), tr.Line(i))
		}
		parent := root
		for _, n := range nodes {
			if n > seen {
				t.Fatalf("row %d: node %d comes before node %d", i, n, seen)
			}
			if n == seen {
				seen++
				parents[n] = parent
			}
			if parents[n] != parent {
				t.Fatalf("row %d: node %d has parents %d and %d", i, n, parents[n], parent)
			}
			parent = n + 1
		}
		checkTurn(t, tr, i)
		checkIDs(t, tr, i)
	}
	if seen != tr.NumNodes() {
		t.Fatalf("%d nodes, NumNodes says %d", seen, tr.NumNodes())
	}
}

func checkTurn(t testing.TB, tr *Trace, i int) {
	t.Helper()
	if d := tr.Delay(i); !(d >= 0) || math.IsInf(d, 0) {
		t.Fatalf("row %d: delay %v", i, d)
	}
	prev := tr.Prev(i)
	if (prev == NoRow) != (tr.Turn(i) == 0) {
		t.Fatalf("row %d: turn %d after row %d", i, tr.Turn(i), prev)
	}
	if prev != NoRow && (prev >= int32(i) || tr.Next(int(prev)) != int32(i) || tr.Turn(int(prev)) != tr.Turn(i)-1 ||
		tr.Session(int(prev)) != tr.Session(i) || tr.SessionName(int(prev)) != tr.SessionName(i)) {
		t.Fatalf("row %d does not follow row %d", i, prev)
	}
	if prev != NoRow && !tr.MultiTurn() {
		t.Fatal("a later turn in a trace without any")
	}
}

func checkIDs(t testing.TB, tr *Trace, i int) {
	t.Helper()
	ids := tr.BlockIDs(i)
	if (ids != nil) != (tr.Delta() || tr.outputs != nil) || ids != nil && len(ids) != len(tr.Nodes(i)) {
		t.Fatalf("row %d: %d block ids for %d nodes", i, len(ids), len(tr.Nodes(i)))
	}
	for _, id := range ids {
		if id >= tr.NumBlockIDs() {
			t.Fatalf("row %d: block id %d of %d", i, id, tr.NumBlockIDs())
		}
	}
	if tokens := tr.OutputTokenIDs(i); tokens != nil && len(tokens) != int(tr.OutputTokens(i)) {
		t.Fatalf("row %d: %d tokens for %d", i, len(tokens), tr.OutputTokens(i))
	}
}
