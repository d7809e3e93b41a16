// Package router decides which worker serves a request. It holds Dynamo's
// KV-aware router: the cost function, the choice among equals, the router
// queue and the tables of active sequences, and the simpler modes beside it.
package router

import (
	"fmt"
	"math"
)

// Mode is the way requests are routed.
type Mode uint8

// The router modes.
const (
	KV Mode = iota
	RoundRobin
	Random
	PowerOfTwo
	LeastLoaded
	Direct              // the request names its worker
	DeviceAwareWeighted // least loaded, with accelerators and CPUs weighed against each other
)

// Modes lists the names of the modes on the command line, by Mode.
func Modes() []string {
	return []string{"kv", "round-robin", "random", "power-of-two", "least-loaded", "direct", "device-aware-weighted"}
}

// String returns the name the mode has on the command line.
func (m Mode) String() string { return Modes()[m] }

// InReplay reports whether Dynamo's own replay offers the mode.
func (m Mode) InReplay() bool { return m <= RoundRobin }

// QueuePolicy orders the requests that wait in the router.
type QueuePolicy uint8

// The orders of the router queue.
const (
	FCFS QueuePolicy = iota // first come, first served
	LCFS                    // last come, first served
	WSPT                    // weighted shortest processing time, by uncached prompt tokens
)

// String returns Dynamo's name of the order.
func (q QueuePolicy) String() string { return [...]string{"fcfs", "lcfs", "wspt"}[q] }

// Params are the router's settings, with Dynamo's names and defaults.
type Params struct {
	Mode Mode

	// Cost and selection.
	OverlapScoreCredit        float64 // cost units a cached device block is worth
	OverlapScoreCreditDecay   float64 // how fast the credit fades with prefill backlog
	PrefillLoadScale          float64 // weight of the prefill term
	DecodeActiveRequestWeight float64 // blocks charged per active request
	HostCacheHitWeight        float64 // credit of a block on the host tier
	DiskCacheHitWeight        float64 // credit of a block on the disk tier
	Temperature               float64 // 0 = least cost, ties uniformly at random

	// Load tracking.
	TrackActiveBlocks  bool // count the blocks of active requests as decode load
	AssumeKVReuse      bool // active requests share equal prefixes
	TrackPrefillTokens bool // count uncached prompt tokens until the first token
	// PrefillLoadModel lets a target's oldest prefill load decay over the time
	// that its timing model predicts.
	PrefillLoadModel bool

	// Queue. A nil threshold means that nothing is ever queued.
	QueueThreshold *float64 // fraction of max_num_batched_tokens
	QueuePolicy    QueuePolicy
	// Classes are the queue's classes; nil is a single one that the two settings
	// above describe.
	Classes *Profile

	// Stage is the stage of serving that the router is for; see For.
	Stage Stage

	// KVEventLagMS delays the router's view of stored and removed blocks.
	KVEventLagMS float64

	// Live turns the router from the one of Dynamo's replay into that of a live
	// frontend, with the settings that only the latter has; nil is the replay.
	Live *Live
}

// DefaultParams returns Dynamo's defaults, in kv mode.
func DefaultParams() Params {
	return Params{
		OverlapScoreCredit: 1, PrefillLoadScale: 1,
		HostCacheHitWeight: 0.75, DiskCacheHitWeight: 0.25,
		TrackActiveBlocks: true, AssumeKVReuse: true, TrackPrefillTokens: true,
	}
}

// Validate reports the first setting outside the range Dynamo accepts.
func (p *Params) Validate() error {
	if p.Live == nil && !p.Mode.InReplay() {
		return fmt.Errorf("router-mode: found %v, expected kv or round-robin under replay semantics", p.Mode)
	}
	if p.Live != nil {
		if err := p.Live.validate(p); err != nil {
			return err
		}
	}
	if p.Classes != nil {
		if err := p.Classes.Validate(); err != nil {
			return err
		}
	}
	for _, f := range []struct {
		name string
		v    float64
		max  float64
	}{
		{"router-kv-overlap-score-credit", p.OverlapScoreCredit, math.MaxFloat64},
		{"router-kv-overlap-score-credit-decay", p.OverlapScoreCreditDecay, math.MaxFloat64},
		{"router-prefill-load-scale", p.PrefillLoadScale, math.MaxFloat64},
		{"router-decode-active-request-weight", p.DecodeActiveRequestWeight, math.MaxFloat64},
		{"router-host-cache-hit-weight", p.HostCacheHitWeight, 1},
		{"router-disk-cache-hit-weight", p.DiskCacheHitWeight, 1},
		{"router-temperature", p.Temperature, math.MaxFloat64},
		{"kv-event-lag-ms", p.KVEventLagMS, math.MaxFloat64},
	} {
		if !(f.v >= 0 && f.v <= f.max) {
			if f.max == 1 {
				return fmt.Errorf("%s: found %v, expected a number from 0 to 1", f.name, f.v)
			}
			return fmt.Errorf("%s: found %v, expected a finite number of at least 0", f.name, f.v)
		}
	}
	if t := p.QueueThreshold; t != nil && !(*t >= 0 && *t <= math.MaxFloat64) {
		return fmt.Errorf("router-queue-threshold: found %v, expected a finite number of at least 0, or none", *t)
	}
	return nil
}
