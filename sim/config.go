// Package sim replays a request trace through a router and a fleet of modelled
// workers in virtual time.
package sim

import (
	"fmt"
	"math"
	"slices"

	"routesim/models"
	"routesim/sim/engine"
	"routesim/sim/router"
)

// Group is a number of equal workers. Worker ids count through the groups in
// the order given.
type Group struct {
	Count  int
	Engine engine.Params
	Timing models.StepModel
	// GPUs is the number of accelerators that each data-parallel rank of a worker
	// occupies; 0 counts as 1.
	GPUs int32
	// RequestMS is the front end's time per request in ms, added to its TTFT
	// outside the engine.
	RequestMS float64
	// CPU says that the workers run on CPUs, which one router mode weighs.
	CPU bool
	// Taints of the workers, which requests may require or prefer.
	Taints []string
	// Silent says that the workers publish no KV events.
	Silent bool
	// EventDelayMS delays the routers' view of these workers' KV events beyond
	// Router.KVEventLagMS.
	EventDelayMS float64
	// Transfer says how prefill workers send KV, in disaggregated serving.
	Transfer Transfer
}

// SLA holds the latency bounds of goodput in ms; nil means no bound. A bound on
// E2E excludes the other two.
type SLA struct{ TTFT, ITL, E2E *float64 }

// Config is everything a run depends on besides the trace.
type Config struct {
	Fleet []Group
	// Prefill is the pool of prefill workers of disaggregated serving, in which
	// the fleet only decodes. Empty: every worker does both.
	Prefill []Group

	Router router.Params
	// PrefillRouter is what the prefill workers say of the routers that choose
	// among them, which then holds in the place of Router, as a whole; nil = they
	// say nothing.
	PrefillRouter *router.Params
	SLA           SLA
	Seed          uint64 // of the router's random draws

	// Frontends is the number of routers, each with its own state, that requests
	// arrive at in turn; 0 counts as 1.
	Frontends int
	// ReplicaSync tells every router of the others' bookings, first tokens and
	// ends, ReplicaSyncDelayMS later.
	ReplicaSync        bool
	ReplicaSyncDelayMS float64
	// EventLoss is the share of the batches of KV events that are lost. A gap is
	// noticed and recovered with the worker's next batch.
	EventLoss float64
	// RestartAtMS restarts the routers; nil = never. They lose their bookings, and
	// with ResetStates their index of KV events too.
	RestartAtMS *float64
	ResetStates bool
	// Restarted is what the routers run with after that; nil = the same.
	Restarted *Restarted
	// Faults are what goes wrong with workers and single requests, Clients with
	// requests in general.
	Faults  []Fault
	Clients Clients
	// ExpectedOutput gives every request its recorded answer length as the
	// expected one.
	ExpectedOutput bool

	// SessionFinal lets the last request of every session say that it is.
	SessionFinal bool

	// ArrivalSpeedup divides recorded times and delays.
	ArrivalSpeedup float64
	// Concurrency caps the sessions in flight (closed loop); 0 replays the
	// recorded arrivals (open loop).
	Concurrency int
	// MaxSimTimeMS ends the run before the first event later than it; nil runs
	// to the end.
	MaxSimTimeMS *float64

	// Plain turns off the fast path: every pass becomes an event of its own.
	// Results are the same.
	Plain bool
	// Force names the worker of every row; the router then only evaluates. Used
	// to compare with recordings. Rows with -1 are routed freely.
	Force []int32
	// ForcePrefill names the prefill worker of every row, likewise.
	ForcePrefill []int32
	// Divert sends one request to another worker than its router chose; nil = none.
	Divert *Diversion
	// KeepTokenTimes keeps the time of every token in the result.
	KeepTokenTimes bool
	// KeepAdmissions keeps every admission of every request in the result.
	KeepAdmissions bool
	// Sampler is told of every pass of every rank of the fleet, in the order in
	// which they start; a run with one is as slow as a Plain one. nil is allowed.
	Sampler func(rank int, p engine.Pass)
	// PrefillSampler is told of those of the prefill pool, likewise.
	PrefillSampler func(rank int, p engine.Pass)
	// Decided is told of every decision of the kv router, in routing order: the
	// request's row, the chosen worker and the terms of every worker's cost, which
	// are valid during the call. nil is allowed.
	Decided func(row, worker int32, costs []router.Terms)
	// Account is told of every decision of every router in any mode, with the pool
	// whose worker it chose and the frontend; a run with one is slower. nil is
	// allowed.
	Account func(pool Pool, frontend int, a *router.Account)
	// Progress is called now and then with the number of finished requests; nil
	// is allowed.
	Progress func(done, total int)
}

