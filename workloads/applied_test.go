package workloads

import (
	"slices"
	"strings"
	"testing"
)

func TestAppliedComputeSessions(t *testing.T) {
	trace, err := FromApplied([]AppliedCompute{
		{Turns: 2, Prompt: 300, Responses: []int32{5, 6}, ToolOutputs: []int32{70, 80}, ToolLatencies: []float64{0.02, 0.03}, Final: 4},
		{Turns: 0, Prompt: 300, Final: 3},
		{Turns: 0, Prompt: 300, Final: 3},
	}, 64, 0.5, 2)
	if err != nil {
		t.Fatal(err)
	}
	if trace.Len() != 5 {
		t.Fatalf("%d requests, expected 5", trace.Len())
	}
	for i, want := range [][2]int32{{300, 5}, {375, 6}, {461, 4}, {300, 3}, {300, 3}} {
		if trace.InputTokens(i) != want[0] || trace.OutputTokens(i) != want[1] {
			t.Errorf("request %d: %d and %d tokens, expected %v", i, trace.InputTokens(i), trace.OutputTokens(i), want)
		}
	}
	if trace.Delay(1) != 20 || trace.Delay(2) != 30 {
		t.Errorf("delays %v and %v ms, expected 20 and 30", trace.Delay(1), trace.Delay(2))
	}
	// A turn begins as the one before; sessions of one group share half of the
	// first prompt, rounded up, others nothing.
	if a, b := trace.Nodes(0), trace.Nodes(2); !slices.Equal(a, b[:len(a)]) {
		t.Errorf("nodes %v and %v", a, b)
	}
	if a, b, c := trace.Nodes(0), trace.Nodes(3), trace.Nodes(4); a[0] == b[0] || a[2] != c[2] || a[3] == c[3] {
		t.Errorf("nodes %v, %v and %v", a, b, c)
	}
}

func TestAppliedComputeNamesWhatIsWrong(t *testing.T) {
	_, err := FromApplied([]AppliedCompute{{Turns: 2, Prompt: 1, Responses: []int32{1}}}, 64, 0, 0)
	if err == nil || !strings.Contains(err.Error(), "num_turns: found 2, expected as many responses") {
		t.Errorf("error %v", err)
	}
}
