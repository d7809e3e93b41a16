package engine

import (
	"math"
	"slices"

	"routesim/models"
)

// SGLangParams are the settings that only SGLang's scheduler has.
type SGLangParams struct {
	LPM                      bool    // order the queue by longest prefix match, else first come
	MaxPrefillTokens         int32   // new tokens of one prefill pass
	ChunkedPrefillSize       int32   // tokens of one prefill pass, a multiple of the page
	ClipMaxNewTokens         int32   // tokens of an output that admission sets aside at most
	ScheduleConservativeness float64 // scales the share of outputs that admission sets aside
}

// DefaultSGLang returns the defaults of Dynamo's replay.
func DefaultSGLang() SGLangParams {
	return SGLangParams{MaxPrefillTokens: 16384, ChunkedPrefillSize: 8192, ClipMaxNewTokens: 4096, ScheduleConservativeness: 1}
}

// sglang is the part of a worker that only SGLang's scheduler has. A pass
// either prefills, while the requests that were running stall, or decodes.
type sglang struct {
	tree radix
	free int32 // pages

	// The share of the outputs of running requests that admission sets aside.
	ratio, floor, decay float64

	copies    map[uint32]int32 // by page: copies in the pool, the tree's and requests' own
	evictions int64
	chunk     int32  // tokens of one prefill pass
	prebuilt  []*Seq // prompts that came from another worker and do not run yet
	admitted  []*Seq // of the pass being decided
	batch     []*Seq // requests that decode in it
}

// Constants of the share that admission sets aside: its start and its floor,
// and the passes between the two.
const (
	initialRatio = 0.7
	floorRatio   = 0.14
	ratioSteps   = 600
	// dpShare scales the share where several data-parallel ranks run together.
	dpShare = 0.3
	// tokensAhead is how far the share looks ahead after a retraction.
	tokensAhead = 20
	// mostRetries bounds the passes without effect at one time, each of which
	// lowers the share.
	mostRetries = 1024
)

func newSGLang(p *Params) *sglang {
	g := &sglang{tree: newRadix(), free: p.NumGPUBlocks, copies: map[uint32]int32{}}
	g.chunk = p.SGLang.ChunkedPrefillSize
	share := p.SGLang.ScheduleConservativeness
	if p.DPSize > 1 {
		g.chunk /= p.DPSize
		share *= dpShare
	}
	g.ratio = initialRatio * share
	g.floor = floorRatio * g.ratio
	g.decay = (g.ratio - g.floor) / ratioSteps
	return g
}

// active returns the pages that requests hold.
func (g *sglang) active(p *Params) int32 { return p.NumGPUBlocks - g.free - g.tree.evictable }

// relax lowers the share that admission sets aside, once per pass.
func (g *sglang) relax(passes int64) {
	for ; passes > 0 && g.ratio != g.floor; passes-- {
		g.ratio = max(g.ratio-g.decay, g.floor)
	}
}

// pageUp rounds tokens up to whole pages.
func (w *Worker) pageUp(tokens int32) int32 { return ceilDiv(tokens, w.BlockSize) * w.BlockSize }

// passSGLang decides one pass, and reports whether it had any effect.
func (w *Worker) passSGLang(now float64) (end float64, effect bool) {
	g := w.sg
	w.passNo++
	w.batch, w.pf = models.Batch{}, prefillPart{}
	w.victims, w.admitted, w.scheduled = 0, 0, 0
	tokens := w.stats.OutputTokens
	w.refuseLong()
	w.runPrebuilt(now)
	w.orderQueue()
	w.admitSGLang(now)
	w.stats.PeakRunning = max(w.stats.PeakRunning, int32(len(w.running)+len(g.admitted)))
	var emit func()
	if len(g.admitted) > 0 {
		emit = w.firstTokens
	} else {
		emit = w.decodeSGLang()
	}
	w.level(g.active(&w.Params), now)
	b := &w.batch
	b.PrefillSeqs, b.PrefillContext, b.PrefillPrefix, b.PrefillPairs =
		w.pf.seqs, w.pf.context, w.pf.prefix, w.pf.pairs
	b.ScheduledTokens = w.scheduled
	prefill, decode := w.opt.Timing.Step(b)
	end = (now + prefill) + decode
	w.log = append(w.log, end)
	emit()
	for _, s := range w.refused {
		w.signals = append(w.signals, Signal{s, Refused})
	}
	w.Events.seal(end)
	w.stats.PrefillTokens += w.pf.context - w.pf.prefix
	w.owed = w.pf.tokens
	effect = end > now || w.admitted > 0 || w.victims > 0 || len(w.signals) > 0 || w.stats.OutputTokens > tokens
	if !effect {
		w.log = w.log[:len(w.log)-1]
		w.passNo--
		return end, false
	}
	w.stats.Passes++
	if w.opt.Observe != nil {
		w.opt.Observe(Pass{Start: now, End: end, Running: int32(len(w.running)), Waiting: int32(w.waiting.n), Blocks: w.kvLevel})
	}
	if w.ranger != nil && w.scheduled > 0 && !w.ranger.InRange(b) {
		w.stats.OutOfRange++
	}
	return end, true
}

