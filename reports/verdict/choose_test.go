package verdict

import (
	"slices"
	"testing"

	"routesim/reports/sweepdata"
)

// TestChosenAmongTied takes the rules one by one: each choice is between points
// that cannot be told apart.
func TestChosenAmongTied(t *testing.T) {
	credits := axis(credit, "1", "0.8", "1", "1.2")
	credits.Documented = 1
	for _, c := range []struct {
		name   string
		axes   []sweepdata.Axis
		good   [][]string // points that gain; all others are like the default
		itl    map[string]float64
		chosen []string
	}{
		{"fewest settings", []sweepdata.Axis{credits, axis(scale, "1", "1", "8")}, [][]string{{"0.8", "8"}, {"1", "8"}}, nil, []string{"1", "8"}},
		{"documented", []sweepdata.Axis{credits, axis(scale, "1", "1", "8")}, [][]string{{"1.2", "8"}, {"0.8", "8"}}, nil, []string{"0.8", "8"}},
		{"nearest", []sweepdata.Axis{axis(scale, "1", "0.5", "1", "2", "4", "8")}, [][]string{{"8"}, {"4"}, {"2"}}, nil, []string{"2"}},
		{"lowest ITL", []sweepdata.Axis{axis(scale, "1", "0.5", "1", "2")}, [][]string{{"0.5"}, {"2"}}, map[string]float64{"2": 0.995}, []string{"2"}},
	} {
		l := lab{axes: c.axes, of: func(v []string) effect {
			e := effect{noise: 0.005, itl: c.itl[v[len(v)-1]]}
			if slices.ContainsFunc(c.good, func(g []string) bool { return slices.Equal(g, v) }) {
				e.ttft = 0.8
			}
			return e
		}}
		s := l.sweep(t)
		v := mustJudge(t, s)
		if v.State != Win || len(v.Tied) != len(c.good) || !slices.Equal(s.Points[v.Chosen].Values, c.chosen) {
			t.Errorf("%s: found %s, chosen %v of %d tied", c.name, v.State, s.Points[v.Chosen].Values, len(v.Tied))
		}
	}
}

// TestLoadsApart sweeps a setting on two fleets: the larger one is no tuning
// win, and its points are compared with the default on the same fleet.
func TestLoadsApart(t *testing.T) {
	l := lab{axes: []sweepdata.Axis{axis("workers", "8", "8", "16"), axis(scale, "1", "1", "8")}, of: func(v []string) effect {
		e := effect{ttft: 1, noise: 0.005}
		if v[0] == "16" {
			e.ttft = 0.4
		}
		if v[1] == "8" {
			e.ttft *= 0.9
		}
		return e
	}}
	s := l.sweep(t)
	v := mustJudge(t, s)
	if v.State != Win || v.Headline != "Set router-prefill-load-scale 8." || len(v.Order) != 2 {
		t.Errorf("found %s", everything(v))
	}
	far := slices.IndexFunc(s.Points, func(p sweepdata.Point) bool { return slices.Equal(p.Values, []string{"16", "8"}) })
	near := slices.IndexFunc(s.Points, func(p sweepdata.Point) bool { return slices.Equal(p.Values, []string{"16", "1"}) })
	q := &v.Points[far]
	if q.Status != OtherLoad || q.Base != near || q.Diff[v.Objective].Mean < -12 || q.Diff[v.Objective].Mean > -8 {
		t.Errorf("found status %s, base %d, %g %%", q.Status, q.Base, q.Diff[v.Objective].Mean)
	}
	r := v.Capacity
	if r == nil || len(r.Loads) != 2 || r.Smallest != 0 || r.Loads[0].Workers != 8 || r.Headline != "Smallest fleet that keeps up with this load: 8 workers (the smallest tried)." {
		t.Errorf("found %+v", r)
	}
}
