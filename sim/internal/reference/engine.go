// Package reference states the engine's rules a second time, in the slow and
// obvious way: lists instead of indexes, one pass at a time, nothing kept that
// can be counted again. Tests hold the engine against it; nothing else imports
// it.
package reference

import (
	"slices"

	"routesim/models"
	"routesim/sim/engine"
)

// Request is one request on an engine.
type Request struct {
	Row, Prompt, Output int   // Prompt and Output in tokens
	IDs                 []int // identities of the complete blocks of prompt and answer

	Generated  int
	Times      []float64 // ms, one per generated token
	Admissions []engine.Admission

	computed  int // tokens with KV
	named     int // leading blocks whose identity the engine knows
	blocks    []*block
	preempted bool

	// Of the current pass.
	scheduled     bool
	take          int // tokens
	fresh, before int // new prompt tokens, and prompt tokens before them
}

func (r *Request) length() int { return r.Prompt + r.Generated }

func (r *Request) remaining(maxModelLen int) int {
	rem := r.Output - r.Generated
	if maxModelLen > 0 {
		rem = min(rem, max(0, maxModelLen-r.length()))
	}
	return rem
}

// Signal is what a pass meant for a request.
type Signal struct {
	Request *Request
	Kind    engine.SignalKind
}

// Event says that the first copy of a block became resident, or that the last
// one was dropped.
type Event struct {
	ID     int
	Stored bool
}

// Pass is what one pass did.
type Pass struct {
	End     float64 // ms
	Signals []Signal
	Events  []Event
	Stuck   bool // the pass had no effect and took no time

	Victims, Admitted int
	AdmitVictims      int // victims of an admission
	Active            int // blocks that somebody holds once all is scheduled
	Running           int // requests that run once all is scheduled
	Committed         int // tokens of the requests that compute prompt tokens
	Batch             models.Batch
}

// Engine is one worker.
type Engine struct {
	engine.Params
	Timing           models.StepModel
	Pool             *Pool
	Waiting, Running []*Request
	PeakWaiting      int

	budget int
	pass   *Pass
}

// NewEngine returns an idle engine.
func NewEngine(p engine.Params, timing models.StepModel) *Engine {
	return &Engine{Params: p, Timing: timing, Pool: NewPool(int(p.NumGPUBlocks))}
}

// Enqueue appends a request to the queue.
func (e *Engine) Enqueue(r *Request) {
	e.Waiting = append(e.Waiting, r)
	e.PeakWaiting = max(e.PeakWaiting, len(e.Waiting))
}

// InFlight returns the number of requests that wait or run.
func (e *Engine) InFlight() int { return len(e.Waiting) + len(e.Running) }

// Pass runs the pass that starts at now.
func (e *Engine) Pass(now float64) Pass {
	e.pass = &Pass{}
	e.budget = int(e.MaxNumBatchedTokens)
	for _, r := range e.Running {
		r.scheduled = false
	}
	e.stageA()
	var refused []*Request
	if e.pass.Victims == 0 {
		refused = e.stageB(now)
	}
	e.pass.Active, e.pass.Running = e.Pool.Active(), len(e.Running)
	e.shape()
	prefill, decode := e.Timing.Step(&e.pass.Batch)
	e.pass.End = (now + prefill) + decode
	e.emit(refused)
	e.pass.Events = e.Pool.TakeEvents()
	p := *e.pass
	p.Stuck = p.End == now && p.Batch.ScheduledTokens == 0 && p.Victims == 0 && p.Admitted == 0 && len(p.Signals) == 0
	return p
}

// stageA schedules the running requests.
func (e *Engine) stageA() {
	for i := 0; i < len(e.Running) && e.budget > 0; {
		switch e.schedule(e.Running[i], nil) {
		case blocked:
			return
		case scheduled:
			i++
		}
	}
}

// stageB admits waiting requests, and returns those that can never run.
func (e *Engine) stageB(now float64) (refused []*Request) {
	for len(e.Running) < int(e.MaxNumSeqs) && len(e.Waiting) > 0 {
		r := e.Waiting[0]
		tooLong := e.MaxModelLen > 0 && r.Prompt >= int(e.MaxModelLen)
		tooBig := !r.preempted && e.blocksFor(r.length()) > int(e.NumGPUBlocks)
		if tooLong || tooBig {
			e.Waiting = e.Waiting[1:]
			refused = append(refused, r)
			continue
		}
		hits, ok := e.gate(r)
		if !ok {
			return refused
		}
		before := e.budget
		r.scheduled = false
		got := e.schedule(r, hits)
		e.pass.AdmitVictims += e.pass.Victims
		if got != scheduled {
			return refused
		}
		at := slices.Index(e.Waiting, r)
		e.Waiting = slices.Delete(slices.Clone(e.Waiting), at, at+1)
		e.Running = append(e.Running, r)
		e.pass.Admitted++
		r.named = max(r.named, r.length()/int(e.BlockSize))
		r.Admissions = append(r.Admissions, engine.Admission{
			Row: int32(r.Row), At: now, Reused: int32(len(hits)) * e.BlockSize,
		})
		if e.pass.Victims > 0 || e.budget == before && e.budget == 0 {
			return refused
		}
	}
	return refused
}

func (e *Engine) blocksFor(tokens int) int {
	bs := int(e.BlockSize)
	return (tokens + bs - 1) / bs
}

