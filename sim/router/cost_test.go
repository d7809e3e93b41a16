package router

import (
	"math"
	"strings"
	"testing"
)

// costAt evaluates the cost function for a request of isl tokens in blocks of
// one token, so that numbers read as blocks.
func costAt(p Params, isl int32, least int64, c candidate) Terms {
	r := &Router{Params: p, blockSize: 1, leastPrefill: least}
	return costOf(r, &query{isl: isl}, c)
}

// TestCreditAboveOne checks that surplus credit eats into the backlog but not
// into the decode term: the floor is on the sum.
func TestCreditAboveOne(t *testing.T) {
	p := DefaultParams()
	p.OverlapScoreCredit = 2
	a := costAt(p, 10, 0, candidate{overlap: 8, activeBlocks: 12, newBlocks: 10})
	b := costAt(p, 10, 0, candidate{newBlocks: 10})
	if a.Cost != 22 || b.Cost != 20 {
		t.Errorf("costs %v and %v, expected 22 and 20", a.Cost, b.Cost)
	}
	p.OverlapScoreCredit = 1.7
	// 40 tokens of others' backlog and 10 of its own, less 1.7*10.
	if got := costAt(p, 10, 0, candidate{overlap: 10, prefillTokens: 40}); got.Prefill != 33 || got.Credit != 17 {
		t.Errorf("%+v, expected a prefill term of 33 after a credit of 17", got)
	}
	// 5 of others' and 10 of its own are less than the credit.
	if got := costAt(p, 10, 0, candidate{overlap: 10, prefillTokens: 5}); got.Prefill != 0 || got.Cost != 0 {
		t.Errorf("%+v, expected a prefill term of 0", got)
	}
}

// TestCreditDecay checks the factor on a backlogged worker.
func TestCreditDecay(t *testing.T) {
	p := DefaultParams()
	p.OverlapScoreCreditDecay = 1
	// One prompt's worth of extra backlog halves the credit.
	if got := costAt(p, 10, 5, candidate{overlap: 10, prefillTokens: 15}); got.Credit != 5 {
		t.Errorf("credit %v, expected 5", got.Credit)
	}
	if got := costAt(p, 10, 5, candidate{overlap: 10, prefillTokens: 5}); got.Credit != 10 {
		t.Errorf("credit %v on the least loaded worker, expected 10", got.Credit)
	}
	// 20 blocks above the least for a prompt of 10: a third.
	got := costAt(p, 10, 0, candidate{overlap: 10, prefillTokens: 20})
	if want := 30 - 10.0*(1.0/3); math.Abs(got.Prefill-want) > 1e-12 {
		t.Errorf("prefill term %v, expected %v", got.Prefill, want)
	}
	p.OverlapScoreCreditDecay = 0
	if got := costAt(p, 10, 0, candidate{overlap: 10, prefillTokens: 20}); got.Prefill != 20 {
		t.Errorf("prefill term %v without decay, expected 20", got.Prefill)
	}
	p.OverlapScoreCreditDecay = 1
	if got := costAt(p, 0, 0, candidate{prefillTokens: 7}); math.IsNaN(got.Cost) || got.Cost != 7 {
		t.Errorf("cost %v of an empty prompt, expected 7", got.Cost)
	}
	if got := costAt(p, 0, 7, candidate{prefillTokens: 7}); got.Credit != 0 || got.Cost != 7 {
		t.Errorf("%+v of an empty prompt on the least loaded worker, expected cost 7", got)
	}
	p.TrackPrefillTokens = false
	if got := costAt(p, 10, 0, candidate{overlap: 10, prefillTokens: 20, newBlocks: 4}); got.Credit != 10 || got.Cost != 4 {
		t.Errorf("%+v without prefill tracking, expected full credit and cost 4", got)
	}
}

// TestSpecialSettings checks what switches and zeros do to the cost.
func TestSpecialSettings(t *testing.T) {
	c := candidate{overlap: 6, prefillTokens: 30, activeBlocks: 5, newBlocks: 7, requests: 3}
	for _, x := range []struct {
		name   string
		change func(*Params)
		want   Terms
	}{
		{"defaults", func(*Params) {}, Terms{Prefill: 34, Credit: 6, Decode: 12, Cost: 46}},
		{"credit 0 hides the cache", func(p *Params) { p.OverlapScoreCredit = 0 }, Terms{Prefill: 40, Decode: 12, Cost: 52}},
		{"scale 0", func(p *Params) { p.PrefillLoadScale = 0 }, Terms{Credit: 6, Decode: 12, Cost: 12}},
		{"scale 2, credit 0.5", func(p *Params) { p.PrefillLoadScale, p.OverlapScoreCredit = 2, 0.5 }, Terms{Prefill: 74, Credit: 3, Decode: 12, Cost: 86}},
		{"request weight", func(p *Params) { p.DecodeActiveRequestWeight = 7.5 }, Terms{Prefill: 34, Credit: 6, Decode: 12, Request: 22.5, Cost: 68.5}},
		{"no prefill tokens", func(p *Params) { p.TrackPrefillTokens = false }, Terms{Credit: 6, Decode: 12, Cost: 12}},
	} {
		p := DefaultParams()
		x.change(&p)
		x.want.Overlap = c.overlap
		if got := costAt(p, 10, 0, c); got != x.want {
			t.Errorf("%s: %+v, expected %+v", x.name, got, x.want)
		}
	}
	p := DefaultParams()
	// A request weight of 1 and equal blocks: the cost differs by the requests.
	p.DecodeActiveRequestWeight = 1
	three, none := costAt(p, 10, 0, candidate{newBlocks: 4, requests: 3}), costAt(p, 10, 0, candidate{newBlocks: 4})
	if three.Cost-none.Cost != 3 {
		t.Errorf("three requests cost %v more, expected 3", three.Cost-none.Cost)
	}
}