// refuseLong takes the requests out of the queue whose prompt reaches the
// context limit.
func (w *Worker) refuseLong() {
	w.refused = w.refused[:0]
	if w.MaxModelLen == 0 {
		return
	}
	for i := 0; i < w.waiting.n; {
		if s := w.waiting.at(i); s.Prompt >= w.MaxModelLen {
			w.waiting.remove(i)
			w.refused = append(w.refused, s)
		} else {
			i++
		}
	}
}

// Constants of the order by longest prefix match.
const (
	lpmMostWaiting = 128 // longer queues keep their order
	lpmShortMatch  = 32  // tokens: up to here a match counts as none
)

// runPrebuilt lets the requests run whose prompts came from another worker, while
// there are places.
func (w *Worker) runPrebuilt(now float64) {
	g := w.sg
	for len(g.prebuilt) > 0 && len(w.running) < int(w.MaxNumSeqs) {
		w.run(g.prebuilt[0], now)
		g.prebuilt = g.prebuilt[1:]
	}
}

// orderQueue sorts the queue by longest prefix match, if set. Of several
// requests that begin alike and find next to nothing cached, all but the first
// go back: the first one fills the cache for them.
func (w *Worker) orderQueue() {
	n := w.waiting.n
	if !w.SGLang.LPM || !w.EnablePrefixCaching || n > lpmMostWaiting || n < 2 {
		return
	}
	type place struct {
		s     *Seq
		back  bool
		match int32
	}
	head := w.pageUp(lpmShortMatch)
	begun := map[uint32]bool{}
	order := make([]place, n)
	for i := range order {
		s := w.waiting.at(i)
		p := place{s: s, match: w.sg.tree.depth(s.Blocks[:s.length()/w.BlockSize]) * w.BlockSize}
		if p.match <= lpmShortMatch && s.length() >= head {
			first := s.Blocks[head/w.BlockSize-1]
			p.back = begun[first]
			begun[first] = true
		}
		order[i] = p
	}
	slices.SortStableFunc(order, func(a, b place) int {
		if a.back != b.back {
			if b.back {
				return -1
			}
			return 1
		}
		return int(b.match) - int(a.match)
	})
	for i := range order {
		w.waiting.set(i, order[i].s)
	}
}

// prefillRoom is what is left for a prefill pass, in tokens.
type prefillRoom struct {
	total        float64
	input, chunk int32
}

// admitSGLang takes requests from the head of the queue while they fit. The
// requests stay in g.admitted.
func (w *Worker) admitSGLang(now float64) {
	g, page := w.sg, w.BlockSize
	g.admitted = g.admitted[:0]
	if len(g.prebuilt) > 0 {
		return
	}
	reserved := 0.0
	for _, s := range w.running {
		reserved += float64(float64(min(s.remaining(w.MaxModelLen), w.SGLang.ClipMaxNewTokens)) * g.ratio)
	}
	room := prefillRoom{
		total: float64(int64(g.free+g.tree.evictable)*int64(page)) - reserved,
		input: w.SGLang.MaxPrefillTokens, chunk: g.chunk,
	}
	for w.waiting.n > 0 && room.chunk > 0 && int64(len(w.running)+len(g.admitted)) < int64(w.MaxNumSeqs) {
		s := w.waiting.at(0)
		if w.behind(s) || !w.admitOne(s, &room, now) {
			return
		}
		w.waiting.popFront()
		g.admitted = append(g.admitted, s)
		w.admitted++
	}
}

// admitOne gives a waiting request its next chunk of prefill, and the pages for
// it, if there is room.
func (w *Worker) admitOne(s *Seq, room *prefillRoom, now float64) bool {
	page, length := w.BlockSize, s.length()
	start, limit := s.computed, int32(0)
	if start == 0 && w.EnablePrefixCaching {
		limit = length
		if s.Output > 0 {
			limit--
		}
		limit /= page
		start = w.sg.tree.depth(s.Blocks[:limit]) * page
	}
	ext := length - start
	if ext == 0 && s.computed > 0 {
		return false
	}
	take := ext
	if int64(ceilDiv(ext, page))*int64(page) > int64(room.chunk) {
		if take = room.chunk / page * page; take == 0 {
			return false
		}
	}
	charged, reserve := w.pageUp(take), int32(0)
	if take == ext {
		reserve = min(s.remaining(w.MaxModelLen), w.SGLang.ClipMaxNewTokens)
	}
	if float64(int64(charged)+int64(reserve)) >= room.total || charged > room.input || charged > room.chunk {
		return false
	}
	fresh := s.computed == 0
	if !w.takePages(s, limit, start+take) {
		return false
	}
	if fresh {
		w.noteAdmission(s, now, start)
	}
	w.notePrefill(s, start, take)
	room.total -= float64(int64(charged) + int64(reserve))
	room.input -= charged
	room.chunk -= charged
	return true
}

