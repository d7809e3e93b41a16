package fit

import (
	"routesim/models"
	"routesim/models/profile"
)

// Places of the engine's numbers.
const (
	scalePlace = iota
	stepPlace
	perSeqPlace
	prefillStepPlace
	requestPlace
	overheadCount
)

// overheadSpace is the space of what an engine adds to the GPU's time of a
// profile: the five numbers of its calibration.
func overheadSpace(base *profile.Profile) (*space, error) {
	neutral := *base
	neutral.Calibration = profile.Calibration{GPUTimeScale: 1}
	gpu, err := neutral.StepModel(1)
	if err != nil {
		return nil, err
	}
	c := &base.Calibration
	return &space{
		names:  []string{"gpu_time_scale", "step_ms", "per_seq_ms", "prefill_step_ms", "request_ms"},
		start:  []float64{c.GPUTimeScale, c.StepMS, c.PerSeqMS, c.PrefillStepMS, c.RequestMS},
		delta:  []float64{0.02, 0.2, 0.01, 0.5, 1},
		spread: []float64{0.1, 1, 0.02, 2, 20},
		// A scale near the base's is the safest guess of all.
		lettingGo: []int{perSeqPlace, prefillStepPlace, stepPlace, scalePlace, requestPlace},
		request:   requestPlace,
		row: func(b *models.Batch) []float64 {
			ms, _ := gpu.Step(b)
			row := make([]float64, overheadCount)
			row[scalePlace], row[stepPlace], row[perSeqPlace] = ms, 1, float64(b.PrefillSeqs+b.DecodeSeqs)
			if b.PrefillSeqs > 0 {
				row[prefillStepPlace] = 1
			}
			return row
		},
		build: func(x []float64) (*profile.Profile, error) {
			p := *base
			p.Calibration = profile.Calibration{
				GPUTimeScale: max(x[scalePlace], leastScale), StepMS: x[stepPlace], PerSeqMS: x[perSeqPlace],
				PrefillStepMS: x[prefillStepPlace], RequestMS: x[requestPlace],
			}
			return &p, nil
		},
	}, nil
}

// leastScale keeps the GPU's time a part of a step.
const leastScale = 0.01