// gate finds the cached prefix and says whether there is room for the whole
// request.
func (e *Engine) gate(r *Request) (hits []*block, ok bool) {
	bs := int(e.BlockSize)
	if e.EnablePrefixCaching {
		// A generated block is known once it was computed, or once the request
		// was admitted again with all of its tokens.
		known := r.length() / bs
		if r.preempted {
			known = min(known, r.named)
		}
		for _, id := range r.IDs[:known] {
			b := e.Pool.primary(id)
			if b == nil {
				break
			}
			hits = append(hits, b)
		}
	}
	active := 0
	for _, b := range hits {
		if b.refs > 0 {
			active++
		}
	}
	if r.remaining(int(e.MaxModelLen)) > 0 {
		limit := (r.length() - 1) / bs
		hits, active = hits[:min(len(hits), limit)], min(active, limit)
	}
	need := e.blocksFor(r.length()) - active
	return hits, need <= int(e.NumGPUBlocks)-e.Pool.Active()
}

type outcome uint8

const (
	scheduled outcome = iota
	blocked
	selfPreempted
)

// schedule gives r its tokens of this pass.
func (e *Engine) schedule(r *Request, hits []*block) outcome {
	bs := int(e.BlockSize)
	before := r.computed + len(hits)*bs
	promptBefore := min(before, r.Prompt)
	rest, promptRest := r.length()-before, r.Prompt-promptBefore
	if !e.EnableChunkedPrefill && promptRest > 0 && promptRest > e.budget {
		return blocked
	}
	take := min(rest, e.budget)
	if take == 0 && rest > 0 {
		return blocked
	}
	after := before + take
	if after > len(r.blocks)*bs {
		for {
			got, ok := e.Pool.Reserve(hits, e.blocksFor(after)-len(r.blocks)-len(hits))
			if ok {
				r.blocks = append(r.blocks, got...)
				break
			}
			if len(e.Running) == 0 {
				return blocked
			}
			victim := e.Running[len(e.Running)-1]
			if e.Preemption == engine.FIFO {
				victim = e.Running[0]
			}
			e.preempt(victim)
			if victim == r {
				return selfPreempted
			}
		}
	}
	r.computed = after
	r.named = max(r.named, after/bs)
	e.seal(r)
	r.scheduled, r.take = true, take
	r.fresh, r.before = min(after, r.Prompt)-promptBefore, promptBefore
	e.budget -= take
	return scheduled
}

// seal turns the complete private blocks of r into cached copies.
func (e *Engine) seal(r *Request) {
	if !e.EnablePrefixCaching {
		return
	}
	for i := 0; i < r.computed/int(e.BlockSize); i++ {
		if r.blocks[i].private() {
			e.Pool.Seal(r.blocks[i], r.IDs[i])
		}
	}
}

func (e *Engine) preempt(r *Request) {
	i := slices.Index(e.Running, r)
	e.Running = slices.Delete(e.Running, i, i+1)
	e.Pool.Release(r.blocks)
	r.blocks, r.computed, r.preempted = nil, 0, true
	if r.scheduled {
		e.budget += r.take
		r.scheduled = false
	}
	e.Waiting = append([]*Request{r}, e.Waiting...)
	e.PeakWaiting = max(e.PeakWaiting, len(e.Waiting))
	e.pass.Victims++
}

// shape sums up the batch from what every request got.
func (e *Engine) shape() {
	b := &e.pass.Batch
	for _, r := range e.Running {
		if r.scheduled {
			b.ScheduledTokens += int64(r.take)
		}
		prefilled := r.scheduled && r.fresh > 0
		if prefilled {
			f, x := int64(r.fresh), int64(r.before)
			b.PrefillSeqs++
			b.PrefillContext += x + f
			b.PrefillPrefix += x
			b.PrefillPairs += f*x + f*(f+1)/2
			e.pass.Committed += r.take
		}
		if r.computed < r.length() || r.remaining(int(e.MaxModelLen)) == 0 {
			continue
		}
		if r.Generated == 0 && prefilled {
			continue // the first token comes with the prefill
		}
		b.DecodeSeqs++
		b.DecodeContext += int64(r.length())
	}
}

// emit hands out the tokens and lets the finished requests go.
func (e *Engine) emit(refused []*Request) {
	m := int(e.MaxModelLen)
	var ready, silent []*Request
	for _, r := range e.Running {
		switch {
		case r.computed < r.length():
		case r.remaining(m) == 0:
			silent = append(silent, r)
		default:
			ready = append(ready, r)
		}
	}
	for _, r := range silent {
		e.leave(r, engine.DoneSilently)
	}
	for _, r := range ready {
		r.Generated++
		r.Times = append(r.Times, e.pass.End)
		switch {
		case r.remaining(m) == 0:
			e.leave(r, engine.DoneWithToken)
		case r.Generated == 1:
			e.pass.Signals = append(e.pass.Signals, Signal{r, engine.FirstToken})
		}
	}
	for _, r := range refused {
		e.pass.Signals = append(e.pass.Signals, Signal{r, engine.Refused})
	}
}

func (e *Engine) leave(r *Request, kind engine.SignalKind) {
	i := slices.Index(e.Running, r)
	e.Running = slices.Delete(e.Running, i, i+1)
	e.Pool.Release(r.blocks)
	r.blocks = nil
	e.pass.Signals = append(e.pass.Signals, Signal{r, kind})
}
