package gate

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"

	"routesim/sim/router"
)

// pooledRecord is the run of recordFor with two prefill workers: p0, p1, p0 and
// p1. It knows the costs of the chosen workers alone, as a saved run does.
func pooledRecord() *Record {
	r := recordFor(0)
	r.Fleet, r.Costs, r.Prefill = 0, nil, []int32{0, 1, 0, 1}
	for range r.Rows {
		r.Chosen = append(r.Chosen, router.Terms{Cost: 5})
	}
	return r
}

// TestDivergeInPools names the stage that chose otherwise.
func TestDivergeInPools(t *testing.T) {
	for _, c := range []struct {
		name    string
		change  func(*Record)
		at      int // decision, 0 for none
		want    string
		prefill int // requests that moved, by stage and in all
		decode  int
		moved   int
	}{
		{"nothing", func(*Record) {}, 0, "", 0, 0, 0},
		{"prefill", func(r *Record) { r.Prefill[2] = 1 }, 3, "(decision 3, seed 7), p0 before, p1 now. Chosen before: p0 at 5 (", 1, 0, 1},
		{"decode", func(r *Record) { r.Workers[2] = 1 }, 3, "(decision 3, seed 7), d0 before, d1 now. The costs of the decode router are not kept.", 0, 1, 1},
		{"both", func(r *Record) { r.Workers[2], r.Prefill[2] = 1, 1 }, 3, "p0 before, p1 now; d0 before, d1 now. ", 1, 1, 1},
		{"the first of either", func(r *Record) { r.Workers[3], r.Prefill[1] = 0, 0 }, 2, "p1 before, p0 now. ", 1, 1, 2},
		{"none", func(r *Record) { r.Prefill[0] = -1 }, 1, "p0 before, none now. Chosen before: p0 at 5 (prefill 0 after a credit of 0, decode 0, requests 0). Chosen now: d0 at 5", 1, 0, 1},
		{"no cost", func(r *Record) { r.Prefill[0], r.Chosen[0].Cost = 1, math.NaN() }, 1, "Chosen now: p1 without costs.", 1, 0, 1},
		{"overlap", func(r *Record) { r.Overlaps[3] = 1 }, 4, "p1 before, p1 now. The same worker was chosen with an overlap of 3.00 blocks before and 1.00 now.", 0, 0, 0},
	} {
		a, b := pooledRecord(), pooledRecord()
		c.change(b)
		switch d := diverge("d", 7, a, b); {
		case d == nil && c.at == 0:
		case d == nil || d.Decision != c.at || !strings.Contains(d.text(), c.want):
			t.Errorf("%s: %+v, expected decision %d with %q", c.name, d, c.at, c.want)
		}
		m := moved("d", 7, a, b)
		if m.Prefill != c.prefill || m.Decode != c.decode || len(m.Requests) != c.moved {
			t.Errorf("%s: %d for prefill, %d for decode and %d in all moved, expected %d, %d and %d",
				c.name, m.Prefill, m.Decode, len(m.Requests), c.prefill, c.decode, c.moved)
		}
	}
}

// TestMovedTextInPools counts by stage and names the stages that moved alone.
func TestMovedTextInPools(t *testing.T) {
	a, b := pooledRecord(), pooledRecord()
	b.Prefill[1], b.Prefill[2], b.Workers[2] = 0, 1, 1
	m := moved("d", 0, a, b)
	if want := "2 of 4 requests went to another worker, 2 for prefill and 1 for decode: "; !strings.HasPrefix(m.text(), want) {
		t.Errorf("%q, expected %q", m.text(), want)
	}
	for i, want := range []string{"1 p1 -> p0 (", "2 p0 -> p1 d0 -> d1 ("} {
		if got := m.Requests[i].text("d"); !strings.HasPrefix(got, want) {
			t.Errorf("%q, expected %q", got, want)
		}
	}
}

// pooledLab is a lab whose scenario a has pools, before and now.
func pooledLab(t *testing.T) *lab {
	l := newLab(t)
	for _, o := range []*Outcome{&l.base.Outcomes[0], &l.now[0]} {
		o.Settings = []Value{{"prefill-workers", "2"}}
		for i := range o.Runs {
			o.Runs[i].Record = pooledRecord()
			o.Runs[i].Record.Chosen = nil
		}
	}
	return l
}

// TestPrefillInFilesOfDecisions writes and reads prefill workers, and keeps the
// form of files without any.
func TestPrefillInFilesOfDecisions(t *testing.T) {
	plain, l := newLab(t), pooledLab(t)
	if !bytes.HasPrefix(packRecords(plain.now), []byte(recordsMagic)) {
		t.Error("the file of a suite without pools has another form than before")
	}
	l.now[0].Runs[1].Record.Prefill[3] = -1
	text := packRecords(l.now)
	seen := 0
	err := unpackRecords(text, func(name string, seed uint64, r *Record) {
		want := plain.now[1].Runs[seed].Record
		if name == "a" {
			want = l.now[0].Runs[seed].Record
		}
		if seen++; !slices.Equal(r.Prefill, want.Prefill) || (r.Prefill == nil) != (want.Prefill == nil) || !slices.Equal(r.E2E, want.E2E) {
			t.Errorf("%s, seed %d: %+v, expected %+v", name, seed, r, want)
		}
	})
	if err != nil || seen != 6 {
		t.Errorf("%v, %d records, expected 6", err, seen)
	}
	for n := range len(text) {
		got := 0
		if err := unpackRecords(text[:n], func(string, uint64, *Record) { got++ }); err == nil && got == seen {
			t.Errorf("%d of %d bytes were read as all records", n, len(text))
		}
	}
}

// TestBaselineWithoutPrefill compares with a baseline that knows decode workers
// alone, and with one that had no pools.
func TestBaselineWithoutPrefill(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*lab)
		notes  []string
		moved  int
	}{
		{"kept", func(*lab) {}, nil, 1},
		{"not kept", func(l *lab) { l.base.Outcomes[0].Runs[0].Record.Prefill = nil }, []string{
			"Prefill choices were not kept on both sides: the workers that decode are compared.",
			"The digests of seed 0 differ in something other than request, decode worker and overlap.",
		}, 0},
		{"no pools", func(l *lab) {
			l.base.Outcomes[0].Settings, l.base.Outcomes[0].Runs[0].Record.Prefill = nil, nil
		}, []string{
			"Prefill has a pool of its own on one side only: the workers that decode are compared.",
			"The digests of seed 0 differ in something other than request, decode worker and overlap.",
		}, 0},
		{"all equal", func(l *lab) { l.now[0].Runs[0].Record.Prefill[1] = 1 }, []string{
			"The digests of seed 0 differ in something other than request, prefill worker, decode worker and overlap.",
		}, 0},
	} {
		l := pooledLab(t)
		l.now[0].Runs[0].Decisions += "x"
		l.now[0].Runs[0].Record.Prefill[1] = 0
		c.change(l)
		s := l.judge(Options{}).Scenarios[0]
		if s.Verdict != BehaviourChanged || !slices.Equal(s.Notes, c.notes) || len(s.Moved.Requests) != c.moved || (s.Divergence != nil) != (c.moved > 0) {
			t.Errorf("%s: %v, %q, %+v, expected %q and %d moved", c.name, s.Verdict, s.Notes, s.Moved, c.notes, c.moved)
		}
	}
}
