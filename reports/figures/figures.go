// Package figures draws what a sweep found out: what each setting does to each
// latency, maps over two settings, trade-offs, distributions, balance, and what
// the workers of a run did over time. Titles state the finding, subtitles what
// was run.
package figures

import (
	"errors"
	"fmt"
	"slices"

	"routesim/reports/plot"
	"routesim/reports/sweepdata"
	"routesim/reports/verdict"
)

// Named is a figure with the name of its files, which end in .svg and .png.
type Named struct {
	Name string
	Kind string
	*plot.Figure
}

// The kinds of figures.
const (
	Knob    = "knob"    // latencies against each setting
	HeatMap = "heatmap" // a metric over two settings
	Pareto  = "pareto"  // TTFT against ITL
	CDF     = "cdf"     // distributions of latencies
	Balance = "balance" // cache reuse against load imbalance
	Overlap = "overlap" // predicted against found prefix overlap
	Workers = "workers" // what each worker did over time
	Goodput = "goodput" // share of requests within the SLA
)

// Kinds lists the kinds in the order in which they are drawn.
func Kinds() []string {
	return []string{Knob, HeatMap, Pareto, CDF, Balance, Overlap, Workers, Goodput}
}

// Request says what to draw. The zero value of each field stands for all that
// there is, or for what is usual.
type Request struct {
	Kind   string
	Metric string // name of a metric, or a family for knob and cdf
	Axis   string // name of an axis
	Points []int  // to draw besides, or instead of, the chosen and the default one
	Readme bool   // small enough to stand beside text
}

// Series holds workers over time by point.
type Series map[int]*sweepdata.WorkerSeries

// All draws every figure that the sweep has the data for: what a sweep writes
// beside its results. v and series may be nil.
func All(s *sweepdata.Sweep, v *verdict.Verdict, series Series) ([]Named, error) {
	d := newData(s, v, series)
	var all []Named
	for _, kind := range Kinds() {
		if d.lacks(kind) != "" {
			continue
		}
		list, err := d.draw(Request{Kind: kind})
		var none nothing
		if errors.As(err, &none) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("figure %s: %w", kind, err)
		}
		all = append(all, list...)
	}
	return all, nil
}

// Draw draws what is asked for. It fails where the sweep has no data for it.
func Draw(s *sweepdata.Sweep, v *verdict.Verdict, series Series, r Request) ([]Named, error) {
	d := newData(s, v, series)
	if !slices.Contains(Kinds(), r.Kind) {
		return nil, fmt.Errorf("kind: found %q, expected one of %v", r.Kind, Kinds())
	}
	if why := d.lacks(r.Kind); why != "" {
		return nil, fmt.Errorf("%s: %s", r.Kind, why)
	}
	return d.draw(r)
}

// lacks says why a kind cannot be drawn, "" where it can.
func (d *data) lacks(kind string) string {
	switch {
	case d.points() == 0:
		return "found no point that ran, expected at least one"
	case (kind == Knob || kind == Goodput) && len(d.live) == 0:
		return "found no setting that changed anything, expected at least one axis that did"
	case kind == HeatMap && len(d.live) < 2:
		return "found fewer than two settings that changed anything, expected two axes that did"
	case kind == HeatMap && !d.grid():
		return "found a sample of the settings, expected a grid of their values"
	case kind == Goodput && !d.hasGoodput():
		return "found no SLA, expected bounds to count requests within; sweep with --sla-ttft-ms and --sla-itl-ms"
	case (kind == Pareto || kind == Balance) && d.points() < 2:
		return "found one point, expected at least two to compare"
	case (kind == CDF || kind == Overlap) && d.s.Load == nil:
		return "found no measurements of single requests, expected those of at least one run"
	case kind == Workers && len(d.series) == 0:
		return "found no workers over time, expected those of at least one run"
	}
	return ""
}

// nothing says that there is no value to draw.
type nothing string

// Error implements error.
func (n nothing) Error() string {
	return string(n) + ": found no value to draw, expected at least one point that ran and kept up"
}

func (d *data) draw(r Request) ([]Named, error) {
	switch r.Kind {
	case Knob:
		return d.knobs(r)
	case HeatMap:
		return d.heatMaps(r)
	case Pareto:
		return d.pareto(r)
	case CDF:
		return d.cdfs(r)
	case Balance:
		return d.balance(r)
	case Overlap:
		return d.overlaps(r)
	case Workers:
		return d.workers(r)
	}
	return d.goodput(r)
}

// size returns the size of a figure that stands alone.
func (r *Request) size() plot.Size {
	if r.Readme {
		return plot.Readme()
	}
	return plot.Single()
}
