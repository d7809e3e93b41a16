package router

import (
	"testing"

	"routesim/sim/engine"
	"routesim/sim/router/policy"
)

// hostRig is a rig whose workers have host tiers, for blocks of 4 tokens.
func hostRig(t *testing.T, workers int, change func(*Params)) *rig {
	r := newRig(t, workers, change)
	targets := r.targets
	for i := range targets {
		targets[i].LowerTiers = true
	}
	r.Router = New(r.Params, targets, 4, 0, 0)
	return r
}

// onTier tells the router that a worker holds the given blocks on a tier.
func (r *rig) onTier(worker int32, tier engine.Tier, blocks ...uint32) {
	for _, b := range blocks {
		r.Apply(worker, []engine.Event{{Block: b, Count: 1, Stored: true, Tier: tier}})
	}
}

// TestHostTierMeasured: a prompt of 10 tokens whose 2 complete blocks are only on
// the host, and another of 10 right behind it. The figures are those measured on
// Dynamo's replay.
func TestHostTierMeasured(t *testing.T) {
	for _, c := range []struct {
		host, credit  float64
		first, second float64
	}{
		{0.75, 1, 3.0, 7.5}, {0.6, 1, 3.3, 7.75}, {1, 1, 2.5, 7.0}, {0.5, 1, 3.5, 8.0}, {0, 1, 4.5, 9.0},
		{0.75, 0.25, 3.0, 7.5}, {0.75, 0, 4.5, 7.5},
	} {
		r := hostRig(t, 1, func(p *Params) { p.HostCacheHitWeight, p.OverlapScoreCredit = c.host, c.credit })
		r.onTier(0, engine.OnHost, 1, 2)
		first := r.sent(&Request{Row: 0, ISL: 10, Blocks: []uint32{1, 2}}, -1)
		second := r.sent(&Request{Row: 1, ISL: 10, Blocks: []uint32{11, 12}}, -1)
		if first.Terms.Cost != c.first || second.Terms.Cost != c.second || first.Overlap != 2*c.host {
			t.Errorf("host weight %v, credit %v: costs %v and %v over %v blocks, expected %v and %v", c.host, c.credit, first.Terms.Cost, second.Terms.Cost, first.Overlap, c.first, c.second)
		}
	}
}

// TestTiersContinue: host blocks count where the device's end, disk blocks where
// the host's do, and nothing behind a gap.
func TestTiersContinue(t *testing.T) {
	r := hostRig(t, 3, nil)
	blocks := []uint32{1, 2, 3, 4, 5, 6, 7, 8}
	r.Apply(0, []engine.Event{{Block: 1, Count: 2, Stored: true}})
	r.onTier(0, engine.OnHost, 1, 3, 4, 6)
	r.onTier(0, engine.OnDisk, 5, 6, 7)
	r.onTier(1, engine.OnHost, 2, 3)
	r.onTier(2, engine.OnDisk, 1)
	q := &Request{Row: 0, ISL: 35, Blocks: blocks}
	q.overlap = make([]int32, 3)
	r.lookup(q)
	for w, want := range [][3]int32{{2, 2, 3}, {0, 0, 0}, {0, 0, 1}} {
		if got := [3]int32{q.overlap[w], q.lower.host[w], q.lower.disk[w]}; got != want {
			t.Errorf("worker %d: %v blocks on device, host and disk, expected %v", w, got, want)
		}
	}
	// 2 + 0.75*2 + 0.25*3 = 4.25 blocks, 17 tokens.
	if got := r.overlapOf(q, 0); got != 4.25 || r.cachedOf(q, 0) != 17 {
		t.Errorf("%v blocks and %d tokens, expected 4.25 and 17", got, r.cachedOf(q, 0))
	}
	r.Apply(0, []engine.Event{{Block: 3, Count: 1, Tier: engine.OnHost}})
	r.lookup(q)
	if q.lower.host[0] != 0 || q.lower.disk[0] != 0 {
		t.Error("blocks behind a dropped one are still counted")
	}
}

// TestSharedCacheCredit: blocks of the shared cache count from where a worker's
// device ends, in the cost only.
func TestSharedCacheCredit(t *testing.T) {
	whole, fifth := 1.0, 0.2
	for _, c := range []struct {
		multiplier *float64
		weights    *policy.Weights
		credit     float64
	}{{nil, nil, 0.5}, {&whole, nil, 1}, {&whole, &policy.Weights{SharedCacheMultiplier: &fifth}, 0.2}} {
		r, _ := newLive(t, Targets(8192, 8192), func(_ *Params, l *Live) {
			l.SharedCache, l.SharedMultiplier = true, c.multiplier
			if c.weights != nil {
				l.Policy = &policy.Policy{Needs: policy.Cache | policy.Load | policy.Occupancy, Weights: c.weights}
			}
		})
		q := r.request(10*rigBlock, 1, 2)
		q.Session, q.Worker, q.Rank = -1, -1, -1
		r.cached(0, q, 10)
		r.Apply(0, []engine.Event{{Block: q.Blocks[6], Count: 2}, {Block: q.Blocks[8], Count: 2}})
		r.Apply(1, []engine.Event{{Block: q.Blocks[0], Count: 3, Stored: true}})
		q.overlap = make([]int32, 2)
		r.lookup(q)
		got := [2]float64{}
		in := query{isl: q.ISL, req: q}
		for w := range got {
			got[w] = costOf(r.Router, &in, candidate{overlap: q.overlap[w], target: int32(w)}).Credit
		}
		// 6 and 3 blocks on the devices, 4 and 7 beyond them.
		if want := [2]float64{6 + float64(c.credit*4), 3 + float64(c.credit*7)}; got != want {
			t.Errorf("credits %v, expected %v", got, want)
		}
		if r.cachedOf(q, 1) != 3*rigBlock {
			t.Errorf("%d tokens count as cached, expected those on the device", r.cachedOf(q, 1))
		}
	}
}
