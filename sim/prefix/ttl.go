package prefix

import "math"

// Tick is the granularity of expiry in ms: an entry lives up to the first tick
// that is not before its time is over.
const Tick = 100

// TTL is an index that no worker reports to. The router writes into it which
// blocks its own decisions will leave on the chosen worker, and every entry is
// forgotten a fixed time after it was last written. Evictions and generated
// tokens are unknown to it.
//
// A decision writes a prompt's whole chain from its first block on, so a block
// never outlives its predecessor, and a table of expiry times is all there is.
type TTL struct {
	shift   uint8
	workers int
	ttl     float64 // ms
	origin  float64 // ms, ticks count from here
	nodes   *NodeMap
	names   []uint32 // by entry: the node, for sweeping
	until   []uint32 // by entry, worker and block of the node: tick of the expiry, 0 = absent
	alive   []int32  // scratch of Match
	sweep   int      // nodes at which the dead ones are looked for
}

// firstSweep is the number of nodes up to which nothing is swept.
const firstSweep = 1024

// NewTTL returns an empty index whose ticks count from now. Times are in ms.
func NewTTL(workers int, shift uint8, ttl, now float64) *TTL {
	return &TTL{
		shift: min(shift, MaxShift), workers: workers, ttl: ttl, origin: now,
		nodes: NewNodeMap(), alive: make([]int32, 0, workers), sweep: firstSweep,
	}
}

// Store notes that worker will hold a prompt's blocks. A lifetime of 0 is over
// at once.
func (x *TTL) Store(worker int32, blocks []uint32, now float64) {
	if x.ttl == 0 {
		return
	}
	tick := uint32(min(math.Ceil((now-x.origin+x.ttl)/Tick), math.MaxUint32))
	for _, b := range blocks {
		node := b >> x.shift
		e := x.nodes.Find(node)
		if e < 0 {
			e = x.add(node, now)
		}
		x.row(e, worker)[b&(1<<x.shift-1)] = tick
	}
}

// add enters a node, after room was made by forgetting dead ones.
func (x *TTL) add(node uint32, now float64) int32 {
	if x.nodes.Len() >= x.sweep {
		x.forget(now)
		x.sweep = max(firstSweep, 2*x.nodes.Len())
	}
	e := x.nodes.Insert(node)
	width := x.workers << x.shift
	for len(x.names) < x.nodes.Entries() {
		x.names = append(x.names, 0)
		x.until = append(x.until, make([]uint32, width)...)
	}
	x.names[e] = node
	clear(x.until[int(e)*width:][:width])
	return e
}

// forget deletes the nodes of which nothing is left.
func (x *TTL) forget(now float64) {
	width := x.workers << x.shift
	for e, node := range x.names {
		if x.nodes.Find(node) != int32(e) {
			continue // given back
		}
		dead := true
		for _, tick := range x.until[e*width:][:width] {
			dead = dead && !x.live(tick, now)
		}
		if dead {
			x.nodes.Delete(node)
		}
	}
}

// Nodes returns the number of nodes kept, dead ones not yet swept included.
func (x *TTL) Nodes() int { return x.nodes.Len() }

// live reports whether an entry is still there at now.
func (x *TTL) live(tick uint32, now float64) bool { return now-x.origin < float64(tick)*Tick }

// row holds a worker's expiry times of the blocks of a node.
func (x *TTL) row(e, worker int32) []uint32 {
	return x.until[(int(e)*x.workers+int(worker))<<x.shift:][:1<<x.shift]
}

// Purge forgets what a worker was thought to hold.
func (x *TTL) Purge(worker int32) {
	for e := range x.names {
		clear(x.row(int32(e), worker))
	}
}

// Raise lifts depth, by worker, to the number of leading blocks that the index
// knows of where that is more.
func (x *TTL) Raise(blocks []uint32, now float64, depth []int32) {
	x.alive = x.alive[:0]
	for w := range int32(x.workers) {
		x.alive = append(x.alive, w)
	}
	for at := 0; at < len(blocks) && len(x.alive) > 0; {
		e := x.nodes.Find(blocks[at] >> x.shift)
		if e < 0 {
			return
		}
		n := int(stretch(blocks[at:], x.shift))
		first := int(blocks[at] & (1<<x.shift - 1))
		was := x.alive
		x.alive = x.alive[:0]
		for _, w := range was {
			held := 0
			for _, tick := range x.row(e, w)[first : first+n] {
				if !x.live(tick, now) {
					break
				}
				held++
			}
			depth[w] = max(depth[w], int32(at+held))
			if held == n {
				x.alive = append(x.alive, w)
			}
		}
		at += n
	}
}
