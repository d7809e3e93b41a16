package sim

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"routesim/sim/engine"
)

// everyField makes cmp look into the gap statistics too.
var everyField = cmp.Exporter(func(reflect.Type) bool { return true })

// sameResults reports how two results of the simulator differ, "" for not at
// all.
func sameResults(a, b *Result) string {
	if bytes.Equal(fixedParts(a), fixedParts(b)) && reflect.DeepEqual(a.Gaps, b.Gaps) && reflect.DeepEqual(a.GroupGaps, b.GroupGaps) {
		return ""
	}
	return cmp.Diff(a, b, cmpopts.EquateNaNs(), cmpopts.EquateEmpty(), everyField)
}

// fixedParts writes out all of a result but the gap statistics.
func fixedParts(r *Result) (b []byte) {
	put := func(v any) {
		var err error
		if b, err = binary.Append(b, binary.LittleEndian, v); err != nil {
			panic(err)
		}
	}
	put(r.Requests)
	put(r.Routed)
	put(r.Finished)
	put(r.Workers)
	put([]int64{r.LostBatches, r.LostBookings, int64(r.RestartedMS)})
	put(r.Cancelled)
	put(r.Crashed)
	put(r.Disk)
	put(r.HostPool)
	put(r.Herding)
	put(r.Prefill)
	put(r.Handoffs)
	put([]float64{r.DurationMS, r.EndMS, r.WorkerSeconds, r.PrefillWorkerSeconds})
	put([]int64{r.CommittedPrefillTokens, int64(r.Released), int64(r.QueuePeak), int64(r.OverLength)})
	put(r.TokenDigest)
	put(r.Counters)
	put(r.Stopped)
	for _, t := range r.TokenTimes {
		put(int64(len(t)))
		put(t)
	}
	for _, a := range r.AdmissionLog {
		put(int64(len(a)))
		put(a)
	}
	return b
}

// TestFixedPartsHoldEveryField fails where Result got a field that the
// comparison does not know.
func TestFixedPartsHoldEveryField(t *testing.T) {
	known := []string{
		"Requests", "Routed", "Finished", "Workers", "DurationMS", "EndMS", "WorkerSeconds",
		"CommittedPrefillTokens", "Released", "Gaps", "GroupGaps", "QueuePeak", "TokenDigest", "Stopped",
		"OverLength", "TokenTimes", "AdmissionLog", "Prefill", "Handoffs", "PrefillWorkerSeconds", "Counters",
		"LostBatches", "LostBookings", "RestartedMS", "Cancelled", "Crashed", "Herding", "Disk", "HostPool",
	}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[Result]()) {
		if !slices.Contains(known, f.Name) {
			t.Errorf("Result.%s is not compared; add it to fixedParts", f.Name)
		}
	}
}

// TestFastPathEqualsPlainLoop compares token time by token time, and everything
// else a result holds.
func TestFastPathEqualsPlainLoop(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawScenario(t)
		drawOtherEngine(t, s)
		fast, errFast := s.run(t, nil)
		plain, errPlain := s.run(t, func(c *Config) { c.Plain = true })
		if sameError(t, errFast, errPlain) {
			return
		}
		if d := sameResults(fast, plain); d != "" {
			t.Fatalf("the fast path differs (-fast +plain):\n%s", d)
		}
	})
}

// sameError reports whether both runs failed in the same way.
func sameError(t *rapid.T, a, b error) bool {
	if a == nil && b == nil {
		return false
	}
	if a == nil || b == nil || a.Error() != b.Error() {
		t.Fatalf("one run fails with %v, the other with %v", a, b)
	}
	return true
}

// TestReplayEqualsNaiveReplay holds the simulator against the rules written
// down literally.
func TestReplayEqualsNaiveReplay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { checkNaive(t, drawScenario(t)) })
}

// TestTwinsEqualNaiveReplay does so where blocks have several copies and an
// admission can preempt.
func TestTwinsEqualNaiveReplay(t *testing.T) {
	victims := 0
	rapid.Check(t, func(t *rapid.T) {
		victims += checkNaive(t, drawTwins(t)).admitVictims
	})
	if victims == 0 {
		t.Log("no admission preempted anything in these draws")
	}
}

func checkNaive(t *rapid.T, s *scenario) *naive {
	got, err := s.run(t, func(c *Config) { c.Plain = true })
	n := newNaive(s)
	if !n.run() {
		sameStuck(t, n, err)
		return n
	}
	if err != nil {
		t.Fatalf("run: %v, expected none", err)
	}
	if d := diffNaive(&n.res, got); d != "" {
		t.Fatalf("the simulator differs (-rules +simulator):\n%s", d)
	}
	return n
}

// sameStuck checks that err reports the naive replay's stuck worker.
func sameStuck(t *rapid.T, n *naive, err error) {
	var e *engine.StuckError
	if !errors.As(err, &e) {
		t.Fatalf("run: %v, expected %+v", err, *n.stuck)
	}
	if e.AtMS != n.stuck.at || e.InFlight != n.stuck.inFlight || int(e.Row) != n.stuck.row {
		t.Fatalf("stuck at %v ms on row %d with %d in flight, expected %+v", e.AtMS, e.Row, e.InFlight, *n.stuck)
	}
}

// diffNaive compares all that the naive replay computes: everything but the
// hashes, the gap statistics and the counters. Sums over time are rounded in another order.
func diffNaive(want, got *Result) string {
	g := *got
	g.Gaps, g.GroupGaps, g.TokenDigest, g.Counters = want.Gaps, want.GroupGaps, want.TokenDigest, want.Counters
	g.Requests = append([]Request(nil), got.Requests...)
	for i := range g.Requests {
		g.Requests[i].TokenHash = 0
	}
	near := cmp.FilterPath(func(p cmp.Path) bool {
		f := p.Last().String()
		return f == ".BusyMS" || f == ".MeanBlocks"
	}, cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) <= 1e-9*(1+math.Abs(a)) }))
	return cmp.Diff(want, &g, cmpopts.EquateNaNs(), cmpopts.EquateEmpty(), near, everyField)
}
