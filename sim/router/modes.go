package router

import (
	"fmt"
	"math"

	"routesim/sim/rng"
)

// route chooses a worker in the modes other than kv. They know of a worker how
// many requests this router has in flight there, and nothing else. forced is the
// worker to use in the place of the one whose turn it is, or -1.
func (r *Router) route(q *Request, forced int32) (Choice, bool) {
	if r.live != nil {
		r.markOverload()
	}
	r.weightless = false
	if r.Mode == Direct {
		r.only = only{q.Worker, q.Rank}
	}
	w := r.byMode(q)
	if w >= 0 && forced >= 0 {
		w, r.weightless = forced, r.weightless && r.holdsKeys(int(forced), q.Device)
	}
	if w < 0 {
		r.refuse(q)
	}
	if r.Tell != nil {
		r.account(q, w)
	}
	if w < 0 {
		return Choice{Worker: -1}, false
	}
	q.booking = booking{worker: w, row: q.Row, weightless: r.weightless}
	if !r.weightless {
		r.loads.requests[w]++
	}
	if r.live != nil {
		b := &q.booking
		b.booked, b.place = true, int32(len(r.live.active))
		r.live.active = append(r.live.active, q)
		r.keepKeys(w, q.Device)
	}
	nan := math.NaN()
	return Choice{Worker: w, Terms: Terms{Cost: nan}, MinCost: nan}, true
}

// byMode returns the chosen target, -1 for none.
func (r *Router) byMode(q *Request) int32 {
	if r.Mode == Direct {
		return r.named(q)
	}
	k := 0
	for w := range r.targets {
		if r.takes(w) {
			k++
		}
	}
	if k == 0 {
		return -1
	}
	switch r.Mode {
	case RoundRobin:
		return r.inTurn(k)
	case Random:
		return r.nth(rng.Below(rng.Draw(r.seed, int(q.Row), rng.First), k))
	case PowerOfTwo:
		return r.ofTwo(q, k)
	case DeviceAwareWeighted:
		return r.byDevice(q)
	}
	return r.leastLoaded(q, r.takes)
}

// takes reports whether a target takes requests.
func (r *Router) takes(w int) bool { return !r.absent[w] && !r.over[w] }

// nth returns the n-th target that takes requests.
func (r *Router) nth(n int) int32 {
	for w := range r.targets {
		if r.takes(w) {
			if n == 0 {
				return int32(w)
			}
			n--
		}
	}
	return -1
}

// ofTwo draws two different workers and takes the one with fewer requests, the
// first of equals.
func (r *Router) ofTwo(q *Request, k int) int32 {
	if k == 1 {
		return r.nth(0)
	}
	i := rng.Below(rng.Draw(r.seed, int(q.Row), rng.First), k)
	j := (i + 1 + rng.Below(rng.Draw(r.seed, int(q.Row), rng.Second), k-1)) % k
	a, b := r.nth(i), r.nth(j)
	if r.loads.requests[a] <= r.loads.requests[b] {
		return a
	}
	return b
}

// leastLoaded returns the target with the fewest requests among some, equals at
// random; -1 where there is none.
func (r *Router) leastLoaded(q *Request, among func(w int) bool) int32 {
	least, tied := int64(math.MaxInt64), 0
	for w, n := range r.loads.requests {
		switch {
		case !among(w):
		case n < least:
			least, tied = n, 1
		case n == least:
			tied++
		}
	}
	if tied == 0 {
		return -1
	}
	n := 0
	if tied > 1 {
		n = rng.Below(rng.Draw(r.seed, int(q.Row), rng.Tie), tied)
	}
	for w, load := range r.loads.requests {
		if among(w) && load == least {
			if n == 0 {
				return int32(w)
			}
			n--
		}
	}
	return -1
}

// named returns the target that a request names. One that names none cannot be
// routed in direct mode.
func (r *Router) named(q *Request) int32 {
	if q.Worker < 0 {
		field := "worker_id"
		if r.Stage == PrefillStage {
			field = "prefill_worker_id"
		}
		r.fail(fmt.Errorf("router-mode direct: found no %s in request %d, expected one in every row of the trace", field, q.Row))
		return -1
	}
	pin := r.pin(q)
	if pin < 0 || !r.takes(int(pin)) {
		return -1
	}
	return pin
}

// byDevice prefers the workers that hold all device keys of the request, which
// then does not count as load there.
// Otherwise, and where accelerators and CPUs serve together, a CPU takes it
// while the CPUs' load is below their share of the accelerators':
//
//	allowed = floor(accelerator load * CPUs / (ratio * accelerators))
func (r *Router) byDevice(q *Request) int32 {
	w := r.leastLoaded(q, r.deviceSet(q))
	r.weightless = w >= 0 && len(q.Device) > 0 && r.holdsKeys(int(w), q.Device)
	return w
}

// deviceSet returns the set of targets of which the least loaded serves.
func (r *Router) deviceSet(q *Request) func(w int) bool {
	holds := func(w int) bool { return r.takes(w) && r.holdsKeys(w, q.Device) }
	if len(q.Device) > 0 {
		for w := range r.targets {
			if holds(w) {
				return holds
			}
		}
	}
	count, load := r.classTotals()
	if count[0] == 0 || count[1] == 0 {
		return r.takes
	}
	cpu := load[1] < r.cpuLimit(count, load)
	return func(w int) bool { return r.takes(w) && r.targets[w].CPU == cpu }
}

// classTotals counts the accelerators and the CPUs that take requests, and
// their requests.
func (r *Router) classTotals() (count, load [2]int64) {
	for w := range r.targets {
		if r.takes(w) {
			i := one(r.targets[w].CPU)
			count[i]++
			load[i] += r.loads.requests[w]
		}
	}
	return count, load
}

// cpuLimit is the load below which a CPU takes the next request.
func (r *Router) cpuLimit(count, load [2]int64) int64 {
	return load[0] * count[1] / (r.Live.EncoderRatio * count[0])
}

// classLoad returns the load of a target's class of devices, and for CPUs the
// limit that it is compared with, NaN where nothing is.
func (r *Router) classLoad(w int) (load, limit float64) {
	count, loads := r.classTotals()
	i := one(r.targets[w].CPU)
	if limit = math.NaN(); i == 1 && count[0] > 0 {
		limit = float64(r.cpuLimit(count, loads))
	}
	return float64(loads[i]), limit
}

// holdsKeys reports whether a target was sent all of the keys before.
func (r *Router) holdsKeys(w int, keys []uint64) bool {
	for _, k := range keys {
		if !r.live.devices[w][k] {
			return false
		}
	}
	return true
}

// keepKeys notes that a target will hold the keys of a request sent there.
func (r *Router) keepKeys(w int32, keys []uint64) {
	for _, k := range keys {
		if r.live.devices[w] == nil {
			r.live.devices[w] = map[uint64]bool{}
		}
		r.live.devices[w][k] = true
	}
}
