// Package policy holds worker-selection policies: what may stand in the place
// of the default cost function. A policy sees a request and the workers that
// may serve it; the router owns eligibility, queueing and booking, which are
// the same for all policies. See README.md for how to write one.
package policy

import (
	"fmt"
	"math"

	"routesim/sim/rng"
)

// Need is a set of inputs that a policy declares. What it does not declare
// stays zero in its candidates, and an index of cached blocks is only kept for
// policies that need it.
type Need uint8

// The inputs.
const (
	Cache     Need = 1 << iota // Overlap, CachedTokens
	Load                       // PrefillTokens, ActiveBlocks, NewBlocks
	Occupancy                  // Requests
	Truth                      // Truth: what no router can know
	Taints                     // Preference
)

// Request is what a policy may know of the request to be placed.
type Request struct {
	Row       int32 // of the trace
	ISL       int32 // prompt tokens
	BlockSize int32 // tokens per KV block
	Affinity  int32 // worker that the session is bound to, -1 for none
	Seed      uint64
}

// Blocks returns the KV blocks the prompt fills, the incomplete last one
// included.
func (q *Request) Blocks() int64 {
	return (int64(q.ISL) + int64(q.BlockSize) - 1) / int64(q.BlockSize)
}

// Below draws a number from 0 to n-1 for this request.
func (q *Request) Below(n int) int { return rng.Below(rng.Draw(q.Seed, int(q.Row), rng.Policy), n) }

// Candidate is one worker (or data-parallel rank of one) that may serve the
// request. Candidates come in ascending order of worker and rank.
type Candidate struct {
	Target int32 // the router's number of this row
	Worker int32
	Rank   int32

	Overlap      int32 // leading prompt blocks that the router believes cached there
	CachedTokens int64 // the same in tokens, at most the prompt

	PrefillTokens int64 // prompt tokens sent there and not yet computed
	ActiveBlocks  int64 // distinct KV blocks of active requests
	NewBlocks     int64 // blocks that this request would add to them
	Requests      int64 // active requests

	Preference float64 // sum of the weights of the preferred taints that the worker carries

	BatchLimit int32 // max_num_batched_tokens
	KVBlocks   int32 // size of the block pool

	Truth Facts
}

// Facts are the real state of a worker, which a router in production cannot
// know. They serve policies that mark how much there is to gain.
type Facts struct {
	Held          int32 // leading prompt blocks that the engine really holds
	PrefillTokens int64 // prompt tokens of its requests that are not yet computed
	DecodeTokens  int64 // output tokens its requests have yet to generate
	Running       int64 // requests that run
	Waiting       int64 // requests that wait in the engine
	UsedBlocks    int64 // KV blocks in use
	Output        int32 // output tokens that this request will have
}

// Filter keeps or drops candidates: Keep clears keep where a candidate is to be
// left out. Filters run in order and see only what the ones before kept.
type Filter struct {
	Name string // what it demands, in a word or two
	Keep func(q *Request, rows []Candidate, keep []bool)
}

// Scorer writes one finite cost per candidate. The costs of all scorers are
// added; lower is better.
type Scorer struct {
	Name  string // what it charges for, in a word or two
	Score func(q *Request, rows []Candidate, cost []float64)
}

// Picker returns the place in rows of the candidate that serves the request.
type Picker func(q *Request, rows []Candidate, cost []float64) int

// Policy is a way to choose workers.
type Policy struct {
	Name    string // of the type
	Needs   Need
	Filters []Filter
	Scorers []Scorer
	Picker  Picker // nil: least cost, exact equals at random

	// Weights replaces the settings of the default cost function; only the type
	// of that function sets it.
	Weights *Weights
}

// Weights are the parameters of the default cost function; nil leaves a setting
// as the router has it.
type Weights struct {
	OverlapScoreCredit, OverlapScoreCreditDecay, PrefillLoadScale     *float64
	DecodeActiveRequestWeight, HostCacheHitWeight, DiskCacheHitWeight *float64
	SharedCacheMultiplier, Temperature                                *float64
}

// Chooser runs a policy with buffers of its own.
type Chooser struct {
	Policy
	keep  []bool
	cost  []float64
	part  []float64
	local []Candidate
}

// Outcome is a choice.
type Outcome struct {
	Target int32
	Cost   float64 // 0 where the policy has no scorers
	Least  float64
	Tied   int32 // candidates of least cost
}

// ErrFiltered says that a policy's filters left nobody.
type ErrFiltered struct{ Policy string }

// Error implements error.
func (e *ErrFiltered) Error() string {
	return fmt.Sprintf("policy %s: found every candidate filtered out, expected at least one to stay", e.Policy)
}

// Choose runs the pipeline over the eligible rows.
func (c *Chooser) Choose(q *Request, rows []Candidate) (Outcome, error) {
	rows, err := c.filter(q, rows)
	if err != nil {
		return Outcome{}, err
	}
	if err := c.score(q, rows); err != nil {
		return Outcome{}, err
	}
	i := 0
	least, tied := leastOf(c.cost)
	if len(c.Scorers) == 0 {
		tied = 1 // nothing is compared by cost
	}
	if c.Picker != nil {
		i = c.Picker(q, rows, c.cost)
	} else {
		i = nthOf(c.cost, least, q.Below(tied))
	}
	if i < 0 || i >= len(rows) {
		return Outcome{}, fmt.Errorf("policy %s: found candidate %d chosen for request %d, expected one of the %d eligible candidates (0 to %d)",
			c.Name, i, q.Row, len(rows), len(rows)-1)
	}
	return Outcome{Target: rows[i].Target, Cost: c.cost[i], Least: least, Tied: int32(tied)}, nil
}

func (c *Chooser) filter(q *Request, rows []Candidate) ([]Candidate, error) {
	for _, f := range c.Filters {
		c.keep = c.keep[:0]
		for range rows {
			c.keep = append(c.keep, true)
		}
		f.Keep(q, rows, c.keep)
		left := c.local[:0]
		for i := range rows {
			if c.keep[i] {
				left = append(left, rows[i])
			}
		}
		c.local, rows = left, left
	}
	if len(rows) == 0 {
		return nil, &ErrFiltered{c.Name}
	}
	return rows, nil
}

// score adds up the scorers' costs into c.cost.
func (c *Chooser) score(q *Request, rows []Candidate) error {
	c.cost, c.part = c.cost[:0], c.part[:0]
	for range rows {
		c.cost, c.part = append(c.cost, 0), append(c.part, 0)
	}
	for n, f := range c.Scorers {
		clear(c.part)
		f.Score(q, rows, c.part)
		for i, x := range c.part {
			c.cost[i] += x
			if math.IsNaN(c.cost[i]) || math.IsInf(c.cost[i], 0) {
				return fmt.Errorf("policy %s: found cost %v from scorer %d for worker %d and request %d, expected a finite number",
					c.Name, x, n+1, rows[i].Worker, q.Row)
			}
		}
	}
	return nil
}

func leastOf(cost []float64) (least float64, tied int) {
	least = math.Inf(1)
	for _, x := range cost {
		switch {
		case x < least:
			least, tied = x, 1
		case x == least:
			tied++
		}
	}
	return least, tied
}

func nthOf(cost []float64, least float64, n int) int {
	for i, x := range cost {
		if x == least {
			if n == 0 {
				return i
			}
			n--
		}
	}
	return -1
}