// takePages locks the cached beginning of a new request, of at most limit
// pages, and takes the pages up to token end.
func (w *Worker) takePages(s *Seq, limit, end int32) bool {
	g, fresh := w.sg, s.computed == 0
	if fresh && w.EnablePrefixCaching {
		s.node, s.sealed = g.tree.matchAndLock(s.Blocks[:limit])
	}
	need := ceilDiv(end, w.BlockSize) - s.blocks()
	if need > g.free+g.tree.evictable {
		if fresh {
			g.tree.unlock(s.node)
			s.node, s.sealed = root, 0
		}
		return false
	}
	w.evictShortfall(need)
	g.free -= need
	s.private += need
	return true
}

// evictShortfall evicts what the free pages lack of need.
func (w *Worker) evictShortfall(need int32) {
	g := w.sg
	short := need - g.free
	if short <= 0 {
		return
	}
	g.evictions += int64(short)
	g.tree.evict(short, func(pages []uint32) {
		for _, id := range slices.Backward(pages) {
			w.dropCopy(id)
		}
	})
	g.free += short
}

// notePrefill moves a request to the end of its chunk.
func (w *Worker) notePrefill(s *Seq, start, take int32) {
	end := start + take
	w.addCopies(s, max(s.computed/w.BlockSize, s.sealed), end/w.BlockSize)
	s.computed, s.allocated = end, w.pageUp(end)
	n, x := int64(take), int64(start)
	part := prefillPart{tokens: n}
	if w.Role != Decode || s.local { // what a decode worker computes anew takes no prefill time
		part = prefillPart{seqs: 1, context: x + n, prefix: x, pairs: n*x + n*(n+1)/2, tokens: n}
	}
	w.pf.add(part, 1)
	w.scheduled += n
}

// addCopies notes that a request filled its pages from first to before last.
func (w *Worker) addCopies(s *Seq, first, last int32) {
	if !w.Events.On || !w.EnablePrefixCaching {
		return
	}
	for i := first; i < last; i++ {
		id := s.Blocks[i]
		if id >= w.Events.limit {
			return
		}
		if w.sg.copies[id]++; w.sg.copies[id] == 1 {
			w.Events.add(id, 1, true, OnDevice)
		}
	}
}

// dropCopy notes that a copy of a page is gone.
func (w *Worker) dropCopy(id uint32) {
	if !w.Events.On || id >= w.Events.limit {
		return
	}
	if w.sg.copies[id]--; w.sg.copies[id] == 0 {
		delete(w.sg.copies, id)
		w.Events.add(id, 1, false, OnDevice)
	}
}

// insert moves the pages that a request has completed into the tree, up to the
// given number, and gives back those of which the tree has a copy. It returns
// the node where they end.
func (w *Worker) insert(s *Seq, complete int32) (node int32) {
	g := w.sg
	node, known := g.tree.insert(s.node, s.Blocks[s.sealed:complete])
	for i := range known {
		w.dropCopy(s.Blocks[s.sealed+i])
	}
	g.free += known
	s.private -= complete - s.sealed
	s.sealed = complete
	return node
}

// insertRunning puts the complete pages of a request that goes on into the
// tree.
func (w *Worker) insertRunning(s *Seq) {
	complete := s.computed / w.BlockSize
	if !w.EnablePrefixCaching || complete <= s.sealed {
		return
	}
	node := w.insert(s, complete)
	w.sg.tree.lock(node)
	w.sg.tree.unlock(s.node)
	s.node = node
}

// finish puts the complete pages of a request that ends into the tree and gives
// back the others.
func (w *Worker) finish(s *Seq) {
	if w.EnablePrefixCaching {
		node, complete := s.node, min(s.length(), s.computed)/w.BlockSize
		if complete > s.sealed {
			w.insert(s, complete)
		}
		w.sg.tree.unlock(node)
	}
	w.releasePrivate(s)
}

// releasePrivate gives back the pages that are a request's own.
func (w *Worker) releasePrivate(s *Seq) {
	if w.EnablePrefixCaching {
		for i := s.computed/w.BlockSize - 1; i >= s.sealed; i-- {
			w.dropCopy(s.Blocks[i])
		}
	}
	w.sg.free += s.private
	s.private, s.sealed, s.node, s.allocated = 0, 0, root, 0
}

// reserveRatio is the share of outputs to set aside after a retraction, from
// what the requests that are left have generated.
func (w *Worker) reserveRatio() float64 {
	made, asked := int64(0), int64(1)
	for _, s := range w.running {
		made += int64(s.Generated)
		asked += int64(s.Output)
	}
	return math.Min(1, float64(made+tokensAhead*int64(len(w.running)))/float64(asked))
}
