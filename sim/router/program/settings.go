// Package program holds back requests of agents by the KV memory that their
// sessions occupy: the request classifier that Dynamo calls thunderagent, a port
// of the scheduler of Kang et al., ThunderAgent (2026).
//
// A session is one program: turns of the model with tools in between, during
// which its cache lies idle. Where the programs of a worker need more than a
// share of its KV pool, idle ones are paused: their next turns wait until there
// is room. Nothing that runs is interrupted.
//
// This is built from the published descriptions of the algorithm and of its
// parameters, and is not checked against Dynamo. What they leave open is marked
// as an assumption where it is decided.
package program

import (
	"fmt"
	"math"

	"routesim/sim/router/policy"
	"routesim/workloads"
)

// Type is the only classifier there is.
const Type = "thunderagent"

// Settings are the parameters of the classifier, with Dynamo's names and
// defaults. Shares are of a worker's KV pool in tokens.
type Settings struct {
	PauseThreshold    float64 // above it, programs are paused
	PauseTarget       float64 // down to it
	ResumeHysteresis  float64 // below the threshold by this much, they are resumed
	ResumeTimeoutSecs float64 // a request is held no longer
	RetentionSecs     float64 // an idle program is forgotten after it
	IntervalSecs      float64 // period of pausing and resuming
	ActingWeight      float64 // of an idle program's tokens
	BufferTokens      int64   // added for each program
	MostTracked       int64   // programs
}

// The bounds of parameters beyond which times and tokens could not be counted.
const (
	mostSecs   = workloads.EndOfTimeMS / 1000
	mostWeight = 1e6
)

// NewSettings reads parameters of a classifier of the given type.
func NewSettings(kind string, given map[string]any) (*Settings, error) {
	if kind != Type {
		return nil, fmt.Errorf("type: found %s, expected one of the linked types %s", kind, Type)
	}
	p := policy.NewParameters(kind, given)
	s := &Settings{
		PauseThreshold:    p.Number("pause_threshold", 0.95, 0, math.MaxFloat64),
		PauseTarget:       p.Number("pause_target", 0.8, 0, math.MaxFloat64),
		ResumeHysteresis:  p.Number("resume_hysteresis", 0.1, 0, math.MaxFloat64),
		ResumeTimeoutSecs: p.Number("resume_timeout_seconds", 1800, 0, mostSecs),
		RetentionSecs:     p.Number("session_retention_seconds", 1800, 0, mostSecs),
		IntervalSecs:      p.Number("scheduler_interval_seconds", 5, 0.001, mostSecs),
		ActingWeight:      p.Number("acting_token_weight", 1, 0, mostWeight),
		BufferTokens:      p.Whole("buffer_per_program", 100),
		MostTracked:       p.Whole("max_tracked_requests", 10000),
	}
	// The time constant of idle programs' tokens only weighs workers for programs
	// that are resumed by force, and which worker those go to is the policy's
	// affair: it is read and changes nothing.
	p.Number("acting_decay_tau_seconds", 1, 0.001, mostSecs)
	if err := p.Finish(); err != nil {
		return nil, err
	}
	switch {
	case s.PauseTarget > s.PauseThreshold:
		return nil, &policy.ParameterError{Kind: kind, Name: "pause_target", Found: fmt.Sprint(s.PauseTarget), Want: fmt.Sprintf("at most pause_threshold, %v", s.PauseThreshold)}
	case s.ResumeHysteresis > s.PauseThreshold:
		return nil, &policy.ParameterError{Kind: kind, Name: "resume_hysteresis", Found: fmt.Sprint(s.ResumeHysteresis), Want: fmt.Sprintf("at most pause_threshold, %v", s.PauseThreshold)}
	}
	return s, nil
}
