package accuracy

import (
	"fmt"
	"slices"
	"testing"

	"routesim/models/profile"
)

// TestStatedRunsAreThePublished: what a calibration says of the runs behind its
// error is what the table of published runs holds.
func TestStatedRunsAreThePublished(t *testing.T) {
	rows, err := Bundled()
	if err != nil {
		t.Fatal(err)
	}
	stated, err := profile.Calibrations()
	if err != nil {
		t.Fatal(err)
	}
	type key struct{ id, model, weights, kv string }
	held := map[key][]Row{}
	for _, r := range rows {
		if !r.Used() {
			continue
		}
		p, err := r.lookup()
		if err != nil {
			t.Fatal(err)
		}
		k := key{p.CalibrationID, p.Model, p.WeightDType, p.KVDType}
		held[k] = append(held[k], r)
	}
	bounded := 0
	for k, runs := range held {
		groups := stated[k.id].Runs
		i := slices.IndexFunc(groups, func(g profile.RunGroup) bool {
			return g.Model == k.model && g.WeightDType == k.weights && g.KVDType == k.kv
		})
		if i < 0 {
			t.Errorf("%v: %d published runs, stated %+v", k, len(runs), groups)
			continue
		}
		g := groups[i]
		var tps []int
		var prompt, flight int64
		for _, r := range runs {
			p, err := r.lookup()
			if err != nil {
				t.Fatal(err)
			}
			tps = append(tps, p.TP)
			prompt, flight = max(prompt, int64(r.ISL)), max(flight, int64(r.Concurrency))
		}
		slices.Sort(tps)
		if tps = slices.Compact(tps); fmt.Sprint(tps) != fmt.Sprint(g.TP) {
			t.Errorf("%v: runs at tp %v, stated %v", k, tps, g.TP)
		}
		whole := len(groups) == 1 && len(runs) == stated[k.id].HeldOut.Runs && stated[k.id].HeldOut.Runs == stated[k.id].Train.Runs
		switch {
		case g.MaxPromptTokens == 0:
		case !whole:
			t.Errorf("%v: states the longest prompt of runs that the table does not hold wholly", k)
		case g.MaxPromptTokens != prompt || g.MaxConcurrency != flight:
			t.Errorf("%v: prompts up to %d, %d in flight; stated %d and %d", k, prompt, flight, g.MaxPromptTokens, g.MaxConcurrency)
		default:
			bounded++
		}
	}
	if bounded != 2 {
		t.Errorf("%d calibrations state the longest prompt, expected 2", bounded)
	}
}
