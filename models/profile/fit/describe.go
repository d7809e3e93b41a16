package fit

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"routesim/models/profile"
	"routesim/models/profile/measured"
)

// folds is the number of parts of a cross-validation.
const folds = 5

// crossValidate fits the steps again without every fifth of them, and returns
// the errors on those left out.
func (o *Options) crossValidate(ctx context.Context, found *search) (map[Kind][]float64, error) {
	steps := o.Data.Steps
	if len(steps) < 2*folds || len(o.Data.Runs) > 0 {
		return nil, nil
	}
	unseen := map[Kind][]float64{}
	for fold := range folds {
		part := &measured.Data{}
		for i, s := range steps {
			if i%folds != fold {
				part.Steps = append(part.Steps, s)
			}
		}
		s := &search{space: found.space, data: part, fixed: found.fixed, from: found.start, rounds: 1}
		at, err := s.solve(ctx)
		if err != nil {
			return nil, err
		}
		for i := fold; i < len(steps); i += folds {
			ms := 0.0
			for j, c := range s.row(&steps[i].Batch) {
				ms += float64(c * at.x[j])
			}
			k := kindOf(&steps[i].Batch)
			unseen[k] = append(unseen[k], ms/steps[i].MS-1)
		}
	}
	return unseen, nil
}

// Thresholds of the grade: median and 90th percentile of the absolute error of
// step times or TPOT.
const (
	gradeBMedian = 0.05
	gradeBP90    = 0.15
)

// describe gives the profile its grade, flags and provenance. A profile that
// was fitted to the user's own measurements has no independent check and is
// never graded A.
func (r *Result) describe(o *Options) {
	p, d := r.Profile, o.Data
	p.Grade, p.Flags = "C", nil
	if o.Base != nil {
		p.Flags = inherited(o.Base.Flags)
	}
	good := true
	for _, s := range r.judged() {
		good = good && s.Median <= gradeBMedian && s.P90 <= gradeBP90
	}
	if good && (o.Base == nil || o.Base.Grade != "C") {
		p.Grade = "B"
	}
	for _, s := range r.judged() {
		p.Flags = append(p.Flags, fmt.Sprintf("fitted_%s:%.1f%%", strings.ToLower(strings.ReplaceAll(strings.TrimSuffix(string(s.Kind), " ms"), " ", "_")), 100*s.Median))
	}
	if share, _, err := p.BelowFloor(); err == nil && share > 0 {
		p.Grade = "C"
		p.Flags = append(p.Flags, profile.FloorFlag(share))
	}
	p.CalibrationID = ""
	p.Provenance = profile.Provenance{
		Kind: "fitted to measurements", Table: sources(d),
		Method: fmt.Sprintf("%d steps and %d serving runs; non-negative least relative errors; %s", len(d.Steps), len(d.Runs), r.sentence()),
	}
	if o.Base != nil {
		p.Provenance.Package = "GPU times of " + o.Base.ID
	} else {
		p.Range = rangeOf(d)
		p.FitError = r.fitError()
	}
}

// inherited are the flags of the base that a fit of the engine's numbers does
// not change.
func inherited(flags []string) []string {
	return slices.DeleteFunc(slices.Clone(flags), func(f string) bool { return strings.HasPrefix(f, "beats_hardware_floor") })
}

// judged are the summaries that decide on the grade: of steps by fits that did
// not see them, and of the TPOT of runs.
func (r *Result) judged() []Summary {
	var list []Summary
	for _, s := range r.Summaries() {
		switch s.Kind {
		case TTFT, Throughput:
			continue
		}
		if unseen := r.Unseen[s.Kind]; len(unseen) > 0 {
			s = summarise(s.Kind, unseen)
		}
		list = append(list, s)
	}
	return list
}

// sentence tells the errors in words.
func (r *Result) sentence() string {
	var parts []string
	for _, s := range r.Summaries() {
		parts = append(parts, fmt.Sprintf("%s %.1f %% median error", s.Kind, 100*s.Median))
	}
	return strings.Join(parts, ", ")
}

// fitError fills in the errors on unseen steps where all kinds were measured.
func (r *Result) fitError() *profile.FitError {
	of := func(kinds ...Kind) ([2]float64, bool) {
		var shares []float64
		for _, k := range kinds {
			for _, s := range r.Unseen[k] {
				shares = append(shares, math.Abs(s))
			}
		}
		if len(shares) == 0 {
			return [2]float64{}, false
		}
		slices.Sort(shares)
		pct := func(share float64) float64 { return math.Round(10000*ranked(shares, share)) / 100 }
		return [2]float64{pct(0.5), pct(0.95)}, true
	}
	decode, a := of(DecodeStep)
	plain, b := of(PrefillStep)
	all, c := of(PrefillStep, PrefixStep)
	mixed, d := of(MixedStep)
	if !a || !b || !c || !d {
		return nil
	}
	return &profile.FitError{Decode: decode, PrefillNoPrefix: plain, PrefillAll: all, Mixed: mixed}
}

// rangeOf is the range of the steps that the data hold. What runs did inside
// follows from their concurrency and lengths.
func rangeOf(d *measured.Data) profile.Range {
	r := profile.Range{StepTokens: 1, DecodeContextTokens: 1}
	for i := range d.Steps {
		b := &d.Steps[i].Batch
		r.StepTokens = max(r.StepTokens, b.ScheduledTokens)
		r.DecodeContextTokens = max(r.DecodeContextTokens, b.DecodeContext)
	}
	for i := range d.Runs {
		q := &d.Runs[i]
		budget := q.MaxNumBatchedTokens
		if budget == 0 {
			budget = int64(q.ISL)
		}
		r.StepTokens = max(r.StepTokens, min(budget, int64(q.ISL)*int64(q.Concurrency)))
		r.DecodeContextTokens = max(r.DecodeContextTokens, int64(q.Concurrency)*int64(q.ISL+q.OSL))
	}
	return r
}
