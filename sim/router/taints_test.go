package router

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"routesim/workloads"
)

func wish(name string, weight float64) []workloads.PreferredTaint {
	return []workloads.PreferredTaint{{Name: name, Weight: weight}}
}

// TestFavour: the factor measured on Dynamo turns a cost of 20 into 9.33843.
func TestFavour(t *testing.T) {
	fast := Target{Taints: []string{"fast", "far"}}
	q := &Request{Worker: -1, Preferred: wish("fast", 1)}
	if got := 20 * fast.favour(q); math.Abs(got-9.33843) > 5e-6 {
		t.Errorf("20 becomes %v, expected 9.33843", got)
	}
	q.Preferred = append(wish("far", -3), append(wish("fast", 1), wish("near", 9)...)...)
	if got, want := fast.favour(q), math.Exp(-math.Tanh(-2)); math.Abs(got-want) > 1e-15 {
		t.Errorf("factor %v, expected %v: only the weights of taints that are carried count", got, want)
	}
	q.Worker = 0
	if got := fast.favour(q); got != 1 {
		t.Errorf("a request that names its worker has factor %v", got)
	}
	if got := (&Target{}).favour(&Request{Worker: -1, Preferred: wish("fast", 1)}); got != 1 {
		t.Errorf("a worker without taints has factor %v", got)
	}
}

// TestRequiredTaints holds decisions against the rule: the cheapest of those
// that carry all required taints by the cost times the factor; nobody where none
// does.
func TestRequiredTaints(t *testing.T) {
	names := []string{"a", "b", "c"}
	some := rapid.SliceOfNDistinct(rapid.SampledFrom(names), 0, 3, rapid.ID)
	rapid.Check(t, func(rt *rapid.T) {
		targets := Targets(8192, 8192, 8192, 8192)
		for i := range targets {
			targets[i].Taints = some.Draw(rt, "taints")
		}
		r, _ := newLive(t, targets, nil)
		for w := range targets {
			r.loads.prefillTokens[w] = int64(rapid.IntRange(0, 4000).Draw(rt, "load"))
		}
		q := r.request(100, 1)
		q.Session, q.Worker, q.Rank = -1, -1, -1
		q.Required = some.Draw(rt, "required")
		for _, name := range some.Draw(rt, "preferred") {
			q.Preferred = append(q.Preferred, wish(name, rapid.Float64Range(-2, 2).Draw(rt, "weight"))...)
		}
		var told *Account
		r.Tell = func(a *Account) { told = a }
		best, least := -1, math.Inf(1)
		for w := range targets {
			sum, has := 0.0, true
			for _, name := range q.Required {
				has = has && slices.Contains(targets[w].Taints, name)
			}
			for _, p := range q.Preferred {
				if slices.Contains(targets[w].Taints, p.Name) {
					sum += p.Weight
				}
			}
			cost := (float64(r.loads.prefillTokens[w]+100)/rigBlock + float64(len(q.Blocks))) * math.Exp(-math.Tanh(sum))
			if has && cost < least {
				best, least = w, cost
			}
		}
		c, ok := r.Arrive(q, 0, -1)
		if best < 0 {
			if ok || q.Refusal != NoEndpoint || told.Chosen != -1 {
				rt.Fatalf("sent to %d with refusal %v, expected no endpoint", c.Worker, q.Refusal)
			}
		} else if math.Abs(c.MinCost-least) > 1e-9*least || math.Abs(c.Terms.Cost-least) > 1e-9*least {
			rt.Fatalf("sent to %d at %v, expected %d at %v", c.Worker, c.Terms.Cost, best, least)
		}
		for w := range targets {
			if lacks := targets[w].lacks(q.Required) != ""; lacks != (told.Options[w].Barred != "") {
				rt.Fatalf("target %d: reason %q", w, told.Options[w].Barred)
			}
		}
	})
}

// TestTaintsLoosenABinding: a session whose worker lacks what a request requires
// is bound anew.
func TestTaintsLoosenABinding(t *testing.T) {
	targets := Targets(8192, 8192)
	targets[1].Taints = []string{"a"}
	r, _ := newLive(t, targets, func(_ *Params, l *Live) { l.AffinityTTLSecs = 60 })
	send := func(required ...string) int32 {
		q := r.request(100, 1)
		q.Session, q.Worker, q.Rank, q.Required = 3, -1, -1, required
		c, ok := r.Arrive(q, 0, -1)
		if !ok {
			t.Fatal("turned away")
		}
		return c.Worker
	}
	r.loads.prefillTokens[1] = 500
	if first, second, third := send(), send("a"), send(); first != 0 || second != 1 || third != 1 {
		t.Errorf("sent to %d, %d and %d, expected 0, 1 and 1", first, second, third)
	}
}
