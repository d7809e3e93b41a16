package program

import (
	"math"
	"slices"
)

// program is a session as the classifier sees it.
type program struct {
	session int32
	worker  int32   // target that its last request was sent to, -1 for none
	tokens  int64   // of its context: prompt and answer of the last request that ended
	idle    float64 // ms, since when no request of it runs
	acting  bool    // no request of it runs
	paused  bool
	marked  bool  // to be paused when its request ends
	last    bool  // the request that runs is its last: it counts no more
	running int32 // request that was let go and has not ended, -1 for none
	waiting []held
}

// held is a request that waits.
type held struct {
	tag    int32
	tokens int64   // of its prompt
	since  float64 // ms
	final  bool    // no more will come of its session
}

// Counters count what the classifier did.
type Counters struct {
	Held   int64 // requests that had to wait
	Paused int64 // programs
	Forced int64 // requests let go because they waited for too long
}

// Classifier is the state of one frontend's classifier. Requests are known by
// the caller's tags.
type Classifier struct {
	Settings

	counters  *Counters
	capacity  []int64 // by target: KV pool in tokens
	takes     func(target int) bool
	bySession map[int32]*program
	programs  []*program // by first appearance
	free      []int32    // requests that may go
	waiting   int
	ticked    float64 // ms, last period that was looked at
}

// New returns a classifier over targets with KV pools of so many tokens. takes
// reports whether a target takes requests. What it does is counted in n.
func New(s Settings, capacity []int64, takes func(target int) bool, n *Counters) *Classifier {
	return &Classifier{Settings: s, counters: n, capacity: capacity, takes: takes, bySession: map[int32]*program{}, ticked: -1}
}

// Waiting returns the number of requests that are held or about to go.
func (c *Classifier) Waiting() int { return c.waiting + len(c.free) }

// Arrive reports whether a request of a session may go on at once. Else it is
// held until Next returns it. A session's requests go one at a time; final says
// that this is the session's last one.
func (c *Classifier) Arrive(now float64, session, tag int32, tokens int64, final bool) bool {
	p := c.program(now, session)
	if p == nil {
		return true // too many programs
	}
	h := held{tag, tokens, now, final}
	if p.running < 0 && len(p.waiting) == 0 && !p.paused {
		// Assumption: turns of a program that is not paused pass; one that has no
		// worker yet needs one with room for it below the threshold, and waits as a
		// paused one otherwise.
		if p.worker >= 0 || c.fits(c.usage(false), max(p.tokens, tokens), c.PauseThreshold) >= 0 {
			p.start(h)
			return true
		}
		c.pause(p)
	}
	p.waiting = append(p.waiting, h)
	c.waiting++
	c.counters.Held++
	return false
}

// start lets a request of a program go.
func (p *program) start(h held) {
	p.running, p.last = h.tag, h.final
	// Assumption: while a request runs, its program counts with the larger of its
	// last known context and this request's prompt.
	p.tokens = max(p.tokens, h.tokens)
}

// size is what a program will count with once its next request runs.
func (p *program) size() int64 {
	if len(p.waiting) == 0 {
		return p.tokens
	}
	return max(p.tokens, p.waiting[0].tokens)
}

// Next returns a request that may go now.
func (c *Classifier) Next() (tag int32, ok bool) {
	if len(c.free) == 0 {
		return 0, false
	}
	tag = c.free[0]
	c.free = c.free[1:]
	return tag, true
}

// Sent notes the target that a request was sent to.
func (c *Classifier) Sent(session, tag, target int32) {
	if p := c.bySession[session]; p != nil && p.running == tag {
		p.worker, p.acting = target, false
	}
}

// Ended notes the end of a request with a context of so many tokens; 0 where it
// came to nothing.
func (c *Classifier) Ended(now float64, session, tag int32, tokens int64) {
	p := c.bySession[session]
	if p == nil || p.running != tag {
		return
	}
	p.running, p.acting, p.idle = -1, true, now
	if tokens > 0 {
		p.tokens = tokens
	}
	if p.last && p.quiet() {
		c.forget(func(other *program) bool { return other == p })
		return
	}
	if p.marked {
		p.marked = false
		c.pause(p)
	}
	c.release(p)
}

// release lets the next request of a program go, if it may.
func (c *Classifier) release(p *program) {
	if p.running >= 0 || p.paused || len(p.waiting) == 0 {
		return
	}
	h := p.waiting[0]
	p.waiting = p.waiting[1:]
	c.waiting--
	p.start(h)
	c.free = append(c.free, h.tag)
}

func (c *Classifier) pause(p *program) {
	p.paused = true
	c.counters.Paused++
}

// Withdraw takes back a request that is held, or that may go and has not.
func (c *Classifier) Withdraw(now float64, session, tag int32) {
	if i := slices.Index(c.free, tag); i >= 0 {
		c.free = slices.Delete(c.free, i, i+1)
		c.Ended(now, session, tag, 0)
		return
	}
	p := c.bySession[session]
	if p == nil {
		return
	}
	if i := slices.IndexFunc(p.waiting, func(h held) bool { return h.tag == tag }); i >= 0 {
		p.waiting = slices.Delete(p.waiting, i, i+1)
		c.waiting--
	}
}

// Gone notes that what a target held is lost: its programs have no worker.
func (c *Classifier) Gone(target int32) {
	for _, p := range c.programs {
		if p.worker == target {
			p.worker = -1
		}
	}
}

// Reset forgets all programs and lets every held request go, as a restart does.
func (c *Classifier) Reset() {
	for _, p := range c.programs {
		for _, h := range p.waiting {
			c.free = append(c.free, h.tag)
		}
	}
	c.waiting = 0
	c.programs, c.bySession = nil, map[int32]*program{}
}

// program returns a session's program, which begins with its first request; nil
// where as many as may be are tracked and none of them is idle.
func (c *Classifier) program(now float64, session int32) *program {
	if p := c.bySession[session]; p != nil {
		return p
	}
	c.forget(func(p *program) bool { return now-p.idle >= c.RetentionSecs*1000 })
	if int64(len(c.programs)) >= c.MostTracked {
		oldest := (*program)(nil)
		for _, p := range c.programs {
			if p.quiet() && (oldest == nil || p.idle < oldest.idle) {
				oldest = p
			}
		}
		if oldest == nil {
			return nil // assumption: what cannot be tracked is let through
		}
		c.forget(func(p *program) bool { return p == oldest })
	}
	p := &program{session: session, worker: -1, running: -1, acting: true, idle: now}
	c.bySession[session] = p
	c.programs = append(c.programs, p)
	return p
}

// quiet reports whether nothing of a program runs or waits.
func (p *program) quiet() bool { return p.running < 0 && len(p.waiting) == 0 }

// forget drops the quiet programs of a kind.
func (c *Classifier) forget(which func(*program) bool) {
	kept := c.programs[:0]
	for _, p := range c.programs {
		if p.quiet() && which(p) {
			delete(c.bySession, p.session)
			continue
		}
		kept = append(kept, p)
	}
	clear(c.programs[len(kept):])
	c.programs = kept
}

// NextTick returns when Tick is due, +Inf while nothing is tracked.
func (c *Classifier) NextTick(now float64) float64 {
	if len(c.programs) == 0 {
		return math.Inf(1)
	}
	period := c.IntervalSecs * 1000
	at := math.Ceil(now/period) * period
	if at <= c.ticked {
		at = (math.Floor(c.ticked/period) + 1) * period
	}
	return at
}