// Diversion is one decision that is taken otherwise.
type Diversion struct {
	Row    int32
	Pool   Pool
	Worker int32 // rank of the pool
}

// Restarted is what a restart may change.
type Restarted struct {
	Router      router.Params
	ReplicaSync bool
}

// DefaultConfig returns the oracle's defaults in kv mode for n workers.
func DefaultConfig(n int, timing models.StepModel) Config {
	return Config{
		Fleet:          []Group{{Count: n, Engine: engine.DefaultParams(), Timing: timing}},
		Router:         router.DefaultParams(),
		ArrivalSpeedup: 1,
	}
}

// Workers returns the size of the fleet.
func (c *Config) Workers() int {
	n := 0
	for _, g := range c.Fleet {
		n += g.Count
	}
	return n
}

// Disaggregated reports whether prefill and decode have workers of their own.
func (c *Config) Disaggregated() bool { return len(c.Prefill) > 0 }

// PromptRouter returns the settings of the routers that choose who computes a
// prompt: those of the prefill stage where there is one.
func (c *Config) PromptRouter() *router.Params {
	if c.PrefillRouter != nil {
		return c.PrefillRouter
	}
	return &c.Router
}

// PrefillWorkers returns the size of the prefill pool.
func (c *Config) PrefillWorkers() int {
	n := 0
	for _, g := range c.Prefill {
		n += g.Count
	}
	return n
}

// Ranks returns the data-parallel ranks of a worker of the group.
func (g *Group) Ranks() int { return max(1, int(g.Engine.DPSize)) }

// Ranks returns the data-parallel ranks of the fleet. Results count by rank:
// each has a scheduler and a cache of its own and is a target of the router's.
func (c *Config) Ranks() int { return ranksOf(c.Fleet) }

// PrefillRanks is Ranks for the prefill pool.
func (c *Config) PrefillRanks() int { return ranksOf(c.Prefill) }

func ranksOf(groups []Group) (n int) {
	for i := range groups {
		n += groups[i].Count * groups[i].Ranks()
	}
	return n
}

// Validate reports the first setting the simulator cannot run with.
func (c *Config) Validate() error {
	if c.Workers() < 1 {
		return fmt.Errorf("workers: found %d, expected at least 1", c.Workers())
	}
	if err := validatePool(c.Fleet, &c.Fleet[0].Engine); err != nil {
		return err
	}
	if err := c.validateDisagg(); err != nil {
		return err
	}
	if err := c.checkTiers(); err != nil {
		return err
	}
	if err := c.Router.Validate(); err != nil {
		return err
	}
	if p := c.PrefillRouter; p != nil {
		if err := p.Validate(); err != nil {
			return fmt.Errorf("router of the prefill workers: %w", err)
		}
	}
	if err := c.checkRestart(); err != nil {
		return err
	}
	if !(c.ArrivalSpeedup > 0 && c.ArrivalSpeedup <= math.MaxFloat64) {
		return fmt.Errorf("arrival-speedup-ratio: found %v, expected a finite number above 0", c.ArrivalSpeedup)
	}
	if c.Concurrency < 0 {
		return fmt.Errorf("replay-concurrency: found %d, expected at least 1", c.Concurrency)
	}
	if err := c.checkFaults(); err != nil {
		return err
	}
	if !(c.EventLoss >= 0 && c.EventLoss <= 1) {
		return fmt.Errorf("kv-event-loss: found %v, expected a number from 0 to 1", c.EventLoss)
	}
	if c.SLA.E2E != nil && (c.SLA.TTFT != nil || c.SLA.ITL != nil) {
		return fmt.Errorf("sla-e2e-ms: found together with sla-ttft-ms or sla-itl-ms, expected one or the other")
	}
	return nil
}

