package router

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Class is a class of the router's queue, as a policy file describes it.
type Class struct {
	Name           string
	Family, Bucket string // of a matrix class; both "" for an explicit one
	Order          QueuePolicy
	Quantum        int64    // tokens earned per round, above 0
	BusyTokens     *int64   // prefill tokens above which a target is busy
	BusyFraction   *float64 // the same as a fraction of max_num_batched_tokens

	// Limits per target on what waits: requests, prompt tokens, cached tokens.
	RequestLimit, TokenLimit, CachedLimit *int64
}

// Bucket names the requests of at least so many uncached tokens.
type Bucket struct {
	MinTokens int64
	Name      string
}

// Profile is the set of queue classes of a policy file.
type Profile struct {
	DefaultFamily string
	Buckets       []Bucket // by ascending MinTokens, the first at 0
	Classes       []Class
}

// Validate reports the first rule of profiles that is broken.
func (p *Profile) Validate() error {
	if len(p.Buckets) == 0 || p.Buckets[0].MinTokens != 0 {
		return fmt.Errorf("uncached_isl_buckets: found none that begins at 0 tokens, expected the first to")
	}
	var buckets []string
	for i, b := range p.Buckets {
		if i > 0 && b.MinTokens <= p.Buckets[i-1].MinTokens {
			return fmt.Errorf("uncached_isl_buckets: found min_tokens %d after %d, expected ascending numbers", b.MinTokens, p.Buckets[i-1].MinTokens)
		}
		if slices.Contains(buckets, b.Name) {
			return fmt.Errorf("uncached_isl_buckets: found bucket %s twice, expected each name once", b.Name)
		}
		buckets = append(buckets, b.Name)
	}
	var names, families []string
	for i := range p.Classes {
		c := &p.Classes[i]
		if err := c.validate(buckets); err != nil {
			return fmt.Errorf("policy_classes: %s: %w", c.Name, err)
		}
		if slices.Contains(names, c.Name) {
			return fmt.Errorf("policy_classes: found class %s twice, expected each name once", c.Name)
		}
		names = append(names, c.Name)
		if c.Family != "" && !slices.Contains(families, c.Family) {
			families = append(families, c.Family)
		}
	}
	return p.validateMatrix(families)
}

func (c *Class) validate(buckets []string) error {
	switch {
	case (c.Family == "") != (c.Bucket == ""):
		return fmt.Errorf("found only one of policy_family and cache_bucket, expected both or neither")
	case c.Bucket != "" && !slices.Contains(buckets, c.Bucket):
		return fmt.Errorf("cache_bucket: found %s, expected a bucket of uncached_isl_buckets", c.Bucket)
	case c.Quantum < 1:
		return fmt.Errorf("quantum: found %d, expected at least 1 token", c.Quantum)
	case c.BusyFraction != nil && !(*c.BusyFraction >= 0 && *c.BusyFraction <= math.MaxFloat64):
		return fmt.Errorf("prefill_busy_threshold_frac: found %v, expected a finite number of at least 0", *c.BusyFraction)
	}
	return nil
}

// validateMatrix wants exactly one class for each family and bucket.
func (p *Profile) validateMatrix(families []string) error {
	if !slices.Contains(families, p.DefaultFamily) {
		return fmt.Errorf("default_policy_family: found %s, expected the policy_family of a class", p.DefaultFamily)
	}
	for _, f := range families {
		for _, b := range p.Buckets {
			n := 0
			for i := range p.Classes {
				if p.Classes[i].Family == f && p.Classes[i].Bucket == b.Name {
					n++
				}
			}
			if n != 1 {
				return fmt.Errorf("policy_classes: found %d classes of family %s and bucket %s, expected 1", n, f, b.Name)
			}
		}
	}
	return nil
}