// TestOverlapBeyondPrompt keeps the prompt's length where more is cached.
func TestOverlapBeyondPrompt(t *testing.T) {
	p := DefaultParams()
	r := &Router{Params: p, blockSize: 16}
	got := costOf(r, &query{isl: 40}, candidate{overlap: 3})
	if got.Prefill != 0 || got.Credit != 3 {
		t.Errorf("%+v, expected nothing left to compute", got)
	}
	// What is not seen cannot lengthen the prompt.
	r.OverlapScoreCredit = 0
	if got := costOf(r, &query{isl: 40}, candidate{overlap: 3}); got.Prefill != 2.5 {
		t.Errorf("%+v at credit 0, expected the prompt's 2.5 blocks", got)
	}
}

// TestNoOverlapIsLoadRanking checks that the credit's value does not matter
// where nothing is cached.
func TestNoOverlapIsLoadRanking(t *testing.T) {
	for _, load := range []candidate{{}, {prefillTokens: 9}, {activeBlocks: 4, newBlocks: 2}, {prefillTokens: 3, activeBlocks: 1, requests: 2}} {
		want := costAt(DefaultParams(), 10, 0, load)
		for _, credit := range []float64{0, 0.25, 1, 4} {
			p := DefaultParams()
			p.OverlapScoreCredit = credit
			if got := costAt(p, 10, 0, load); got != want {
				t.Errorf("credit %v: %+v, expected %+v", credit, got, want)
			}
		}
	}
}

// TestTokensNotRequests weighs one long prompt against several short ones.
func TestTokensNotRequests(t *testing.T) {
	r := newRig(t, 2, nil)
	q := r.request(100_000, make([]byte, 200)...)
	for i := range q.Blocks {
		q.Blocks[i] += 1 << 20
	}
	r.sent(q, 0)
	for i := range 5 {
		r.sent(r.request(100, byte(100+i)), 1)
	}
	if c := r.sent(r.request(1000, 1, 2), -1); c.Worker != 1 {
		t.Errorf("worker %d, expected the one with five prompts of 100 tokens", c.Worker)
	}
}

// TestValidateNamesTheSetting refuses what Dynamo refuses.
func TestValidateNamesTheSetting(t *testing.T) {
	for name, set := range map[string]func(*Params, float64){
		"router-kv-overlap-score-credit":       func(p *Params, v float64) { p.OverlapScoreCredit = v },
		"router-kv-overlap-score-credit-decay": func(p *Params, v float64) { p.OverlapScoreCreditDecay = v },
		"router-prefill-load-scale":            func(p *Params, v float64) { p.PrefillLoadScale = v },
		"router-decode-active-request-weight":  func(p *Params, v float64) { p.DecodeActiveRequestWeight = v },
		"router-host-cache-hit-weight":         func(p *Params, v float64) { p.HostCacheHitWeight = v },
		"router-disk-cache-hit-weight":         func(p *Params, v float64) { p.DiskCacheHitWeight = v },
		"router-temperature":                   func(p *Params, v float64) { p.Temperature = v },
		"router-queue-threshold":               func(p *Params, v float64) { p.QueueThreshold = &v },
		"kv-event-lag-ms":                      func(p *Params, v float64) { p.KVEventLagMS = v },
	} {
		for _, v := range []float64{-1, -1e-300, math.NaN(), math.Inf(1), math.Inf(-1)} {
			p := DefaultParams()
			set(&p, v)
			if err := p.Validate(); err == nil || !strings.HasPrefix(err.Error(), name+":") {
				t.Errorf("%s = %v: %v, expected an error that names it", name, v, err)
			}
		}
		p := DefaultParams()
		set(&p, 0)
		if err := p.Validate(); err != nil {
			t.Errorf("%s = 0: %v, expected none", name, err)
		}
		set(&p, 1.5)
		if err := p.Validate(); (err != nil) != strings.Contains(name, "cache-hit-weight") {
			t.Errorf("%s = 1.5: %v", name, err)
		}
	}
}

func costOf(r *Router, q *query, c candidate) (t Terms) {
	r.cost(q, &c, &t)
	return t
}
