// Package fit turns measurements into profiles: it finds the few numbers that
// an engine adds to a shipped profile, or the coefficients of a profile of its
// own, such that predicted and measured times agree.
package fit

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"routesim/models"
	"routesim/models/profile"
	"routesim/models/profile/measured"
)

// Options say what to fit.
type Options struct {
	Data    *measured.Data
	Predict Predict // needed for serving runs
	// Base is the profile to start from: only what the engine adds is fitted.
	// Without one, Blank is, from the measurements alone.
	Base *profile.Profile
	// Blank is a profile without times: the worker's name, its KV cache and
	// its context length.
	Blank *profile.Profile
}

// Kind is what a measured figure is.
type Kind string

// The kinds of figures.
const (
	TTFT        Kind = "TTFT ms"
	TPOT        Kind = "TPOT ms"
	Throughput  Kind = "output tokens/s"
	DecodeStep  Kind = "decode step ms"
	PrefillStep Kind = "prefill step ms"
	PrefixStep  Kind = "prefill step with prefix ms"
	MixedStep   Kind = "mixed step ms"
)

// Kinds lists the kinds in the order of reports.
func Kinds() []Kind {
	return []Kind{DecodeStep, PrefillStep, PrefixStep, MixedStep, TTFT, TPOT, Throughput}
}

// Residual is a measured figure beside what the fitted profile predicts.
type Residual struct {
	File      string
	Line      int
	What      string // the step or run in words
	Kind      Kind
	Measured  float64
	Predicted float64
}

// Error is the relative error of the prediction as a share of the measurement.
func (r *Residual) Error() float64 { return r.Predicted/r.Measured - 1 }

// Number is one fitted number.
type Number struct {
	Name   string
	Before float64 // of the base, NaN without one
	After  float64
	Kept   bool // the data do not tell it apart; it stays as it was
}

// Result is a fitted profile and how well it agrees.
type Result struct {
	Profile   *profile.Profile
	Numbers   []Number
	Residuals []Residual
	// Unseen holds the relative errors of steps by a fit that did not see them
	// (five-fold cross-validation), by kind; nil where there are no steps.
	Unseen map[Kind][]float64
}

// Fit fits a profile.
func Fit(ctx context.Context, o Options) (*Result, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	var sp *space
	var found *search
	var best *solution
	var err error
	if o.Base != nil {
		if sp, err = overheadSpace(o.Base); err == nil {
			found, best, err = o.in(ctx, sp)
		}
	} else {
		found, best, err = o.bestBend(ctx)
	}
	if err != nil {
		return nil, err
	}
	p, err := found.build(rounded(best.x))
	if err != nil {
		return nil, err
	}
	r := &Result{Profile: p, Numbers: found.numbers(best.x, o.Base != nil)}
	if r.Residuals, err = residuals(ctx, p, o.Data, o.Predict); err != nil {
		return nil, err
	}
	if r.Unseen, err = o.crossValidate(ctx, found); err != nil {
		return nil, err
	}
	r.describe(&o)
	return r, p.Check()
}

func (o *Options) in(ctx context.Context, sp *space) (*search, *solution, error) {
	s := &search{space: sp, data: o.Data, predict: o.Predict, from: sp.start, rounds: mostRounds}
	best, err := s.solve(ctx)
	return s, best, err
}

// rounded keeps five significant digits: more would only depend on the
// machine.
func rounded(x []float64) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = round5(v)
	}
	return out
}

func round5(v float64) float64 {
	if v == 0 {
		return 0
	}
	scale := math.Pow(10, 4-math.Floor(math.Log10(math.Abs(v))))
	return math.Round(v*scale) / scale
}

func (s *search) numbers(x []float64, based bool) []Number {
	list := make([]Number, len(s.names))
	for j, name := range s.names {
		list[j] = Number{Name: name, Before: math.NaN(), After: round5(x[j]), Kept: s.fixed[j]}
		if based {
			list[j].Before = s.start[j]
		}
	}
	return list
}