// class is a class and what waits in it. Live, requests that are bound to one
// target wait in a lane of their own, so that they block nobody else.
type class struct {
	Class
	shared queue
	lanes  []queue // by target, nil while nobody is bound

	requests, tokens, cached int64 // waiting
	deficit                  int64 // tokens the class may let go
}

func (c *class) waits() bool { return c.requests > 0 }

// classes is the queue: classes in a ring, served by deficit round robin.
type classes struct {
	profile *Profile // nil: one class for all
	list    []class
	cursor  int // where the next round begins
	carry   int // the class that was served last and has tokens left, -1 for none
	waiting int64
	seq     int64
}

func newClasses(p *Params) classes {
	k := classes{profile: p.Classes, carry: -1}
	if p.Classes == nil {
		k.list = []class{{Class: Class{Name: "default", Order: p.QueuePolicy, Quantum: 1, BusyFraction: p.QueueThreshold}}}
		return k
	}
	for _, c := range p.Classes.Classes {
		k.list = append(k.list, class{Class: c})
	}
	return k
}

// classOf resolves the class of a request with so many uncached tokens: an
// explicit class by its name; else the family of that name, or the default
// family, with the last bucket that begins at or below them.
func (k *classes) classOf(name string, uncached int64) *class {
	if k.profile == nil {
		return &k.list[0]
	}
	family := k.profile.DefaultFamily
	for i := range k.list {
		c := &k.list[i]
		if c.Family == "" && c.Name == name {
			return c
		}
		if name != "" && c.Family == name {
			family = name
		}
	}
	bucket := ""
	for _, b := range k.profile.Buckets {
		if b.MinTokens <= uncached {
			bucket = b.Name
		}
	}
	for i := range k.list {
		if c := &k.list[i]; c.Family == family && c.Bucket == bucket {
			return c
		}
	}
	return &k.list[0]
}

// overLimit reports whether what waits in a class has reached one of its limits
// for a fleet of n targets. What is about to be added does not count.
func (c *class) overLimit(n int) bool {
	for _, l := range [...]struct {
		limit *int64
		used  int64
	}{{c.RequestLimit, c.requests}, {c.TokenLimit, c.tokens}, {c.CachedLimit, c.cached}} {
		if l.limit != nil && l.used >= *l.limit*int64(n) {
			return true
		}
	}
	return false
}

// turnsAway reports whether a live router of n targets turns a request of the
// class away. One that need not wait is let in where some limit is 0.
func (c *class) turnsAway(n int, must bool) bool {
	return c.overLimit(n) && (must || !c.shut())
}

// shut reports whether some limit of the class is 0.
func (c *class) shut() bool { return c.overLimit(0) }

// enqueue puts a request that waits since a time (ms) at its place in a class.
func (r *Router) enqueue(c *class, q *Request, cached int64, since float64) {
	k := &r.classes
	isl := int64(q.ISL)
	uncached := isl - min(isl, cached)
	w := waiter{
		strict: q.StrictPriority, score: c.Order.score(q, since, uncached), seq: k.seq,
		req: q, cost: max(1, uncached), cached: min(isl, cached), since: since,
	}
	k.seq++
	k.waiting++
	c.requests++
	c.tokens += isl
	c.cached += w.cached
	if pin := r.pin(q); pin >= 0 && r.Live != nil {
		if c.lanes == nil {
			c.lanes = make([]queue, len(r.targets))
		}
		c.lanes[pin].push(w)
		return
	}
	c.shared.push(w)
}

// head returns the heap whose root the class may let go now, nil for none:
// the best of the shared head, unless every target is busy, and of the heads of
// those lanes whose target is not.
func (r *Router) head(c *class) (best *queue) {
	if len(c.shared.heap) > 0 && !r.allBusy(&c.Class, c.shared.heap[0].req) {
		best = &c.shared
	}
	for w := range c.lanes {
		lane := &c.lanes[w]
		if len(lane.heap) == 0 || !r.absent[w] && !r.over[w] && c.busy(r.backlog()[w], r.batchLimit[w]) {
			continue
		}
		if best == nil || lane.heap[0].before(&best.heap[0]) {
			best = lane
		}
	}
	return best
}

