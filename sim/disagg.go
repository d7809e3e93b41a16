package sim

import (
	"fmt"
	"math"

	"routesim/sim/engine"
	"routesim/sim/router"
)

// disagg is the other half of a simulation with separate pools: the prefill
// workers, and the handoffs of prompts from them to the decode workers, which
// are the simulation's own fleet. Every request is a handoff, which moves by
// actions in one line: each thing that becomes true may add the next.
//
// vLLM and TensorRT-LLM compute a prompt first and then look for a place for
// it; SGLang finds the place first.
type disagg struct {
	*simulation
	prefill    stage
	placeFirst bool
	handoffs   int64
	actions    []action
	next       int           // actions[next:] are to be done
	waitingOn  [2][][]action // by pool and rank: actions for when its pass ends
	transfers  []*handoff    // under way
}

// Pools of a disaggregated simulation.
const (
	prefillPool = iota
	decodePool
)

// handoff is one request's way through the two pools.
type handoff struct {
	id    int64
	q     *request // its decode side
	pre   engine.Seq
	front *router.Router // of the prefill stage, where it arrived
	req   router.Request // of that router

	source, target int32 // ranks, -1 while there is none

	held, reserved, moved, activated bool // what is true
	submitted, asked, sent           bool // what was set going
	releasing                        bool // so was the release of the prompt's blocks
	seated                           bool // in the prefill router
	gone                             bool // it ended in the middle of its way
	recycled                         bool // its place is free for another
	local                            bool // a decode worker computes the prompt too
	booked                           bool // in the decode router
	ended, freed                     bool // the request's end, and that of its prompt's blocks
	arrives                          float64
}

// step is a kind of action.
type step uint8

const (
	begin    step = iota // choose the way through the pools and take its first step
	submit               // place the prompt on a prefill worker
	reserve              // place the request on a decode worker and ask it for blocks
	transfer             // send the prompt's KV
	activate             // hand it to the decode worker's scheduler
	release              // free the prompt's blocks on the prefill worker
	cancel               // take back what was asked of the decode worker
)

type action struct {
	step step
	h    *handoff
}

func (d *disagg) do(s step, h *handoff) { d.actions = append(d.actions, action{s, h}) }

// doRelease lets the prompt's blocks be freed.
func (d *disagg) doRelease(h *handoff) {
	h.releasing = true
	d.do(release, h)
}

// newDisagg gives a simulation its two pools.
func newDisagg(s *simulation) *disagg {
	c := s.cfg
	d := &disagg{simulation: s, placeFirst: placesFirst(c)}
	if c.PromptRouter().Mode == router.KV {
		d.prefill.force = c.ForcePrefill
	}
	s.addWorkers(&d.prefill, PrefillPool, c.Prefill, engine.Prefill, c.PrefillSampler)
	s.addWorkers(&s.stage, DecodePool, c.Fleet, engine.Decode, c.Sampler)
	// Blocks of prompts that wait to be taken over, or were reserved, come free
	// without a pass of the worker's.
	d.prefill.patient, d.patient = true, true
	s.addRouters(&d.prefill, c.PromptRouter().For(router.PrefillStage), c.Seed^prefillSeed)
	s.addRouters(&s.stage, c.Router.For(router.DecodeStage), c.Seed)
	d.prefill.released = d.letPromptGo // nothing ever waits in the decode stage's routers
	d.waitingOn = [2][][]action{make([][]action, len(d.prefill.workers)), make([][]action, len(s.workers))}
	s.latest = -1
	s.res.Handoffs = make([]Handoff, len(s.res.Requests))
	for i := range s.res.Handoffs {
		s.res.Handoffs[i] = noHandoff()
	}
	return d
}

// prefillSeed lets the prefill router draw independently of the decode router.
const prefillSeed = 0x5851F42D4C957F2D

// placesFirst reports whether a place for the answer is looked for before the
// prompt is computed: with SGLang, except that a live router whose mode goes by
// the requests in flight has the prompt computed first.
func placesFirst(c *Config) bool {
	p := c.PromptRouter()
	byLoad := p.Mode == router.PowerOfTwo || p.Mode == router.LeastLoaded
	return c.Prefill[0].Engine.Backend == engine.SGLang && !(p.Live != nil && byLoad)
}

