package engine

import "math"

// channel is a store that several clients write to and read from at once. Writes
// do not slow down reads, nor reads writes. A transfer moves nothing before its
// first byte is there; from then on those of one direction share the client's own
// bandwidth and that of the whole channel in equal parts, and each moves at the
// lower of its two shares. What one cannot use the others do not get. It follows
// Dynamo's replay (aisimulate, offload_transfer.rs).
type channel struct {
	now  float64 // ms
	jobs []*job  // in the order in which they were submitted
	// How many jobs move bytes now, by direction, in total and by client.
	total  [2]int
	client [2][]int
}

// job is a transfer through a channel.
type job struct {
	write       bool
	client      int32
	blocks      []uint32
	stats       *DiskStats // of a disk's: that it counts in
	order       int64      // of a shared host's: when it was planned
	store       *store     // likewise, or
	load        *load
	start       float64 // ms, when it was submitted
	ready       float64 // ms, when its first byte comes
	bytes       float64 // still to be moved
	own, shared float64 // bytes per ms, +Inf = no limit
	end         float64 // ms, once it has ended
}

func newChannel(clients int) channel {
	return channel{client: [2][]int{make([]int, clients), make([]int, clients)}}
}

// perMS returns a bandwidth of decimal GB/s in bytes per ms; 0 is no limit.
func perMS(gbPerSecond float64) float64 {
	if gbPerSecond == 0 {
		return math.Inf(1)
	}
	return float64(gbPerSecond * 1e6)
}

func direction(j *job) int {
	if j.write {
		return 1
	}
	return 0
}

// count counts the jobs that move bytes now.
func (c *channel) count() {
	c.total = [2]int{}
	clear(c.client[0])
	clear(c.client[1])
	for _, j := range c.jobs {
		if j.ready <= c.now {
			c.total[direction(j)]++
			c.client[direction(j)][j.client]++
		}
	}
}

// rate returns the bytes per ms that a job moves.
func (c *channel) rate(j *job) float64 {
	d := direction(j)
	return min(j.own/float64(max(1, c.client[d][j.client])), j.shared/float64(max(1, c.total[d])))
}

// when returns when a job gets its first byte or ends, if nothing else happens.
func (c *channel) when(j *job) float64 {
	if j.ready > c.now {
		return j.ready
	}
	return c.now + j.bytes/c.rate(j)
}

// next returns when the next job gets its first byte or ends, +Inf for none.
func (c *channel) next() float64 {
	at := math.Inf(1)
	if len(c.jobs) == 0 {
		return at
	}
	c.count()
	for _, j := range c.jobs {
		at = min(at, c.when(j))
	}
	return at
}

// submit adds a job. The channel must have been advanced to the present.
func (c *channel) submit(j *job) { c.jobs = append(c.jobs, j) }

// advance moves the channel to a time and calls ended for every job that ends by
// then, in order.
func (c *channel) advance(to float64, ended func(j *job)) {
	to = max(to, c.now)
	for {
		at := c.next()
		c.step(min(at, to), ended)
		if at > to {
			return
		}
	}
}

// step moves the channel to the time of the next thing that happens in it, or to
// an earlier one.
func (c *channel) step(to float64, ended func(j *job)) {
	for _, j := range c.jobs {
		switch {
		case j.ready > c.now:
		case c.when(j) <= to:
			j.bytes = 0 // subtracting could leave a rest too small for the clock
		default:
			j.bytes = max(0, j.bytes-float64((to-c.now)*c.rate(j)))
		}
	}
	c.now = to
	kept := c.jobs[:0]
	for _, j := range c.jobs {
		if j.ready <= c.now && j.bytes == 0 {
			j.end = c.now
			ended(j)
			continue
		}
		kept = append(kept, j)
	}
	clear(c.jobs[len(kept):])
	c.jobs = kept
}
