package router

import "routesim/sim/router/policy"

// Stage is the part of serving that a router places requests for.
type Stage uint8

// The stages. In disaggregated serving prefill and decode have routers of their
// own; elsewhere one router places whole requests.
const (
	Whole Stage = iota
	PrefillStage
	DecodeStage
)

// For returns the settings as they hold for a stage of disaggregated serving.
// The router of the prefill stage counts no active blocks. That of the decode
// stage counts no prefill tokens, so that nothing ever waits in it, and lets no
// request share blocks with another; it sees no caches, unless requests may
// bypass the prefill stage. Policies belong to one stage, and what a policy of
// the default cost function's type says of weights gives way to the stage's
// rules.
func (p Params) For(stage Stage) Params {
	if p.Live != nil {
		l := *p.Live
		l.Policy = l.policyOf(stage)
		p.Live = &l
		p = p.withWeights()
	}
	p.Stage = stage
	switch stage {
	case PrefillStage:
		p.TrackActiveBlocks = false
		if p.Live != nil {
			p.Live.TrackOutputBlocks = false
		}
	case DecodeStage:
		if p.Live != nil && p.Live.Conditional != nil {
			rule := *p.Live.Conditional
			rule.PrefillBusyThreshold = rule.busyThreshold(&p)
			p.Live.Conditional = &rule
		}
		p.TrackPrefillTokens, p.AssumeKVReuse, p.PrefillLoadModel = false, false, false
		p.QueueThreshold, p.Classes = nil, nil
		if p.MayBypass() == nil {
			p.OverlapScoreCredit = 0
		}
	}
	return p
}

// ready returns the settings as a router runs with them: those of a stage of
// disaggregated serving have the policy's weights already.
func (p Params) ready() Params {
	if p.Stage == Whole {
		return p.withWeights()
	}
	return p
}

// policyOf returns the policy of a stage, nil for the default one.
func (l *Live) policyOf(stage Stage) *policy.Policy {
	switch stage {
	case PrefillStage:
		return l.PrefillPolicy
	case DecodeStage:
		return l.DecodePolicy
	}
	return l.Policy
}

// MayBypass returns the rules of conditional disaggregation, nil where they do
// not apply: they need a live router in kv mode that hears KV events.
func (p *Params) MayBypass() *Conditional {
	if p.Live == nil || p.Mode != KV || !p.Live.KVEvents {
		return nil
	}
	return p.Live.Conditional
}

// hearsEvents reports whether KV events of its workers reach a router at all:
// those of the decode stage do where requests may bypass the prefill stage.
func (p *Params) hearsEvents() bool { return p.Stage != DecodeStage || p.MayBypass() != nil }