// checkRestart reports the first setting of the restarted routers that they
// cannot run with.
func (c *Config) checkRestart() error {
	if c.Restarted == nil {
		return nil
	}
	p := &c.Restarted.Router
	if c.Router.Live == nil || p.Live == nil || p.Mode != c.Router.Mode {
		return fmt.Errorf("router-restart-policy-config: found mode %v before the restart and %v after it, expected one mode and live semantics", c.Router.Mode, p.Mode)
	}
	if err := p.Validate(); err != nil {
		return fmt.Errorf("after the restart: %w", err)
	}
	return nil
}

// needsPlain reports whether some setting needs to see every pass.
func (c *Config) needsPlain() bool {
	reports := func(l *router.Live) bool { return l != nil && l.ActiveDecodeBlocksThreshold != nil }
	return reports(c.Router.Live) || c.Restarted != nil && reports(c.Restarted.Router.Live)
}

// validatePool reports the first setting of a pool's workers that they cannot
// run with, or not beside the fleet's first worker.
func validatePool(groups []Group, first *engine.Params) error {
	for i := range groups {
		e := &groups[i].Engine
		if err := e.Validate(); err != nil {
			return err
		}
		if e.BlockSize != first.BlockSize {
			return fmt.Errorf("block-size: found %d in worker group %d and %d in group 1, expected one size for the fleet (the router's index has one)",
				e.BlockSize, i+1, first.BlockSize)
		}
		if e.Backend != first.Backend {
			return fmt.Errorf("engine-type: found %v in worker group %d and %v in group 1, expected one kind of engine for the fleet",
				e.Backend, i+1, first.Backend)
		}
	}
	return nil
}

// validateDisagg reports the first setting that disaggregated serving cannot
// run with.
func (c *Config) validateDisagg() error {
	if !c.Disaggregated() {
		return nil
	}
	if c.PrefillWorkers() < 1 {
		return fmt.Errorf("prefill-workers: found %d, expected at least 1", c.PrefillWorkers())
	}
	if err := validatePool(c.Prefill, &c.Fleet[0].Engine); err != nil {
		return fmt.Errorf("prefill pool: %w", err)
	}
	for i := range c.Prefill {
		t := &c.Prefill[i].Transfer
		if !(t.GBPerSecond <= math.MaxFloat64) || !(t.BytesPerToken <= math.MaxFloat64) {
			return fmt.Errorf("kv-transfer-bandwidth: found %v GB/s and %v bytes per token, expected finite numbers", t.GBPerSecond, t.BytesPerToken)
		}
		if ms := t.ms(1); !(ms <= endOfTime) {
			return fmt.Errorf("kv-transfer-bandwidth: found %v GB/s, at which a token of %v bytes (kv-transfer-bytes-per-token) takes %v ms, expected at most %v ms", t.GBPerSecond, t.BytesPerToken, ms, endOfTime)
		}
	}
	if slices.ContainsFunc(slices.Concat(c.Prefill, c.Fleet), func(g Group) bool { return g.Engine.Disk.Blocks > 0 }) {
		return fmt.Errorf("num-disk-blocks: found together with prefill-workers, expected one or the other: Dynamo's replay has disk tiers only for workers that do both prefill and decode")
	}
	if slices.ContainsFunc(slices.Concat(c.Prefill, c.Fleet), func(g Group) bool { return g.Engine.Host.Shared }) {
		return fmt.Errorf("host-offload-scope: found cluster_shared together with prefill-workers, expected dp_rank_local: a host tier that all workers share is modelled for workers that do both")
	}
	return nil
}