// residuals sets every measured figure beside its prediction.
func residuals(ctx context.Context, p *profile.Profile, d *measured.Data, predict Predict) ([]Residual, error) {
	var list []Residual
	model, err := p.StepModel(1)
	if err != nil {
		return nil, err
	}
	for i := range d.Steps {
		s := &d.Steps[i]
		ms, _ := model.Step(&s.Batch)
		list = append(list, Residual{s.File, s.Line, stepName(&s.Batch), kindOf(&s.Batch), s.MS, ms})
	}
	if len(d.Runs) == 0 {
		return list, nil
	}
	predictions, err := predictAll(ctx, predict, p, d.Runs)
	if err != nil {
		return nil, err
	}
	for i := range d.Runs {
		r := &d.Runs[i]
		for _, f := range [...]struct {
			kind     Kind
			measured float64
		}{{TTFT, r.TTFT}, {TPOT, r.TPOT}, {Throughput, r.Throughput}} {
			if !math.IsNaN(f.measured) {
				list = append(list, Residual{r.File, r.Line, runName(r), f.kind, f.measured, predictions[i].of(f.kind)})
			}
		}
	}
	return list, nil
}

func kindOf(b *models.Batch) Kind {
	switch {
	case b.PrefillSeqs == 0:
		return DecodeStep
	case b.DecodeSeqs > 0:
		return MixedStep
	case b.PrefillPrefix > 0:
		return PrefixStep
	}
	return PrefillStep
}

func stepName(b *models.Batch) string {
	var parts []string
	if b.PrefillSeqs > 0 {
		parts = append(parts, fmt.Sprintf("prefill %d tokens in %d chunks on %d cached", b.PrefillContext-b.PrefillPrefix, b.PrefillSeqs, b.PrefillPrefix))
	}
	if b.DecodeSeqs > 0 {
		parts = append(parts, fmt.Sprintf("decode %d sequences of %d tokens", b.DecodeSeqs, b.DecodeContext))
	}
	return strings.Join(parts, ", ")
}

func runName(r *measured.Run) string {
	return fmt.Sprintf("ISL %d, OSL %d, concurrency %d", r.ISL, r.OSL, r.Concurrency)
}

func located(r *measured.Run, err error) error {
	return fmt.Errorf("%s:%d: %w", r.File, r.Line, err)
}

// Summary sums up the relative errors of one kind: the median and the 90th
// percentile of the absolute ones and the median of the signed ones, as
// shares.
type Summary struct {
	Kind              Kind
	N                 int
	Median, P90, Bias float64
}

// Summaries sums up the residuals by kind.
func (r *Result) Summaries() []Summary {
	var list []Summary
	for _, k := range Kinds() {
		var shares []float64
		for i := range r.Residuals {
			if r.Residuals[i].Kind == k {
				shares = append(shares, r.Residuals[i].Error())
			}
		}
		if len(shares) > 0 {
			list = append(list, summarise(k, shares))
		}
	}
	return list
}

func summarise(k Kind, shares []float64) Summary {
	signed, absolute := slices.Clone(shares), make([]float64, len(shares))
	for i, s := range shares {
		absolute[i] = math.Abs(s)
	}
	slices.Sort(signed)
	slices.Sort(absolute)
	return Summary{k, len(shares), ranked(absolute, 0.5), ranked(absolute, 0.9), ranked(signed, 0.5)}
}

// ranked returns the element at a share of an ascending list, without
// interpolation.
func ranked(ascending []float64, share float64) float64 {
	return ascending[int(math.Round(float64(len(ascending)-1)*share))]
}

// sources names the files that the data are from, without their folders.
func sources(d *measured.Data) string {
	var names []string
	add := func(file string) {
		if name := filepath.Base(file); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for i := range d.Steps {
		add(d.Steps[i].File)
	}
	for i := range d.Runs {
		add(d.Runs[i].File)
	}
	return strings.Join(names, ", ")
}
