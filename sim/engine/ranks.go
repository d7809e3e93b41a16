package engine

// StartTogether begins the next pass of the ranks of one worker that have work.
// They start together, and what they produce is known when the slowest of them
// ends. It fails if none can make progress.
func StartTogether(ranks []*Worker, now float64) (end float64, err error) {
	for try := 0; ; try++ {
		end = now
		effect, again := false, false
		for _, w := range ranks {
			w.begin(now)
			if !w.HasWork() {
				continue
			}
			e, did, more := w.attempt(now)
			end = max(end, e)
			effect, again = effect || did, again || more
		}
		if effect {
			for _, w := range ranks {
				w.extend(end)
			}
			return end, nil
		}
		if again && try < mostRetries {
			continue
		}
		var err error
		for _, w := range ranks {
			if w.HasWork() && err != ErrWaits {
				err = w.giveUpAt(now)
			}
		}
		return end, err
	}
}

// begin prepares a rank for a pass that its worker starts.
func (w *Worker) begin(now float64) {
	w.commitTokens()
	if w.busySince < 0 && w.HasWork() {
		w.busySince = now
	}
	w.signals = w.signals[:0]
	w.inPass = false
}

// attempt decides one pass. It reports whether the pass had any effect, and if
// not, whether another try at the same time might.
func (w *Worker) attempt(now float64) (end float64, effect, again bool) {
	w.trimLog()
	if w.sg == nil {
		end, effect = w.startPass(now)
	} else {
		before := w.sg.ratio
		end, effect = w.passSGLang(now)
		again = w.sg.ratio != before
	}
	w.inPass = effect
	return end, effect, again && !effect
}

// extend moves the end of the pass under way to that of the slowest rank.
func (w *Worker) extend(end float64) {
	if w.inPass {
		w.log[len(w.log)-1] = end
		w.Events.postpone(end)
		w.postponeBursts(end)
	}
}

// giveUpAt ends a worker's busy time and says why it cannot go on.
func (w *Worker) giveUpAt(now float64) error {
	if w.busySince >= 0 {
		w.stats.BusyMS += now - w.busySince
		w.busySince = -1
	}
	if w.offload != nil && w.offload.waits(now) {
		return ErrWaits
	}
	return w.Stuck(now)
}
