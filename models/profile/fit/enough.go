package fit

import (
	"fmt"
	"slices"
	"strings"

	"routesim/models/profile"
	"routesim/models/profile/measured"
)

// The least that a fit needs.
const (
	leastFiguresFromBase = 6 // figures of runs, or steps, for the five numbers of an engine
	leastSteps           = 20
	leastFigures         = 16 // of runs, for a profile of its own
)

// check refuses data from which no profile can be made, and says why.
func (o *Options) check() error {
	if o.Base == nil && o.Blank == nil {
		return fmt.Errorf("found no base profile, expected one or the worker's description")
	}
	d := o.Data
	if len(d.Steps) == 0 && len(d.Runs) == 0 {
		return fmt.Errorf("found no measurements, expected engine steps or serving runs")
	}
	target := o.Base
	if target == nil {
		target = o.Blank
	}
	if len(d.Runs) > 0 {
		if err := target.CheckEngine(profile.VLLM); err != nil {
			return err
		}
	}
	var reasons []string
	if o.Base != nil {
		reasons = tooLittleFromBase(d)
	} else {
		reasons = tooLittleAlone(d)
	}
	if len(reasons) > 0 {
		return fmt.Errorf("%s: too little data: %s", sources(d), strings.Join(reasons, "; "))
	}
	return nil
}

func tooLittleFromBase(d *measured.Data) []string {
	var reasons []string
	n := len(d.Steps) + len(observe(d.Runs))
	if n < leastFiguresFromBase {
		reasons = append(reasons, fmt.Sprintf("found %d steps and figures of runs, expected at least %d for the engine's five numbers", n, leastFiguresFromBase))
	}
	loads := distinct(d, func(s *measured.Step) int { return int(s.Batch.PrefillSeqs + s.Batch.DecodeSeqs) }, func(r *measured.Run) int { return r.Concurrency })
	if loads < 2 {
		reasons = append(reasons, "found one batch size or concurrency, expected at least 2 to tell the time per step from the time per sequence")
	}
	return reasons
}

func tooLittleAlone(d *measured.Data) []string {
	var reasons []string
	need := func(found, least int, what, why string) {
		if found < least {
			reasons = append(reasons, fmt.Sprintf("found %d %s, expected at least %d %s", found, what, least, why))
		}
	}
	if len(d.Runs) == 0 {
		need(len(d.Steps), leastSteps, "steps", "for the nine numbers of a profile (or start from one with --base)")
		var decodes, prefills []measured.Step
		for _, s := range d.Steps {
			if s.Batch.PrefillSeqs > 0 {
				prefills = append(prefills, s)
			}
			if s.Batch.DecodeSeqs > 0 {
				decodes = append(decodes, s)
			}
		}
		need(stepValues(decodes, func(s *measured.Step) int { return int(s.Batch.DecodeSeqs) }), 3, "numbers of decoding sequences", "to tell weights from sequences")
		need(stepValues(decodes, func(s *measured.Step) int { return int(s.Batch.DecodeContext / max(s.Batch.DecodeSeqs, 1)) }), 2, "context lengths of decodes", "to tell contexts from sequences")
		need(stepValues(prefills, func(s *measured.Step) int { return int(s.Batch.PrefillContext - s.Batch.PrefillPrefix) }), 4, "sizes of prefill steps", "for the curve of the tokens")
		return reasons
	}
	need(len(d.Steps)+len(observe(d.Runs)), leastFigures, "steps and figures of runs", "for the nine numbers of a profile (or start from one with --base)")
	need(distinct(d, nil, func(r *measured.Run) int { return r.Concurrency }), 3, "concurrencies", "to tell weights from sequences")
	need(distinct(d, nil, func(r *measured.Run) int { return r.ISL }), 2, "prompt lengths", "to tell prefill from decode")
	return reasons
}

func stepValues(steps []measured.Step, of func(*measured.Step) int) int {
	return distinct(&measured.Data{Steps: steps}, of, nil)
}

// distinct counts the values that steps and runs have.
func distinct(d *measured.Data, ofStep func(*measured.Step) int, ofRun func(*measured.Run) int) int {
	var values []int
	for i := range d.Steps {
		if ofStep != nil {
			values = append(values, ofStep(&d.Steps[i]))
		}
	}
	for i := range d.Runs {
		if ofRun != nil {
			values = append(values, ofRun(&d.Runs[i]))
		}
	}
	slices.Sort(values)
	return len(slices.Compact(values))
}
