package workloads

// Route is what a request says about where it is to be served.
type Route struct {
	Worker int32    // -1 = any
	Rank   int32    // data-parallel rank, -1 = any
	Keys   []uint64 // what the worker should hold on its device
}

// routeColumns carry what only some modes of a router read.
type routeColumns struct {
	worker []int32
	rank   []int32
	off    []int64 // len = rows+1
	keys   []uint64
}

// RouteOf returns what row i says about where it is to be served. Callers must
// not write to the keys.
func (t *Trace) RouteOf(i int) Route {
	c := t.route
	if c == nil {
		return Route{Worker: -1, Rank: -1}
	}
	a, b := c.off[i], c.off[i+1]
	return Route{Worker: c.worker[i], Rank: c.rank[i], Keys: c.keys[a:b:b]}
}

func (r *rawRow) setRoute(x *Route) {
	if r.worker = x.Worker; x.Worker >= 0 {
		r.set(fWorker)
	}
	if r.rank = x.Rank; x.Rank >= 0 {
		r.set(fRank)
	}
	r.keys = append(r.keys, x.Keys...)
}

func (b *Builder) keepRoute(raw *rawRow, row int32) {
	c := b.t.route
	if c == nil {
		if !raw.has(fWorker) && !raw.has(fRank) && len(raw.keys) == 0 {
			return
		}
		c = &routeColumns{off: make([]int64, row+1)}
		for range row {
			c.worker, c.rank = append(c.worker, -1), append(c.rank, -1)
		}
		b.t.route = c
	}
	if !raw.has(fWorker) {
		raw.worker = -1
	}
	if !raw.has(fRank) {
		raw.rank = -1
	}
	c.worker = append(room(c.worker, 1), raw.worker)
	c.rank = append(room(c.rank, 1), raw.rank)
	c.keys = append(c.keys, raw.keys...)
	c.off = append(room(c.off, 1), int64(len(c.keys)))
}

// route adds where requests are to be served, and nothing for a trace that does
// not say.
func (d *digester) route(c *routeColumns) {
	if c == nil {
		return
	}
	d.text("route")
	halves(d, c.worker)
	halves(d, c.rank)
	for _, x := range c.off {
		d.word(uint64(x))
	}
	for _, x := range c.keys {
		d.word(x)
	}
}
