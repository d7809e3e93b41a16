package policy

import (
	"errors"
	"math"
	"strings"
	"testing"
)

// rows makes candidates with the given active requests and overlaps.
func rows(requests []int64, overlap []int32) []Candidate {
	list := make([]Candidate, len(requests))
	for i := range list {
		list[i] = Candidate{Target: int32(i), Worker: int32(i), Requests: requests[i]}
		if overlap != nil {
			list[i].Overlap = overlap[i]
			list[i].CachedTokens = int64(overlap[i]) * 64
		}
	}
	return list
}

func choose(t *testing.T, kind string, parameters map[string]any, q *Request, list []Candidate) Outcome {
	t.Helper()
	p, err := New(kind, parameters)
	if err != nil {
		t.Fatal(err)
	}
	out, err := (&Chooser{Policy: *p}).Choose(q, list)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestTwoTier: every comparison is strict, ties go to the first row.
func TestTwoTier(t *testing.T) {
	q := &Request{ISL: 20 * 64, BlockSize: 64, Affinity: -1} // 20 blocks
	odd := &Request{ISL: 19 * 64, BlockSize: 64, Affinity: -1}
	for _, c := range []struct {
		name     string
		q        *Request
		requests []int64
		overlap  []int32
		want     int32
	}{
		{"all equal", q, []int64{0, 0, 0}, []int32{0, 0, 0}, 0},
		{"half is not above a half", q, []int64{0, 1}, []int32{0, 10}, 0},
		{"10 of 19 is", odd, []int64{0, 1}, []int32{0, 10}, 1},
		{"a gap of 32 is not above 32", odd, []int64{0, 32}, []int32{0, 19}, 1},
		{"a gap of 33 is", odd, []int64{0, 33}, []int32{0, 19}, 0},
		{"both tests must hold", odd, []int64{330, 363}, []int32{0, 19}, 1}, // 363 = 1.1 * 330
		{"and do", odd, []int64{330, 364}, []int32{0, 19}, 0},
		{"fewest requests among the most cached", odd, []int64{5, 4, 3}, []int32{19, 19, 0}, 1},
		{"first of equals", odd, []int64{5, 4, 4}, []int32{0, 19, 19}, 1},
		{"no prompt", &Request{BlockSize: 64}, []int64{2, 1}, []int32{0, 0}, 1},
	} {
		out := choose(t, "dynamo-two-tier-cost-fn", nil, c.q, rows(c.requests, c.overlap))
		if out.Target != c.want || out.Cost != 0 {
			t.Errorf("%s: row %d at cost %v, expected row %d at 0", c.name, out.Target, out.Cost, c.want)
		}
	}
	if out := choose(t, "dynamo-two-tier-cost-fn", map[string]any{"balance_abs_threshold": int64(0), "balance_rel_threshold": 1.0, "cache_threshold": 0.0}, odd,
		rows([]int64{3, 4}, []int32{0, 19})); out.Target != 0 {
		t.Error("parameters have no effect")
	}
}

func TestThunderAgent(t *testing.T) {
	list := []Candidate{
		{Target: 0, Worker: 0, PrefillTokens: 100, ActiveBlocks: 1},
		{Target: 1, Worker: 1, PrefillTokens: 0, ActiveBlocks: 1, NewBlocks: 1},
		{Target: 2, Worker: 2, PrefillTokens: 64, ActiveBlocks: 1},
	}
	q := &Request{ISL: 64, BlockSize: 64, Affinity: -1}
	if out := choose(t, "thunderagent", nil, q, list); out.Target != 1 { // 164, 128, 128
		t.Errorf("row %d, expected the first with 128 tokens", out.Target)
	}
	q.Affinity = 0
	if out := choose(t, "thunderagent", nil, q, list); out.Target != 0 {
		t.Errorf("row %d, expected the session's", out.Target)
	}
	q.Affinity = 7
	if out := choose(t, "thunderagent", nil, q, list); out.Target != 1 {
		t.Errorf("row %d, expected that a worker out of reach changes nothing", out.Target)
	}
}

func TestMultiplicative(t *testing.T) {
	q := &Request{ISL: 640, BlockSize: 64, Affinity: -1}
	list := rows([]int64{1, 5, 0}, []int32{5, 9, 0})
	list[2].PrefillTokens = 100
	// (640-320)*2 = 640, 64*6 = 384, 740*1
	if out := choose(t, "multiplicative", nil, q, list); out.Target != 1 || out.Cost != 384 {
		t.Errorf("row %d at %v, expected row 1 at 384", out.Target, out.Cost)
	}
}

func TestPrefixAffinity(t *testing.T) {
	q := &Request{ISL: 640, BlockSize: 64, Affinity: -1}
	// Mean 4: the guard is at 1.5*4 + 4 = 10.
	if out := choose(t, "prefix-affinity", nil, q, rows([]int64{10, 1, 1}, []int32{8, 0, 0})); out.Target != 0 {
		t.Errorf("row %d, expected the one with the prefix at the guard's limit", out.Target)
	}
	if out := choose(t, "prefix-affinity", nil, q, rows([]int64{12, 0, 0}, []int32{8, 0, 3})); out.Target != 2 {
		t.Errorf("row %d, expected the next best prefix beyond the guard", out.Target)
	}
	if out := choose(t, "prefix-affinity", map[string]any{"load_slack": int64(50)}, q, rows([]int64{12, 0, 0}, []int32{8, 0, 3})); out.Target != 0 {
		t.Error("parameters have no effect")
	}
	if out := choose(t, "prefix-affinity", nil, q, rows([]int64{3, 2}, []int32{4, 4})); out.Target != 1 {
		t.Error("equal prefixes should go to fewer requests")
	}
}

func TestClairvoyant(t *testing.T) {
	q := &Request{ISL: 640, BlockSize: 64, Affinity: -1}
	list := rows([]int64{0, 0}, nil)
	list[0].Truth = Facts{Held: 4, PrefillTokens: 100} // 100 + 640 - 256 = 484
	list[1].Truth = Facts{Held: 2, DecodeTokens: 0}    // 640 - 128 = 512
	if out := choose(t, "clairvoyant", nil, q, list); out.Target != 0 || out.Cost != 484 {
		t.Errorf("row %d at %v, expected row 0 at 484", out.Target, out.Cost)
	}
	list[0].Truth.DecodeTokens = 1000 // + 50
	if out := choose(t, "clairvoyant", nil, q, list); out.Target != 1 {
		t.Error("tokens to be generated do not count")
	}
}

// TestContract: what a policy must not do is an error with its name.
func TestContract(t *testing.T) {
	q := &Request{Row: 17, ISL: 64, BlockSize: 64}
	three := rows([]int64{0, 0, 0}, nil)
	cost := func(x float64) Scorer {
		return Scorer{"", func(_ *Request, _ []Candidate, cost []float64) { cost[1] = x }}
	}
	pick := func(i int) Picker { return func(*Request, []Candidate, []float64) int { return i } }
	for _, c := range []struct {
		name string
		p    Policy
		want string
	}{
		{"NaN", Policy{Scorers: []Scorer{cost(math.NaN())}}, "policy mine: found cost NaN from scorer 1 for worker 1 and request 17, expected a finite number"},
		{"infinite sum", Policy{Scorers: []Scorer{cost(math.MaxFloat64), cost(math.MaxFloat64)}}, "from scorer 2 for worker 1"},
		{"outside", Policy{Picker: pick(3)}, "policy mine: found candidate 3 chosen for request 17, expected one of the 3 eligible candidates (0 to 2)"},
		{"negative", Policy{Picker: pick(-1)}, "found candidate -1"},
		{"all dropped", Policy{Filters: []Filter{{"nothing", func(_ *Request, _ []Candidate, keep []bool) { clear(keep) }}}}, "policy mine: found every candidate filtered out"},
	} {
		c.p.Name = "mine"
		_, err := (&Chooser{Policy: c.p}).Choose(q, three)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, expected %s", c.name, err, c.want)
		}
		var filtered *ErrFiltered
		if errors.As(err, &filtered) != (c.name == "all dropped") {
			t.Errorf("%s: error %T", c.name, err)
		}
	}
	// A candidate that a filter dropped is out of a picker's reach.
	p := Policy{Name: "mine", Filters: []Filter{{"not the first", func(_ *Request, _ []Candidate, keep []bool) { keep[0] = false }}}, Picker: pick(2)}
	if _, err := (&Chooser{Policy: p}).Choose(q, three); err == nil {
		t.Error("a dropped candidate was chosen")
	}
	p.Picker = pick(0)
	if out, err := (&Chooser{Policy: p}).Choose(q, three); err != nil || out.Target != 1 {
		t.Errorf("%+v, %v: the first row left is target 1", out, err)
	}
}

