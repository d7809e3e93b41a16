package synthetic

import (
	"fmt"
	"math"
	"strings"
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

// TestLoadsWithoutRoom: the largest load of each kind is one, and a little more is
// refused by the numbers that were given, before anything is made.
func TestLoadsWithoutRoom(t *testing.T) {
	for _, c := range []struct {
		name string
		load Load
		most bool // it is the largest one
	}{
		{"requests", Load{Requests: MaxRequests, InputTokens: 10, BlockSize: 64}, true},
		{"one request more", Load{Requests: MaxRequests + 1, InputTokens: 10, BlockSize: 64}, false},
		{"turns", Load{Requests: MaxRequests / 5, Turns: 5, InputTokens: 10, BlockSize: 64}, true},
		{"one turn more", Load{Requests: MaxRequests / 5, Turns: 6, InputTokens: 10, BlockSize: 64}, false},
		{"blocks", Load{Requests: MaxBlocks / 1000, InputTokens: 64_000, BlockSize: 64}, true},
		{"one token in a block more", Load{Requests: MaxBlocks / 1000, InputTokens: 64_001, BlockSize: 64}, false},
		{"blocks of one token", Load{Requests: 2, InputTokens: MaxBlocks, BlockSize: 1}, false},
		{"tokens", Load{Requests: 1_000_000, InputTokens: 5000, OutputTokens: 5000, BlockSize: 512}, true},
		{"one output token more", Load{Requests: 1_000_000, InputTokens: 5000, OutputTokens: 5001, BlockSize: 512}, false},
		{"everything", Load{Requests: math.MaxInt32, Turns: math.MaxInt32, InputTokens: math.MaxInt32, OutputTokens: math.MaxInt32, BlockSize: 1}, false},
	} {
		c.load.Rate = 1
		err := c.load.Validate()
		switch {
		case c.most && err != nil:
			t.Errorf("%s: %v", c.name, err)
		case !c.most && (err == nil || !strings.Contains(err.Error(), fmt.Sprintf("found %d sessions with turns-per-session %d, input-tokens %d and output-tokens %d, ",
			c.load.Requests, max(1, c.load.Turns), c.load.InputTokens, c.load.OutputTokens))):
			t.Errorf("%s: found %v, expected an error with the numbers", c.name, err)
		}
	}
}

// TestSessionsBeyondTheClock: a load whose sessions begin too late is refused by
// the setting that says when they begin.
func TestSessionsBeyondTheClock(t *testing.T) {
	for want, l := range map[string]Load{
		"request-rate: found 1e-300, with which session 2 begins at ":                      {Requests: 2, Rate: 1e-300},
		"request-rate: found 5e-324, with which session 2 begins at +Inf ms":               {Requests: 2, Rate: 5e-324},
		"arrival-interval-ms: found 1e+308, with which session 2 begins at ":               {Requests: 2, IntervalMS: 1e308},
		"arrival-interval-ms: found 4e+14, with which session 4 begins at 1.2e+15 ms, exp": {Requests: 9, IntervalMS: 4e14},
	} {
		l.InputTokens, l.BlockSize = 10, 64
		if _, err := l.Trace(); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("found %v, expected %s", err, want)
		}
		l.Requests = 1
		if _, err := l.Trace(); err != nil {
			t.Errorf("one session: %v", err)
		}
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
