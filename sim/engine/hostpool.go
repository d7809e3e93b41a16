package engine

import (
	"cmp"
	"slices"
)

// HostPool is host memory that all workers share as one tier. Whatever one has
// stored the others can load. Its transfers do not take turns, as those between a
// device and a host of its own do. It follows Dynamo's replay (aisimulate,
// host_offload/tier.rs).
type HostPool struct {
	set        HostOffload
	blockBytes float64
	cache      *tierCache
	channel    channel
	members    []member // by rank
	changes    int64    // after which members look at their waiting requests again
	begun      int64    // transfers, in the order in which they were planned
}

// member is a rank that uses the pool.
type member struct {
	set   HostOffload
	done  []*job  // that have ended, and it has not heard of
	heard int64   // changes
	keeps bool    // what it has stored stays until it has taken it to the disk
	feed  *Events // nil before it publishes what the pool holds
	told  bool    // its feed has news since it took its transfers last
}

// NewHostPool returns the pool of a number of ranks of these settings.
func NewHostPool(p *Params, ranks int, hash func(block uint32) uint64) *HostPool {
	return &HostPool{
		set: p.Host, blockBytes: float64(p.Host.BytesPerToken * float64(p.BlockSize)),
		cache: newTierCache(p.Host.Blocks, hash), channel: newChannel(ranks), members: make([]member, ranks),
	}
}

// advance moves the pool to the present. Of transfers that end at once stores come
// first, then those that were planned first.
func (p *HostPool) advance(now float64) {
	var ended []*job
	p.channel.advance(now, func(j *job) { ended = append(ended, j) })
	slices.SortStableFunc(ended, func(a, b *job) int {
		if c := cmp.Compare(a.end, b.end); c != 0 {
			return c
		}
		if a.write != b.write {
			return direction(b) - direction(a)
		}
		return cmp.Compare(a.order, b.order)
	})
	for _, j := range ended {
		m := &p.members[j.client]
		if j.write {
			if m.keeps {
				p.cache.pin(j.blocks)
			}
			p.cache.written(j.blocks)
			p.tell(j.blocks, true)
			j.store.landed = true
		} else {
			p.cache.unpin(j.blocks)
		}
		p.changes++
		m.done = append(m.done, j)
	}
}

// submit begins a transfer of a rank that was planned at the place in line order.
func (p *HostPool) submit(rank int32, now float64, j *job) {
	p.advance(now)
	m := &p.members[rank]
	j.client, j.bytes = rank, float64(float64(len(j.blocks))*p.blockBytes)
	j.ready = now + m.set.LatencyMS
	j.own, j.shared = perMS(m.set.H2DGBPerSecond), perMS(p.set.SharedH2DGBPerSecond)
	if j.write {
		j.own, j.shared = perMS(m.set.D2HGBPerSecond), perMS(p.set.SharedD2HGBPerSecond)
	}
	p.channel.submit(j)
}

// order returns the place in line of a transfer that is planned now.
func (p *HostPool) order() int64 {
	p.begun++
	return p.begun
}

// take returns a rank's transfers that have ended by now and that it has not heard
// of, and whether anything has happened since it asked last.
func (p *HostPool) take(rank int32, now float64) (list []*job, progress bool) {
	p.advance(now)
	m := &p.members[rank]
	progress = m.heard != p.changes
	m.heard, m.told = p.changes, false
	list, m.done = m.done, nil
	return list, progress
}

// arrived takes a block from the disk of a rank into the pool.
func (p *HostPool) arrived(rank int32, block []uint32) {
	p.cache.written(block)
	p.tell(block, true)
	if m := &p.members[rank]; m.heard == p.changes {
		m.heard++ // it knows of this itself
	}
	p.changes++
}

// next returns when something happens that a rank may have to hear of, +Inf for
// never.
func (p *HostPool) next(rank int32) float64 {
	m := &p.members[rank]
	if m.heard != p.changes || m.told {
		return p.channel.now
	}
	at := p.channel.next()
	if len(m.done) > 0 {
		at = min(at, m.done[0].end)
	}
	return at
}

// cancel takes back a load; a store goes on.
func (p *HostPool) cancel(rank int32, l *load, now float64) {
	p.advance(now)
	m := &p.members[rank]
	of := func(j *job) bool { return j.load == l }
	if i := slices.IndexFunc(p.channel.jobs, of); i >= 0 {
		p.cache.unpin(p.channel.jobs[i].blocks)
		p.channel.jobs = slices.Delete(p.channel.jobs, i, i+1)
	}
	m.done = slices.DeleteFunc(m.done, of)
}

// tell adds to the KV events of all ranks.
func (p *HostPool) tell(blocks []uint32, stored bool) {
	for i := range p.members {
		if m := &p.members[i]; m.feed != nil && len(blocks) > 0 {
			m.feed.addTier(blocks, stored, OnHost)
			m.told = true
		}
	}
}

// leave forgets a rank that is gone. What it was storing still arrives.
func (p *HostPool) leave(rank int32) {
	m := &p.members[rank]
	for _, j := range m.done {
		if j.write && m.keeps {
			p.cache.unpin(j.blocks)
		}
	}
	kept := p.channel.jobs[:0]
	for _, j := range p.channel.jobs {
		if j.client == rank && !j.write {
			p.cache.unpin(j.blocks)
			continue
		}
		kept = append(kept, j)
	}
	clear(p.channel.jobs[len(kept):])
	p.channel.jobs = kept
	*m = member{set: m.set, heard: p.changes}
}

// HostContent is what is in host memory that all workers share.
type HostContent struct{ Capacity, Resident, Used int64 } // blocks

// Content returns what is in the pool.
func (p *HostPool) Content() HostContent {
	return HostContent{Capacity: int64(p.cache.capacity), Used: int64(len(p.cache.entries)), Resident: int64(len(p.cache.content()))}
}
