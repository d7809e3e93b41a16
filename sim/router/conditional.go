package router

import (
	"fmt"
	"math"
)

// BypassRule says which requests bypass the prefill stage.
type BypassRule uint8

// The rules of conditional disaggregation.
const (
	ISLBounding BypassRule = iota // short ones, by the tokens that are not cached
	PrefillLoad                   // those whose prefill worker would be busy
	ISLOrLoad                     // either
)

// BypassRules lists Dynamo's names of the rules, by BypassRule.
func BypassRules() []string { return []string{"isl_bounding", "prefill_load", "isl_or_load"} }

// Conditional are the settings of conditional disaggregation, with Dynamo's
// names and defaults: a request that the rule picks is served by a decode worker
// alone, prompt and all (lib/kv-router/src/conditional_disagg.rs of 1.6.1).
type Conditional struct {
	Rule BypassRule
	// A request is short if fewer prompt tokens than ISLThreshold, and less of the
	// prompt than ISLRatioThreshold, are not cached on its decode worker.
	ISLThreshold      int64
	ISLRatioThreshold float64
	// PrefillBusyThreshold is the fraction of max_num_batched_tokens above which a
	// prefill worker is busy; nil = QueueThreshold.
	PrefillBusyThreshold *float64
	// DecodeBusyThreshold is the fraction of its KV blocks above which a decode
	// worker takes no request that bypasses; nil = it always may.
	DecodeBusyThreshold *float64
}

// DefaultConditional returns Dynamo's defaults.
func DefaultConditional() Conditional {
	return Conditional{ISLThreshold: 2048, ISLRatioThreshold: 0.7}
}

// validate checks ranges, and that a rule that needs a threshold has one.
func (c *Conditional) validate(p *Params) error {
	for _, f := range []struct {
		name string
		v    *float64
	}{
		{"conditional-disagg-prefill-busy-threshold", c.PrefillBusyThreshold},
		{"conditional-disagg-decode-busy-threshold", c.DecodeBusyThreshold},
	} {
		if f.v != nil && !(*f.v >= 0 && *f.v <= math.MaxFloat64) {
			return fmt.Errorf("%s: found %v, expected a finite number of at least 0, or none", f.name, *f.v)
		}
	}
	if x := c.ISLRatioThreshold; !(x >= 0 && x <= 1) {
		return fmt.Errorf("conditional-disagg-eff-isl-ratio-threshold: found %v, expected a number from 0 to 1", x)
	}
	if c.ISLThreshold < 0 {
		return fmt.Errorf("conditional-disagg-eff-isl-threshold: found %d, expected at least 0 tokens", c.ISLThreshold)
	}
	if c.Rule != ISLBounding && c.busyThreshold(p) == nil {
		return fmt.Errorf("conditional-disagg-policy: found %s without conditional-disagg-prefill-busy-threshold and router-queue-threshold, expected one of them: it says when a prefill worker is busy", BypassRules()[c.Rule])
	}
	return nil
}

// busyThreshold returns the fraction above which a prefill worker is busy.
func (c *Conditional) busyThreshold(p *Params) *float64 {
	if c.PrefillBusyThreshold != nil {
		return c.PrefillBusyThreshold
	}
	return p.QueueThreshold
}

// Preview is the decision that a request would get now, and what conditional
// disaggregation asks of it.
type Preview struct {
	Target     int32   // -1: nobody would serve it
	Full       bool    // a limit of the queue would turn it away
	Cached     int64   // prompt tokens believed cached on the target
	Prefill    int64   // active prefill tokens of the target
	BatchLimit float64 // what thresholds of prefill tokens are fractions of
	Blocks     int64   // active blocks of the target with the whole prompt added
	Pool       int32   // KV blocks of the target
}

// Preview makes the decision that a request would get now, by the same draws,
// and changes nothing.
func (r *Router) Preview(q *Request) (p Preview) {
	counters, refusal := r.Counters, q.Refusal
	q.overlap = r.overlapBuffer()
	r.lookup(q)
	if r.queued() {
		c, _, must := r.classify(q)
		p.Full = c.turnsAway(len(r.targets), must)
	}
	r.confine(q)
	r.evaluate(q)
	if p.Target = r.chooseLive(q); p.Target >= 0 {
		r.describe(q, &p)
	}
	r.drop(q)
	r.Counters, q.Refusal = counters, refusal
	return p
}

// describe fills in what a preview says of its target.
func (r *Router) describe(q *Request, p *Preview) {
	w := p.Target
	p.Cached = min(r.cachedOf(q, int(w)), int64(q.ISL))
	p.Prefill, p.BatchLimit = r.backlog()[w], r.batchLimit[w]
	// The projection holds complete blocks; the incomplete last one takes a block
	// of the pool as well.
	p.Blocks = r.activeBlocks(w) + (int64(q.ISL)+int64(r.blockSize)-1)/int64(r.blockSize)
	p.Pool = r.targets[w].KVBlocks
}

// Bypasses reports whether a request of isl prompt tokens is served by a decode
// worker alone. All comparisons are strict, except that of the guard. prefill is
// asked for only where the rule looks at it.
func (c *Conditional) Bypasses(isl int32, decode *Preview, prefill func() Preview) bool {
	if decode.Target < 0 {
		return false
	}
	yes := c.Rule != PrefillLoad && c.short(int64(isl), decode.Cached)
	if !yes && c.Rule != ISLBounding {
		pre := prefill()
		yes = pre.busy(*c.PrefillBusyThreshold)
	}
	return yes && (c.DecodeBusyThreshold == nil || float64(decode.Blocks) <= float64(*c.DecodeBusyThreshold*float64(decode.Pool)))
}

// short is the rule by the tokens that are not cached:
//
//	fresh = isl - cached
//	fresh < threshold  and  fresh / max(1, isl) < ratio
func (c *Conditional) short(isl, cached int64) bool {
	fresh := isl - cached
	return fresh < c.ISLThreshold && float64(fresh)/float64(max(1, isl)) < c.ISLRatioThreshold
}

// busy reports whether a prefill worker has too much to do. One that is not
// known is not busy.
func (p *Preview) busy(threshold float64) bool {
	return p.Full || p.Target >= 0 && float64(p.Prefill) > float64(threshold*p.BatchLimit)
}

// Serves reports whether any target takes requests.
func (r *Router) Serves() bool {
	for _, absent := range r.absent {
		if !absent {
			return true
		}
	}
	return false
}
