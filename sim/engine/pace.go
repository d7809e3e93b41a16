package engine

import "routesim/models"

// slowed is a timing model whose passes take factor times as long.
type slowed struct {
	models.StepModel
	factor float64
}

// Step implements models.StepModel.
func (m *slowed) Step(b *models.Batch) (prefill, decode float64) {
	prefill, decode = m.StepModel.Step(b)
	return float64(prefill * m.factor), float64(decode * m.factor)
}

// DecodeRun implements models.StepModel.
func (m *slowed) DecodeRun(start float64, seqs, context int64, ends []float64) {
	for i := range ends {
		b := models.Batch{DecodeSeqs: seqs, DecodeContext: context + int64(i)*seqs, ScheduledTokens: seqs}
		prefill, decode := m.Step(&b)
		start = (start + prefill) + decode
		ends[i] = start
	}
}

// SetPace makes the passes that the worker decides from now on take factor times
// as long. What is planned must be cut.
func (w *Worker) SetPace(factor float64) {
	model := w.opt.Timing
	if m, ok := model.(*slowed); ok {
		model = m.StepModel
	}
	if factor != 1 {
		model = &slowed{model, factor}
	}
	w.opt.Timing = model
}

// Cut ends a planned run of passes with the one that is under way at now, as if
// a request had come, and returns when that ends.
func (w *Worker) Cut(now float64) (end float64, moved bool) {
	w.closed = false
	if w.plan.n == 0 {
		return 0, false
	}
	return w.cutPlan(now, false), true
}