// next takes the next waiter off the queue, by deficit round robin over the
// classes: each class that is passed over earns its quantum of tokens, and one
// whose head costs no more than it has saved is served. A class that was served
// goes on being served while its savings last, but a call that finds it blocked
// ends that.
func (r *Router) next() (waiter, bool) {
	k := &r.classes
	if k.waiting == 0 {
		k.carry = -1
		return waiter{}, false
	}
	if i := k.carry; i >= 0 {
		k.carry = -1
		c := &k.list[i]
		if h := r.head(c); h != nil && h.heap[0].cost <= c.deficit {
			return r.take(i, h), true
		}
		if !c.waits() {
			c.deficit = 0
		}
	}
	n := len(k.list)
	for j := range n {
		i := (k.cursor + j) % n
		c := &k.list[i]
		h := r.head(c)
		if h == nil {
			if !c.waits() {
				c.deficit = 0
			}
			continue
		}
		if cost := h.heap[0].cost; cost > c.deficit {
			if c.deficit += c.Quantum; cost > c.deficit {
				continue
			}
		}
		return r.take(i, h), true
	}
	return r.rounds()
}

// rounds grants as many rounds of quanta at once as the first class needs, and
// serves it.
func (r *Router) rounds() (waiter, bool) {
	k := &r.classes
	n := len(k.list)
	least := int64(math.MaxInt64)
	for i := range k.list {
		c := &k.list[i]
		if h := r.head(c); h != nil {
			least = min(least, (h.heap[0].cost-c.deficit+c.Quantum-1)/c.Quantum)
		}
	}
	if least == math.MaxInt64 {
		return waiter{}, false
	}
	for i := range k.list {
		if c := &k.list[i]; r.head(c) != nil {
			c.deficit += c.Quantum * least
		}
	}
	for j := range n {
		i := (k.cursor + j) % n
		c := &k.list[i]
		if h := r.head(c); h != nil && h.heap[0].cost <= c.deficit {
			return r.take(i, h), true
		}
	}
	panic("router: no class can pay after a grant")
}

// take serves class i with the root of heap h.
func (r *Router) take(i int, h *queue) waiter {
	k := &r.classes
	c := &k.list[i]
	w := h.pop()
	k.out(c, &w)
	k.cursor = (i + 1) % len(k.list)
	c.deficit = max(0, c.deficit-w.cost)
	if !c.waits() {
		c.deficit = 0
	} else if c.deficit > 0 {
		k.carry = i
	}
	return w
}

// out counts a waiter off that left its class.
func (k *classes) out(c *class, w *waiter) {
	k.waiting--
	c.requests--
	c.tokens -= int64(w.req.ISL)
	c.cached -= w.cached
}

// waiters lists the requests that wait, in the order in which they came.
func (k *classes) waiters() (list []waiter) {
	for i := range k.list {
		c := &k.list[i]
		list = append(list, c.shared.heap...)
		for w := range c.lanes {
			list = append(list, c.lanes[w].heap...)
		}
	}
	slices.SortFunc(list, func(a, b waiter) int { return cmp.Compare(a.seq, b.seq) })
	return list
}

// Withdraw takes a request out of the queue that waits there and was cancelled.
func (r *Router) Withdraw(q *Request) {
	if r.classified(q) && r.withdrawHeld(q) {
		return
	}
	k := &r.classes
	for i := range k.list {
		c := &k.list[i]
		for lane := -1; lane < len(c.lanes); lane++ {
			h := &c.shared
			if lane >= 0 {
				h = &c.lanes[lane]
			}
			if at := h.find(q); at >= 0 {
				w := h.remove(at)
				k.out(c, &w)
				r.drop(q)
				return
			}
		}
	}
}