// TestTiesAreShared: without a picker equals share evenly and repeatably.
func TestTiesAreShared(t *testing.T) {
	c := Chooser{Policy: Policy{Name: "mine", Scorers: []Scorer{{"first", func(_ *Request, _ []Candidate, cost []float64) { cost[0] = 1 }}}}}
	var n [3]int
	for row := range int32(4000) {
		out, err := c.Choose(&Request{Row: row, BlockSize: 1}, rows([]int64{0, 0, 0}, nil))
		if err != nil {
			t.Fatal(err)
		}
		again, _ := c.Choose(&Request{Row: row, BlockSize: 1}, rows([]int64{0, 0, 0}, nil))
		if again != out || out.Tied != 2 || out.Least != 0 {
			t.Fatalf("%+v, then %+v", out, again)
		}
		n[out.Target]++
	}
	if n[0] != 0 || n[1] < 1850 || n[2] < 1850 {
		t.Errorf("choices %v, expected about 0, 2000 and 2000", n)
	}
}

// TestCatalogue: every linked type builds without parameters and refuses ones it
// does not have.
func TestCatalogue(t *testing.T) {
	for _, k := range Types() {
		p, err := New(k.Name, nil)
		if err != nil || p.Name != k.Name || p.Needs == 0 || k.Help == "" {
			t.Errorf("%s: %+v, %v", k.Name, p, err)
		}
		if _, err := New(k.Name, map[string]any{"no_such": 1}); err == nil || !strings.Contains(err.Error(), k.Name+": parameters.no_such") {
			t.Errorf("%s: %v", k.Name, err)
		}
	}
	if _, err := New("x", nil); err == nil || !strings.Contains(err.Error(), "expected one of the linked types dynamo-default-cost-fn, dynamo-two-tier-cost-fn, thunderagent, ") {
		t.Errorf("%v", err)
	}
	for name, v := range map[string]any{"overlap_score_credit": -1.0, "router_temperature": math.NaN(), "prefill_load_scale": "x"} {
		if _, err := New("dynamo-default-cost-fn", map[string]any{name: v}); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s = %v: %v", name, v, err)
		}
	}
}
