package router

import (
	"fmt"
	"math"

	"routesim/sim/router/policy"
	"routesim/sim/router/program"
	"routesim/workloads"
)

// Live are the settings that only a live frontend has, with Dynamo's names and
// defaults. Times are in seconds where Dynamo's are.
type Live struct {
	// What the router believes is cached.
	KVEvents         bool     // false: approximate mode, from its own decisions
	TTLSecs          float64  // lifetime of an entry in approximate mode
	ApproximateLRU   bool     // approximate mode models pools instead of lifetimes
	PredictedTTLSecs *float64 // lifetime of predicted entries beside KV events, nil = none

	// SharedCache says that workers share an outer cache, SharedBlocks how many
	// blocks it holds (0 = without end), and SharedMultiplier what a block there
	// is worth (nil = 0.5).
	SharedCache      bool
	SharedBlocks     int32
	SharedMultiplier *float64

	// What it counts as load.
	TrackOutputBlocks bool
	ExpirySecs        float64 // period of the scan for requests that got no token since the last; 0 = none

	// Whom it leaves out as overloaded; nil and -1 = nobody.
	ActiveDecodeBlocksThreshold      *float64 // fraction of a target's KV blocks
	ActivePrefillTokensThreshold     int64    // tokens
	ActivePrefillTokensThresholdFrac *float64 // fraction of max_num_batched_tokens

	// Sessions.
	AffinityTTLSecs int  // idle time after which a session is no longer bound to its worker, 0 = never bound
	AffinitySoft    bool // the bound worker is a wish, not an order

	// OverlapRefreshSecs is the wait in the queue after which overlaps are looked
	// up anew; 0 = never.
	OverlapRefreshSecs float64
	// EncoderRatio weighs accelerators against CPUs in device-aware mode.
	EncoderRatio int64
	// Classifier holds back requests of sessions by the KV memory that those
	// occupy; nil = none does.
	Classifier *program.Settings
	// Policy chooses workers in the place of the default cost function; nil = the
	// default. The stages of disaggregated serving have one each.
	Policy, PrefillPolicy, DecodePolicy *policy.Policy
	// Conditional lets requests bypass the prefill stage; nil = none does.
	Conditional *Conditional
}

// DefaultLive returns Dynamo's defaults.
func DefaultLive() Live {
	return Live{
		KVEvents: true, TTLSecs: 120, ExpirySecs: 300,
		ActivePrefillTokensThreshold: -1, OverlapRefreshSecs: 10, EncoderRatio: 8,
	}
}

// MostSecs is the longest time of a setting in s: no run lasts longer.
const MostSecs = workloads.EndOfTimeMS / 1000

// leastPeriodSecs is the shortest period of a timer in s: shorter ones would only
// be looked at again and again.
const leastPeriodSecs = 0.001

// validate checks ranges and the rules that tie settings to each other.
func (l *Live) validate(p *Params) error {
	for _, f := range []struct {
		name string
		v    *float64
		max  float64
	}{
		{"router-ttl-secs", &l.TTLSecs, MostSecs},
		{"router-predicted-ttl-secs", l.PredictedTTLSecs, MostSecs},
		{"shared-cache-multiplier", l.SharedMultiplier, 1},
		{"active-request-expiry-secs", &l.ExpirySecs, MostSecs},
		{"active-decode-blocks-threshold", l.ActiveDecodeBlocksThreshold, 1},
		{"active-prefill-tokens-threshold-frac", l.ActivePrefillTokensThresholdFrac, math.MaxFloat64},
		{"overlap-refresh-after-secs", &l.OverlapRefreshSecs, MostSecs},
	} {
		if f.v != nil && !(*f.v >= 0 && *f.v <= f.max) {
			if f.max < math.MaxFloat64 {
				return fmt.Errorf("%s: found %v, expected a number from 0 to %v", f.name, *f.v, f.max)
			}
			return fmt.Errorf("%s: found %v, expected a finite number of at least 0", f.name, *f.v)
		}
	}
	switch {
	case l.ExpirySecs > 0 && l.ExpirySecs < leastPeriodSecs:
		return fmt.Errorf("active-request-expiry-secs: found %v, expected 0 or a number from %v to %v", l.ExpirySecs, leastPeriodSecs, MostSecs)
	case l.TrackOutputBlocks && !p.TrackActiveBlocks:
		return fmt.Errorf("router-track-output-blocks: found true without router-track-active-blocks, expected both: output is counted on top of active blocks")
	case l.PredictedTTLSecs != nil && !l.KVEvents:
		return fmt.Errorf("router-predicted-ttl-secs: found %v without router-kv-events, expected KV events with it (approximate mode predicts all there is)", *l.PredictedTTLSecs)
	case l.ApproximateLRU && l.KVEvents:
		return fmt.Errorf("router-approximate-cache-policy: found lru with router-kv-events, expected no-router-kv-events with it")
	case l.EncoderRatio < 1:
		return fmt.Errorf("encoder-cuda-to-cpu-ratio: found %d, expected at least 1", l.EncoderRatio)
	case l.AffinityTTLSecs < 0 || l.AffinityTTLSecs > 31_536_000:
		return fmt.Errorf("router-session-affinity-ttl-secs: found %d, expected 1 to 31536000, or none", l.AffinityTTLSecs)
	}
	if l.Conditional != nil {
		return l.Conditional.validate(p)
	}
	return nil
}

// withWeights returns the settings with those that a policy of the default cost
// function's type replaces.
func (p Params) withWeights() Params {
	if p.Live == nil || p.Live.Policy == nil || p.Live.Policy.Weights == nil {
		return p
	}
	w := p.Live.Policy.Weights
	for _, f := range []struct {
		to   *float64
		from *float64
	}{
		{&p.OverlapScoreCredit, w.OverlapScoreCredit},
		{&p.OverlapScoreCreditDecay, w.OverlapScoreCreditDecay},
		{&p.PrefillLoadScale, w.PrefillLoadScale},
		{&p.DecodeActiveRequestWeight, w.DecodeActiveRequestWeight},
		{&p.HostCacheHitWeight, w.HostCacheHitWeight},
		{&p.DiskCacheHitWeight, w.DiskCacheHitWeight},
		{&p.Temperature, w.Temperature},
	} {
		if f.from != nil {
			*f.to = *f.from
		}
	}
	return p
}