// nextEvent returns when something happens next in either pool or between
// them.
func (d *disagg) nextEvent() float64 {
	at := min(d.driver.next(), d.nextEnd(), d.prefill.nextEnd())
	for _, h := range d.transfers {
		at = min(at, h.arrives)
	}
	if d.offloads {
		at = min(at, d.nextTransfer())
	}
	if math.IsInf(at, 1) && d.giveWay() {
		return d.now
	}
	return at
}

// giveWay lets requests go on where nothing else would: on decode workers where one
// that was preempted lacks blocks which another behind it holds. Dynamo's replay
// breaks off there with an error.
func (d *disagg) giveWay() (any bool) {
	for i, w := range d.workers {
		if d.idle(i) && w.GiveWay() {
			d.wake(i)
			any = true
		}
	}
	return any
}

// instant does everything that happens at d.now: passes that end, of prefill
// workers first; transfers that end, in order of the handoffs; actions; then
// requests that become ready, which only adds their first action; then passes
// that start. And again until nothing changes.
func (d *disagg) instant() {
	d.begun, d.prefill.begun = 0, 0
	d.setNow()
	if d.timed {
		d.fireTimers()
	}
	for again := true; again; {
		again = d.offloads && d.transferred()
		ended := false
		for w, e := range d.prefill.ends {
			if e == d.now {
				d.prefillEnded(w)
				ended = true
			}
		}
		for w, e := range d.ends {
			if e == d.now {
				d.decodeEnded(w)
				ended = true
			}
		}
		if ended && d.offloads {
			d.transferred()
		}
		again = again || ended
		d.delivered, d.prefill.delivered = len(d.workers), len(d.prefill.workers)
		again = d.land() || again
		again = d.act() || again
		for {
			row, at, ok := d.driver.release(d.now)
			if !ok {
				break
			}
			d.enter(row, at)
			again = true
		}
		d.drainHeard()
		again = d.prefill.startPasses(d.now, d.prefillEnded, d.explainPrefill) || again
		again = d.startPasses(d.now, d.decodeEnded, d.explain) || again
		again = d.passOver() || again
	}
}

func (d *disagg) explainPrefill(w int, err error) error {
	return explain(&d.prefill.fleet, "prefill worker", d.trace, w, err)
}

// enter takes a request that became ready into the pools.
func (d *disagg) enter(row int32, at float64) {
	q := d.newRequest(row)
	r := &d.res.Requests[row]
	r.Arrival, r.InputTokens = at, q.seq.Prompt
	d.res.Released++
	r.Decision.CeilingHeld = min(d.seen.add(q, d.prompts), d.reusable(q))
	d.handoffs++
	h := &handoff{id: d.handoffs, q: q, source: -1, target: -1}
	front := d.frontend()
	q.hand, q.router, h.front = h, d.fronts[front], d.prefill.fronts[front]
	h.pre.Reset(row, q.seq.Prompt, min(1, q.seq.Output))
	h.pre.Tag = q.seq.Tag
	h.pre.Blocks = append(h.pre.Blocks, q.seq.Blocks...)
	h.req = q.req
	h.req.Blocks = h.pre.Blocks[:len(q.req.Blocks)]
	if d.timed {
		d.livePrompt(h)
	}
	if d.leaving {
		d.expectHangups(q)
	}
	d.do(begin, h)
}

// begin takes the first step of a request's way.
func (d *disagg) begin(h *handoff) {
	switch {
	case d.staysLocal(h):
		d.serveLocally(h)
	case d.placeFirst:
		h.asked = true
		d.reserve(h)
	default:
		h.submitted = true
		d.submit(h)
	}
}

// advance adds the actions that have become possible.
func (d *disagg) advance(h *handoff) {
	if h.gone {
		return
	}
	if h.held && !h.asked {
		h.asked = true
		d.do(reserve, h)
	}
	if h.reserved && !h.submitted {
		h.submitted = true
		d.do(submit, h)
	}
	if h.held && h.reserved && !h.sent {
		h.sent = true
		d.do(transfer, h)
	}
}

// act does the actions in line, and those that they add.
func (d *disagg) act() (acted bool) {
	for ; d.next < len(d.actions); d.next++ {
		acted = true
		a := d.actions[d.next]
		if a.void() {
			continue
		}
		switch a.step {
		case begin:
			d.begin(a.h)
		case submit:
			d.submit(a.h)
		case reserve:
			d.reserve(a.h)
		case transfer:
			d.send(a.h)
		case activate:
			d.whenIdle(decodePool, &d.fleet, a.h.target, a, d.activate)
		case cancel:
			d.whenIdle(decodePool, &d.fleet, a.h.target, a, d.cancel)
		case release:
			d.whenIdle(prefillPool, &d.prefill.fleet, a.h.source, a, d.release)
		}
	}
	d.actions, d.next = d.actions[:0], 0
	return acted
}

