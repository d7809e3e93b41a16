package workloads

import "slices"

// Route is what a request says about where it is to be served.
type Route struct {
	Worker int32    // -1 = any
	Rank   int32    // data-parallel rank, -1 = any
	Keys   []uint64 // what the worker should hold on its device
}

// routeColumns carry what only some modes of a router read.
type routeColumns struct {
	placeColumns
	off  []int64 // len = rows+1
	keys []uint64
}

// placeColumns name a worker and a rank by row, -1 for any.
type placeColumns struct{ worker, rank []int32 }

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

// PrefillRouteOf returns what row i says about where its prompt is to be
// computed, in disaggregated serving.
func (t *Trace) PrefillRouteOf(i int) Route {
	c := t.prefillRoute
	if c == nil {
		return Route{Worker: -1, Rank: -1}
	}
	return Route{Worker: c.worker[i], Rank: c.rank[i]}
}

// NamedWorkers returns the largest numbers of workers and of prefill workers that
// rows name, -1 where they name none.
func (t *Trace) NamedWorkers() (worker, prefill int32) {
	worker, prefill = -1, -1
	if c := t.route; c != nil {
		worker = slices.Max(c.worker)
	}
	if c := t.prefillRoute; c != nil {
		prefill = slices.Max(c.worker)
	}
	return worker, prefill
}

func (r *rawRow) setRoute(x *Route) {
	r.worker, r.rank = x.Worker, x.Rank
	r.setPlace(x, fWorker, fRank)
	r.keys = append(r.keys, x.Keys...)
}

func (r *rawRow) setPrefillRoute(x *Route) {
	r.prefillWorker, r.prefillRank = x.Worker, x.Rank
	r.setPlace(x, fPrefillWorker, fPrefillRank)
}

func (r *rawRow) setPlace(x *Route, worker, rank fields) {
	if x.Worker >= 0 {
		r.set(worker)
	}
	if x.Rank >= 0 {
		r.set(rank)
	}
}

func (b *Builder) keepRoute(raw *rawRow, row int32) {
	b.keepPrefillRoute(raw, row)
	c := b.t.route
	if c == nil {
		if !raw.has(fWorker) && !raw.has(fRank) && len(raw.keys) == 0 {
			return
		}
		c = &routeColumns{placeColumns: anywhere(row), off: make([]int64, row+1)}
		b.t.route = c
	}
	c.add(raw, fWorker, raw.worker, fRank, raw.rank)
	c.keys = append(c.keys, raw.keys...)
	c.off = append(room(c.off, 1), int64(len(c.keys)))
}

func (b *Builder) keepPrefillRoute(raw *rawRow, row int32) {
	c := b.t.prefillRoute
	if c == nil {
		if !raw.has(fPrefillWorker) && !raw.has(fPrefillRank) {
			return
		}
		any := anywhere(row)
		c = &any
		b.t.prefillRoute = c
	}
	c.add(raw, fPrefillWorker, raw.prefillWorker, fPrefillRank, raw.prefillRank)
}

// anywhere names no worker in any of the rows so far.
func anywhere(rows int32) (c placeColumns) {
	for range rows {
		c.worker, c.rank = append(c.worker, -1), append(c.rank, -1)
	}
	return c
}

// add appends a row's names, -1 for those it does not have.
func (c *placeColumns) add(raw *rawRow, fw fields, worker int32, fr fields, rank int32) {
	if !raw.has(fw) {
		worker = -1
	}
	if !raw.has(fr) {
		rank = -1
	}
	c.worker = append(room(c.worker, 1), worker)
	c.rank = append(room(c.rank, 1), rank)
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

// prefillRoute adds where prompts are to be computed, likewise.
func (d *digester) prefillRoute(c *placeColumns) {
	if c == nil {
		return
	}
	d.text("prefill route")
	halves(d, c.worker)
	halves(d, c.rank)
}
