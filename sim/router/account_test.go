package router

import (
	"slices"
	"testing"

	"routesim/sim/router/policy"
)

// nosy is a policy that notes what it is asked and takes the first candidate.
func nosy(needs policy.Need, seen *[]policy.Candidate, asked *policy.Request) *policy.Policy {
	return &policy.Policy{Name: "nosy", Needs: needs, Picker: func(q *policy.Request, rows []policy.Candidate, _ []float64) int {
		*seen, *asked = slices.Clone(rows), *q
		return 0
	}}
}

// TestPreferenceOfAPolicy: a policy that asks sees what a request prefers, and
// required taints filter whoever decides.
func TestPreferenceOfAPolicy(t *testing.T) {
	for needs, want := range map[policy.Need]float64{policy.Taints: 1.5, policy.Load: 0} {
		targets := Targets(8192, 8192, 8192)
		targets[1].Taints, targets[2].Taints = []string{"a"}, []string{"a", "b"}
		var seen []policy.Candidate
		var asked policy.Request
		r, _ := newLive(t, targets, func(_ *Params, l *Live) { l.Policy = nosy(needs, &seen, &asked) })
		q := r.request(100, 1)
		q.Session, q.Worker, q.Rank, q.Required = -1, -1, -1, []string{"a"}
		q.Preferred = append(wish("b", 1.5), wish("c", 7)...)
		if c, ok := r.Arrive(q, 0, -1); !ok || c.Worker != 1 {
			t.Fatalf("sent to %d", c.Worker)
		}
		if len(seen) != 2 || seen[0].Preference != 0 || seen[1].Preference != want {
			t.Errorf("needs %v: the policy saw %+v", needs, seen)
		}
	}
}

// TestSoftBinding: a soft binding is an order to the default policy and a hint to
// another; a hard one is an order to both.
func TestSoftBinding(t *testing.T) {
	for _, soft := range []bool{false, true} {
		var seen []policy.Candidate
		var asked policy.Request
		r, _ := newLive(t, Targets(8192, 8192, 8192), func(_ *Params, l *Live) {
			l.AffinityTTLSecs, l.AffinitySoft, l.Policy = 60, soft, nosy(policy.Load, &seen, &asked)
		})
		send := func(forced int32) {
			q := r.request(100, 1)
			q.Session, q.Worker, q.Rank = 3, -1, -1
			if _, ok := r.Arrive(q, 0, forced); !ok {
				t.Fatal("turned away")
			}
		}
		send(2) // binds the session
		send(-1)
		if want := map[bool]int{false: 1, true: 3}[soft]; len(seen) != want || asked.Affinity != 2 {
			t.Errorf("soft %v: %d candidates with affinity %d, expected %d with 2", soft, len(seen), asked.Affinity, want)
		}
	}
}

// TestAccountOfModes: chances follow the rule of the mode; those of power of two
// are counted over all ordered pairs.
func TestAccountOfModes(t *testing.T) {
	loads := []int64{3, 1, 1, 5}
	for mode, want := range map[Mode][]float64{
		Random:      {0.25, 0.25, 0.25, 0.25},
		LeastLoaded: {0, 0.5, 0.5, 0},
		// Of 12 pairs: the first beats one in 2, the second and third each beat two
		// others in 4, and of the two pairs of equals the first one drawn wins.
		PowerOfTwo: {2.0 / 12, 5.0 / 12, 5.0 / 12, 0},
		RoundRobin: {1, 0, 0, 0},
	} {
		r, _ := newLive(t, Targets(1, 1, 1, 1), func(p *Params, _ *Live) { p.Mode = mode })
		copy(r.loads.requests, loads)
		var told Account
		r.Tell = func(a *Account) { told = *a }
		q := r.request(100, 1)
		q.Session, q.Worker, q.Rank = -1, -1, -1
		c, ok := r.Arrive(q, 7, -1)
		if !ok || told.Chosen != c.Worker || told.AtMS != 7 || told.Decider != "mode "+mode.String() {
			t.Errorf("%v: %+v", mode, told)
		}
		for w, o := range told.Options {
			if o.Chance != want[w] || o.Values[0] != float64(loads[w]) {
				t.Errorf("%v: target %d has chance %v at load %v, expected %v at %d", mode, w, o.Chance, o.Values[0], want[w], loads[w])
			}
		}
	}
}