// void reports whether an action has lost its meaning since it was added: the
// request ended in the middle of its way, or its worker crashed.
func (a *action) void() bool {
	switch a.step {
	case release:
		return a.h.freed
	case cancel:
		return a.h.target < 0
	}
	return a.h.gone
}

// whenIdle does an action now, or after the pass under way on its worker.
func (d *disagg) whenIdle(pool int, f *fleet, rank int32, a action, do func(*handoff)) {
	if f.idle(int(rank)) {
		do(a.h)
		return
	}
	first, _ := f.together(int(rank))
	d.waitingOn[pool][first] = append(d.waitingOn[pool][first], a)
}

// resume puts the actions in line that waited for a worker's pass to end.
func (d *disagg) resume(pool, first int) {
	d.actions = append(d.actions, d.waitingOn[pool][first]...)
	d.waitingOn[pool][first] = d.waitingOn[pool][first][:0]
}

// land ends the transfers that arrive now, in order of the handoffs.
func (d *disagg) land() (landed bool) {
	kept := d.transfers[:0]
	for _, h := range d.transfers {
		if h.arrives > d.now {
			kept = append(kept, h)
			continue
		}
		landed = true
		d.arrived(h)
	}
	clear(d.transfers[len(kept):])
	d.transfers = kept
	return landed
}

// send starts the transfer of a prompt's KV. Where no bandwidth is known it
// takes no time.
func (d *disagg) send(h *handoff) {
	t := &d.prefill.groups[d.prefill.extra[h.source].group].Transfer
	tokens := int64(h.q.seq.Prompt)
	if t.MissingOnly {
		tokens = int64(h.q.seq.Missing()) * d.prompts.block
	}
	ms := t.ms(tokens)
	if !(ms > 0) {
		d.arrived(h)
		return
	}
	h.arrives = d.now + ms
	at := len(d.transfers)
	for at > 0 && d.transfers[at-1].id > h.id {
		at--
	}
	d.transfers = append(d.transfers, nil)
	copy(d.transfers[at+1:], d.transfers[at:])
	d.transfers[at] = h
}

// Transfer says how fast a prefill worker sends KV to decode workers.
type Transfer struct {
	GBPerSecond   float64 // 10^9 bytes per second; 0 = in no time
	BytesPerToken float64 // 0 = in no time
	MissingOnly   bool    // send only the blocks that the decode worker lacks, whole
	// Taint is what a decode worker must carry that is to take a prompt over, or with
	// Weight had better; "" = nothing. Only live routers look at taints.
	Taint  string
	Weight *float64
}

// ms returns the duration of a transfer:
//
//	tokens * bytes per token / (bandwidth * 1e9) * 1000
func (t *Transfer) ms(tokens int64) float64 {
	if t.GBPerSecond <= 0 || t.BytesPerToken <= 0 {
		return 0
	}
	return float64(float64(tokens)*t.BytesPerToken) / float64(t.GBPerSecond*1e9) * 1000
}

// arrived notes that a prompt's KV is on the decode worker.
func (d *disagg) arrived(h *handoff) {
	h.moved = true
	d.do(activate, h)
}

// unfinished returns an error if the run cannot end with what is left: of the
// first worker whose request could not go on alone, or else of the first that has
// one. Those of the decode pool come first, since prompts wait for them to let go
// of their blocks.
func (d *disagg) unfinished() error {
	switch {
	case d.done == d.res.Released:
		return nil
	case d.prefill.stuck != nil:
		return d.prefill.stuck
	case d.stuck != nil:
		return d.stuck
	}
	var first error
	for _, p := range []struct {
		g    *stage
		name string
	}{{&d.stage, "decode worker"}, {&d.prefill, "prefill worker"}} {
		for i, w := range p.g.workers {
			e := w.Stuck(d.now)
			if e == nil {
				continue
			}
			err := explain(&p.g.fleet, p.name, d.trace, i, e)
			if e.Alone() {
				return err
			}
			if first == nil {
				first = err
			}
		}
	}
	if first == nil {
		first = fmt.Errorf("stuck at %v ms with %d requests in flight, none of them on a worker: %d wait in the routers of the prefill stage",
			d.now, d.res.Released-d.done, d.prefill.waiting())
	}
	return first
}
