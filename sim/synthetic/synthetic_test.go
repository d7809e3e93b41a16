package synthetic

import (
	"math"
	"testing"
)

func arrivals(t *testing.T, l Load) (out []float64) {
	t.Helper()
	l.InputTokens, l.OutputTokens, l.BlockSize = 100, 5, 64
	trace, err := l.Trace()
	if err != nil {
		t.Fatal(err)
	}
	for i := range trace.Len() {
		out = append(out, trace.Arrival(i))
		if n := len(trace.Nodes(i)); n != 2 {
			t.Errorf("request %d has %d blocks, expected 2", i, n)
		}
	}
	return out
}

// TestArrivals compares with what Dynamo's replay reports, bit by bit.
func TestArrivals(t *testing.T) {
	for name, c := range map[string]struct {
		load Load
		want []float64
	}{
		"10/s":         {Load{Requests: 5, Rate: 10, Seed: DefaultSeed}, []float64{0, 74.77246176406965, 153.01953951913882, 254.207536844964, 306.2785951560703}},
		"another seed": {Load{Requests: 5, Rate: 10, Seed: 7}, []float64{0, 3.0786437168091014, 39.76362317455055, 55.153612583970286, 133.35520869913557}},
		"regular":      {Load{Requests: 3, IntervalMS: 7.5}, []float64{0, 7.499999999999999, 14.999999999999998}},
	} {
		for i, got := range arrivals(t, c.load) {
			if got != c.want[i] {
				t.Errorf("%s: request %d arrives at %v ms, expected %v", name, i, got, c.want[i])
			}
		}
	}
}

// TestRequestsShareNothing checks that every block is new.
func TestRequestsShareNothing(t *testing.T) {
	l := Load{Requests: 20, InputTokens: 100, OutputTokens: 1, BlockSize: 64, ClosedLoop: true, Turns: 3}
	trace, err := l.Trace()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[uint32]bool{}
	for i := range trace.Len() {
		for _, n := range trace.Nodes(i) {
			if seen[n] {
				t.Fatalf("request %d repeats block %d", i, n)
			}
			seen[n] = true
		}
	}
	if trace.Len() != 60 || len(seen) != 120 {
		t.Errorf("%d requests with %d blocks, expected 60 and 120", trace.Len(), len(seen))
	}
}

// TestGroupsSharePrefixes checks that requests share exactly the first blocks
// with those of their group, half a block counting as one.
func TestGroupsSharePrefixes(t *testing.T) {
	l := Load{Requests: 60, InputTokens: 300, OutputTokens: 1, BlockSize: 64, IntervalMS: 1, SharedPrefix: 0.5, Groups: 4, Turns: 2}
	trace, err := l.Trace()
	if err != nil {
		t.Fatal(err)
	}
	groups, own := map[uint32]int{}, map[uint32]bool{}
	for i := range trace.Len() {
		nodes := trace.Nodes(i)
		if len(nodes) != 5 {
			t.Fatalf("%d blocks, expected 5", len(nodes))
		}
		groups[nodes[2]]++
		if own[nodes[3]] {
			t.Fatalf("request %d shares its fourth block", i)
		}
		own[nodes[3]] = true
		if i%2 == 1 && nodes[0] != trace.Nodes(i - 1)[0] {
			t.Errorf("a turn of request %d has another group", i)
		}
	}
	if len(groups) != 4 {
		t.Errorf("%d groups, expected 4", len(groups))
	}
	for g, n := range groups {
		if n < 12 {
			t.Errorf("group %d has %d of 120 requests, expected about 30", g, n)
		}
	}
}

func TestRefusedLoads(t *testing.T) {
	good := Load{Requests: 1, InputTokens: 1, BlockSize: 1, Rate: 1}
	for name, change := range map[string]func(*Load){
		"no requests":  func(l *Load) { l.Requests = 0 },
		"no prompt":    func(l *Load) { l.InputTokens = 0 },
		"two arrivals": func(l *Load) { l.IntervalMS = 3 },
		"no arrivals":  func(l *Load) { l.Rate = 0 },
		"negative":     func(l *Load) { l.InterTurnDelayMS = -1 },
		"a share of 2": func(l *Load) { l.SharedPrefix = 2 },
		"no groups":    func(l *Load) { l.Groups = -1 },
	} {
		l := good
		change(&l)
		if _, err := l.Trace(); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := good.Trace(); err != nil {
		t.Error(err)
	}
}

// TestLogarithm holds the logarithm against the standard library's, which is
// within a unit of the last place, and against identities.
func TestLogarithm(t *testing.T) {
	for x := 0x1p-60; x < 1e9; x *= 1.0937 {
		got, want := log(x), math.Log(x)
		if math.Abs(got-want) > 2e-16*math.Max(math.Abs(want), 1e-300) && math.Abs(got-want) > 2.3e-16*math.Abs(want) {
			t.Errorf("ln(%v) = %v, the standard library says %v", x, got, want)
		}
	}
	for x, want := range map[float64]float64{1: 0, 2: math.Ln2, 0.5: -math.Ln2, 10: math.Ln10, math.E: 1} {
		if got := log(x); got != want {
			t.Errorf("ln(%v) = %v, expected %v", x, got, want)
		}
	}
}
