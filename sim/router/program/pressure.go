package program

import (
	"cmp"
	"slices"
)

// Tick resumes what has room, then pauses where there is too little, so that
// nothing is paused and resumed at once.
func (c *Classifier) Tick(now float64) {
	c.ticked = now
	c.forget(func(p *program) bool { return now-p.idle >= c.RetentionSecs*1000 })
	c.force(now)
	c.resume()
	c.drain()
}

// counted is what a program counts with on its worker: its context, weighed
// while it is idle, and the buffer.
func (c *Classifier) counted(p *program) int64 {
	if p.acting && p.running < 0 {
		return int64(float64(c.ActingWeight*float64(p.tokens))) + c.BufferTokens
	}
	return p.tokens + c.BufferTokens
}

// usage returns the tokens of the programs on each target that are not paused,
// with or without those that will be when their request ends.
func (c *Classifier) usage(withoutMarked bool) []int64 {
	used := make([]int64, len(c.capacity))
	for _, p := range c.programs {
		if p.worker >= 0 && !p.paused && !p.last && !(withoutMarked && p.marked) {
			used[p.worker] += c.counted(p)
		}
	}
	return used
}

// limit is a share of a target's KV pool in tokens.
func (c *Classifier) limit(target int, share float64) float64 {
	return float64(share * float64(c.capacity[target]))
}

// fits returns the target with the most room below a share of its pool, if what
// is added fits there; -1 for none.
func (c *Classifier) fits(used []int64, tokens int64, share float64) int32 {
	best, most := int32(-1), 0.0
	for w := range used {
		room := c.limit(w, share) - float64(used[w]+tokens+c.BufferTokens)
		if c.takes(w) && room >= 0 && (best < 0 || room > most) {
			best, most = int32(w), room
		}
	}
	return best
}

// force lets go what waited for as long as anything may.
func (c *Classifier) force(now float64) {
	for _, p := range c.programs {
		if p.paused && len(p.waiting) > 0 && now-p.waiting[0].since >= c.ResumeTimeoutSecs*1000 {
			p.paused = false
			c.counters.Forced++
			c.release(p)
		}
	}
}

// resume lets paused programs go on where they fit below the threshold less the
// hysteresis: on their own worker, or, where they have none, on the one with the
// most room. Assumption: those with a request that waits come before those
// without, smaller ones before larger ones, then sessions by number.
func (c *Classifier) resume() {
	var list []*program
	for _, p := range c.programs {
		if p.paused {
			list = append(list, p)
		}
	}
	slices.SortStableFunc(list, func(a, b *program) int {
		return cmp.Or(cmp.Compare(min(1, len(b.waiting)), min(1, len(a.waiting))),
			cmp.Compare(a.size(), b.size()), cmp.Compare(a.session, b.session))
	})
	used, share := c.usage(false), c.PauseThreshold-c.ResumeHysteresis
	for _, p := range list {
		tokens, w := p.size(), p.worker
		switch {
		case w < 0:
			w = c.fits(used, tokens, share)
		case float64(used[w]+tokens+c.BufferTokens) > c.limit(int(w), share):
			w = -1
		}
		if w < 0 {
			continue
		}
		used[w] += tokens + c.BufferTokens
		p.paused = false
		c.release(p)
	}
}

// drain pauses programs of targets that are above the threshold until the others
// are at the target share: idle ones first, then those that run, which are only
// marked; each kind by size, smaller ones first.
func (c *Classifier) drain() {
	used := c.usage(true)
	for w := range used {
		if float64(used[w]) <= c.limit(w, c.PauseThreshold) {
			continue
		}
		for _, p := range c.victims(int32(w)) {
			if float64(used[w]) <= c.limit(w, c.PauseTarget) {
				break
			}
			used[w] -= c.counted(p)
			if p.running >= 0 {
				p.marked = true
				continue
			}
			c.pause(p)
		}
	}
}

// victims lists the programs of a target that can be paused, in order.
func (c *Classifier) victims(w int32) (list []*program) {
	for _, p := range c.programs {
		if p.worker == w && !p.paused && !p.marked && !p.last {
			list = append(list, p)
		}
	}
	runs := func(p *program) int {
		if p.running >= 0 {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(list, func(a, b *program) int {
		return cmp.Or(cmp.Compare(runs(a), runs(b)), cmp.Compare(a.tokens, b.tokens), cmp.Compare(a.session, b.session))
	})
	return list
}
