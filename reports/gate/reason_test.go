package gate

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"routesim/sim/router"
)

// TestDiverge finds what differs first, and says why.
func TestDiverge(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*Record)
		at     int // decision, 0 for none
		why    string
	}{
		{"nothing", func(*Record) {}, 0, ""},
		{"draw", func(r *Record) { r.Workers[2] = 1 }, 3, "All costs are as in the baseline: "},
		{"cost", func(r *Record) { r.Workers[2] = 1; r.Costs[5].Prefill, r.Costs[5].Cost = 9, 16 }, 3, "Costs differ: prefill term of w1 2.25 -> 9."},
		{"many terms", func(r *Record) {
			r.Workers[0] = 1
			for i := range 2 {
				r.Costs[i].Prefill, r.Costs[i].Credit, r.Costs[i].Decode = 50, 60, 70
			}
		}, 1, "and 3 more terms"},
		{"order", func(r *Record) { r.Rows[1], r.Rows[2] = 2, 1 }, 2, "Another request was next: 1 before, 2 now."},
		{"overlap", func(r *Record) { r.Overlaps[3] = 1 }, 4, "The same worker was chosen with an overlap of 3.00 blocks before and 1.00 now."},
		{"missing", func(r *Record) { r.Rows, r.Workers, r.Overlaps = r.Rows[:3], r.Workers[:3], r.Overlaps[:3] }, 4, "Request 3 is no longer routed."},
		{"more", func(r *Record) {
			r.Rows, r.Workers, r.Overlaps = append(r.Rows, 9), append(r.Workers, 0), append(r.Overlaps, 0)
		}, 5, "Request 9 was not routed before."},
		{"no tables", func(r *Record) { r.Workers[1], r.Fleet, r.Costs = 0, 0, nil }, 2, "not known on both sides"},
		{"other fleet", func(r *Record) { r.Workers[0], r.Fleet = 1, 4 }, 1, "There were 2 candidates before and 4 now."},
	} {
		a, b := recordFor(0), recordFor(0)
		c.change(b)
		d := diverge("w", 7, a, b)
		switch {
		case d == nil && c.at == 0:
		case d == nil || d.Decision != c.at || !strings.Contains(d.Why, c.why):
			t.Errorf("%s: %+v, expected decision %d with %q", c.name, d, c.at, c.why)
		}
	}
}

// TestFirstCost tells of costs that differed before the choice did.
func TestFirstCost(t *testing.T) {
	a, b := recordFor(0), recordFor(0)
	b.Costs[2].Decode++
	b.Workers[3] = 0
	d := diverge("w", 0, a, b)
	if d == nil || d.Decision != 4 || d.FirstCost != 2 || !strings.Contains(d.text(), "Costs differ from decision 2 (request 1) on.") {
		t.Errorf("%+v, expected costs to differ from decision 2", d)
	}
}

// TestMoved counts the requests that changed worker and what it did to them.
func TestMoved(t *testing.T) {
	a, b := recordFor(0), recordFor(0)
	b.Workers[1], b.Workers[3] = 0, 0
	b.TTFT = []float32{10, 26, 36, 60}
	m := moved("w", 0, a, b)
	if m.Total != 4 || len(m.Requests) != 2 || m.Requests[0].Row != 1 || m.Requests[1].Row != 3 ||
		m.MovedBefore != 30 || m.MovedAfter != 43 || m.OtherBefore != 20 || m.OtherAfter != 23 {
		t.Errorf("%+v, expected requests 1 and 3 with 30 -> 43 ms and 20 -> 23 ms for the others", m)
	}
}

// TestDivergeAgainstModel compares with the naive search over random records.
func TestDivergeAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) *Record {
			n := rapid.IntRange(0, 6).Draw(t, name)
			r := &Record{}
			for range n {
				r.Rows = append(r.Rows, rapid.Int32Range(0, 1).Draw(t, "row"))
				r.Workers = append(r.Workers, rapid.Int32Range(0, 1).Draw(t, "worker"))
				r.Overlaps = append(r.Overlaps, float64(rapid.IntRange(0, 1).Draw(t, "overlap")))
			}
			return r
		}
		a, b := draw("a"), draw("b")
		if rapid.Bool().Draw(t, "pools") {
			for _, r := range []*Record{a, b} {
				r.Prefill = rapid.SliceOfN(rapid.Int32Range(-1, 0), len(r.Rows), len(r.Rows)).Draw(t, "prefill")
			}
		}
		want := 0
		for n := 1; n <= max(len(a.Rows), len(b.Rows)) && want == 0; n++ {
			if n > len(a.Rows) || n > len(b.Rows) || !slices.Equal(a.Rows[:n], b.Rows[:n]) ||
				!slices.Equal(a.Workers[:n], b.Workers[:n]) || !slices.Equal(a.Overlaps[:n], b.Overlaps[:n]) ||
				a.Prefill != nil && !slices.Equal(a.Prefill[:n], b.Prefill[:n]) {
				want = n
			}
		}
		got := 0
		if d := diverge("w", 0, a, b); d != nil {
			got = d.Decision
		}
		if got != want {
			t.Fatalf("decision %d, expected %d", got, want)
		}
	})
}

// TestCollectorKeepsWhatIsWritten compares a collected table with the same one
// written and read back: nothing of a cost may get lost on the way, or all of
// them would seem to differ.
func TestCollectorKeepsWhatIsWritten(t *testing.T) {
	var full router.Terms
	v := reflect.ValueOf(&full).Elem()
	for i := range v.NumField() {
		switch f := v.Field(i); {
		case f.CanFloat():
			f.SetFloat(float64(i) + 1.5)
		case f.CanInt():
			f.SetInt(int64(i) + 1)
		}
	}
	c := &Collector{Details: true}
	c.Decided(0, 0, []router.Terms{full, full})
	want := &Record{Rows: []int32{0}, Workers: []int32{0}, Overlaps: []float64{0}, Fleet: c.fleet, Costs: c.costs}
	err := unpackRecords(packRecords([]Outcome{{Name: "a", Runs: []Run{{Record: want}}}}), func(_ string, _ uint64, got *Record) {
		if d := diverge("w", 0, want, got); d != nil || !equalCosts(want.Table(0), got.Table(0)) {
			t.Errorf("%+v read back as %+v", want.Costs, got.Costs)
		}
	})
	if err != nil || full.Cost == 0 {
		t.Errorf("%v, %+v", err, full)
	}
}
