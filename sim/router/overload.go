package router

// Report tells the router how many KV blocks a target uses (the engine's own
// figure, as of the end of a pass).
func (r *Router) Report(target int32, used int64) {
	if r.live == nil {
		return
	}
	r.live.reported[target] = used
	r.signal(target)
}

// WantsReports reports whether the router listens to such reports.
func (r *Router) WantsReports() bool {
	return r.live != nil && (r.Live.ActiveDecodeBlocksThreshold != nil || r.after != nil && r.after.Live.ActiveDecodeBlocksThreshold != nil)
}

// signal looks at a target's block figures after a change: above the threshold
// it is marked, and stays so until both figures are not above it.
func (r *Router) signal(w int32) {
	f := r.Live.ActiveDecodeBlocksThreshold
	if f == nil {
		return
	}
	limit := float64(*f * float64(r.targets[w].KVBlocks))
	r.live.latched[w] = float64(r.activeBlocks(w)) > limit || float64(r.live.reported[w]) > limit
}

// markOverload works out which workers are overloaded: those of which every
// rank is marked by some rule.
func (r *Router) markOverload() {
	l := r.Live
	if l.ActiveDecodeBlocksThreshold == nil && l.ActivePrefillTokensThreshold < 0 && l.ActivePrefillTokensThresholdFrac == nil {
		return
	}
	backlog := r.backlog()
	for w := 0; w < len(r.targets); {
		end, all := w, true
		for ; end < len(r.targets) && r.targets[end].Worker == r.targets[w].Worker; end++ {
			all = all && r.marked(end, backlog[end])
		}
		for ; w < end; w++ {
			r.over[w] = all
		}
	}
}

// marked reports whether a rule marks a target. Comparisons are strict, and a
// fraction of the batch limit is cut to whole tokens.
func (r *Router) marked(w int, tokens int64) bool {
	l := r.Live
	return r.live.latched[w] ||
		l.ActivePrefillTokensThreshold >= 0 && tokens > l.ActivePrefillTokensThreshold ||
		l.ActivePrefillTokensThresholdFrac != nil && tokens > int64(float64(*l.ActivePrefillTokensThresholdFrac*r.batchLimit[w]))
}
